"""Casts, GEMM and packed weights.

Inputs are a Tensor, or any object that Tensor() wraps. Results are new tensors, or are written to out. Other keyword arguments
are members of the options struct of the operation in lpt.h, which takes() adds to the docstring.
"""
from __future__ import annotations

__all__ = ["Calibration", "GemmPlan", "Statistics", "convert", "dequantize", "fake_quantize", "foreign_layout_export",
           "foreign_layout_import", "format_choose", "format_describe", "format_from_description", "gemm", "gemm_grouped",
           "hadamard", "power_estimate", "power_quantize", "quantize", "random_signs", "tensor_copy", "weights_fit", "weights_load", "weights_order",
           "weights_pack", "weights_save", "weights_unpack"]

from array import array
from operator import index

from . import capi
from ._context import Context, constant, flag, handle_of, values_of
from ._errors import InvalidArgument
from ._options import options, random_of, takes
from ._tensor import Tensor, bytes_of, empty, format_number, multiplied, read, tensor_of, written

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple
    from typing_extensions import Unpack
    from ._keywords import (ConvertOptions, FormatDescription, GemmOperands, GemmOptions, HadamardOptions, PowerOptions,
                            QuantizeOptions, WeightsFitOptions, WeightsOptions)
    from ._tensor import Format

_DENSE = frozenset(map(format_number, ("f64", "f32", "f16", "bf16")))


def _result(out: Any, like: Tensor, format: Format, context: Optional[Context]) -> Tensor:
    return capi.tensor_like(handle_of(context), like, format_number(format), 0) if out is None else written(out)


def _result_format(tensor: Tensor) -> int:
    """Return the default format of results: the format of the operand if it is a wide float, else f32."""
    format = capi.tensor_format(tensor)
    return format if format in _DENSE else capi.LPT_FORMAT_F32


def format_describe(format: Format) -> Dict[str, Any]:
    """Return the parts of a format, the members of lpt_format_description, as a dict."""
    description = capi.lpt_format_description()
    capi.lpt_format_describe(None, format_number(format), description)
    return values_of(description)


@takes(capi.lpt_format_description)
def format_from_description(**given: Unpack[FormatDescription]) -> int:
    """Return the format of a description, including custom elements (lpt_format_from_description()).

    Every function accepts the result as format.
    """
    keep: List[Any] = []
    try:
        return capi.lpt_format_from_description(handle_of(None), options(capi.lpt_format_description, given, keep))
    except InvalidArgument as error:
        text = ", ".join(f"{name}={value!r}" for name, value in given.items()) or "empty"
        raise InvalidArgument(f"description is {text}: {error}") from None


@takes(capi.lpt_quantize_options)
def quantize(x: Any, format: Format = "", *, out: Any = None, transposed: Any = None,
             context: Optional[Context] = None, **given: Unpack[QuantizeOptions]) -> Any:
    """Cast a tensor to another format, and compute the scales of that format (lpt_quantize()).

    format: the name or number of the format; optional if out is given.
    out: the output; by default a new tensor.
    transposed: True or an output tensor, to cast the transposed matrix in the same pass. Both results are returned then.
    """
    handle = handle_of(context)
    source = read(x)
    if out is None:
        if isinstance(format, str) and not format:
            raise TypeError('format is "": expected the name or number of a format, or the argument out')
        out = capi.tensor_like(handle, source, format_number(format), 0)
    else:
        out = written(out)
    if transposed is None and not given:
        capi.lpt_quantize(handle, source, None, out, None)
        return out
    keep: List[Any] = []
    if transposed is True:
        transposed = capi.tensor_like(handle, source, capi.tensor_format(out), 1)
    other = None if transposed is None or transposed is False else written(transposed)
    capi.lpt_quantize(handle, source, options(capi.lpt_quantize_options, given, keep), out, other)
    return out if other is None else (out, other)


