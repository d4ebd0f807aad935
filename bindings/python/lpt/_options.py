"""Options: conversion of keyword arguments to the option structs of lpt.h."""
from __future__ import annotations

from collections import namedtuple

from . import capi
from ._codec import Codec, CodecCall
from ._context import constant, members_of, names_of
from ._tensor import format_number, read

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Tuple, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

    class Random(NamedTuple):
        seed: int = 0
        stream: int = 0
        step: int = 0
        offset: int = 0
        row_stride: int = 0
else:
    Random = namedtuple("Random", ("seed", "stream", "step", "offset", "row_stride"), defaults=(0, 0, 0, 0, 0))
Random.__doc__ = ("Source of random bits (lpt_random). The bits of an element depend on these members and on the index of the "
                  "element, not on the order of calls.")


# Members with named values, and the prefix of their constants.
_NAMED = {
    "rounding": "LPT_ROUNDING_", "overflow": "LPT_OVERFLOW_", "scale_rule": "LPT_SCALE_RULE_",
    "first_moment_rounding": "LPT_ROUNDING_", "second_moment_rounding": "LPT_ROUNDING_",
    "parameter_rounding": "LPT_ROUNDING_", "activation": "LPT_ACTIVATION_", "arithmetic": "LPT_GEMM_ARITHMETIC_",
    "storage": "LPT_WEIGHTS_STORAGE_", "rule": "LPT_SPARSE_RULE_", "direction": "LPT_SPARSE_DIRECTION_",
    "solver": "LPT_SPARSE_SOLVER_", "reduction": "LPT_REDUCTION_", "algorithm": "LPT_REDUCE_ALGORITHM_",
    "smoothing": "LPT_SWIGLU_SMOOTHING_", "hadamard_signs": "LPT_HADAMARD_SIGNS_", "hadamard_size": "LPT_HADAMARD_SIZE_",
    "hadamard_axis": "LPT_HADAMARD_AXIS_",
    "source": "LPT_LINEAR_SOURCE_", "output_scale": "LPT_LINEAR_OUTPUT_SCALE_", "method": "LPT_OPTIMIZER_METHOD_",
    "second_underflow": "LPT_OPTIMIZER_UNDERFLOW_", "first_scaling": "LPT_SCALER_KIND_", "second_scaling": "LPT_SCALER_KIND_",
    "kind": "LPT_SCALER_KIND_", "history_rule": "LPT_SCALER_HISTORY_RULE_", "zero_rule": "LPT_SCALER_ZERO_RULE_",
    "special": "LPT_ELEMENT_SPECIAL_", "private_scale": "LPT_PARTIAL_SCALE_", "parallel": "LPT_LINEAR_PARALLEL_",
    "order": "LPT_GRADIENT_BUCKETS_ORDER_", "layout": "LPT_ROTARY_LAYOUT_", "block_rows": "LPT_BLOCK_EXTENT_",
    "block_columns": "LPT_BLOCK_EXTENT_", "key_scale_rule": "LPT_SCALE_RULE_", "value_scale_rule": "LPT_SCALE_RULE_",
}
# Members with other values than the member of the same name in _NAMED.
_OTHER_NAMED = {(capi.lpt_sequence_attention_options, "layout"): "LPT_SEQUENCE_LAYOUT_"}
# Members that are no keywords.
_HIDDEN = frozenset(("names", "input_order", "output_order"))
# Flags that are keyword arguments.
_FLAGS = {(capi.lpt_gemm_options, "cast_a_to_bf16"): capi.LPT_GEMM_CAST_A_TO_BF16,
          (capi.lpt_gemm_options, "fast_accumulate"): capi.LPT_GEMM_FAST_ACCUMULATE,
          (capi.lpt_linear_gemm_options, "fast_accumulate"): capi.LPT_GEMM_FAST_ACCUMULATE}
_FORMATS = frozenset(("wire", "first_moment", "second_moment", "compensation", "forward_wire", "backward_wire", "element",
                      "block_scale", "tensor_scale", "zero_point", "input_format", "key_format", "value_format"))
# Members that refer to a struct of options, and what a dict for it has.
_STRUCTS = {"quantize": (capi.lpt_quantize_options, "options of quantize()"), "exaq": (capi.lpt_exaq_options, "bits and clip"),
            "emulation": (capi.lpt_gemm_emulation, "arithmetic and bits"),
            "cast": (capi.lpt_quantize_options, "options of quantize()"), "outer": (capi.lpt_reduce_options, "options of all_reduce()")}
# Members with another struct than the member of the same name in _STRUCTS.
_OTHER_STRUCTS = {(capi.lpt_comm_options, "emulation"):
                  (capi.lpt_comm_emulation, "link_latency_seconds, link_bytes_per_second and damaged_message")}
_TENSORS = frozenset(("bias", "residual", "signs", "random_words", "scale_list", "importance", "input_smoothing",
                      "smoothing", "hadamard_signs", "positions", "mask", "output", "log_sum_exp", "residual_gradient", "cross_gram",
                      "inputs", "reference"))


