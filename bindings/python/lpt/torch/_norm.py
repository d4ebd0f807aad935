"""RMSNorm, LayerNorm and SwiGLU as operators and modules."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union, overload

import torch

from .. import capi
from .._context import handle_of
from ._memory import check_float, define, dense_of, rows_of, sums_dtype, wrap, wrap_dense

_Tensor = torch.Tensor
_Two = Tuple[_Tensor, _Tensor]
_Three = Tuple[_Tensor, _Tensor, _Tensor]


def _vector(given: Optional[_Tensor], dtype: torch.dtype) -> Optional[_Tensor]:
    """Return a weight or a bias in the type that the library takes."""
    return None if given is None else given.to(dtype).contiguous()


def _rms_fake(x: _Tensor, weight: _Tensor, eps: float) -> _Two:
    return dense_of(x), x.new_empty(x.numel() // x.shape[-1], dtype=sums_dtype(x))


def _rms_norm(x: _Tensor, weight: _Tensor, eps: float) -> _Two:
    check_float(x, "input")
    (output, inverse), matrix, context = _rms_fake(x, weight, eps), rows_of(x), handle_of(None)
    rows, columns = matrix.shape
    if rows:
        gain, options = _vector(weight, sums_dtype(x)), capi.lpt_rmsnorm_options()
        options.epsilon = eps
        capi.lpt_rmsnorm_forward(context, wrap(context, matrix), wrap_dense(context, gain, 1, columns), options,
                                 wrap_dense(context, output, rows, columns), wrap_dense(context, inverse, 1, rows))
    return output, inverse


def _rms_setup(ctx: Any, inputs: Any, output: Any) -> None:
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight, output[1])
    ctx.mark_non_differentiable(output[1])


def _rms_gradients(ctx: Any, gradient: Any, _: Any) -> Any:
    return *torch.ops.lpt.rms_norm_backward.default(gradient, *ctx.saved_tensors, ctx.eps, None), None


def _sum_fake(x: _Tensor, residual: _Tensor, weight: _Tensor, eps: float) -> _Three:
    if x.shape != residual.shape:
        raise RuntimeError(f"residual has the shape {tuple(residual.shape)}: expected {tuple(x.shape)}, the shape of x")
    total = x.new_empty(x.shape, dtype=torch.promote_types(x.dtype, residual.dtype))
    return dense_of(total), total, total.new_empty(x.numel() // x.shape[-1], dtype=sums_dtype(total))


def _rms_norm_sum(x: _Tensor, residual: _Tensor, weight: _Tensor, eps: float) -> _Three:
    check_float(x, "x")
    check_float(residual, "residual")
    output, total, inverse = _sum_fake(x, residual, weight, eps)
    if total.numel():
        # The library widens x to float32.
        branch, stream = rows_of(x if total.dtype == torch.float32 else x.to(total.dtype)), rows_of(residual.to(total.dtype))
        context, gain, options = handle_of(None), _vector(weight, sums_dtype(total)), capi.lpt_rmsnorm_options()
        (rows, columns), options.epsilon = branch.shape, eps
        capi.lpt_rmsnorm_forward_sum(context, wrap(context, stream), wrap(context, branch), wrap_dense(context, gain, 1, columns),
                                     options, wrap_dense(context, total, rows, columns),
                                     wrap_dense(context, output, rows, columns), wrap_dense(context, inverse, 1, rows))
    return output, total, inverse


def _sum_setup(ctx: Any, inputs: Any, output: Any) -> None:
    _, _, weight, ctx.eps = inputs
    ctx.save_for_backward(output[1], weight, output[2])
    ctx.mark_non_differentiable(output[2])


def _sum_gradients(ctx: Any, gradient: Any, sum_gradient: Any, _: Any) -> Any:
    if gradient is None:
        return sum_gradient, sum_gradient, None, None
    dx, dw = torch.ops.lpt.rms_norm_backward.default(gradient, *ctx.saved_tensors, ctx.eps, sum_gradient)
    return dx, dx, dw, None  # torch casts them


def _rms_backward_fake(gradient: _Tensor, x: _Tensor, weight: _Tensor, inverse: _Tensor, eps: float,
                       residual_gradient: Optional[_Tensor]) -> _Two:
    return dense_of(x), x.new_zeros(x.shape[-1], dtype=sums_dtype(x))


def _rms_backward(gradient: _Tensor, x: _Tensor, weight: _Tensor, inverse: _Tensor, eps: float,
                  residual_gradient: Optional[_Tensor]) -> _Two:
    dx, dw = _rms_backward_fake(gradient, x, weight, inverse, eps, residual_gradient)
    matrix, output_gradient = rows_of(x), rows_of(gradient)
    rows, columns = matrix.shape
    if rows:
        context, gain, options = handle_of(None), _vector(weight, sums_dtype(x)), capi.lpt_rmsnorm_options()
        options.epsilon = eps
        if residual_gradient is not None:
            addend = rows_of(residual_gradient)
            options.residual_gradient = wrapped = wrap(context, addend)  # the options borrow it
        capi.lpt_rmsnorm_backward(context, wrap(context, matrix), wrap_dense(context, gain, 1, columns),
                                  wrap_dense(context, inverse, 1, rows), wrap(context, output_gradient), options,
                                  wrap_dense(context, dx, rows, columns), wrap_dense(context, dw, 1, columns))
    return dx, dw


def _layer_fake(x: _Tensor, weight: Optional[_Tensor], bias: Optional[_Tensor], eps: float) -> _Three:
    rows = x.numel() // x.shape[-1]
    return dense_of(x), x.new_empty(rows, dtype=sums_dtype(x)), x.new_empty(rows, dtype=sums_dtype(x))


def _layer_norm(x: _Tensor, weight: Optional[_Tensor], bias: Optional[_Tensor], eps: float) -> _Three:
    check_float(x, "input")
    results, matrix, context, sums = _layer_fake(x, weight, bias, eps), rows_of(x), handle_of(None), sums_dtype(x)
    rows, columns = matrix.shape
    if rows:
        vectors, options = [_vector(weight, sums), _vector(bias, sums)], capi.lpt_layernorm_options()
        options.epsilon = eps
        wrapped = [None if one is None else wrap_dense(context, one, 1, columns) for one in vectors]
        output, mean, inverse = results
        capi.lpt_layernorm_forward(context, wrap(context, matrix), *wrapped, options, wrap_dense(context, output, rows, columns),
                                   wrap_dense(context, mean, 1, rows), wrap_dense(context, inverse, 1, rows))
    return results


def _layer_backward_fake(gradient: _Tensor, x: _Tensor, weight: Optional[_Tensor], mean: _Tensor, inverse: _Tensor) -> _Three:
    return dense_of(x), x.new_zeros(x.shape[-1], dtype=sums_dtype(x)), x.new_zeros(x.shape[-1], dtype=sums_dtype(x))


def _layer_backward(gradient: _Tensor, x: _Tensor, weight: Optional[_Tensor], mean: _Tensor, inverse: _Tensor) -> _Three:
    results, matrix = _layer_backward_fake(gradient, x, weight, mean, inverse), rows_of(x)
    output_gradient, context, (rows, columns) = rows_of(gradient), handle_of(None), matrix.shape
    if rows:
        gain, (dx, dw, db) = _vector(weight, sums_dtype(x)), results
        wrapped = None if gain is None else wrap_dense(context, gain, 1, columns)
        capi.lpt_layernorm_backward(context, wrap(context, matrix), wrapped, wrap_dense(context, mean, 1, rows),
                                    wrap_dense(context, inverse, 1, rows), wrap(context, output_gradient), None,
                                    wrap_dense(context, dx, rows, columns),
                                    wrap_dense(context, dw, 1, columns), wrap_dense(context, db, 1, columns))
    return results


def _layer_setup(ctx: Any, inputs: Any, output: Any) -> None:
    x, weight, bias, _ = inputs
    ctx.save_for_backward(x, weight, output[1], output[2])
    ctx.mark_non_differentiable(output[1], output[2])
    ctx.has_vectors = weight is not None, bias is not None


def _layer_gradients(ctx: Any, gradient: Any, *_: Any) -> Any:
    dx, dw, db = torch.ops.lpt.layer_norm_backward.default(gradient, *ctx.saved_tensors)
    has_weight, has_bias = ctx.has_vectors
    return dx, dw if has_weight else None, db if has_bias else None, None


def _swiglu_fake(gate: _Tensor, up: _Tensor) -> _Tensor:
    if gate.shape != up.shape:
        raise RuntimeError(f"up has the shape {tuple(up.shape)}: expected {tuple(gate.shape)}, the shape of gate")
    return dense_of(gate)


def _swiglu(gate: _Tensor, up: _Tensor) -> _Tensor:
    check_float(gate, "gate")
    check_float(up, "up")
    output, left, right, context = _swiglu_fake(gate, up), rows_of(gate), rows_of(up), handle_of(None)
    if output.numel():
        capi.lpt_swiglu_forward(context, wrap(context, left), wrap(context, right), None,
                                wrap_dense(context, output, *left.shape), None)
    return output


def _swiglu_backward_fake(gradient: _Tensor, gate: _Tensor, up: _Tensor) -> _Two:
    return dense_of(gate), dense_of(up)


def _write_gradients(gradient: _Tensor, gate: _Tensor, up: _Tensor, results: Sequence[_Tensor]) -> None:
    """Compute the gradients of gate and up; results: dense tensors, or the halves of the last axis of one."""
    if gradient.numel():
        context, operands = handle_of(None), [rows_of(one) for one in (gate, up, gradient, *results)]
        left, right, slope, *outputs = [wrap(context, one) for one in operands]
        capi.lpt_swiglu_backward(context, left, right, slope, None, *outputs)


def _swiglu_backward(gradient: _Tensor, gate: _Tensor, up: _Tensor) -> _Two:
    results = _swiglu_backward_fake(gradient, gate, up)
    _write_gradients(gradient, gate, up, results)
    return results


def _halves_fake(gate_up: _Tensor) -> _Tensor:
    columns = gate_up.shape[-1]
    if columns % 2:
        raise RuntimeError(f"input has {columns} columns: expected an even number, those of gate and up")
    return gate_up.new_empty((*gate_up.shape[:-1], columns // 2))


def _halves(gate_up: _Tensor) -> _Tensor:
    _halves_fake(gate_up)
    return _swiglu(*gate_up.chunk(2, -1))


def _halves_backward_fake(gradient: _Tensor, gate_up: _Tensor) -> _Tensor:
    return dense_of(gate_up)


def _halves_backward(gradient: _Tensor, gate_up: _Tensor) -> _Tensor:
    result = dense_of(gate_up)
    _write_gradients(gradient, *gate_up.chunk(2, -1), result.chunk(2, -1))
    return result


def _halves_gradients(ctx: Any, gradient: Any) -> Any:
    return torch.ops.lpt.swiglu_halves_backward.default(gradient, *ctx.saved_tensors)


def _swiglu_setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _swiglu_gradients(ctx: Any, gradient: Any) -> Any:
    return torch.ops.lpt.swiglu_backward.default(gradient, *ctx.saved_tensors)


define("rms_norm(Tensor x, Tensor weight, float eps) -> (Tensor, Tensor)", _rms_norm, _rms_fake, _rms_gradients, _rms_setup)
define("rms_norm_sum(Tensor x, Tensor residual, Tensor weight, float eps) -> (Tensor, Tensor, Tensor)", _rms_norm_sum, _sum_fake,
       _sum_gradients, _sum_setup)
define("rms_norm_backward(Tensor gradient, Tensor x, Tensor weight, Tensor inverse, float eps, Tensor? residual_gradient) -> "
       "(Tensor, Tensor)", _rms_backward, _rms_backward_fake)
define("layer_norm(Tensor x, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)", _layer_norm, _layer_fake,
       _layer_gradients, _layer_setup)
define("layer_norm_backward(Tensor gradient, Tensor x, Tensor? weight, Tensor mean, Tensor inverse) -> (Tensor, Tensor, Tensor)",
       _layer_backward, _layer_backward_fake)
define("swiglu(Tensor gate, Tensor up) -> Tensor", _swiglu, _swiglu_fake, _swiglu_gradients, _swiglu_setup)
define("swiglu_backward(Tensor gradient, Tensor gate, Tensor up) -> (Tensor, Tensor)", _swiglu_backward, _swiglu_backward_fake)
define("swiglu_halves(Tensor gate_up) -> Tensor", _halves, _halves_fake, _halves_gradients, _swiglu_setup)
define("swiglu_halves_backward(Tensor gradient, Tensor gate_up) -> Tensor", _halves_backward, _halves_backward_fake)


def _check_columns(input: _Tensor, normalized_shape: Tuple[int, ...]) -> None:
    if len(normalized_shape) != 1 or input.shape[-1:] != torch.Size(normalized_shape):
        raise RuntimeError(f"input has the shape {tuple(input.shape)}, normalized_shape is {tuple(normalized_shape)}: expected "
                           "one axis in normalized_shape, the last of input")


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm over the last axis, with sums in f32, or in f64 for float64.

    With `residual` the result is the norm of residual + x, and residual + x, which are computed in one pass.
    """

    @overload
    def forward(self, x: _Tensor) -> _Tensor: ...

    @overload
    def forward(self, x: _Tensor, residual: _Tensor) -> _Two: ...

    def forward(self, x: _Tensor, residual: Optional[_Tensor] = None) -> Union[_Tensor, _Two]:
        _check_columns(x, self.normalized_shape)
        dtype = x.dtype if residual is None else torch.promote_types(x.dtype, residual.dtype)
        eps = torch.finfo(dtype).eps if self.eps is None else self.eps
        weight = x.new_ones(x.shape[-1]) if self.weight is None else self.weight
        if residual is None:
            return torch.ops.lpt.rms_norm.default(x, weight, eps)[0]
        output, total, _ = torch.ops.lpt.rms_norm_sum.default(x, residual, weight, eps)
        return output, total


class LayerNorm(torch.nn.LayerNorm):
    """torch.nn.LayerNorm over the last axis. The mean and the variance are computed in f64."""

    def forward(self, input: _Tensor) -> _Tensor:
        _check_columns(input, self.normalized_shape)
        return torch.ops.lpt.layer_norm.default(input, self.weight, self.bias, self.eps)[0]


class SwiGLU(torch.nn.Module):
    """silu(gate) · up. With one argument, gate and up are the halves of its last axis."""

    def forward(self, gate: _Tensor, up: Optional[_Tensor] = None) -> _Tensor:
        if up is None:
            return torch.ops.lpt.swiglu_halves.default(gate)
        return torch.ops.lpt.swiglu.default(gate, up)
