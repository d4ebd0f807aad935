"""Norms, SwiGLU, attention, rotary positions and the loss of lpt.torch: results of torch, finite differences, types, strides and compilation."""
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch
    from torch.nn import functional

SEED = 20261128


def draw(*shape, seed=1, dtype=None):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(SEED + seed)).to(dtype).requires_grad_()


def results_of(function, *inputs):
    """Return the outputs, and the gradients of the inputs for drawn gradients of the outputs."""
    inputs = [one.detach().requires_grad_(one.is_floating_point()) for one in inputs]
    output = function(*inputs)
    gradient = torch.randn(output.shape, generator=torch.Generator().manual_seed(SEED)).to(output.dtype)
    return [output.detach(), *torch.autograd.grad(output, [one for one in inputs if one.requires_grad], gradient)]


class Base(unittest.TestCase):
    def agree(self, found, expected, factor):
        """Compare f32 results with those of torch in f64: the bound is factor · 2^-24 of the largest magnitude of a tensor."""
        for one, other in zip(found, expected):
            self.assertEqual(other.shape, one.shape)
            bound = factor * 2.0 ** -24 * other.abs().max()
            self.assertLessEqual((one.double() - other).abs().max(), bound)

    def check(self, ours, theirs, *inputs, factor):
        """Compare with torch in f64, in f32 and from bf16 inputs."""
        exact = results_of(theirs, *[one.double() if one.is_floating_point() else one for one in inputs])
        self.agree(results_of(ours, *inputs), exact, factor)
        low = [one.bfloat16() if one.is_floating_point() else one for one in inputs]
        found = results_of(ours, *low)
        self.assertTrue(all(one.dtype == torch.bfloat16 for one in found))
        exact = results_of(theirs, *[one.double() if one.is_floating_point() else one for one in low])
        self.agree(found, exact, 2 ** 16 * 4)  # results are rounded to 8 bits; attention rounds probabilities too

    def gradcheck(self, function, *inputs):
        self.assertTrue(torch.autograd.gradcheck(function, [one.detach().double().requires_grad_() for one in inputs]))


