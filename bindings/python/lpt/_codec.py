"""Codecs: caller-supplied compression for the messages of collectives."""
from __future__ import annotations

from operator import index
from sys import getrefcount

from . import capi
from ._context import call_back
from ._errors import Error

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional, Tuple


class Codec:
    """Caller-supplied compression for the messages of collectives (lpt_comm_codec).

    Pass it as the option codec of Comm.all_reduce(), Comm.all_gather() and other collectives. All ranks pass the same codec.

    name: 1 to 12 ASCII characters.
    bytes_for(count): returns the number of bytes that encode count elements.
    encode(numbers, data): encodes numbers and writes all of data, which has bytes_for(count) bytes.
    decode(data, numbers): decodes data and writes all of numbers.
    decode_add(data, sum): decodes data and adds the elements to sum; optional.

    numbers and sum are memoryviews of float32, data is a memoryview of bytes. They share memory of the library, which is valid
    only during the call. numpy.asarray() accesses it without a copy.

    The functions run on threads of the library with the GIL held, and must not call a collective. If a function raises, the
    collective ends and raises the same exception on this rank. Other ranks raise lpt.Aborted.
    """

    __slots__ = ("name", "bytes_for", "encode", "decode", "decode_add")

    def __init__(self, name: str, bytes_for: Callable[[int], int], encode: Callable[[memoryview, memoryview], Any],
                 decode: Callable[[memoryview, memoryview], Any],
                 decode_add: Optional[Callable[[memoryview, memoryview], Any]] = None) -> None:
        self.name: str = name
        self.bytes_for: Callable[[int], int] = bytes_for
        self.encode: Callable[[memoryview, memoryview], Any] = encode
        self.decode: Callable[[memoryview, memoryview], Any] = decode
        self.decode_add: Optional[Callable[[memoryview, memoryview], Any]] = decode_add


class CodecCall:
    """Callbacks of one collective, alive until the collective completes.

    Methods take addresses. encode(), decode() and decode_add() return 0 on success.
    """

    __slots__ = ("codec", "struct", "error", "_sizes")

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.struct = capi.codec_of(codec.name, self, codec.decode_add is not None)
        self.error: Optional[BaseException] = None
        self._sizes: Dict[Any, Any] = {}  # the first result for each count determines the size of the buffers

    def bytes_for(self, _: int, count: int, __: int) -> int:
        try:
            if count not in self._sizes:
                self._sizes[count] = index(call_back(self.codec.bytes_for, count))
            return self._sizes[count]
        except BaseException as error:  # call() raises it on the thread of the caller
            self.error = error
            return -1

    def encode(self, numbers: int, count: int, data: int) -> int:
        return self._run(self.codec.encode, (numbers, 4 * count, "f"), (data, self._sizes[count], "B"))

    def decode(self, data: int, count: int, numbers: int) -> int:
        return self._run(self.codec.decode, (data, self._sizes[count], "B"), (numbers, 4 * count, "f"))

    def decode_add(self, data: int, count: int, total: int) -> int:
        return self._run(self.codec.decode_add, (data, self._sizes[count], "B"), (total, 4 * count, "f"))

    def _run(self, function: Any, source: Tuple[int, int, str], target: Tuple[int, int, str]) -> int:
        try:
            with _BorrowedView(*source) as input_view, _BorrowedView(*target) as output_view:
                call_back(function, input_view.toreadonly(), output_view)
            return 0
        except BaseException as error:  # call() raises it on the thread of the caller
            self.error = error
            return 1


class _BorrowedView:
    """A memoryview of memory of the library, valid during one callback."""

    __slots__ = ("memory", "view")

    def __init__(self, address: int, size: int, type_code: Any) -> None:
        import ctypes  # only codecs use it
        self.memory = (ctypes.c_char * size).from_address(address)
        self.view: memoryview = memoryview(self.memory).cast("B").cast(type_code)

    def __enter__(self) -> memoryview:
        return self.view

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.view.release()
            # 2 references: this attribute, and the argument of getrefcount().
            if getrefcount(self.memory) > 2:
                raise BufferError("a function of the codec keeps a view of memory that is valid only during the call")


def call(keep: Any, function: Any, *arguments: Any) -> Any:
    """Call a function of the library, and raise the exception of a codec in keep instead of the library's error."""
    try:
        return function(*arguments)
    except Error as library_error:
        for kept in keep:
            if isinstance(kept, CodecCall) and kept.error is not None:
                raise kept.error from library_error
        raise
