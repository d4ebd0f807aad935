#!/usr/bin/env python3
"""Writes the measured parts of the benchmark pages, and plots, from docs/benchmarks/data/*.json.

Usage: make_benchmarks.py write | check
       make_benchmarks.py import RUN REPORT... [--title T] [--machine M] [--compiler C] [--commit C] [--date D] [--command C]

write   writes the parts of docs/benchmarks/*.md that are between markers, and the plots
check   exit status 1 and one line for each page or plot that `write` would change
import  fills docs/benchmarks/data/RUN.json from the JSON of benchmarks, then writes

A REPORT has "tables" in the form of RUN.json, whose cells are texts or numbers, and "build" (the string of lpt_build_info()),
"machine", "command", "threads" and "load". Each option replaces a value of the report, or adds a missing one. These programs
write a REPORT:

  --json FILE    quantize_bench, optimizer_bench, reduce_bench, sparse_bench, attention_bench, comm_bench, comm_mpi_bench, partial_bench, delay_bench,
                 bench/python_calls.py, bench/step.py, bench/drop_compute.py, bench/ranks_training.py, bench/language_model.py, bench/plan.py, bench/gradient_codecs.py,
                 lpt bench comm
  --json FILE    gemm_bench, lpt bench gemm, bench/peers.py: these have "peaks" and "results", from which `import` makes the tables
  goals.json     scripts/gpu

A marker is the line `<!-- begin NAME -->`; its part ends at `<!-- end -->`. NAME is RUN/TABLE, or `head` (machine, compiler, commit, date and
command of the page's runs), or `limits` (those of the page's runs).

RUN.json has "title", "machine", "compiler", "commit", "date", "command", "limits" (a list) and "tables". Tables have names.
Each has "unit" (of all values, or ""), "columns", "rows" (cells are Markdown), and optionally "picture":

  {"kind": "bars", "title", "axis", "labels": COLUMN, "series": [COLUMN...], "rows": [LABEL...]}
  {"kind": "bars", "title", "axis", "bars": [[LABEL, SERIES, RUN/TABLE, ROW, COLUMN, N]...]}
  {"kind": "stacked", "title", "axis", "labels": COLUMN, "series": [COLUMN...]}
  {"kind": "lines", "title", "x": COLUMN, "axis", "range": [LOW, HIGH], "series": {NAME: [COLUMN...]}}

A bar is the first number of a cell, or the Nth; without "rows", all rows have bars. Optional keys: "ratio": true (a logarithmic
axis around 1), "file" (by default docs/_static/benchmarks/RUN-TABLE.svg), "alone": true (the page has the plot without the
table).
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys

import benchmark_pictures

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "benchmarks"
DATA = PAGES / "data"
PICTURES = ROOT / "docs" / "_static" / "benchmarks"
QUIET_LOAD = 0.3  # other processes disturb a benchmark if the load average exceeds its threads by this value
HEAD = ("title", "machine", "compiler", "commit", "date", "command")
MARKED = re.compile(r"(<!-- begin (\S+) -->\n).*?(<!-- end -->)", re.S)
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?![\w.])")


class Error(Exception):
    """An error in the data or in a page."""


# Data.

def read_runs():
    runs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))}
    for name, run in runs.items():
        if set(run) != {*HEAD, "limits", "tables"}:
            raise Error(f"{name}.json: its keys are {sorted(run)}")
        check_tables(f"{name}.json", run["tables"])
    return runs


def check_tables(file, tables):
    if not isinstance(tables, dict):
        raise Error(f"{file}: tables is {json.dumps(tables)[:60]}: expected an object")
    for key, table in tables.items():
        place = f"{file}, {key}"
        if not re.fullmatch(r"[A-Za-z0-9_-]+", key):
            raise Error(f"{place}: expected a name of the characters A-Z, a-z, 0-9, - and _")
        if not isinstance(table, dict) or not set(table) - {"picture"} == {"unit", "columns", "rows"}:
            raise Error(f"{place}: expected an object with unit, columns and rows")
        lines = [[table["unit"]], table["columns"], *(table["rows"] if isinstance(table["rows"], list) else [None])]
        if not all(isinstance(line, list) and all(map(is_cell, line)) for line in lines):
            raise Error(f"{place}: expected lists of texts and finite numbers")
        if any(len(row) != len(table["columns"]) for row in table["rows"]):
            raise Error(f"{place}: a row does not have {len(table['columns'])} cells")


def is_cell(value):
    return isinstance(value, str) or type(value) in (int, float) and math.isfinite(value)


def json_text(value, indent="\n"):
    """Returns JSON with one line for each table row and each plotted bar."""
    inner = indent + " "
    if isinstance(value, dict):
        return "{" + ",".join(f"{inner}{json.dumps(key)}: {json_text(item, inner)}" for key, item in value.items()) + indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[" + ",".join(inner + json_text(item) for item in value) + indent + "]"
    return json.dumps(value, ensure_ascii=False)


def table_of(runs, name):
    run, _, table = name.partition("/")
    if table not in runs.get(run, {"tables": ()})["tables"]:
        raise Error(f"no table {name} in {DATA.relative_to(ROOT)}, but a page or a picture names it")
    return runs[run]["tables"][table]


def number(cell, index=1):
    """Returns the first number of a cell, or a later one, as text."""
    found = NUMBER.findall(cell)
    return found[index - 1] if len(found) >= index else None


# Plots.

def bars_of(runs, table):
    picture, columns = table["picture"], table["columns"]
    if "bars" in picture:
        for label, series, name, row, column, index in picture["bars"]:
            source = table_of(runs, name)
            cells = {cells[0]: cells for cells in source["rows"]}[row]
            yield label, series, number(cells[source["columns"].index(column)], index)
        return
    for cells in table["rows"]:
        label = cells[columns.index(picture["labels"])].replace("`", "")
        if label in picture.get("rows", [label]):
            for series in picture["series"]:
                if value := number(cells[columns.index(series)]):
                    yield label, series, value


def curves_of(table):
    picture, columns = table["picture"], table["columns"]
    for series, names in picture["series"].items():
        for name in names:
            yield series, [tuple(float(cells[columns.index(column)]) for column in (picture["x"], name)) for cells in table["rows"]]


def drawn(runs, table):
    picture = table["picture"]
    if picture["kind"] == "bars":
        return benchmark_pictures.bar_chart(picture["title"], picture["axis"], list(bars_of(runs, table)), picture.get("ratio", False))
    if picture["kind"] == "stacked":
        return benchmark_pictures.stacked_bar_chart(picture["title"], picture["axis"], list(bars_of(runs, table)))
    return benchmark_pictures.line_chart(picture["title"], picture["x"], picture["axis"], list(curves_of(table)), *picture["range"])


def picture_path(name, table):
    return ROOT / table["picture"].get("file", f"docs/_static/benchmarks/{name.replace('/', '-')}.svg")


# Pages.

def markdown_table(columns, rows):
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in (columns, *rows)]
    return [lines[0], "|" + "---|" * len(columns), *lines[1:]]


def head_of(runs, shown, text):
    """Returns one line for each run of the page, with a link to the heading above its first part."""
    rows = []
    for name in shown:
        heading = re.findall(r"^#{2,} (.+)$", text[:text.index(f"<!-- begin {name}/")], re.M)[-1]
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        rows.append([f"[{runs[name]['title']}](#{anchor})", *(runs[name][key] for key in HEAD[1:])])
    return markdown_table(["run", *HEAD[1:]], rows)


def part_of(runs, name, page):
    table, lines = table_of(runs, name), []
    if "picture" in table:
        lines = [f"![{table['picture']['title']}]({os.path.relpath(picture_path(name, table), page.parent)})"]
        if table["picture"].get("alone"):
            return lines
        lines.append("")
    return lines + ([f"Figures are {table['unit']}.", ""] if table["unit"] else []) + markdown_table(table["columns"], table["rows"])


def page_text(runs, page):
    text = page.read_text(encoding="utf-8")
    names = [found[1] for found in MARKED.findall(text)]
    for name in names:
        if "/" in name:
            table_of(runs, name)
    shown = list(dict.fromkeys(name.split("/")[0] for name in names if "/" in name))
    limits = [f"- {limit}" for limit in dict.fromkeys(limit for name in shown for limit in runs[name]["limits"])]

    def part(found):
        name = found.group(2)
        lines = limits if name == "limits" else head_of(runs, shown, text) if name == "head" else part_of(runs, name, page)
        return found.group(1) + "".join(f"{line}\n" for line in ["", *lines, ""]) + found.group(3)
    return MARKED.sub(part, text), names


def made(runs):
    """Returns the text of each page and plot."""
    files, shown = {}, set()
    for page in sorted(PAGES.glob("*.md")):
        files[page], names = page_text(runs, page)
        shown |= set(names)
    tables = {f"{run}/{table}": value for run, data in runs.items() for table, value in data["tables"].items()}
    if missing := [name for name in tables if name not in shown]:
        raise Error(f"no page shows {', '.join(missing)}: add the lines `<!-- begin NAME -->` and `<!-- end -->` for each")
    for name, table in tables.items():
        if "picture" in table:
            try:
                files[picture_path(name, table)] = drawn(runs, table)
            except (LookupError, TypeError, ValueError) as problem:
                raise Error(f"picture of {name}: {problem}") from problem
    return files


def stale():
    """Returns the files that differ from the generated ones, and their text; None: no data generates this plot."""
    files = {**dict.fromkeys(PICTURES.glob("*.svg")), **made(read_runs())}
    return {path: text for path, text in files.items() if (path.read_text(encoding="utf-8") if path.exists() else None) != text}


def check():
    paths = stale()
    for path, text in paths.items():
        print(f"{path.relative_to(ROOT)}: {'no data draws it' if text is None else 'stale'}; run tools/make_benchmarks.py write")
    return 1 if paths else 0


def write():
    for path, text in stale().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


# Reports of benchmarks.

def pivoted(entries, corner, unit):
    """Returns a table from (row, column, cell)."""
    entries = list(entries)
    rows, columns = (list(dict.fromkeys(entry[i] for entry in entries)) for i in (0, 1))
    cells = {entry[:2]: entry[2] for entry in entries}
    rows = [[row, *(cells.get((row, column), "") for column in columns)] for row in rows]
    return {"unit": unit, "columns": [corner, *columns], "rows": rows}


def gemm_shape(rate):
    extents = [str(rate[key]) for key in "mkn"]
    return " × ".join(extents if len(set(extents)) > 1 else extents[:1])


def gemm_cell(rate, rates):
    """Returns the share of the machine limit, and the speed relative to the fastest peer of the same kind, as in gemm_bench."""
    def speed(one):
        return one["share_of_peak"] / (one["weight_bytes"] if one["limit"] == "read" else 1)
    peers = [speed(one) for one in rates if one["is_peer"] and all(one[key] == rate[key] for key in ("shape", "kind", "limit"))]
    is_compared = not rate["is_peer"] and max(peers, default=0) > 0
    return f"{rate['share_of_peak']:.2f}" + (f" ({speed(rate) / max(peers):.2f})" if is_compared else "")


def gemm_tables(report):
    rates = report["results"]
    limits = [[name.partition("_")[0], f"{value:g}"] for name, value in report["peaks"].items()]
    tables = {"limits": {"unit": "GFLOP/s or GOP/s of one thread", "columns": ["limit", "value"], "rows": limits}}
    unit = "shares of the limit; parentheses have the speed relative to the fastest other library of the same kind"
    for name, is_packed in (("packed", True), ("rows", False)):
        if entries := [(gemm_shape(rate), rate["name"].replace(":", " × "), gemm_cell(rate, rates))
                       for rate in rates if rate["is_packed"] == is_packed]:
            tables[name] = pivoted(entries, "m × k × n", unit)
    if steps := [(step["name"], f"{step['parameters']} parameters", f"{step['nanoseconds']:.2f}") for step in report.get("steps", ())]:
        tables["steps"] = pivoted(steps, "step", "nanoseconds for each parameter")
    return tables


def plain_tables(tables):
    """Returns the tables of a report, with cells as texts."""
    return {name: table | {"rows": [[cell if isinstance(cell, str) else f"{cell:g}" for cell in row] for row in table["rows"]]}
            for name, table in tables.items()}


def read_report(path):
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise Error(f"{path}: {problem}") from problem
    if not isinstance(report, dict) or not {"tables", "peaks"} & set(report):
        raise Error(f"{path}: expected an object with tables, or with peaks and results")
    check_tables(path, report.get("tables", {}))
    return report


def tables_of(reports):
    tables = {}
    for report in reports:
        if twice := tables.keys() & report.get("tables", {}).keys():
            raise Error(f"two reports have {', '.join(sorted(twice))}: expected different tables")
        tables |= plain_tables(report.get("tables", {}))
    gemms = [report for report in reports if "peaks" in report]
    try:
        return tables | (gemm_tables({**gemms[0], **{key: [one for report in gemms for one in report.get(key, [])]
                                                     for key in ("results", "steps")}}) if gemms else {})
    except (LookupError, TypeError, AttributeError) as problem:
        raise Error(f"results of a GEMM benchmark: {type(problem).__name__}: {problem}") from problem


def limits_of(report, title, limits):
    """Returns the limits of an earlier report, and the load if other processes ran."""
    start, load, threads = f"The load average of {title} was ", report.get("load", 0), report.get("threads", 1) * report.get("ranks", 1)
    count = f"{threads} thread{'' if threads == 1 else 's'}"
    noise = [f"{start}{load:.1f} with {count}: other work disturbed the figures."] if load > threads + QUIET_LOAD else []
    return [limit for limit in limits if not limit.startswith(start)] + noise


def machine():
    """Returns the name of the CPU, and the number of cores that this process may use."""
    names = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


def import_report(options):
    reports = [read_report(path) for path in options.reports]
    report = reports[0]
    path = DATA / f"{options.run}.json"
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"title": options.run, "limits": [], "tables": {}}
    build = report.get("build", "").split(", ")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    found = {"title": old["title"], "machine": report.get("machine") or machine(), "compiler": build[1] if build[0].startswith("lpt ") else None,
             "commit": commit, "date": datetime.date.fromtimestamp(options.reports[0].stat().st_mtime).isoformat(),
             "command": report.get("command")}
    run = {key: getattr(options, key) or found[key] or "not recorded" for key in HEAD}
    if run["command"] == "not recorded":
        raise Error(f"{options.reports[0]} has no command: expected --command")
    tables = tables_of(reports)
    for name, table in tables.items():
        if "picture" in old["tables"].get(name, {}):
            table["picture"] = old["tables"][name]["picture"]
    run |= {"command": f"`{run['command']}`", "limits": limits_of(report, run["title"], old["limits"]), "tables": tables}
    path.write_text(json_text(run) + "\n", encoding="utf-8")
    print(path.relative_to(ROOT))
    return write()


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="verb", required=True)
    commands.add_parser("write")
    commands.add_parser("check")
    importer = commands.add_parser("import")
    importer.add_argument("run")
    importer.add_argument("reports", nargs="+", type=pathlib.Path)
    for key in HEAD:
        importer.add_argument(f"--{key}")
    options = parser.parse_args(arguments)
    try:
        return {"write": write, "check": check, "import": lambda: import_report(options)}[options.verb]()
    except (Error, OSError, ValueError) as problem:
        print(f"make_benchmarks: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
