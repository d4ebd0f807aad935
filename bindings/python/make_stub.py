#!/usr/bin/env python3
"""Writes modules for type checkers and editors: make_stub.py FLATTENED_LPT_H CAPI_PYI KEYWORDS_PY

capi.pyi declares the low-level module. Constants and members have types. Functions have names only: SWIG typemaps determine
their arguments and results, and the package lpt has the typed functions.

_keywords.py has a TypedDict for each options struct: the keyword arguments of a function, with their types and comments.
"""
import pathlib
import re
import sys
import textwrap

HEAD = '''# Written by make_stub.py from lpt.h.
from typing import Any
'''
# Functions that the interface files of the package define.
HELPERS = ("codec_of", "context_of", "set_error_classes", "set_tensor_class", "tensor_at", "tensor_capsule", "tensor_empty",
       "tensor_facts", "tensor_format", "tensor_from_object", "tensor_from_producer", "tensor_is_read_only", "tensor_like",
       "tensor_reinterpret", "weights_pack")
# Structs whose members are keyword arguments, and members that are arguments with other names or types.
KEYWORDS = {
    "lpt_attention_options": ("log_sum_exp", "output"), "lpt_autopilot_options": ("step_count",), "lpt_comm_emulation": (),
    "lpt_comm_options": ("bootstrap",), "lpt_convert_options": (),
    "lpt_cost_cast_rates": (), "lpt_cross_entropy_options": ("reduction",), "lpt_embedding_options": (),
    "lpt_exaq_options": (), "lpt_format_description": (), "lpt_gemm_emulation": (), "lpt_gemm_operands": (),
    "lpt_gemm_options": (), "lpt_gradient_buckets_options": (), "lpt_hadamard_options": ("size",),
    "lpt_kv_cache_options": ("key_heads", "capacity", "key_width"),
    "lpt_linear_gemm_options": (), "lpt_linear_options": (), "lpt_loss_scaler_options": ("initial_scale",),
    "lpt_lossy_link_options": (), "lpt_optimizer_options": ("method",),
    "lpt_optimizer_parameter": ("elements",), "lpt_optimizer_step_options": (),
    "lpt_partial_plan_options": ("hidden_columns", "shared_columns", "rank_count"), "lpt_power_options": ("arithmetic",),
    "lpt_quantize_options": (),
    "lpt_reduce_options": (), "lpt_rotary_options": ("positions",), "lpt_rotary_scaling": ("kind",),
    "lpt_scaler_options": (), "lpt_schedule_options": (), "lpt_sequence_attention_options": ("log_sum_exp", "output"), "lpt_sparse_fit_options": (), "lpt_sparse_options": (),
    "lpt_weights_fit_options": ("method", "order"), "lpt_weights_options": ("input_order", "output_order"),
}
# Flags that are keyword arguments, by the struct with the member flags.
FLAGS = {"lpt_gemm_options": ("LPT_GEMM_CAST_A_TO_BF16", "LPT_GEMM_FAST_ACCUMULATE"),
         "lpt_linear_gemm_options": ("LPT_GEMM_FAST_ACCUMULATE",)}
HEAD_OF_KEYWORDS = '''"""Keyword arguments: members of structs of lpt.h, for type checkers. Written by make_stub.py."""
from __future__ import annotations

from typing import Any, Dict, Literal, Optional, Tuple, TypedDict, Union

from ._codec import Codec
from ._comm import Comm, PartialPlan
from ._loss_scaler import LossScaler
from ._ops import Statistics
from ._options import Random
from ._tensor import Format
from ._train import Scaler
'''
CLASSES = {"lpt_random": "Union[Random, Tuple[int, ...], Dict[str, int]]", "lpt_format": "Format", "lpt_scaler": "Scaler",
           "lpt_loss_scaler": "LossScaler",
           "lpt_statistics": "Statistics", "lpt_comm": "Comm", "lpt_partial_plan": "PartialPlan", "lpt_comm_codec": "Codec",
           "lpt_tensor": "Any"}  # every object that can be read as a tensor
METHODS = {"lpt_tensor": "    def __buffer__(self, flags: int, /) -> memoryview: ..."}  # PEP 688


def type_of(text, is_array):
    """Return the Python type of a member of a C struct."""
    if re.search(r"\bchar\b", text):
        return "str"
    if "*" in text or is_array:
        return "Any"
    if text.split()[-1] in ("float", "double"):
        return "float"
    return "int" if text.endswith("_t") else "Any"