def dequantize(x: Any, format: Format = "f32", *, out: Any = None, context: Optional[Context] = None) -> Tensor:
    """Decode a tensor to f64, f32, bf16 or f16 (lpt_dequantize())."""
    source = read(x)
    result = _result(out, source, format, context)
    capi.lpt_dequantize(handle_of(context), source, None, result)
    return result


@takes(capi.lpt_quantize_options)
def fake_quantize(x: Any, format: Format, *, out: Any = None, context: Optional[Context] = None,
                  **given: Unpack[QuantizeOptions]) -> Tensor:
    """Cast a tensor to a format and back to a wide float (lpt_fake_quantize())."""
    keep: List[Any] = []
    source = read(x)
    result = _result(out, source, _result_format(source), context)
    capi.lpt_fake_quantize(handle_of(context), source, format_number(format),
                           options(capi.lpt_quantize_options, given, keep), result)
    return result


def tensor_copy(x: Any, *, out: Any = None, context: Optional[Context] = None) -> Tensor:
    """Copy a tensor with all its parts between devices or within one (lpt_tensor_copy()).

    out: the output; by default a new tensor on the device of the context. Copies from or to a GPU use a context of that GPU.
    The copy is complete on return.
    """
    handle, source = handle_of(context), read(x)
    result = _result(out, source, capi.tensor_format(source), context)
    capi.lpt_tensor_copy(handle, source, result)
    # A GPU queues the copy: wait for it, as the caller may free memory of the CPU on return.
    capi.lpt_context_synchronize(handle)
    return result


@takes(capi.lpt_convert_options)
def convert(x: Any, format: Format, *, out: Any = None, context: Optional[Context] = None,
            **given: Unpack[ConvertOptions]) -> Tensor:
    """Convert codes between similar FP8 formats without a new amax (lpt_convert())."""
    keep: List[Any] = []
    source = read(x)
    result = _result(out, source, format, context)
    capi.lpt_convert(handle_of(context), source, options(capi.lpt_convert_options, given, keep), result)
    return result


@takes(capi.lpt_hadamard_options)
def hadamard(x: Any, size: int = 16, *, out: Any = None, context: Optional[Context] = None,
             **given: Unpack[HadamardOptions]) -> Tensor:
    """Rotate each group of size columns by a Hadamard matrix (lpt_hadamard()); random_signs() returns signs."""
    keep: List[Any] = []
    source = read(x)
    result = _result(out, source, _result_format(source), context)
    capi.lpt_hadamard(handle_of(context), source,
                      options(capi.lpt_hadamard_options, dict(given, size=size), keep), result)
    return result


def random_signs(count: int, random: Any, *, context: Optional[Context] = None) -> Tensor:
    """Draw a vector of int8 signs for hadamard(); random is an lpt.Random."""
    signs = empty(count, "int8", context=context)
    capi.lpt_hadamard_draw_signs(handle_of(context), random_of(random), signs)
    return signs


def _gemm_shape(a: Tensor, b: Tensor, given: GemmOptions) -> Tuple[int, ...]:
    a_shape, b_shape = a.shape, b.shape
    if len(a_shape) < 2 or len(b_shape) < 2:
        raise ValueError(f"a and b have {len(a_shape)} and {len(b_shape)} axes: expected at least 2")
    rows = a_shape[:-2] + (a_shape[-1],) if given.get("a_transposed") else a_shape[:-1]
    columns = b_shape[-2] if given.get("b_transposed") else b_shape[-1]
    if constant("LPT_ACTIVATION_", given.get("activation") or 0) == capi.LPT_ACTIVATION_SWIGLU:
        columns //= 2
    return rows + (columns,)


