"""Statistics of calibration data, and weights that are fitted to them."""
import math
import unittest
from array import array

import lpt

from operation_test import Case, matrix
from support import Draws, floats


class Calibration(Case):
    def test_statistics(self):
        inputs = matrix(Draws(13), 96, 32)
        gram = lpt.gemm(inputs, inputs, a_transposed=True)
        calibration = lpt.Calibration(32, cross_gram=True)
        for rows in (inputs[:50], inputs[50:]):
            calibration.add(rows, rows)
        for sums in (calibration.gram, calibration.cross_gram):
            self.near(gram.tolist(), sums.tolist(), 1e-4)
        numbers = [abs(x) for row in inputs.tolist() for x in row]
        self.assertEqual((96, max(numbers)), (calibration.values["row_count"], calibration.values["amax"]))
        self.assertEqual(max(numbers), max(calibration.maxima.tolist()))
        self.near([sum(column) / 96 for column in zip(*inputs.tolist())], calibration.means.tolist())
        self.assertLessEqual(sorted(numbers)[len(numbers) // 2 - 1], calibration.percentile(0.5))
        self.assertEqual((32,), calibration.mean_squares.shape)
        with self.assertRaisesRegex(lpt.InvalidArgument, "reference is NULL: expected"):
            calibration.add(inputs)

    def test_weights_fit(self):
        draws = Draws(13)
        inputs, weight = matrix(draws, 96, 32), matrix(draws, 8, 32)
        gram = lpt.gemm(inputs, inputs, a_transposed=True)
        fitted, factors, _, values = lpt.weights_fit(weight, gram, "int4_1x32", order="blocks")
        self.assertEqual(("int4_1x32", (8, 32), None), (fitted.format, fitted.shape, factors))
        self.assertLess(values["fitted_error"], values["nearest_error"])
        nearest, factors, _, _ = lpt.weights_fit(weight, gram, "int4_1x32", method="nearest", scale_rule="default", factors=True)
        scaled = floats([x * y for row in weight.tolist() for x, y in zip(row, factors.tolist())], [8, 32])
        self.assertEqual(lpt.quantize(scaled, "int4_1x32").tolist(), nearest.tolist())
        zeros, _, _, _ = lpt.weights_fit(weight, gram, "f32", method="nearest", cross_gram=floats([0.0] * 1024, [32, 32]),
                                         damping=0.0)
        self.near([[0.0] * 32] * 8, zeros.tolist())
        options = {"inputs": inputs, "input_format": "int8_row", "bias_change": True}
        codes, factors, change, values = lpt.weights_fit(weight, gram, "int4_1x32", factors=True, **options)
        divided = floats([x / y for row in inputs.tolist() for x, y in zip(row, factors.tolist())], [96, 32])
        outputs = lpt.gemm(lpt.quantize(divided, "int8_row"), codes, b_transposed=True).tolist()
        exact = lpt.gemm(inputs, weight, b_transposed=True).tolist()
        means = [sum(x[i] - y[i] for x, y in zip(exact, outputs)) / 96 for i in range(8)]
        self.near([means], [change.tolist()], 1e-4)
        error = sum((x - y - mean) ** 2 for row, other in zip(exact, outputs) for x, y, mean in zip(row, other, means))
        self.near(error / sum(x * x for row in exact for x in row), values["sample_error"], 1e-6)
        with self.assertRaisesRegex(lpt.InvalidArgument, "bias_change is given without inputs"):
            lpt.weights_fit(weight, gram, "nvfp4", bias_change=True)
        with self.assertRaisesRegex(TypeError, 'format is "": expected the name or number'):
            lpt.weights_fit(weight, gram)
        with self.assertRaisesRegex(lpt.InvalidArgument, "damping is 2: expected 0 to 1"):
            lpt.weights_fit(weight, gram, "nvfp4", damping=2.0)

    def test_power(self):
        self.assertEqual(36.0, lpt.power_estimate(weight_bits=4, input_bits=4))
        self.assertEqual(24.0, lpt.power_estimate("additions", input_bits=6, additions=3.5))
        weight = matrix(Draws(14), 8, 64)
        codes, values = lpt.power_quantize(weight, 4.0)
        scale = sum(map(abs, weight.tolist()[0])) / 64 / 4.0
        self.near([[scale * round(x / scale) for x in weight.tolist()[0]]], [codes.tolist()[0]], 1e-5)
        self.assertEqual("int8_row", codes.format)
        self.assertAlmostEqual(4.0, values["additions"], delta=0.2)
        with self.assertRaisesRegex(lpt.InvalidArgument, "input_bits is 0: expected 1 to 64"):
            lpt.power_estimate(input_bits=0)

    def test_format_choose(self):
        errors, sizes = [[4.0, 1.0, 0.0], [9.0, 2.0, math.inf]], [[1, 2, 4], [1, 3, 4]]
        # The six choices cost 2 to 7 bytes.
        for budget, expected in (2, [0, 0]), (4, [0, 1]), (5, [1, 1]), (6, [1, 1]), (7, [2, 1]):
            choices, values = lpt.format_choose(errors, sizes, budget)
            self.assertEqual(expected, choices)
            self.assertEqual((sum(row[i] for row, i in zip(errors, choices)), sum(row[i] for row, i in zip(sizes, choices))),
                             (values["error"], values["bytes"]))
            self.assertEqual(values["error"], values["bound"])
        self.assertEqual([], lpt.format_choose([], [], 0)[0])
        with self.assertRaisesRegex(lpt.InvalidArgument, "budget_bytes is 1: expected at least 2"):
            lpt.format_choose(errors, sizes, 1)
        with self.assertRaisesRegex(ValueError, "sizes has rows of .3, 2. numbers: expected 2 rows of 3"):
            lpt.format_choose(errors, [[1, 2, 4], [1, 3]], 7)
        with self.assertRaisesRegex(ValueError, "errors has 4 items: expected 2 x 3"):
            lpt.capi.lpt_format_choose(None, [1.0] * 4, [1] * 4, 2, 3, 9, array("q", [0, 0]), lpt.capi.lpt_format_choose_info())
        with self.assertRaisesRegex(ValueError, "out_choices has 8 bytes: expected 8 for each of 2 items"):
            lpt.capi.lpt_format_choose(None, [1.0] * 4, [1] * 4, 2, 2, 9, array("q", [0]), lpt.capi.lpt_format_choose_info())


if __name__ == "__main__":
    unittest.main()
