"""lpt.torch.Linear in passes that torch changes: accumulation, threads, checkpoints, compilation, export and ranks."""
import os
import tempfile
import threading
import unittest
import weakref

import lpt
from support import HAS_TORCH, needs_torch
from torch_support import SEED, gradients_of, layer_of, rows_of

if HAS_TORCH:
    import torch
    import torch.distributed.fsdp
    import lpt.torch
    from torch.multiprocessing.reductions import StorageWeakRef


@needs_torch
class Passes(unittest.TestCase):
    def test_two_forwards_before_backward_and_accumulation(self):
        layer, one, two = layer_of(bias=False), rows_of(4, 48), rows_of(9, 48, seed=2)
        expected = [gradients_of(layer, x) for x in (one, two)]
        layer.weight.grad = None
        outputs = layer(one), layer(two)
        for y in outputs:
            y.sum().backward()
        self.assertTrue(torch.equal(expected[0][2] + expected[1][2], layer.weight.grad))
        self.assertTrue(torch.equal(expected[1][1], two.grad))

    def test_threads_may_share_a_layer(self):
        for recipe in ("fp8_current", "fp8_trillion"):
            layer, results, threads = layer_of(recipe), {}, []
            inputs = [rows_of(16, 48, seed=seed, grad=False) * 4 ** seed for seed in range(4)]
            expected = [layer_of(recipe)(x) for x in inputs]  # an empty history uses the amax of the tensor

            def many(index):
                results[index] = [layer(inputs[index]) for _ in range(50)]
            for index in range(4):
                threads.append(threading.Thread(target=many, args=(index,)))
                threads[-1].start()
            for thread in threads:
                thread.join()
            for index, found in results.items():
                self.assertTrue(all(torch.equal(expected[index], one) for one in found), (recipe, index))
            self.assertEqual(4, len(results))

    def test_a_checkpointed_pass_has_the_same_bits(self):
        for recipe in ("fp8_current", "nvfp4_pretrain", "quartet_v1"):
            x = rows_of(64, 48, grad=False)
            results = []
            for checkpointed in (False, True):
                layer = torch.nn.Sequential(layer_of(recipe), torch.nn.GELU(), layer_of(recipe, 32, 48))
                torch.manual_seed(SEED)
                results.append(gradients_of(Checkpointed(layer) if checkpointed else layer, x))
            for one, other in zip(*results):
                self.assertTrue(torch.equal(one, other), recipe)

    def test_saved_data_and_layers_are_freed(self):
        layer, x = layer_of(), rows_of(100, 48)
        storages = []

        def pack(tensor):
            storages.append(StorageWeakRef(tensor.untyped_storage()))
            return tensor
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            outputs = [layer(x) for _ in range(5)]  # backward never runs
        weight = layer.weight.untyped_storage()._cdata
        kept = [one for one in storages if one.cdata not in (weight, layer._handle.untyped_storage()._cdata)]
        self.assertEqual((5, 0), (len(kept), sum(one.expired() for one in kept)))
        del outputs
        self.assertEqual(5, sum(one.expired() for one in kept))
        # The graph keeps a layer until backward, and no longer.
        reference, y = weakref.ref(layer._layer), layer(x)
        del layer
        self.assertIsNotNone(reference())
        y.sum().backward()
        del y, storages
        self.assertIsNone(reference())

    def test_a_compiled_pass_has_the_same_bits(self):
        torch._dynamo.reset()
        model = torch.nn.Sequential(layer_of(), torch.nn.ReLU(), layer_of("fp8_block", 32, 16))
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        for rows in (5, 8, 17):  # the second number of rows compiles with dynamic shapes
            for one, other in zip(gradients_of(model, rows_of(rows, 48)), gradients_of(compiled, rows_of(rows, 48))):
                self.assertTrue(torch.equal(one, other), rows)
        with torch.no_grad():
            model[0].weight.mul_(2)
        self.assertTrue(torch.equal(model(rows_of(5, 48)), compiled(rows_of(5, 48))))

    def test_blocks_of_one_code_compile_once(self):
        torch._dynamo.reset()
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
        for _ in range(12):  # more layers than the limit of compilations
            torch.compile(layer_of(), fullgraph=True, backend=counter)(rows_of(4, 48))
        self.assertEqual(1, counter.frame_count)

    def test_an_exported_model_runs_beside_its_model(self):
        layer, x = layer_of(), rows_of(4, 48, grad=False)
        program = torch.export.export(layer, (x,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
        for rows in (4, 9):
            x = rows_of(rows, 48, grad=False)
            self.assertTrue(torch.equal(layer(x), program.module()(x)))
        with self.assertRaisesRegex(RuntimeError, "layer 1099511627776 does not exist in this process"):
            torch.ops.lpt.linear(x, layer.weight, None, None, torch.tensor(2 ** 40), 0, 0, torch.float32)

    def test_operators_pass_the_checks_of_torch(self):
        layer, x = layer_of(), rows_of(4, 48)
        arguments = (x, layer.weight, layer.bias, None, layer._handle, *layer._saved_bytes, torch.float32)
        torch.library.opcheck(torch.ops.lpt.linear.default, arguments,
                              test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


if HAS_TORCH:
    class Checkpointed(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False)


def _rank(rank, place, halves, recipe, sharded, results):
    """Train on one half of the batch, as a rank of DDP or of FSDP2."""
    torch.set_num_threads(1)
    lpt.set_default_context(lpt.Context(1))
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
    model = _model(recipe)
    if sharded:
        mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
        for layer in (model[0], model[2]):
            torch.distributed.fsdp.fully_shard(layer, mesh=mesh)
        torch.distributed.fsdp.fully_shard(model, mesh=mesh)
    else:
        model = torch.nn.parallel.DistributedDataParallel(model)
    torch.save(_losses(model, halves[rank], mean=_average), f"{results}.{rank}")
    torch.distributed.destroy_process_group()


def _average(loss):
    loss = loss.detach().clone()
    torch.distributed.all_reduce(loss)
    return loss / 2


def _model(recipe):
    return torch.nn.Sequential(layer_of(recipe), torch.nn.Tanh(), layer_of(recipe, 32, 8))


def _losses(model, x, mean):
    optimizer, losses = lpt.torch.AdamW(model.parameters(), lr=0.05), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        losses.append(mean(loss).item())
        optimizer.step()
    return losses


@needs_torch
class Ranks(unittest.TestCase):
    def check(self, sharded, recipe, rows, bound):
        x = rows_of(rows, 48, grad=False)
        expected = _losses(_model(recipe), x, mean=lambda loss: loss)
        with tempfile.TemporaryDirectory() as place:
            results = os.path.join(place, "losses")
            torch.multiprocessing.spawn(_rank, (os.path.join(place, "store"), x.chunk(2), recipe, sharded, results), nprocs=2)
            found = [torch.load(f"{results}.{rank}") for rank in range(2)]
        self.assertEqual(found[0], found[1])
        self.assertLess(max(abs(one - other) for one, other in zip(expected, found[0])), bound)
        self.assertLess(expected[-1], 0.8 * expected[0])

    def test_two_ranks_of_ddp_have_the_losses_of_one(self):
        self.check(False, "f32", 32, 1e-6)

    def test_two_ranks_of_fsdp_have_the_losses_of_one(self):
        """FSDP gathers weights into the same memory and keeps their version. fp8_block has blocks of 128 rows, as each rank."""
        self.check(True, "f32", 32, 1e-6)
        self.check(True, "fp8_block", 256, 1e-3)  # sums in another order may move a code


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
