"""Tensors: elements in memory with a format, a shape and scales."""
from __future__ import annotations

__all__ = ["Tensor", "combine", "empty", "format_name", "format_text", "formats", "from_dlpack"]

import sys
from operator import index

from . import capi
from ._context import flag, gpu_contexts, handle_of, streams_of, wait_for_work

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union
    from ._context import Context
    Format = Union[str, int]
    Shape = Union[int, Sequence[int]]

_DEVICES = ("cpu", "cuda")  # indexed by lpt_device
# Use of a tensor, as in tensor_from.i: share memory, write it, read it, or read it in a GEMM. The last two may copy.
_WRAP, _WRITE, _READ, _MULTIPLY = range(4)
_MOST_PRINTED = 2 ** 20  # elements that repr() decodes
_PARTS = ("payload", "block_scales", "tensor_scale", "zero_points", "sparse_indices")
# Formats of the dtypes of ml_dtypes and NumPy.
_NUMPY_NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3fn", "float8_e4m3": "e4m3", "float8_e5m2": "e5m2",
                "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float8_e4m3b11fnuz": "e4m3b11fnuz",
                "float8_e3m4": "e3m4", "float8_e8m0fnu": "e8m0fnu"}
# Formats of the dtypes of torch and NumPy.
_DTYPE_NAMES = dict(_NUMPY_NAMES, float64="f64", float32="f32", float16="f16", int8="int8", int16="int16", int32="int32",
                    int64="int64", uint8="uint8")
_NATIVE = frozenset(_DTYPE_NAMES.values()) - frozenset(_NUMPY_NAMES.values())  # formats with a dtype of NumPy itself
_format_numbers: Dict[str, int] = {}
_format_names: Dict[int, str] = {}


def format_number(format: Format) -> int:
    """Return the lpt_format of a name such as "nvfp4" or "int8/1x64/f32", or of a dtype; return numbers unchanged."""
    if not isinstance(format, str):
        format = _DTYPE_NAMES.get(_dtype_name(format), format)
    if not isinstance(format, str):
        if isinstance(format, bool):
            raise TypeError(f"format is {format}: expected the name or number of a format")
        try:
            return index(format)
        except TypeError:
            hint = "; the output is the keyword out" if isinstance(format, capi.lpt_tensor) or hasattr(format, "dtype") else ""
            raise TypeError(f"format is a {type(format).__name__}: expected the name or number of a format{hint}") from None
    number = _format_numbers.get(format)
    if number is None:
        number = _format_numbers[format] = capi.lpt_format_from_name(None, format)
    return number


def _dtype_name(given: Any) -> str:
    """Return the name of a dtype of torch or NumPy, or of a scalar class of NumPy; "" for other objects."""
    if type(given).__name__ == "dtype":
        return str(given).rpartition(".")[2]
    name = getattr(given, "__name__" if isinstance(given, type) else "name", "")
    return name if isinstance(name, str) else ""


def format_name(format: Format) -> str:
    """Return the name of a format."""
    number = format_number(format)
    if number not in _format_names:
        _format_names[number] = capi.lpt_format_write_name(None, number)
    return _format_names[number]


def formats() -> List[str]:
    """Return the names of all named formats: elements first, then presets with scales."""
    return [capi.lpt_format_name(capi.lpt_format_at(index)) for index in range(capi.lpt_format_count())]


def format_text(format: Format) -> str:
    """Return a text of several lines that explains the bytes of a format (lpt_format_write_text())."""
    return capi.lpt_format_write_text(None, format_number(format))


