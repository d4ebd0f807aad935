"""Loss scalers: steps against gradients divided by hand, skipped steps, the rule of the scale, and saved states."""
import pickle
import unittest

import lpt
from support import Draws, floats


class Steps(unittest.TestCase):
    def setUp(self):
        draws = Draws()
        self.gradient = [draws() for _ in range(40)]

    def make(self):
        optimizer = lpt.Optimizer("adamw")
        optimizer.add(40, first_moment="e4m3fn_tensor", second_moment="e5m2_1x128")
        return optimizer, floats([0.5] * 40, [40])

    def test_gradients_are_divided_by_the_scale(self):
        (one, ours), (other, expected) = self.make(), self.make()
        scaler = lpt.LossScaler(2.0 ** 20)
        scaled = floats([number * scaler.scale for number in self.gradient], [40])
        one.step([ours], [scaled], loss_scaler=scaler)
        other.step([expected], [floats(self.gradient, [40])])
        self.assertEqual(bytes(memoryview(expected)), bytes(memoryview(ours)))
        self.assertEqual(other.state(), one.state())

    def test_a_step_with_an_infinity_changes_nothing_and_halves_the_scale(self):
        optimizer, value = self.make()
        scaler = lpt.LossScaler(growth_interval=2)
        before, state = bytes(memoryview(value)), optimizer.state()
        optimizer.step([value], [floats(self.gradient[:39] + [float("inf")], [40])], loss_scaler=scaler)
        self.assertEqual((before, state), (bytes(memoryview(value)), optimizer.state()))
        self.assertEqual((1, 1), (optimizer.values["is_skipped"], scaler.values["is_skipped"]))
        scales = []
        for _ in range(4):
            scaler.update()
            scales.append(scaler.scale)
            optimizer.step([value], [floats(self.gradient, [40])], loss_scaler=scaler)
        self.assertEqual([32768.0, 32768.0, 65536.0, 65536.0], scales)
        self.assertEqual({"scale": 65536.0, "finite_count": 1, "skipped_count": 1, "is_skipped": 0},
                         {key: value for key, value in scaler.values.items() if key != "reserved"})

    def test_states_and_pickles_continue(self):
        optimizer, value = self.make()
        scaler = lpt.LossScaler(64.0, growth_interval=2, growth_factor=4)
        optimizer.step([value], [floats(self.gradient, [40])], loss_scaler=scaler)
        scaler.update()
        loaded = lpt.LossScaler(growth_interval=2, growth_factor=4)
        loaded.load_state(scaler.state())
        for other in (loaded, pickle.loads(pickle.dumps(scaler))):
            optimizer.step([value], [floats(self.gradient, [40])], loss_scaler=other)
            other.update()
            self.assertEqual(256.0, other.scale)

    def test_errors_name_the_argument(self):
        with self.assertRaisesRegex(ValueError, "growth_factor is 0.5"):
            lpt.LossScaler(growth_factor=0.5)
        with self.assertRaisesRegex(TypeError, "interval is not an option: expected .*growth_interval"):
            lpt.LossScaler(interval=3)
        with self.assertRaisesRegex(ValueError, "no step since its last update"):
            lpt.LossScaler().update()
        with self.assertRaises(lpt.InvalidState):
            lpt.LossScaler(max_scale=65536.0).load_state(lpt.LossScaler(131072.0).state())
        optimizer, value = self.make()
        with self.assertRaisesRegex(TypeError, "loss_scaler"):
            optimizer.step([value], [floats(self.gradient, [40])], loss_scaler=lpt.Scaler())


if __name__ == "__main__":
    unittest.main()
