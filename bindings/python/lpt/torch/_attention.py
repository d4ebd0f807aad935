"""Scaled dot-product attention, rotary positions and the cross-entropy loss as operators."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import torch

from .. import capi
from .._context import constant, handle_of
from .._ops import _indices_of
from .._tensor import read
from ._memory import check_float, define, dense_of, rows_of, sums_dtype, wrap, wrap_axes, wrap_dense

_Tensor = torch.Tensor


def _adjacent(tensor: _Tensor) -> _Tensor:
    """Return a tensor whose last axis has adjacent elements; the library reads any strides of the other axes."""
    is_readable = tensor.stride(-1) == 1 and 0 not in tensor.stride()
    return tensor if is_readable else tensor.contiguous()


def _ordered_like(tensor: _Tensor) -> _Tensor:
    """Create a dense tensor whose axes have the order in memory of those of another one.

    Heads that are views of batch × positions × heads × width give results of that order: models join them without a copy.
    """
    return torch.empty_like(tensor) if tensor.stride(-1) == 1 else dense_of(tensor)


def _attention_fake(query: _Tensor, key: _Tensor, value: _Tensor, mask: Optional[_Tensor], causal: bool, scale: float
                    ) -> Tuple[_Tensor, _Tensor]:
    is_as_query = value.shape[-1] == query.shape[-1]
    output = _ordered_like(query) if is_as_query else query.new_empty((*query.shape[:-1], value.shape[-1]))
    return output, query.new_empty(query.shape[:-1], dtype=sums_dtype(query))


def _attention_options(mask: Optional[_Tensor], causal: bool, scale: float, sums: _Tensor, output: Optional[_Tensor],
                       keep: List[Any]) -> Any:
    """Return options that borrow the tensors; their wrappers are appended to keep."""
    options = capi.lpt_attention_options()
    options.is_causal, options.scale = int(causal), scale
    for name, tensor in (("mask", mask), ("log_sum_exp", sums), ("output", output)):
        if tensor is not None:
            keep.append(wrap_axes(tensor))
            setattr(options, name, keep[-1])
    return options


def _attention(query: _Tensor, key: _Tensor, value: _Tensor, mask: Optional[_Tensor], causal: bool, scale: float
               ) -> Tuple[_Tensor, _Tensor]:
    for tensor, name in ((query, "query"), (key, "key"), (value, "value")):
        check_float(tensor, name)
    output, sums = _attention_fake(query, key, value, mask, causal, scale)
    keep: List[Any] = [_adjacent(one) for one in (query, key, value)]
    inputs = list(map(wrap_axes, keep))
    capi.lpt_attention_forward(handle_of(None), *inputs, _attention_options(mask, causal, scale, sums, None, keep),
                               wrap_axes(output))
    return output, sums


def _attention_backward_fake(gradient: _Tensor, query: _Tensor, key: _Tensor, value: _Tensor, output: _Tensor, sums: _Tensor,
                             mask: Optional[_Tensor], causal: bool, scale: float) -> Tuple[_Tensor, _Tensor, _Tensor]:
    return _ordered_like(query), _ordered_like(key), _ordered_like(value)


def _attention_backward(gradient: _Tensor, query: _Tensor, key: _Tensor, value: _Tensor, output: _Tensor, sums: _Tensor,
                        mask: Optional[_Tensor], causal: bool, scale: float) -> Tuple[_Tensor, _Tensor, _Tensor]:
    results = _attention_backward_fake(gradient, query, key, value, output, sums, mask, causal, scale)
    keep: List[Any] = [_adjacent(one) for one in (query, key, value, gradient)]
    inputs = list(map(wrap_axes, keep))
    capi.lpt_attention_backward(handle_of(None), *inputs, _attention_options(mask, causal, scale, sums, output, keep),
                                *map(wrap_axes, results))
    return results


def _attention_setup(ctx: Any, inputs: Any, output: Any) -> None:
    query, key, value, mask, ctx.causal, ctx.scale = inputs
    ctx.save_for_backward(query, key, value, *output, mask)
    ctx.mark_non_differentiable(output[1])


def _attention_gradients(ctx: Any, gradient: Any, _: Any) -> Any:
    found = torch.ops.lpt.attention_backward.default(gradient, *ctx.saved_tensors, ctx.causal, ctx.scale)
    return *found, None, None, None


define("attention(Tensor query, Tensor key, Tensor value, Tensor? mask, bool causal, float scale) -> (Tensor, Tensor)",
       _attention, _attention_fake, _attention_gradients, _attention_setup)
define("attention_backward(Tensor gradient, Tensor query, Tensor key, Tensor value, Tensor output, Tensor sums, Tensor? mask, "
       "bool causal, float scale) -> (Tensor, Tensor, Tensor)", _attention_backward, _attention_backward_fake)


def scaled_dot_product_attention(query: _Tensor, key: _Tensor, value: _Tensor, attn_mask: Optional[_Tensor] = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, scale: Optional[float] = None,
                                 enable_gqa: bool = False) -> _Tensor:
    """torch.nn.functional.scaled_dot_product_attention(), in memory that is linear in the numbers of queries and keys.

    Axes are batch × heads × positions × width, of which the first, or the first two, may be missing. dropout_p must be 0, and
    attn_mask has no gradient. A query without a key gives zeros.
    """
    if dropout_p:
        raise ValueError(f"dropout_p is {dropout_p}: expected 0")
    if not enable_gqa and query.shape[:-2] != key.shape[:-2]:
        raise RuntimeError(f"query has the shape {tuple(query.shape)}, key {tuple(key.shape)}: expected equal leading axes, or "
                           "enable_gqa=True for fewer heads of key and value")
    queries, keys = query.shape[-2], key.shape[-2]
    if attn_mask is not None:
        if is_causal:
            raise RuntimeError("attn_mask is given and is_causal is True: expected one of them")
        if attn_mask.requires_grad and torch.is_grad_enabled():
            raise NotImplementedError("attn_mask requires a gradient: it has none, expected attn_mask.detach()")
    elif is_causal and queries != keys:
        # torch aligns the first query with the first key, LPT the last ones.
        attn_mask, is_causal = torch.ones(queries, keys, dtype=torch.bool, device=query.device).tril(), False
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros(attn_mask.shape, device=query.device).masked_fill(~attn_mask, float("-inf"))
        if attn_mask.shape[-1] != keys:  # the library repeats the other axes
            attn_mask = attn_mask.expand(*attn_mask.shape[:-1], keys)
        attn_mask = attn_mask.contiguous()
    return torch.ops.lpt.attention.default(query, key, value, attn_mask, is_causal, scale or 0.0)[0]


def _rotary_fake(x: _Tensor, frequencies: _Tensor, positions: Optional[_Tensor], first: int, layout: str, scale: float, inverse: bool
                 ) -> _Tensor:
    return _ordered_like(x)


def _rotary(x: _Tensor, frequencies: _Tensor, positions: Optional[_Tensor], first: int, layout: str, scale: float, inverse: bool
            ) -> _Tensor:
    check_float(x, "x")
    output, source, vector, options = _ordered_like(x), _adjacent(x), frequencies.contiguous(), capi.lpt_rotary_options()
    options.layout = constant("LPT_ROTARY_LAYOUT_", layout, "layout")
    options.first_position, options.scale, options.is_inverse = first, scale, int(inverse)
    if positions is not None:
        options.positions = wrapped = _indices_of(positions, "positions")  # the options borrow it
    capi.lpt_rotary(handle_of(None), wrap_axes(source), wrap_axes(vector), options, wrap_axes(output))
    return output


def _rotary_setup(ctx: Any, inputs: Any, output: Any) -> None:
    _, frequencies, positions, *ctx.options, _ = inputs
    ctx.save_for_backward(frequencies, positions)


def _rotary_gradients(ctx: Any, gradient: Any) -> Any:
    return torch.ops.lpt.rotary.default(gradient, *ctx.saved_tensors, *ctx.options, True), None, None, None, None, None, None


define("rotary(Tensor x, Tensor frequencies, Tensor? positions, int first, str layout, float scale, bool inverse) -> Tensor", _rotary,
       _rotary_fake, _rotary_gradients, _rotary_setup)


def rotary(x: _Tensor, frequencies: _Tensor, *, positions: Optional[_Tensor] = None, first_position: int = 0,
           layout: str = "halves", scale: float = 1.0) -> _Tensor:
    """Rotate pairs of columns of queries or keys, … × positions × width, by position · frequency (rotary position embedding).

    frequencies: at most width / 2, float64 or float32, for example of lpt.rotary_frequencies(width).torch(). They have no gradient.
    positions: int32 or int64, one for each position; by default they are counted from first_position.
    layout: "halves", as in transformers, or "interleaved", as in GPT-J.
    scale: multiplies the result.
    """
    if frequencies.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError("frequencies requires a gradient: it has none, expected frequencies.detach()")
    return torch.ops.lpt.rotary.default(x, frequencies, positions, first_position, layout, float(scale), False)


def _loss_options(ignored: int, smoothing: float, reduction: str) -> Any:
    options = capi.lpt_cross_entropy_options()
    options.ignored_target, options.label_smoothing = ignored, smoothing
    options.reduction = constant("LPT_LOSS_REDUCTION_", reduction, "reduction")
    return options


def _loss_fake(logits: _Tensor, targets: _Tensor, ignored: int, smoothing: float, reduction: str) -> Tuple[_Tensor, _Tensor]:
    rows = logits.shape[0]
    return (logits.new_empty(rows if reduction == "none" else 1, dtype=sums_dtype(logits)),
            logits.new_empty(rows, dtype=torch.float64))


def _loss(logits: _Tensor, targets: _Tensor, ignored: int, smoothing: float, reduction: str) -> Tuple[_Tensor, _Tensor]:
    check_float(logits, "input")
    (loss, sums), matrix, context = _loss_fake(logits, targets, ignored, smoothing, reduction), rows_of(logits), handle_of(None)
    rows = matrix.shape[0]
    if not rows:
        return loss.fill_(0.0 if reduction == "sum" else float("nan")), sums
    capi.lpt_cross_entropy_forward(context, wrap(context, matrix), read(targets), _loss_options(ignored, smoothing, reduction),
                                   wrap_dense(context, loss, 1, loss.shape[0]), wrap_dense(context, sums, 1, rows))
    return loss, sums


def _loss_backward_fake(gradient: _Tensor, logits: _Tensor, targets: _Tensor, sums: _Tensor, ignored: int, smoothing: float,
                        reduction: str) -> _Tensor:
    return logits.new_empty(logits.shape)


def _loss_backward(gradient: _Tensor, logits: _Tensor, targets: _Tensor, sums: _Tensor, ignored: int, smoothing: float,
                   reduction: str) -> _Tensor:
    result, matrix, context = logits.new_empty(logits.shape), rows_of(logits), handle_of(None)
    rows, columns = matrix.shape
    if rows:
        of_loss = gradient.contiguous()
        capi.lpt_cross_entropy_backward(context, wrap(context, matrix), read(targets), wrap_dense(context, sums, 1, rows),
                                        wrap_dense(context, of_loss, 1, of_loss.shape[0]),
                                        _loss_options(ignored, smoothing, reduction), wrap_dense(context, result, rows, columns))
    return result


def _loss_setup(ctx: Any, inputs: Any, output: Any) -> None:
    logits, targets, *ctx.options = inputs
    ctx.save_for_backward(logits, targets, output[1])
    ctx.mark_non_differentiable(output[1])


def _loss_gradients(ctx: Any, gradient: Any, _: Any) -> Any:
    return torch.ops.lpt.cross_entropy_backward.default(gradient, *ctx.saved_tensors, *ctx.options), None, None, None, None


define("cross_entropy(Tensor logits, Tensor targets, int ignored, float smoothing, str reduction) -> (Tensor, Tensor)", _loss,
       _loss_fake, _loss_gradients, _loss_setup)
define("cross_entropy_backward(Tensor gradient, Tensor logits, Tensor targets, Tensor sums, int ignored, float smoothing, "
       "str reduction) -> Tensor", _loss_backward, _loss_backward_fake)


class CrossEntropyLoss(torch.nn.Module):
    """torch.nn.CrossEntropyLoss for classes by number, without weights of classes. Sums are in f64.

    input: rows × classes, or with the classes in the second of more axes; or classes alone. target: int64 or int32, the shape of
    input without the classes. The loss has the type of the input.
    """

    def __init__(self, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__()
        constant("LPT_LOSS_REDUCTION_", reduction, "reduction")
        self.ignore_index: int = ignore_index
        self.reduction: str = reduction
        self.label_smoothing: float = label_smoothing

    def forward(self, input: _Tensor, target: _Tensor) -> _Tensor:
        if target.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"target is {target.dtype}: expected int64 or int32, the number of a class")
        logits = input if input.dim() < 3 else input.movedim(1, -1)
        if target.shape != logits.shape[:-1]:
            raise RuntimeError(f"target has the shape {tuple(target.shape)}: expected {tuple(logits.shape[:-1])}")
        loss = torch.ops.lpt.cross_entropy.default(logits.reshape(-1, logits.shape[-1]), target.reshape(-1), self.ignore_index,
                                                   float(self.label_smoothing), self.reduction)[0].to(input.dtype)
        return loss.reshape(target.shape if self.reduction == "none" else ())

    def extra_repr(self) -> str:
        return f"ignore_index={self.ignore_index}, reduction={self.reduction!r}, label_smoothing={self.label_smoothing}"
