"""The optimizers of lpt.torch: steps against torch and the library, groups, closures, options and saved states."""
import copy
import io
import os
import pickle
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = int(os.environ.get("LPT_TEST_SEED", 20261128))
SHAPES = ((33, 17), (5,), (129,), (2, 3, 4))


def parameters_of(dtype=None, shapes=SHAPES):
    generator = torch.Generator().manual_seed(SEED)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator).to(dtype)) for shape in shapes]


def draw(parameters, step):
    """Set gradients whose size differs between elements."""
    generator = torch.Generator().manual_seed(SEED + 1 + step)
    for parameter in parameters:
        size = torch.exp(torch.randn(parameter.shape, generator=generator))
        parameter.grad = (size * torch.randn(parameter.shape, generator=generator)).to(parameter.dtype)


def steps(optimizer, parameters, begin, end):
    for step in range(begin, end):
        draw(parameters, step)
        optimizer.step()


def makers():
    """Return functions that create an optimizer of the given module: lpt.torch or torch.optim."""
    return {"adamw": lambda module, them, **given: module.AdamW(them, lr=0.01, **given),
            "adam": lambda module, them, **given: module.Adam(them, lr=0.01, weight_decay=0.1, **given),
            "sgd": lambda module, them, **given: module.SGD(them, lr=0.01, momentum=0.9, weight_decay=0.1, **given),
            "nesterov": lambda module, them, **given: module.SGD(them, lr=0.01, momentum=0.9, nesterov=True, **given),
            "plain": lambda module, them, **given: module.SGD(them, lr=0.01, **given)}


@needs_torch
class Steps(unittest.TestCase):
    def test_f32_moments_agree_with_torch(self):
        for name, make in makers().items():
            for maximize in (False, True):
                ours, theirs = parameters_of(), parameters_of()
                one = make(lpt.torch, ours, maximize=maximize)
                other = make(torch.optim, theirs, maximize=maximize, foreach=False)
                steps(one, ours, 0, 50)
                steps(other, theirs, 0, 50)
                for found, expected in zip(ours, theirs):
                    # Each step rounds the parameter and its update, and torch rounds in another order: 50 steps of at most 4
                    # roundings of 2^-24 of the largest magnitude.
                    bound = 50 * 4 * 2.0 ** -24 * expected.abs().max()
                    self.assertLessEqual((found - expected).abs().max(), bound, name)

    def test_lion_is_its_formula(self):
        ours, exact = parameters_of(), [one.detach().double() for one in parameters_of()]
        optimizer = lpt.torch.Lion(ours, lr=0.01, weight_decay=0.1)
        moments = [torch.zeros_like(one) for one in exact]
        for step in range(50):
            draw(ours, step)
            for value, moment, parameter in zip(exact, moments, ours):
                gradient = parameter.grad.double()
                update = (0.9 * moment + 0.1 * gradient).sign()
                value.sub_(0.01 * (update + 0.1 * value))
                moment.mul_(0.99).add_(0.01 * gradient)
            optimizer.step()
        for found, expected in zip(ours, exact):
            self.assertLessEqual((found - expected).abs().max(), 50 * 4 * 2.0 ** -24 * expected.abs().max())

    def test_bits_are_those_of_the_library(self):
        for moments, given in (("e4m3fn_1x128", {}), (("bf16", "e5m2_1x128"), {}), ("e4m3fn_1x128", {"expanded": True}),
                               ("dynamic_1x256", {})):
            ours, expected = parameters_of(), [one.detach().clone() for one in parameters_of()]
            optimizer = lpt.torch.AdamW(ours, lr=0.01, moments=moments, weight_decay=0.1, **given)
            library = lpt.Optimizer("adamw")
            pair = (moments, moments) if isinstance(moments, str) else moments
            pair = [lpt.capi.LPT_FORMAT_DYNAMIC_1X256 if one == "dynamic_1x256" else one for one in pair]
            for one in expected:
                library.add(one.numel(), first_moment=pair[0], second_moment=pair[1], weight_decay=0.1,
                            first_expanded=bool(given), second_expanded=bool(given))
            for step in range(10):
                draw(ours, step)
                library.step(expected, [one.grad for one in ours], learning_rate=0.01)
                optimizer.step()
            self.assertTrue(all(map(torch.equal, ours, expected)), moments)
            self.assertEqual(library.nbytes, optimizer.nbytes)

    def test_types_and_strides_of_parameters(self):
        for dtype in (torch.bfloat16, torch.float16):
            ours, exact = parameters_of(dtype), parameters_of()
            steps(lpt.torch.AdamW(ours, lr=0.01), ours, 0, 5)
            steps(lpt.torch.AdamW(exact, lr=0.01), exact, 0, 5)
            for found, expected in zip(ours, exact):
                self.assertEqual(dtype, found.dtype)
                self.assertLess((found - expected).abs().max(), 6 * 2.0 ** -9 * expected.abs().max())
        dense, = parameters_of(shapes=((8, 6),))
        strided = torch.nn.Parameter(dense.detach().t().contiguous().t())
        for parameter in (dense, strided):
            steps(lpt.torch.AdamW([parameter], lr=0.01), [parameter], 0, 3)
        self.assertTrue(torch.equal(dense, strided))

    def test_small_updates_of_bf16_survive(self):
        """1 + 1000 · 0.001: lost by rounding to nearest, kept by stochastic rounding and by compensation."""
        for given, low, high in (({}, 1.0, 1.0), ({"compensation": True}, 1.99, 2.01), ({"rounding": "stochastic"}, 1.99, 2.01)):
            torch.manual_seed(SEED)
            parameter = torch.nn.Parameter(torch.ones(4096, dtype=torch.bfloat16))
            optimizer = lpt.torch.SGD([parameter], lr=0.001, **given)
            for _ in range(1000):
                parameter.grad = -torch.ones_like(parameter)
                optimizer.step()
            # The deviation of one value is 0.084; that of the mean of 4096 is 0.0013.
            mean = parameter.float().mean().item()
            self.assertTrue(low <= mean <= high, (given, mean))

    def test_a_step_counts_as_a_change_of_the_parameter(self):
        parameter, = parameters_of(shapes=((3,),))
        optimizer, version = lpt.torch.SGD([parameter]), parameter._version
        draw([parameter], 0)
        optimizer.step()
        self.assertGreater(parameter._version, version)

    def test_gradients_may_be_absent_and_parameters_empty(self):
        parameters = parameters_of(shapes=((4,), (0,), (3,)))
        optimizer = lpt.torch.AdamW(parameters)
        optimizer.step()
        before = [one.detach().clone() for one in parameters]
        draw(parameters, 0)
        parameters[0].grad = None
        optimizer.step()
        self.assertEqual([True, True, False], list(map(torch.equal, before, parameters)))

    def test_parameters_without_gradients_take_no_memory(self):
        parameters = parameters_of(shapes=((256,), (1024,)))
        optimizer = lpt.torch.AdamW(parameters)
        draw(parameters, 0)
        parameters[1].grad = None
        optimizer.step()
        self.assertEqual((2 * 4 * 256, [0]), (optimizer.nbytes, list(optimizer.state_dict()["state"])))
        draw(parameters, 1)
        optimizer.step()
        self.assertEqual((2 * 4 * (256 + 1024), [0, 1]), (optimizer.nbytes, list(optimizer.state_dict()["state"])))

    def test_a_closure_is_called_with_gradients(self):
        parameter, = parameters_of(shapes=((3,),))
        optimizer = lpt.torch.SGD([parameter], lr=0.5)

        def closure():
            optimizer.zero_grad()
            loss = parameter.square().sum() / 2
            loss.backward()
            return loss
        first = optimizer.step(closure)
        self.assertLess(optimizer.step(closure).item(), first.item())


