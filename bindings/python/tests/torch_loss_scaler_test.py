"""torch.amp.GradScaler: its scales against those of lpt.LossScaler, and optimizers of lpt.torch that divide in their step."""
import copy
import os
import random
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = int(os.environ.get("LPT_TEST_SEED", 20261129))


@needs_torch
class Scales(unittest.TestCase):
    def test_the_scales_of_grad_scaler(self):
        for given in ({}, {"growth_interval": 2}, {"init_scale": 3.0, "growth_factor": 1.3, "backoff_factor": 0.7,
                                                   "growth_interval": 1},
                      {"init_scale": 1e30, "growth_factor": 1000.0, "backoff_factor": 0.01, "growth_interval": 3}):
            draws = random.Random(SEED)
            theirs = torch.amp.GradScaler("cpu", **given)
            ours = lpt.LossScaler(**{name.replace("init_scale", "initial_scale"): value for name, value in given.items()})
            parameter = torch.nn.Parameter(torch.ones(3))
            library, sgd = lpt.Optimizer("sgd"), torch.optim.SGD([parameter], lr=0.0)
            library.add(3)
            for step in range(200):
                gradient = torch.ones(3)
                if draws.random() < 0.3:
                    gradient[draws.randrange(3)] = draws.choice((float("inf"), -float("inf"), float("nan")))
                theirs.scale(torch.ones(1))  # GradScaler creates its scale here
                parameter.grad = gradient.clone()
                theirs.step(sgd)
                theirs.update()
                library.step([torch.ones(3)], [gradient], loss_scaler=ours)
                ours.update()
                self.assertEqual(theirs.get_scale(), ours.scale, (given, step))
                self.assertEqual(theirs._get_growth_tracker(), ours.values["finite_count"], (given, step))


@needs_torch
class Optimizers(unittest.TestCase):
    def train(self, make, dtype, fused, calls_unscale=False, maximize=False, init_scale=2.0 ** 15):
        """Return parameters after steps of which the second and the fifth have a gradient that is not finite."""
        generator = torch.Generator().manual_seed(SEED)
        parameters = [torch.nn.Parameter(torch.randn(size, generator=generator).to(dtype)) for size in (33, 5)]
        optimizer = make(parameters, fused=fused, maximize=maximize)
        scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, growth_interval=2)
        scales = []
        for step in range(8):
            optimizer.zero_grad()
            loss = sum((one.float() * torch.randn(one.shape, generator=generator)).sum() for one in parameters)
            scaler.scale(loss * (float("inf") if step in (1, 4) else 2.0 ** -12)).backward()
            before = [one.detach().clone() for one in parameters]
            if calls_unscale:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(parameters, 1e-4)
            scaler.step(optimizer)
            self.assertEqual(step in (1, 4), all(map(torch.equal, before, parameters)), step)
            scaler.update()
            scales.append(scaler.get_scale())
        self.assertEqual([1, .5, .5, 1, .5, .5, 1, 1], [one / init_scale for one in scales])
        self.assertFalse(hasattr(optimizer, "grad_scale") or hasattr(optimizer, "found_inf"))
        return parameters

    def makers(self):
        return (lambda them, **given: lpt.torch.AdamW(them, lr=0.01, moments="e4m3fn_1x128", **given),
                lambda them, **given: lpt.torch.Adam(them, lr=0.01, **given),
                lambda them, **given: lpt.torch.SGD(them, lr=10.0, momentum=0.9, **given),
                lambda them, **given: lpt.torch.Lion(them, lr=0.01, **given))

    def test_division_in_the_step_has_the_bits_of_unscale(self):
        """Scales are powers of two."""
        for make in self.makers():
            for maximize in (False, True):
                expected = self.train(make, torch.float32, fused=False, maximize=maximize)
                found = self.train(make, torch.float32, fused=True, maximize=maximize)
                self.assertTrue(all(map(torch.equal, expected, found)))
            expected = self.train(make, torch.float32, fused=False, calls_unscale=True)
            found = self.train(make, torch.float32, fused=True, calls_unscale=True)
            self.assertTrue(all(map(torch.equal, expected, found)), "clipped after unscale_()")

    def test_float16_parameters_need_the_division_in_the_step(self):
        make = self.makers()[2]
        with self.assertRaisesRegex(ValueError, "Attempting to unscale FP16 gradients"):
            self.train(make, torch.float16, fused=False)
        found = self.train(make, torch.float16, fused=True)
        expected = self.train(make, torch.float32, fused=True)
        for one, other in zip(found, expected):
            # Each of 6 steps rounds the parameter, at most 8, by 2^-11. The gradient is rounded by 2^-11 of an update of at most
            # 10 · 6 · 2^-12 · |draw|, with |draw| below 8.
            self.assertLessEqual((one.float() - other).abs().max(), 8 * 2.0 ** -11 * (8 + 0.12 * 6))

    def test_small_gradients_of_float16_survive(self):
        """A gradient of 2^-30 is zero in float16. With a scale of 2^16 it steps the parameter."""
        for scale, expected in ((1.0, 1.0), (2.0 ** 16, 0.5)):
            parameter = torch.nn.Parameter(torch.ones(7, dtype=torch.float16))
            optimizer = lpt.torch.SGD([parameter], lr=2.0 ** 29, fused=True)
            scaler = torch.amp.GradScaler("cpu", init_scale=scale)
            weight = torch.full((7,), 2.0 ** -30)
            scaler.scale((parameter.float() * weight).sum()).backward()
            scaler.step(optimizer)
            self.assertTrue(torch.equal(torch.full((7,), expected, dtype=torch.float16), parameter), scale)

    def test_copies_keep_the_division(self):
        for make in self.makers():
            for fused in (None, False, True):
                optimizer = make([torch.nn.Parameter(torch.ones(2))], fused=fused)
                self.assertEqual(bool(fused), copy.deepcopy(optimizer)._step_supports_amp_scaling)


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
