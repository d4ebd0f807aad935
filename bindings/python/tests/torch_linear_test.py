"""lpt.torch.Linear and convert_(): results, gradients, weights that change, and copies."""
import copy
import io
import pickle
import unittest

import lpt
from support import HAS_TORCH, needs_torch
from torch_support import SEED, gradients_of, layer_of, rows_of

if HAS_TORCH:
    import torch
    import lpt.torch
    from lpt.torch._linear import _DETERMINISTIC, _WITH_HISTORY


@needs_torch
class Results(unittest.TestCase):
    def test_bits_are_those_of_the_library(self):
        for recipe in sorted(_DETERMINISTIC - {"sparse24_transposable"}):
            with self.subTest(recipe):
                layer, x, gradient = layer_of(recipe), rows_of(3, 7, 48), rows_of(3, 7, 32, seed=2, grad=False)
                expected = lpt.Linear(48, 32, recipe)
                expected.prepare(layer.weight)
                y, saved = expected.forward(x, bias=layer.bias)
                dx, dw, db = expected.backward(saved, gradient, bias_gradient=True)
                for found, one in zip(gradients_of(layer, x, gradient), (y, dx, dw, db)):
                    self.assertTrue(torch.equal(found, torch.from_dlpack(one).reshape(found.shape)))

    def test_f32_differs_from_torch_by_rounding(self):
        layer, x = layer_of("f32"), rows_of(64, 48)
        baseline = torch.nn.Linear(48, 32)
        baseline.load_state_dict(layer.state_dict())
        exact = [one.double() for one in (x.detach().abs(), layer.weight.detach().abs(), layer.bias.detach().abs())]
        # A sum of n products differs from another order of additions by at most 2 · n · 2^-24 · the sum of magnitudes.
        bound = 2 * 49 * 2.0 ** -24 * (exact[0] @ exact[1].T + exact[2])
        self.assertTrue(((layer(x) - baseline(x)).detach().abs() <= bound).all())

    def test_gradients_agree_with_finite_differences(self):
        for shape in ((5, 12), (2, 3, 12), (12,)):
            layer = layer_of("f32", 12, 7, dtype=torch.float64)
            x = rows_of(*shape, dtype=torch.float64)
            inputs = (x, *layer.parameters())

            def of_inputs(x, weight, bias):  # gradcheck changes weight.data in place, which a new tensor shows
                return torch.func.functional_call(layer, {"weight": weight * 1, "bias": bias}, x)
            self.assertTrue(torch.autograd.gradcheck(of_inputs, inputs))

    def test_types_follow_the_input_and_the_parameters(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            for recipe in ("f32", "fp8_current"):
                found = gradients_of(layer_of(recipe).to(dtype), rows_of(4, 48, dtype=dtype))
                self.assertEqual([dtype] * 4, [one.dtype for one in found])
                exact = gradients_of(layer_of(recipe), rows_of(4, 48))
                for one, other in zip(found, exact):
                    # Rounding to bf16 of weights and inputs moves codes of 3 bits by one step at most.
                    self.assertLess((one.float() - other).norm() / other.norm(), 0.1 if recipe != "f32" else 0.02)

    def test_autocast_sets_the_type_of_the_output_alone(self):
        layer, x = layer_of(), rows_of(4, 48)
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(x)
        self.assertTrue(torch.equal(y, layer(x).to(torch.bfloat16)))
        y.sum().backward()
        self.assertEqual((torch.float32, torch.float32), (x.grad.dtype, layer.weight.grad.dtype))
        self.assertEqual(1, layer._layer.cast_count)

    def test_strides_do_not_matter(self):
        layer, x = layer_of(), rows_of(6, 10, 48, grad=False)
        expected = layer(x)
        wide = torch.zeros(6, 10, 96)
        wide[..., :48] = x
        spread = torch.zeros(6, 10, 96)
        spread[..., ::2] = x
        for view in (x.transpose(0, 1).contiguous().transpose(0, 1), wide[..., :48], spread[..., ::2],
                     x.permute(2, 0, 1).contiguous().permute(1, 2, 0)):
            self.assertTrue(torch.equal(expected, layer(view)))
        one = rows_of(1, 48, grad=False)
        self.assertTrue(torch.equal(layer(one).expand(5, -1), layer(one.expand(5, 48))))
        gradient = torch.ones(1, 1, 1).expand(6, 10, 32)
        self.assertEqual((6, 10, 48), gradients_of(layer, x, gradient)[1].shape)

    def test_a_batch_without_rows_has_zero_gradients(self):
        y, dx, dw, db = gradients_of(layer_of(), rows_of(0, 48))
        self.assertEqual(((0, 32), (0, 48)), (y.shape, dx.shape))
        self.assertEqual((0.0, 0.0), (dw.abs().sum().item(), db.abs().sum().item()))

    def test_only_required_gradients_are_computed(self):
        layer, x = layer_of(), rows_of(4, 48, grad=False)
        layer.weight.requires_grad_(False)
        layer(x).sum().backward()
        self.assertIsNone(layer.weight.grad)
        self.assertEqual(4.0, layer.bias.grad[0].item())
        layer.bias.requires_grad_(False)
        self.assertFalse(layer(x).requires_grad)
        layer = layer_of(bias=False)
        layer(x).sum().backward()
        self.assertIsNone(x.grad)
        self.assertEqual((32, 48), layer.weight.grad.shape)

    def test_passes_without_gradients_save_nothing(self):
        layer, x = layer_of(), rows_of(4, 48)
        expected = layer(x).detach()
        with torch.no_grad():
            self.assertTrue(torch.equal(expected, layer(x)))
        with torch.inference_mode():
            self.assertTrue(torch.equal(expected, layer(x)))
            inside = layer_of()
            first = inside(x)
            inside.weight.mul_(2)  # tensors of inference_mode() have no version
            self.assertFalse(torch.equal(first, inside(x)))
        self.assertTrue(torch.equal(expected, layer.eval()(x)))

    def test_errors_name_the_argument(self):
        layer = layer_of()
        with self.assertRaisesRegex(RuntimeError, r"input has the shape \(3, 47\): expected 48 columns"):
            layer(torch.ones(3, 47))
        with self.assertRaisesRegex(TypeError, "input is torch.int64: expected float32, bfloat16"):
            layer(torch.ones(3, 48, dtype=torch.int64))
        with self.assertRaisesRegex(ValueError, "fp9"):
            lpt.torch.Linear(4, 4, recipe="fp9")
        x = rows_of(3, 48)
        with self.assertRaisesRegex(NotImplementedError, "no second derivative: expected a backward pass without create_graph"):
            torch.autograd.grad(layer(x).sum(), x, create_graph=True)
        y = layer(x)
        with torch.no_grad():
            layer.weight.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.sum().backward()

    def test_recipes_are_listed_with_their_properties(self):
        """Compare the lists with the bits of each recipe: a seed, or an earlier step with other data, changes some."""
        random, history = set(), set()
        for recipe in lpt.recipe_names():
            def results(seed, first=None, layer=None):
                layer = layer_of(recipe, 64, 64) if layer is None else layer
                if first is not None:  # a step that changes the weight, with inputs of another size
                    gradients_of(layer, 100 * rows_of(64, 64), 100 * torch.ones(64, 64))
                    with torch.no_grad():
                        layer.weight.copy_(first)
                torch.manual_seed(seed)
                return gradients_of(layer, rows_of(64, 64), rows_of(64, 64, seed=3, grad=False))
            bits = results(1)
            if not all(map(torch.equal, bits, results(2))):
                random.add(recipe)
            weight = torch.nn.init.normal_(torch.empty(64, 64), generator=torch.Generator().manual_seed(9))
            fresh = layer_of(recipe, 64, 64)
            with torch.no_grad():
                fresh.weight.copy_(weight)
            if not all(map(torch.equal, results(1, layer=fresh), results(1, weight))):
                history.add(recipe)
        self.assertEqual(set(lpt.recipe_names()) - _DETERMINISTIC, random)
        self.assertEqual(_WITH_HISTORY, history)

    def test_saved_data_fits_for_every_recipe(self):
        for recipe in lpt.recipe_names():
            for columns in (1, 33, 200):
                layer = layer_of(recipe, columns, 5)
                a, b = layer._saved_bytes
                context = lpt.default_context()._handle
                for rows in (*range(1, 300), 4095, 4097):
                    needed = lpt.capi.lpt_linear_saved_size(context, layer._layer.linear._handle, rows)
                    self.assertLessEqual(needed, a * rows + b, (recipe, columns, rows))
            gradients_of(layer_of(recipe, 33, 5, dtype=torch.float64) if "sparse24" not in recipe else layer_of(recipe, 33, 5),
                         rows_of(129, 33, dtype=torch.float64 if "sparse24" not in recipe else None))


@needs_torch
class Weights(unittest.TestCase):
    def expect(self, layer, x):
        """Compare the output with that of a layer that has seen no other weight."""
        fresh = lpt.torch.Linear.from_linear(layer, layer.recipe)
        self.assertTrue(torch.equal(fresh(x), layer(x)))

    def test_a_weight_is_cast_once_for_each_change(self):
        layer, x = layer_of(), rows_of(4, 48)
        for _ in range(3):
            gradients_of(layer, x)
        self.assertEqual(1, layer._layer.cast_count)
        with torch.no_grad():
            layer.weight.add_(0.1)
        self.expect(layer, x)
        self.assertEqual(2, layer._layer.cast_count)

    def test_every_kind_of_change_is_seen(self):
        layer, x = layer_of(), rows_of(4, 48)
        layer(x)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
        for _ in range(2):
            gradients_of(layer, x)
            optimizer.step()
            self.expect(layer, x)
        for factor in (2.0, 3.0, 4.0):
            layer.weight.data = layer.weight.data * factor
            layer.weight.data = layer.weight.data * factor  # may take the memory of the value before the last
            self.expect(layer, x)
        layer.load_state_dict({name: -value for name, value in layer.state_dict().items()})
        self.expect(layer, x)
        layer.load_state_dict({name: 2 * value for name, value in layer.state_dict().items()}, assign=True)
        self.expect(layer, x)
        layer.weight = torch.nn.Parameter(torch.randn(32, 48))
        self.expect(layer, x)
        layer.weight.data.mul_(-1)  # torch does not count it
        lpt.torch.update_(layer)
        self.expect(layer, x)
        for dtype in (torch.bfloat16, torch.float64, torch.float32):
            layer.to(dtype)
            self.expect(layer, x.to(dtype))

    def test_computed_weights_are_cast_each_time(self):
        layer, x = layer_of(bias=False), rows_of(4, 48)
        with torch.no_grad():  # each weight may take the memory of the last one
            many = [torch.func.functional_call(layer, {"weight": layer.weight * factor}, x) for factor in (1, 2, 4)]
        self.assertTrue(torch.allclose(2 * many[0], many[1]) and torch.allclose(2 * many[1], many[2]))
        for factor in range(1, 5):
            y = torch.func.functional_call(layer, {"weight": layer.weight * factor}, x)
            self.assertLess((y - factor * layer(x)).abs().max(), 1e-5 * y.abs().max())
        first = torch.func.functional_call(layer, {"weight": layer.weight * 2}, x)
        layer(x)
        dx, = torch.autograd.grad(first.sum(), x)  # casts that weight again
        other, = torch.autograd.grad(layer(x).sum(), x)
        self.assertTrue(torch.allclose(dx, 2 * other, rtol=1e-5))

    def test_scalers_update_when_the_weight_changed(self):
        layer, twin = layer_of("fp8_trillion"), lpt.Linear(48, 32, "fp8_trillion")
        weight, random = layer.weight.detach().clone(), lpt.Random()
        for step in range(4):
            x, gradient = rows_of(8, 48, seed=step, grad=False) * 4 ** step, torch.ones(8, 32)
            twin.prepare(weight)
            y, saved = twin.forward(x, bias=layer.bias)
            twin.backward(saved, gradient, random=random)
            twin.update()
            self.assertTrue(torch.equal(torch.from_dlpack(y), gradients_of(layer, x, gradient)[0]), step)
            weight += 0.01
            with torch.no_grad():
                layer.weight += 0.01
        lpt.torch.update_(layer)
        self.assertEqual(twin.scaler_values("input"), layer._layer.linear.scaler_values("input"))
        lpt.torch.update_(layer)  # no cast since then: nothing changes
        self.assertEqual(4, layer._layer.linear.scaler_values("input")["update_count"])

    def test_state_dicts_are_those_of_torch(self):
        self.assertEqual(list(torch.nn.Linear(48, 32).state_dict()), list(layer_of().state_dict()))
        layer = layer_of("fp8_trillion")
        for step in range(3):
            gradients_of(layer, rows_of(8, 48) * 10)
            with torch.no_grad():
                layer.weight.mul_(0.9)
        self.assertEqual(["weight", "bias", "lpt_state"], list(layer.state_dict()))
        file = io.BytesIO()
        torch.save(layer.state_dict(), file)
        file.seek(0)
        again = lpt.torch.Linear(48, 32, recipe="fp8_trillion")
        again.load_state_dict(torch.load(file, weights_only=True))
        lpt.torch.update_(layer)
        again._layer.linear.update()
        for result in zip(*(self.continued(one) for one in (layer, again))):
            self.assertTrue(torch.equal(*result))
        again.load_state_dict(torch.nn.Linear(48, 32).state_dict())  # a checkpoint of torch has no scalers
        with self.assertRaisesRegex(RuntimeError, "lpt_state"):
            torch.nn.Linear(48, 32).load_state_dict(layer.state_dict())

    def continued(self, layer):
        torch.manual_seed(3)
        return gradients_of(layer, rows_of(8, 48, seed=5) * 3)

    def test_copies_are_independent(self):
        for recipe in ("fp8_current", "fp8_trillion", "sparse24_transposable"):
            layer, x = layer_of(recipe), rows_of(8, 48)
            gradients_of(layer, x)
            file = io.BytesIO()
            torch.save(layer, file)
            file.seek(0)
            for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), torch.load(file, weights_only=False)):
                self.assertEqual(repr(layer), repr(other))
                self.assertEqual(layer._layer.linear.state(), other._layer.linear.state())
                self.assertTrue(torch.equal(layer(x), other(x)))
                with torch.no_grad():
                    other.weight.zero_()
                self.assertNotEqual(0.0, layer(x).abs().sum().item())