@needs_torch
class Groups(unittest.TestCase):
    def test_groups_have_options_of_their_own_that_may_change(self):
        """Schedulers change lr, betas and weight_decay; groups come later."""
        results = []
        for module in (lpt.torch, torch.optim):
            one, two, three, four = parameters_of()
            optimizer = module.AdamW([{"params": [one], "lr": 0.1, "weight_decay": 0.5}, {"params": [two]}], lr=0.01)
            scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=40)  # also the betas
            for step in range(10):
                draw((one, two), step)
                optimizer.step()
                scheduler.step()
                optimizer.param_groups[0]["weight_decay"] *= 0.9
            optimizer.add_param_group({"params": [three, four], "lr": torch.tensor(0.02), "betas": (0.8, 0.9)})
            for step in range(10, 20):
                draw((one, two, three, four), step)
                optimizer.step()
            results.append((one, two, three, four))
        for found, expected in zip(*results):
            self.assertLessEqual((found - expected).abs().max(), 20 * 4 * 2.0 ** -24 * expected.abs().max())

    def test_a_group_may_begin_to_step_before_another(self):
        one, two = parameters_of(shapes=((4,), (5,)))
        optimizer = lpt.torch.AdamW([{"params": [one]}, {"params": [two]}])
        steps(optimizer, [two], 0, 2)
        one.grad = torch.ones(4)
        two.grad = None
        before = two.detach().clone()
        optimizer.step()
        self.assertTrue(torch.equal(before, two))
        self.assertEqual([0, 1], sorted(optimizer.state_dict()["state"]))

    def test_options_that_are_not_supported_are_named(self):
        them = parameters_of(shapes=((3,),))
        for name in ("amsgrad", "capturable", "differentiable"):
            with self.assertRaisesRegex(ValueError, f"{name} is True: AdamW of lpt.torch does not support it"):
                lpt.torch.AdamW(them, **{name: True})
        for text, make in (("dampening is 0.1: expected 0", lambda: lpt.torch.SGD(them, momentum=0.9, dampening=0.1)),
                           ("beta1", lambda: lpt.torch.Adam(them, betas=(1.0, 0.9))),
                           ("lr is -1: expected at least 0", lambda: lpt.torch.Adam(them, lr=-1)),
                           ("weight_decay", lambda: lpt.torch.Adam(them, weight_decay=-1.0)),
                           ("rounding", lambda: lpt.torch.Adam(them, rounding="upward")),
                           ("e4m3x", lambda: lpt.torch.Adam(them, moments="e4m3x"))):
            with self.assertRaisesRegex(ValueError, text):
                make()
        with self.assertRaisesRegex(TypeError, "a parameter is torch.float64 on cpu: expected float32"):
            lpt.torch.SGD([torch.nn.Parameter(torch.ones(2, dtype=torch.float64))])
        optimizer = lpt.torch.AdamW(them, foreach=True, fused=False)
        them[0].grad = torch.ones(3).to_sparse()
        with self.assertRaisesRegex(RuntimeError, "AdamW of lpt.torch does not support sparse gradients"):
            optimizer.step()
        with self.assertRaisesRegex(TypeError, "float64"):
            optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(2, dtype=torch.float64))]})
        self.assertEqual(1, len(optimizer.param_groups))


