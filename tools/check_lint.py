#!/usr/bin/env python3
"""Checks src and kernels with clang-tidy 14 and .clang-tidy.

Usage: check_lint.py BUILD [ROOT]

BUILD is a build folder of CMake. Its unity compilation units, one per folder, are checked as they are compiled, and sources that
are compiled for several instruction sets once. Prints one line per finding, exit status 1. Exit status 77 if clang-tidy-14 is
missing, or if the build has no such units.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

FINDING = re.compile(r"^/\S+:\d+:\d+: (warning|error): .*")


def with_new_sources(units):
    """Returns the units that have a source of their own. Others are the same sources, compiled for another instruction set."""
    sources = {unit: set(re.findall(r'#include "(.*)"', pathlib.Path(unit).read_text())) for unit in units}
    found, seen = [], set()
    for unit in sorted(units, key=lambda unit: (-len(sources[unit]), unit)):
        if not sources[unit] <= seen:
            found.append(unit)
            seen |= sources[unit]
    return found


def main(arguments):
    build = pathlib.Path(arguments[0]).resolve()
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    program = shutil.which("clang-tidy-14")
    if program is None:
        print("check_lint: it needs clang-tidy-14")
        return 77
    commands = json.loads((build / "compile_commands.json").read_text())
    folders = tuple(str(build / folder / "CMakeFiles") + "/" for folder in ("src", "kernels"))
    units = with_new_sources({unit["file"] for unit in commands if unit["file"].startswith(folders) and "/Unity/" in unit["file"]})
    if not units:
        print("check_lint: the build has no compilation units of whole folders")
        return 77
    command = [program, f"--config-file={root}/.clang-tidy", "-p", str(build), f"--header-filter={root}/(src|kernels)/.*"]

    def check(unit):
        run = subprocess.run([*command, unit], capture_output=True, text=True)
        findings = [line for line in run.stdout.splitlines() if FINDING.match(line)]
        return findings or ([f"{unit}: {run.stderr.strip()}"] if run.returncode != 0 else [])

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = sorted({line for findings in pool.map(check, units) for line in findings})
    for line in found:
        print(line.replace(f"{root}/", ""))
    print(f"check_lint: {len(units)} units, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
