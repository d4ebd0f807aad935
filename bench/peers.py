#!/usr/bin/env python3
"""Measures GEMMs and optimizer steps of PyTorch, ggml and bitsandbytes on this CPU, for comparison with gemm_bench.

  peers.py --shape 512 --shape 1x4096x4096 --json peers.json
  peers.py --figures figures.json --json peers.json

FIGURES is the output of `lpt bench gemm --json` or gemm_bench. Shapes, number of threads and limits are read from it.
`lpt bench gemm --from FIGURES --peers peers.json --picture FILE.svg` plots both. Shares are relative to the limits of
FIGURES, which another process measured: run both on the same idle machine, one after the other.

Each peer is optional: python3 -m venv v && v/bin/pip install torch bitsandbytes llama-cpp-python
"""
import argparse
import json
import os
import statistics
import sys

from peers_race import Library, race

USUAL = ("512", "1024", "2048", "512x4096x4096", "16x4096x4096", "8x4096x4096", "1x4096x4096", "1x4096x65536")
COUNTS = (16384, 1 << 25)  # parameters: in cache and out of cache, as in optimizer_bench
PEAKS = {"f32": "f32_gflops", "bf16 dot": "bf16_gflops", "int8 dot": "int8_gops"}


def shape_of(name):
    extents = [int(extent) for extent in name.split("x")]
    if len(extents) not in (1, 3) or min(extents) < 1:
        raise ValueError(name)
    m, k, n = extents * 3 if len(extents) == 1 else extents
    return {"shape": name, "m": m, "k": k, "n": n, "is_a_transposed": False, "is_b_transposed": True}


def shapes_of(figures):
    keys = ("shape", "m", "k", "n", "is_a_transposed", "is_b_transposed")
    return list({rate["shape"]: {key: rate[key] for key in keys} for rate in figures["results"]}.values())


def limit_of(figures, shape, contender):
    """Returns (limit of the share, its rate). A rate of 0: FIGURES has none. For reads, weights have the LPT size."""
    if shape["m"] == 1:
        same_shape = [rate for rate in figures["results"] if rate["shape"] == shape["shape"]]
        nearest = min(same_shape, key=lambda rate: abs(rate["weight_bytes"] - contender.weight_bytes), default=None)
        return "read", nearest["limit_rate"] if nearest else 0
    return contender.kind, figures["peaks"][PEAKS[contender.kind]] * figures["threads"]


def rate_of(figures, shape, contender):
    least, middle = min(contender.seconds), statistics.median(contender.seconds)
    flops = 2 * shape["m"] * shape["k"] * shape["n"]
    limit, rate = limit_of(figures, shape, contender)
    work = (contender.weight_bytes if limit == "read" else flops) * 1e-9
    return {**shape, "name": contender.name, "is_packed": contender.is_packed, "is_peer": True, "row": "",
            "kind": contender.kind, "limit": limit, "limit_rate": rate, "weight_bytes": contender.weight_bytes,
            "seconds": least, "median_seconds": middle, "gflops": flops / least * 1e-9,
            "share_of_peak": work / middle / rate if rate else 0,
            "best_share_of_peak": work / least / rate if rate else 0, "scaling": 0, "bar": 0}


def library(load, missing):
    try:
        return Library(*load())
    except (ImportError, OSError) as problem:
        missing.append(str(problem))
        return None


def torch():
    import peers_torch
    return peers_torch.NAME, peers_torch.contenders


def ggml(folder):
    import peers_ggml
    loaded = peers_ggml.Ggml(folder)
    return loaded.name, loaded.contenders


def bitsandbytes():
    import peers_bitsandbytes
    return peers_bitsandbytes.NAME, peers_bitsandbytes.contenders


def print_gemm(rate):
    share = f"{rate['share_of_peak']:6.2f} of {rate['limit']}" if rate["limit_rate"] else ""
    print(f"  {rate['name']:24} {'packed' if rate['is_packed'] else '':7} {rate['seconds'] * 1e6:10.1f} us, median "
          f"{rate['median_seconds'] * 1e6:10.1f} {rate['gflops']:8.1f} GFLOP/s "
          f"{rate['weight_bytes'] / rate['seconds'] * 1e-9:6.1f} GB/s{share}", flush=True)


def gemms(figures, shapes, libraries, seconds):
    results, left_out = [], []
    for shape in shapes:
        print(f"\n{shape['shape']}")
        lanes = []
        for each in libraries:
            found, rejected = each.make(shape, figures["threads"])
            lanes += [(each, contender) for contender in found]
            left_out += [f"{shape['shape']}, {line}" for line in rejected]
        race(lanes, seconds)
        for _, contender in lanes:
            results.append(rate_of(figures, shape, contender))
            print_gemm(results[-1])
    return results, left_out


def steps(each, threads, seconds):
    results = []
    for count in COUNTS:
        print(f"\n{count} parameters")
        lanes = [(each, contender) for contender in each.make(count, threads)]
        race(lanes, seconds)
        for _, contender in lanes:
            least, middle = (of(contender.seconds) / count * 1e9 for of in (min, statistics.median))
            results.append({"name": contender.name, "parameters": count, "nanoseconds": least,
                            "median_nanoseconds": middle})
            print(f"  {contender.name:36} {least:8.3f} ns, median {middle:8.3f}", flush=True)
    return results


def figures_of(settings):
    if not settings.figures:
        return {"threads": settings.threads, "isa": "", "load": 0, "is_judged": False, "results": [],
                "peaks": dict.fromkeys(PEAKS.values(), 0)}
    with open(settings.figures, encoding="utf-8") as file:
        return json.load(file)


def report_of(settings):
    figures, missing = figures_of(settings), []
    threads = figures["threads"]
    if threads == 1:  # like the other benchmarks, on the last allowed core
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    gemm_libraries = [each for each in (library(torch, missing), library(lambda: ggml(settings.ggml), missing)) if each]
    of_steps = library(bitsandbytes, missing) if settings.steps else None
    names = ", ".join(each.name for each in (*gemm_libraries, of_steps) if each)
    print(f"{threads} thread(s), load average {os.getloadavg()[0]:.1f}; {names}")
    for line in missing:
        print(f"not here: {line}")
    shapes = shapes_of(figures) or settings.shape or [shape_of(name) for name in USUAL]
    results, left_out = gemms(figures, shapes, gemm_libraries, settings.seconds) if gemm_libraries else ([], [])
    timed = steps(of_steps, threads, settings.seconds) if of_steps else []
    return {**figures, "build": names, "load": max(figures["load"], os.getloadavg()[0]), "missing_peers": missing,
            "left_out": left_out, "results": results, "steps": timed}


def settings_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", help="what gemm_bench has written: its shapes, threads and limits")
    parser.add_argument("--shape", action="append", type=shape_of, help=f"M or MxKxN, repeated; {', '.join(USUAL)}")
    parser.add_argument("--threads", type=int, default=1, help="without --figures; 1")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each contender, at least five rounds; 0.3")
    parser.add_argument("--steps", action="store_true", help="optimizer steps as well")
    parser.add_argument("--ggml", help="a folder with libggml.so; that of llama-cpp-python")
    parser.add_argument("--json", help="write the figures")
    return parser.parse_args(arguments)


def main(arguments):
    settings = settings_of(arguments)
    try:
        report = report_of(settings)
        if settings.json:
            with open(settings.json, "w", encoding="utf-8") as file:
                json.dump(report, file, indent=1)
    except (OSError, ValueError, KeyError, RuntimeError) as problem:
        sys.exit(f"peers: {type(problem).__name__}: {problem}")
    for line in report["left_out"]:
        print(f"left out: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