@needs_torch
class States(unittest.TestCase):
    def check(self, again):
        """Compare 5 steps after a restart with 5 steps without one."""
        for given in ({}, {"moments": "e4m3fn_1x128"}, {"moments": ("bf16", "dynamic_1x256")}, {"compensation": True}):
            parameters = parameters_of(torch.bfloat16 if "compensation" in given else None)
            optimizer = lpt.torch.AdamW([{"params": parameters[:2]}, {"params": parameters[2:], "lr": 0.1}], **given)
            steps(optimizer, parameters[:3], 0, 5)  # the last parameter has no state yet
            other, copies = again(optimizer, parameters, given)
            steps(optimizer, parameters, 5, 10)
            steps(other, copies, 5, 10)
            self.assertTrue(all(map(torch.equal, parameters, copies)), given)

    def test_state_dicts_continue_with_the_same_bits(self):
        def again(optimizer, parameters, given):
            copies = [torch.nn.Parameter(one.detach().clone()) for one in parameters]
            file = io.BytesIO()
            torch.save(optimizer.state_dict(), file)
            file.seek(0)
            other = lpt.torch.AdamW([{"params": copies[:2]}, {"params": copies[2:]}], **given)
            other.load_state_dict(torch.load(file, weights_only=True))
            self.assertEqual(0.1, other.param_groups[1]["lr"])
            self.assertEqual(list(optimizer.state_dict()["state"]), list(other.state_dict()["state"]))
            return other, copies
        self.check(again)

    def test_copies_and_pickles_continue_with_the_same_bits(self):
        for function in (copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))):
            self.check(lambda optimizer, parameters, _: function((optimizer, parameters)))

    def test_a_state_is_saved_before_the_first_step_after_loading(self):
        parameters = parameters_of()
        optimizer = lpt.torch.AdamW(parameters)
        self.assertEqual({}, optimizer.state_dict()["state"])
        steps(optimizer, parameters, 0, 2)
        saved = optimizer.state_dict()
        optimizer = lpt.torch.AdamW(parameters)
        optimizer.load_state_dict(saved)
        for one, other in zip(saved["state"].values(), optimizer.state_dict()["state"].values()):
            self.assertTrue(torch.equal(one["lpt"], other["lpt"]))

    def test_states_of_other_optimizers_are_rejected(self):
        parameters = parameters_of()
        theirs = torch.optim.AdamW(parameters)
        steps(theirs, parameters, 0, 1)
        with self.assertRaisesRegex(ValueError, "the state of parameter 0 has step, exp_avg, exp_avg_sq: expected lpt"):
            lpt.torch.AdamW(parameters).load_state_dict(theirs.state_dict())
        ours = lpt.torch.AdamW(parameters, moments="bf16")
        steps(ours, parameters, 0, 1)
        with self.assertRaisesRegex(ValueError, "format"):
            saved = ours.state_dict()
            saved["param_groups"][0]["moments"] = "f32"
            lpt.torch.AdamW(parameters).load_state_dict(saved)

    def test_gradient_scaling_of_torch_works(self):
        for name, make in makers().items():
            results = []
            for module in (lpt.torch, torch.optim):
                parameter, = parameters_of(shapes=((6,),))
                optimizer, scaler = make(module, [parameter]), torch.amp.GradScaler("cpu", init_scale=1024.0)
                for factor in (1.0, float("inf"), 2.0):  # the second step is skipped
                    optimizer.zero_grad()
                    scaler.scale((parameter * factor).sum()).backward()
                    scaler.unscale_(optimizer)
                    torch.nn.utils.clip_grad_norm_([parameter], 0.5)
                    scaler.step(optimizer)
                    scaler.update()
                self.assertEqual(512.0, scaler.get_scale())
                results.append(parameter)
            self.assertTrue(torch.allclose(*results, rtol=1e-6), name)


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
