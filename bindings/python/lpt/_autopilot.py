"""An autopilot that chooses the precision of each GEMM during training."""
from __future__ import annotations

__all__ = ["Autopilot", "Decision"]

import struct
from collections import namedtuple

from . import capi
from ._context import constant, handle_of, values_of
from ._options import options, takes
from ._tensor import bytes_of, state_of
from ._train import Linear, Recipe

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, NamedTuple, Sequence, Tuple, Union
    from typing_extensions import Unpack
    from ._keywords import AutopilotOptions

    class Decision(NamedTuple):
        step: int
        layer: int
        product: str
        old_level: int
        new_level: int
        reason: str
        value: float
        limit: float
else:
    Decision = namedtuple("Decision", ("step", "layer", "product", "old_level", "new_level", "reason", "value", "limit"))
Decision.__doc__ = ("A change of the level of a GEMM (lpt_autopilot_decision). product: \"forward\", \"dgrad\" or \"wgrad\". reason: such "
                    "as \"noise_ratio\".")

_DECISION = struct.Struct("=q6i2d")
_PRODUCTS = ("forward", "dgrad", "wgrad")
_REASONS = ("nonfinite", "loss", "clipped", "amax_growth", "alignment", "noise_ratio", "last_steps", "calm")


def _composed(ladder: List[Recipe], levels: Dict[str, int]) -> Recipe:
    """Compose a recipe again: the levels are those of an autopilot that follows decisions."""
    pilot = Autopilot(ladder, range(len(ladder)), [1.0], 1, budget=float(len(ladder)))
    pilot.replay([(0, 0, product, 0, level, "loss", 0.0, 0.0) for product, level in levels.items() if level])
    pilot.step(0, 0.0)
    return pilot.recipe(0)


class Autopilot:
    """Moves GEMMs of linear layers along a ladder of recipes during training (lpt_autopilot).

    Call observe() where a signal is measured, and step() after each step. If it returns True, give every layer its recipe() and
    prepare it.
    """

    __slots__ = ("_handle", "_ladder", "_levels")

    @takes(capi.lpt_autopilot_options)
    def __init__(self, ladder: Sequence[Union[str, Recipe]], costs: Sequence[float], work: Sequence[float], step_count: int,
                 **given: Unpack[AutopilotOptions]) -> None:
        """Create an autopilot (lpt_autopilot_create()).

        ladder: recipes or their names, the cheapest first. costs: cost of a multiply-add of each. work: multiply-adds of each
        GEMM of each layer in a step. step_count: steps of the run.
        """
        keep: List[Any] = []
        self._ladder = [one if isinstance(one, Recipe) else Recipe(one) for one in ladder]
        self._levels: Dict[Tuple[int, str], int] = {}  # of the GEMMs that have changed
        chosen: Dict[str, Any] = dict(given, step_count=step_count)
        self._handle = capi.lpt_autopilot_create(handle_of(None), [one._handle for one in self._ladder], costs, len(self._ladder),
                                                 work, len(work), options(capi.lpt_autopilot_options, chosen, keep))

    def observe(self, layer: int, value: Union[float, Linear], signal: str = "noise_ratio") -> None:
        """Report a signal for the next decision (lpt_autopilot_observe(), lpt_autopilot_observe_linear()).

        layer: the index of a layer, or -1 for all layers. value: a number, or a watched Linear whose casts are read. signal of a
        number: "noise_ratio" or "alignment".
        """
        if isinstance(value, Linear):
            capi.lpt_autopilot_observe_linear(handle_of(None), self._handle, layer, value._handle)
        else:
            capi.lpt_autopilot_observe(handle_of(None), self._handle, layer, constant("LPT_AUTOPILOT_REASON_", signal, "signal"),
                                       value)

    def step(self, step: int, loss: float) -> bool:
        """End a step, and return whether a level changed (lpt_autopilot_step())."""
        if capi.lpt_autopilot_step(handle_of(None), self._handle, step, loss) == 0:
            return False
        self._read_levels()
        return True

    def recipe(self, layer: int) -> Recipe:
        """Return the recipe of a layer, composed of the levels of its GEMMs (lpt_autopilot_recipe())."""
        recipe = Recipe.__new__(Recipe)
        recipe._handle = capi.lpt_autopilot_recipe(handle_of(None), self._handle, layer)
        levels = {product: self._levels.get((layer, product), 0) for product in _PRODUCTS}
        recipe._name, recipe._changes, recipe._composed = "", [], (_composed, (self._ladder, levels))
        return recipe

    @property
    def values(self) -> Dict[str, Any]:
        """Its state, the members of lpt_autopilot_info."""
        values = capi.lpt_autopilot_info()
        capi.lpt_autopilot_read(handle_of(None), self._handle, values)
        return values_of(values)

    def decisions(self) -> List[Decision]:
        """Return all decisions, in order."""
        count = self.values["decision_count"]
        memory = bytearray(count * _DECISION.size)
        capi.lpt_autopilot_decisions(handle_of(None), self._handle, count, memory)
        return [Decision(step, layer, _PRODUCTS[product], old, new, _REASONS[reason], value, limit)
                for step, layer, product, old, new, reason, _, value, limit in _DECISION.iter_unpack(memory)]

    def replay(self, decisions: Iterable[Sequence[Any]]) -> None:
        """Follow decisions instead of signals (lpt_autopilot_replay()); they are Decision or tuples of its members."""
        packed = b""
        for one in decisions:
            step, layer, product, old, new, reason, value, limit = one
            packed += _DECISION.pack(step, layer, constant("LPT_LINEAR_GEMM_", product, "product"), old, new,
                                     constant("LPT_AUTOPILOT_REASON_", reason, "reason"), 0, value, limit)
        capi.lpt_autopilot_replay(handle_of(None), self._handle, packed)

    def state(self) -> bytes:
        """Return the saved state as portable bytes with a checksum."""
        return bytes(state_of(capi.lpt_autopilot_state_size, capi.lpt_autopilot_state_save, self._handle))

    def load_state(self, state: Any) -> None:
        """Restore a saved state."""
        capi.lpt_autopilot_state_load(handle_of(None), self._handle, bytes_of(state, "state"))
        self._read_levels()

    def _read_levels(self) -> None:
        self._levels = {(one.layer, one.product): one.new_level for one in self.decisions()}
