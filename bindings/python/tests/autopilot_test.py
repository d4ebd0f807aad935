"""The autopilot: decisions from signals and casts, recipes of layers, replay and saved states."""
import math
import pickle
import unittest

import lpt
from support import floats


def pilot(**given):
    return lpt.Autopilot(["fp4_all_the_way", "mxfp8", "bf16"], costs=[4, 8, 16], work=[1.0, 2.0], step_count=100,
                         **{"interval": 1, "budget": 16.0, "raises_last_steps": False, **given})


class Autopilots(unittest.TestCase):
    def test_signals_change_levels_and_recipes(self):
        one = pilot()
        self.assertFalse(one.step(0, 1.0))
        one.observe(1, 1.5)
        self.assertTrue(one.step(1, 1.0))
        one.observe(-1, 0.95, "alignment")
        self.assertTrue(one.step(2, 1.0))
        limit = math.sqrt(3)
        self.assertEqual([lpt.Decision(1, 1, "dgrad", 0, 1, "noise_ratio", 1.5, limit),
                          lpt.Decision(1, 1, "wgrad", 0, 1, "noise_ratio", 1.5, limit)], one.decisions()[:2])
        self.assertEqual([(0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (1, 2)],
                         [(each.old_level, each.new_level) for each in one.decisions()[2:]])
        casts = ("forward_input", "forward_weight", "dgrad_gradient", "dgrad_weight", "wgrad_gradient", "wgrad_input")
        self.assertEqual(["mxfp8_e4m3"] * 2 + ["bf16"] * 4, [one.recipe(1).cast_format(cast) for cast in casts])
        again = pickle.loads(pickle.dumps(one.recipe(1)))
        self.assertEqual(["mxfp8_e4m3"] * 2 + ["bf16"] * 4, [again.cast_format(cast) for cast in casts])
        values = one.values
        self.assertEqual((3, 8), (values["steps_done"], values["decision_count"]))
        self.assertAlmostEqual((4 + 4 + 4 + 4 * 4 / 9) / 3, values["mean_cost"])
        self.assertAlmostEqual((3 * 8 + 2 * 8 + 4 * 16) / 9, values["next_cost"])

    def test_layers_report_what_they_clip(self):
        one, layer = pilot(clipped_limit=0.01), lpt.Linear(32, 16, "fp8_trillion")
        weight = floats([0.01] * 512, (16, 32))
        layer.prepare(weight)
        layer.forward(floats([1.0] * 128, (4, 32)), inference=True)
        layer.update()
        layer.watch()
        layer.prepare(weight)
        layer.forward(floats([1.0] * 120 + [100.0] * 8, (4, 32)), inference=True)  # the scale is that of the step before
        one.observe(0, layer)
        self.assertTrue(one.step(0, 1.0))
        self.assertEqual([lpt.Decision(0, 0, "forward", 0, 1, "clipped", 8 / 128, 0.01)], one.decisions())

    def test_a_replayed_or_loaded_run_is_the_same(self):
        first = pilot()
        first.observe(0, 0.5)
        first.step(0, 1.0)
        second, third = pilot(), pilot()
        second.load_state(first.state())
        self.assertEqual(first.decisions(), second.decisions())
        third.replay(first.decisions())
        self.assertTrue(third.step(0, 9.0))
        self.assertEqual(first.decisions(), third.decisions())
        with self.assertRaisesRegex(lpt.InvalidState, "truncated|saved state"):
            second.load_state(first.state()[:-1])

    def test_bad_arguments_are_rejected(self):
        with self.assertRaisesRegex(ValueError, "costs has 1 items: expected 2, as ladder"):
            lpt.Autopilot(["fp8_current", "bf16"], [1], [1], 10)
        with self.assertRaisesRegex(lpt.InvalidArgument, "step_count is 0"):
            lpt.Autopilot(["fp8_current", "bf16"], [0, 1], [1], 0)
        with self.assertRaisesRegex(ValueError, "signal"):
            pilot().observe(0, 1.0, "mood")