@needs_torch
class Norms(Base):
    def rms(self, x, weight):
        layer = lpt.torch.RMSNorm(x.shape[-1], eps=1e-5)
        return torch.func.functional_call(layer, {"weight": weight}, x)

    def layer(self, x, weight, bias):
        layer = lpt.torch.LayerNorm(x.shape[-1], eps=0.01)
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, x)

    def test_results_are_those_of_torch(self):
        x, weight, bias = draw(3, 5, 48), draw(48, seed=2), draw(48, seed=3)
        # Sums of 48 elements, and of 15 rows for the weights.
        self.check(self.rms, lambda x, w: functional.rms_norm(x, (48,), w, 1e-5), x, weight, factor=64)
        self.check(self.layer, lambda x, w, b: functional.layer_norm(x, (48,), w, b, 0.01), x, weight, bias, factor=64)
        self.gradcheck(self.rms, draw(4, 7), draw(7, seed=2))
        self.gradcheck(self.layer, draw(4, 7), draw(7, seed=2), draw(7, seed=3))

    def test_modules_are_those_of_torch(self):
        x = draw(4, 48)
        for ours, theirs in ((lpt.torch.RMSNorm(48), torch.nn.RMSNorm(48)),
                             (lpt.torch.RMSNorm(48, None, False), torch.nn.RMSNorm(48, None, False)),
                             (lpt.torch.LayerNorm(48), torch.nn.LayerNorm(48)),
                             (lpt.torch.LayerNorm(48, bias=False), torch.nn.LayerNorm(48, bias=False)),
                             (lpt.torch.LayerNorm(48, 1e-5, False), torch.nn.LayerNorm(48, 1e-5, False))):
            theirs.load_state_dict(ours.state_dict())
            self.assertEqual(repr(ours), repr(theirs))
            self.agree([ours(x)], [theirs.double()(x.double())], 64)
            low, back = ours.bfloat16(), draw(4, 48, dtype=torch.bfloat16)
            low(back).sum().backward()
            self.assertTrue(all(one.grad.dtype == torch.bfloat16 for one in (back, *low.parameters())))
        with self.assertRaisesRegex(RuntimeError, r"normalized_shape is \(4, 48\): expected one axis"):
            lpt.torch.LayerNorm((4, 48))(x)
        with self.assertRaisesRegex(RuntimeError, r"input has the shape \(4, 47\)"):
            lpt.torch.RMSNorm(48)(x[:, 1:])

    def test_a_residual_is_added_in_the_same_pass(self):
        def fused(x, residual, weight):
            layer = lpt.torch.RMSNorm(48, eps=1e-5)
            return torch.cat(torch.func.functional_call(layer, {"weight": weight}, (x, residual)))

        def apart(x, residual, weight):
            total = x + residual
            return torch.cat([functional.rms_norm(total, (48,), weight, 1e-5), total])
        x, residual, weight = draw(5, 48), draw(5, 48, seed=2), draw(48, seed=3)
        self.check(fused, apart, x, residual, weight, factor=64)
        self.gradcheck(fused, x, residual, weight)
        layer = lpt.torch.RMSNorm(48, eps=1e-5)
        for one, other in ((torch.bfloat16, torch.float32), (torch.float32, torch.bfloat16), (torch.bfloat16, torch.float16),
                           (torch.float64, torch.bfloat16), (torch.float32, torch.float64)):
            wide = torch.promote_types(one, other)
            x, residual = draw(3, 4, 48, dtype=one), draw(4, 3, 48, seed=2, dtype=other)
            inputs = [x.detach().requires_grad_(), residual.detach().transpose(0, 1).requires_grad_()]
            slopes = [draw(3, 4, 48, seed=4 + i).detach().to(wide) for i in range(2)]
            results = layer(*inputs)
            total = inputs[0].to(wide) + inputs[1].to(wide)
            for found, expected in zip(results, (layer(total), total)):
                self.assertEqual(wide, found.dtype)
                self.assertTrue(torch.equal(found, expected))
            expected = torch.autograd.grad((layer(total), total), [*inputs, layer.weight], slopes)
            self.assertTrue(all(map(torch.equal, torch.autograd.grad(results, [*inputs, layer.weight], slopes, retain_graph=True),
                                    expected)))
            for place in range(2):  # a gradient of one of the results only
                expected = torch.autograd.grad((layer(total), total)[place], inputs, slopes[place], retain_graph=True)
                found = torch.autograd.grad(results[place], inputs, slopes[place], retain_graph=True)
                self.assertTrue(all(map(torch.equal, found, expected)))
        self.assertEqual((0, 48), layer(draw(0, 48), draw(0, 48))[1].shape)
        with self.assertRaisesRegex(RuntimeError, r"residual has the shape \(48,\): expected \(3, 48\), the shape of x"):
            layer(draw(3, 48), draw(48))
        with self.assertRaisesRegex(TypeError, "residual is torch.int64"):
            layer(draw(3, 48), torch.ones(3, 48, dtype=torch.int64))

    def test_strides_and_empty_batches(self):
        for layer in (lpt.torch.RMSNorm(8), lpt.torch.LayerNorm(8)):
            x = draw(8, 6)
            self.assertTrue(torch.equal(layer(x.t().contiguous()), layer(x.t())))
            self.assertTrue(torch.equal(layer(draw(6, 16)[:, :8].contiguous()), layer(draw(6, 16)[:, :8])))
            empty = torch.empty(0, 8, requires_grad=True)
            layer(empty).sum().backward()
            self.assertEqual(0.0, layer.weight.grad.abs().sum().item())


@needs_torch
class Swiglu(Base):
    def test_results_are_those_of_torch(self):
        module = lpt.torch.SwiGLU()
        self.check(module, lambda gate, up: functional.silu(gate) * up, draw(3, 5, 48), draw(3, 5, 48, seed=2), factor=16)
        self.gradcheck(module, draw(4, 7), draw(4, 7, seed=2))
        self.gradcheck(module, draw(4, 14))
        both, joined = draw(3, 5, 96), lambda both: module(*both.chunk(2, -1))
        for one in (both, both.bfloat16(), draw(3, 96, 5).transpose(1, 2), draw(0, 96)):
            self.assertTrue(all(map(torch.equal, results_of(module, one), results_of(joined, one))))
        with self.assertRaisesRegex(RuntimeError, "input has 5 columns: expected an even number"):
            module(torch.ones(3, 5))
        with self.assertRaisesRegex(RuntimeError, r"up has the shape \(3, 4\): expected \(3, 5\)"):
            module(torch.ones(3, 5), torch.ones(3, 4))


