#!/usr/bin/env python3
"""Writes capi.pyi, the stub of the low-level module for type checkers and editors: make_stub.py FLATTENED_LPT_H CAPI_PYI

Constants and members have types. Functions have names only, because SWIG typemaps determine their arguments and results.
"""
import pathlib
import re
import sys

HEAD = '''# Written by make_stub.py from lpt.h.
from typing import Any
'''
# Functions that the interface files of the package define.
HELPERS = ("codec_of", "context_of", "set_error_classes", "set_tensor_class", "tensor_at", "tensor_capsule", "tensor_empty",
       "tensor_facts", "tensor_format", "tensor_from_object", "tensor_from_producer", "tensor_is_read_only", "tensor_like",
       "tensor_reinterpret", "weights_pack")
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


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(stub(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
