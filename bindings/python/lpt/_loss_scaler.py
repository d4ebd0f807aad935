"""Loss scalers: a factor of the loss for gradients in f16 and FP8."""
from __future__ import annotations

__all__ = ["LossScaler"]

from . import capi
from ._context import handle_of, values_of
from ._options import options, takes
from ._tensor import bytes_of, state_of

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List
    from typing_extensions import Unpack
    from ._keywords import LossScalerOptions


class LossScaler:
    """A factor of the loss that grows and backs off (lpt_loss_scaler). Scaler is something else: the history of a cast.

    Multiply the loss by scale, pass the scaler to Optimizer.step() as the option loss_scaler, and call update() once after the
    steps of all optimizers. With growth_factor and backoff_factor 1 the scale is constant.
    """

    __slots__ = ("_handle", "_given")

    @takes(capi.lpt_loss_scaler_options)
    def __init__(self, initial_scale: float = 65536.0, **given: Unpack[LossScalerOptions]) -> None:
        """Create a loss scaler (lpt_loss_scaler_create()). initial_scale: the first scale."""
        keep: List[Any] = []
        self._given: Dict[str, Any] = dict(given, initial_scale=initial_scale)
        self._handle = capi.lpt_loss_scaler_create(handle_of(None), options(capi.lpt_loss_scaler_options, self._given, keep))

    @property
    def scale(self) -> float:
        """Factor of the loss until the next update."""
        return self.values["scale"]

    @property
    def values(self) -> Dict[str, Any]:
        """Its state: scale, finite_count, skipped_count, is_skipped, as lpt_loss_scaler_info describes them."""
        values = capi.lpt_loss_scaler_info()
        capi.lpt_loss_scaler_read(handle_of(None), self._handle, values)
        return values_of(values)

    def update(self) -> None:
        """Update the scale after the steps of all optimizers (lpt_loss_scaler_update())."""
        capi.lpt_loss_scaler_update(handle_of(None), self._handle)

    def state(self) -> bytes:
        """Return the saved scale and counts as portable bytes with a checksum."""
        return bytes(state_of(capi.lpt_loss_scaler_state_size, capi.lpt_loss_scaler_state_save, self._handle))

    def load_state(self, state: Any) -> None:
        """Restore a saved scale and counts. The options do not change."""
        capi.lpt_loss_scaler_state_load(handle_of(None), self._handle, bytes_of(state, "state"))

    def __reduce__(self) -> Any:
        return _loss_scaler_again, (self._given, self.state())


def _loss_scaler_again(given: Dict[str, Any], state: bytes) -> LossScaler:
    scaler = LossScaler(**given)
    scaler.load_state(state)
    return scaler
