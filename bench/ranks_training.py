#!/usr/bin/env python3
"""A language model whose ranks lose packets, average weights late, or divide its windows.

  PYTHONPATH=build/test/python bench/ranks_training.py build/test/samples/train_lm TEXT [--tables TABLE ...] [--json FILE]

lossy    Four ranks. For each seed, packets that nftables drops at random in a network namespace of its own, and packets that the
         sender loses on purpose. The change is that of the perplexity of a byte. Linux only; it needs unshare, ip and nft, but no
         privileges where users may create namespaces.
delayed  Two ranks with train_lm --delay-compensation. The change is that of the loss.
divided  Two ranks with one thread each, next to one rank with two threads, for windows of several lengths: each rank has one of two
         windows (--dp 2), or half of the positions of both (--sp 2). Medians of interleaved rounds, one for each seed.

Changes have a 95 % confidence interval over the seeds (Student's t).
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

QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # 97.5 % of Student's t, 1 to 9 degrees of freedom
DROP = """ip link set lo up; nft add table ip lossy; nft add chain ip lossy in '{{ type filter hook input priority 0; }}'
nft add rule ip lossy in meta l4proto udp numgen random mod 1000 \\< {} drop; exec "$@" """
COLUMNS = {
    "lossy": ["seed", "reliable, bits per byte", "lost by the network", "loss", "change of the perplexity", "loss, injected",
              "change of the perplexity"],
    "delayed": ["seed", "averages of gradients, bits per byte", "averages during the next step", "change of the loss"],
    "divided": ["positions", "ranks", "speed", "activations of a rank", "sent by a rank and step", "change of the loss"]}
DIVIDED = {"one, two threads": [], "`--dp 2`": [], "`--sp 2`": ["--sp", "2"],  # options
           "`--sp 2 --sp-wire int8_1x32`": ["--sp", "2", "--sp-wire", "int8_1x32"]}
LENGTHS = (512, 2048)


def metrics_of(settings, seed, ranks, *options, before=(), threads=1):
    """Returns the metrics of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*before, settings.program, "--data", settings.text, "--out", folder, "--seed", str(seed),
                   "--steps", str(settings.steps), "--recipe", settings.recipe, "--dp", str(ranks), "--no-twin",
                   "--threads", str(threads), "--checkpoint-every", "0", "--sample-bytes", "0", "--quiet", "--json", *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[settings.recipe]


def lossy_row(settings, seed):
    """Returns the cells of a seed, and the changes of the perplexity in percent."""
    drop = DROP.format(round(1000 * settings.loss))
    runs = [metrics_of(settings, seed, 4),
            metrics_of(settings, seed, 4, "--lossy", "0", before=["unshare", "-rn", "sh", "-ec", drop, "sh"]),
            metrics_of(settings, seed, 4, "--lossy", str(settings.loss))]
    losses = [one["validation_bits_per_byte"] for one in runs]
    changes = [100 * (2 ** (loss - losses[0]) - 1) for loss in losses[1:]]
    return [f"{seed}", f"{losses[0]:.4f}", f"{100 * runs[1]['lost_share']:.2f} %", f"{losses[1]:.4f}", f"{changes[0]:+.2f} %",
            f"{losses[2]:.4f}", f"{changes[1]:+.2f} %"], changes


def delayed_row(settings, seed):
    """Returns the cells of a seed, and the change of the loss in percent."""
    losses = [metrics_of(settings, seed, 2, *options)["validation_bits_per_byte"]
              for options in ([], ["--delay-compensation", "0.2"])]
    change = 100 * (losses[1] / losses[0] - 1)
    return [f"{seed}", *(f"{loss:.4f}" for loss in losses), f"{change:+.2f} %"], [change]


def divided_rows(settings):
    """Returns the rows of all lengths; figures are relative to one rank."""
    rows = []
    for length in LENGTHS:
        shape = ["--sequence", str(length), "--batch", "2", "--width", "256", "--hidden", "704", "--validation-windows", "4"]
        first = next(iter(DIVIDED))
        rounds = [{name: metrics_of(settings, seed, 2 if name == "`--dp 2`" else 1, *shape, *options,
                                    threads=2 if name == first else 1) for name, options in DIVIDED.items()}
                  for seed in settings.seeds]
        for name in DIVIDED:
            def ratio(key):
                return statistics.median(one[name][key] / one[first][key] for one in rounds)
            change = statistics.median(100 * (one[name]["validation_bits_per_byte"] / one[first]["validation_bits_per_byte"] - 1)
                                       for one in rounds)
            sent = statistics.median(one[name]["bytes_sent"] for one in rounds) / settings.steps / 2 ** 20
            rows.append([f"{length}", name, f"{ratio('tokens_per_second'):.2f}", f"{ratio('activation_bytes'):.2f}",
                         f"{sent:.2f} MiB", f"{change:+.3f} %"])
            print("  ".join(rows[-1]), flush=True)
    return rows


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
    parser.add_argument("--tables", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    parser.add_argument("--recipe", default="fp8_current")
    parser.add_argument("--loss", type=float, default=0.1, help="probability that a packet is lost, a multiple of 0.001")
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], help="up to ten")
    parser.add_argument("--json", type=pathlib.Path, help="write the tables")
    settings = parser.parse_args()
    tables = {}
    for name in settings.tables:
        columns, rows, changes = COLUMNS[name], [], []
        if name == "divided":
            tables[name] = {"unit": "", "columns": columns, "rows": divided_rows(settings)}
            continue
        for seed in settings.seeds:
            row, change = (lossy_row if name == "lossy" else delayed_row)(settings, seed)
            rows.append(row)
            changes.append(change)
            print("  ".join(f"{column}: {cell}" for column, cell in zip(columns, row)), flush=True)
        means = [interval(column) for column in zip(*changes)]
        rows.append(["mean", "", "", "", means[0], "", means[1]] if name == "lossy" else ["mean", "", "", means[0]])
        print(f"{name}: mean change with its 95 % interval: {', '.join(means)}", flush=True)
        tables[name] = {"unit": "", "columns": columns, "rows": rows}
    if settings.json:
        report = {"build": lpt.build_info(), "load": os.getloadavg()[0], "threads": 2, "tables": tables,
                  "command": " ".join(["bench/ranks_training.py", *sys.argv[1:]])}
        settings.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
