"""Linear layers with packed weights in a format of LPT, for inference."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Tuple

import torch

from .. import capi
from .._context import handle_of
from .._errors import Unsupported
from .._ops import dequantize, gemm, quantize, weights_fit, weights_load, weights_pack, weights_save, weights_unpack
from .._tensor import Tensor, format_number
from ._convert import Filter, Model, linears
from ._linear import Linear, detach
from ._memory import Numbered, check_float, define, object_of, rows_of, wrap, wrap_dense
from ._sparse import rule_of

_STATE = "packed_weight"


class Weights(Numbered):
    """Packed weights."""

    def __init__(self, packed: Tensor) -> None:
        self.packed = packed


def _fit(weight: torch.Tensor, gram: torch.Tensor, format: Any) -> Tensor:
    """Return the weight of GPTQ."""
    return weights_fit(weight, gram, format, order="diagonal")[0]


def _unpacked(packed: Tensor) -> Any:
    """Return packed weights as a matrix, decoded to f32 if the library cannot unpack them: if blocks of scales span rows."""
    try:
        return weights_unpack(packed)
    except Unsupported:
        transposed = torch.empty(packed.shape[1], packed.shape[0])
        gemm(torch.eye(packed.shape[1]), packed, b_transposed=True, out=transposed)
        return transposed.t().contiguous()


def _forward(x: torch.Tensor, weights: torch.Tensor, bias: Optional[torch.Tensor], outputs: int, inputs: int, activation: str,
             dtype: torch.dtype) -> torch.Tensor:
    result = _forward_fake(x, weights, bias, outputs, inputs, activation, dtype)
    check_float(x, "input")
    matrix, context = rows_of(x), handle_of(None)
    rows = matrix.shape[0]
    if rows:
        operand, vector = wrap(context, matrix), None
        if activation:
            number, cast = format_number(activation), capi.lpt_quantize_options()
            if number == capi.LPT_FORMAT_NVFP4:
                cast.scale_rule = capi.LPT_SCALE_RULE_FOUR_OVER_SIX
            target = capi.tensor_like(context, operand, number, 0)
            capi.lpt_quantize(context, operand, cast, target, None)
            operand = target
        options = capi.lpt_gemm_options()
        options.is_b_transposed = 1
        if bias is not None:
            sums = torch.float64 if torch.float64 in (x.dtype, dtype) else torch.float32
            vector = bias.to(sums).contiguous()
            wrapped = wrap_dense(context, vector, 1, outputs)  # the options borrow it
            options.bias = wrapped
        capi.lpt_gemm(context, operand, object_of(Weights, weights).packed, options, wrap_dense(context, result, rows, outputs))
    return result


def _forward_fake(x: torch.Tensor, weights: torch.Tensor, bias: Optional[torch.Tensor], outputs: int, inputs: int,
                  activation: str, dtype: torch.dtype) -> torch.Tensor:
    if x.dim() == 0 or x.shape[-1] != inputs:
        raise RuntimeError(f"input has the shape {tuple(x.shape)}: expected {inputs} columns, in_features of the layer")
    return x.new_empty((*x.shape[:-1], outputs), dtype=dtype)


def _backward(gradient: torch.Tensor, weights: torch.Tensor, inputs: int, dtype: torch.dtype) -> torch.Tensor:
    result = _backward_fake(gradient, weights, inputs, dtype)
    if result.numel():
        matrix = rows_of(gradient)
        gemm(matrix, _unpacked(object_of(Weights, weights).packed), out=result.view(-1, inputs))
    return result


def _backward_fake(gradient: torch.Tensor, weights: torch.Tensor, inputs: int, dtype: torch.dtype) -> torch.Tensor:
    return gradient.new_empty((*gradient.shape[:-1], inputs), dtype=dtype)


def _setup_context(ctx: Any, inputs: Any, output: Any) -> None:
    x, weights, _, _, ctx.columns, _, _ = inputs
    ctx.save_for_backward(weights)
    ctx.dtype = x.dtype


def _gradients(ctx: Any, gradient: Any) -> Any:
    weights, = ctx.saved_tensors
    dx = db = None
    if ctx.needs_input_grad[0]:
        dx = torch.ops.lpt.quantized_linear_backward.default(gradient, weights, ctx.columns, ctx.dtype)
    if ctx.needs_input_grad[2]:
        db = gradient.reshape(-1, gradient.shape[-1]).sum(0)
    return dx, None, db, None, None, None, None


define("quantized_linear(Tensor x, Tensor weights, Tensor? bias, SymInt outputs, SymInt inputs, str activation, "
       "ScalarType dtype) -> Tensor", _forward, _forward_fake, _gradients, _setup_context)
define("quantized_linear_backward(Tensor gradient, Tensor weights, SymInt inputs, ScalarType dtype) -> Tensor", _backward,
       _backward_fake)


class QuantizedLinear(torch.nn.Module):
    """torch.nn.Linear with a packed weight in a format of LPT, for inference. quantize_() creates it.

    Its output has the type of the input, or that of torch.autocast. A backward pass computes the gradients of the input and of
    the bias, for adapters; the weight has none.
    """

    in_features: int
    out_features: int
    format: str
    activation: Optional[str]

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else input.dtype
        return torch.ops.lpt.quantized_linear.default(input, self._handle, self.bias, self.out_features, self.in_features,
                                                      self.activation or "", dtype)

    def dequantize(self) -> torch.Tensor:
        """Return the weight as a tensor of float32."""
        result = torch.empty(self.out_features, self.in_features)
        dequantize(_unpacked(self._weights.packed), out=result)
        return result

    @property
    def nbytes(self) -> int:
        """Number of bytes of the packed weight, with scales."""
        return self._weights.packed.nbytes

    def extra_repr(self) -> str:
        bits = 8 * self.nbytes / (self.in_features * self.out_features)
        activation = "" if self.activation is None else f", activation={self.activation}"
        return (f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, "
                f"format={self.format}{activation}, {bits:.3g} bits per weight")

    def _set(self, packed: Tensor) -> None:
        self._weights = Weights(packed)
        self._handle = self._weights.handle()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + _STATE] = torch.frombuffer(bytearray(weights_save(self._weights.packed)), dtype=torch.uint8)

    def _load_from_state_dict(self, state_dict: Dict[str, Any], prefix: str, local_metadata: Any, strict: bool,
                              missing_keys: Any, unexpected_keys: Any, error_msgs: Any) -> None:
        state = state_dict.pop(prefix + _STATE, None)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        if state is None:
            missing_keys.append(prefix + _STATE)
            return
        packed, shape = weights_load(state.cpu().numpy()), (self.out_features, self.in_features)
        if packed.format != self.format or packed.shape != shape:
            error_msgs.append(f"{prefix}{_STATE} is {packed.format} of {packed.shape}: expected {self.format} of {shape}")
            return
        self._set(packed)

    def __getstate__(self) -> Dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_weights", "_handle")}
        return dict(state, **{_STATE: weights_save(self._weights.packed)})

    def __setstate__(self, state: Dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if name != _STATE})
        self._set(weights_load(state[_STATE]))


def call(model: torch.nn.Module, inputs: Any) -> Any:
    """Call a model with a batch: a tensor, a tuple or list of arguments, or a dict of keyword arguments."""
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs)


@torch.no_grad()
def _gram_matrices(model: torch.nn.Module, selected: List[Tuple[str, torch.nn.Linear]], data: Iterable[Any]
                   ) -> Dict[torch.nn.Module, torch.Tensor]:
    """Return the Gram matrix of the inputs of each layer."""
    grams: Dict[torch.nn.Module, torch.Tensor] = {}

    def add(module: torch.nn.Module, given: Any, named: Dict[str, Any]) -> None:
        rows = rows_of((given[0] if given else named["input"]).float())
        if module not in grams:
            grams[module] = torch.zeros(rows.shape[1], rows.shape[1])
        gemm(rows, rows, a_transposed=True, beta=1.0, out=grams[module])

    hooks = [module.register_forward_pre_hook(add, with_kwargs=True) for _, module in selected]
    try:
        for batch in data:
            call(model, batch)
    finally:
        for hook in hooks:
            hook.remove()
    for name, module in selected:
        if module not in grams:
            raise ValueError(f"data gives {name or 'model'} no input: expected a batch in which it is called")
    return grams


def quantize_(model: Model, format: str, *, filter: Optional[Filter] = None, skip: Iterable[str] = (),
              activation: Optional[str] = None, storage: str = "all", data: Optional[Iterable[Any]] = None) -> Model:
    """Replace the weights of linear layers by packed weights in a format of LPT, in place, and return the model.

    It selects modules of the classes torch.nn.Linear and lpt.torch.Linear as convert_() does, and makes them a QuantizedLinear
    that keeps its identity, bias and hooks. The model then has no parameter for the weight.

    format: for example "int8_row", "e4m3fn_row", "int4_1x64", "nf4_1x64", "mxfp4" or "nvfp4"; lpt.formats() lists all.
    activation: the format to which a pass casts the input before the GEMM, with the rule "four_over_six" for nvfp4; None: it is
    not cast.
    storage: "all", or "bitmask" or "block_sparse" for weights with many zeros, as for lpt.weights_pack().
    data: batches of inputs of the model: tensors, tuples of arguments, or dicts of keyword arguments. Weights are then fitted to
    the inputs of their layers (GPTQ, lpt.weights_fit()), which takes one matrix of in_features² for each layer; None: they are
    rounded to nearest.
    """
    format_number(activation if activation is not None else format)  # an unknown name changes no module
    selected = list(linears(model, filter, skip, (torch.nn.Linear, Linear)))
    for name, module in selected:
        if rule_of(module) is not None:
            raise ValueError(f"{name or 'model'} has sparse weights: expected prune_(model) before")
    grams = None if data is None else _gram_matrices(model, selected, data)
    for _, module in selected:
        weight = module.weight.detach()
        codes = quantize(weight, format) if grams is None else _fit(weight, grams[module], format)
        packed = weights_pack(codes, storage=storage)
        if type(module) is Linear:
            detach(module)
        module.__class__ = QuantizedLinear
        module.format, module.activation, module._dtype = packed.format, activation, module.weight.dtype
        del module._parameters["weight"]
        module._set(packed)
    return model


def dequantize_(model: Model) -> Model:
    """Change each QuantizedLinear of a model to a torch.nn.Linear with the decoded weight, in place, and return the model."""
    for module in list(model.modules()):
        if type(module) is QuantizedLinear:
            weight = module.dequantize().to(module._dtype)
            for name in ("_weights", "_handle", "format", "activation", "_dtype"):
                del module.__dict__[name]
            bias = module._parameters.pop("bias")
            module.__class__ = torch.nn.Linear
            module.weight, module.bias = torch.nn.Parameter(weight), bias
    return model
