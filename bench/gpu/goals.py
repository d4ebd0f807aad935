#!/usr/bin/env python3
"""Evaluates the measurements of a GPU run: one line for each goal, with its floor, its result, and whether it is reached.

Usage: goals.py FOLDER

Reads the output of scripts/gpu from FOLDER: bench.json (gpu_bench), torch.json (torch_peers.py), stages.tsv (name, exit status,
text). Writes goals.json to the same folder. Missing measurements are reported with the reason. A rehearsal is not evaluated.
Shares are relative to the bandwidth of a copy in the same run, counted as bytes read and written.
"""
import json
import pathlib
import sys


TIMEOUT = "124"  # exit status of timeout(1)


class Unmeasured(Exception):
    """The reason for a missing result."""


class Figures:
    def __init__(self, bench, torch, stages):
        self.rows = {(row["group"], row["who"]): row for row in bench.get("rows", []) + torch.get("rows", [])}
        self.stages = stages
        self.reasons = {"torch": torch.get("missing", "")}
        for group in bench.get("left_out", []):
            self.reasons[group] = "the time was up"
        if not bench.get("rows"):
            self.reasons["bench"] = bench.get("missing", "nothing was timed")

    def row(self, group, who):
        row = self.rows.get((group, who)) or self.rows.get((group, "all"))
        if row is None:
            raise Unmeasured(self.reasons.get(group) or self.reasons.get("bench") or f"no figure of {group}, {who}")
        if "missing" in row:
            raise Unmeasured(f"{who}: {row['missing']}")
        return row

    def seconds(self, group, who):
        return self.row(group, who)["seconds"]

    def rate(self, group, who):
        row = self.row(group, who)
        return row["bytes"] / row["seconds"]

    def stage(self, name):
        if name not in self.stages:
            raise Unmeasured(f"{name} was not run")
        status, text = self.stages[name]
        if status == "skipped":
            raise Unmeasured(text)
        if status == TIMEOUT:
            raise Unmeasured(f"{name}: the time was up")
        return 1.0 if status == "0" else 0.0

    def suites(self):
        """Returns the fraction of the suites that passed. Each suite is a separate process."""
        names = [name for name in self.stages if name.startswith("suite ")]
        if not names:
            raise Unmeasured("no suite was run")
        outcomes = []
        for name in names:
            try:
                outcomes.append(self.stage(name))
            except Unmeasured as why:
                outcomes.append(why)
        figures = [outcome for outcome in outcomes if isinstance(outcome, float)]
        late = [outcome for outcome in outcomes if isinstance(outcome, Unmeasured)]
        if late and all(figure == 1.0 for figure in figures):
            raise late[0]
        return sum(figures) / len(names)


def share(floor, group, who):
    """Returns a check relative to the bandwidth of a copy."""
    return f"{group}: {who}, of a copy", floor, lambda f: f.rate(group, who) / f.rate("copy", "copy")


def speed(floor, group, who, peer, peer_group=None):
    """Returns a check relative to the speed of a peer. A missing result of LPT is reported before a missing peer."""
    def value(figures):
        own = figures.seconds(group, who)
        return figures.seconds(peer_group or group, peer) / own
    return f"{group}: {who}, of the speed of {peer_group or ''}{' ' if peer_group else ''}{peer}", floor, value


def beside(group, who, peer):
    """Like speed(), for a peer with less exact sums: printed without a floor."""
    name, _, value = speed(0.0, group, who, peer)
    return name, None, value


def stage(name):
    return f"{name}: passed", 1.0, lambda f: f.stage(name)


def host_cost(most_microseconds):
    def value(figures):
        return most_microseconds - 1e6 * (figures.seconds("host_cost", "lpt") - figures.seconds("host_cost", "cublaslt"))
    return f"microseconds left of {most_microseconds} over a raw call", 0.0, value


def adamw_beside_torch(floor):
    def value(figures):
        own = figures.row("optimizer", "adamw, fp8 moments")
        peer = figures.row("torch", "fused adamw")
        return own["elements"] / own["seconds"] / (peer["elements"] / peer["seconds"])
    return "parameters a second, of torch's fused AdamW", floor, value


