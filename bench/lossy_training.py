#!/usr/bin/env python3
"""Loss of a language model whose data-parallel ranks lose packets, next to the same run with reliable collectives.

  PYTHONPATH=build/test/python bench/lossy_training.py build/test/samples/train_lm TEXT [--json FILE]

For each seed, three runs of train_lm with four ranks: reliable collectives; packets that nftables drops at random in a network
namespace of its own; packets that the sender loses on purpose. Linux only. It needs unshare, ip and nft, but no privileges where
users may create namespaces. The change of the perplexity of a byte has a 95 % confidence interval over the seeds (Student's t).
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import lpt

RANKS = 4
QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # 97.5 % of Student's t, 1 to 9 degrees of freedom
DROP = """ip link set lo up; nft add table ip lossy; nft add chain ip lossy in '{{ type filter hook input priority 0; }}'
nft add rule ip lossy in meta l4proto udp numgen random mod 1000 \\< {} drop; exec "$@" """


def metrics_of(settings, seed, *options, before=()):
    """Returns the metrics of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*before, settings.program, "--data", settings.text, "--out", folder, "--seed", str(seed),
                   "--steps", str(settings.steps), "--recipe", settings.recipe, "--dp", str(RANKS), "--no-twin", "--threads", "1",
                   "--checkpoint-every", "0", "--sample-bytes", "0", "--quiet", "--json", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[settings.recipe]


def row_of(settings, seed):
    """Returns the row of a seed, and the changes of the perplexity with real and with injected loss."""
    drop = DROP.format(round(1000 * settings.loss))
    runs = [metrics_of(settings, seed),
            metrics_of(settings, seed, "--lossy", "0", before=["unshare", "-rn", "sh", "-ec", drop, "sh"]),
            metrics_of(settings, seed, "--lossy", str(settings.loss))]
    losses = [one["validation_bits_per_byte"] for one in runs]
    changes = [100 * (2 ** (loss - losses[0]) - 1) for loss in losses[1:]]
    return [f"{seed}", f"{losses[0]:.4f}", f"{100 * runs[1]['lost_share']:.2f} %", f"{losses[1]:.4f}", f"{changes[0]:+.2f} %",
            f"{losses[2]:.4f}", f"{changes[1]:+.2f} %"], changes


def interval(changes):
    mean = statistics.mean(changes)
    if len(changes) < 2:
        return f"{mean:+.2f} %"
    half = QUANTILES[len(changes) - 2] * statistics.stdev(changes) / math.sqrt(len(changes))
    return f"{mean:+.2f} ± {half:.2f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="train_lm")
    parser.add_argument("text")
    parser.add_argument("--recipe", default="fp8_current")
    parser.add_argument("--loss", type=float, default=0.1, help="probability that a packet is lost, a multiple of 0.001")
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], help="up to ten")
    parser.add_argument("--json", type=pathlib.Path, help="write the table")
    settings = parser.parse_args()
    columns = ["seed", "reliable, bits per byte", "lost by the network", "loss", "change of the perplexity", "loss, injected",
               "change of the perplexity"]
    rows, changes = [], []
    for seed in settings.seeds:
        row, change = row_of(settings, seed)
        rows.append(row)
        changes.append(change)
        print("  ".join(f"{name}: {cell}" for name, cell in zip(columns, row)), flush=True)
    real, injected = (interval(column) for column in zip(*changes))
    rows.append(["mean", "", "", "", real, "", injected])
    print(f"change of the perplexity, mean and 95 % interval: {real} by the network, {injected} injected")
    if settings.json:
        report = {"build": lpt.build_info(), "load": os.getloadavg()[0], "threads": 2,
                  "command": " ".join(["bench/lossy_training.py", *sys.argv[1:]]),
                  "tables": {"loss": {"unit": "", "columns": columns, "rows": rows}}}
        settings.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
