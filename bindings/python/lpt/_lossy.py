"""Collectives over a network that loses packets."""
from __future__ import annotations

__all__ = ["LossyLink", "lossy_estimate"]

from . import capi
from ._comm import Comm
from ._context import constant, handle_of, values_of
from ._options import options, takes
from ._tensor import read, written

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence
    from typing_extensions import Unpack
    from ._context import Context
    from ._keywords import LossyLinkOptions


class LossyLink:
    """Packets between the ranks of a comm, none of which is sent again (lpt_lossy_link)."""

    __slots__ = ("_handle", "_comm")

    @takes(capi.lpt_lossy_link_options)
    def __init__(self, comm: Comm, *, address: Optional[str] = None, context: Optional[Context] = None,
                 **given: Unpack[LossyLinkOptions]) -> None:
        """Create the link of this rank; all ranks of comm do so (lpt_lossy_link_create()).

        address: numeric IPv4 or IPv6 address of this rank; by default "127.0.0.1", for ranks of one machine.
        """
        keep: List[Any] = []
        self._comm = comm
        self._handle = capi.lpt_lossy_link_create(handle_of(context), comm._handle,
                                                  options(capi.lpt_lossy_link_options, dict(given, address=address), keep))

    def statistics(self, peer: int = -1) -> Dict[str, Any]:
        """Return the members of lpt_lossy_link_info: counts of the packets to and from one rank, or of all packets."""
        values = capi.lpt_lossy_link_info()
        capi.lpt_lossy_link_read(handle_of(None), self._handle, peer, values)
        return values_of(values)

    def reduce_scatter(self, x: Any, *, mode: str = "count", loss: Optional[Sequence[float]] = None,
                       counts: Optional[Sequence[int]] = None, out: Any = None, arrivals: Any = None,
                       context: Optional[Context] = None) -> Any:
        """Average a tensor over all ranks, and return this rank's slice along the first axis (lpt_lossy_reduce_scatter()).

        mode: "count" or "horvitz_thompson", with the probability of loss from each rank. counts: rows of each rank's slice; by
        default all ranks have the same number. arrivals: a buffer of bytes, which gets 1 or 0 for each packet and rank.
        """
        source = read(x)
        counts = self._comm._counts(counts, "counts")
        result = self._comm._part(source, counts, context) if out is None else written(out)
        capi.lpt_lossy_reduce_scatter(handle_of(context), self._handle, source, counts, constant("LPT_LOSSY_MODE_", mode), loss,
                                      _length(arrivals, 1), result, arrivals)
        return result

    def all_gather(self, x: Any, out: Any, *, counts: Optional[Sequence[int]] = None, ages: Any = None,
                   context: Optional[Context] = None) -> Any:
        """Write the slices of all ranks that arrive to out, and return it (lpt_lossy_all_gather()).

        Elements that are lost keep their values. counts: rows of each rank's slice; by default all ranks have the same number.
        ages: a buffer of int32, the calls since each packet arrived.
        """
        source, result = read(x), written(out)
        capi.lpt_lossy_all_gather(handle_of(context), self._handle, source, self._comm._counts(counts, "counts"),
                                  _length(ages, 4), result, ages)
        return result


def _length(buffer: Any, item_bytes: int) -> int:
    return 0 if buffer is None else memoryview(buffer).nbytes // item_bytes


def lossy_estimate(loss: float, rank_count: int) -> Dict[str, Any]:
    """Return the drift of replicas and the weights of averages for a probability of loss, the members of lpt_lossy_info."""
    values = capi.lpt_lossy_info()
    capi.lpt_lossy_estimate(handle_of(None), loss, rank_count, values)
    return values_of(values)
