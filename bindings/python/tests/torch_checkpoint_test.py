"""Optimizers of lpt.torch in torch.distributed.checkpoint: the shards of FSDP2 on two processes of gloo."""
import os
import tempfile
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import torch.distributed.checkpoint as dcp
    import torch.distributed.fsdp
    import lpt.torch
    from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

SEED = int(os.environ.get("LPT_TEST_SEED", 20261128))


def _make(seed):
    """Return a model of which each rank has some rows: rank 1 has no row of the last weight and bias."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(48, 65), torch.nn.Tanh(), torch.nn.Linear(65, 1))
    torch.distributed.fsdp.fully_shard(model, mesh=torch.distributed.device_mesh.init_device_mesh("cpu", (2,)))
    return model, lpt.torch.AdamW(model.parameters(), lr=0.01, moments="e4m3fn_1x128")


def _steps(model, optimizer, begin, end):
    for step in range(begin, end):
        rank = torch.distributed.get_rank()
        x = torch.randn(16, 48, generator=torch.Generator().manual_seed(SEED + 2 * step + rank))
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    optimizer.zero_grad()


def _process(rank, place):
    torch.set_num_threads(1)
    lpt.set_default_context(lpt.Context(1))
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}/store", rank=rank, world_size=2)
    model, optimizer = _make(SEED)
    _steps(model, optimizer, 0, 3)
    dcp.save(dict(zip(("model", "optimizer"), get_state_dict(model, optimizer))), checkpoint_id=f"{place}/saved")
    _steps(model, optimizer, 3, 5)
    other, continued = _make(SEED + 1)
    states = dict(zip(("model", "optimizer"), get_state_dict(other, continued)))
    dcp.load(states, checkpoint_id=f"{place}/saved")
    set_state_dict(other, continued, model_state_dict=states["model"], optim_state_dict=states["optimizer"])
    _steps(other, continued, 3, 5)
    pairs = [(one.to_local(), two.to_local()) for one, two in zip(model.parameters(), other.parameters())]
    torch.save([torch.equal(*pair) for pair in pairs], f"{place}/result.{rank}")
    torch.distributed.destroy_process_group()


@needs_torch
class Checkpoint(unittest.TestCase):
    def test_shards_continue_with_the_same_bits(self):
        print(f"LPT_TEST_SEED={SEED}")
        with tempfile.TemporaryDirectory() as place:
            torch.multiprocessing.spawn(_process, (place,), nprocs=2)
            for rank in range(2):
                self.assertEqual([True] * 4, torch.load(f"{place}/result.{rank}"), rank)


if __name__ == "__main__":
    unittest.main()