class Tensor(capi.lpt_tensor):
    """Elements in memory with a format, a shape, and parts such as payload and scales (lpt_tensor).

    Tensor(data) wraps an object with the buffer protocol or __dlpack__, without a copy, and keeps it alive. Such objects are
    NumPy arrays, array.array, memoryviews, and torch and JAX tensors. Strides must be positive.

    Tensor(data, "e4m3fn") interprets the elements of data as codes of a format without scales. uint8 or uint16 data can have
    any format with the same number of bits; formats of less than 8 bits take bytes.

    writable: require that data is writable.

    A tensor without scales exports its memory by the buffer protocol and by DLPack. Elements without a type code of the
    buffer protocol are exported as uint8 or uint16 codes. A tensor with scales exports each part on its own; see parts().
    """

    __slots__ = ()

    def __new__(cls, data: Any, format: Optional[Format] = None, *, writable: bool = False) -> "Tensor":
        tensor = _wrap(data, _WRITE if flag(writable, "writable") else _WRAP)
        return tensor if format is None else _reinterpret(tensor, format_number(format))

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    @property
    def format(self) -> str:
        """Name of the format."""
        return format_name(capi.tensor_format(self))

    @property
    def shape(self) -> Tuple[int, ...]:
        """Extent of each axis, in elements."""
        return capi.tensor_facts(self)[1]

    @property
    def strides(self) -> Tuple[int, ...]:
        """Stride of each axis, in elements."""
        return capi.tensor_facts(self)[2]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        result = 1
        for extent in self.shape:
            result *= extent
        return result

    @property
    def nbytes(self) -> int:
        """Number of bytes of the elements, scales and other parts, without gaps."""
        return capi.lpt_tensor_size(handle_of(None), self)

    @property
    def device(self) -> str:
        """Kind of device that holds the memory: "cpu" or "cuda"."""
        return _DEVICES[capi.tensor_facts(self)[4]]

    @property
    def device_index(self) -> int:
        """Index of the device among devices of its kind."""
        return capi.tensor_facts(self)[5]

    @property
    def address(self) -> int:
        """Address of the first element."""
        return capi.tensor_facts(self)[3]

    def part(self, name: str) -> "Tensor":
        """Return one part as a tensor that shares memory (lpt_tensor_view_part()).

        name: "payload", "block_scales", "tensor_scale", "zero_points" or "sparse_indices".
        """
        if name not in _PARTS:
            raise ValueError(f'part is "{name}": expected one of {", ".join(_PARTS)}')
        return capi.lpt_tensor_view_part(handle_of(None), self, _PARTS.index(name))

    def parts(self) -> Dict[str, "Tensor"]:
        """Return all parts of the format by name; the parts share memory."""
        description = capi.lpt_format_description()
        capi.lpt_format_describe(None, capi.tensor_format(self), description)
        has_part = (True, description.block_scale, description.tensor_scale, description.zero_point, description.sparse_of)
        return {name: self.part(name) for name, is_present in zip(_PARTS, has_part) if is_present}

    def view(self, begins: Sequence[int], extents: Sequence[int]) -> "Tensor":
        """Return a view of a range of each axis, which shares memory (lpt_tensor_view()).

        begins: the first element of each axis, at the edge of a block. extents: the number of elements of each axis.
        """
        shape = self.shape
        if len(begins) != len(shape) or len(extents) != len(shape):
            raise ValueError(f"begins and extents have {len(begins)} and {len(extents)} numbers: expected {len(shape)}")
        return capi.lpt_tensor_view(handle_of(None), self, begins, extents)

    def __getitem__(self, key: Any) -> "Tensor":
        """Return the view tensor[begin:end, …]; slices have no step."""
        keys: Tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
        shape = self.shape
        if len(keys) > len(shape) or not all(isinstance(item, slice) for item in keys):
            raise TypeError(f"index is {key!r}: expected at most {len(shape)} slices without steps; tensor[i:i + 1] is the view "
                            "of one row, numpy.asarray(tensor.dequantize())[i] its values")
        ranges = [item.indices(extent) for item, extent in zip(keys, shape)]
        if any(step != 1 for _, _, step in ranges):
            raise ValueError(f"index is {key!r}: expected slices without steps")
        ranges += [(0, extent, 1) for extent in shape[len(keys):]]
        return self.view([begin for begin, _, _ in ranges], [max(0, end - begin) for begin, end, _ in ranges])

    def __len__(self) -> int:
        return self.shape[0]

    def dequantize(self, format: Format = "f32", *, out: Any = None) -> "Tensor":
        """Decode the tensor to a wide float, as lpt.dequantize()."""
        from ._ops import dequantize
        return dequantize(self, format, out=out)

    def tolist(self) -> Any:
        """Return the decoded elements as nested lists of floats; int32 and int64 elements as lists of integers."""
        return memoryview(self if self.format in ("f32", "f64", "int32", "int64") else self.dequantize()).tolist()

    def __matmul__(self, other: Any) -> "Tensor":
        """Multiply two matrices as lpt.gemm(self, other), with a result in f32; b of a linear layer is transposed: use gemm()."""
        from ._ops import gemm
        return gemm(self, other)

    def __rmatmul__(self, other: Any) -> "Tensor":
        from ._ops import gemm
        return gemm(other, self)

    def torch(self) -> Any:
        """Return a torch tensor that shares memory; elements of 4 bits are pairs, torch.float4_e2m1fn_x2."""
        import torch
        format = self.format
        names = dict({value: key for key, value in _NUMPY_NAMES.items()}, e2m1fn="float4_e2m1fn_x2")
        name = names.get(format, "")
        if not name.startswith("float"):
            return torch.from_dlpack(self)
        if not hasattr(torch, name):
            raise TypeError(f"torch {torch.__version__} has no type for {format}: expected the codes, "
                            'torch.from_dlpack(lpt.Tensor(tensor, "uint8"))')
        # DLPack of some releases of torch has no types of floats of 8 bits and less.
        return torch.from_dlpack(Tensor(self, "uint8")).view(getattr(torch, name))

    def numpy(self) -> Any:
        """Return a NumPy array that shares memory, with a dtype of ml_dtypes if NumPy has none for the format."""
        import numpy
        array = numpy.asarray(memoryview(self))
        name = next((key for key, value in _NUMPY_NAMES.items() if value == self.format), None)
        if name is None:
            return array
        import ml_dtypes
        return array.view(getattr(ml_dtypes, name))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """Return a NumPy array of the elements; NumPy calls it only for tensors that do not export a buffer, and gets the reason."""
        try:
            data = memoryview(self)
        except NotImplementedError:
            raise TypeError("packed weights have no NumPy array: expected lpt.weights_unpack(tensor)") from None
        except BufferError as error:
            if self.device != "cpu":
                raise TypeError(str(error)) from None
            raise TypeError(f"a tensor in {self.format} has several parts: expected numpy.asarray(tensor.dequantize()) for its "
                            "values, or tensor.parts() for its elements and scales") from None
        import numpy
        return numpy.array(data, dtype) if copy else numpy.asarray(data, dtype)

    def __dlpack_device__(self) -> Tuple[int, int]:
        _, _, _, _, device, index = capi.tensor_facts(self)
        return (device + 1, index)  # device types of DLPack start at 1

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        device = self.__dlpack_device__()
        if device == (1, 0) and stream is not None:
            raise BufferError(f"stream is {stream!r}: expected None for a tensor on the CPU")
        if dl_device is not None and tuple(dl_device) != device:
            raise BufferError(f"dl_device is {dl_device!r}: expected {device}, the device of the tensor")
        if copy and device != (1, 0):
            raise BufferError("copy is True: expected False for a tensor on a GPU; copy it with lpt.tensor_copy()")
        if device != (1, 0):
            wait_for_work(device[1], stream)
        is_versioned = 1 if max_version is not None and max_version[0] >= 1 else 0
        tensor = copy_of(self) if copy else self
        if not is_versioned and capi.tensor_is_read_only(tensor):
            raise BufferError("the tensor is read-only: expected max_version of at least (1, 0), which has read-only tensors")
        return capi.tensor_capsule(tensor, is_versioned)

    def __reduce__(self) -> Any:
        if _is_packed(self):
            return _load_packed, (bytes(state_of(capi.lpt_weights_state_size, capi.lpt_weights_state_save, self)),)
        parts = {name: memoryview(part).tobytes() for name, part in self.parts().items()}
        return _load, (self.format, self.shape, parts)

    def __repr__(self) -> str:
        """Return the decoded values as NumPy prints them; "..." without NumPy, and for packed weights and large tensors."""
        text = f"lpt.Tensor({_values_text(self)}, shape={self.shape}, format='{self.format}'"
        return text + (")" if self.device == "cpu" else f", device='{self.device}:{self.device_index}')")


