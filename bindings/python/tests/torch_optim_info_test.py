"""The optimizers of lpt.torch by the tests that PyTorch has for its own, as far as they apply.

COVERED lists tests of test/test_optim.py of PyTorch, and the test here with that behavior. Inputs and errors are those of
OptimizerInfo, if torch.testing._internal.common_optimizers can be imported (it needs expecttest).
"""
import copy
import unittest
import warnings

import lpt
import torch_optim_test
from support import HAS_TORCH, needs_torch
from torch_optim_test import draw, parameters_of, steps

if HAS_TORCH:
    import torch
    import torch.distributed.checkpoint.state_dict as dcp
    import lpt.torch

NAMES = ("AdamW", "Adam", "SGD", "Lion")
COVERED = {
    "test_complex": "Behaviors.test_complex_parameters_are_rejected",
    "test_optim_infos_do_not_specify_global_cliquey_kwargs": "Inputs.test_inputs_agree_with_torch_or_are_rejected",
    "test_errors": "Inputs.test_errors_of_torch_are_errors",
    "test_forloop_goes_right_direction": "Steps.test_a_closure_is_called_with_gradients",
    "test_param_group_with_lrscheduler_goes_right_direction": "Groups.test_groups_have_options_of_their_own_that_may_change",
    "test_tensor_lr": "Behaviors.test_a_tensor_of_lr_is_read_in_each_step",
    "test_tensor_betas": "Behaviors.test_tensors_of_betas_are_numbers",
    "test_param_groups_lr": "Groups.test_groups_have_options_of_their_own_that_may_change",
    "test_param_groups_weight_decay": "Groups.test_groups_have_options_of_their_own_that_may_change",
    "test_step_is_noop_when_params_have_no_grad": "Steps.test_gradients_may_be_absent_and_parameters_empty",
    "test_step_is_noop_for_zero_grads": "Behaviors.test_zero_gradients_change_nothing",
    "test_optimizer_can_be_printed": "Behaviors.test_the_text_has_the_options",
    "test_state_dict_deterministic": "States.test_state_dicts_continue_with_the_same_bits",
    "test_save_load_equality_with_weights_only": "States.test_state_dicts_continue_with_the_same_bits",
    "test_can_load_from_to_named_state_dict": "Behaviors.test_states_pass_between_named_and_other_parameters",
    "test_non_empty_state": "Behaviors.test_every_stepped_parameter_has_a_state",
    "test_deepcopy_copies_all_public_attrs": "States.test_copies_and_pickles_continue_with_the_same_bits",
    "test_step_pre_hook": "Behaviors.test_hooks_of_steps_run_around_them",
    "test_step_post_hook": "Behaviors.test_hooks_of_steps_run_around_them",
    "test_step_all_hooks": "Behaviors.test_hooks_of_steps_run_around_them",
    "test_state_dict_pre_hook": "Behaviors.test_hooks_of_states_get_the_state",
    "test_state_dict_post_hook": "Behaviors.test_hooks_of_states_get_the_state",
    "test_load_state_dict_pre_hook_and_prepend": "Behaviors.test_hooks_of_states_get_the_state",
    "test_load_state_dict_post_hook": "Behaviors.test_hooks_of_states_get_the_state",
    "test_fused_does_not_step_if_foundinf": "States.test_gradient_scaling_of_torch_works",
    "test_grad_scaling_autocast_fused_optimizers": "States.test_gradient_scaling_of_torch_works",
    "test_defaults_changed_to_foreach": "Behaviors.test_foreach_and_fused_change_no_bit",
    "test_foreach_matches_forloop": "Behaviors.test_foreach_and_fused_change_no_bit",
    "test_fused_matches_forloop": "Behaviors.test_foreach_and_fused_change_no_bit",
    "test_can_load_older_state_dict": "Behaviors.test_groups_without_later_options_load",
}
# Inputs of torch that lpt.torch rejects by name, and errors of torch for limits that lpt.torch does not have.
REJECTED = ("amsgrad", "dampening", "capturable", "differentiable")
ACCEPTED_ERRORS = ("lr as a Tensor is not supported", "betas must be either both", r"betas\[0\] as a Tensor", "Tensor lr must be")