@takes(capi.lpt_gemm_options)
def gemm(a: Any, b: Any, *, out: Any = None, format: Format = "f32", context: Optional[Context] = None,
         **given: Unpack[GemmOptions]) -> Tensor:
    """Multiply two matrices of any formats: activation(alpha · a · b + beta · out + bias) + residual (lpt_gemm()).

    a: m × k, and b: k × n, or batches of them. With a_transposed, a is stored k × m; with b_transposed, b is stored n × k,
    like weights of linear layers.
    format: the format of the result, m × n, if out is not given.
    quantize: a dict of options of quantize(), for the cast of the result. emulation: a dict of arithmetic and bits.
    cast_a_to_bf16: round an f32 a to bf16 first, for the bf16 kernels.
    fast_accumulate: permit a GPU to add FP8 in fewer bits.
    """
    keep: List[Any] = []
    left, right = multiplied(a), multiplied(b)
    result = empty(_gemm_shape(left, right, given), format, context=context) if out is None else written(out)
    capi.lpt_gemm(handle_of(context), left, right, options(capi.lpt_gemm_options, given, keep), result)
    return result


def _indices_of(indices: Any, name: str) -> Tensor:
    """Wrap a tensor of int32 or int64, or a sequence of integers; name: the argument, for errors."""
    is_tensor = issubclass(type(indices), (Tensor, array, memoryview)) or hasattr(indices, "__dlpack__")
    try:
        return read(indices if is_tensor else array("q", indices))
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{name} is {indices!r:.80}: expected int32 or int64, or a sequence of integers") from None


@takes(capi.lpt_gemm_options)
def gemm_grouped(a: Any, b: Any, group_ends: Any, *, out: Any = None, format: Format = "f32",
                 context: Optional[Context] = None, **given: Unpack[GemmOptions]) -> Tensor:
    """Multiply groups of rows, each by its own matrix, as in a mixture of experts (lpt_gemm_grouped()).

    group_ends: the end row of each group, as int32 or int64, or a sequence of integers. Rows before group_ends[0] are
    multiplied by b[0], rows from there to group_ends[1] by b[1], and so on.
    """
    keep: List[Any] = []
    left, right, ends = multiplied(a), multiplied(b), _indices_of(group_ends, "group_ends")
    if out is None:
        if given.get("a_transposed"):
            shape: Tuple[int, ...] = (len(ends), left.shape[-1], right.shape[-1])
        else:
            shape = left.shape[:-1] + (right.shape[-2 if given.get("b_transposed") else -1],)
        out = empty(shape, format, context=context)
    result = written(out)
    capi.lpt_gemm_grouped(handle_of(context), left, right, ends,
                          options(capi.lpt_gemm_options, given, keep), result)
    return result


class GemmPlan:
    """A checked GEMM of one shape with its selected kernel, for many calls (lpt_gemm_plan).

    Call the plan with operands of the same formats and shapes: plan(a, b, out).
    """

    __slots__ = ("_handle",)

    @takes(capi.lpt_gemm_options)
    def __init__(self, a: Any, b: Any, out: Any, *, context: Optional[Context] = None, **given: Unpack[GemmOptions]) -> None:
        """Check the operands, and select the kernel."""
        keep: List[Any] = []
        self._handle = capi.lpt_gemm_plan_create(handle_of(context), multiplied(a), multiplied(b),
                                                 options(capi.lpt_gemm_options, given, keep), read(out))

    @takes(capi.lpt_gemm_operands)
    def __call__(self, a: Any, b: Any, out: Any, *, context: Optional[Context] = None, **given: Unpack[GemmOperands]) -> Tensor:
        """Run the plan (lpt_gemm_plan_run())."""
        keep: List[Any] = []
        result = written(out)
        capi.lpt_gemm_plan_run(handle_of(context), self._handle, multiplied(a), multiplied(b),
                               options(capi.lpt_gemm_operands, given, keep), result)
        return result

    @property
    def values(self) -> Dict[str, Any]:
        """Properties of the plan: m, n, k, workspace_bytes, part_count and kernel (its name)."""
        values = capi.lpt_gemm_plan_info()
        capi.lpt_gemm_plan_read(handle_of(None), self._handle, values)
        return values_of(values)


