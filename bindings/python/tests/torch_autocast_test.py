"""lpt.torch.autocast(): which calls follow the recipe, and the life of casts and scalers."""
import copy
import gc
import unittest
from unittest import mock

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch
    from lpt.torch._autocast import _layers

SEED = 20261128


def model_of():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(48, 32), torch.nn.Tanh(), torch.nn.Linear(32, 16, bias=False))


def rows_of(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def gradients_of(model, x):
    x = x.detach().requires_grad_()
    model.zero_grad()
    y = model(x)
    y.square().sum().backward()
    return [y.detach(), x.grad] + [one.grad.clone() for one in model.parameters()]


@needs_torch
class Autocast(unittest.TestCase):
    def test_bits_are_those_of_a_converted_model(self):
        for recipe in ("fp8_current", lpt.Recipe("fp8_block")):
            model, x = model_of(), rows_of(5, 48)
            expected = gradients_of(lpt.torch.convert_(copy.deepcopy(model), recipe), x)
            plain = gradients_of(model, x)
            with lpt.torch.autocast(recipe):
                found = gradients_of(model, x)
            self.assertTrue(all(map(torch.equal, expected, found)))
            self.assertFalse(torch.equal(plain[0], found[0]))
            self.assertTrue(all(map(torch.equal, plain, gradients_of(model, x))))
            self.assertEqual([torch.nn.Linear, torch.nn.Tanh, torch.nn.Linear], [type(one) for one in model])

    def test_backward_may_be_outside(self):
        model, x = model_of(), rows_of(5, 48)
        with lpt.torch.autocast("fp8_current"):
            y = model(x)
        y.square().sum().backward()
        expected = gradients_of(lpt.torch.convert_(model_of()), x)[2:]
        self.assertTrue(all(torch.equal(one.grad, other) for one, other in zip(model.parameters(), expected)))

    def test_layers_of_lpt_and_skipped_modules_do_not_change(self):
        model, x = model_of(), rows_of(5, 48)
        hidden, plain = model[:2](x), model(x)
        with lpt.torch.autocast("fp8_current", skip=[model[0]]):
            self.assertTrue(torch.equal(hidden, model[:2](x)))
            self.assertFalse(torch.equal(plain, model(x)))
        with lpt.torch.autocast("fp8_current", skip=[model]):
            self.assertTrue(torch.equal(plain, model(x)))
        converted = lpt.torch.convert_(model_of(), "fp8_block")
        expected = converted(x)
        with lpt.torch.autocast("fp8_current"):
            self.assertTrue(torch.equal(expected, converted(x)))

    def test_other_calls_run_as_outside(self):
        with lpt.torch.autocast("fp8_current"):
            counts = torch.nn.functional.linear(torch.ones(2, 3, dtype=torch.int64), torch.ones(4, 3, dtype=torch.int64))
            self.assertEqual(torch.int64, counts.dtype)
            vector = torch.nn.functional.linear(torch.ones(2, 3), torch.ones(3))
            self.assertEqual([3.0, 3.0], vector.tolist())
            attention = torch.nn.MultiheadAttention(48, 4)
            self.assertEqual((3, 2, 48), attention(*[rows_of(3, 2, 48)] * 3)[0].shape)

    def test_contexts_nest_and_recipes_have_casts_of_their_own(self):
        model, x = model_of(), rows_of(5, 48)
        expected = {recipe: lpt.torch.convert_(model_of(), recipe)(x) for recipe in ("fp8_current", "fp8_block")}
        with lpt.torch.autocast("fp8_current"):
            with lpt.torch.autocast("fp8_block"):
                self.assertTrue(torch.equal(expected["fp8_block"], model(x)))
            self.assertTrue(torch.equal(expected["fp8_current"], model(x)))
        with torch.autocast("cpu", torch.bfloat16), lpt.torch.autocast("fp8_current"):
            self.assertEqual(torch.bfloat16, model(x).dtype)

    def test_scalers_persist_between_contexts(self):
        model, twin = model_of(), lpt.torch.convert_(model_of(), "fp8_trillion")
        for step in range(4):
            x = rows_of(8, 48, seed=step) * 4 ** step
            torch.manual_seed(step)
            expected = gradients_of(twin, x)
            torch.manual_seed(step)
            with lpt.torch.autocast("fp8_trillion"):
                found = gradients_of(model, x)
            self.assertTrue(all(map(torch.equal, expected, found)), step)
            with torch.no_grad():
                for one in (*model.parameters(), *twin.parameters()):
                    one.mul_(0.9)

    def test_casts_end_with_the_weight(self):
        gc.collect()
        before, model = len(_layers), model_of()
        with lpt.torch.autocast("fp8_current"):
            for _ in range(3):
                gradients_of(model, rows_of(5, 48))
                torch.nn.functional.linear(rows_of(5, 48), model[0].weight * 2)  # a computed weight
        self.assertEqual(before + 2, len(_layers))
        del model
        self.assertEqual(before, len(_layers))

    def test_each_pass_casts_the_weight_in_a_process_group(self):
        """FSDP gathers another weight into the same memory, without another version."""
        model, x = model_of(), rows_of(5, 48)
        with lpt.torch.autocast("fp8_current"), mock.patch("torch.distributed.is_initialized", lambda: True):
            model(x)
            model[0].weight.data.mul_(2)  # not counted either
            found = model(x)
        self.assertTrue(torch.equal(lpt.torch.convert_(model)(x), found))

    def test_compiled_models_follow_it(self):
        torch._dynamo.reset()
        model, x = model_of(), rows_of(5, 48)
        plain, compiled = model(x), torch.compile(model, backend="aot_eager")
        self.assertTrue(torch.equal(plain, compiled(x)))
        with lpt.torch.autocast("fp8_current"):
            self.assertTrue(torch.equal(model(x), compiled(x)))
        self.assertTrue(torch.equal(plain, compiled(x)))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