def optimizers_of(**given):
    """Yield each optimizer of lpt.torch and its parameters, which differ between the optimizers."""
    for name in NAMES:
        parameters = parameters_of(shapes=((33, 17), (5,)))
        yield name, getattr(lpt.torch, name)(parameters, **given), parameters


def values_of(parameters):
    return [one.detach().clone() for one in parameters]


@needs_torch
class Behaviors(unittest.TestCase):
    def test_the_list_names_tests(self):
        for place in COVERED.values():
            kind, name = place.split(".")
            self.assertTrue(hasattr(globals().get(kind) or getattr(torch_optim_test, kind), name), place)

    def test_complex_parameters_are_rejected(self):
        with self.assertRaisesRegex(TypeError, "a parameter is torch.complex64 on cpu: expected float32"):
            lpt.torch.AdamW([torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))])

    def test_a_tensor_of_lr_is_read_in_each_step(self):
        for name in NAMES:
            found = []
            for rate in (torch.tensor(0.5), 0.5):
                parameters = parameters_of()
                optimizer = getattr(lpt.torch, name)(parameters, lr=rate)
                scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
                for step in range(3):
                    draw(parameters, step)
                    optimizer.step()
                    scheduler.step()
                found.append(parameters)
            self.assertTrue(all(map(torch.equal, *found)), name)

    def test_tensors_of_betas_are_numbers(self):
        found = []
        for betas in ((torch.tensor(0.5, dtype=torch.float64), torch.tensor(0.75, dtype=torch.float64)), (0.5, 0.75)):
            parameters = parameters_of()
            steps(lpt.torch.AdamW(parameters, betas=betas), parameters, 0, 3)
            found.append(parameters)
        self.assertTrue(all(map(torch.equal, *found)))

    def test_zero_gradients_change_nothing(self):
        for name, optimizer, parameters in optimizers_of(weight_decay=0.0):
            before = values_of(parameters)
            for one in parameters:
                one.grad = torch.zeros_like(one)
            optimizer.step()
            self.assertTrue(all(map(torch.equal, before, parameters)), name)

    def test_the_text_has_the_options(self):
        for name, optimizer, _ in optimizers_of(moments="bf16"):
            self.assertRegex(repr(optimizer), rf"(?s)^{name} \(.*lr: .*moments: bf16")

    def test_every_stepped_parameter_has_a_state(self):
        for name, optimizer, parameters in optimizers_of():
            steps(optimizer, parameters, 0, 1)
            self.assertEqual([0, 1], sorted(optimizer.state_dict()["state"]), name)

    def test_states_pass_between_named_and_other_parameters(self):
        names = ("weight", "bias")
        for name in NAMES:
            make = getattr(lpt.torch, name)
            for named in ((True, False), (False, True)):
                one, other = (parameters_of(shapes=((33, 17), (5,))) for _ in range(2))
                first, second = (make(list(zip(names, them)) if has_names else them)
                                 for them, has_names in zip((one, other), named))
                steps(first, one, 0, 2)
                second.load_state_dict(first.state_dict())
                with torch.no_grad():
                    for target, source in zip(other, one):
                        target.copy_(source)
                steps(first, one, 2, 4)
                steps(second, other, 2, 4)
                self.assertTrue(all(map(torch.equal, one, other)), name)

    def test_hooks_of_steps_run_around_them(self):
        for name, optimizer, parameters in optimizers_of():
            calls, before = [], values_of(parameters)
            optimizer.register_step_pre_hook(lambda *_: calls.append(torch.equal(before[0], parameters[0])))
            optimizer.register_step_post_hook(lambda *_: calls.append(torch.equal(before[0], parameters[0])))
            steps(optimizer, parameters, 0, 1)
            self.assertEqual([True, False], calls, name)

    def test_hooks_of_states_get_the_state(self):
        for name, optimizer, parameters in optimizers_of():
            steps(optimizer, parameters, 0, 1)
            expected, calls = optimizer.state_dict()["state"][0]["lpt"], []
            optimizer.register_state_dict_pre_hook(lambda _: calls.append("saving"))
            optimizer.register_state_dict_post_hook(lambda _, found: dict(found, state={0: found["state"][0]}))
            saved = optimizer.state_dict()
            self.assertEqual([0], list(saved["state"]), name)
            other = getattr(lpt.torch, name)(parameters)
            other.register_load_state_dict_pre_hook(lambda *_: calls.append("loading"))
            other.register_load_state_dict_pre_hook(lambda _, found: calls.append(list(found["state"][0])), prepend=True)
            other.register_load_state_dict_post_hook(lambda one: calls.append(one.state_dict()["state"][0]["lpt"]))
            other.load_state_dict(saved)
            self.assertEqual(["saving", ["lpt"], "loading"], calls[:3], name)
            self.assertTrue(torch.equal(expected, calls[3]), name)

    def test_foreach_and_fused_change_no_bit(self):
        for name in NAMES[:3]:
            found = []
            for given in ({}, {"foreach": True}, {"foreach": False, "fused": True}):
                parameters = parameters_of()
                steps(getattr(lpt.torch, name)(parameters, **given), parameters, 0, 3)
                found.append(parameters)
            for other in found[1:]:
                self.assertTrue(all(map(torch.equal, found[0], other)), name)

    def test_groups_without_later_options_load(self):
        for name, optimizer, parameters in optimizers_of():
            steps(optimizer, parameters, 0, 1)
            saved = optimizer.state_dict()
            for group in saved["param_groups"]:
                for option in ("maximize", "foreach", "fused", "differentiable", "capturable"):
                    group.pop(option, None)
            other = getattr(lpt.torch, name)(parameters)
            other.load_state_dict(saved)
            steps(other, parameters, 1, 2)

    def test_distributed_checkpoints_do_not_step(self):
        """torch.distributed.checkpoint steps an optimizer whose attribute state is empty."""
        model = torch.nn.Linear(16, 8)
        found = []
        for is_saved in (False, True):
            copied = copy.deepcopy(model)
            optimizer = lpt.torch.AdamW(copied.parameters(), moments="e4m3fn_1x128")
            parameters = list(copied.parameters())
            steps(optimizer, parameters, 0, 2)
            optimizer.zero_grad()
            if is_saved:
                saved = dcp.get_optimizer_state_dict(copied, optimizer)
                self.assertEqual(["bias", "weight"], sorted(saved["state"]))
                optimizer = lpt.torch.AdamW(copied.parameters(), moments="e4m3fn_1x128")
                dcp.set_optimizer_state_dict(copied, optimizer, saved)
            steps(optimizer, parameters, 2, 4)
            found.append(parameters)
        self.assertTrue(all(map(torch.equal, *found)))


