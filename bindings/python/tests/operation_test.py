"""GEMM, layers and sparsity, compared with their definitions in float64 of the standard library."""
import math
import unittest
from array import array

import lpt
from lpt import capi
from support import Draws, floats


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def matrix(draws, rows, columns):
    return floats([draws() for _ in range(rows * columns)], [rows, columns])


class Case(unittest.TestCase):
    def near(self, expected, found, bound=1e-5):
        if isinstance(expected, (list, tuple)):
            self.assertEqual(len(expected), len(found))
            for one, other in zip(expected, found):
                self.near(one, other, bound)
        else:
            self.assertLessEqual(abs(expected - found), bound * max(1.0, abs(expected)))


class Gemm(Case):
    def setUp(self):
        draws = Draws(3)
        self.a, self.b = matrix(draws, 3, 32), matrix(draws, 32, 5)
        self.bt = floats([self.b.tolist()[k][j] for j in range(5) for k in range(32)], [5, 32])

    def test_equals_the_definition(self):
        expected = product(self.a.tolist(), self.b.tolist())
        self.near(expected, lpt.gemm(self.a, self.b).tolist())
        self.near(expected, lpt.gemm(self.a, self.bt, b_transposed=True).tolist())
        quantized = lpt.quantize(self.a, "mxfp8_e4m3"), lpt.quantize(self.bt, "nvfp4")
        expected = product(quantized[0].tolist(), list(zip(*quantized[1].tolist())))
        self.near(expected, lpt.gemm(*quantized, b_transposed=True).tolist(), 1e-4)

    def test_applies_bias_activation_and_residual(self):
        bias, residual = floats(range(5)), floats([0.5] * 15, [3, 5])
        plain = product(self.a.tolist(), self.b.tolist())
        silu = [[(x := 2 * v + shift) / (1 + math.exp(-x)) + 0.5 for v, shift in zip(row, range(5))] for row in plain]
        self.near(silu, lpt.gemm(self.a, self.b, alpha=2.0, bias=bias, activation="silu", residual=residual).tolist())

    def test_halves_the_columns_by_a_swiglu(self):
        b = floats(Draws(4).list(32 * 6), [32, 6])
        plain = product(self.a.tolist(), b.tolist())
        expected = [[row[j] / (1 + math.exp(-row[j])) * row[j + 3] for j in range(3)] for row in plain]
        self.near(expected, lpt.gemm(self.a, b, activation="swiglu").tolist())

    def test_writes_low_precision_results(self):
        result = lpt.gemm(self.a, self.b, format="e4m3fn_row", quantize={"rounding": "toward_zero"})
        self.assertEqual(lpt.quantize(lpt.gemm(self.a, self.b), "e4m3fn_row", rounding="toward_zero").tolist(),
                         result.tolist())

    def test_of_groups_and_plans_and_packed_weights(self):
        experts = floats([v for line in self.b.tolist() for v in line] * 2, [2, 32, 5])
        whole = lpt.gemm(self.a, self.b).tolist()
        self.near(whole, lpt.gemm_grouped(self.a, experts, [1, 3]).tolist())
        out = lpt.empty((3, 5))
        plan = lpt.GemmPlan(self.a, self.b, out)
        self.assertEqual((3, 5, 32), tuple(plan.values[name] for name in "mnk"))
        self.assertEqual(whole, plan(self.a, self.b, out).tolist())
        weights = lpt.quantize(self.bt, "int8_row")
        packed = lpt.weights_pack(weights, storage="bitmask")
        self.assertEqual(lpt.gemm(self.a, weights, b_transposed=True).tolist(),
                         lpt.gemm(self.a, packed, b_transposed=True).tolist())
        self.assertEqual(weights.tolist(), lpt.weights_unpack(packed).tolist())

    def test_of_weights_in_another_order(self):
        weights = lpt.Tensor(self.bt)
        plain = lpt.gemm(self.a, weights, b_transposed=True).tolist()
        permuted = lpt.weights_pack(weights, output_order=[4, 3, 2, 1, 0])
        self.near([line[::-1] for line in plain], lpt.gemm(self.a, permuted, b_transposed=True).tolist())
        self.assertRaisesRegex(ValueError, "2 numbers: expected 5", lpt.weights_pack, weights, output_order=[1, 0])
        stripes = floats([float((row + column // 64) % 2) for row in range(64) for column in range(128)], [64, 128])
        order, before, after = lpt.weights_order(lpt.quantize(stripes, "e4m3fn"), tile_rows=32, tile_columns=64)
        self.assertEqual((list(range(64)), 4, 2), (sorted(order), before, after))

    def test_is_only_checked_with_a_flag(self):
        out = lpt.quantize(floats([7.0] * 15, [3, 5]), "f32")
        lpt.gemm(self.a, self.b, out=out, flags=capi.LPT_CHECK_ONLY)
        self.assertEqual([[7.0] * 5] * 3, out.tolist())
        with self.assertRaises(lpt.InvalidArgument):
            lpt.gemm(self.a, self.bt, out=out, flags=capi.LPT_CHECK_ONLY)

    def test_rejects_shapes_that_do_not_agree(self):
        with self.assertRaisesRegex(lpt.InvalidArgument, "32"):
            lpt.gemm(self.a, floats(range(10), [2, 5]))
        with self.assertRaises(ValueError):
            lpt.gemm(floats([1.0]), self.b)


class Operator(Case):
    def test_the_operator_is_gemm(self):
        draws = Draws(5)
        x, w = floats(draws.list(6 * 16), [6, 16]), floats(draws.list(16 * 8), [16, 8])
        a, b = lpt.quantize(x, "e4m3fn_row"), lpt.quantize(w, "bf16")
        expected = lpt.gemm(a, b).tolist()
        self.assertEqual(expected, (a @ b).tolist())
        self.assertEqual(lpt.gemm(x, b).tolist(), (x @ b).tolist())
        self.assertEqual(lpt.gemm(a, w).tolist(), (a @ w).tolist())
        with self.assertRaisesRegex(lpt.InvalidArgument, "6"):
            a @ x


class Formats(Case):
    def test_are_described_and_made(self):
        found = lpt.format_describe("nvfp4")
        names = [lpt.format_name(found[name]) for name in ("element", "block_scale", "tensor_scale")]
        self.assertEqual((["e2m1fn", "e4m3fn", "f32"], 16), (names, found["block_columns"]))
        made = lpt.format_from_description(element="int8", block_scale="f32", block_rows=1, block_columns=64)
        self.assertEqual(lpt.format_name("int8/1x64/f32"), lpt.format_name(made))
        self.assertEqual("nvfp4", lpt.format_name(lpt.format_from_description(**{
            name: found[name] for name in ("element", "block_scale", "tensor_scale", "block_rows", "block_columns")})))
        with self.assertRaises(lpt.InvalidArgument):
            lpt.format_from_description(element="int8", block_scale="f32", block_rows=3, block_columns=64)


class Layers(Case):
    def test_rmsnorm(self):
        x, gain = [3.0, -4.0], [2.0, 0.5]
        r = 1 / math.sqrt((9 + 16) / 2 + 1e-5)
        y, inverse = lpt.rmsnorm(floats(x, [1, 2]), floats(gain))
        self.near([[x[0] * r * gain[0], x[1] * r * gain[1]]], y.tolist())
        self.near([r], inverse.tolist())
        dx, dw = lpt.rmsnorm_backward(floats(x, [1, 2]), floats(gain), inverse, floats([1.0, 0.0], [1, 2]))
        dot = gain[0] * x[0]
        self.near([[r * gain[0] - r ** 3 * x[0] * dot / 2, -r ** 3 * x[1] * dot / 2]], dx.tolist(), 1e-4)
        self.near([x[0] * r, 0.0], dw.tolist())
        total = floats([1.0, 1.0])
        lpt.rmsnorm_backward(floats(x, [1, 2]), floats(gain), inverse, floats([1.0, 0.0], [1, 2]), weight_gradient=total)
        self.near([1 + x[0] * r, 1.0], total.tolist())

    def test_norms_write_results_of_f64(self):
        x, wide = floats([3.0, -4.0], [1, 2]), lambda numbers, shape: lpt.dequantize(floats(numbers, shape), "f64")  # noqa: E731
        gain, bias = wide([2.0, 0.5], [2]), wide([0.0, 0.0], [2])
        for name, norm in (("rmsnorm", lambda one, out: lpt.rmsnorm(one, gain, out=out)),
                           ("rmsnorm_sum", lambda one, out: lpt.rmsnorm_sum(one, one, gain, out=out)),
                           ("layernorm", lambda one, out: lpt.layernorm(one, gain, bias, out=out))):
            with self.subTest(norm=name):
                result, *_, inverse = norm(x, lpt.empty((1, 2), "f64"))
                self.assertEqual(("f64", "f64"), (result.format, inverse.format))
                same, *_, inverse = norm(wide([3.0, -4.0], [1, 2]), None)
                self.near(same.tolist(), result.tolist(), 1e-6)
                narrow, *_, inverse = norm(wide([3.0, -4.0], [1, 2]), lpt.empty((1, 2)))
                self.assertEqual(("f32", "f64"), (narrow.format, inverse.format))
        backward = lpt.layernorm_backward(x, gain, *lpt.layernorm(x, gain, bias, out=lpt.empty((1, 2), "f64"))[1:],
                                          wide([1.0, 0.0], [1, 2]))
        self.assertEqual(["f64"] * 3, [one.format for one in backward])

    def test_swiglu(self):
        gate, up = 0.7, -1.5
        sigmoid = 1 / (1 + math.exp(-gate))
        one = lambda value: floats([value], [1, 1])  # noqa: E731
        self.near([[gate * sigmoid * up]], lpt.swiglu(one(gate), one(up)).tolist())
        dgate, dup = lpt.swiglu_backward(one(gate), one(up), one(1.0))
        self.near([[up * sigmoid * (1 + gate * (1 - sigmoid))]], dgate.tolist())
        self.near([[gate * sigmoid]], dup.tolist())
        result, factors = lpt.swiglu(one(gate), one(up), smoothing=True)
        self.assertEqual(("e8m0fnu", [2.0]), (factors.format, factors.tolist()))

    def test_layernorm(self):
        x, gain, bias = [3.0, -4.0, 2.5], [2.0, 0.5, -1.0], [0.5, 0.25, -2.0]
        m = sum(x) / 3
        r = 1 / math.sqrt(sum((value - m) ** 2 for value in x) / 3 + 1e-5)
        normal = [(value - m) * r for value in x]
        y, mean, inverse = lpt.layernorm(floats(x, [1, 3]), floats(gain), floats(bias))
        self.near([[n * g + b for n, g, b in zip(normal, gain, bias)]], y.tolist())
        self.near([m], mean.tolist())
        self.near([r], inverse.tolist())
        self.near([normal], lpt.layernorm(floats(x, [1, 3]))[0].tolist())
        dy = [1.0, 0.5, -0.25]
        weighted = [g * d for g, d in zip(gain, dy)]
        dot = sum(w * n for w, n in zip(weighted, normal)) / 3
        dx, dw, db = lpt.layernorm_backward(floats(x, [1, 3]), floats(gain), mean, inverse, floats(dy, [1, 3]))
        self.near([[r * (w - sum(weighted) / 3 - n * dot) for w, n in zip(weighted, normal)]], dx.tolist(), 1e-4)
        self.near([d * n for d, n in zip(dy, normal)], dw.tolist())
        self.near(dy, db.tolist())
        totals = floats([1.0] * 3), floats([2.0] * 3)
        lpt.layernorm_backward(floats(x, [1, 3]), None, mean, inverse, floats(dy, [1, 3]), weight_gradient=totals[0],
                               bias_gradient=totals[1])
        self.near([1 + d * n for d, n in zip(dy, normal)], totals[0].tolist())
        self.near([2 + d for d in dy], totals[1].tolist())

    def test_rotary(self):
        frequencies = lpt.rotary_frequencies(4)
        self.near([1.0, 0.01], frequencies.tolist(), 1e-15)
        self.near([0.125, 0.0125], lpt.rotary_frequencies(5, "linear", base=100, factor=8, format="f32").tolist())
        x = [[1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, 0.5, 2.0, 0.0, 6.0]]
        for layout, pairs in (("halves", ((0, 2), (1, 3))), ("interleaved", ((0, 1), (2, 3)))):
            expected = [list(row) for row in x]
            for row, position in zip(expected, (7, 3)):
                for (first, second), frequency in zip(pairs, (1.0, 0.01)):
                    cosine, sine = math.cos(position * frequency), math.sin(position * frequency)
                    a, b = row[first], row[second]
                    row[first], row[second] = a * cosine - b * sine, a * sine + b * cosine
            given = floats([value for row in x for value in row], [2, 5])
            for positions in ([7, 3], array("i", [7, 3])):
                rotated = lpt.rotary(given, frequencies, positions=positions, layout=layout)
                self.near(expected, rotated.tolist())
            self.near(x, lpt.rotary(rotated, frequencies, positions=[7, 3], layout=layout, inverse=True).tolist())
            self.assertEqual(lpt.rotary(given, frequencies, positions=[9, 10], layout=layout).tolist(),
                             lpt.rotary(given, frequencies, first_position=9, layout=layout, out=given).tolist())
        with self.assertRaisesRegex(lpt.InvalidArgument, "positions is 3 int64: expected a vector of 2"):
            lpt.rotary(given, frequencies, positions=[0, 1, 2])
        with self.assertRaisesRegex(lpt.InvalidArgument, r"original_positions is 0: expected 1 to 2\^30"):
            lpt.rotary_frequencies(64, "yarn", factor=4)

    def test_softmax(self):
        y = lpt.softmax(floats([0.0, math.log(3.0)], [1, 2]))
        self.near([[0.25, 0.75]], y.tolist())
        self.near([[0.25 * (1 - 0.25), -0.25 * 0.75]], lpt.softmax_backward(y, floats([1.0, 0.0], [1, 2])).tolist())
        self.near([[1.0, 0.0], [0.5, 0.5]], lpt.softmax(floats([0.0] * 4, [2, 2]), causal=True).tolist())

    def test_targets_of_cross_entropy_may_be_of_any_integer_type(self):
        logits, targets = floats(Draws().list(12), [2, 2, 3]), [2, 0, -1, 1]
        expected = lpt.cross_entropy(logits, targets, reduction="none")[0].tolist()
        self.assertEqual((4, 0.0), (len(expected), expected[2]))
        shaped = lpt.Tensor(memoryview(array("i", targets)).cast("B").cast("i", [2, 2]))
        self.assertEqual(("int32", (2, 2)), (shaped.format, shaped.shape))
        for given in (shaped, array("i", targets), array("l", targets), memoryview(array("q", targets)), tuple(targets)):
            loss, sums = lpt.cross_entropy(logits, given, reduction="none")
            self.assertEqual(expected, loss.tolist())
            self.assertEqual((2, 2, 3), lpt.cross_entropy_backward(logits, given, sums, reduction="none").shape)
        self.assertEqual([[2, 0], [-1, 1]], shaped.tolist())
        with self.assertRaisesRegex(lpt.InvalidArgument, "targets is 3 int64: expected a vector of 4"):
            lpt.cross_entropy(logits, [0, 1, 2])
        with self.assertRaisesRegex(lpt.Unsupported, "source is int32: it holds indices, not numbers"):
            lpt.quantize(shaped, "nvfp4")

    def test_attention(self):
        draws, width = Draws(9), 4
        q, k, v = (matrix(draws, 3, width) for _ in range(3))
        scores = [[x / 2 for x in row] for row in product(q.tolist(), [list(column) for column in zip(*k.tolist())])]
        weights = [[math.exp(x) if j <= i else 0.0 for j, x in enumerate(row)] for i, row in enumerate(scores)]
        expected = product([[x / sum(row) for x in row] for row in weights], v.tolist())
        self.near(expected, lpt.attention(q, k, v, causal=True).tolist())
        heads = lpt.attention(floats(draws.list(48), [4, 3, 4]), floats(draws.list(24), [2, 3, 4]),
                              lpt.quantize(floats(draws.list(24), [2, 3, 4]), "int8_row"))
        self.assertEqual(("f32", (4, 3, 4)), (heads.format, heads.shape))
        gradients = lpt.attention_backward(q, k, v, floats([1.0] * 12, [3, 4]), causal=True)
        self.near([sum(column) for column in zip(*[[x / sum(row) for x in row] for row in weights])],
                  [row[0] for row in gradients[2].tolist()])

    def test_attention_with_a_mask(self):
        draws, width = Draws(10), 4
        q, k, v = (matrix(draws, 20, width) for _ in range(3))
        # A causal window of 3 keys, as a mask.
        seen = [[0.0 if i - 3 < j <= i else -math.inf for j in range(20)] for i in range(20)]
        mask = floats([x for row in seen for x in row], [20, 20])
        output, log_sums = lpt.attention(q, k, v, causal=True, window=3, log_sum_exp=True)
        self.assertEqual(("f32", (20,)), (log_sums.format, log_sums.shape))
        sums = lpt.empty(20)
        self.near(output.tolist(), lpt.attention(q, k, v, mask=mask, log_sum_exp=sums).tolist())
        self.near([log_sums.tolist()], [sums.tolist()])
        ones = floats([1.0] * 80, [20, 4])
        alone = lpt.attention_backward(q, k, v, ones, causal=True, window=3)
        kept = lpt.attention_backward(q, k, v, ones, mask=mask, output=output, log_sum_exp=sums)
        for one, other in zip(alone, kept):
            self.near(one.tolist(), other.tolist())
        with self.assertRaisesRegex(lpt.InvalidArgument, "log_sum_exp alone"):
            lpt.attention_backward(q, k, v, ones, log_sum_exp=sums)

    def test_attention_with_levels(self):
        draws = Draws(12)
        q, k, v = (matrix(draws, 6, 4) for _ in range(3))
        scores = lpt.gemm(q, k, b_transposed=True, alpha=0.5)
        levels = lpt.softmax(scores, causal=True, exaq_bits=3, exaq_clip=-4.0)
        self.near(lpt.gemm(levels, v).tolist(), lpt.attention(q, k, v, causal=True, exaq={"bits": 3, "clip": -4.0}).tolist())
        with self.assertRaisesRegex(TypeError, "exaq is 3: expected a dict of bits and clip"):
            lpt.attention(q, k, v, exaq=3)

    def test_attention_with_key_lengths(self):
        draws = Draws(11)
        q, k, v = (floats(draws.list(48), [2, 1, 6, 4]) for _ in range(3))
        padding = floats([0.0] * 6 + [0.0] * 4 + [-math.inf] * 2, [2, 1, 1, 6])
        masked = lpt.attention(q, k, v, mask=padding)
        self.near(masked.tolist()[1][0], lpt.attention(q, k, v, key_lengths=[6, 4]).tolist()[1][0])
        gradients = lpt.attention_backward(q, k, v, floats([1.0] * 48, [2, 1, 6, 4]), key_lengths=[6, 4])
        self.assertEqual([[0.0] * 4] * 2, gradients[1].tolist()[1][0][4:])
        with self.assertRaisesRegex(lpt.InvalidArgument, r"key_lengths\[1\] is 7: expected 0 to 6"):
            lpt.attention(q, k, v, key_lengths=[6, 7])

    def test_embedding(self):
        table = floats(range(6), [3, 2])
        self.assertEqual([[4.0, 5.0], [0.0, 1.0]], lpt.embedding(table, [2, 0]).tolist())
        indices = memoryview(array("i", [1, 0, 2, 1])).cast("B").cast("i", [2, 2])
        rows = lpt.embedding(lpt.quantize(table, "int8_row"), indices, format="bf16")
        self.assertEqual(("bf16", (2, 2, 2)), (rows.format, rows.shape))
        gradient = lpt.embedding_backward(indices, floats(range(8), [2, 2, 2]), 3, padding_index=0)
        self.assertEqual([[0.0, 0.0], [6.0, 8.0], [4.0, 5.0]], gradient.tolist())
        lpt.embedding_backward([0], floats([1.0, 2.0], [1, 2]), out=gradient, accumulated=True)
        self.assertEqual([[1.0, 2.0], [6.0, 8.0], [4.0, 5.0]], gradient.tolist())
        with self.assertRaisesRegex(lpt.InvalidArgument, r"indices\[0\] is 3: expected 0 to 2"):
            lpt.embedding(table, [3])

    def test_inverse_hadamard_restores_the_input(self):
        x = floats(Draws(5).list(32), [1, 32])
        signs = lpt.random_signs(16, lpt.Random(seed=1))
        self.assertTrue(set(signs.tolist()) <= {1.0, -1.0})
        permuted = lpt.hadamard(x, 16, signs=signs)
        self.near(x.tolist(), lpt.hadamard(permuted, 16, signs=signs, inverse=True).tolist())

    def test_conversions_and_foreign_layouts(self):
        x = floats(Draws(6).list(64), [2, 32])
        self.assertEqual(lpt.quantize(x, "nvfp4").tolist(), lpt.fake_quantize(x, "nvfp4").tolist())
        codes = lpt.quantize(x, "e4m3fn_tensor")
        self.near(codes.tolist(), lpt.convert(codes, "e4m3fnuz_tensor").tolist(), 0.07)
        packed = lpt.quantize(x, "mxfp4")
        data = lpt.foreign_layout_export(packed, "ggml")
        self.assertEqual(2 * 17, len(data))
        self.assertEqual(packed.tolist(), lpt.foreign_layout_import(data, "ggml", (2, 32), "mxfp4").tolist())


class Sparsity(Case):
    def test_keeps_the_two_largest_of_four(self):
        x = floats([1.0, -3.0, 2.0, 0.5, 0.0, 1.0, 4.0, -5.0], [1, 8])
        mask, kept = lpt.sparse_select(x)
        self.assertEqual([[0, 1, 1, 0, 0, 0, 1, 1]], memoryview(mask).tolist())
        self.assertEqual([[0.0, -3.0, 2.0, 0.0, 0.0, 0.0, 4.0, -5.0]], kept.tolist())
        self.assertEqual(kept.tolist(), lpt.sparse_apply(x, mask).tolist())
        self.assertEqual((0, 0), (lpt.sparse_check(mask), lpt.sparse_compare(mask, mask)))
        self.assertEqual(9 + 4 + 16 + 25, lpt.sparse_values(x)["kept_energy"])
        gradient = floats([0.0] * 8, [1, 8])
        lpt.sparse_decay(x, mask, 0.5, gradient)
        self.assertEqual([[0.5, 0.0, 0.0, 0.25, 0.0, 0.5, 0.0, 0.0]], gradient.tolist())
        fitted, errors = lpt.sparse_fit(x, mask, floats(Draws(7).list(128), [16, 8]))
        self.assertLessEqual(errors["fitted_error"], errors["masked_error"])
        self.assertEqual(0.0, fitted.tolist()[0][0])

    def test_absorbs_counts_and_chooses(self):
        x, mask = floats([1.0, -3.0, 2.0, 0.5], [1, 4]), bytearray([0, 1, 1, 0])
        mask = memoryview(mask).cast("B", [1, 4])
        # The two kept elements share the dropped 1.5.
        self.assertEqual([[0.0, -2.25, 2.75, 0.0]], lpt.sparse_absorb(x, mask).tolist())
        self.near(math.log2(6) / 4, lpt.sparse_diversity(2, 4))
        # All 4 are zero with probability 0.9^4 = 0.66, at least 3 with 0.95.
        self.assertEqual(1, lpt.sparse_choose_kept(0.9, confidence=0.9))
        self.assertEqual(4, lpt.sparse_choose_kept(0.0))

    def test_orders_keep_more(self):
        x = floats([4.0, 4.0, 4.0, 4.0, 0.0, 0.0, 0.0, 0.0], [1, 8])
        order, values = lpt.sparse_order(x)
        self.assertEqual((list(range(8)), 64.0), (sorted(order), values["kept_energy"]))

    def test_layers_return_their_masks(self):
        layer = lpt.Linear(4, 1, "sparse24")
        layer.prepare(floats([1.0, -3.0, 2.0, 0.5], [1, 4]))
        self.assertEqual([[0, 1, 1, 0]], memoryview(layer.mask()).tolist())


class Contexts(Case):
    def test_explain_profile_log_and_cancel(self):
        context = lpt.Context(1, "reference")
        a = floats([1.0] * 64, [8, 8])
        lines = []
        context.set_log(lambda level, text: lines.append(text), "dispatch")
        context.start_profile()
        lpt.gemm(a, a, context=context)
        self.assertIn("ref", context.explanation)
        self.assertEqual(["gemm"], [entry["operation"] for entry in context.stop_profile()])
        self.assertTrue(lines)
        context.set_progress(lambda done, whole: True)
        self.assertRaises(lpt.Cancelled, lpt.gemm, a, a, context=context)

        def fail(done, whole):
            raise KeyError("mine")
        context.set_progress(fail)
        self.assertRaises(KeyError, lpt.gemm, a, a, context=context)
        context.set_progress(None)
        context.set_log(fail, "dispatch")
        self.assertRaises(KeyError, lpt.gemm, a, a, context=context)
        context.set_log(None)
        lpt.gemm(a, a, context=context)
        self.assertRaisesRegex(ValueError, "x86_avx9", lpt.Context, isa="x86_avx9")
        self.assertRaisesRegex(lpt.InvalidArgument, "-3", lpt.Context, thread_count=-3)

    def test_in_use_are_busy_in_callbacks(self):
        a, found = floats(range(64), [8, 8]), []
        expected = lpt.gemm(a, a).tolist()

        def call(*_):
            try:
                lpt.gemm(a, a, context=context)
            except lpt.Busy as error:
                found.append(error)
                found.append(lpt.gemm(a, a).tolist())  # another context
        for set_callback in (lambda one: context.set_log(call, "dispatch"), lambda one: context.set_progress(call)):
            with self.subTest(callback=set_callback), lpt.Context(1) as context:
                found.clear()
                set_callback(context)
                self.assertEqual(expected, lpt.gemm(a, a, context=context).tolist())
                self.assertEqual(capi.LPT_BUSY, found[0].status)
                self.assertIn("the context is in use by another call", str(found[0]))
                self.assertEqual(expected, found[1])

    def test_of_callbacks_are_separate(self):
        a, found, context = floats(range(64), [8, 8]), [], lpt.default_context()
        expected = lpt.gemm(a, a).tolist()
        context.set_progress(lambda *_: found.append((lpt.gemm(a, a).tolist(), lpt.default_context() is context)))
        self.assertEqual(expected, lpt.gemm(a, a).tolist())
        context.set_progress(None)
        self.assertEqual((expected, False), found[0])
        self.assertIs(context, lpt.default_context())
        self.assertRaisesRegex(TypeError, "progress is int: expected a callable", context.set_progress, 3)

    def test_in_use_are_busy_to_other_threads(self):
        import threading
        a, context = floats(range(64), [8, 8]), lpt.Context(1)
        expected, found = lpt.gemm(a, a).tolist(), []
        is_inside, is_over = threading.Event(), threading.Event()

        def wait(*_):
            is_inside.set()
            is_over.wait(60)
        context.set_progress(wait)
        thread = threading.Thread(target=lambda: found.append(lpt.gemm(a, a, context=context).tolist()))
        thread.start()
        self.assertTrue(is_inside.wait(60))
        target = floats([7.0] * 64, [8, 8])
        for call in (lambda: lpt.gemm(a, a, out=target, context=context), lambda: context.set_threads(2),
                     lambda: context.set_progress(None)):
            self.assertRaises(lpt.Busy, call)
        self.assertEqual("", context.explanation)
        context.close()  # the running call continues
        is_over.set()
        thread.join()
        self.assertEqual([expected], found)
        self.assertEqual([[7.0] * 8] * 8, target.tolist())
        self.assertRaisesRegex(ValueError, "context is closed", lpt.gemm, a, a, context=context)

    def test_close_with_their_block(self):
        a = floats([1.0] * 4, [2, 2])
        with lpt.Context(1) as context:
            lpt.gemm(a, a, context=context)
        for call in (lambda: lpt.gemm(a, a, context=context), lambda: context.set_threads(1), lambda: context.explanation,
                     lambda: lpt.set_default_context(context), lambda: lpt.Context(threads_of=context)):
            self.assertRaisesRegex(ValueError, "context is closed: expected an open one", call)
        context.close()
        self.assertRaisesRegex(TypeError, "context is None: expected a Context", lpt.set_default_context, None)
        with self.assertRaises(KeyError), lpt.Context(1):
            raise KeyError("mine")

    def test_share_threads_and_get_their_own(self):
        a = floats(range(64), [8, 8])
        expected = lpt.gemm(a, a).tolist()
        shared = lpt.Context(threads_of=lpt.default_context())
        self.assertEqual(expected, lpt.gemm(a, a, context=shared).tolist())
        self.assertRaisesRegex(lpt.InvalidArgument, "thread_count is 2", lpt.Context, 2, threads_of=shared)
        lpt.default_context().set_threads(2)
        lpt.default_context().set_isa("reference")
        lpt.gemm(a, a)
        self.assertIn("ref", lpt.default_context().explanation.splitlines()[0])
        lpt.gemm(a, a, context=shared)
        self.assertNotEqual(lpt.default_context().explanation, shared.explanation)
        before = lpt.default_context()
        before.close()
        self.assertEqual(expected, lpt.gemm(a, a).tolist())
        self.assertIsNot(before, lpt.default_context())

    def test_are_one_for_each_thread(self):
        import threading
        found = []
        thread = threading.Thread(target=lambda: found.append(lpt.default_context()))
        thread.start()
        thread.join()
        self.assertIsNot(found[0], lpt.default_context())
        self.assertIs(lpt.default_context(), lpt.default_context())


if __name__ == "__main__":
    unittest.main()