FP8 = [(group, kind) for group in ("fp8_4096", "fp8_8192", "fp8_16384") for kind in ("fp8", "fp8 rows", "fp8 1x128")]
GOALS = [
    ("G1", "FP8 GEMM", [speed(0.97, group, f"lpt {kind}", f"cublaslt {kind}") for group, kind in FP8] +
                           [beside(group, f"lpt {kind}", f"cublaslt {kind}, fast") for group, kind in FP8
                            if kind != "fp8 1x128"]),
    ("G2", "what a call costs", [host_cost(1.5)]),
    ("G3", "cast with amax", [share(0.90, "cast", "e4m3fn_tensor, scale kept"), share(0.90, "cast", "e4m3fn_tensor, amax beside")]),
    ("G4", "cast with transpose and amax", [share(0.85, "transpose", "e4m3fn_tensor, scale kept"),
                                            share(0.85, "transpose", "e4m3fn_tensor, amax beside")]),
    ("G5", "blocks of 128", [share(0.85, "blocks", "e4m3fn_1x128"), share(0.85, "blocks", "e4m3fn_128x128")]),
    ("G6", "MXFP8", [share(0.85, "blocks", "mxfp8_e4m3")]),
    ("G7", "NVFP4", [share(0.75, "blocks", "nvfp4"), share(0.65, "blocks", "nvfp4, rotated by 16"),
                     share(0.60, "blocks", "nvfp4, stochastic")]),
    ("G8", "FP8 AdamW", [share(0.90, "optimizer", "adamw, fp8 moments"),
                         share(0.85, "optimizer", "adamw, fp8 moments, stochastic"), adamw_beside_torch(1.8)]),
    ("G9", "W4A8, 1 and 16 rows", [check for group in ("w4_1", "w4_16") for check in (
        share(0.80, group, "lpt w4a8"), speed(3.0, group, "lpt w4a8", "cublaslt bf16"),
        speed(1.6, group, "lpt w4a8", "cublaslt fp8"), beside(group, "lpt w4a8", "cublaslt fp8, fast"))]),
    ("G10", "W4A8, 64 rows", [share(0.70, "w4_64", "lpt w4a8"), speed(2.5, "w4_64", "lpt w4a8", "cublaslt bf16")]),
    ("G11", "W4A8, 4096 rows", [speed(0.85, "w4_4096", "lpt w4a8", "cublaslt fp8"),
                                beside("w4_4096", "lpt w4a8", "cublaslt fp8, fast"),
                                speed(1.35, "w4_4096", "lpt w4a8", "cublaslt bf16")]),
    ("G12", "NVFP4 and MXFP8 GEMM", [speed(0.88, "emulated", "lpt nvfp4", "cublaslt bf16"),
                                         speed(0.88, "emulated", "lpt mxfp8", "cublaslt bf16")]),
    ("G13", "MXFP4 GEMM", [speed(0.80, "emulated", "lpt mxfp4", "cublaslt fp8 1x128")]),
    ("G14", "layers", [share(0.85, "layers", "softmax"), speed(1.0, "layers", "softmax", "softmax", "torch"),
                       share(0.85, "layers", "smooth swiglu, then e4m3fn_1x128")]),
    ("G15", "2:4 masks and compression", [share(0.85, "masks", "2:4 mask"), share(0.85, "masks", "2:4 compression")]),
    ("G16", "2:4 FP8 GEMM", [speed(1.15, "sparse", "lpt 2:4 fp8", "cublaslt fp8"),
                                beside("sparse", "lpt 2:4 fp8", "cublaslt fp8, fast")]),
    ("G17", "GEMM in two parts", [speed(1 / 1.06, "split", "shared, then private", "one GEMM")]),
    ("G18", "the bits of the CPU", [("suites: passed", 1.0, Figures.suites)]),
    ("G19", "sanitizers", [stage("memcheck"), stage("racecheck"), stage("initcheck")]),
]


def judged(figures, checks, is_rehearsal):
    """Returns (outcome, parts) of one goal. The outcome is that of the worst part with a floor."""
    parts = []
    for name, floor, value in checks:
        part = {"what": name, "floor": floor if floor is None else round(floor, 3)}
        try:
            figure = value(figures)
            outcome = "beside" if floor is None else "reached" if figure >= floor else "missed"
            part |= {"figure": round(figure, 4), "outcome": "rehearsed" if is_rehearsal else outcome}
        except Unmeasured as why:
            part |= {"outcome": "unmeasured", "why": str(why)}
        parts.append(part)
    for outcome in ("missed", "unmeasured", "rehearsed"):
        if any(part["outcome"] == outcome for part in parts if part["floor"] is not None):
            return outcome, parts
    return "reached", parts


def line_of(part):
    figure = f"{part['figure']:.3f}" if "figure" in part else "-"
    why = f": {part['why'][:110]}" if "why" in part else ""
    floor = "-" if part["floor"] is None else part["floor"]
    return f"       {part['what']:<64} floor {floor:>5}  figure {figure:>7}  {part['outcome']}{why}"


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:
        return {"missing": f"{path.name}: {type(why).__name__}"}


def read_stages(path):
    """Returns {name: (exit status or "skipped", text)}."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name: (status, text) for name, status, text in (line.split("\t", 2) for line in lines)}


def main(folder):
    folder = pathlib.Path(folder)
    bench, torch = read_json(folder / "bench.json"), read_json(folder / "torch.json")
    figures = Figures(bench, torch, read_stages(folder / "stages.tsv"))
    is_rehearsal = bench.get("is_rehearsal", False)
    print(f"goals on {bench.get('device', 'no device')}" + (": a rehearsal, figures mean nothing" if is_rehearsal else ""))
    results = []
    for number, title, checks in GOALS:
        outcome, parts = judged(figures, checks, is_rehearsal)
        results.append({"goal": number, "title": title, "outcome": outcome, "parts": parts})
        print(f"{number:<4} {title:<30} {outcome}")
        print("\n".join(map(line_of, parts)))
    counts = {outcome: sum(r["outcome"] == outcome for r in results) for outcome in ("reached", "missed", "unmeasured", "rehearsed")}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))
    rows = [[part["what"], part.get("figure", "not measured"), "" if part["floor"] is None else part["floor"], part["outcome"]]
            for goal in results for part in goal["parts"]]
    result = {"build": bench.get("build", ""), "machine": bench.get("device"), "is_rehearsal": is_rehearsal, "goals": results,
              "tables": {"goals": {"unit": "", "columns": ["figure", "value", "floor", "outcome"], "rows": rows}}, "bench": bench, "torch": torch}
    (folder / "goals.json").write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: goals.py FOLDER")
    main(sys.argv[1])