@needs_torch
class Attention(Base):
    ours = staticmethod(lambda *them, **given: lpt.torch.scaled_dot_product_attention(*them, **given))

    def compare(self, query, key, value, **given):
        def theirs(*them):
            mask = given.get("attn_mask")
            wide = mask if mask is None or mask.dtype == torch.bool else mask.double()
            return functional.scaled_dot_product_attention(*them, **dict(given, attn_mask=wide))
        # Sums of 16 products, exponentials, and sums of up to 40 keys.
        self.check(lambda *them: self.ours(*them, **given), theirs, query, key, value, factor=128)

    def test_results_are_those_of_torch(self):
        query, key, value = draw(2, 4, 24, 16), draw(2, 4, 40, 16, seed=2), draw(2, 4, 40, 16, seed=3)
        self.compare(query, key, value)
        self.compare(query, key, value, scale=0.5)
        self.compare(query, key, value, is_causal=True)  # the first query and the first key are aligned
        self.compare(query, key[..., :24, :], value[..., :24, :], is_causal=True)
        self.compare(query[0], key[0], value[0])

    def test_masks(self):
        query, key, value = draw(2, 4, 24, 16), draw(2, 4, 40, 16, seed=2), draw(2, 4, 40, 16, seed=3)
        kept = torch.rand(24, 40, generator=torch.Generator().manual_seed(SEED)) < 0.7
        kept[:, 0] = True
        for mask in (kept, kept[:1], draw(24, 40, seed=4).detach(), draw(2, 1, 24, 40, seed=4).detach(),
                     draw(2, 4, 24, 40, seed=4).detach(), draw(2, 1, 1, 40, seed=4).detach(), kept.any(1, keepdim=True),
                     draw(24, 1, seed=4).detach()):
            self.compare(query, key, value, attn_mask=mask)

    def test_grouped_heads_and_strides(self):
        query, key, value = draw(2, 4, 24, 16), draw(2, 2, 24, 16, seed=2), draw(2, 2, 24, 16, seed=3)
        self.compare(query, key, value, enable_gqa=True)
        wide = draw(2, 24, 3 * 64)  # heads are views of one projection
        query, key, value = (one.unflatten(-1, (4, 16)).transpose(1, 2) for one in wide.chunk(3, -1))
        self.assertTrue(torch.equal(self.ours(query, key, value), self.ours(*[one.contiguous() for one in (query, key, value)])))
        self.ours(query, key, value, is_causal=True).sum().backward()
        self.assertEqual(wide.shape, wide.grad.shape)
        self.gradcheck(lambda *them: self.ours(*them, is_causal=True), draw(1, 2, 5, 4), draw(1, 2, 5, 4, seed=2),
                       draw(1, 2, 5, 3, seed=3))

    def test_results_have_the_memory_order_of_their_inputs(self):
        heads = [one.detach().unflatten(-1, (4, 16)).transpose(1, 2).requires_grad_() for one in draw(2, 24, 3 * 64).chunk(3, -1)]
        frequencies = lpt.rotary_frequencies(16).torch()
        output = self.ours(lpt.torch.rotary(heads[0], frequencies), *heads[1:])
        for one in (output, lpt.torch.rotary(heads[0], frequencies), *torch.autograd.grad(output.sum(), heads)):
            self.assertTrue(one.transpose(1, 2).is_contiguous(), one.stride())

    def test_options_that_are_not_supported_are_named(self):
        one = draw(1, 2, 4, 8)
        for error, text, given in ((ValueError, "dropout_p is 0.1: expected 0", {"dropout_p": 0.1}),
                                   (NotImplementedError, "attn_mask requires a gradient", {"attn_mask": draw(4, 4)}),
                                   (RuntimeError, "is_causal is True: expected one of them",
                                    {"attn_mask": torch.ones(4, 4), "is_causal": True})):
            with self.assertRaisesRegex(error, text):
                self.ours(one, one, one, **given)
        with self.assertRaisesRegex(RuntimeError, "expected equal leading axes, or enable_gqa=True"):
            self.ours(one, one[:, :1], one[:, :1])


