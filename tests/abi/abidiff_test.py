#!/usr/bin/env python3
"""libabigail's abidiff finds nothing in the header that changed what the baseline has, and finds what would.

Usage: abidiff_test.py check ROOT CC   77 where abidiff is not installed
       abidiff_test.py write ROOT CC   writes a new baseline

What is compared is a library of the header's functions without bodies, compiled with full debug information; that the real
one exports just these is tools/check_exports.py's to say. abidiff takes a struct that grew for a break; where the struct tells its size it is none,
which tools/abi_table.py knows, and a new baseline is written.
"""
import lzma
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMMAND, ROOT, CC = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
BASELINE = ROOT / "tests/abi/baseline.abi.xz"
sys.path.insert(0, str(ROOT / "tools"))
from header_model import flattened, read_header  # noqa: E402

# What is changed in the header, into what, and whether abidiff has to say so.
CHANGES = [
    ("LPT_API int32_t lpt_abi_level(void);", "", True),
    ("LPT_API int32_t lpt_abi_level(void);", "LPT_API int64_t lpt_abi_level(void);", True),
    ("lpt_context_set_threads(lpt_context *context, int32_t thread_count)",
     "lpt_context_set_threads(lpt_context *context, int64_t thread_count)", True),
    ("  uint64_t seed;      /**< The key", "  uint64_t more;\n  uint64_t seed;      /**< The key", True),
    ("  float running_amax; ", "  double running_amax; ", True),
    ("  double damping;\n} lpt_sparse_fit_options;", "  double damping;\n  double more;\n} lpt_sparse_fit_options;", True),
    ("LPT_API int32_t lpt_abi_level(void);", "LPT_API int32_t lpt_abi_level(void);\nLPT_API int32_t lpt_more(void);", False),
]


def stub_of(header):
    lines = ['#include "lpt.h"']
    for function in header.functions:
        parameters = ", ".join(f"{type_} {name}" for type_, name in function.parameters) or "void"
        lines.append(f"{function.returns} {function.name}({parameters}) {{ __builtin_trap(); }}")
    return "\n".join(lines) + "\n"


def build(text, place):
    """The library without bodies of a header's text."""
    place.mkdir()
    (place / "lpt.h").write_text(text, encoding="utf-8")
    (place / "stub.c").write_text(stub_of(read_header(place / "lpt.h")), encoding="utf-8")
    library = place / "liblpt.so.1"
    subprocess.run([CC, "-std=c11", "-g", "-O0", "-fPIC", "-shared", "-Wl,-soname,liblpt.so.1", "-I", str(place),
                    str(place / "stub.c"), "-o", str(library)], check=True)
    return library


def differences(baseline, library):
    """What abidiff says; empty where programs of the baseline go on as they were."""
    call = ["abidiff", "--no-added-syms", str(baseline), str(library)]
    report = subprocess.run(call, capture_output=True, text=True)
    return report.stdout + report.stderr if report.returncode != 0 else ""


def check(text, place):
    baseline = place / "baseline.abi"
    baseline.write_bytes(lzma.decompress(BASELINE.read_bytes()))
    problems = []
    report = differences(baseline, build(text, place / "now"))
    if report:
        problems.append(f"today's header is not the baseline's:\n{report}")
    for position, (old, new, is_break) in enumerate(CHANGES):
        if text.count(old) != 1:
            problems.append(f"'{old}' is {text.count(old)} times in the header: expected once")
            continue
        report = differences(baseline, build(text.replace(old, new), place / str(position)))
        if bool(report) != is_break:
            problems.append(f"'{old}' as '{new}': expected {'a' if is_break else 'no'} break, abidiff says:\n{report}")
    return problems


def main():
    if shutil.which("abidiff") is None:
        print("abidiff is not installed: Debian's abigail-tools has it")
        return 77
    text = flattened(ROOT / "include/lpt/research.h")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        if COMMAND == "write":
            library = build(text, place / "now")
            call = ["abidw", "--no-comp-dir-path", "--no-corpus-path", "--short-locs", str(library)]
            BASELINE.write_bytes(lzma.compress(subprocess.run(call, capture_output=True, check=True).stdout, preset=9))
            return 0
        problems = check(text, place)
    print("\n".join(problems) or f"{len(CHANGES)} changes as expected; today's header as well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
