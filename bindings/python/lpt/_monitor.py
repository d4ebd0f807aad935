"""Monitoring of training runs, a cost model of collectives, and thresholds of DropCompute."""
from __future__ import annotations

__all__ = ["Monitor", "collective_cost", "cost_break_even", "drop_compute_estimate", "drop_compute_fit", "link_fit",
           "noise_measure", "swiglu_alignment"]

from . import capi
from ._context import constant, handle_of, values_of
from ._ops import Statistics
from ._options import options, takes
from ._tensor import empty, format_number, read
from ._train import Linear

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Union
    from typing_extensions import Unpack
    from ._context import Context
    from ._keywords import CostCastRates
    from ._tensor import Format, Tensor


class Monitor:
    """A record of values by step and name, which save() writes as CSV (lpt_monitor)."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        self._handle = capi.lpt_monitor_create(handle_of(None))

    def record(self, step: int, name: str, value: Union[float, Linear, Statistics]) -> None:
        """Record a number, the scalers and watched casts of a Linear, or the sums of a Statistics."""
        if isinstance(value, Linear):
            capi.lpt_monitor_record_linear(handle_of(None), self._handle, step, name, value._handle)
        elif isinstance(value, Statistics):
            capi.lpt_monitor_record_statistics(handle_of(None), self._handle, step, name, value._handle)
        else:
            capi.lpt_monitor_record(handle_of(None), self._handle, step, name, value)

    def __len__(self) -> int:
        return capi.lpt_monitor_count(handle_of(None), self._handle)

    def save(self, path: str) -> None:
        """Write all values to a CSV file."""
        capi.lpt_monitor_save(handle_of(None), self._handle, path)


def noise_measure(gradients: Sequence[Any], noisy: Sequence[Any], *, context: Optional[Context] = None,
                  two_draws: bool = False) -> Dict[str, Any]:
    """Measure the noise that quantization adds to gradients (lpt_noise_measure()).

    noisy: the quantized gradients, one for each of gradients. two_draws: both arguments are quantized, with different random
    bits. Returns a dict of gradient_norm, noise_norm, ratio and is_noisy.
    """
    if len(gradients) != len(noisy):
        raise ValueError(f"gradients has {len(gradients)} tensors, noisy has {len(noisy)}: expected the same number")
    keep: List[Any] = []
    values = capi.lpt_noise_info()
    capi.lpt_noise_measure(handle_of(context), [read(one) for one in gradients], [read(one) for one in noisy],
                           options(capi.lpt_noise_options, {"kind": int(two_draws)}, keep), values)
    return values_of(values)


def swiglu_alignment(gate_weight: Any, up_weight: Any, *, context: Optional[Context] = None) -> Tuple[Tensor, Dict[str, Any]]:
    """Measure the cosine between the gate weight and the up weight of each channel (lpt_swiglu_alignment()).

    Returns the cosines, and a dict of mean, mean_magnitude, largest and largest_channel.
    """
    gate, values = read(gate_weight), capi.lpt_swiglu_alignment_info()
    cosines = empty(gate.shape[0], "f32", context=context)
    capi.lpt_swiglu_alignment(handle_of(context), gate, read(up_weight), cosines, values)
    return cosines, values_of(values)


def _link(latency_seconds: float, bytes_per_second: float) -> Any:
    link = capi.lpt_cost_link()
    link.latency_seconds, link.bytes_per_second = latency_seconds, bytes_per_second
    return link


def link_fit(sizes: Sequence[float], seconds: Sequence[float]) -> Dict[str, Any]:
    """Fit latency_seconds and bytes_per_second of a link to measured times (lpt_cost_fit_link()).

    sizes: bytes of each message. seconds: time of each message.
    """
    if len(sizes) != len(seconds):
        raise ValueError(f"sizes has {len(sizes)} numbers, seconds has {len(seconds)}: expected the same number")
    link = capi.lpt_cost_link()
    capi.lpt_cost_fit_link(handle_of(None), sizes, seconds, link)
    return {"latency_seconds": link.latency_seconds, "bytes_per_second": link.bytes_per_second}


@takes(capi.lpt_cost_cast_rates)
def cost_break_even(collective: str, ranks: int, payload: Format, plain: Format = "f32", *, algorithm: str = "best",
                    latency_seconds: float, bytes_per_second: float, **rates: Unpack[CostCastRates]) -> int:
    """Compute from how many elements a collective takes less time with elements cast to payload (lpt_cost_break_even()).

    Returns -1 if the cast never saves time. plain: the format without the cast.
    """
    keep: List[Any] = []
    return capi.lpt_cost_break_even(handle_of(None), constant("LPT_COST_COLLECTIVE_", collective),
                                    constant("LPT_COST_ALGORITHM_", algorithm), ranks, format_number(plain),
                                    format_number(payload), options(capi.lpt_cost_cast_rates, rates, keep),
                                    _link(latency_seconds, bytes_per_second))


def collective_cost(collective: str, ranks: int, elements: int, payload: Format = "f32", *, algorithm: str = "best",
                    latency_seconds: float, bytes_per_second: float) -> Dict[str, Any]:
    """Estimate the cost of a collective, such as "all_reduce" or "all_gather", on a link (lpt_cost_estimate()).

    Nothing is sent. Returns a dict of seconds, step_count and bytes.
    """
    values = capi.lpt_cost_info()
    capi.lpt_cost_estimate(handle_of(None), constant("LPT_COST_COLLECTIVE_", collective),
                             constant("LPT_COST_ALGORITHM_", algorithm), ranks, elements, format_number(payload),
                             _link(latency_seconds, bytes_per_second), values)
    return values_of(values)


def drop_compute_fit(seconds: Sequence[Sequence[Sequence[float]]], *, serial_seconds: float = 0.0,
                     threshold_seconds: float = 0.0) -> Dict[str, Any]:
    """Find the threshold at which slow ranks stop a step, from measured times (lpt_drop_compute_fit()).

    seconds: times of micro-batches, [ranks][steps][micro_batches], nested sequences or an array. threshold_seconds: compute
    the speedup of this threshold. Returns a dict of threshold_seconds, full_seconds, step_seconds, kept_fraction and speedup.
    """
    steps = [step for rank in seconds for step in rank]
    count = len(steps[0]) if steps else 0
    if any(len(rank) != len(seconds[0]) for rank in seconds) or any(len(step) != count for step in steps):
        raise ValueError("seconds: expected as many steps of each rank, and as many micro-batches of each step")
    values = capi.lpt_drop_compute_info()
    capi.lpt_drop_compute_fit(handle_of(None), [float(one) for step in steps for one in step], len(seconds),
                              len(seconds[0]) if steps else 0, count, serial_seconds, threshold_seconds, values)
    return values_of(values)


def drop_compute_estimate(ranks: int, micro_batches: int, mean_seconds: float, deviation_seconds: float, *,
                          serial_seconds: float = 0.0, threshold_seconds: float = 0.0) -> Dict[str, Any]:
    """Find the threshold at which slow ranks stop a step, for normal times of micro-batches (lpt_drop_compute_estimate()).

    Returns a dict as drop_compute_fit() does, which is to prefer where times can be measured.
    """
    values = capi.lpt_drop_compute_info()
    capi.lpt_drop_compute_estimate(handle_of(None), ranks, micro_batches, mean_seconds, deviation_seconds, serial_seconds,
                                   threshold_seconds, values)
    return values_of(values)