@takes(capi.lpt_weights_options)
def weights_pack(weights: Any, *, output_order: Optional[Sequence[int]] = None, input_order: Optional[Sequence[int]] = None,
                 context: Optional[Context] = None, **given: Unpack[WeightsOptions]) -> Tensor:
    """Pack weights (n × k) for GEMM with b_transposed=True (lpt_weights_pack()).

    output_order: one index for each row. input_order: one index for each column.
    """
    keep: List[Any] = []
    source = read(weights)
    orders: List[Any] = []
    for name, order, axis in (("output_order", output_order, -2), ("input_order", input_order, -1)):
        try:
            orders.append(order if order is None else array("i", map(index, order)))
        except (TypeError, OverflowError):
            raise TypeError(f"{name} is {order!r}: expected a sequence of integers of 32 bits") from None
        if order is not None and len(orders[-1]) != source.shape[axis]:
            raise ValueError(f"{name} has {len(orders[-1])} numbers: expected {source.shape[axis]}")
    return capi.weights_pack(handle_of(context), source, options(capi.lpt_weights_options, given, keep), *orders)


@takes(capi.lpt_weights_options)
def weights_order(weights: Any, *, context: Optional[Context] = None, **given: Unpack[WeightsOptions]
                  ) -> Tuple[List[int], int, int]:
    """Compute an output_order with fewer nonzero tiles, for block-sparse storage (lpt_weights_order()).

    Returns the order, and the numbers of stored tiles before and after.
    """
    keep: List[Any] = []
    source = read(weights)
    order = array("i", [0]) * source.shape[0]
    tiles = options(capi.lpt_weights_options, dict(given, storage="block_sparse"), keep)
    before, after = capi.lpt_weights_order(handle_of(context), source, tiles, order)
    return order.tolist(), before, after


def weights_unpack(packed: Tensor, *, out: Any = None, context: Optional[Context] = None) -> Tensor:
    """Convert packed weights to a matrix of rows (lpt_weights_unpack())."""
    packed = tensor_of(packed, "packed")
    result = capi.tensor_like(handle_of(context), packed, capi.tensor_format(packed), 0) if out is None else written(out)
    capi.lpt_weights_unpack(handle_of(context), packed, result)
    return result


