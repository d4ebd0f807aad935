"""lpt.torch.reduce_hook() in DistributedDataParallel: losses, bytes that are sent, error feedback and errors."""
import os
import tempfile
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = int(os.environ.get("LPT_TEST_SEED", 20261128))
STEPS = 20
# For each wire: bytes of a message relative to f32, and the largest difference of a loss from one rank, relative to the first
# loss. The bounds of casts are about ten times the maximum of three seeds, that of signs twice.
WIRES = {None: (1.0, 1e-6), "bf16": (0.5, 2e-4), "e4m3fn_1x128": (33 / 128, 3e-3), "int8_1x32": (36 / 128, 8e-4),
         "signs": (1 / 32, 0.3)}


def _model():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(48, 256), torch.nn.Tanh(), torch.nn.Linear(256, 8))


def _batches(rank, rank_count):
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(STEPS):
        x = torch.randn(32, 48, generator=generator).chunk(rank_count)[rank]
        yield x, x[:, :8].tanh()


def _train(model, rank=0, rank_count=1):
    """Return the loss of each step, which is the mean over the ranks."""
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5), []
    for x, target in _batches(rank, rank_count):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        loss = loss.detach() / rank_count
        if rank_count > 1:
            torch.distributed.all_reduce(loss)
        losses.append(loss.item())
    return losses


def _join(rank, rank_count, place):
    torch.set_num_threads(1)
    lpt.set_default_context(lpt.Context(1))
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=rank_count)


def _hooked(wire, bucket_mebibytes=0.03, dtype=None, **given):
    """Return a model whose gradients take several buckets, and its state."""
    model = torch.nn.parallel.DistributedDataParallel(_model().to(dtype), bucket_cap_mb=bucket_mebibytes)
    state = lpt.torch.ReduceState(lpt.torch.comm_of(), wire, **given)
    model.register_comm_hook(state, lpt.torch.reduce_hook)
    return model, state


def _process(rank, place):
    _join(rank, 2, place)
    results = {}
    for wire in WIRES:
        model, state = _hooked(wire)
        losses = _train(model, rank, 2)
        results[wire] = losses, state.comm.values["bytes_sent"], [one.detach() for one in model.parameters()]
    for name in ("stochastic", "again"):
        model, state = _hooked("e4m3fn_1x128", rounding="stochastic", seed=7)
        results[name] = _train(model, rank, 2), state.step, [one.detach() for one in model.parameters()]
    torch.save(results, f"{place}.{rank}")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


@needs_torch
class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"LPT_TEST_SEED={SEED}")
        cls.one = _train(_model())
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "store")
            torch.multiprocessing.spawn(_process, (place,), nprocs=2)
            cls.ranks = [torch.load(f"{place}.{rank}") for rank in range(2)]

    def test_losses_of_two_ranks_are_those_of_one(self):
        self.assertLess(self.one[-1], 0.5 * self.one[0])
        for wire, (_, bound) in WIRES.items():
            losses = self.ranks[0][wire][0]
            worst = max(abs(one - other) for one, other in zip(losses, self.one)) / self.one[0]
            self.assertLessEqual(worst, bound, wire)
            self.assertTrue(wire is None or worst > 0, wire)  # the wire is used
            self.assertLess(losses[-1], 0.9 * losses[0], wire)

    def test_ranks_keep_the_same_weights(self):
        for name, (losses, _, weights) in self.ranks[0].items():
            self.assertEqual(losses, self.ranks[1][name][0])
            self.assertTrue(all(map(torch.equal, weights, self.ranks[1][name][2])), name)

    def test_messages_have_the_bytes_of_the_wire(self):
        elements = sum(one.numel() for one in _model().parameters())
        for wire, (share, _) in WIRES.items():
            # A rank of two sends half of the elements, and half of the results.
            sent = self.ranks[0][wire][1] / (STEPS * 4 * elements)
            self.assertLess(abs(sent / share - 1), 0.1, wire)

    def test_stochastic_rounding_draws_by_seed_and_step(self):
        nearest, drawn, again = (self.ranks[0][name] for name in ("e4m3fn_1x128", "stochastic", "again"))
        self.assertEqual(STEPS, drawn[1])
        self.assertTrue(all(map(torch.equal, drawn[2], again[2])))
        self.assertFalse(all(map(torch.equal, drawn[2], nearest[2])))


@needs_torch
class OneRank(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        torch.distributed.init_process_group("gloo", init_method=f"file://{place.name}/store", rank=0, world_size=1)
        self.addCleanup(torch.distributed.destroy_process_group)

    def test_signs_keep_what_they_round_away(self):
        """The mean of signs approaches the gradient as one over the number of steps, up to the size of the errors."""
        model, _ = _hooked("signs", 25)
        x = torch.randn(32, 48, generator=torch.Generator().manual_seed(SEED))
        exact, = torch.autograd.grad(model.module(x).square().mean(), [model.module[0].weight])
        distance = []
        for steps in (8, 512):
            total = torch.zeros_like(exact)
            for _ in range(steps):
                model.zero_grad()
                model(x).square().mean().backward()
                total += model.module[0].weight.grad / steps
            distance.append((total - exact).norm().item())
        self.assertLess(distance[1], distance[0] / 8)

    def test_errors_are_those_of_backward(self):
        model, _ = _hooked("signs", dtype=torch.float64)
        with self.assertRaisesRegex(Exception, "expected f32"):
            model(torch.ones(2, 48, dtype=torch.float64)).sum().backward()

    def test_options_are_checked(self):
        comm = lpt.torch.comm_of()
        for text, given in (("e4m3x", {"wire": "e4m3x"}),
                            ('rounding is "up": expected one of', {"wire": "bf16", "rounding": "up"}),
                            ('rounding is "stochastic": expected "nearest_even" with wire=None', {"rounding": "stochastic"})):
            with self.assertRaisesRegex(ValueError, text):
                lpt.torch.ReduceState(comm, **given)


if __name__ == "__main__":
    unittest.main()
