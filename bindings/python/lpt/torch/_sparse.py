"""Training of linear layers with N:M sparse weights."""
from __future__ import annotations

import re
import struct
from typing import Any, Dict, Iterable, Iterator, Optional, Tuple

import torch

from .._sparse import sparse_decay, sparse_select
from .._train import Recipe
from ._convert import Filter, Model, linears
from ._linear import Linear, attach

_METHODS: Dict[str, Dict[str, Any]] = {"magnitude": {}, "transposable": {"direction": "both"},
                                       "soft_threshold": {"rule": "soft_threshold"}}
_SPARSE_RECIPES = frozenset(("sparse24", "sparse24_transposable"))


def sparsify_(model: Model, pattern: str = "2:4", method: str = "magnitude", *, interval: int = 1,
              filter: Optional[Filter] = None, skip: Iterable[str] = ()) -> Model:
    """Train linear layers with N:M sparse weights: passes use the masked weight, and its gradient is that of all elements.

    It selects modules as convert_() does. A torch.nn.Linear becomes an lpt.torch.Linear with the recipe "f32"; an
    lpt.torch.Linear keeps its recipe. The parameter stays dense. prune_() ends the training and writes the sparse weights.

    pattern: "N:M", the number of elements that each group of M adjacent columns keeps.
    method: "magnitude" keeps the largest elements of rows, "transposable" of rows and columns, "soft_threshold" also reduces
    them by the largest dropped one (S-STE).
    interval: the number of changes of the weight between two selections of its mask.
    """
    match = re.fullmatch(r"(\d+):(\d+)", pattern)
    if match is None:
        raise ValueError(f'pattern is "{pattern}": expected N:M, such as 2:4')
    if method not in _METHODS:
        raise ValueError(f'method is "{method}": expected {", ".join(_METHODS)}')
    given = dict(_METHODS[method], kept=int(match[1]), of=int(match[2]))
    Recipe().set_sparsity("weight", interval, **given)  # an option out of range changes no module
    for _, module in list(linears(model, filter, skip, (torch.nn.Linear, Linear))):
        recipe = _dense(module.recipe) if type(module) is Linear else Recipe()
        attach(module, recipe.set_sparsity("weight", interval, **given))
        module.__class__ = Linear
    return model


def _dense(recipe: Recipe) -> Recipe:
    """Return a copy of a recipe without sparse weights."""
    made = Recipe("f32" if recipe._name in _SPARSE_RECIPES else recipe._name)
    for change in recipe._changes:
        if not _is_sparsity(change):
            getattr(made, change[0])(*change[1], **change[2])
    return made


def _is_sparsity(change: Tuple[str, Tuple[Any, ...], Dict[str, Any]]) -> bool:
    return change[0] == "set_sparsity" and change[1][0] == "weight"


def rule_of(module: torch.nn.Module) -> Optional[str]:
    """Return the rule that selects the weights of a layer; None: its weights are dense."""
    if type(module) is Linear:
        for change in reversed(module.recipe._changes):
            if _is_sparsity(change):
                return change[2].get("rule", "magnitude")
        if module.recipe._name in _SPARSE_RECIPES:
            return "magnitude"
    return None


def _sparse_layers(model: torch.nn.Module) -> Iterator[Linear]:
    return (module for module in model.modules() if rule_of(module) is not None)


def mask_of(module: Linear) -> torch.Tensor:
    """Return the mask of the last pass of a layer with sparse weights, as a tensor of bool: True where an element is kept."""
    return torch.from_dlpack(module._layer.linear.mask()).bool()


def decay_masked_(model: Model, rate: float = 2e-4) -> Model:
    """Add rate · weight to the gradients of the sparse weights where the mask is 0, and return the model.

    Call it between backward and the step. Dropped weights then decay to zero, and masks become stable (SR-STE).
    """
    for module in _sparse_layers(model):
        gradient = module.weight.grad
        if gradient is not None:
            sums = gradient if gradient.dtype == torch.float32 and gradient.is_contiguous() else gradient.float().contiguous()
            sparse_decay(module.weight, module._layer.linear.mask(), rate, sums)
            if sums is not gradient:
                gradient.copy_(sums)
            else:
                torch.autograd.graph.increment_version(gradient)
    return model


@torch.no_grad()
def prune_(model: Model) -> Model:
    """Write the sparse weights to the parameters, end sparse training, and return the model.

    The layers keep their recipe. quantize_(model, "int8_row", storage="bitmask") then stores the kept weights.
    """
    for module in list(_sparse_layers(model)):
        module._layer.prepare(module.weight, 0, True)  # a weight that changed after the last pass
        if rule_of(module) == "soft_threshold":
            given = next(change[2] for change in module.recipe._changes if _is_sparsity(change))
            masked = torch.from_dlpack(sparse_select(module.weight, **given)[1])
            module.weight.copy_(masked * _factor(module))
        else:
            module.weight.mul_(mask_of(module))
        attach(module, _dense(module.recipe))
    return model


def _factor(module: Linear) -> float:
    """Return the factor of a soft threshold: in the saved state, it is before the bits of the mask, whose rows are full bytes."""
    state = module._layer.linear.state()
    mask_bytes = module.out_features * -(-module.in_features // 8)
    return struct.unpack_from("<f", state, len(state) - mask_bytes - 4)[0]
