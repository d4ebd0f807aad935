"""quantize_(), dequantize_() and compare(): outputs, memory, saved states, copies, gradients and the table."""
import copy
import importlib.util
import io
import os
import pickle
import tempfile
import types
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = 20261128
FORMATS = ("int8_row", "e4m3fn_row", "e4m3fn_128x128", "int4_1x64", "nf4_1x64", "mxfp4", "nvfp4", "bf16")


def model_of(dtype=None):
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(96, 64), torch.nn.GELU(), torch.nn.Linear(64, 40, bias=False)).to(dtype)


def rows_of(*shape, seed=1, dtype=None):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def decoded(weight, format):
    return torch.from_dlpack(lpt.dequantize(lpt.quantize(weight, format)))


@needs_torch
class Quantize(unittest.TestCase):
    def test_outputs_are_those_of_decoded_weights(self):
        for format in FORMATS:
            model, x = model_of(), rows_of(3, 5, 96)
            expected = copy.deepcopy(model)
            with torch.no_grad():
                for layer in (expected[0], expected[2]):
                    layer.weight.copy_(decoded(layer.weight, format))
            self.assertIs(model, lpt.torch.quantize_(model, format))
            # Sums of 96 products in f32; a kernel for a 4-bit format rounds each product once more.
            bound = 4 * 96 * 2.0 ** -24 * expected(x).abs().max() * 4
            self.assertLessEqual((model(x) - expected(x)).abs().max(), bound, format)
            self.assertEqual((3, 5, 40), model(x).shape)

    def test_the_bits_are_those_of_the_library(self):
        for format, activation in (("int8_row", None), ("int4_1x64", None), ("int8_row", "int8_row"), ("nvfp4", "nvfp4")):
            layer, x = torch.nn.Linear(96, 64), rows_of(7, 96)
            weights = lpt.weights_pack(lpt.quantize(layer.weight, format))
            scale_rule = "four_over_six" if activation == "nvfp4" else "default"
            operand = x if activation is None else lpt.quantize(x, activation, scale_rule=scale_rule)
            expected = lpt.gemm(operand, weights, b_transposed=True, bias=layer.bias)
            lpt.torch.quantize_(layer, format, activation=activation)
            self.assertTrue(torch.equal(torch.from_dlpack(expected), layer(x)))
            self.assertEqual(weights.nbytes, layer.nbytes)

    def test_weights_are_fitted_to_data(self):
        mixing = rows_of(96, 96, seed=3)
        batches = [(rows_of(64, 96, seed=4 + i) @ mixing).round() for i in range(4)]  # integers: exact sums
        model = torch.nn.Sequential(torch.nn.Linear(96, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
        for layer in (model[0], model[2]):
            layer.weight.data.copy_(rows_of(*layer.weight.shape, seed=9))
        exact = torch.cat([model(x) for x in batches])
        nearest = lpt.torch.quantize_(copy.deepcopy(model), "int4_1x32")
        fitted = lpt.torch.quantize_(copy.deepcopy(model), "int4_1x32", data=batches)
        gram = sum(x.T.double() @ x.double() for x in batches)
        codes = lpt.weights_fit(model[0].weight.detach(), gram, "int4_1x32", order="diagonal")[0]
        self.assertTrue(torch.equal(torch.from_dlpack(lpt.dequantize(codes)), fitted[0].dequantize()))
        errors = [(torch.cat([one(x) for x in batches]) - exact).square().sum().item() for one in (nearest, fitted)]
        self.assertLess(errors[1], errors[0])
        lpt.torch.quantize_(copy.deepcopy(model), "uint4_1x32", data=batches)
        self.assertEqual(0, sum(len(one._forward_pre_hooks) for one in fitted.modules()))
        unused = torch.nn.ModuleDict({"used": torch.nn.Linear(4, 4), "unused": torch.nn.Linear(4, 4)})
        unused.forward = lambda x: unused["used"](input=x)
        with self.assertRaisesRegex(ValueError, "data gives unused no input: expected a batch in which it is called"):
            lpt.torch.quantize_(unused, "int8_row", data=[{"x": torch.ones(2, 4)}])
        self.assertIs(torch.nn.Linear, type(unused["used"]))

    def test_types_shapes_and_autocast(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            model = lpt.torch.quantize_(model_of(dtype), "int8_row")
            self.assertEqual(dtype, model(rows_of(4, 96, dtype=dtype)).dtype)
        model = lpt.torch.quantize_(model_of(), "int8_row")
        with torch.autocast("cpu", torch.bfloat16):
            self.assertEqual(torch.bfloat16, model(rows_of(4, 96)).dtype)
        self.assertEqual((0, 40), model(rows_of(0, 96)).shape)
        self.assertEqual((40,), model(rows_of(96)).shape)
        x = rows_of(96, 4).t()
        self.assertTrue(torch.equal(model(x.contiguous()), model(x)))
        with self.assertRaisesRegex(RuntimeError, r"input has the shape \(2, 95\): expected 96 columns"):
            model(rows_of(2, 95))

    def test_memory_is_that_of_the_format(self):
        model = lpt.torch.quantize_(model_of(), "int4_1x64")
        self.assertEqual(["0.bias"], [name for name, _ in model.named_parameters()])
        # 4 bits for each weight, and one f32 scale for 64 columns, of which the last group of 96 has 32.
        self.assertEqual(64 * 96 // 2 + 64 * 2 * 4, model[0].nbytes)
        self.assertIn("in_features=96, out_features=64, bias=True, format=int4_1x64, ", repr(model))
        self.assertIn(" bits per weight", repr(model))

    def test_a_saved_model_has_the_same_bits(self):
        for format in FORMATS:
            model, x = lpt.torch.quantize_(model_of(), format), rows_of(3, 96)
            file = io.BytesIO()
            torch.save(model.state_dict(), file)
            file.seek(0)
            torch.manual_seed(5)
            fresh = torch.nn.Sequential(torch.nn.Linear(96, 64), torch.nn.GELU(), torch.nn.Linear(64, 40, bias=False))
            fresh = lpt.torch.quantize_(fresh, format)
            fresh.load_state_dict(torch.load(file, weights_only=True))
            for other in (fresh, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                self.assertTrue(torch.equal(model(x), other(x)), format)
        with self.assertRaisesRegex(RuntimeError, r"packed_weight is bf16 of \(64, 96\): expected int8_row of \(64, 96\)"):
            lpt.torch.quantize_(model_of(), "int8_row").load_state_dict(model.state_dict())
        with self.assertRaisesRegex(RuntimeError, "Missing key.*0.packed_weight"):
            lpt.torch.quantize_(model_of(), "int8_row").load_state_dict(model_of().state_dict())

    def test_dequantize_restores_linear_layers(self):
        for format in FORMATS:
            for dtype in (torch.float32, torch.bfloat16):
                first, model = model_of(dtype), model_of(dtype)
                modules = list(model.modules())
                lpt.torch.dequantize_(lpt.torch.quantize_(model, format))
                self.assertTrue(all(one is other for one, other in zip(modules, model.modules())))
                self.assertIs(torch.nn.Linear, type(model[0]))
                self.assertTrue(torch.equal(decoded(first[0].weight, format).to(dtype), model[0].weight), format)
                self.assertEqual(list(first.state_dict()), list(model.state_dict()))

    def test_layers_of_a_recipe_and_names_are_selected(self):
        model = lpt.torch.convert_(model_of(), "fp8_current")
        lpt.torch.quantize_(model, "int8_row", skip=["2"])
        self.assertEqual([lpt.torch.QuantizedLinear, lpt.torch.Linear], [type(model[0]), type(model[2])])
        self.assertNotIn("recipe", model[0].__dict__)
        model(rows_of(2, 96))
        with self.assertRaisesRegex(ValueError, "int9_row"):
            lpt.torch.quantize_(model_of(), "int9_row")
        with self.assertRaisesRegex(ValueError, "int9_row"):
            lpt.torch.quantize_(model_of(), "int8_row", activation="int9_row")

    def test_adapters_train_through_it(self):
        """The gradients of the input and the bias are those of the decoded weight."""
        for format in ("int8_row", "nvfp4", "e4m3fn_128x128"):
            layer, x = torch.nn.Linear(96, 64), rows_of(3, 5, 96).requires_grad_()
            twin = copy.deepcopy(layer)
            with torch.no_grad():
                twin.weight.copy_(decoded(layer.weight, format))
            gradients = []
            for one in (lpt.torch.quantize_(layer, format), twin):
                x.grad = None
                one(x).square().sum().backward()
                gradients.append((x.grad, one.bias.grad))
            for found, expected in zip(*gradients):
                self.assertLess((found - expected).abs().max(), 1e-5 * expected.abs().max())

    def test_a_compiled_model_has_the_same_bits(self):
        torch._dynamo.reset()
        model = lpt.torch.quantize_(model_of(), "int8_row")
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        for rows in (3, 5, 9):
            self.assertTrue(torch.equal(model(rows_of(rows, 96)), compiled(rows_of(rows, 96))))
        torch.library.opcheck(torch.ops.lpt.quantized_linear.default,
                              (rows_of(2, 96).requires_grad_(), model[0]._handle, model[0].bias, 64, 96, "", torch.float32),
                              test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


@needs_torch
class Compare(unittest.TestCase):
    def data(self):
        return [(rows_of(16, 96, seed=seed), rows_of(16, 40, seed=100 + seed)) for seed in range(3)]

    def test_rows_have_errors_losses_and_sizes(self):
        model, data = model_of(), self.data()
        before = copy.deepcopy(model.state_dict())
        formats = ["int8_row", ("int8_row", "int8_row"), "int4_1x64"]
        table = lpt.torch.compare(model, data, formats, loss=torch.nn.functional.mse_loss)
        self.assertEqual([None, "int8_row", "int8_row", "int4_1x64"], [row.format for row in table.rows])
        self.assertEqual([None, None, "int8_row", None], [row.activation for row in table.rows])
        for format, row in (("int8_row", table.rows[1]), ("int4_1x64", table.rows[3])):
            twin = lpt.torch.quantize_(copy.deepcopy(model), format)
            with torch.no_grad():
                error = sum((twin(x) - model(x)).square().sum() for x, _ in data) / sum(model(x).square().sum() for x, _ in data)
                loss = sum(torch.nn.functional.mse_loss(twin(x), y) for x, y in data) / 3
            self.assertAlmostEqual(error.sqrt().item(), row.error, places=6)
            self.assertAlmostEqual(loss.item(), row.loss, places=6)
            self.assertEqual((twin[0].nbytes + twin[2].nbytes) / (64 * 96 + 40 * 64), row.bytes_per_weight)
        self.assertEqual((4.0, 0.0), table.rows[0][2:4])
        self.assertTrue(all(row.seconds > 0 for row in table.rows))
        self.assertTrue(all(torch.equal(value, model.state_dict()[name]) for name, value in before.items()))

    def test_a_table_is_readable(self):
        table = lpt.torch.compare(model_of(), [x for x, _ in self.data()], ["e4m3fn_row"], skip=["2"])
        header, first, second = str(table).splitlines()
        self.assertEqual(["format", "activation", "bytes/weight", "error", "seconds"], header.split())
        self.assertEqual(["model", "-"], first.split()[:2])
        self.assertEqual(["e4m3fn_row", "-"], second.split()[:2])
        self.assertEqual(str(table), repr(table))
        self.assertEqual(1, len({len(line) for line in str(table).splitlines()}))

    def test_pictures_need_matplotlib(self):
        table = lpt.torch.compare(model_of(), [rows_of(4, 96)], ["int8_row", "int4_1x64"])
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "picture.svg")
            if importlib.util.find_spec("matplotlib") is None:
                with self.assertRaisesRegex(ImportError, "plot.. needs matplotlib: pip install matplotlib"):
                    table.plot(path)
            else:
                table.plot(path)
                self.assertGreater(os.path.getsize(path), 1000)

    def test_outputs_and_inputs_of_other_kinds(self):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 4)

            def forward(self, x, factor=1.0):
                return types.SimpleNamespace(logits=factor * self.layer(x))
        x = rows_of(5, 8)
        model = Model()
        errors = [lpt.torch.compare(model, data, ["int4_1x64"]).rows[1].error
                  for data in ([x], [(x, 2.0)], [{"x": x, "factor": 2.0}])]
        self.assertGreater(errors[0], 0.01)
        self.assertEqual(1, len({round(error, 9) for error in errors}))
        with self.assertRaisesRegex(ValueError, "data is empty"):
            lpt.torch.compare(Model(), [], ["bf16"])
        with self.assertRaisesRegex(TypeError, "the output of the model is a str: expected a tensor"):
            lpt.torch.compare(Text(), [x], ["bf16"])


if HAS_TORCH:
    class Text(torch.nn.Linear):
        def __init__(self):
            super().__init__(8, 4)

        def forward(self, x):
            return "text"


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
