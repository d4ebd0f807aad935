"""lpt.torch.comm_of() on processes of gloo, and partial_sum() on ranks of one process."""
import copy
import os
import tempfile
import unittest
from unittest import mock

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


@needs_torch
class Slices(unittest.TestCase):
    def full(self):
        torch.manual_seed(SEED)
        return torch.nn.Sequential(torch.nn.Linear(48, 64), torch.nn.Tanh(), torch.nn.Linear(64, 32))

    def inputs(self):
        generator = torch.Generator().manual_seed(SEED)
        return torch.randn(5, 48, generator=generator), torch.randn(5, 32, generator=generator)

    def split(self, comm, full, recipe):
        model = torch.nn.Sequential(lpt.torch.ColumnParallelLinear(48, 64, comm, recipe=recipe), torch.nn.Tanh(),
                                    lpt.torch.RowParallelLinear(64, 32, comm, recipe=recipe))
        model[0].copy_slice_(full[0])
        model[2].copy_slice_(full[2])
        return model

    def test_two_slices_are_the_full_layers(self):
        full, (x, gradient) = self.full(), self.inputs()
        x.requires_grad_()
        y = full(x)
        y.backward(gradient)

        def body(comm):
            model, one = self.split(comm, full, "f32"), self.inputs()[0].requires_grad_()
            result = model(one)
            result.backward(gradient)
            return result.detach(), one.grad, *[parameter.grad for parameter in model.parameters()]
        for rank, found in enumerate(run(2, body)):
            exact = [y.detach(), x.grad, full[0].weight.grad.chunk(2)[rank], full[0].bias.grad.chunk(2)[rank],
                     full[2].weight.grad.chunk(2, 1)[rank], full[2].bias.grad]
            for one, other in zip(found, exact):
                # Sums of at most 64 products in another order.
                self.assertLessEqual((one - other).abs().max(), 2 * 64 * 2.0 ** -24 * other.abs().max())

    def test_ranks_have_the_same_bits_for_every_recipe(self):
        full, (x, gradient) = self.full(), self.inputs()

        def body(comm):
            results = []
            for recipe in ("fp8_current", "fp8_trillion", "quartet_v1"):
                model, one = self.split(comm, full, recipe), x.clone().requires_grad_()
                y = model(one)
                y.backward(gradient)
                results += [y.detach(), one.grad, model[2].bias.grad]
            return results
        # Processes with one seed draw the same numbers; threads share the generator of torch.
        with mock.patch("torch.randint", lambda *_, **__: torch.tensor(SEED)):
            one, other = run(2, body)
        self.assertTrue(all(map(torch.equal, one, other)))

    def test_a_plan_sums_some_columns(self):
        full, x = self.full(), self.inputs()[0]
        hidden = full[:2](x)

        def body(comm):
            layer = lpt.torch.RowParallelLinear(64, 32, comm, recipe="f32", plan=lpt.PartialPlan(32, 0.5, 2))
            layer.copy_slice_(full[2])
            return layer(hidden.chunk(2, 1)[comm.rank]).detach(), lpt.PartialPlan(32, 0.5, 2).values()
        for y, values in run(2, body):
            shared = values["shared_columns"]
            self.assertTrue(torch.allclose(full[2](hidden)[:, :shared], y[:, :shared], rtol=1e-5, atol=1e-5))
            self.assertFalse(torch.allclose(full[2](hidden)[:, shared:], y[:, shared:], rtol=1e-2))

    def test_errors_name_the_argument(self):
        def body(comm):
            for text, make in (("out_features is 7: expected a multiple", lambda: lpt.torch.ColumnParallelLinear(4, 7, comm)),
                               ("in_features is 7: expected a multiple", lambda: lpt.torch.RowParallelLinear(7, 4, comm))):
                with self.assertRaisesRegex(ValueError, text):
                    make()
            with self.assertRaisesRegex(TypeError, "belongs to a comm and cannot be copied or pickled"):
                copy.deepcopy(lpt.torch.RowParallelLinear(4, 4, comm))
        self.assertEqual([None, None], run(2, body))


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
