#!/usr/bin/env python3
"""Overhead of calls from Python relative to the same call of the low-level module: fastest of many interleaved rounds.

  PYTHONPATH=build/release/python bench/python_calls.py [--json FILE]
"""
import argparse
import array
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import lpt
from lpt import capi

ROUNDS, CALLS = 60, 500


def seconds(call):
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS


def race(calls):
    """Returns the fastest round of each call. Rounds are interleaved, so that machine load affects all calls."""
    best = {name: float("inf") for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call))
    return best


def cpu_seconds(code):
    """Returns the CPU seconds of an interpreter that runs a line. CPU time is comparable on a busy machine."""
    best = float("inf")
    for _ in range(15):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, help="write the table")
    file = parser.parse_args().json
    x = memoryview(array.array("f", [value / 7 for value in range(64)])).cast("B").cast("f", [1, 64])
    context = lpt.default_context()._handle
    source, out = lpt.Tensor(x), lpt.empty((1, 64), "nvfp4")
    best = race({
        "lpt_quantize() of lpt.capi": lambda: capi.lpt_quantize(context, source, None, out, None),
        "lpt.quantize() of a tensor, out given": lambda: lpt.quantize(source, out=out),
        "lpt.quantize() of a buffer": lambda: lpt.quantize(x, "nvfp4"),
        "lpt.quantize() with options": lambda: lpt.quantize(x, "nvfp4", rounding="toward_zero", random=(1, 2, 3)),
        "lpt.Tensor() of a buffer": lambda: lpt.Tensor(x),
        "lpt.from_dlpack()": lambda: lpt.from_dlpack(source),
    })
    rows = [[name, f"{value * 1e6:.2f}"] for name, value in best.items()]
    rows.append(["import lpt, CPU time", f"{(cpu_seconds('import lpt') - cpu_seconds('pass')) * 1e6:.2f}"])
    for name, value in rows:
        print(f"{value:>9} µs  {name}")
    report = {"build": capi.lpt_build_info(), "command": " ".join(sys.argv), "threads": 1, "load": os.getloadavg()[0],
              "tables": {"calls": {"unit": "", "columns": ["call", "µs"], "rows": rows}}}
    try:
        if file:
            file.write_text(json.dumps(report, indent=1), encoding="utf-8")
    except OSError as problem:
        sys.exit(f"python_calls: {problem}")


if __name__ == "__main__":
    main()
