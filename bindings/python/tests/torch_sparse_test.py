"""sparsify_(), decay_masked_() and prune_(): masks, gradients, intervals, saved states and compressed weights."""
import copy
import unittest

import lpt
from support import HAS_TORCH, needs_torch

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = 20261128


def model_of(recipe=None):
    torch.manual_seed(SEED)
    model = torch.nn.Sequential(torch.nn.Linear(48, 32), torch.nn.Tanh(), torch.nn.Linear(32, 16))
    return model if recipe is None else lpt.torch.convert_(model, recipe)


def draw(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(SEED + seed))


def largest(weight, kept=2, of=4):
    """Return the mask of the largest magnitudes of each group of columns."""
    groups = weight.detach().abs().reshape(-1, of)
    mask = torch.zeros_like(groups).scatter_(1, groups.topk(kept, 1).indices, 1.0)
    return mask.reshape(weight.shape).bool()


@needs_torch
class Sparsify(unittest.TestCase):
    def test_passes_use_the_masked_weight_and_gradients_are_dense(self):
        for pattern, kept, of in (("2:4", 2, 4), ("1:4", 1, 4), ("4:8", 4, 8)):
            model, x = lpt.torch.sparsify_(model_of(), pattern), draw(5, 48).requires_grad_()
            mask = largest(model[0].weight, kept, of)
            y = model[0](x)
            expected = torch.nn.functional.linear(x, model[0].weight * mask, model[0].bias)
            self.assertTrue(torch.equal(mask, lpt.torch.mask_of(model[0])))
            self.assertTrue(torch.allclose(expected, y, rtol=1e-5, atol=1e-6))
            y.sum().backward()
            self.assertTrue(torch.allclose(x.detach().sum(0).expand(32, 48), model[0].weight.grad, rtol=1e-5, atol=1e-6))
            self.assertTrue(torch.allclose((model[0].weight * mask).sum(0).expand(5, 48), x.grad, rtol=1e-5, atol=1e-6))

    def test_methods(self):
        x = draw(5, 48)
        model = lpt.torch.sparsify_(model_of(), method="transposable")
        model(x)
        mask = lpt.torch.mask_of(model[0])
        self.assertTrue((mask.reshape(32, 12, 4).sum(2) == 2).all() and (mask.reshape(8, 4, 48).sum(1) == 2).all())
        model = lpt.torch.sparsify_(model_of(), method="soft_threshold")
        weight = model[0].weight.detach()
        groups = weight.reshape(-1, 4)
        threshold = groups.abs().sort(1).values[:, 1:2]  # the largest of the two that are dropped
        soft = (groups.sign() * (groups.abs() - threshold).clamp(min=0)).reshape(weight.shape)
        soft = soft * ((weight * soft).sum() / soft.square().sum())
        expected = torch.nn.functional.linear(x, soft, model[0].bias)
        self.assertTrue(torch.allclose(expected, model[0](x), rtol=1e-4, atol=1e-5))

    def test_recipes_are_kept(self):
        model, x = lpt.torch.sparsify_(model_of("fp8_current"), skip=["2"]), draw(5, 48)
        twin = model_of("fp8_current")
        with torch.no_grad():
            twin[0].weight.mul_(largest(twin[0].weight))
        self.assertTrue(torch.equal(twin(x), model(x)))
        self.assertEqual("fp8_current", model[0].recipe._name)
        again = lpt.torch.sparsify_(model, "1:4")
        again(x)
        self.assertTrue(torch.equal(largest(again[0].weight, 1, 4), lpt.torch.mask_of(again[0])))

    def test_masks_are_selected_again_after_the_interval(self):
        model, changes = lpt.torch.sparsify_(model_of(), interval=3), []
        masks = []
        for step in range(7):
            model(draw(5, 48))
            masks.append(lpt.torch.mask_of(model[0]))
            model(draw(5, 48))  # a second pass with this weight
            with torch.no_grad():
                model[0].weight.copy_(draw(32, 48, seed=10 + step))
                model[2].weight.add_(0.1)
        changes = [not torch.equal(one, other) for one, other in zip(masks, masks[1:])]
        self.assertEqual([False, False, True, False, False, True], changes)

    def test_saved_states_have_the_mask(self):
        model, other = (lpt.torch.sparsify_(model_of(), interval=3) for _ in range(2))
        for step in range(5):
            model(draw(5, 48))
            with torch.no_grad():
                model[0].weight.copy_(draw(32, 48, seed=10 + step))
        other.load_state_dict(model.state_dict())
        for step in range(5):
            self.assertTrue(torch.equal(model(draw(5, 48)), other(draw(5, 48))), step)
            self.assertTrue(torch.equal(lpt.torch.mask_of(model[0]), lpt.torch.mask_of(other[0])), step)
            with torch.no_grad():
                for one in (model, other):
                    one[0].weight.copy_(draw(32, 48, seed=20 + step))
        self.assertTrue(torch.equal(model(draw(5, 48)), copy.deepcopy(model)(draw(5, 48))))

    def test_dropped_weights_decay(self):
        for dtype in (torch.float32, torch.bfloat16):
            model = lpt.torch.sparsify_(model_of()).to(dtype)
            model(draw(5, 48).to(dtype)).sum().backward()
            before = [model[0].weight.grad.clone(), model[0].bias.grad.clone()]
            lpt.torch.decay_masked_(model, 0.5)
            expected = before[0] + 0.5 * model[0].weight.detach() * ~largest(model[0].weight)
            # bf16: one rounding of the sum, and one of the product here.
            relative = 1e-6 if dtype == torch.float32 else 2 ** -7
            self.assertTrue(torch.allclose(expected, model[0].weight.grad, rtol=relative, atol=1e-6))
            self.assertTrue(torch.equal(before[1], model[0].bias.grad))

    def test_training_ends_with_sparse_weights(self):
        for method in ("magnitude", "transposable", "soft_threshold"):
            model, x = lpt.torch.sparsify_(model_of(), method=method, interval=2), draw(64, 48)
            optimizer, target = lpt.torch.AdamW(model.parameters(), lr=0.01), draw(64, 16, seed=2)
            losses = []
            for _ in range(30):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(x), target)
                loss.backward()
                lpt.torch.decay_masked_(model)
                optimizer.step()
                losses.append(loss.item())
            self.assertLess(losses[-1], 0.8 * losses[0])
            expected = model(x)
            self.assertIs(model, lpt.torch.prune_(model))
            self.assertTrue(torch.allclose(expected, model(x), rtol=1e-4, atol=1e-5), method)
            self.assertTrue(((model[0].weight.reshape(32, 12, 4) != 0).sum(2) <= 2).all())
            self.assertIn("recipe=f32", repr(model))
            self.assertNotIn("recipe=f32*", repr(model))

    def test_compressed_weights_take_less_memory(self):
        model, x = lpt.torch.prune_(lpt.torch.sparsify_(model_of())), draw(5, 48)
        dense = lpt.torch.quantize_(copy.deepcopy(model), "int8_row")
        sparse = lpt.torch.quantize_(copy.deepcopy(model), "int8_row", storage="bitmask")
        self.assertTrue(torch.allclose(dense(x), sparse(x), rtol=1e-5, atol=1e-6))
        # One bit for each weight, one byte for each kept one, one scale for each row.
        self.assertEqual(32 * 48 // 8 + 32 * 48 // 2 + 32 * 4, sparse[0].nbytes)
        again = lpt.torch.quantize_(model, "int8_row")
        again.load_state_dict(sparse.state_dict())
        self.assertTrue(torch.equal(sparse(x), again(x)))
        self.assertEqual(sparse[0].nbytes, again[0].nbytes)
        self.assertTrue(torch.equal(dense[0].dequantize(), sparse[0].dequantize()))

    def test_recipes_with_sparse_weights_are_pruned_too(self):
        for recipe in ("sparse24", "sparse24_transposable"):
            model, x = model_of(recipe), draw(5, 48)
            expected = model(x)
            with self.assertRaisesRegex(ValueError, "0 has sparse weights: expected prune_"):
                lpt.torch.quantize_(model, "int8_row")
            self.assertTrue(torch.allclose(expected, lpt.torch.prune_(model)(x), rtol=1e-5, atol=1e-6))
            self.assertTrue(((model[0].weight.reshape(32, 12, 4) != 0).sum(2) <= 2).all())
            lpt.torch.quantize_(model, "int8_row")

    def test_errors_name_the_argument(self):
        for text, arguments in (('pattern is "half": expected N:M, such as 2:4', ("half",)),
                                ('method is "random": expected magnitude, transposable', ("2:4", "random")), ("kept", ("4:4",))):
            model = model_of()
            with self.assertRaisesRegex(ValueError, text):
                lpt.torch.sparsify_(model, *arguments)
            self.assertIs(torch.nn.Linear, type(model[0]))
        with self.assertRaisesRegex(ValueError, "dense"):
            lpt.torch.mask_of(lpt.torch.Linear(8, 8))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
