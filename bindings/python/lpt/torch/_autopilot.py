"""An autopilot that chooses the precision of each GEMM of a model during training."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import torch

from .. import _autopilot
from .._train import Recipe
from ._convert import linears
from ._linear import Linear, set_recipe

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from .._keywords import AutopilotOptions

_DEFAULT_INTERVAL = 20


class Autopilot:
    """Moves GEMMs of the lpt.torch.Linear layers of a model along a ladder of recipes during training.

    Call step() after each step of the optimizer. In the last step of each interval, the casts of the layers are measured.

        pilot = lpt.torch.Autopilot(model, ["fp4_all_the_way", "bf16"], costs=[0, 1], step_count=1000, budget=0.25)
        for x, target in data:
            ...
            optimizer.step()
            pilot.step(loss)

    Ranks pass the same loss: reduce it first.
    """

    def __init__(self, model: torch.nn.Module, ladder: Sequence[Union[str, Recipe]], costs: Sequence[float], step_count: int, *,
                 filter: Optional[Callable[[torch.nn.Module, str], bool]] = None, skip: Iterable[str] = (),
                 **given: Unpack[AutopilotOptions]) -> None:
        """Set the first recipe of the ladder in the selected layers.

        ladder, costs, step_count and options: as for lpt.Autopilot. filter and skip: as for convert_().
        """
        self.layers: List[Tuple[str, Linear]] = [(name, module) for name, module in linears(model, filter, skip, (Linear,))
                                                 if isinstance(module, Linear)]
        if not self.layers:
            raise ValueError("model has no lpt.torch.Linear that is selected: call convert_() first")
        work = [float(module.in_features * module.out_features) for _, module in self.layers]
        self._pilot = _autopilot.Autopilot(ladder, costs, work, step_count, **given)
        self._interval: int = given.get("interval", _DEFAULT_INTERVAL)
        self._step = 0
        self._apply()

    def observe(self, value: float, signal: str = "noise_ratio", layer: int = -1) -> None:
        """Report a signal for the next decision, "noise_ratio" or "alignment", of a layer of `layers` or of all layers."""
        self._pilot.observe(layer, float(value), signal)

    def step(self, loss: Any) -> bool:
        """End a step with its loss, a number or a tensor of one element. Return whether a recipe changed."""
        if self._is_measured():
            for index, (_, module) in enumerate(self.layers):
                self._pilot.observe(index, module._layer.linear)
        has_changed = self._pilot.step(self._step, float(loss))
        self._step += 1
        if has_changed:
            self._apply()
        else:
            self._watch()
        return has_changed

    def decisions(self) -> List[Tuple[str, _autopilot.Decision]]:
        """Return all decisions, each with the name of its layer."""
        return [(self.layers[one.layer][0], one) for one in self._pilot.decisions()]

    @property
    def values(self) -> Dict[str, Any]:
        """As of lpt.Autopilot: steps_done, decision_count, mean_cost, next_cost."""
        return self._pilot.values

    def state_dict(self) -> Dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"autopilot": torch.frombuffer(bytearray(self._pilot.state()), dtype=torch.uint8)}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Restore a state, and set the recipes of the layers."""
        self._pilot.load_state(state["autopilot"].numpy().tobytes())
        self._step = self.values["steps_done"]
        self._apply()

    def _is_measured(self) -> bool:
        return (self._step + 1) % self._interval == 0

    def _apply(self) -> None:
        for index, (_, module) in enumerate(self.layers):
            set_recipe(module, self._pilot.recipe(index))
        self._watch()

    def _watch(self) -> None:
        for _, module in self.layers:
            module._layer.linear.watch(self._is_measured())