@takes(capi.lpt_weights_fit_options)
def weights_fit(weight: Any, gram: Any, format: Format = "", *, method: str = "gptq", order: str = "columns",
                factors: Any = None, bias_change: Any = None, out: Any = None, context: Optional[Context] = None,
                **given: Unpack[WeightsFitOptions]) -> Tuple[Tensor, Optional[Tensor], Optional[Tensor], Dict[str, Any]]:
    """Quantize the weight of a linear layer so that its outputs for calibration data change little (lpt_weights_fit()).

    weight: output columns × input columns. gram: inputsᵀ · inputs of the layer, f32 or f64.
    format: the format of the result; optional if out is given.
    method: "gptq" or "nearest". order: of GPTQ, "columns", "diagonal" or "blocks".
    factors: True or an output vector, to scale the columns of the weight first (AWQ, and SmoothQuant with inputs). Divide the
        inputs by the factors.
    bias_change: True or an output vector, to be added to the bias; requires inputs.

    Returns the quantized weight, the factors or None, the change of the bias or None, and a dict: nearest_error, fitted_error
    and sample_error, the squared errors relative to the outputs, damping, ratio and has_maxima.
    """
    keep: List[Any] = []
    handle, source = handle_of(context), read(weight)
    if out is None and not format:
        raise TypeError('format is "": expected the name or number of a format, or the argument out')
    result = capi.tensor_like(handle, source, format_number(format), 0) if out is None else written(out)
    vectors: List[Optional[Tensor]] = []
    for vector, length in ((factors, source.shape[-1]), (bias_change, result.size // max(source.shape[-1], 1))):
        if vector is None or vector is False:
            vectors.append(None)
        else:
            vectors.append(empty(length, "f32", context=context) if vector is True else written(vector))
    chosen = dict(given, method=constant("LPT_WEIGHTS_FIT_METHOD_", method, "method"),
                  order=constant("LPT_WEIGHTS_FIT_ORDER_", order, "order"))
    values = capi.lpt_weights_fit_info()
    capi.lpt_weights_fit(handle, source, read(gram), options(capi.lpt_weights_fit_options, chosen, keep), result, *vectors,
                         values)
    return result, vectors[0], vectors[1], values_of(values)


def format_choose(errors: Sequence[Sequence[float]], sizes: Sequence[Sequence[int]],
                  budget: int) -> Tuple[List[int], Dict[str, Any]]:
    """Choose one of several formats for each tensor: the smallest sum of errors within a budget of bytes (lpt_format_choose()).

    errors: for each tensor, the error of each candidate; infinity excludes one. sizes: the bytes of the same candidates.
    budget: the most bytes of all tensors together.

    Returns the index of the chosen candidate of each tensor, and a dict of error, bound and bytes.
    """
    candidates = len(errors[0]) if len(errors) > 0 else 1
    for name, rows in (("errors", errors), ("sizes", sizes)):
        if len(rows) != len(errors) or any(len(row) != candidates for row in rows):
            raise ValueError(f"{name} has rows of {[len(row) for row in rows]} numbers: expected {len(errors)} rows of {candidates}")
    choices, values = array("q", bytes(8 * len(errors))), capi.lpt_format_choose_info()
    capi.lpt_format_choose(handle_of(None), [number for row in errors for number in row], [size for row in sizes for size in row],
                           len(errors), candidates, budget, choices, values)
    return list(choices), values_of(values)


@takes(capi.lpt_power_options)
def power_estimate(arithmetic: str = "signed", **given: Unpack[PowerOptions]) -> float:
    """Compute the mean number of bits that change per multiply-add (lpt_power_estimate()).

    arithmetic: "signed", "unsigned" or "additions".
    """
    keep: List[Any] = []
    chosen = dict(given, arithmetic=constant("LPT_POWER_ARITHMETIC_", arithmetic, "arithmetic"))
    return capi.lpt_power_estimate(handle_of(None), options(capi.lpt_power_options, chosen, keep))


def power_quantize(weight: Any, additions: float, format: Format = "int8_row", *, out: Any = None,
                   context: Optional[Context] = None) -> Tuple[Tensor, Dict[str, Any]]:
    """Cast a weight to integers whose mean magnitude is about additions (lpt_power_quantize()).

    Returns the codes with their scales, and a dict of additions, largest_code and clipped_count.
    """
    handle, source = handle_of(context), read(weight)
    result = capi.tensor_like(handle, source, format_number(format), 0) if out is None else written(out)
    values = capi.lpt_power_info()
    capi.lpt_power_quantize(handle, source, additions, result, values)
    return result, values_of(values)


class Calibration:
    """Statistics of the inputs of a layer for calibration data (lpt_calibration).

    Batches are added without rounding between them, so that neither their order nor the number of ranks changes a bit.
    """

    __slots__ = ("_handle", "columns")

    def __init__(self, columns: int, *, gram: bool = True, cross_gram: bool = False) -> None:
        """Create empty statistics of inputs with this number of columns.

        gram: collect inputsᵀ · inputs. cross_gram: collect referenceᵀ · inputs.
        """
        made = capi.lpt_calibration_options()
        made.has_gram, made.has_cross_gram = int(flag(gram, "gram")), int(flag(cross_gram, "cross_gram"))
        self.columns = columns
        self._handle = capi.lpt_calibration_create(handle_of(None), columns, made)

    def add(self, inputs: Any, reference: Any = None, *, context: Optional[Context] = None) -> None:
        """Add a batch of inputs, rows × columns.

        reference: the inputs of the layer in a model that is not quantized; required with cross_gram.
        """
        capi.lpt_calibration_add(handle_of(context), self._handle, read(inputs), None if reference is None else read(reference))

    def all_reduce(self, comm: Any, *, context: Optional[Context] = None) -> None:
        """Replace the statistics of each rank by those of the inputs of all ranks."""
        capi.lpt_calibration_all_reduce(handle_of(context), comm._handle, self._handle)

    def _read(self, value: int, *shape: int) -> Tensor:
        result = empty(shape, "f64")
        capi.lpt_calibration_read(handle_of(None), self._handle, value, result)
        return result

    @property
    def gram(self) -> Tensor:
        """inputsᵀ · inputs, columns × columns."""
        return self._read(capi.LPT_CALIBRATION_VALUE_GRAM, self.columns, self.columns)

    @property
    def cross_gram(self) -> Tensor:
        """referenceᵀ · inputs, columns × columns."""
        return self._read(capi.LPT_CALIBRATION_VALUE_CROSS_GRAM, self.columns, self.columns)

    @property
    def maxima(self) -> Tensor:
        """The largest magnitude of each column."""
        return self._read(capi.LPT_CALIBRATION_VALUE_MAXIMA, self.columns)

    @property
    def means(self) -> Tensor:
        """The mean of each column."""
        return self._read(capi.LPT_CALIBRATION_VALUE_MEANS, self.columns)

    @property
    def mean_squares(self) -> Tensor:
        """The mean of the squares of each column."""
        return self._read(capi.LPT_CALIBRATION_VALUE_MEAN_SQUARES, self.columns)

    @property
    def values(self) -> Dict[str, Any]:
        """row_count, and amax, mean and mean_square over all columns."""
        values = capi.lpt_calibration_info()
        capi.lpt_calibration_describe(handle_of(None), self._handle, values)
        return values_of(values)

    def percentile(self, share: float) -> float:
        """Return a magnitude that a share of the elements does not exceed, at most 17/16 of the smallest one."""
        return capi.lpt_calibration_percentile(handle_of(None), self._handle, share)


def weights_save(packed: Tensor, *, context: Optional[Context] = None) -> bytes:
    """Save packed weights as bytes, which every later release can load (docs/reference/state-format.md)."""
    handle = handle_of(context)
    state = bytearray(capi.lpt_weights_state_size(handle, tensor_of(packed, "packed")))
    capi.lpt_weights_state_save(handle, packed, state)
    return bytes(state)


def weights_load(state: Any, *, context: Optional[Context] = None) -> Tensor:
    """Load packed weights from bytes of weights_save()."""
    return capi.lpt_weights_state_load(handle_of(context), bytes_of(state, "state"))


def foreign_layout_export(x: Any, layout: str, *, context: Optional[Context] = None) -> bytearray:
    """Return the bytes of a tensor in a foreign layout (lpt_foreign_layout_export()).

    layout: "ggml", "ggml_q4_1", "bitsandbytes", "cublas_scales", "mma_sparse" or "cutlass_sparse".
    """
    handle, source, number = handle_of(context), read(x), constant("LPT_FOREIGN_LAYOUT_", layout)
    data = bytearray(capi.lpt_foreign_layout_size(handle, source, number))
    capi.lpt_foreign_layout_export(handle, source, number, data)
    return data


def foreign_layout_import(data: Any, layout: str, shape: Sequence[int], format: Format, *,
                          context: Optional[Context] = None) -> Tensor:
    """Create a tensor from bytes in a foreign layout (lpt_foreign_layout_import()); layout as for foreign_layout_export()."""
    tensor = empty(shape, format, context=context)
    capi.lpt_foreign_layout_import(handle_of(context), bytes_of(data, "data"), constant("LPT_FOREIGN_LAYOUT_", layout),
                                   tensor)
    return tensor


class Statistics:
    """Accumulates statistics of casts (lpt_statistics): pass it to quantize() as the option statistics."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        self._handle = capi.lpt_statistics_create(handle_of(None))

    @property
    def values(self) -> Dict[str, Any]:
        """Sums over all casts: element_count, nan_count, clipped_count, underflow_count, amax, squared_sum, squared_error."""
        values = capi.lpt_statistics_info()
        capi.lpt_statistics_read(handle_of(None), self._handle, values)
        return values_of(values)

    def reset(self) -> None:
        """Set all sums to zero."""
        capi.lpt_statistics_reset(handle_of(None), self._handle)