capi.set_tensor_class(Tensor)


def _values_text(tensor: Tensor) -> str:
    if tensor.size > _MOST_PRINTED or tensor.device != "cpu":
        return "..."
    try:
        import numpy
        values = tensor if tensor.format in _NATIVE else tensor.dequantize()
        return numpy.array2string(numpy.asarray(values), separator=", ", prefix="lpt.Tensor(")
    except (ImportError, NotImplementedError):  # packed weights have no values
        return "..."


def _dlpack_source(producer: Any) -> Any:
    """Return the producer or, for memory of a GPU, a capsule that is synchronized with the streams of contexts on that GPU."""
    device = getattr(producer, "__dlpack_device__", None)
    kind, index = device() if device is not None else (1, 0)
    capsule = producer
    for stream in streams_of(index) if kind == 2 else ():
        try:
            capsule = producer.__dlpack__(stream=stream, max_version=(1, 1))
        except TypeError:  # a producer of DLPack before 1.0
            capsule = producer.__dlpack__(stream=stream)
    return capsule


def _wrap(data: Any, use: int) -> Tensor:
    if getattr(data, "requires_grad", False):
        data = _detached(data)
    try:
        return capi.tensor_from_object(_dlpack_source(data) if gpu_contexts else data, use)
    except AttributeError:
        raise TypeError(f"{type(data).__name__} is not a tensor: expected the buffer protocol or __dlpack__") from None
    except (ValueError, TypeError, BufferError):
        # JAX exports some dtypes only by DLPack, and its view() would copy.
        if use != _WRITE and hasattr(data, "__dlpack__"):
            try:
                return capi.tensor_from_producer(_dlpack_source(data), use)
            except (TypeError, BufferError):
                pass
        # NumPy does not export arrays of dtypes of ml_dtypes: wrap their codes, and set the format.
        name = _NUMPY_NAMES.get(getattr(getattr(data, "dtype", None), "name", ""))
        if name is None or "numpy" not in sys.modules:
            raise
        # LPT has formats int16 and uint8, but not uint16.
        codes = data.view("int16" if data.dtype.itemsize == 2 else "uint8")
        return _reinterpret(capi.tensor_from_object(codes, use), format_number(name))


