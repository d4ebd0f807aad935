#!/usr/bin/env python3
"""Speed of DropCompute with emulated micro-batches, and loss of a language model whose ranks drop micro-batches.

  PYTHONPATH=build/test/python bench/drop_compute.py build/test/samples/train_lm TEXT [--json FILE]

Speed: ranks are threads of Python, whose micro-batches sleep. A micro-batch takes 1 + k / 2 units; k has mean 1 and is log-normal,
as in the paper. A sleep ends at the threshold. Ranks reduce 64 KiB, and sleep for half a unit as an optimizer. 50 steps give the
threshold of lpt_drop_compute_fit() and its predicted gain. 100 steps with it and 100 steps without it, with the same delays, give
the gain in complete micro-batches per second. All figures are means over the seeds.

Loss: train_lm --stragglers 1 --drop-compute auto next to a run without both, with equal steps and with equal micro-batches.
"""
import argparse
import array
import bisect
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import lpt

UNIT, MICRO_BATCHES, SERIAL = 5e-3, 12, 2.5e-3  # seconds; of each step; seconds of each step after the reduction
FITTED, TIMED = 50, 100  # steps
WEIGHTS = [math.exp(-0.5 * (math.log(length) - 4) ** 2) / length for length in range(1, 1000)]
ENDS = list(itertools.accumulate(WEIGHTS))
MEAN = sum(length * weight for length, weight in enumerate(WEIGHTS, 1)) / ENDS[-1]


def delay(draw):
    return (bisect.bisect(ENDS, draw.random() * ENDS[-1]) + 1) / MEAN


def run_rank(comm, draw, steps, threshold, times, walls, kept):
    """Runs steps of one rank, and appends the times of micro-batches, the times of steps, and the numbers of complete ones."""
    gradient = array.array("f", bytes(4 << 14))
    for _ in range(steps):
        begin = last = time.perf_counter()
        ends = list(itertools.accumulate(UNIT * (1 + 0.5 * delay(draw)) for _ in range(MICRO_BATCHES)))
        done = sum(end <= threshold for end in ends)
        for end in ends[:done] + [threshold] * (done < MICRO_BATCHES):
            time.sleep(max(begin + end - time.perf_counter(), 0))
            times.append(time.perf_counter() - last)
            last += times[-1]
        comm.all_reduce(gradient, out=gradient)
        time.sleep(SERIAL)
        walls.append(time.perf_counter() - begin)
        kept.append(done)


def run_steps(ranks, seed, steps, threshold=math.inf):
    """Returns the times of micro-batches by rank and step, the mean time of a step, and the complete fraction."""
    group, errors = lpt.Group(ranks), []
    times, walls, kept = ([[] for _ in range(ranks)] for _ in range(3))

    def body(rank):
        try:
            with lpt.Comm.local(group, rank, context=lpt.Context(1)) as comm:
                run_rank(comm, random.Random(1000 * seed + rank), steps, threshold, times[rank], walls[rank], kept[rank])
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=body, args=(rank,)) for rank in range(ranks)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if errors:
        raise errors[0]
    steps_of = [[own[first:first + MICRO_BATCHES] for first in range(0, len(own), MICRO_BATCHES)] for own in times]
    return steps_of, statistics.mean(walls[0]), sum(map(sum, kept)) / (ranks * steps * MICRO_BATCHES)


def percent(value, digits=1):
    return f"{100 * value:+.{digits}f} %"


def measure_speed(ranks, seed):
    """Returns step times without and with the threshold, the complete fraction, and three gains: measured, fit, model."""
    times, wall, _ = run_steps(ranks, seed, FITTED)
    serial = wall - statistics.mean(max(sum(own[step]) for own in times) for step in range(FITTED))
    found = lpt.drop_compute_fit(times, serial_seconds=serial)
    flat = [one for own in times for step in own for one in step]
    model = lpt.drop_compute_estimate(ranks, MICRO_BATCHES, statistics.mean(flat), statistics.stdev(flat), serial_seconds=serial)
    _, full, _ = run_steps(ranks, seed + 1000, TIMED)
    _, step, kept = run_steps(ranks, seed + 1000, TIMED, found["threshold_seconds"])
    return full, step, kept, kept * full / step - 1, found["speedup"] - 1, model["speedup"] - 1


def speed_row(ranks, seeds):
    """Returns the means over seeds."""
    found = [measure_speed(ranks, seed) for seed in seeds]
    full, step, kept, gain, fitted, model = (statistics.mean(column) for column in zip(*found))
    gains = [one[3] for one in found]
    spread = f"{percent(gain)}; {percent(min(gains))} to {percent(max(gains))}"
    return [f"{ranks}", f"{1e3 * full:.1f} ms", f"{1e3 * step:.1f} ms", f"{100 * (1 - kept):.1f} %", spread, percent(fitted),
            percent(model), f"{gain / fitted:.2f}"]


def loss_of(settings, seed, steps, *options):
    """Returns the metrics of one run of the language model."""
    with tempfile.TemporaryDirectory() as folder:
        command = [settings.program, "--data", settings.text, "--out", folder, "--seed", str(seed), "--steps", str(steps),
                   "--dp", "4", "--micro-batches", "8", "--batch", "128", "--width", "64", "--layers", "2", "--heads", "2",
                   "--hidden", "128", "--sequence", "64", "--no-twin", "--recipe", "f32", "--threads", "1",
                   "--checkpoint-every", "0", "--sample-bytes", "0", "--quiet", "--json", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["f32"]


def loss_row(settings, seed):
    """Returns the losses after equal steps, and after as many steps as give equal complete micro-batches."""
    slow = ["--micro-batch-seconds", "0.01", "--stragglers", "1", "--drop-compute", "auto"]
    exact, equal = loss_of(settings, seed, settings.steps), loss_of(settings, seed, settings.steps, *slow)
    steps = round(settings.steps / statistics.mean(equal["kept"]))
    more = loss_of(settings, seed, steps, *slow)
    losses = [one["validation_bits_per_byte"] for one in (exact, equal, more)]
    return [f"{seed}", f"{100 * equal['dropped_share']:.1f} %", *(f"{loss:.4f}" for loss in losses[:2]),
            percent(losses[1] / losses[0] - 1, 2), f"{steps}", f"{losses[2]:.4f}", percent(losses[2] / losses[0] - 1, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="train_lm")
    parser.add_argument("text")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--steps", type=int, default=400, help="of the language model")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--json", type=pathlib.Path, help="write the tables")
    settings = parser.parse_args()
    tables = {
        "speed": (["ranks", "step, all micro-batches", "step", "dropped", "gain", "predicted by the fit", "by the normal model",
                   "gain / predicted by the fit"], [], lambda: (speed_row(ranks, settings.seeds) for ranks in settings.ranks)),
        "loss": (["seed", "dropped", "loss, bits per byte", "with equal steps", "change", "equal micro-batches: steps", "loss",
                  "change of it"], [], lambda: (loss_row(settings, seed) for seed in settings.seeds))}
    for columns, rows, measure in tables.values():
        for row in measure():
            rows.append(row)
            print("  ".join(f"{name}: {cell}" for name, cell in zip(columns, row)), flush=True)
    if settings.json:
        report = {"build": lpt.build_info(), "load": os.getloadavg()[0], "threads": 2,
                  "command": " ".join(["bench/drop_compute.py", *sys.argv[1:]]),
                  "tables": {name: {"unit": "", "columns": columns, "rows": rows} for name, (columns, rows, _) in tables.items()}}
        settings.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
