#!/usr/bin/env python3
"""Checks that C, C++ and CUDA sources are formatted by clang-format 14 with .clang-format.

Usage: check_format.py [--write] [ROOT]

Prints one line per difference, exit status 1. --write rewrites the files instead. Exit status 77 if clang-format-14 is missing,
because other releases break lines differently.
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

FOLDERS = ("include", "src", "kernels", "bindings/cpp", "tests", "bench", "tools", "samples")
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cu"}


def main(arguments):
    mode = ["-i"] if "--write" in arguments else ["--dry-run", "-Werror"]
    given = [argument for argument in arguments if argument != "--write"]
    root = pathlib.Path(given[0] if given else pathlib.Path(__file__).parent.parent)
    program = shutil.which("clang-format-14")
    if program is None:
        print("check_format: it needs clang-format-14")
        return 77
    files = [str(file) for folder in FOLDERS for file in sorted((root / folder).rglob("*")) if file.suffix in SUFFIXES]
    parts = [files[begin:begin + 40] for begin in range(0, len(files), 40)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda part: subprocess.run([program, *mode, *part], capture_output=True, text=True), parts))
    for run in runs:
        print("".join(line + "\n" for line in run.stderr.splitlines() if ": error:" in line), end="")
    bad = sum(run.returncode != 0 for run in runs)
    print(f"check_format: {len(files)} files, {'rewritten' if mode == ['-i'] else 'some differ' if bad else 'none differs'}")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
