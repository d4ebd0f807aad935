#!/usr/bin/env python3
"""Compares the plans of `lpt plan` with steps of samples/train_lm on this machine.

  python3 bench/plan.py TEXT --json plan.json

In each round, `lpt bench step` measures the machine for one rank and for two, then train_lm runs a few steps of every configuration.
No step of train_lm is used for the prediction. A figure is the median of the rounds.

configurations  Steps on one and two ranks: tensor ranks with all or half of the columns (CAAT), with f32 or int8 on the wire, data
                ranks, and data ranks that share the state of the optimizer.
fastest         The three fastest plans of `lpt plan` for two ranks, and the slowest plan.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

from step import Error, completed

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = ("layers", "width", "hidden", "heads", "sequence", "batch")
SMALL, MIDDLE, LARGE = (4, 128, 352, 4, 128, 8), (4, 512, 1408, 8, 256, 4), (3, 768, 2048, 12, 256, 2)
VOCABULARY = 256
# Recipe, sizes, tensor ranks, data ranks, ZeRO, share, wire, micro-batches.
CONFIGURATIONS = [("f32", SMALL, 1, 1, 0, 1, "f32", 1), ("f32", MIDDLE, 1, 1, 0, 1, "f32", 1), ("mxfp8", LARGE, 1, 1, 0, 1, "f32", 1),
                  ("f32", MIDDLE, 2, 1, 0, 1, "f32", 1), ("f32", MIDDLE, 2, 1, 0, 0.5, "f32", 1),
                  ("f32", MIDDLE, 2, 1, 0, 1, "int8_1x32", 1), ("f32", LARGE, 2, 1, 0, 0.5, "int8_1x32", 1),
                  ("mxfp8", MIDDLE, 2, 1, 0, 1, "int8_1x32", 1), ("f32", MIDDLE, 1, 2, 0, 1, "f32", 1),
                  ("f32", MIDDLE, 1, 2, 1, 1, "f32", 1), ("mxfp8", LARGE, 1, 2, 0, 1, "f32", 1), ("f32", SMALL, 1, 2, 0, 1, "f32", 2)]
COLUMNS = ["recipe", "layers x width", "tensor ranks", "data ranks", "ZeRO", "CAAT", "wire", "micro-batches", "predicted, ms", "measured, ms", "ratio"]
GOAL = 0.15


class Step:
    """A configuration with its seconds of each round."""

    def __init__(self, recipe, sizes, tensor, data, zero, share, wire, micro_batches):
        self.recipe, self.sizes, self.tensor, self.data, self.zero = recipe, dict(zip(SIZES, sizes)), tensor, data, zero
        self.share, self.wire, self.micro_batches = share, wire, micro_batches
        self.predicted, self.measured = [], []

    def ranks(self):
        return self.tensor * self.data

    def is_plan(self, plan):
        return all(plan[key] == getattr(self, key) for key in ("recipe", "tensor", "data", "zero", "share", "wire", "micro_batches"))

    def ratio(self):
        return statistics.median(a / b for a, b in zip(self.predicted, self.measured))

    def cells(self):
        return [self.recipe, f"{self.sizes['layers']} x {self.sizes['width']}", str(self.tensor), str(self.data), str(self.zero),
                f"{self.share:g}", self.wire, str(self.micro_batches), f"{1e3 * statistics.median(self.predicted):.1f}",
                f"{1e3 * statistics.median(self.measured):.1f}", f"{self.ratio():.3f}"]


def output_of(command):
    return completed(command, "the programs lpt and train_lm in --build").stdout


class Programs:
    def __init__(self, settings, folder):
        self.settings, self.folder = settings, folder
        self.lpt, self.train_lm = settings.build / "tools/lpt/lpt", settings.build / "samples/train_lm"

    def machine(self, ranks, recipes):
        """Measures the machine; returns its file."""
        path = self.folder / f"machine{ranks}.json"
        output_of([self.lpt, "bench", "step", "--ranks", ranks, "--seconds", self.settings.seconds, "--json", path, "--quiet",
                   *(word for recipe in recipes for word in ("--recipe", recipe))])
        return path

    def plans(self, machine, ranks, sizes, *options):
        path = self.folder / "plans.json"
        output_of([self.lpt, "plan", "--machine", machine, "--ranks", ranks, "--vocabulary", VOCABULARY, "--pipeline", 1, "--top", 0,
                   "--json", path, *(f"--{key}={value}" for key, value in sizes.items()), *options])
        return json.loads(path.read_text())["plans"]

    def predict(self, machine, step):
        """Returns the predicted seconds."""
        plans = self.plans(machine, step.ranks(), step.sizes, "--recipe", step.recipe, "--share", step.share, "--wire", step.wire,
                           "--tensor", step.tensor, "--micro-batches", step.micro_batches)
        return next(plan["step_seconds"] for plan in plans if step.is_plan(plan))

    def measure(self, step):
        """Returns the median seconds of the steps of one run after its first ones."""
        count = self.settings.steps * max(1, 512 // step.sizes["width"]) + 2
        wire = [] if step.wire == "f32" else ["--wire", step.wire]
        text = output_of([self.train_lm, "--data", self.settings.text, "--out", self.folder, "--recipe", step.recipe, "--tp", step.tensor,
                          "--dp", step.data, "--zero", step.zero, "--sync", step.share, "--micro-batches", step.micro_batches, *wire,
                          "--steps=1000", "--validate-every=1000", f"--stop-after={count}", "--validation-windows=2", "--threads=1",
                          "--checkpoint-every=0", "--sample-bytes=0", "--no-twin", "--quiet", "--json",
                          *(f"--{key}={value}" for key, value in step.sizes.items())])
        run = next(part for part in json.loads(text).values() if isinstance(part, dict))  # its name has the options
        return statistics.median(run["step_seconds"][2:])


def fastest_steps(programs, machine, sizes):
    """Returns the three fastest plans for two ranks, and the slowest."""
    plans = programs.plans(machine, 2, sizes, "--recipe", "f32", "--recipe", "mxfp8", "--share", "1", "--share", "0.5", "--wire", "f32",
                           "--wire", "int8_1x32")
    chosen = plans[:3] + plans[-1:]
    return [Step(plan["recipe"], tuple(sizes.values()), plan["tensor"], plan["data"], plan["zero"], plan["share"], plan["wire"],
                 plan["micro_batches"]) for plan in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="training text of train_lm")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/test")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6, help="steps of a configuration in a round; more for a width below 512")
    parser.add_argument("--seconds", type=float, default=0.05, help="of a shape of `lpt bench step`")
    parser.add_argument("--json", type=pathlib.Path, help="write the tables")
    settings = parser.parse_args()
    tables = {"configurations": [Step(*one) for one in CONFIGURATIONS]}
    recipes = sorted({one[0] for one in CONFIGURATIONS})
    with tempfile.TemporaryDirectory() as name:
        programs = Programs(settings, pathlib.Path(name))
        for number in range(settings.rounds):
            machines = {ranks: programs.machine(ranks, recipes) for ranks in (1, 2)}
            if number == 0:
                tables["fastest"] = fastest_steps(programs, machines[2], dict(zip(SIZES, MIDDLE)))
            for table, steps in tables.items():
                for step in steps:
                    step.predicted.append(programs.predict(machines[step.ranks()], step))
                    step.measured.append(programs.measure(step))
                    print(f"round {number + 1}, {table}:", "  ".join(step.cells()), flush=True)
    for table, steps in tables.items():
        within = sum(abs(step.ratio() - 1) <= GOAL for step in steps)
        print(f"{table}: {within} of {len(steps)} within {100 * GOAL:.0f} %")
    if settings.json:
        report = {"build": output_of([programs.lpt, "--version"]).strip(), "load": os.getloadavg()[0], "threads": 2,
                  "tables": {table: {"unit": f"medians of {settings.rounds} rounds", "columns": COLUMNS,
                                     "rows": [step.cells() for step in steps]} for table, steps in tables.items()},
                  "command": " ".join(["bench/plan.py", *sys.argv[1:]])}
        settings.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Error as problem:
        sys.exit(f"plan: {problem}")
