"""torch.nn.Linear with a recipe of low-precision training."""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple, Union

import torch

from .._train import Recipe
from ._operators import Layer

# Recipes that draw no random numbers. Other recipes get a seed of torch's generator in each pass of training.
_DETERMINISTIC = frozenset(("f32", "bf16", "fp8_current", "mxfp8", "fp8_block", "halo_0", "halo_1", "halo_2", "coat",
                            "unit_scaling", "sparse24", "sparse24_transposable"))
# Recipes whose results depend on earlier steps: on the history of a scaler, or on a sparse mask.
_WITH_HISTORY = frozenset(("fp8_trillion", "sparse24_transposable"))
_STATE = "lpt_state"


class Linear(torch.nn.Linear):
    """torch.nn.Linear whose three GEMMs follow a recipe. Weight and bias keep their type and are not rounded.

    recipe: a name of lpt.recipe_names(), or an lpt.Recipe. docs/reference/recipes.md lists the recipes.

    The input may be float32, bfloat16, float16 or float64, with any strides. The output has the type of the input, or that of
    torch.autocast inside its region.

    A pass casts the weight if the weight changed since its last cast. PyTorch counts changes in weight._version. Changes in
    place through weight.data are not counted: call update_() after them. A changed weight also completes a step for the
    scalers of recipes with a history.

    Recipes that round stochastically draw a seed from torch's generator in each pass of training, so that torch.manual_seed()
    sets their results, and a checkpointed pass repeats them.
    """

    recipe: Recipe
    _layer: Layer
    _handle: torch.Tensor
    _saved_bytes: Tuple[int, int]
    _is_random: bool
    _has_history: bool

    def __init__(self, in_features: int, out_features: int, bias: bool = True, recipe: Union[str, Recipe] = "fp8_current",
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(in_features, out_features, bias, device, dtype)
        attach(self, recipe)

    @classmethod
    def from_linear(cls, module: torch.nn.Linear, recipe: Union[str, Recipe] = "fp8_current") -> Linear:
        """Return a layer with the parameters of a torch.nn.Linear, which both then share."""
        if not isinstance(module, torch.nn.Linear):
            raise TypeError(f"module is a {type(module).__name__}: expected a torch.nn.Linear")
        made = cls(module.in_features, module.out_features, module.bias is not None, recipe, "meta", module.weight.dtype)
        made.weight, made.bias = module.weight, module.bias
        return made.train(module.training)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        # FSDP sets the same parameter after each gather, into memory that may have the old address, and keeps its version.
        if name == "weight" and "_layer" in self.__dict__:
            self._layer.is_changed = True

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self._run(input, self.weight, self.bias)

    def _run(self, input: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else input.dtype
        seed, row_bytes, fixed_bytes = None, 0, 0
        if torch.is_grad_enabled() and (input.requires_grad or weight.requires_grad or bias is not None and bias.requires_grad):
            row_bytes, fixed_bytes = self._saved_bytes
            if weight.dtype == torch.float64:
                row_bytes, fixed_bytes = 2 * row_bytes, 2 * fixed_bytes
            if self._is_random:
                seed = torch.randint(2 ** 63 - 1, (), device=weight.device)
        return torch.ops.lpt.linear.default(input, weight, bias, seed, self._handle, row_bytes, fixed_bytes, dtype)[0]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, recipe={name_of(self.recipe)}"

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self._has_history:
            destination[prefix + _STATE] = torch.frombuffer(bytearray(_state_of(self._layer)), dtype=torch.uint8)

    def _load_from_state_dict(self, state_dict: Dict[str, Any], prefix: str, *arguments: Any) -> None:
        state = state_dict.pop(prefix + _STATE, None)
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        self._layer.forget_cast()
        if state is not None and self._has_history:
            _load_state(self._layer, state.cpu().numpy().tobytes())

    def __getstate__(self) -> Dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_layer", "_handle")}
        return dict(state, **{_STATE: _state_of(self._layer)})

    def __setstate__(self, state: Dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if name != _STATE})
        attach(self, self.recipe)
        _load_state(self._layer, state[_STATE])


def attach(module: torch.nn.Linear, recipe: Union[str, Recipe]) -> None:
    """Set the attributes of a Linear in a torch.nn.Linear."""
    made = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
    module.recipe = made
    module._has_history = has_history(made)
    module._layer = Layer(module.in_features, module.out_features, made, module._has_history)
    module._handle = module._layer.handle()
    module._saved_bytes = module._layer.saved_bytes()
    module._is_random = is_random(made)


def _parts(recipe: Recipe) -> Sequence[Recipe]:
    """Return the recipes that a recipe of an Autopilot is composed of, or the recipe."""
    return recipe._composed[1][0] if recipe._composed else [recipe]


def has_history(recipe: Recipe) -> bool:
    return any(one._name in _WITH_HISTORY or any(method in ("set_scaler", "set_sparsity") for method, *_ in one._changes)
               for one in _parts(recipe))


def is_random(recipe: Recipe) -> bool:
    return any(bool(one._changes) or one._name not in _DETERMINISTIC for one in _parts(recipe))


def set_recipe(module: Linear, recipe: Recipe) -> None:
    """Set another recipe from the next pass on. Scalers whose options do not change keep their history."""
    module._layer.linear.set_recipe(recipe)
    module._layer.is_changed = True
    module._layer._sizes.clear()
    module.recipe = recipe
    module._saved_bytes = Layer(module.in_features, module.out_features, recipe, False).saved_bytes()
    module._has_history = module._layer.has_history = has_history(recipe)
    module._is_random = is_random(recipe)


def detach(module: torch.nn.Linear) -> None:
    """Remove the attributes of attach()."""
    for name in ("recipe", "_has_history", "_layer", "_handle", "_saved_bytes", "_is_random"):
        del module.__dict__[name]


def name_of(recipe: Recipe) -> str:
    return (recipe._name or "composed") + ("*" if recipe._changes else "")


def _state_of(layer: Layer) -> bytes:
    return layer.cast_count.to_bytes(8, "little") + layer.linear.state()


def _load_state(layer: Layer, state: bytes) -> None:
    layer.linear.load_state(state[8:])
    layer.cast_count = int.from_bytes(state[:8], "little")
