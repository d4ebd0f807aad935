"""lpt.torch.comm_of() on processes of gloo, and partial_sum() on ranks of one process."""
import os
import tempfile
import unittest

import lpt
from support import HAS_TORCH, needs_torch, run

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = 20261128


@needs_torch
class PartialSum(unittest.TestCase):
    def test_shared_columns_are_summed_and_private_ones_scaled(self):
        generator = torch.Generator().manual_seed(SEED)
        inputs, gradients = (torch.randn(2, 3, 5, 96, generator=generator) for _ in range(2))

        def body(comm):
            plan = lpt.PartialPlan(96, 0.5, comm.rank_count)
            x = inputs[comm.rank].clone().requires_grad_()
            y = lpt.torch.partial_sum(x, comm, plan)
            y.backward(gradients[comm.rank])
            return y.detach(), x.grad, plan.values()
        results = run(2, body)
        for rank, (y, dx, values) in enumerate(results):
            shared, scale = values["shared_columns"], values["private_scale"]
            for found, given in ((y, inputs), (dx, gradients)):
                # The sum of two values does not depend on their order, and the scale is one product.
                self.assertTrue(torch.equal(given.sum(0)[..., :shared], found[..., :shared]))
                self.assertTrue(torch.equal(scale * given[rank][..., shared:], found[..., shared:]))

    def test_strides_and_types(self):
        def body(comm):
            plan = lpt.PartialPlan(6, 1.0, comm.rank_count)
            return lpt.torch.partial_sum(torch.ones(6, 4, dtype=torch.bfloat16).t(), comm, plan)
        for y in run(2, body):
            self.assertEqual((torch.bfloat16, [2.0] * 6), (y.dtype, y[0].tolist()))


def _values(rank):
    return torch.randn(300, generator=torch.Generator().manual_seed(SEED + rank))


def _collectives(comm):
    """Return the results of some collectives, and the error of one that other ranks do not call."""
    values = _values(comm.rank)
    sums = torch.empty(300)
    comm.all_reduce(values, out=sums, wire="e4m3fn_1x128")
    gathered = torch.from_dlpack(comm.all_gather(values)).clone()
    plan = lpt.PartialPlan(300, 0.5, comm.rank_count)
    x = values.reshape(1, 300).requires_grad_()
    y = lpt.torch.partial_sum(x, comm, plan)
    y.sum().backward()
    return [sums, gathered, y.detach(), x.grad]


def _process(rank, place):
    lpt.set_default_context(lpt.Context(1))
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=3)
    results = _collectives(lpt.torch.comm_of())
    pair = torch.distributed.new_group([0, 2])  # whose ranks differ from those of the processes
    if rank != 1:
        with lpt.torch.comm_of(pair) as comm:
            total = torch.empty(1)
            comm.all_reduce(torch.tensor([rank + 1.0]), out=total)
            results.append(total)
    torch.save(results, f"{place}.{rank}")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


@needs_torch
class Groups(unittest.TestCase):
    def test_collectives_over_gloo_have_the_bits_of_a_local_group(self):
        expected = run(3, _collectives)
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "store")
            torch.multiprocessing.spawn(_process, (place,), nprocs=3)
            found = [torch.load(f"{place}.{rank}") for rank in range(3)]
        for one, other in zip(expected, found):
            self.assertTrue(all(map(torch.equal, one, other)))
        self.assertEqual([4.0, 4.0], [found[0][4].item(), found[2][4].item()])


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
