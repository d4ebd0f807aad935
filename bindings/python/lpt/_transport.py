"""Transports: messages between ranks by functions of the caller."""
from __future__ import annotations

from . import capi
from ._context import call_back
from ._errors import Aborted, Error, Timeout
from ._tensor import format_name

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

_MESSAGES = ("send", "receive", "test", "cancel")
_OPTIONAL = ("exchange", "all_reduce", "abort")
_BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2}
_REDUCTIONS = {number: name[len("LPT_REDUCTION_"):].lower() for name, number in vars(capi).items()
               if name.startswith("LPT_REDUCTION_")}


class TransportCalls:
    """The functions of one comm (lpt_comm_functions), over the methods of a transport of the caller.

    Methods take addresses. They return a number, or a status and a text if the transport raises an exception.
    """

    __slots__ = ("transport", "rank_count", "requests", "last_request")

    def __init__(self, transport: Any, rank_count: int) -> None:
        has = [hasattr(transport, name) for name in _MESSAGES]
        if not all(has) and (any(has) or not hasattr(transport, "exchange")):
            raise TypeError(f"transport is {type(transport).__name__}, without {_MESSAGES[has.index(False)]}(): expected an "
                            "object with send(), receive(), test() and cancel(), or with exchange()")
        self.transport, self.rank_count = transport, rank_count
        self.requests: Dict[Any, Any] = {}  # requests of the transport by the numbers that the library has for them
        self.last_request = 0

    def facts(self) -> Tuple[Any, ...]:
        """Return the name of the engine, whether there are messages, and whether there is each optional method."""
        name = getattr(self.transport, "name", type(self.transport).__name__)
        return (str(name), *(hasattr(self.transport, method) for method in ("send", *_OPTIONAL)))

    def send(self, peer: int, tag: int, address: int, size: int) -> Any:
        return self._start(self.transport.send, peer, tag, _view(address, size).toreadonly())

    def receive(self, peer: int, tag: int, address: int, size: int) -> Any:
        return self._start(self.transport.receive, peer, tag, _view(address, size))

    def test(self, number: int) -> Any:
        is_done = _call(self.transport.test, self.requests[number])
        if is_done:  # also after an exception, which ends the request
            del self.requests[number]
        return is_done if type(is_done) is _Failure else int(bool(is_done))

    def cancel(self, number: int) -> Any:
        return _status(_call(self.transport.cancel, self.requests.pop(number)))

    def exchange(self, outgoing: int, outgoing_sizes: int, incoming: int, incoming_sizes: int, timeout: float) -> Any:
        sources = [view.toreadonly() for view in self._views(outgoing, outgoing_sizes)]
        return _status(_call(self.transport.exchange, sources, self._views(incoming, incoming_sizes), timeout))

    def all_reduce(self, source: int, target: int, count: int, format: int, reduction: int, timeout: float) -> Any:
        name = format_name(format)
        size = count * _BYTES[name]
        return _status(_call(self.transport.all_reduce, _view(source, size).toreadonly(), _view(target, size), name,
                             _REDUCTIONS[reduction], timeout))

    def abort(self) -> Any:
        return _status(_call(self.transport.abort))

    def close(self) -> Any:
        return _status(_call(getattr(self.transport, "close", int)))

    def _start(self, function: Any, *arguments: Any) -> Any:
        request = _call(function, *arguments)
        if request is None or type(request) is _Failure:
            return 0 if request is None else request
        self.last_request += 1
        self.requests[self.last_request] = request
        return self.last_request

    def _views(self, addresses: int, sizes: int) -> List[memoryview]:
        import ctypes
        pointers = (ctypes.c_void_p * self.rank_count).from_address(addresses)
        counts = (ctypes.c_int64 * self.rank_count).from_address(sizes)
        return [_view(pointer, count) for pointer, count in zip(pointers, counts)]


class _Failure(tuple[int, str]):
    """A status and a text."""


def _call(function: Any, *arguments: Any) -> Any:
    try:
        return call_back(function, *arguments)
    except BaseException as error:  # no exception passes through the library
        kind = type(error) if isinstance(error, Error) else Timeout if isinstance(error, TimeoutError) else Aborted
        text = " ".join(str(error).split())
        return _Failure((kind.status, f"{type(error).__name__}: {text}"))


def _status(result: Any) -> Any:
    return result if type(result) is _Failure else 0


def _view(address: Any, size: int) -> memoryview:
    """Return a memoryview of memory of the library."""
    import ctypes  # only codecs and transports use it
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B") if size > 0 else memoryview(bytearray())
