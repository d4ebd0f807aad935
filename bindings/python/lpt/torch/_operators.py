"""The operators lpt::linear and lpt::linear_backward, and the layers of LPT to which their argument `layer` refers."""
from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional, Tuple

import torch

from .. import capi
from .._comm import Comm, PartialPlan
from .._context import handle_of
from .._train import Linear, Recipe
from ._memory import Numbered, check_float, define, object_of, rows_of, wrap, wrap_dense

_Three = Tuple[torch.Tensor, torch.Tensor, torch.Tensor]
# The size of saved data grows with the rows of an input in steps of blocks and of rotations, which have at most this many rows.
_PERIOD = 128


class Layer(Numbered):
    """An lpt.Linear and the casts of one weight."""

    def __init__(self, in_features: int, out_features: int, recipe: Recipe, has_history: bool) -> None:
        self.linear = Linear(in_features, out_features, recipe)
        self.lock = threading.Lock()  # a call of the library writes the scalers: one thread at a time
        self.has_history = has_history
        self.shared: Optional[Tuple[int, Comm, Optional[PartialPlan]]] = None  # parallel, comm and plan of a slice of a layer
        self.cast_count = 0
        self._cast: Optional[torch.Tensor] = None  # the weight at its last cast; its memory cannot be used by another tensor
        self._address = self._version = -1
        self._sizes: Dict[int, int] = {}  # of saved data, by the number of rows
        self.is_changed = False  # the weight changed without another version or address

    def saved_bytes(self) -> Tuple[int, int]:
        """Return a and b, so that the data that forward saves for r rows takes at most a · r + b bytes.

        With a weight of float64 it takes at most twice as many.
        """
        context, handle = handle_of(None), self.linear._handle
        first, last = (capi.lpt_linear_saved_size(context, handle, 2 ** 14 + rows) for rows in (0, _PERIOD))
        of_row = -(-(last - first) // _PERIOD)
        return of_row, max(capi.lpt_linear_saved_size(context, handle, rows) - of_row * rows for rows in range(_PERIOD + 1))

    def saved_of(self, saved: torch.Tensor, rows: int) -> capi.lpt_tensor:
        """Return the part of `saved` that the library uses for an input of some rows."""
        size = self._sizes.get(rows)
        if size is None:
            self._sizes.clear()
            size = self._sizes[rows] = capi.lpt_linear_saved_size(handle_of(None), self.linear._handle, rows)
        if size > saved.shape[0]:
            raise RuntimeError(f"saved has {saved.shape[0]} bytes: expected at least {size}")
        return wrap_dense(handle_of(None), saved, 1, size)

    def options(self, seed: int, step: int = 0) -> Optional[capi.lpt_linear_options]:
        """Return the options of a call; None: the defaults."""
        if not seed and not step and self.shared is None:
            return None
        options, random = capi.lpt_linear_options(), capi.lpt_random()
        random.seed, random.step = seed, step
        options.random = random
        if self.shared is not None:
            options.parallel, comm, plan = self.shared
            options.comm, options.plan = comm._handle, None if plan is None else plan._handle
        return options

    def update(self) -> None:
        """Complete an optimizer step for the scalers, and cast the weight again in the next pass."""
        self.linear.update()
        self._cast = None

    def forget_cast(self) -> None:
        """Cast the weight again in the next pass."""
        self._cast = None

    def prepare(self, weight: torch.Tensor, seed: int, is_forward: bool) -> None:
        """Cast the weight if it is another one, or has another version, than at the last cast.

        In forward, a changed weight completes the optimizer step that changed it.
        """
        version = -1 if weight.is_inference() else weight._version
        if self._cast is not None:
            if (version == self._version != -1 and weight.data_ptr() == self._address and weight.dtype == self._cast.dtype
                    and not self.is_changed):
                return
            if (weight.dtype == torch.float64) != (self._cast.dtype == torch.float64):
                self._sizes.clear()
                state, self.linear = self.linear.state(), Linear(weight.shape[1], weight.shape[0], self.linear.recipe)
                self.linear.load_state(state)
            if is_forward:
                self.linear.update()
        # A sparse mask is valid for some steps.
        options = self.options(seed, self.cast_count if self.has_history else 0) or capi.lpt_linear_options()
        matrix = rows_of(weight.detach())
        self._cast = None
        capi.lpt_linear_prepare(handle_of(None), self.linear._handle, wrap(handle_of(None), matrix), options)
        self.cast_count += 1
        self._cast, self._address, self._version, self.is_changed = weight.detach(), weight.data_ptr(), version, False


def _check_shapes(x: torch.Tensor, weight: torch.Tensor) -> None:
    if x.dim() == 0 or x.shape[-1] != weight.shape[1]:
        raise RuntimeError(f"input has the shape {tuple(x.shape)}: expected {weight.shape[1]} columns, in_features of the layer")


def _forward(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], seed: Optional[torch.Tensor],
             layer: torch.Tensor, row_bytes: int, fixed_bytes: int, dtype: torch.dtype) -> Tuple[torch.Tensor, torch.Tensor]:
    _check_shapes(x, weight)
    check_float(x, "input")
    owner, context, number = object_of(Layer, layer), handle_of(None), 0 if seed is None else int(seed.item())
    options, matrix, columns = owner.options(number), rows_of(x), weight.shape[0]
    rows = matrix.shape[0]
    output = x.new_empty((*x.shape[:-1], columns), dtype=dtype)
    saved = x.new_empty(rows * row_bytes + fixed_bytes, dtype=torch.uint8)
    if rows == 0:
        return output, saved
    if bias is not None:
        sums = torch.float64 if torch.float64 in (x.dtype, weight.dtype) else torch.float32
        vector = bias if bias.dtype == sums and bias.is_contiguous() else bias.to(sums).contiguous()
        options = options or capi.lpt_linear_options()
        options.bias = wrapped = wrap_dense(context, vector, 1, columns)  # the options borrow it
    with owner.lock:
        owner.prepare(weight, number, True)
        capi.lpt_linear_forward(context, owner.linear._handle, wrap(context, matrix), options,
                                owner.saved_of(saved, rows) if fixed_bytes else None, wrap_dense(context, output, rows, columns))
    return output, saved


