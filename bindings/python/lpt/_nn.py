"""Attention and its store of keys and values, normalization, activations, embedding and loss.

Arguments and results are as those of _ops.py.
"""
from __future__ import annotations

__all__ = ["KVCache", "attention", "attention_backward", "cross_entropy", "cross_entropy_backward", "embedding",
           "embedding_backward", "layernorm", "layernorm_backward", "rmsnorm", "rmsnorm_backward", "rmsnorm_sum",
           "rotary", "rotary_frequencies", "sequence_attention", "sequence_attention_backward", "softmax", "softmax_backward",
           "swiglu", "swiglu_backward"]

from math import prod

from . import capi
from ._context import Context, constant, flag, handle_of
from ._ops import _indices_of, _result, _result_format
from ._options import options, takes
from ._tensor import Tensor, _shared, empty, read, written

TYPE_CHECKING = False  # as in _ops.py
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple, Union
    from typing_extensions import Unpack
    from ._comm import Comm
    from ._keywords import (AttentionOptions, CrossEntropyOptions, EmbeddingOptions, KvCacheOptions, RotaryOptions, RotaryScaling,
                            SequenceAttentionOptions)
    from ._tensor import Format


def _row_statistics(source: Tensor, result: Tensor, context: Optional[Context]) -> Tensor:
    """Create a vector of one element for each row: f64 if the source or the result is f64, else f32."""
    rows = source.size // source.shape[-1] if source.shape[-1] else 0
    is_f64 = capi.LPT_FORMAT_F64 in (capi.tensor_format(source), capi.tensor_format(result))
    return empty(rows, "f64" if is_f64 else "f32", context=context)


def rmsnorm(x: Any, weight: Any, *, epsilon: float = 1e-5, out: Any = None, context: Optional[Context] = None
            ) -> Tuple[Tensor, Tensor]:
    """Compute x · r · weight with r = 1 / sqrt(mean(x²) + epsilon) per row (lpt_rmsnorm_forward()).

    Returns the result and r. rmsnorm_backward() takes r as inverse_rms.
    """
    keep: List[Any] = []
    source, gain = read(x), read(weight)
    result = _result(out, source, _result_format(source), context)
    inverse = _row_statistics(source, result, context)
    capi.lpt_rmsnorm_forward(handle_of(context), source, gain,
                             options(capi.lpt_rmsnorm_options, {"epsilon": epsilon}, keep), result, inverse)
    return result, inverse


def rmsnorm_backward(x: Any, weight: Any, inverse_rms: Any, output_gradient: Any, *, epsilon: float = 1e-5,
                     weight_gradient: Any = None, residual_gradient: Any = None,
                     context: Optional[Context] = None) -> Tuple[Tensor, Tensor]:
    """Return the gradients of x and weight (lpt_rmsnorm_backward()).

    weight_gradient: a tensor to which the weight gradient is added; by default a new tensor.
    residual_gradient: added to the gradient of x: the gradient of a residual connection around the norm.
    """
    keep: List[Any] = []
    gradient, gain = read(output_gradient), read(weight)
    result = capi.tensor_like(handle_of(context), gradient, _result_format(gradient), 0)
    total = _result(weight_gradient, gain, _result_format(gain), context)
    given = {"epsilon": epsilon, "accumulated": weight_gradient is not None, "residual_gradient": residual_gradient}
    capi.lpt_rmsnorm_backward(handle_of(context), read(x), gain, read(inverse_rms), gradient,
                              options(capi.lpt_rmsnorm_options, given, keep), result, total)
    return result, total


def rmsnorm_sum(residual: Any, branch: Any, weight: Any, *, epsilon: float = 1e-5, out: Any = None, total: Any = None,
                context: Optional[Context] = None) -> Tuple[Tensor, Tensor, Tensor]:
    """Compute rmsnorm() of residual + branch (lpt_rmsnorm_forward_sum()).

    total: the output for the sum, which may be residual; by default a new tensor. Returns the result, the sum and r.
    """
    keep: List[Any] = []
    stream, part = read(residual), read(branch)
    sums = capi.tensor_like(handle_of(context), stream, _result_format(stream), 0) if total is None else written(total)
    result = _result(out, stream, _result_format(stream), context)
    inverse = _row_statistics(stream, result, context)
    capi.lpt_rmsnorm_forward_sum(handle_of(context), stream, part, read(weight),
                                 options(capi.lpt_rmsnorm_options, {"epsilon": epsilon}, keep), sums, result, inverse)
    return result, sums, inverse


