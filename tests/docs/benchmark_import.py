#!/usr/bin/env python3
"""A bench writes its tables as JSON, and make_benchmarks.py imports them into a copy of the pages. Usage: benchmark_import.py SOURCE COMM_BENCH"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BENCH = map(pathlib.Path, sys.argv[1:3])
RUN = "of-this-test"
PLACE = f"\n## Import\n\n<!-- begin {RUN}/all-reduce -->\n<!-- end -->\n"


def run(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)


class BenchmarkImport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for tree in ("tools/make_benchmarks.py", "tools/benchmark_pictures.py", "docs/benchmarks", "docs/_static/benchmarks"):
            copy = shutil.copytree if (SOURCE / tree).is_dir() else shutil.copy
            (cls.folder / tree).parent.mkdir(parents=True, exist_ok=True)
            copy(SOURCE / tree, cls.folder / tree)
        cls.page = cls.folder / "docs/benchmarks/collectives.md"
        cls.page.write_text(cls.page.read_text(encoding="utf-8") + PLACE, encoding="utf-8")
        cls.data = cls.folder / f"docs/benchmarks/data/{RUN}.json"
        cls.report = cls.folder / "report.json"
        cls.bench = run(BENCH, 2, 0.01, "--json", cls.report)

    def make(self, *words):
        return run(sys.executable, self.folder / "tools/make_benchmarks.py", *words)

    def test_a_page_of_a_missing_run_is_an_error(self):
        made = self.make("check")
        self.assertEqual(made.returncode, 1)
        self.assertIn(f"make_benchmarks: no table {RUN}/all-reduce", made.stderr)

    def test_a_report_becomes_a_table(self):
        self.assertEqual(self.bench.returncode, 0, self.bench.stderr)
        made = self.make("import", RUN, self.report, "--title", "A run")
        self.assertEqual(made.returncode, 0, made.stderr)
        report = json.loads(self.report.read_text(encoding="utf-8"))
        text = self.page.read_text(encoding="utf-8")
        for row in report["tables"]["all-reduce"]["rows"]:
            self.assertIn("|" + "".join(f" {cell} |" if cell else " |" for cell in row), text)
            self.assertRegex(self.bench.stdout, r"\b *".join(map(re.escape, filter(None, row))))
        head = next(line for line in text.splitlines() if line.startswith("| [A run](#import) |"))
        for part in (report["machine"], report["build"].split(", ")[1], f"`{report['command']}`"):
            self.assertIn(part, head)
        self.assertEqual(self.make("check").returncode, 0)

    def test_a_malformed_report_is_an_error(self):
        table = {"unit": "", "columns": ["a", "b"], "rows": [["x", 1.5]]}
        malformed = {
            "no object": "[]",
            "a part of a file": '{"tables": {',
            "neither tables nor results": "{}",
            "tables as a list": json.dumps({"tables": []}),
            "nothing": "",
            "no unit": json.dumps({"tables": {"t": {"columns": ["a"], "rows": []}}}),
            "a short row": json.dumps({"tables": {"t": table | {"rows": [["x"]]}}}),
            "a cell as a list": json.dumps({"tables": {"t": table | {"rows": [["x", []]]}}}),
            "no number": json.dumps({"tables": {"t": table | {"rows": [["x", float("nan")]]}}}),
            "rows as a text": json.dumps({"tables": {"t": table | {"rows": "xy"}}}),
            "a name with a space": json.dumps({"tables": {"a b": table}}),
            "a GEMM without results": json.dumps({"peaks": {}, "results": [{}]}),
        }
        file = self.folder / "malformed.json"
        for name, text in malformed.items():
            with self.subTest(name):
                file.write_text(text, encoding="utf-8")
                made = self.make("import", "malformed", file, "--command", "bench")
                self.assertEqual(made.returncode, 1, made.stdout)
                self.assertRegex(made.stderr, rf"\Amake_benchmarks: ({file}|results of a GEMM).*\n\Z")
                self.assertFalse(self.data.with_stem("malformed").exists())

    def test_two_reports_with_one_table_are_an_error(self):
        made = self.make("import", "twice", self.report, self.report)
        self.assertEqual((made.returncode, self.data.with_stem("twice").exists()), (1, False))
        self.assertIn("two reports have all-reduce", made.stderr)

    def test_a_report_without_a_command_needs_the_option(self):
        file = self.folder / "short.json"
        file.write_text(json.dumps({"tables": {"t": {"unit": "", "columns": ["a"], "rows": [[1]]}}}), encoding="utf-8")
        made = self.make("import", "short", file)
        self.assertEqual((made.returncode, self.data.with_stem("short").exists()), (1, False))
        self.assertIn("expected --command", made.stderr)

    def test_a_report_that_cannot_be_written_is_an_error(self):
        for path in ("/dev/full", self.folder / "none" / "report.json"):
            with self.subTest(path):
                bench = run(BENCH, 2, 0.01, "--json", path)
                self.assertEqual(bench.returncode, 1)
                self.assertIn(f"{path} cannot be written", bench.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
