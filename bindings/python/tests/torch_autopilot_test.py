"""lpt.torch.Autopilot: recipes of the layers of a model that trains, its state, and copies of the model."""
import copy
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch


def trained(steps, budget=0.25, interval=5, model=None, pilot=None, **given):
    """Train a small model from where its autopilot is. Return the model, the autopilot and the losses."""
    if model is None:
        torch.manual_seed(1)
        model = lpt.torch.convert_(torch.nn.Sequential(torch.nn.Linear(32, 48), torch.nn.ReLU(), torch.nn.Linear(48, 16)), "nvfp4_pretrain")
        pilot = lpt.torch.Autopilot(model, ["nvfp4_pretrain", "bf16"], costs=[0, 1], step_count=40, budget=budget,
                                    interval=interval, **given)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, exact = [], torch.randn(16, 32, generator=torch.Generator().manual_seed(2))
    for step in range(pilot.values["steps_done"], steps):
        torch.manual_seed(100 + step)
        x = torch.randn(64, 32)
        loss = torch.nn.functional.mse_loss(model(x), x @ exact.T / 32 ** 0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        pilot.step(loss.detach())
    return model, pilot, losses


@needs_torch
class Autopilots(unittest.TestCase):
    def test_the_budget_is_spent_on_the_last_steps(self):
        model, pilot, losses = trained(40)
        self.assertLess(sum(losses[-10:]), sum(losses[:10]))
        self.assertAlmostEqual(0.25, pilot.values["mean_cost"])
        decisions = pilot.decisions()
        self.assertEqual({"0", "2"}, {name for name, _ in decisions})
        self.assertEqual([(9, "forward", 0, 1, "last_steps")] * 2, [(one.step, *one[2:6]) for _, one in decisions])
        self.assertEqual("bf16", model[0].recipe.cast_format("forward_input"))
        self.assertIn("recipe=composed", repr(model))

    def expect_equal(self, layer, recipe, columns):
        """Expect the bits of a layer with this recipe, for equal seeds of torch."""
        results, x = [], torch.randn(8, columns)
        for one in (layer, lpt.torch.Linear.from_linear(layer, recipe)):
            torch.manual_seed(5)
            given, one.weight.grad = x.clone().requires_grad_(), None
            y = one(given)
            y.square().sum().backward()
            results.append((y.detach(), given.grad, one.weight.grad.clone()))
        for found, expected in zip(*results):
            self.assertTrue(torch.equal(found, expected))

    def test_a_raised_gemm_is_that_of_the_recipe(self):
        model, pilot, _ = trained(3, budget=1.0, raises_last_steps=False)
        pilot.observe(1.0, layer=1)
        trained(5, model=model, pilot=pilot)
        self.assertEqual(["dgrad", "wgrad"], [one.product for _, one in pilot.decisions()])
        self.assertAlmostEqual(2 * 48 * 16 / (3 * (32 * 48 + 48 * 16)), pilot.values["next_cost"])
        raised = lpt.Recipe("nvfp4_pretrain").raise_product("dgrad", "bf16").raise_product("wgrad", "bf16")
        self.expect_equal(model[2], raised, 48)
        self.expect_equal(model[0], "nvfp4_pretrain", 32)
        pilot.step(float("nan"))  # the weights do not change
        self.expect_equal(model[0], "bf16", 32)

    def test_casts_of_measured_steps_are_reported(self):
        # nvfp4 clips some values by design: each interval has a share above this limit.
        _, pilot, _ = trained(5, budget=1.0, raises_last_steps=False, clipped_limit=1e-6)
        for steps, is_watched in ((2, False), (4, True)):
            model, _, _ = trained(steps)
            model(torch.randn(8, 32))
            self.assertEqual(is_watched, model[0]._layer.linear.cast_values("forward_input")["element_count"] > 0)
        decisions = pilot.decisions()
        self.assertEqual({"clipped"}, {one.reason for _, one in decisions})
        self.assertEqual({4}, {one.step for _, one in decisions})

    def test_a_saved_run_goes_on(self):
        _, whole, losses = trained(40, clipped_limit=1e-6)
        model, pilot, _ = trained(22, clipped_limit=1e-6)
        state = copy.deepcopy([model.state_dict(), pilot.state_dict()])
        again, resumed, _ = trained(0, clipped_limit=1e-6)
        again.load_state_dict(state[0])
        resumed.load_state_dict(state[1])
        _, _, last = trained(40, model=again, pilot=resumed)
        self.assertEqual(whole.decisions(), resumed.decisions())
        self.assertEqual(losses[22:], last)

    def test_scalers_of_any_level_are_saved(self):
        for ladder, has_history, is_random in ((["fp8_trillion", "bf16"], True, True), (["mxfp8", "bf16"], False, False)):
            model = lpt.torch.Linear(8, 8)
            lpt.torch.Autopilot(model, ladder, [0, 1], 10)
            self.assertEqual((has_history, is_random), ("lpt_state" in model.state_dict(), model._is_random))

    def test_a_model_can_be_copied(self):
        model, _, _ = trained(40)
        clone = copy.deepcopy(model)
        x = torch.randn(4, 32)
        with torch.no_grad():
            self.assertTrue(torch.equal(model(x), clone(x)))

    def test_bad_arguments_are_rejected(self):
        with self.assertRaisesRegex(ValueError, "call convert_"):
            lpt.torch.Autopilot(torch.nn.Linear(4, 4), ["mxfp8", "bf16"], [0, 1], 10)
        model = lpt.torch.Linear(4, 4)
        with self.assertRaisesRegex(lpt.InvalidArgument, "budget is -1"):
            lpt.torch.Autopilot(model, ["mxfp8", "bf16"], [0, 1], 10, budget=-1.0)
