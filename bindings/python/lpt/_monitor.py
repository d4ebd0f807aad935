"""What to watch while a model learns, and what collectives would cost."""
from __future__ import annotations

__all__ = ["Monitor", "collective_cost", "cost_break_even", "link_fit", "noise_measure", "swiglu_alignment"]

from . import capi
from ._context import constant, handle_of, values_of
from ._ops import Statistics
from ._options import options
from ._tensor import empty, format_number, read
from ._train import Linear

TYPE_CHECKING = False  # importing typing would take longer than all else here
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Tuple, Union
    from ._context import Context
    from ._tensor import Format, Tensor


class Monitor:
    """A record of numbers by step and name, which is saved as CSV."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        self._handle = capi.lpt_monitor_create(handle_of(None))

    def record(self, step: int, name: str, value: Union[float, Linear, Statistics]) -> None:
        """Records a number, the scalers and casts of a Linear, or a Statistics."""
        if isinstance(value, Linear):
            capi.lpt_monitor_record_linear(handle_of(None), self._handle, step, name, value._handle)
        elif isinstance(value, Statistics):
            capi.lpt_monitor_record_statistics(handle_of(None), self._handle, step, name, value._handle)
        else:
            capi.lpt_monitor_record(handle_of(None), self._handle, step, name, value)

    def __len__(self) -> int:
        return capi.lpt_monitor_count(handle_of(None), self._handle)

    def save(self, path: str) -> None:
        """Writes the record."""
        capi.lpt_monitor_save(handle_of(None), self._handle, path)


def noise_measure(gradients: Sequence[Any], noisy: Sequence[Any], *, context: Optional[Context] = None,
                  two_draws: bool = False) -> dict:
    """The noise that quantization put in gradients: gradient_norm, noise_norm, ratio, is_noisy. two_draws: both are noisy, by
    random bits of their own."""
    if len(gradients) != len(noisy):
        raise ValueError(f"{len(gradients)} gradients and {len(noisy)} noisy ones: expected as many of each")
    keep: list = []
    values = capi.lpt_noise_info()
    capi.lpt_noise_measure(handle_of(context), [read(one) for one in gradients], [read(one) for one in noisy],
                           options(capi.lpt_noise_options, {"kind": int(two_draws)}, keep), values)
    return values_of(values)


def swiglu_alignment(gate_weight: Any, up_weight: Any, *, context: Optional[Context] = None) -> Tuple[Tensor, dict]:
    """The cosine between both weights of each channel; and mean, mean_magnitude, largest, largest_channel."""
    gate, values = read(gate_weight), capi.lpt_swiglu_alignment_info()
    cosines = empty(gate.shape[0], "f32", context=context)
    capi.lpt_swiglu_alignment(handle_of(context), gate, read(up_weight), cosines, values)
    return cosines, values_of(values)


def _link(latency_seconds: float, bytes_per_second: float) -> Any:
    link = capi.lpt_cost_link()
    link.latency_seconds, link.bytes_per_second = latency_seconds, bytes_per_second
    return link


def link_fit(sizes: Sequence[float], seconds: Sequence[float]) -> dict:
    """The latency_seconds and bytes_per_second behind measured times of messages of so many bytes."""
    if len(sizes) != len(seconds):
        raise ValueError(f"{len(sizes)} sizes and {len(seconds)} times: expected as many of each")
    link = capi.lpt_cost_link()
    capi.lpt_cost_fit_link(handle_of(None), sizes, seconds, link)
    return {"latency_seconds": link.latency_seconds, "bytes_per_second": link.bytes_per_second}


def cost_break_even(collective: str, ranks: int, payload: Format, plain: Format = "f32", *, algorithm: str = "best",
                    latency_seconds: float, bytes_per_second: float, **rates: float) -> int:
    """From how many elements on a collective takes less time where numbers are cast to payload; -1: from none. Options:
    overhead_seconds, encode_bytes_per_second, decode_bytes_per_second of the casts."""
    keep: list = []
    return capi.lpt_cost_break_even(handle_of(None), constant("LPT_COST_COLLECTIVE_", collective),
                                    constant("LPT_COST_ALGORITHM_", algorithm), ranks, format_number(plain),
                                    format_number(payload), options(capi.lpt_cost_cast_rates, rates, keep),
                                    _link(latency_seconds, bytes_per_second))


def collective_cost(collective: str, ranks: int, elements: int, payload: Format = "f32", *, algorithm: str = "best",
                    latency_seconds: float, bytes_per_second: float) -> dict:
    """What a collective ("all_reduce", "all_gather", …) would cost on a link: seconds, step_count, bytes. Nothing is sent."""
    values = capi.lpt_cost_info()
    capi.lpt_cost_estimate(handle_of(None), constant("LPT_COST_COLLECTIVE_", collective),
                             constant("LPT_COST_ALGORITHM_", algorithm), ranks, elements, format_number(payload),
                             _link(latency_seconds, bytes_per_second), values)
    return values_of(values)
