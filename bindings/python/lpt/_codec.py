"""Codecs: compressions of the caller's own, in which the numbers of collectives travel."""
from __future__ import annotations

from operator import index
from sys import getrefcount

from . import capi
from ._context import call_back
from ._errors import Error

TYPE_CHECKING = False  # importing typing would take longer than all else here
if TYPE_CHECKING:
    from typing import Any, Callable, Optional


class Codec:
    """A compression of your own: pass it to all_reduce(), all_gather() and the other collectives as codec.

    name: 1 to 12 letters, the same on all ranks. bytes_for(count) tells how many bytes count numbers take; encode(numbers, data)
    fills data, of so many bytes; decode(data, numbers) fills numbers; decode_add(data, sum) adds to sum. Numbers are memoryviews
    of float32, data of bytes, both of the library's memory: numpy.asarray() shares it, and nothing may keep it.

    Functions run on threads of the library, holding the interpreter's lock, and may not call a collective. What one raises ends
    the collective, and is raised by it on this rank; other ranks get lpt.Aborted.
    """

    __slots__ = ("name", "bytes_for", "encode", "decode", "decode_add")

    def __init__(self, name: str, bytes_for: Callable[[int], int], encode: Callable[[memoryview, memoryview], Any],
                 decode: Callable[[memoryview, memoryview], Any],
                 decode_add: Optional[Callable[[memoryview, memoryview], Any]] = None) -> None:
        self.name, self.bytes_for, self.encode, self.decode, self.decode_add = name, bytes_for, encode, decode, decode_add


class CodecCall:
    """What the library calls for one collective: kept until it is done. Methods take addresses; 0 lets the collective go on."""

    __slots__ = ("codec", "struct", "error", "_sizes")

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.struct = capi.codec_of(codec.name, self, codec.decode_add is not None)
        self.error: Optional[BaseException] = None
        self._sizes: dict = {}  # memory is of the size that was told first

    def bytes_for(self, _: int, count: int, __: int) -> int:
        try:
            if count not in self._sizes:
                self._sizes[count] = index(call_back(self.codec.bytes_for, count))
            return self._sizes[count]
        except BaseException as error:  # raised where the collective was called
            self.error = error
            return -1

    def encode(self, numbers: int, count: int, data: int) -> int:
        return self._run(self.codec.encode, (numbers, 4 * count, "f"), (data, self._sizes[count], "B"))

    def decode(self, data: int, count: int, numbers: int) -> int:
        return self._run(self.codec.decode, (data, self._sizes[count], "B"), (numbers, 4 * count, "f"))

    def decode_add(self, data: int, count: int, total: int) -> int:
        return self._run(self.codec.decode_add, (data, self._sizes[count], "B"), (total, 4 * count, "f"))

    def _run(self, function: Any, source: tuple, target: tuple) -> int:
        try:
            with _Lent(*source) as lent, _Lent(*target) as written:
                call_back(function, lent.toreadonly(), written)
            return 0
        except BaseException as error:  # raised where the collective was called
            self.error = error
            return 1


class _Lent:
    """A view of the library's memory, which has to be let go of in the end."""

    __slots__ = ("memory", "view")

    def __init__(self, address: int, size: int, letter: str) -> None:
        import ctypes  # by codecs alone
        self.memory = (ctypes.c_char * size).from_address(address)
        self.view = memoryview(self.memory).cast("B").cast(letter)

    def __enter__(self) -> memoryview:
        return self.view

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.view.release()
            # This attribute, and the argument of the call.
            if getrefcount(self.memory) > 2:
                raise BufferError("a codec's function keeps a view of memory that is no longer there")


def call(keep: Any, function: Any, *arguments: Any) -> Any:
    """Calls a function of the library; what a codec among the kept raised comes before the library's refusal."""
    try:
        return function(*arguments)
    except Error as refusal:
        for kept in keep:
            if isinstance(kept, CodecCall) and kept.error is not None:
                raise kept.error from refusal
        raise