def _forward_fake(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], seed: Optional[torch.Tensor],
                  layer: torch.Tensor, row_bytes: int, fixed_bytes: int, dtype: torch.dtype) -> Tuple[torch.Tensor, torch.Tensor]:
    _check_shapes(x, weight)
    output = x.new_empty((*x.shape[:-1], weight.shape[0]), dtype=dtype)
    return output, x.new_empty(x.numel() // x.shape[-1] * row_bytes + fixed_bytes, dtype=torch.uint8)


def _backward(gradient: torch.Tensor, weight: torch.Tensor, saved: torch.Tensor, seed: Optional[torch.Tensor],
              layer: torch.Tensor, dtype: torch.dtype, needs: List[bool]) -> _Three:
    owner, context, number = object_of(Layer, layer), handle_of(None), 0 if seed is None else int(seed.item())
    options = owner.options(number)
    outputs = _backward_fake(gradient, weight, saved, seed, layer, dtype, needs)
    matrix = rows_of(gradient)
    rows, (outs, ins) = matrix.shape[0], weight.shape
    if rows == 0:
        for output in outputs:
            output.zero_()
        return outputs
    dx, dw, db = outputs
    with owner.lock:
        owner.prepare(weight, number, False)
        capi.lpt_linear_backward(context, owner.linear._handle, owner.saved_of(saved, rows), wrap(context, matrix), options,
                                 wrap_dense(context, dx, rows, ins) if needs[0] else None,
                                 wrap_dense(context, dw, outs, ins) if needs[1] else None,
                                 wrap_dense(context, db, 1, outs) if needs[2] else None)
    return outputs


def _backward_fake(gradient: torch.Tensor, weight: torch.Tensor, saved: torch.Tensor, seed: Optional[torch.Tensor],
                   layer: torch.Tensor, dtype: torch.dtype, needs: List[bool]) -> _Three:
    sums = torch.float64 if torch.float64 in (dtype, gradient.dtype, weight.dtype) else torch.float32
    outs, ins = weight.shape
    return (gradient.new_empty((*gradient.shape[:-1], ins) if needs[0] else 0, dtype=dtype),
            gradient.new_empty((outs, ins) if needs[1] else 0, dtype=sums),
            gradient.new_empty(outs if needs[2] else 0, dtype=sums))


def _setup_context(ctx: Any, inputs: Any, output: Any) -> None:
    x, weight, _, seed, layer, _, fixed_bytes, _ = inputs
    ctx.is_saved = fixed_bytes != 0
    if ctx.is_saved:
        ctx.save_for_backward(weight, output[1], seed, layer)
    ctx.dtype = x.dtype


def _gradients(ctx: Any, gradient: Any, _: Any) -> Any:
    if not ctx.is_saved:
        raise RuntimeError("lpt::linear saved no data: expected fixed_bytes other than 0 where a gradient is required")
    weight, saved, seed, layer = ctx.saved_tensors
    needs = ctx.needs_input_grad[:3]
    results = torch.ops.lpt.linear_backward.default(gradient, weight, saved, seed, layer, ctx.dtype, needs)
    dx, dw, db = [one if needed else None for one, needed in zip(results, needs)]  # torch casts them
    return dx, dw, db, None, None, None, None, None


define("linear(Tensor x, Tensor weight, Tensor? bias, Tensor? seed, Tensor layer, SymInt row_bytes, SymInt fixed_bytes, "
       "ScalarType dtype) -> (Tensor, Tensor)", _forward, _forward_fake, _gradients, _setup_context)
define("linear_backward(Tensor gradient, Tensor weight, Tensor saved, Tensor? seed, Tensor layer, ScalarType dtype, "
       "bool[] needs) -> (Tensor, Tensor, Tensor)", _backward, _backward_fake)
