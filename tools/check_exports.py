#!/usr/bin/env python3
"""Checks the exports of the shared library, and the symbols of instruction-set object files.

Usage: check_exports.py library LIBLPT_SO EXPORTS_MAP
       check_exports.py weak OBJECT...

library: the dynamic symbols are exactly those of the version script, each at its node; the SONAME is liblpt.so.1; the
         library needs nothing beyond the C and C++ runtimes.
weak:    no object defines a weak function. The linker keeps one copy of a weak function for the whole library, and if
         that is the copy compiled for AVX-512, an older CPU runs it outside of any dispatch.
"""
import re
import subprocess
import sys

SONAME = "liblpt.so.1"
MAY_NEED = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux[\w-]*)\.so\.\d+")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_map(path):
    """Returns the version script as {symbol: node}. Raises ValueError on wildcards and on anything except simple lists."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", file.read(), flags=re.S)
    symbols = {}
    for node, body in re.findall(r"(\w+)\s*\{([^}]*)\}[^;]*;", text):
        scope = "global"
        for word in re.findall(r"[^\s;:]+:?", body):
            if word.endswith(":"):
                scope = word[:-1]
            elif scope == "global" and not re.fullmatch(r"\w+", word):
                raise ValueError(f"{path}: {node} exports the pattern '{word}'; every symbol is to be named")
            elif scope == "global" and symbols.setdefault(word, node) != node:
                raise ValueError(f"{path}: {word} stands in {symbols[word]} and in {node}")
    return symbols


def exported(library):
    """Returns the dynamic symbols that the library defines, as {symbol: node}."""
    symbols = {}
    for line in output_of("nm", "-D", "--defined-only", library).splitlines():
        _, kind, name = line.split(maxsplit=2)
        if kind != "A":  # the version nodes
            symbol, _, node = name.partition("@")
            symbols[symbol] = node.lstrip("@")
    return symbols


def check_library(library, exports_map):
    listed, found = read_map(exports_map), exported(library)
    offences = [f"{name} is exported but not in {exports_map}" for name in sorted(found.keys() - listed.keys())]
    offences += [f"{name} is in {exports_map} but not exported" for name in sorted(listed.keys() - found.keys())]
    offences += [f"{name} is exported at node '{found[name]}' instead of {listed[name]}"
                 for name in sorted(listed.keys() & found.keys()) if found[name] != listed[name]]
    dynamic = output_of("readelf", "-dW", library)
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)
    if soname != [SONAME]:
        offences.append(f"the SONAME is {' '.join(soname) or 'missing'}, expected {SONAME}")
    offences += [f"{name} is needed; only the C and C++ runtimes may be"
                 for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not MAY_NEED.fullmatch(name)]
    return offences, f"{len(found)} symbols"


def check_weak(*objects):
    offences = []
    for path in objects:
        for line in output_of("nm", "-C", "--defined-only", path).splitlines():
            _, kind, name = line.split(maxsplit=2)
            # DW.ref.…: a pointer to an exception routine, data that is equal in every copy.
            if kind in "WV" and not name.startswith("DW.ref."):
                offences.append(f"{path}: {name} is weak; make it static or put it into an unnamed namespace")
    return offences, f"{len(objects)} objects"


def main(arguments):
    checks = {"library": check_library, "weak": check_weak}
    if len(arguments) < 2 or arguments[0] not in checks:
        sys.exit(__doc__)
    try:
        offences, size = checks[arguments[0]](*arguments[1:])
    except (OSError, ValueError, subprocess.CalledProcessError) as problem:
        sys.exit(f"check_exports: {problem} {getattr(problem, 'stderr', '') or ''}")
    for offence in offences:
        print(offence)
    print(f"check_exports {arguments[0]}: {size}, {len(offences)} offences")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