@needs_torch
class Loss(Base):
    def test_results_are_those_of_torch(self):
        targets = torch.randint(10, (24,), generator=torch.Generator().manual_seed(SEED))
        targets[3] = -100
        for given in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.1}, {"ignore_index": 5}):
            if "ignore_index" in given:
                targets = targets.clamp(min=0)
            ours, theirs = lpt.torch.CrossEntropyLoss(**given), torch.nn.CrossEntropyLoss(**given)
            # The loss of 24 rows is rounded once; gradients have a few roundings.
            self.check(lambda x: ours(x, targets), lambda x: theirs(x, targets), draw(24, 10), factor=16)
            deep, classes = draw(2, 10, 3, 4), targets.reshape(2, 3, 4)
            self.check(lambda x: ours(x, classes), lambda x: theirs(x, classes), deep, factor=16)
            self.gradcheck(lambda x: ours(x, targets), draw(24, 10))
        one = draw(10)
        self.agree([ours(one, torch.tensor(2))], [theirs(one.double(), torch.tensor(2))], 16)
        self.assertTrue(torch.equal(ours(draw(24, 10), targets), ours(draw(24, 10), targets.int())))
        self.assertTrue(ours(torch.empty(0, 10), torch.empty(0, dtype=torch.int64)).isnan())

    def test_errors_name_the_argument(self):
        loss = lpt.torch.CrossEntropyLoss()
        with self.assertRaisesRegex(TypeError, "target is torch.float32: expected int64 or int32"):
            loss(draw(2, 10), draw(2, 10))
        with self.assertRaisesRegex(RuntimeError, r"target has the shape \(3,\): expected \(2,\)"):
            loss(draw(2, 10), torch.zeros(3, dtype=torch.int64))
        with self.assertRaisesRegex(ValueError, "target"):
            loss(draw(2, 10), torch.tensor([3, 10]))
        with self.assertRaisesRegex(ValueError, "reduction"):
            lpt.torch.CrossEntropyLoss(reduction="average")
        self.assertEqual("CrossEntropyLoss(ignore_index=-100, reduction='mean', label_smoothing=0.0)", repr(loss))


@needs_torch
class Rotary(Base):
    @staticmethod
    def theirs(x, frequencies, positions, interleaved, scale):
        angles = positions.double()[:, None] * frequencies.double()
        cosine, sine = (one.to(x.dtype) * scale for one in (angles.cos(), angles.sin()))
        count = len(frequencies)
        first, second = (x[..., 0:2 * count:2], x[..., 1:2 * count:2]) if interleaved else (x[..., :count], x[..., count:2 * count])
        pairs = (first * cosine - second * sine, first * sine + second * cosine)
        rotated = torch.stack(pairs, -1).flatten(-2) if interleaved else torch.cat(pairs, -1)
        return torch.cat([rotated, x[..., 2 * count:]], -1)

    def test_results_are_those_of_torch(self):
        x, frequencies = draw(2, 3, 9, 16), lpt.rotary_frequencies(16).torch()
        drawn = torch.tensor([5, 0, 7, 7, 100, 3, 2, 1, 40])
        for layout in ("halves", "interleaved"):
            for some, positions, given in ((frequencies, torch.arange(9), {}), (frequencies[:5].float(), drawn, {"positions": drawn}),
                                           (frequencies, 30 + torch.arange(9), {"first_position": 30, "scale": 1.5})):
                def theirs(x):
                    return self.theirs(x, some, positions, layout == "interleaved", given.get("scale", 1))
                self.check(lambda x: lpt.torch.rotary(x, some, layout=layout, **given), theirs, x, factor=16)
        self.gradcheck(lambda x: lpt.torch.rotary(x, frequencies[:2], first_position=3, scale=0.5), draw(2, 3, 4, 6))

    def test_strides_and_errors(self):
        frequencies, x = lpt.rotary_frequencies(8).torch(), draw(2, 9, 3, 8)
        heads = x.transpose(1, 2)
        self.assertTrue(torch.equal(lpt.torch.rotary(heads, frequencies), lpt.torch.rotary(heads.contiguous(), frequencies)))
        self.assertTrue(torch.equal(lpt.torch.rotary(x.transpose(2, 3).contiguous().transpose(2, 3), frequencies),
                                    lpt.torch.rotary(x, frequencies)))
        self.assertEqual((0, 9, 8), lpt.torch.rotary(torch.empty(0, 9, 8), frequencies).shape)
        with self.assertRaisesRegex(ValueError, 'layout is "pairs"'):
            lpt.torch.rotary(x, frequencies, layout="pairs")
        with self.assertRaisesRegex(NotImplementedError, "frequencies requires a gradient"):
            lpt.torch.rotary(x, frequencies.clone().requires_grad_())
        with self.assertRaisesRegex(ValueError, "frequencies"):
            lpt.torch.rotary(x, torch.ones(5, dtype=torch.float64))
        with self.assertRaisesRegex(TypeError, "x is torch.int64"):
            lpt.torch.rotary(torch.ones(3, 8, dtype=torch.int64), frequencies)


