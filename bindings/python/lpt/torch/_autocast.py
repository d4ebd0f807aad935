"""A context in which torch.nn.functional.linear() follows a recipe."""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Optional, Tuple, Union

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from .._train import Recipe
from ._linear import Linear
from ._memory import FLOATS

# For each weight: a layer without parameters for each recipe. It holds the casts and the scalers, and ends with the weight.
_layers: Any = WeakTensorKeyDictionary()


class autocast(TorchFunctionMode):
    """Compute torch.nn.functional.linear() by a recipe inside a with statement; models do not change.

    It applies to each call on the CPU with a weight of two axes: those of torch.nn.Linear, and those of other modules such as
    torch.nn.MultiheadAttention in training. Operations of lpt.torch keep their recipe. Casts and scalers of a weight persist
    between contexts of one recipe, as those of lpt.torch.Linear.

    The context intercepts functions of torch, so that it needs no list of modules and no change of methods. It applies to the
    thread that enters it. torch.compile breaks the graph at each call inside it: convert_() has no such breaks.

    recipe: a name of lpt.recipe_names(), or an lpt.Recipe.
    skip: modules whose weights are not affected.
    """

    def __init__(self, recipe: Union[str, Recipe] = "fp8_current", *, skip: Iterable[torch.nn.Module] = ()) -> None:
        super().__init__()
        self.recipe: Recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        self._key = recipe
        self._skipped = {id(one): one for module in skip for one in module.parameters()}

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Tuple[Any, ...] = (),
                           kwargs: Optional[Dict[str, Any]] = None) -> Any:
        given = kwargs or {}
        if func is torch.nn.functional.linear:
            input, weight, bias = _operands(*args, **given)
            if self._applies(weight):
                return self._layer(weight)._run(input, weight, bias)
        return func(*args, **given)

    def _applies(self, weight: torch.Tensor) -> bool:
        return (weight.dim() == 2 and weight.device.type == "cpu" and weight.dtype in FLOATS and weight.numel() > 0
                and id(weight) not in self._skipped)

    @torch.compiler.disable
    def _layer(self, weight: torch.Tensor) -> Linear:
        of_weight = _layers.get(weight)
        if of_weight is None:
            of_weight = _layers[weight] = {}
        layer: Optional[Linear] = of_weight.get(self._key)
        if layer is None:
            layer = of_weight[self._key] = Linear(weight.shape[1], weight.shape[0], False, self.recipe, device="meta")
        # FSDP gathers weights into the same memory without another version.
        layer._layer.is_changed |= torch.distributed.is_available() and torch.distributed.is_initialized()
        return layer


def _operands(input: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None
              ) -> Tuple[torch.Tensor, torch.Tensor, Optional[torch.Tensor]]:
    return input, weight, bias