def layernorm(x: Any, weight: Any = None, bias: Any = None, *, epsilon: float = 1e-5, out: Any = None,
              context: Optional[Context] = None) -> Tuple[Tensor, Tensor, Tensor]:
    """Compute (x - m) · r · weight + bias with the mean m and r = 1 / sqrt(variance + epsilon) per row (lpt_layernorm_forward()).

    Returns the result, m and r. layernorm_backward() takes m and r as mean and inverse_deviation.
    """
    keep: List[Any] = []
    source = read(x)
    result = _result(out, source, _result_format(source), context)
    mean, inverse = (_row_statistics(source, result, context) for _ in range(2))
    capi.lpt_layernorm_forward(handle_of(context), source, None if weight is None else read(weight),
                               None if bias is None else read(bias),
                               options(capi.lpt_layernorm_options, {"epsilon": epsilon}, keep), result, mean, inverse)
    return result, mean, inverse


def layernorm_backward(x: Any, weight: Any, mean: Any, inverse_deviation: Any, output_gradient: Any, *,
                       weight_gradient: Any = None, bias_gradient: Any = None, residual_gradient: Any = None,
                       context: Optional[Context] = None) -> Tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of x, weight and bias (lpt_layernorm_backward()).

    weight_gradient, bias_gradient: tensors to which the gradients are added, both or none; by default new tensors.
    residual_gradient: as for rmsnorm_backward().
    """
    if (weight_gradient is None) != (bias_gradient is None):
        raise TypeError("one of weight_gradient and bias_gradient is given: expected both or none")
    keep: List[Any] = []
    gradient, center = read(output_gradient), read(mean)
    result = capi.tensor_like(handle_of(context), gradient, _result_format(gradient), 0)
    format, columns = capi.tensor_format(center), gradient.shape[-1]
    of_weight = empty(columns, format, context=context) if weight_gradient is None else written(weight_gradient)
    of_bias = empty(columns, format, context=context) if bias_gradient is None else written(bias_gradient)
    given = {"accumulated": weight_gradient is not None, "residual_gradient": residual_gradient}
    capi.lpt_layernorm_backward(handle_of(context), read(x), None if weight is None else read(weight), center,
                                read(inverse_deviation), gradient, options(capi.lpt_layernorm_options, given, keep),
                                result, of_weight, of_bias)
    return result, of_weight, of_bias


@takes(capi.lpt_rotary_scaling)
def rotary_frequencies(width: int, kind: str = "none", *, format: Format = "f64", context: Optional[Context] = None,
                       **given: Unpack[RotaryScaling]) -> Tensor:
    """Return the frequencies of a rotary position embedding of width columns (lpt_rotary_frequencies()).

    kind: "none", "linear", "ntk", "yarn" or "llama3".
    """
    keep: List[Any] = []
    result = empty(width // 2, format, context=context)
    scaling = dict(given, kind=constant("LPT_ROTARY_SCALING_KIND_", kind))
    capi.lpt_rotary_frequencies(handle_of(context), options(capi.lpt_rotary_scaling, scaling, keep), result)
    return result


@takes(capi.lpt_rotary_options)
def rotary(x: Any, frequencies: Any, *, positions: Any = None, out: Any = None, context: Optional[Context] = None,
           **given: Unpack[RotaryOptions]) -> Tensor:
    """Rotate pairs of columns of x, … × positions × width, by position · frequency (lpt_rotary()); out may be x.

    frequencies: for example of rotary_frequencies().
    positions: one for each row of the last two axes, as int32 or int64, or a sequence of integers; by default they are
    counted from first_position.
    """
    keep: List[Any] = []
    source = read(x)
    chosen = dict(given, positions=None if positions is None else _indices_of(positions, "positions"))
    result = _result(out, source, _result_format(source), context)
    capi.lpt_rotary(handle_of(context), source, read(frequencies), options(capi.lpt_rotary_options, chosen, keep), result)
    return result


def _loss_options(reduction: str, given: CrossEntropyOptions, keep: List[Any]) -> Any:
    return options(capi.lpt_cross_entropy_options, dict(given, reduction=constant("LPT_LOSS_REDUCTION_", reduction)), keep)


@takes(capi.lpt_cross_entropy_options)
def cross_entropy(logits: Any, targets: Any, *, reduction: str = "mean", context: Optional[Context] = None,
                  **given: Unpack[CrossEntropyOptions]) -> Tuple[Tensor, Tensor]:
    """Compute the cross-entropy loss -log(softmax(logits)[target]) of each row, in nats (lpt_cross_entropy_forward()).

    targets: one class for each row, as int32 or int64, or a sequence of integers.
    reduction: "mean", "sum" or "none".
    Returns the loss and log_sums, the logarithm of the sum of exponentials of each row, for cross_entropy_backward().
    """
    keep: List[Any] = []
    source = read(logits)
    count = prod(source.shape[:-1])
    loss = empty(count if reduction == "none" else 1,
                 "f64" if capi.tensor_format(source) == capi.LPT_FORMAT_F64 else "f32", context=context)
    sums = empty(count, "f64", context=context)
    capi.lpt_cross_entropy_forward(handle_of(context), source, _indices_of(targets, "targets"),
                                   _loss_options(reduction, given, keep), loss, sums)
    return loss, sums


@takes(capi.lpt_cross_entropy_options)
def cross_entropy_backward(logits: Any, targets: Any, log_sums: Any, *, loss_gradient: Any = None, reduction: str = "mean",
                           out: Any = None, context: Optional[Context] = None,
                           **given: Unpack[CrossEntropyOptions]) -> Tensor:
    """Return the gradient of the logits (lpt_cross_entropy_backward()); out may be logits."""
    keep: List[Any] = []
    source = read(logits)
    result = _result(out, source, _result_format(source), context)
    capi.lpt_cross_entropy_backward(handle_of(context), source, _indices_of(targets, "targets"), read(log_sums),
                                    None if loss_gradient is None else read(loss_gradient),
                                    _loss_options(reduction, given, keep), result)
    return result


def _attention_options(given: AttentionOptions, log_sum_exp: Any, output: Any, keep: List[Any]) -> Any:
    lengths = given.get("key_lengths")  # also a sequence of integers
    lengths = None if lengths is None else _indices_of(lengths, "key_lengths")
    return options(capi.lpt_attention_options, dict(given, key_lengths=lengths, log_sum_exp=log_sum_exp, output=output), keep)


@takes(capi.lpt_attention_options)
def attention(query: Any, key: Any, value: Any, *, log_sum_exp: Any = None, out: Any = None,
              context: Optional[Context] = None, **given: Unpack[AttentionOptions]) -> Any:
    """Compute scaled dot-product attention (lpt_attention_forward()).

    Axes are batch × heads × positions × width, of which the first, or the first two, may be missing. key and value may have
    fewer heads, a divisor of those of query, and may be quantized with blocks that are one row high. Strided arrays are read
    in place. key_lengths may be a sequence of integers. exaq is a dict of bits and clip, see softmax().

    With log_sum_exp=True the result is the output and the log of the sum of exponentials of each query, which
    attention_backward() takes. log_sum_exp may also be a tensor that gets it.
    """
    keep: List[Any] = []
    left, keys, values = _shared(query), _shared(key), _shared(value)
    shape = (*left.shape[:-1], values.shape[-1])
    result = empty(shape, _result_format(left), context=context) if out is None else written(out)
    sums = log_sum_exp
    if sums is True:
        sums = empty(left.shape[:-1], "f64" if left.format == "f64" else "f32", context=context)
    sums = None if sums is None or sums is False else written(sums)
    capi.lpt_attention_forward(handle_of(context), left, keys, values, _attention_options(given, sums, None, keep), result)
    return (result, sums) if log_sum_exp is True else result


@takes(capi.lpt_attention_options)
def attention_backward(query: Any, key: Any, value: Any, output_gradient: Any, *, output: Any = None, log_sum_exp: Any = None,
                       context: Optional[Context] = None, **given: Unpack[AttentionOptions]) -> Tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of query, key and value (lpt_attention_backward()).

    output and log_sum_exp, both or neither: the results of attention(), which are computed again otherwise.
    """
    keep: List[Any] = []
    inputs = [_shared(one) for one in (query, key, value)]
    for_query, for_key, for_value = [empty(one.shape, _result_format(one), context=context) for one in inputs]
    capi.lpt_attention_backward(handle_of(context), *inputs, _shared(output_gradient),
                                _attention_options(given, log_sum_exp, output, keep), for_query, for_key, for_value)
    return for_query, for_key, for_value