@needs_torch
class Inputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            from torch.testing._internal import common_optimizers
        except ImportError as error:
            raise unittest.SkipTest(f"common_optimizers of torch cannot be imported: {error}") from None
        cls.infos = [one for one in common_optimizers.optim_db if one.optim_cls.__name__ in NAMES]

    def test_inputs_agree_with_torch_or_are_rejected(self):
        for info in self.infos:
            make = getattr(lpt.torch, info.optim_cls.__name__)
            for given in (one.kwargs for one in info.optim_inputs_func("cpu")):
                ours, theirs = parameters_of(), parameters_of()
                rejected = [name for name in REJECTED if given.get(name)]
                with self.subTest(optimizer=info.optim_cls.__name__, given=given):
                    if rejected:
                        with self.assertRaisesRegex(ValueError, f"^{rejected[0]} is "):
                            make(ours, **given)
                        continue
                    steps(make(ours, **given), ours, 0, 10)
                    steps(info.optim_cls(theirs, **given), theirs, 0, 10)
                    for found, expected in zip(ours, theirs):
                        # Each step has at most 4 roundings of the parameter and its update.
                        self.assertLessEqual((found - expected).abs().max(), 10 * 4 * 2.0 ** -24 * expected.abs().max())

    def test_errors_of_torch_are_errors(self):
        for info in self.infos:
            make = getattr(lpt.torch, info.optim_cls.__name__)
            for error in info.optim_error_inputs_func("cpu", torch.float32):
                if any(error.error_regex.startswith(text) for text in ACCEPTED_ERRORS):
                    continue
                given = error.optimizer_error_input
                with self.subTest(optimizer=info.optim_cls.__name__, error=error.error_regex), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    with self.assertRaises(error.error_type):
                        make(parameters_of() if given.params is None else given.params, **given.kwargs)


if __name__ == "__main__":
    print(f"seed {torch_optim_test.SEED}")
    unittest.main()