def _detached(data: Any) -> Any:
    """Return data.detach(), as __dlpack__ of a torch tensor fails while torch records gradients."""
    detach = getattr(data, "detach", None)
    if detach is None:
        raise TypeError(f"{type(data).__name__} requires gradients and has no detach(): expected its memory without gradients")
    return detach()


def _reinterpret(tensor: Tensor, format: int) -> Tensor:
    return capi.tensor_reinterpret(tensor, format)


def _shared(data: Any) -> Tensor:
    return data if type(data) is Tensor else _wrap(data, _WRAP)


def read(data: Any) -> Tensor:
    """Wrap an input of an operation; copy it to dense memory if operations do not support its strides."""
    return data if type(data) is Tensor else _wrap(data, _READ)


def multiplied(data: Any) -> Tensor:
    """Wrap an input of a GEMM, as read(); a transposed matrix is not copied."""
    return data if type(data) is Tensor else _wrap(data, _MULTIPLY)


def written(data: Any) -> Tensor:
    """Wrap an output of an operation; never copy."""
    if type(data) is not Tensor:
        return _wrap(data, _WRITE)
    if capi.tensor_is_read_only(data):
        raise BufferError("the output is read-only: expected writable memory")
    return data


def empty(shape: Shape, format: Format = "f32", *, context: Optional[Context] = None) -> Tensor:
    """Create a tensor on the device of the context, with elements of 0 and scales of 1 (lpt_tensor_create())."""
    return capi.tensor_empty(handle_of(context), _extents(shape), format_number(format))


def _extents(shape: Any) -> Tuple[int, ...]:
    try:
        if isinstance(shape, (bytes, bytearray)):
            raise TypeError
        return tuple(map(index, shape)) if hasattr(shape, "__len__") else (index(shape),)
    except TypeError:
        raise TypeError(f"shape is {shape!r}: expected a number, or a sequence of numbers") from None


def combine(format: Format, rows: int, columns: int, *, payload: Any = None, block_scales: Any = None, tensor_scale: Any = None,
            zero_points: Any = None, sparse_indices: Any = None) -> Tensor:
    """Create a matrix from its parts, which shares their memory; the inverse of Tensor.parts() (lpt_tensor_combine()).

    The format determines which parts are required.
    """
    handles = [None if part is None else _shared(part)
               for part in (payload, block_scales, tensor_scale, zero_points, sparse_indices)]
    return capi.lpt_tensor_combine(handle_of(None), format_number(format), rows, columns, handles)


def copy_of(tensor: Tensor) -> Tensor:
    """Return a dense copy in memory of the library."""
    return _load(tensor.format, tensor.shape, {name: memoryview(part).tobytes() for name, part in tensor.parts().items()})


def from_dlpack(producer: Any) -> Tensor:
    """Wrap an object with __dlpack__ or a DLPack capsule, without a copy (lpt_tensor_take_dlpack())."""
    if not hasattr(producer, "__dlpack__") and type(producer).__name__ != "PyCapsule":
        raise TypeError(f"producer is a {type(producer).__name__}: expected __dlpack__ or a DLPack capsule")
    return capi.tensor_from_producer(_dlpack_source(producer), _WRAP)


def tensor_of(value: Any, name: str) -> Tensor:
    """Return an argument that is a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} is a {type(value).__name__}: expected an lpt.Tensor")
    return value


def bytes_of(data: Any, name: str) -> Any:
    """Return an argument that has the buffer protocol."""
    try:
        memoryview(data)
    except TypeError:
        raise TypeError(f"{name} is a {type(data).__name__}: expected bytes, or an object with the buffer protocol") from None
    return data


def _load(format: str, shape: Iterable[int], parts: Dict[str, bytes]) -> Tensor:
    tensor = capi.tensor_empty(None, tuple(shape), format_number(format))
    for name, data in parts.items():
        target = memoryview(tensor.part(name))
        if target.nbytes:
            # Parts of a new tensor are dense.
            target.cast("B", (target.nbytes,))[:] = data
    return tensor


def _is_packed(tensor: Tensor) -> bool:
    try:
        capi.lpt_tensor_view_part(handle_of(None), tensor, 0)
    except NotImplementedError:
        return True
    return False


def _load_packed(state: bytes) -> Tensor:
    return capi.lpt_weights_state_load(handle_of(None), state)


def state_of(size: Any, save: Any, *handles: Any) -> bytearray:
    """Return the saved state of a handle; size and save are its functions of lpt.h."""
    context = handle_of(None)
    state = bytearray(size(context, *handles))
    save(context, *handles, state)
    return state