def members_of(body, numbers):
    """Yield (name, type) of each member of a struct."""
    for line in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";"):
        pointer = re.search(r"\(\*(\w+)\)", line)
        plain = re.fullmatch(r"(.*?)(\w+)(\[\w+\])?", " ".join(line.split()))
        if pointer:
            yield pointer.group(1), "Any"
        elif plain and plain.group(1):
            kind = plain.group(1).strip()
            yield plain.group(2), "int" if kind in numbers else type_of(kind, plain.group(3))


def stub(header):
    numbers = set(re.findall(r"^typedef u?int\d+_t (lpt_\w+);", header, re.M))
    structs = re.findall(r"^(?:typedef )?struct (lpt_\w+) \{(.*?)^\}", header, re.M | re.S)
    constants = re.findall(r"^\s+(LPT_\w+) =", header, re.M)
    constants += re.findall(r"^#define (LPT_\w+) (?:UINT64_C\(|\(?-?\d)", header, re.M)
    lines = [HEAD] + [f"{name}: int" for name in constants]
    declared = re.findall(r"^typedef struct (lpt_\w+) \1;", header, re.M)
    for name in [name for name in declared if name not in dict(structs)]:
        lines += ["", f"class {name}:", METHODS.get(name, "    ...")]
    for name, body in structs:
        lines += ["", f"class {name}:"] + [f"    {member}: {kind}" for member, kind in members_of(body, numbers)]
    functions = re.findall(r"^LPT_API [^;]*?\b(lpt_\w+)\(", header, re.M)
    lines += [""] + [f"def {name}(*arguments: Any) -> Any: ..." for name in sorted(functions) + list(HELPERS)]
    return "\n".join(lines) + "\n"


def class_name(struct):
    return "".join(word.capitalize() for word in struct.split("_")[1:])


def commented(body):
    """Yield (C type, name, comment) of each member of a struct that a caller sets by value or by one pointer."""
    pattern = r"(?:/\*\*(?!<)(.*?)\*/\s*)?([^;/]+?)(\w+);[ \t]*(?:/\*\*<(.*?)\*/)?"
    for before, kind, name, after in re.findall(pattern, body, re.S):
        kind = kind.replace("const ", "").strip()
        if name not in ("struct_size", "reserved") and not kind.startswith("char"):
            yield kind, name, before or after


def documented(comment):
    """Return the docstring of a member."""
    text = " ".join(re.sub(r"^\s*\* ?", "", comment, flags=re.M).split()).replace("\\", "\\\\")
    return textwrap.indent("\n".join(textwrap.wrap(f'"""{text}"""', 120)), "    ")


def keyword_type(kind, name, kinds):
    """Return the Python type of a keyword; kinds: the values of each enumeration."""
    base = kind.rstrip("* ")
    if name.startswith("is_"):
        return "bool"
    known = CLASSES.get(base) or (class_name(base) if base in KEYWORDS or base in kinds else None)
    if known is None:
        return "Any" if "*" in kind else "int" if base == "lpt_flags" else type_of(kind, False)
    return f"Optional[{known}]" if known != "Any" and ("*" in kind or base == "lpt_format") else known


def keywords(header):
    """Return the text of _keywords.py."""
    kinds = {}
    for kind in re.findall(r"^typedef int32_t (lpt_\w+);", header, re.M):
        found = re.findall(rf"^\s+{kind.upper()}_(\w+) =", header, re.M)
        kinds[kind] = [f'"{name.lower()}"' for name in found]
    bodies = dict(re.findall(r"^(?:typedef )?struct (lpt_\w+) \{(.*?)^\}", header, re.M | re.S))
    members = {struct: [one for one in commented(bodies[struct]) if one[1] not in hidden]
               for struct, hidden in KEYWORDS.items()}
    lines = [HEAD_OF_KEYWORDS]
    for kind in sorted({kind for them in members.values() for kind, *_ in them if kinds.get(kind)}):
        text = f"{class_name(kind)} = Union[Literal[{', '.join(kinds[kind])}], int]"
        lines += textwrap.wrap(text, 120, subsequent_indent="    ")
    for struct, them in members.items():
        lines += ["", "", f"class {class_name(struct)}(TypedDict, total=False):", f'    """Keywords of {struct}."""']
        for kind, name, comment in them:
            keyword = name[3:] if name.startswith("is_") else name
            lines += [f"    {keyword}: {keyword_type(kind, name, kinds)}", documented(comment)]
        for flag in FLAGS.get(struct, ()):
            comment = re.search(rf"/\*\*((?:(?!\*/).)*?)\*/\s*{flag} =", header, re.S).group(1)
            lines += [f"    {flag[len('LPT_GEMM_'):].lower()}: bool", documented(comment.partition(":")[2])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    flat = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    for path, text in zip(sys.argv[2:], (stub(flat), keywords(flat))):
        pathlib.Path(path).write_text(text, encoding="utf-8")
