"""Layers and inputs for the tests of lpt.torch.Linear."""
from support import HAS_TORCH

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = 20261128


def layer_of(recipe="fp8_current", inputs=48, outputs=32, **given):
    torch.manual_seed(SEED)
    return lpt.torch.Linear(inputs, outputs, recipe=recipe, **given)


def rows_of(*shape, seed=1, dtype=None, **given):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_(given.get("grad", True))


def gradients_of(layer, x, gradient=None):
    """Return the output, and the gradients of the input and the parameters."""
    for parameter in layer.parameters():
        parameter.grad = None
    x = x.detach().requires_grad_()
    y = layer(x)
    y.backward(torch.ones_like(y) if gradient is None else gradient)
    return [y.detach(), x.grad] + [parameter.grad for parameter in layer.parameters()]