@needs_torch
class Convert(unittest.TestCase):
    def model(self):
        torch.manual_seed(SEED)
        inner = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())
        model = torch.nn.ModuleDict({"up": torch.nn.Linear(48, 64), "inner": inner,
                                     "head": torch.nn.Linear(64, 10), "attention": torch.nn.MultiheadAttention(64, 2)})
        model["tied"] = model["up"]
        return model

    def names(self, model):
        return [name for name, module in model.named_modules() if isinstance(module, lpt.torch.Linear)]

    def test_modules_keep_identity_parameters_and_hooks(self):
        model, calls = self.model(), []
        modules, parameters = dict(model.named_modules()), dict(model.named_parameters())
        model["up"].register_forward_hook(lambda *_: calls.append(1))
        self.assertIs(model, lpt.torch.convert_(model, "fp8_block"))
        self.assertEqual(["up", "inner.0", "head"], self.names(model))
        self.assertTrue(all(module is modules[name] for name, module in model.named_modules()))
        self.assertTrue(all(one is parameters[name] for name, one in model.named_parameters()))
        model["tied"](rows_of(4, 48))
        self.assertEqual([1], calls)
        self.assertIn("recipe=fp8_block", repr(model))

    def test_selects_by_filter_and_by_names(self):
        self.assertEqual(["up", "inner.0"], self.names(lpt.torch.convert_(self.model(), skip=["head"])))
        self.assertEqual(["up", "head"], self.names(lpt.torch.convert_(self.model(), skip=[r"inner\..*"])))
        narrow = lpt.torch.convert_(self.model(), filter=lambda module, name: module.out_features < 16)
        self.assertEqual(["head"], self.names(narrow))
        with self.assertRaisesRegex(TypeError, 'skip is "head": expected a sequence'):
            lpt.torch.convert_(self.model(), skip="head")
        self.assertIsInstance(lpt.torch.convert_(torch.nn.Linear(4, 4)), lpt.torch.Linear)

    def test_a_changed_recipe_is_used(self):
        recipe = lpt.Recipe("fp8_current").set_cast("wgrad_input", "mxfp8_e4m3")
        layer = lpt.torch.Linear.from_linear(torch.nn.Linear(48, 32), recipe)
        self.assertIn("recipe=fp8_current*", repr(layer))
        gradients_of(layer, rows_of(4, 48))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
