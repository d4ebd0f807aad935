"""What operators share: their registration, objects as arguments, and tensors of LPT in the memory of torch tensors.

Tensors are wrapped by address: DLPack of torch takes several microseconds for each tensor.
"""
from __future__ import annotations

import itertools
from array import array
from typing import Any, Callable, Optional, Type, TypeVar
from weakref import WeakValueDictionary

import torch

from .. import capi

FLOATS = frozenset((torch.float32, torch.bfloat16, torch.float16, torch.float64))
FORMATS = {torch.float32: capi.LPT_FORMAT_F32, torch.bfloat16: capi.LPT_FORMAT_BF16, torch.float16: capi.LPT_FORMAT_F16,
           torch.float64: capi.LPT_FORMAT_F64, torch.uint8: capi.LPT_FORMAT_UINT8, torch.int64: capi.LPT_FORMAT_INT64}
_wrap = capi.lpt_tensor_wrap_matrix
_library = torch.library.Library("lpt", "DEF")
_numbers = itertools.count(1)
_objects: WeakValueDictionary[int, Numbered] = WeakValueDictionary()
_Kind = TypeVar("_Kind", bound="Numbered")


class Numbered(array):
    """An object that operators get as a tensor with its number.

    The array is the memory of that tensor, so that an autograd graph that saved the tensor keeps the object alive.
    """

    def __new__(cls: Type[_Kind], *given: Any) -> _Kind:
        made: Any = super().__new__(cls, "q", [next(_numbers)])
        _objects[made[0]] = made
        return made

    def handle(self) -> torch.Tensor:
        """Return the argument of the operators."""
        return torch.frombuffer(self, dtype=torch.int64)


def object_of(kind: Type[_Kind], handle: torch.Tensor) -> _Kind:
    """Return the object of a tensor of handle()."""
    found = _objects.get(int(handle.item()))
    if not isinstance(found, kind):
        raise RuntimeError(f"lpt.torch: {kind.__name__.lower()} {handle.item()} does not exist in this process: expected one of a "
                           "live module; a graph that torch.export wrote runs only beside its model")
    return found


def define(schema: str, kernel: Callable[..., Any], fake: Callable[..., Any], gradients: Optional[Callable[..., Any]] = None,
           setup_context: Optional[Callable[..., Any]] = None) -> None:
    """Register an operator lpt::… on the CPU; fake: the function that creates its outputs without values."""
    name = "lpt::" + schema.partition("(")[0]
    _library.define(schema)
    _library.impl(name, kernel, "CPU")
    torch.library.register_fake(name, fake, lib=_library)
    if gradients is not None and setup_context is not None:
        _define_gradients(name, gradients, setup_context)


def _define_gradients(name: str, gradients: Callable[..., Any], setup_context: Callable[..., Any]) -> None:
    """Register the gradient of an operator.

    It is an autograd function, because that of torch.library.register_autograd() reads the schema in each call.
    """
    operator = getattr(torch.ops.lpt, name[len("lpt::"):]).default

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                output = operator(*given)
            ctx.set_materialize_grads(False)  # outputs without a gradient, such as saved data, get no zeros
            setup_context(ctx, given, output)
            return output

        @staticmethod
        def backward(ctx: Any, *given: Any) -> Any:
            if torch.is_grad_enabled():
                raise NotImplementedError(f"{name} has no second derivative: expected a backward pass without create_graph")
            if all(one is None for one in given):
                return (None,) * len(ctx.needs_input_grad)
            return gradients(ctx, *given)

    def with_gradients(*given: Any) -> Any:
        if torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in given):
            return Function.apply(*given)
        with torch._C._AutoDispatchBelowAutograd():
            return operator(*given)
    _library.impl(name, with_gradients, "Autograd")


def dense_of(tensor: torch.Tensor) -> torch.Tensor:
    """Create a dense tensor with the shape and the type of another one."""
    return tensor.new_empty(tensor.shape)


def sums_dtype(tensor: torch.Tensor) -> torch.dtype:
    """Return the type of vectors of an operation: float64 if a tensor is float64, else float32."""
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def check_float(tensor: torch.Tensor, name: str) -> None:
    """Raise an error for a tensor that has no floats; name: the argument."""
    if tensor.dtype not in FLOATS:
        raise TypeError(f"{name} is {tensor.dtype}: expected float32, bfloat16, float16 or float64")


def rows_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor as a matrix of its last axis, whose columns are adjacent; copy only if its strides require it."""
    columns = tensor.shape[-1]
    matrix = tensor if tensor.dim() == 2 else tensor.reshape(tensor.numel() // columns, columns)
    if matrix.is_contiguous():
        return matrix
    rows = matrix.shape[0]
    is_readable = (columns == 1 or matrix.stride(1) == 1) and (rows == 1 or matrix.stride(0) >= columns)
    return matrix if is_readable else matrix.contiguous()


def wrap(context: object, matrix: torch.Tensor) -> capi.lpt_tensor:
    """Wrap the memory of a matrix as rows_of() returns it. The caller keeps the matrix alive."""
    rows, columns = matrix.shape
    return _wrap(context, FORMATS[matrix.dtype], matrix.data_ptr(), rows, columns, matrix.stride(0) if rows > 1 else columns)


def wrap_dense(context: object, tensor: torch.Tensor, rows: int, columns: int) -> capi.lpt_tensor:
    """Wrap the first rows · columns elements of a dense tensor, which has at least as many. The caller keeps it alive."""
    return _wrap(context, FORMATS[tensor.dtype], tensor.data_ptr(), rows, columns, columns)


def wrap_axes(tensor: torch.Tensor) -> capi.lpt_tensor:
    """Wrap the memory of a tensor with any strides. The caller keeps it alive."""
    return capi.tensor_at(tensor.data_ptr(), FORMATS[tensor.dtype], tensor.shape, tensor.stride())
