"""Training of a small model, compared with the same in C; definitions of optimizers and layers; saved state."""
import array
import math
import os
import pickle
import subprocess
import tempfile
import unittest

import lpt
from support import Draws, floats

ROWS, INPUTS, HIDDEN, OUTPUTS, STEPS = 8, 16, 32, 4, 50


class Model:
    """Two FP8 layers with a SwiGLU between them, as in train_twin.c."""

    def __init__(self):
        draws = Draws()
        self.x = floats([draws() for _ in range(ROWS * INPUTS)], [ROWS, INPUTS])
        self.target = array.array("f", [draws() for _ in range(ROWS * OUTPUTS)])
        self.weights = [floats([draws() * 0.25 for _ in range(HIDDEN * INPUTS)], [HIDDEN, INPUTS]),
                        floats([draws() * 0.25 for _ in range(OUTPUTS * HIDDEN // 2)], [OUTPUTS, HIDDEN // 2])]
        recipe = lpt.Recipe("fp8_current")
        self.layers = [lpt.Linear(INPUTS, HIDDEN, recipe), lpt.Linear(HIDDEN // 2, OUTPUTS, recipe)]
        self.optimizer = lpt.Optimizer("adamw")
        for weight in self.weights:
            self.optimizer.add(weight.nbytes // 4, first_moment="e4m3fn_tensor", second_moment="e4m3fn_tensor",
                               weight_decay=0.1)

    def step(self):
        for layer, weight in zip(self.layers, self.weights):
            layer.prepare(weight)
        h, saved1 = self.layers[0].forward(self.x)
        gate, up = h[:, :HIDDEN // 2], h[:, HIDDEN // 2:]
        a = lpt.swiglu(gate, up)
        y, saved2 = self.layers[1].forward(a)
        errors = [float(v) - float(t) for v, t in zip(memoryview(y).cast("B").cast("f"), self.target)]
        loss = 0.0
        for error in errors:
            loss += error * error
        dy = floats([error * 0.0625 for error in errors], [ROWS, OUTPUTS])
        da, dw2, _ = self.layers[1].backward(saved2, dy)
        dh = lpt.empty((ROWS, HIDDEN))
        lpt.capi.lpt_swiglu_backward(lpt.default_context()._handle, gate, up, da, None, dh[:, :HIDDEN // 2],
                                     dh[:, HIDDEN // 2:])
        _, dw1, _ = self.layers[0].backward(saved1, dh, input_gradient=None)
        lpt.update(self.layers)
        self.optimizer.step(self.weights, [dw1, dw2], learning_rate=0.01)
        return loss / 32.0


class Training(unittest.TestCase):
    def test_fifty_steps_equal_those_of_c(self):
        twin = os.path.join(os.environ["LPT_BUILD_DIR"], "bindings", "python", "python_train_twin")
        expected = [float(line) for line in subprocess.run([twin], check=True, capture_output=True, text=True,
                                                           timeout=60).stdout.split()]
        model = Model()
        found = [model.step() for _ in range(STEPS)]
        self.assertEqual(STEPS, len(expected))
        self.assertEqual(expected, found)
        self.assertLess(found[-1], 0.5 * found[0])

    def test_continues_after_pickling(self):
        first = Model()
        for _ in range(5):
            first.step()
        second = Model()
        second.layers, second.optimizer = pickle.loads(pickle.dumps((first.layers, first.optimizer)))
        second.weights = [floats(memoryview(weight).cast("B").cast("f").tolist(), list(weight.shape))
                          for weight in first.weights]
        self.assertEqual([first.step() for _ in range(5)], [second.step() for _ in range(5)])

    def test_adamw_equals_its_definition(self):
        weights, gradients = [0.5, -0.25, 1.0], [0.1, -0.2, 0.0]
        parameter = floats(weights)
        optimizer = lpt.Optimizer("adamw", beta1=0.9, beta2=0.95, epsilon=1e-8)
        optimizer.add(3, weight_decay=0.1)
        optimizer.step([parameter], [floats(gradients)], learning_rate=0.01)
        for found, weight, gradient in zip(parameter.tolist(), weights, gradients):
            # After one step, the corrected moments are the gradient and its square.
            update = gradient / (math.sqrt(gradient * gradient) + 1e-8)
            expected = weight - 0.01 * 0.1 * weight - 0.01 * update
            self.assertLess(abs(found - expected), 4 * 2 ** -24)

    def test_steps_of_every_method_change_parameters(self):
        for method in ("adamw", "adam", "sgd", "lion"):
            parameter = floats([1.0] * 4)
            optimizer = lpt.Optimizer(method)
            self.assertEqual(0, optimizer.add(4))
            optimizer.step([parameter], [floats([1.0] * 4)], learning_rate=0.125)
            self.assertTrue(all(abs(value - 0.875) < 1e-6 for value in parameter.tolist()), method)

    def test_lengths_are_compared(self):
        optimizer = lpt.Optimizer()
        optimizer.add(4)
        with self.assertRaisesRegex(ValueError, "1 indices, 2 parameters"):
            optimizer.step([floats([1.0] * 4)] * 2, [floats([1.0] * 4)])

    def test_steps_without_parameters_are_rejected(self):
        with self.assertRaisesRegex(ValueError, r"the optimizer has no parameters: call add\(\)"):
            lpt.Optimizer().step([floats([1.0] * 4)], [floats([1.0] * 4)])
        with self.assertRaisesRegex(ValueError, "elements is 0: expected 1 to"):
            lpt.Optimizer().add(0)

    def test_gradients_with_other_rows_are_named(self):
        layer = lpt.Linear(4, 2, "fp8_current")
        layer.prepare(floats(range(8), [2, 4]))
        _, saved = layer.forward(floats(range(12), [3, 4]))
        with self.assertRaisesRegex(lpt.InvalidArgument, "output_gradient has 5 rows: expected 3"):
            layer.backward(saved, floats(range(10), [5, 2]))

    def test_recipes_by_name_and_change(self):
        self.assertIn("nvfp4_pretrain", lpt.recipe_names())
        recipe = lpt.Recipe("fp8_current").set_cast("wgrad_input", "mxfp8_e4m3")
        again = pickle.loads(pickle.dumps(recipe))
        self.assertEqual(("mxfp8_e4m3", "e4m3fn_tensor"),
                         (again.cast_format("wgrad_input"), again.cast_format("forward_input")))
        with self.assertRaises(lpt.InvalidArgument):
            lpt.Recipe("fp9")

    def test_noise_and_alignment_are_measured(self):
        exact, noisy = floats([3.0, 4.0]), floats([3.0, 4.5])
        values = lpt.noise_measure([exact], [noisy])
        self.assertEqual((5.0, 0.5, 10.0), (values["gradient_norm"], values["noise_norm"], values["ratio"]))
        # Without an exact gradient: |g|² is a · b, and the squared noise is |a - b|² / 2.
        values = lpt.noise_measure([exact], [noisy], two_draws=True)
        self.assertLess(abs(values["gradient_norm"] - 27.0 ** 0.5), 1e-12)
        self.assertLess(abs(values["noise_norm"] - 0.125 ** 0.5), 1e-12)
        self.assertRaises(ValueError, lpt.noise_measure, [exact], [])
        cosines, values = lpt.swiglu_alignment(floats([3.0, 4.0], [1, 2]), floats([4.0, 3.0], [1, 2]))
        self.assertLess(abs(cosines.tolist()[0] - 0.96), 1e-6)
        self.assertEqual(0, values["largest_channel"])

    def test_gradients_are_corrected_for_a_delay(self):
        gradients = [floats([3.0, 0.0]), floats([0.0, 4.0])]
        own, mean = [floats([0.0, 0.0])] * 2, [floats([1.0, 1.0]), floats([-1.0, -1.0])]
        lpt.delay_compensate(own, mean, gradients, strength=0.5)
        self.assertEqual([4.5, 0.0, 0.0, 2.0], [*gradients[0], *gradients[1]])
        gradients = [floats([3.0, 0.0]), floats([0.0, 4.0])]
        lpt.delay_compensate(own, mean, gradients, strength=0.5, norm="global")
        factor = 0.5 * 5.0 / (9.0 ** 2 + 16.0 ** 2) ** 0.5
        self.assertAlmostEqual(3.0 + factor * 9.0, gradients[0][0], 5)
        self.assertAlmostEqual(4.0 - factor * 16.0, gradients[1][1], 5)
        self.assertRaisesRegex(ValueError, "2 tensors of this rank, 2 means and 1 gradients", lpt.delay_compensate, own, mean,
                               gradients[:1])
        self.assertRaisesRegex(ValueError, 'norm is "all"', lpt.delay_compensate, own, mean, gradients, norm="all")

    def test_a_monitor_saves_its_record(self):
        monitor, statistics = lpt.Monitor(), lpt.Statistics()
        layer = lpt.Linear(2, 2, "fp8_current")
        monitor.record(1, "loss", 0.5)
        self.assertEqual(1, len(monitor))
        monitor.record(2, "cast", statistics)
        monitor.record(2, "layer", layer)
        self.assertGreater(len(monitor), 3)
        with tempfile.TemporaryDirectory() as place:
            monitor.save(os.path.join(place, "record.csv"))
            with open(os.path.join(place, "record.csv")) as file:
                self.assertIn("loss", file.read())

    def test_an_f32_linear_layer_equals_its_gemm(self):
        layer = lpt.Linear(3, 2)
        weight, x = floats([1, 2, 3, 4, 5, 6], [2, 3]), floats([1, 0, -1, 2, 2, 2], [2, 3])
        layer.prepare(weight)
        y, saved = layer.forward(x, bias=floats([10, 20]))
        self.assertEqual([[8.0, 18.0], [22.0, 50.0]], y.tolist())
        dx, dw, db = layer.backward(saved, floats([1, 0, 0, 1], [2, 2]), bias_gradient=True)
        self.assertEqual(([[1, 2, 3], [4, 5, 6]], [[1, 0, -1], [2, 2, 2]], [1, 1]), (dx.tolist(), dw.tolist(), db.tolist()))
        self.assertEqual(y.tolist(), layer.forward(x, bias=floats([10, 20]), inference=True).tolist())


if __name__ == "__main__":
    unittest.main()