@needs_torch
class Compile(unittest.TestCase):
    def test_a_block_of_a_transformer_compiles_as_one_graph(self):
        torch._dynamo.reset()
        torch.manual_seed(SEED)

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.last = lpt.torch.RMSNorm(32), lpt.torch.LayerNorm(32)
                self.qkv, self.up = lpt.torch.Linear(32, 96), lpt.torch.Linear(32, 128)
                self.down, self.head = lpt.torch.Linear(64, 32), lpt.torch.Linear(32, 10)
                self.gated, self.loss = lpt.torch.SwiGLU(), lpt.torch.CrossEntropyLoss()
                self.register_buffer("frequencies", lpt.rotary_frequencies(16).torch())

            def forward(self, x, targets):
                heads = [one.unflatten(-1, (2, 16)).transpose(1, 2) for one in self.qkv(self.norm(x)).chunk(3, -1)]
                heads[:2] = [lpt.torch.rotary(one, self.frequencies) for one in heads[:2]]
                mixed = lpt.torch.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)
                x = x + self.down(self.gated(self.up(x + mixed)))
                return self.loss(self.head(self.last(x)).flatten(0, 1), targets.flatten())
        block, results = Block(), []
        for function in (block, torch.compile(block, fullgraph=True, backend="aot_eager")):
            for rows in (3, 5):
                x, targets = draw(rows, 12, 32), torch.arange(rows * 12).reshape(rows, 12) % 10
                block.zero_grad()
                loss = function(x, targets)
                loss.backward()
                results.append([loss, x.grad] + [one.grad.clone() for one in block.parameters()])
        for eager, compiled in zip(results[:2], results[2:]):
            self.assertTrue(all(map(torch.equal, eager, compiled)))

    def test_operators_pass_the_checks_of_torch(self):
        operators, targets = torch.ops.lpt, torch.tensor([1, 2, 3])
        for operator, arguments in ((operators.rms_norm, (draw(3, 8), draw(8), 1e-5)),
                                    (operators.rms_norm_sum, (draw(3, 8, dtype=torch.bfloat16), draw(3, 8), draw(8), 1e-5)),
                                    (operators.layer_norm, (draw(3, 8), draw(8), draw(8), 1e-5)),
                                    (operators.swiglu, (draw(3, 8), draw(3, 8))),
                                    (operators.swiglu_halves, (draw(3, 8),)),
                                    (operators.attention, (*[draw(1, 2, 4, 8) for _ in range(3)], None, True, 0.0)),
                                    (operators.attention, (*[draw(1, 4, 2, 8).transpose(1, 2) for _ in range(3)], None, True, 0.0)),
                                    (operators.rotary, (draw(4, 2, 8).transpose(0, 1), torch.ones(4), None, 0, "halves", 1.0, False)),
                                    (operators.cross_entropy, (draw(3, 8), targets, -100, 0.0, "mean"))):
            torch.library.opcheck(operator.default, arguments, test_utils=(
                "test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"))

    def test_second_derivatives_are_rejected(self):
        x = draw(3, 8)
        with self.assertRaisesRegex(NotImplementedError, "lpt::rms_norm has no second derivative"):
            torch.autograd.grad(lpt.torch.RMSNorm(8)(x).sum(), x, create_graph=True)


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
