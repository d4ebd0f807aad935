#!/usr/bin/env python3
"""Measures the training step of samples/train_lm, and of the same model in PyTorch, on this CPU. Rounds are interleaved.

  v/bin/python bench/step.py --threads 1 2 --json step.json
  PYTHONPATH=build/test/python v/bin/python bench/step.py --attention --threads 1 2 --json sdpa.json
  PYTHONPATH=build/test/python v/bin/python bench/step.py --lpt-torch --widths 512 --threads 1 2 --json torch.json

It runs the programs train_lm and attention_bench of --build. PyTorch: python3 -m venv v && v/bin/pip install torch

MFU is F / (seconds of a step · dot peak of the type). F = 6 · parameters of matrices · tokens + 12 · width · layers · pairs.
The matrices include the head, but not the embedding. Visible pairs are batch · positions · (positions + 1) / 2. The peak is
that of f32 for f32, and of bf16 for other recipes; attention_bench measures it in every round. If dot products of bf16 are
slower than f32 multiply-adds, the peak of bf16 is that of f32.

--attention measures lpt.attention() and scaled_dot_product_attention() in this process.

--lpt-torch compares train_lm with the same model in lpt.torch: layers of convert_(), RMSNorm, SwiGLU, attention, loss and AdamW. Both
have six layers and moments in f32. Recipes other than f32 run in torch.autocast for bf16. With OMP_WAIT_POLICY=passive, idle threads of torch do not
spin beside those of LPT.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS, VOCABULARY = 4, 256
TORCH_LAYERS = 6  # of --lpt-torch
RECIPES = ("f32", "bf16", "fp8_trillion", "mxfp8", "nvfp4_pretrain")
LONG_STEP = 1.0  # longer steps need no warm-up
VISIT_SECONDS = 0.02  # of one pass of attention in one round
# Groups of the time shares, by the beginning of an operation name; the remaining time is "other".
GROUPS = {"GEMM": ("gemm",), "casts": ("quantize", "dequantize", "amax", "hadamard", "transpose", "copy", "cast"),
          "attention": ("attention", "softmax", "rotary"), "norms, SwiGLU": ("rmsnorm", "swiglu"),
          "optimizer": ("step", "gradient_norm")}
# Batch, heads, positions, width, causal: those of attention_bench.
ATTENTION = [(1, 8, 2048, 64, True), (1, 8, 2048, 64, False), (1, 8, 2048, 128, True), (1, 8, 2048, 128, False),
             (1, 8, 512, 64, True), (1, 8, 512, 64, False), (8, 4, 128, 32, True)]
TOLERANCE = {"f32": 1e-4, "bf16": 4e-2}  # of the largest element


class Error(Exception):
    """An error in the options or in the machine setup."""


@dataclasses.dataclass
class Shape:
    width: int
    heads: int
    hidden: int
    batch: int
    sequence: int
    steps: int  # timed steps of one visit

    def tokens(self):
        return self.batch * self.sequence

    def flops(self):
        matrices = LAYERS * (4 * self.width ** 2 + 3 * self.width * self.hidden) + VOCABULARY * self.width
        pairs = self.batch * self.sequence * (self.sequence + 1) // 2
        return 6 * matrices * self.tokens() + 12 * self.width * LAYERS * pairs


SHAPES = {shape.width: shape for shape in (Shape(128, 4, 352, 8, 128, 10), Shape(512, 8, 1408, 4, 256, 3),
                                           Shape(1024, 16, 2816, 4, 256, 1), Shape(2048, 32, 5632, 4, 256, 1))}


@dataclasses.dataclass
class Runner:
    """One recipe, or one mode of PyTorch, on a number of threads."""
    name: str
    kind: str
    visit: object  # returns the seconds of its steps
    seconds: list = dataclasses.field(default_factory=list)  # the median of each round
    shares: list = dataclasses.field(default_factory=list)  # of each round: group of operations -> share of the time

    def median(self):
        return statistics.median(self.seconds)


def kind_of(recipe):
    return "f32" if recipe == "f32" else "bf16"


def count(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def import_torch():
    try:
        import step_torch
    except ImportError as problem:
        raise Error(f"{problem}: PyTorch is needed: python3 -m venv v && v/bin/pip install torch, "
                    "then v/bin/python bench/step.py") from problem
    return step_torch


# The step.

def completed(command, programs):
    """Runs a program to its end. `programs` names those that must exist."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    except OSError as problem:
        raise Error(f"{problem}: expected {programs}") from problem
    if done.returncode != 0:
        raise Error(f"{command[0]} ends with status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done


def output_of(command):
    return completed(command, "the programs attention_bench and train_lm in --build").stdout


def group_shares(time_shares):
    shares = dict.fromkeys(GROUPS, 0.0)
    for operation, share in time_shares.items():
        for group, names in GROUPS.items():
            shares[group] += share if operation.startswith(names) else 0
    return shares | {"other": 1 - sum(shares.values())}


class TrainLm:
    """samples/train_lm: one process for each visit, whose first step is a warm-up."""

    def __init__(self, build, folder, text):
        self.program, self.folder, self.text = build / "samples" / "train_lm", folder, folder / "text"
        self.text.write_bytes(text)

    def visit(self, recipe, shape, threads, layers=LAYERS, options=()):
        """Returns the seconds of the steps, the shares of the time, and the number of parameters."""
        steps = shape.steps + 1
        sizes = [f"--{key}={getattr(shape, key)}" for key in ("width", "heads", "hidden", "batch", "sequence")]
        text = output_of([self.program, f"--data={self.text}", f"--out={self.folder}", f"--recipe={recipe}",
                          f"--threads={threads}", f"--layers={layers}", *sizes, "--steps=1000", "--validate-every=1000",
                          f"--stop-after={steps}", "--validation-windows=1", "--checkpoint-every=0", "--sample-bytes=0",
                          "--no-twin", "--quiet", "--json", *options])
        metrics = json.loads(text)
        return metrics[recipe]["step_seconds"][1:], group_shares(metrics[recipe]["time_shares"]), metrics["parameters"]


class Peaks:
    """attention_bench measures the dot peaks: GFLOP/s of f32 and bf16, the median of all rounds."""

    def __init__(self, build, folder, threads):
        self.command = [build / "bench" / "attention_bench", threads, 0, "--json", folder / "peaks.json"]
        self.table, self.rates = f"peaks-{threads}", {"f32": [], "bf16": []}

    def visit(self):
        output_of(self.command)
        self.report = json.loads(self.command[-1].read_text(encoding="utf-8"))
        for kind, rate in self.report["tables"][self.table]["rows"]:
            self.rates[kind].append(float(rate))

    def median(self, kind):
        return statistics.median(self.rates[kind])


def runners_of(shape, threads, recipes, lpt, torch):
    def visit_lpt(runner, recipe):
        seconds, shares, parameters = lpt.visit(recipe, shape, threads)
        if parameters != torch.parameters():
            raise Error(f"train_lm has {parameters} parameters, the model in PyTorch {torch.parameters()}")
        runner.shares.append(shares)
        return seconds

    def visit_torch(runner, mode):
        is_long = runner.seconds and runner.seconds[-1] > LONG_STEP
        warm_up = 0 if is_long else 1
        return torch.seconds(runner.kind, mode, warm_up + shape.steps)[warm_up:]

    made = [Runner(f"LPT {recipe}", kind_of(recipe), lambda runner, recipe=recipe: visit_lpt(runner, recipe)) for recipe in recipes]
    return made + [Runner(f"PyTorch {kind}, {mode}", kind, lambda runner, mode=mode: visit_torch(runner, mode))
                   for kind in ("f32", "bf16") for mode in ("eager", "compiled")]


def warmed_up(runners, torch):
    """Runs one step of each mode of PyTorch, which compiles. Drops the modes that fail, for example without a C++ compiler."""
    found = []
    for runner in runners:
        try:
            if runner.name.startswith("PyTorch"):
                torch.seconds(runner.kind, runner.name.rpartition(" ")[2], 1)
            found.append(runner)
        except Exception as problem:  # torch.compile raises arbitrary exceptions of its parts
            print(f"left out: {runner.name}: {str(problem).strip().splitlines()[0][:100]}")
    return found


def measure_step(shape, threads, settings, folder):
    """Returns the runners with their rounds, and the peaks."""
    text = b"".join(page.read_bytes() for page in sorted((ROOT / "docs").rglob("*.md")))
    torch = import_torch().Training(shape, LAYERS, threads, text)
    lpt, peaks = TrainLm(settings.build, folder, text), Peaks(settings.build, folder, threads)
    begin = time.perf_counter()
    runners = warmed_up(runners_of(shape, threads, settings.recipes, lpt, torch), torch)
    compiled = time.perf_counter() - begin
    for _ in range(settings.rounds):
        peaks.visit()
        for runner in runners:
            runner.seconds.append(statistics.median(runner.visit(runner)))
    print(f"\nwidth {shape.width}, {count(threads)}: {compiled:.0f} s of warm-up, {time.perf_counter() - begin - compiled:.0f} s")
    for runner in runners:
        print(f"  {runner.name:24} {shape.tokens() / runner.median():10.0f} tokens/s  {ratio_of(runner, runners):>5} of PyTorch  "
              f"MFU {mfu(runner, shape, peaks):.2f}", flush=True)
        runner.visit = None  # releases the model
    return runners, peaks


def mfu(runner, shape, peaks):
    return shape.flops() / (runner.median() * peaks.median(runner.kind) * 1e9)


def ratio_of(runner, runners):
    """Returns the speed relative to the best of PyTorch in the same type."""
    best = min((other.median() for other in runners if other.name.startswith("PyTorch") and other.kind == runner.kind), default=0)
    return f"{best / runner.median():.2f}" if best and runner.name.startswith("LPT") else ""


def step_table(shape, by_threads, unit):
    """by_threads: number of threads -> (runners, peaks)."""
    columns, rows = ["training"], {runner.name: [runner.name] for runners, _ in by_threads.values() for runner in runners}
    for threads, (runners, peaks) in by_threads.items():
        columns += [f"{what}, {count(threads)}" for what in ("tokens/s", "ratio to PyTorch", "MFU")]
        cells = {runner.name: [f"{shape.tokens() / runner.median():.0f}", ratio_of(runner, runners), f"{mfu(runner, shape, peaks):.2f}"]
                 for runner in runners}
        for name, row in rows.items():
            row += cells.get(name, [""] * 3)
    picture = {"kind": "bars", "title": f"Training step of width {shape.width}", "axis": "tokens/s", "labels": "training",
               "series": [column for column in columns if column.startswith("tokens/s")]}
    return {"unit": unit, "columns": columns, "rows": list(rows.values()), "picture": picture}


def time_table(shape, threads, runners):
    """The plot leaves "other" blank: this time is outside of the library, or in short operations."""
    rows = []
    for runner in runners:
        if runner.shares:
            means = [statistics.mean(shares[group] for shares in runner.shares) for group in (*GROUPS, "other")]
            rows.append([runner.name.removeprefix("LPT "), *(f"{100 * mean:.0f}" for mean in means)])
    unit = f"% of the time on {count(threads)}"
    picture = {"kind": "stacked", "title": f"Time of a step of width {shape.width} by operation", "axis": unit,
               "labels": "recipe", "series": [*GROUPS]}
    return {"unit": unit, "columns": ["recipe", *GROUPS, "other"], "rows": rows, "picture": picture}


def step_report(settings):
    version = import_torch().VERSION
    measured, load = {}, os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for width in settings.widths:
            measured[width] = {threads: measure_step(SHAPES[width], threads, settings, pathlib.Path(folder))
                               for threads in settings.threads}
    unit = f"medians of {settings.rounds} rounds, with PyTorch {version}"
    tables, threads = {}, settings.threads[0]
    for width, by_threads in measured.items():
        tables[f"width-{width}"] = step_table(SHAPES[width], by_threads, unit)
        tables[f"time-{width}"] = time_table(SHAPES[width], threads, by_threads[threads][0])
    _, peaks = measured[settings.widths[0]][threads]
    return {key: peaks.report[key] for key in ("build", "machine")} | {"load": load, "tables": tables}


# The model in lpt.torch.

def lpt_torch_runners(shape, threads, recipes, lpt, text):
    """Returns runners of train_lm and of lpt.torch for each recipe, and those of PyTorch in bf16. Rounds are short, since the rate of
    machines changes: only train_lm, which is a new process, has a warm-up after the first round."""
    step_torch, made = import_torch(), []
    for recipe in recipes:
        training = step_torch.Training(shape, TORCH_LAYERS, threads, text, recipe)
        made.append(Runner(f"train_lm {recipe}", recipe,
                           lambda runner, recipe=recipe: lpt.visit(recipe, dataclasses.replace(shape, steps=2), threads,
                                                                   TORCH_LAYERS, ["--state=f32"])[0]))
        for mode in ("eager", "compiled"):
            made.append(Runner(f"lpt.torch {recipe}, {mode}", recipe, lambda runner, training=training, mode=mode:
                               training.seconds(kind_of(runner.kind), mode, 2)))
    training = step_torch.Training(shape, TORCH_LAYERS, threads, text)
    return made + [Runner(f"PyTorch bf16, {mode}", "PyTorch", lambda runner, mode=mode: training.seconds("bf16", mode, 2))
                   for mode in ("eager", "compiled")]


def lpt_torch_cells(runner, shape, runners):
    """Returns tokens/s, and the time relative to train_lm with the recipe and to the faster PyTorch in bf16, each of the same round."""
    def ratio_to(others):
        return f"{statistics.median(own / min(them) for own, *them in zip(runner.seconds, *(other.seconds for other in others))):.2f}"
    is_torch = runner.name.startswith("lpt.torch")
    program = [other for other in runners if other.name == f"train_lm {runner.kind}"]
    peers = [other for other in runners if other.kind == "PyTorch"]
    return [f"{shape.tokens() / runner.median():.0f}", ratio_to(program) if is_torch else "",
            ratio_to(peers) if runner.kind != "PyTorch" else ""]


def lpt_torch_report(settings):
    text = b"".join(page.read_bytes() for page in sorted((ROOT / "docs").rglob("*.md")))
    tables, load = {}, os.getloadavg()[0]
    for width in settings.widths:
        shape, columns, rows = SHAPES[width], ["training"], {}
        for threads in settings.threads:
            with tempfile.TemporaryDirectory() as folder:
                lpt = TrainLm(settings.build, pathlib.Path(folder), text)
                runners = lpt_torch_runners(shape, threads, settings.recipes, lpt, text)
                for number in range(settings.rounds + 1):  # the first round compiles, and is a warm-up
                    for runner in runners:
                        seconds = statistics.median(runner.visit(runner))
                        runner.seconds += [seconds] if number else []
            columns += [f"{what}, {count(threads)}" for what in ("tokens/s", "time to train_lm", "time to PyTorch")]
            print(f"\nwidth {width}, {count(threads)}")
            for runner in runners:
                cells = lpt_torch_cells(runner, shape, runners)
                rows.setdefault(runner.name, [runner.name]).extend(cells)
                print(f"  {runner.name:32}", "  ".join(f"{cell:>8}" for cell in cells), flush=True)
        unit = f"medians of {settings.rounds} rounds, with PyTorch {import_torch().VERSION}"
        tables[f"torch-{width}"] = {"unit": unit, "columns": columns, "rows": list(rows.values())}
    import lpt as module
    return {"build": module.build_info(), "load": load, "tables": tables}


# Attention.

def attention_name(batch, heads, positions, width, is_causal):
    extents = [heads, positions, width] if batch == 1 else [batch, heads, positions, width]
    return " × ".join(map(str, extents)) + (", causal" if is_causal else "")


def calls_of(lpt, context, torch):
    """Returns pass -> (call of LPT, call of PyTorch)."""
    query, key, value, gradient = (lpt.from_dlpack(one) for one in (*torch.inputs, torch.gradient))

    def forward():
        return (lpt.attention(query, key, value, causal=torch.is_causal, context=context),)

    def both():
        output, sums = lpt.attention(query, key, value, causal=torch.is_causal, log_sum_exp=True, context=context)
        return lpt.attention_backward(query, key, value, gradient, causal=torch.is_causal, output=output, log_sum_exp=sums,
                                      context=context)
    return {"forward": (forward, torch.forward), "forward and backward": (both, torch.both)}


def seconds_of(call):
    begin, repeats = time.perf_counter(), 0
    while repeats == 0 or time.perf_counter() - begin < VISIT_SECONDS:
        call()
        repeats += 1
    return (time.perf_counter() - begin) / repeats


def medians_of(calls, rounds):
    """Returns the median seconds of each call over the rounds. The first round is a warm-up."""
    times = [[seconds_of(call) for call in calls] for _ in range(rounds + 1)][1:]
    return [statistics.median(column) for column in zip(*times)]


def attention_rows(lpt, step_torch, threads, rounds):
    step_torch.torch.set_num_threads(threads)
    with lpt.Context(threads) as context:
        for *extents, is_causal in ATTENTION:
            for kind, tolerance in TOLERANCE.items():
                calls = calls_of(lpt, context, step_torch.Attention(extents, kind, is_causal))
                for name, (lpt_call, torch_call) in calls.items():
                    row = f"{kind}, {name}, {attention_name(*extents, is_causal)}"
                    if (difference := step_torch.difference(torch_call(), lpt_call())) > tolerance:
                        raise Error(f"{row}: results differ by {difference:.1g} of the largest element")
                    seconds = medians_of((lpt_call, torch_call), rounds)
                    cells = [f"{seconds[0] * 1e3:.2f}", f"{seconds[1] * 1e3:.2f}", f"{seconds[1] / seconds[0]:.2f}"]
                    print(f"  {row:56} {cells[0]:>9} ms  PyTorch {cells[1]:>9} ms  ratio {cells[2]}", flush=True)
                    yield row, cells


def attention_report(settings):
    step_torch = import_torch()
    try:
        import lpt
    except ImportError as problem:
        raise Error(f"{problem}: expected PYTHONPATH={settings.build / 'python'}") from problem
    columns, rows, load = ["attention"], {}, os.getloadavg()[0]
    for threads in settings.threads:
        print(f"\n{count(threads)}")
        columns += [f"{what}, {count(threads)}" for what in ("ms", "PyTorch ms", "ratio")]
        for row, cells in attention_rows(lpt, step_torch, threads, settings.rounds):
            rows.setdefault(row, [row]).extend(cells)
    picture = {"kind": "bars", "title": "Speed of attention relative to PyTorch", "axis": "ratio of times", "ratio": True,
               "labels": "attention", "series": [column for column in columns if column.startswith("ratio")],
               "rows": [row for row in rows if "2048" in row]}
    table = {"unit": f"medians of {settings.rounds} rounds, with PyTorch {step_torch.VERSION}", "columns": columns,
             "rows": list(rows.values()), "picture": picture}
    return {"build": lpt.build_info(), "load": load, "tables": {"pytorch": table}}


# The command line.

def positive(text):
    if (threads := int(text)) < 1:
        raise ValueError
    return threads


def settings_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attention", action="store_true", help="attention alone, instead of the step")
    parser.add_argument("--lpt-torch", action="store_true", help="the step in lpt.torch beside train_lm")
    parser.add_argument("--threads", nargs="+", type=positive, default=[1], help="one after the other; 1")
    parser.add_argument("--widths", nargs="+", type=int, choices=SHAPES, default=list(SHAPES), help="of the model; all")
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=RECIPES, help="of LPT; all")
    parser.add_argument("--rounds", type=positive, default=3, help="visits of each training; 3")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "test", help="folder of the build; build/test")
    parser.add_argument("--json", type=pathlib.Path, help="write the tables")
    return parser.parse_args(arguments)


def main(arguments):
    settings = settings_of(arguments)
    try:
        measure = attention_report if settings.attention else lpt_torch_report if settings.lpt_torch else step_report
        report = measure(settings)
        report |= {"command": " ".join(sys.argv), "threads": max(settings.threads)}
        if settings.json:
            settings.json.write_text(json.dumps(report, indent=1, ensure_ascii=False), encoding="utf-8")
    except (Error, OSError) as problem:
        print(f"step: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