def random_of(given: Any) -> Any:
    """Return the lpt_random of a Random, or of its arguments in a tuple or dict."""
    made = capi.lpt_random()
    try:
        if type(given) is not Random:
            given = Random(**given) if isinstance(given, dict) else Random(*given)
        for name, value in zip(Random._fields, given):
            setattr(made, name, value)
    except TypeError as error:
        raise TypeError(f"random is {given!r}: expected an lpt.Random, or its arguments in a tuple or dict ({error})") from None
    return made


def codec_struct(codec: Codec, keep: List[Any]) -> Any:
    """Return the lpt_comm_codec of a codec for one collective, and append its callbacks to keep."""
    made = CodecCall(codec)
    keep.append(made)
    return made.struct


def _bool_number(value: Any) -> int:
    if isinstance(value, str) or value not in (0, 1):
        raise TypeError("expected True or False")
    return int(bool(value))


def _prefix(owner: Any, name: str) -> str:
    return _OTHER_NAMED.get((owner, name), _NAMED[name])


def _value(owner: Any, name: str, member: str, value: Any, keep: List[Any]) -> Any:
    if name in _FORMATS:
        return format_number(value)
    if isinstance(value, str) and name in _NAMED:
        return constant(_prefix(owner, name), value, name)
    if member != name and not isinstance(value, int):
        return _bool_number(value)  # such as numpy.bool
    if name == "random":
        value = random_of(value)
    elif name in _STRUCTS:
        kind, expected = _OTHER_STRUCTS.get((owner, name), _STRUCTS[name])
        if not isinstance(value, dict):
            raise TypeError(f"expected a dict of {expected}")
        value = options(kind, value, keep)
    elif name in _TENSORS and not isinstance(value, int):
        value = read(value)
    elif isinstance(value, Codec):
        value = codec_struct(value, keep)
    else:
        value = getattr(value, "_handle", value)
    keep.append(value)
    return value


def _member(kind: Any, name: str) -> str:
    """Return the member of a struct for a keyword. Boolean options have a member is_<name>."""
    known = members_of(kind)
    if "is_" + name in known:
        return "is_" + name
    if name in known and not name.startswith("is_"):
        return name
    if name in known:
        raise TypeError(f"{name} is not an option: expected {name[3:]}")
    flags = [flag for owner, flag in _FLAGS if owner is kind]
    names = [one[3:] if one.startswith("is_") else one for one in known if one not in _HIDDEN]
    raise TypeError(f"{name} is not an option: expected {', '.join(sorted(names + flags))}")


def options(kind: Any, given: Mapping[str, Any], keep: List[Any]) -> Any:
    """Return a struct with members from keyword arguments, or None if there are none.

    Objects that the struct refers to are appended to keep.
    """
    if not given:
        return None
    made, flags = kind(), 0
    for name, value in given.items():
        flag = _FLAGS.get((kind, name), 0)
        member = name if flag else _member(kind, name)
        if value is None:
            continue
        try:
            if flag:
                flags |= flag * _bool_number(value)
            else:
                setattr(made, member, _value(kind, name, member, value, keep))
        except (TypeError, BufferError) as error:
            text = str(error)
            raise type(error)(text if text.startswith(name + " is ") else f"{name} is {_shown(value)}: {text}") from None
    if flags:
        made.flags |= flags
    keep.append(made)
    return made


_lines: Dict[Any, List[Tuple[str, str]]] = {}  # of the docstrings, for each kind of struct


def _lines_of(kind: Any) -> List[Tuple[str, str]]:
    """Return the keyword and the description of each member of a struct; SWIG has the comments of the header."""
    if kind not in _lines:
        defaults = kind()
        lines: List[Tuple[str, str]] = []
        for name in members_of(kind):
            comment = " ".join(getattr(kind, name).__doc__.split())
            if name in _NAMED and isinstance(getattr(defaults, name), int):
                comment += f" One of {', '.join(names_of(_prefix(kind, name)))}."
            if name not in _HIDDEN:
                lines.append((name[3:] if name.startswith("is_") else name, comment))
        _lines[kind] = sorted(lines)
    return _lines[kind]


def takes(kind: Any) -> Callable[[_Function], _Function]:
    """Return a decorator that adds the members of a struct, which are keywords of a function, to its docstring."""
    def described(function: _Function) -> _Function:
        if function.__doc__ is not None:  # python -OO has no docstrings
            code = function.__code__
            arguments = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
            indent = "\n        " if arguments[:1] in (("self",), ("cls",)) else "\n    "
            lines = [f"{name}: {comment}" for name, comment in _lines_of(kind) if name not in arguments]
            text = f"{function.__doc__.rstrip()}\n{indent}Options, members of {kind.__name__} in lpt.h; None for NULL:\n"
            function.__doc__ = indent.join([text, *lines]) + indent
        return function
    return described


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