def _sequence_call(ring: Any, heads: Any, given: SequenceAttentionOptions, log_sum_exp: Any, output: Any,
                   keep: List[Any]) -> Tuple[Any, Any, Any]:
    handles = [None if comm is None else comm._handle for comm in (ring, heads)]
    chosen = options(capi.lpt_sequence_attention_options, dict(given, log_sum_exp=log_sum_exp, output=output), keep)
    return handles[0], handles[1], chosen


@takes(capi.lpt_sequence_attention_options)
def sequence_attention(query: Any, key: Any, value: Any, *, ring: Optional[Comm] = None, heads: Optional[Comm] = None,
                       log_sum_exp: Any = None, out: Any = None, context: Optional[Context] = None,
                       **given: Unpack[SequenceAttentionOptions]) -> Any:
    """Compute attention over a sequence that ranks divide by positions (lpt_sequence_attention_forward()).

    ring: ranks with other positions, which send each other their keys and values. heads: ranks that exchange heads for positions. At
    least one of them is given. query, key and value are those of the positions of this rank, as in attention().

    With log_sum_exp=True the result is the output and the log of the sum of exponentials, for sequence_attention_backward().
    """
    keep: List[Any] = []
    left, keys, values = _shared(query), _shared(key), _shared(value)
    result = empty((*left.shape[:-1], values.shape[-1]), _result_format(left), context=context) if out is None else written(out)
    sums = log_sum_exp
    if sums is True:
        ranks = 1 if heads is None else heads.rank_count
        shape = [1] * (4 - len(left.shape)) + list(left.shape[:-1])
        sums = empty((shape[0], shape[1] // ranks, shape[2] * ranks), "f64" if left.format == "f64" else "f32", context=context)
    sums = None if sums is None or sums is False else written(sums)
    first, second, chosen = _sequence_call(ring, heads, given, sums, None, keep)
    capi.lpt_sequence_attention_forward(handle_of(context), first, second, left, keys, values, chosen, result)
    return (result, sums) if log_sum_exp is True else result


@takes(capi.lpt_sequence_attention_options)
def sequence_attention_backward(query: Any, key: Any, value: Any, output_gradient: Any, *, output: Any, log_sum_exp: Any,
                                ring: Optional[Comm] = None, heads: Optional[Comm] = None, context: Optional[Context] = None,
                                **given: Unpack[SequenceAttentionOptions]) -> Tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of query, key and value (lpt_sequence_attention_backward()).

    output and log_sum_exp: the results of sequence_attention().
    """
    keep: List[Any] = []
    inputs = [_shared(one) for one in (query, key, value)]
    for_query, for_key, for_value = [empty(one.shape, _result_format(one), context=context) for one in inputs]
    first, second, chosen = _sequence_call(ring, heads, given, log_sum_exp, output, keep)
    capi.lpt_sequence_attention_backward(handle_of(context), first, second, *inputs, _shared(output_gradient), chosen,
                                         for_query, for_key, for_value)
    return for_query, for_key, for_value


class KVCache:
    """A store of the keys and values of attention, for inference (lpt_kv_cache).

    keys and values are batches × key heads × capacity × width. They and lengths are read-only tensors of the memory of the cache,
    which show later changes: lpt.attention(query, cache.keys, cache.values, key_lengths=cache.lengths, causal=True).
    """

    __slots__ = ("_handle", "keys", "values", "lengths")

    @takes(capi.lpt_kv_cache_options)
    def __init__(self, key_heads: int, capacity: int, key_width: int, *, context: Optional[Context] = None,
                 **given: Unpack[KvCacheOptions]) -> None:
        """Create an empty store for capacity positions of each batch (lpt_kv_cache_create())."""
        keep: List[Any] = []
        shape = {"key_heads": key_heads, "capacity": capacity, "key_width": key_width}
        self._handle = capi.lpt_kv_cache_create(handle_of(context), options(capi.lpt_kv_cache_options, {**given, **shape}, keep))
        self.keys, self.values, self.lengths = capi.lpt_kv_cache_view(handle_of(context), self._handle)

    def append(self, keys: Any, values: Any, counts: Any = None, *, context: Optional[Context] = None) -> None:
        """Cast keys and values, batches × key heads × positions × width, and append them (lpt_kv_cache_append()).

        counts: how many of the last positions each batch gets, as integers; by default all. Strided arrays are read in place.
        """
        capi.lpt_kv_cache_append(handle_of(context), self._handle, _shared(keys), _shared(values),
                                 None if counts is None else _indices_of(counts, "counts"))

    def truncate(self, lengths: Any = None, *, context: Optional[Context] = None) -> None:
        """Drop the positions of each batch from its new length on; by default all (lpt_kv_cache_truncate())."""
        capi.lpt_kv_cache_truncate(handle_of(context), self._handle,
                                   None if lengths is None else _indices_of(lengths, "lengths"))

    def select(self, batches: Any, *, context: Optional[Context] = None) -> None:
        """Replace each batch by a copy of the batch with this index (lpt_kv_cache_select())."""
        capi.lpt_kv_cache_select(handle_of(context), self._handle, _indices_of(batches, "batches"))

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values up to the capacity, with their scales."""
        return capi.lpt_kv_cache_size(handle_of(None), self._handle)


def embedding(weight: Any, indices: Any, *, out: Any = None, format: Optional[Format] = None,
              context: Optional[Context] = None) -> Tensor:
    """Look up rows of a table (lpt_embedding_forward()).

    weight: a matrix, also quantized with blocks that are one row high. indices: int32 or int64, or a sequence of integers.
    The result has the shape of indices and one more axis. format: by default that of weight, or f32 if weight has codes.
    """
    table, rows = read(weight), _indices_of(indices, "indices")
    if out is None:
        name = _result_format(table) if format is None else format
        out = empty((*rows.shape, table.shape[-1]), name, context=context)
    result = written(out)
    capi.lpt_embedding_forward(handle_of(context), table, rows, None, result)
    return result


@takes(capi.lpt_embedding_options)
def embedding_backward(indices: Any, output_gradient: Any, classes: Optional[int] = None, *, out: Any = None,
                       context: Optional[Context] = None, **given: Unpack[EmbeddingOptions]) -> Tensor:
    """Return the gradient of the table of embedding() (lpt_embedding_backward()).

    classes: the number of rows of the table, unless out is given.
    """
    keep: List[Any] = []
    source = read(output_gradient)
    if out is None:
        if classes is None:
            raise TypeError("classes is None: expected the number of rows of the table, or out")
        out = empty((classes, source.shape[-1]), "f64" if source.format == "f64" else "f32", context=context)
    result = written(out)
    capi.lpt_embedding_backward(handle_of(context), _indices_of(indices, "indices"), source,
                                options(capi.lpt_embedding_options, given, keep), result)
    return result


def swiglu(gate: Any, up: Any, *, smoothing: Union[bool, str] = False, out: Any = None,
           context: Optional[Context] = None) -> Any:
    """Compute silu(gate) · up (lpt_swiglu_forward()).

    smoothing: True to return also the smoothing factor of each column, for the option input_smoothing of Linear.
    """
    keep: List[Any] = []
    if not isinstance(smoothing, str):
        smoothing = "channel" if flag(smoothing, "smoothing") else "none"
    kind = constant("LPT_SWIGLU_SMOOTHING_", smoothing)
    left, right = read(gate), read(up)
    result = _result(out, left, _result_format(left), context)
    factors = empty(left.shape[-1], "e8m0fnu", context=context) if kind else None
    given = {"smoothing": kind} if kind else {}
    capi.lpt_swiglu_forward(handle_of(context), left, right, options(capi.lpt_swiglu_options, given, keep), result,
                            factors)
    return result if factors is None else (result, factors)


def swiglu_backward(gate: Any, up: Any, output_gradient: Any, *, context: Optional[Context] = None
                    ) -> Tuple[Tensor, Tensor]:
    """Return the gradients of gate and up (lpt_swiglu_backward())."""
    gradient = read(output_gradient)
    left, right = (capi.tensor_like(handle_of(context), gradient, _result_format(gradient), 0) for _ in range(2))
    capi.lpt_swiglu_backward(handle_of(context), read(gate), read(up), gradient, None, left, right)
    return left, right


def softmax(x: Any, *, scale: float = 1.0, causal: bool = False, exaq_bits: int = 0, exaq_clip: float = 0.0,
            out: Any = None, context: Optional[Context] = None) -> Tensor:
    """Compute a softmax along the last axis: exp(scale · x - max) / sum (lpt_softmax_forward()).

    causal: row t of a T × S matrix covers columns 0 to t + S - T; other columns give 0.
    exaq_bits: if not 0, round the argument of exp to one of 2^exaq_bits levels from exaq_clip to 0
    (lpt_exaq_softmax_forward()).
    """
    keep: List[Any] = []
    source = read(x)
    result = _result(out, source, _result_format(source), context)
    values = {"scale": scale, "causal": causal}
    if exaq_bits == 0:
        capi.lpt_softmax_forward(handle_of(context), source, options(capi.lpt_softmax_options, values, keep), result)
    else:
        values.update(bits=exaq_bits, clip=exaq_clip)
        capi.lpt_exaq_softmax_forward(handle_of(context), source, options(capi.lpt_exaq_options, values, keep), result)
    return result


def softmax_backward(output: Any, output_gradient: Any, *, scale: float = 1.0, causal: bool = False,
                     context: Optional[Context] = None) -> Tensor:
    """Return the gradient of the input of softmax() (lpt_softmax_backward())."""
    keep: List[Any] = []
    gradient = read(output_gradient)
    result = capi.tensor_like(handle_of(context), gradient, _result_format(gradient), 0)
    capi.lpt_softmax_backward(handle_of(context), read(output), gradient,
                              options(capi.lpt_softmax_options, {"scale": scale, "causal": causal}, keep), result)
    return result
