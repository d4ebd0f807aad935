"""Conversion of the linear layers of a model."""
from __future__ import annotations

import re
from typing import Callable, Iterable, Iterator, Optional, Tuple, TypeVar, Union

import torch

from .._train import Recipe
from ._linear import Linear, attach

Model = TypeVar("Model", bound=torch.nn.Module)
Filter = Callable[[torch.nn.Module, str], bool]


def linears(model: torch.nn.Module, filter: Optional[Filter], skip: Iterable[str], kinds: Tuple[type, ...] = (torch.nn.Linear,)
            ) -> Iterator[Tuple[str, torch.nn.Linear]]:
    """Yield the names and the modules of some classes that a conversion selects."""
    if isinstance(skip, str):
        raise TypeError(f'skip is "{skip}": expected a sequence of names or regular expressions, such as ["{skip}"]')
    patterns = [re.compile(one) for one in skip]
    modules: Iterator[Tuple[str, Any]] = model.named_modules()
    for name, module in modules:
        # A subclass, such as the output projection of torch.nn.MultiheadAttention, may not be called by its forward().
        if type(module) in kinds and not any(pattern.fullmatch(name) for pattern in patterns):
            if filter is None or filter(module, name):
                yield name, module


def convert_(model: Model, recipe: Union[str, Recipe] = "fp8_current", *, filter: Optional[Filter] = None,
             skip: Iterable[str] = ()) -> Model:
    """Change the layers of torch.nn.Linear in a model to lpt.torch.Linear, in place, and return the model.

    Each module keeps its identity, parameters, hooks and names. Subclasses of torch.nn.Linear do not change.

    recipe: as for Linear.
    filter: a function of a module and its qualified name; False: the module does not change.
    skip: qualified names of modules that do not change, or regular expressions for the full names.
    """
    made = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
    for _, module in list(linears(model, filter, skip)):
        attach(module, made)
        module.__class__ = Linear
    return model


def update_(model: Model) -> Model:
    """Complete an optimizer step for the scalers of a model, cast its weights again in the next pass, and return the model.

    Call it where PyTorch does not count the changes of the weights: after changes in place through weight.data, and after each
    step of a recipe with a history whose weights are frozen. Otherwise a pass that casts a changed weight does the same.
    """
    for module in model.modules():
        if isinstance(module, Linear):
            module._layer.update()
    return model
