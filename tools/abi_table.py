#!/usr/bin/env python3
"""Checks the binary interface against a committed table of everything that existing programs and bindings depend on.

Usage: abi_table.py check HEADER TABLE            the header keeps every line, and the table has all additions
       abi_table.py write HEADER TABLE [--break]  writes the table; without --break no line may change or disappear

The lines are: number types, constants, callbacks, structs with their size, members with offset, size and type, functions. A
struct that begins with struct_size may grow at its end. No other part of a line may change without a new SONAME.
"""
import pathlib
import sys

from header_model import read_header

COMMAND = "python3 tools/abi_table.py write include/lpt/research.h tests/abi/lpt_abi.txt"


def lines_of(header):
    """Returns the interface as {name: properties that programs depend on}."""
    table = {}
    for kind in header.kinds:
        table[f"type {kind.name}"] = kind.base
        table.update({f"constant {name}": str(value) for name, value in kind.constants})
    for name, (returns, arguments) in header.callbacks.items():
        table[f"callback {name}"] = f"{returns} ({', '.join(arguments)})"
    for struct in header.structs:
        table[f"struct {struct.name}"] = str(struct.size)
        for member in struct.members:
            table[f"member {struct.name}.{member.name}"] = f"{member.offset} {member.bytes} {member.type}"
    for function in header.functions:
        # Parameter names are included, because bindings use them.
        parameters = ", ".join(f"{type_} {name}" for type_, name in function.parameters)
        table[f"function {function.name}"] = f"{function.returns} ({parameters})"
    return table


def read_table(path):
    table = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, name, rest = line.split(" ", 2)
            table[f"{kind} {name}"] = rest
    return table


def may_grow(what, old, new, table):
    """Returns whether a struct with struct_size grows at its end. The member lines check that no earlier member moves."""
    kind, name = what.split()
    return kind == "struct" and int(new) > int(old) and table.get(f"member {name}.struct_size", "").startswith("0 ")


def compare(old, new):
    """Returns the changes that break existing programs, and the additions."""
    breaks, additions = [], [f"{what} is new" for what in new if what not in old]
    for what, said in old.items():
        if what not in new:
            breaks.append(f"{what} is gone; it was {said}")
        elif new[what] != said and may_grow(what, said, new[what], old):
            additions.append(f"{what} grew from {said} to {new[what]}")
        elif new[what] != said:
            breaks.append(f"{what} is {new[what]}; it was {said}")
    return breaks, additions


def main(arguments):
    if len(arguments) not in (3, 4) or arguments[0] not in ("check", "write") or arguments[3:] not in ([], ["--break"]):
        sys.exit(__doc__)
    action, header, path = arguments[:3]
    new = lines_of(read_header(header))
    old = read_table(path) if pathlib.Path(path).exists() else {}
    breaks, additions = compare(old, new)
    for line in breaks:
        print(f"breaks earlier programs: {line}")
    rejected = breaks and arguments[3:] != ["--break"]
    if action == "write" and not rejected:
        text = f"# What earlier programs rely on. Written by: {COMMAND}\n"
        pathlib.Path(path).write_text(text + "".join(f"{what} {said}\n" for what, said in new.items()), encoding="utf-8")
    if action == "check" and additions:
        print("\n".join(additions[:20]) + f"\nthe table lacks what is new; write it with: {COMMAND}")
    print(f"abi_table {action}: {len(new)} lines, {len(breaks)} breaks, {len(additions)} new")
    return 1 if rejected or (action == "check" and (breaks or additions)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
