"""Topologies, and schedules of all-reduces on them."""
from __future__ import annotations

__all__ = ["Link", "Schedule", "Send", "Topology"]

import struct
from collections import namedtuple

from . import capi
from ._codec import call
from ._comm import Comm, Future
from ._context import constant, handle_of, values_of
from ._options import options, takes
from ._tensor import read, written

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple
    from typing_extensions import Unpack
    from ._context import Context
    from ._keywords import ReduceOptions, ScheduleOptions

    class Link(NamedTuple):
        source: int
        target: int
        latency_seconds: float = 0.0
        bytes_per_second: float = 0.0

    class Send(NamedTuple):
        step: int
        source: int
        target: int
        first_chunk: int
        chunk_count: int
        operation: int
else:
    Link = namedtuple("Link", ("source", "target", "latency_seconds", "bytes_per_second"), defaults=(0.0, 0.0))
    Send = namedtuple("Send", ("step", "source", "target", "first_chunk", "chunk_count", "operation"))
Link.__doc__ = ("A directed link between two nodes (lpt_topology_link). Nodes are the ranks, then the switches. A bandwidth of 0 "
                "is infinite.")
Send.__doc__ = "A message of a schedule (lpt_schedule_send). operation: 0, the target adds, or 1, it copies the sum."

_LINK, _SEND = struct.Struct("=2i2d"), struct.Struct("=6i")


def _packed(layout: struct.Struct, items: Iterable[Sequence[Any]], name: str) -> bytes:
    try:
        return b"".join(layout.pack(*item) for item in items)
    except (TypeError, struct.error) as error:
        raise TypeError(f"{name}: expected tuples of {name[:-1]} members ({error})") from None


class Topology:
    """Ranks, switches, and the directed links between them (lpt_topology)."""

    __slots__ = ("_handle",)

    def __init__(self, kind: str, extents: Sequence[int], *, latency_seconds: float = 0.0, bytes_per_second: float = 0.0,
                 upper_latency_seconds: Optional[float] = None, upper_bytes_per_second: Optional[float] = None) -> None:
        """Create a topology of a known shape (lpt_topology_create()).

        kind: "torus", "mesh", "fully_connected", "fat_tree" or "two_level". upper: links between switches, as other links by
        default.
        """
        link, upper = capi.lpt_cost_link(), capi.lpt_cost_link()
        link.latency_seconds, link.bytes_per_second = latency_seconds, bytes_per_second
        upper.latency_seconds = latency_seconds if upper_latency_seconds is None else upper_latency_seconds
        upper.bytes_per_second = bytes_per_second if upper_bytes_per_second is None else upper_bytes_per_second
        self._handle = capi.lpt_topology_create(handle_of(None), constant("LPT_TOPOLOGY_KIND_", kind), extents, link, upper)

    @classmethod
    def graph(cls, rank_count: int, links: Iterable[Sequence[Any]], *, switch_count: int = 0) -> "Topology":
        """Create a topology from links, which are Link or tuples of its members (lpt_topology_create_graph())."""
        made = cls.__new__(cls)
        full = [Link(*link) for link in links]
        made._handle = capi.lpt_topology_create_graph(handle_of(None), rank_count, switch_count, _packed(_LINK, full, "links"))
        return made

    @property
    def values(self) -> Dict[str, Any]:
        """Its size, the members of lpt_topology_info."""
        values = capi.lpt_topology_info()
        capi.lpt_topology_read(handle_of(None), self._handle, values)
        return values_of(values)

    @property
    def links(self) -> List[Link]:
        """All links. The index of a link in it is its number."""
        count = self.values["link_count"]
        memory = bytearray(count * _LINK.size)
        capi.lpt_topology_links(handle_of(None), self._handle, count, memory)
        return [Link(*link) for link in _LINK.iter_unpack(memory)]


class Schedule:
    """The messages of an all-reduce on a topology, step by step (lpt_schedule)."""

    __slots__ = ("_handle", "_link_count")

    @takes(capi.lpt_schedule_options)
    def __init__(self, topology: Topology, algorithm: str = "multitree", **given: Unpack[ScheduleOptions]) -> None:
        """Build and verify a schedule (lpt_schedule_create()).

        algorithm: "multitree", "ring", "double_tree", "halving" or "hierarchical".
        """
        keep: List[Any] = []
        self._handle = capi.lpt_schedule_create(handle_of(None), topology._handle,
                                                constant("LPT_SCHEDULE_ALGORITHM_", algorithm),
                                                options(capi.lpt_schedule_options, given, keep))
        self._link_count = topology.values["link_count"]

    @classmethod
    def from_sends(cls, topology: Topology, chunk_count: int, sends: Iterable[Sequence[int]]) -> "Schedule":
        """Verify sends, which are Send or tuples of its members, and make a schedule of them (lpt_schedule_create_sends())."""
        made = cls.__new__(cls)
        made._handle = capi.lpt_schedule_create_sends(handle_of(None), topology._handle, chunk_count,
                                                      _packed(_SEND, sends, "sends"))
        made._link_count = topology.values["link_count"]
        return made

    @property
    def values(self) -> Dict[str, Any]:
        """Its size, the members of lpt_schedule_info."""
        values = capi.lpt_schedule_info()
        capi.lpt_schedule_read(handle_of(None), self._handle, values)
        return values_of(values)

    def sends(self) -> List[Tuple[Send, Tuple[int, ...]]]:
        """Return all sends in the order of their steps, each with the numbers of its links."""
        values = self.values
        sends, counts = bytearray(values["send_count"] * _SEND.size), bytearray(4 * values["send_count"])
        hops = bytearray(4 * values["hop_count"])
        capi.lpt_schedule_sends(handle_of(None), self._handle, values["send_count"], values["hop_count"], sends, counts, hops)
        numbers, found, begin = memoryview(hops).cast("i"), [], 0
        for send, count in zip(_SEND.iter_unpack(sends), memoryview(counts).cast("i")):
            found.append((Send(*send), tuple(numbers[begin:begin + count])))
            begin += count
        return found

    def simulate(self, payload_bytes: float, *, reduce_bytes_per_second: float = 0.0) -> Tuple[float, List[float]]:
        """Return the simulated seconds, and the seconds in which each link is occupied (lpt_schedule_simulate())."""
        memory = bytearray(8 * self._link_count)
        seconds = capi.lpt_schedule_simulate(handle_of(None), self._handle, payload_bytes, reduce_bytes_per_second,
                                             self._link_count, memory)
        return seconds, memoryview(memory).cast("d").tolist()

    @takes(capi.lpt_reduce_options)
    def all_reduce(self, comm: Comm, x: Any, *, out: Any = None, future: bool = False, context: Optional[Context] = None,
                   **given: Unpack[ReduceOptions]) -> Any:
        """Reduce a tensor over all ranks of comm (lpt_schedule_all_reduce()); every rank returns the same result.

        out: the output, which may be x; by default a new tensor.
        """
        source = read(x)
        keep: List[Any] = [source]
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = call(keep, capi.lpt_schedule_all_reduce, handle_of(context), comm._handle, self._handle, source,
                    options(capi.lpt_reduce_options, given, keep), result, future)
        return Future(made, result, keep) if future else result
