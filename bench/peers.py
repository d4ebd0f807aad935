#!/usr/bin/env python3
"""Measures PyTorch's products of the shapes of an earlier bench, for `lpt bench gemm --peers`.

Usage: peers.py FIGURES OUT [SECONDS]

FIGURES is what `lpt bench gemm --json` or gemm_bench has written: shapes, number of threads and limits are taken from
it. OUT gets the same kind of JSON; `lpt bench gemm --from FIGURES --peers OUT --picture FILE.svg` draws both. Shares are
of the limits of FIGURES, which another process measured: let both run on the same idle machine, one after the other.

Needs torch: python3 -m venv v && v/bin/pip install torch && v/bin/python bench/peers.py figures.json peers.json
"""
import json
import os
import statistics
import sys
import time

LEAST_RUNS = 5


def pin():
    """As the other benches: on the last core that may be used."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def times_of(run, seconds):
    run()
    times, start = [], time.perf_counter()
    while len(times) < LEAST_RUNS or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


def contenders(torch, shape):
    """Yields (name, kind, bytes of one weight, run). b is given n × k, transposed, where the shape says so."""
    generator = torch.Generator().manual_seed(1)

    def operand(rows, columns, is_transposed, kind):
        extents = (columns, rows) if is_transposed else (rows, columns)
        if kind == torch.int8:
            made = torch.randint(-127, 128, extents, generator=generator, dtype=torch.int8)
        else:
            made = torch.rand(extents, generator=generator).to(kind)
        return made.t() if is_transposed else made

    products = [("PyTorch f32", "f32", torch.float32, torch.mm), ("PyTorch bf16", "bf16 dot", torch.bfloat16, torch.mm),
                ("PyTorch int8", "int8 dot", torch.int8, torch._int_mm)]
    for name, kind, element, product in products:
        a = operand(shape["m"], shape["k"], shape["is_a_transposed"], element)
        b = operand(shape["k"], shape["n"], shape["is_b_transposed"], element)
        yield name, kind, b.element_size(), lambda a=a, b=b, product=product: product(a, b)


def limit_of(figures, shape, kind, weight_bytes):
    """(what the share is of, its rate); a rate of 0: FIGURES has none. Of reading: that of weights as large as ours."""
    if shape["m"] == 1:
        same_shape = [rate for rate in figures["results"] if rate["shape"] == shape["shape"]]
        nearest = min(same_shape, key=lambda rate: abs(rate["weight_bytes"] - weight_bytes))
        return "read", nearest["limit_rate"]
    peak = {"f32": "f32_gflops", "bf16 dot": "bf16_gflops", "int8 dot": "int8_gops"}[kind]
    return kind, figures["peaks"][peak] * figures["threads"]


def rate_of(figures, shape, name, kind, weight_bytes, times):
    least, middle = min(times), statistics.median(times)
    flops = 2 * shape["m"] * shape["k"] * shape["n"]
    limit, rate = limit_of(figures, shape, kind, weight_bytes)
    work = (weight_bytes if limit == "read" else flops) * 1e-9
    return {**shape, "name": name, "is_packed": False, "is_peer": True, "row": "", "kind": kind, "limit": limit,
            "limit_rate": rate, "weight_bytes": weight_bytes, "seconds": least, "median_seconds": middle,
            "gflops": flops / least * 1e-9, "share_of_peak": work / middle / rate if rate else 0,
            "best_share_of_peak": work / least / rate if rate else 0, "scaling": 0, "bar": 0}


def measure(figures, seconds):
    import torch  # last: it is slow to load, and may be missing
    torch.set_num_threads(figures["threads"])
    keys = ("shape", "m", "k", "n", "is_a_transposed", "is_b_transposed")
    shapes = {rate["shape"]: {key: rate[key] for key in keys} for rate in figures["results"]}
    left_out, results = [], []
    for shape in shapes.values():
        for name, kind, element_bytes, run in contenders(torch, shape):
            try:
                times = times_of(run, seconds)
            except RuntimeError as refusal:
                left_out.append(f"{shape['shape']}, {name}: {str(refusal).splitlines()[0]}")
                continue
            results.append(rate_of(figures, shape, name, kind, element_bytes * shape["n"] * shape["k"], times))
            print(f"{shape['shape']:24} {name:14} {results[-1]['gflops']:8.1f} GFLOP/s "
                  f"{results[-1]['share_of_peak']:5.2f} of {results[-1]['limit']}", file=sys.stderr)
    return {**figures, "build": f"PyTorch {torch.__version__}", "load": max(figures["load"], os.getloadavg()[0]),
            "missing_peers": [], "left_out": left_out, "results": results}


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    try:
        with open(arguments[0], encoding="utf-8") as file:
            figures = json.load(file)
        if figures["threads"] == 1:
            pin()
        report = measure(figures, float(arguments[2]) if len(arguments) == 3 else 0.3)
        with open(arguments[1], "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    except (OSError, ValueError, KeyError, ImportError) as problem:
        sys.exit(f"peers: {type(problem).__name__}: {problem}")
    for line in report["left_out"]:
        print(f"left out: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
