#!/usr/bin/env python3
"""bench/step.py measures a tiny model next to a fake PyTorch, and make_benchmarks.py imports its tables. Usage: step_report.py SOURCE BUILD"""
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "bench"))
import step  # noqa: E402

WIDTH, HIDDEN = 32, 48
SHAPE = step.Shape(WIDTH, 2, HIDDEN, 8, 32, 2)
PARAMETERS = 2 * 256 * WIDTH + WIDTH + 4 * (2 * WIDTH + 4 * WIDTH ** 2 + 3 * WIDTH * HIDDEN)
SECONDS = {("f32", "eager"): 0.04, ("f32", "compiled"): 0.02, ("bf16", "eager"): 0.01, ("bf16", "compiled"): 0.005}


class FakeTraining:
    """step_torch.Training with steps of a known time."""
    has_compiler, extra_parameters = True, 0

    def __init__(self, shape, layers, threads, text):
        pass

    def parameters(self):
        return PARAMETERS + self.extra_parameters

    def seconds(self, kind, mode, steps):
        if mode == "compiled" and not self.has_compiler:
            raise RuntimeError("no compiler")
        return [SECONDS[kind, mode]] * steps


class StepReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = self.folder / "report.json"
        self.training = type("Training", (FakeTraining,), {})
        sys.modules["step_torch"] = types.SimpleNamespace(VERSION="0.0", Training=self.training)
        shapes, step.SHAPES = step.SHAPES, {WIDTH: SHAPE}
        self.addCleanup(setattr, step, "SHAPES", shapes)

    def measure(self, *options):
        """Exit status, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = step.main([f"--build={BUILD}", f"--json={self.report}", "--rounds=1", "--recipes", "f32", "bf16", *options])
        return status, out.getvalue(), err.getvalue()

    def tables(self, *options):
        status, _, err = self.measure(*options)
        self.assertEqual(status, 0, err)
        return json.loads(self.report.read_text(encoding="utf-8"))["tables"]

    def test_flops_are_those_of_matrices_and_of_visible_pairs(self):
        # Width 4, hidden 3, 2 sequences of 3 bytes: 4 blocks of 4 * 16 + 3 * 12 weights, a head of 256 * 4; 6 pairs a sequence.
        self.assertEqual(step.Shape(4, 1, 3, 2, 3, 1).flops(), 6 * (4 * 100 + 1024) * 6 + 12 * 4 * 4 * 12)

    def test_speed_is_relative_to_the_best_of_the_same_type(self):
        rows = {row[0]: row for row in self.tables("--threads", "1", "2")[f"width-{WIDTH}"]["rows"]}
        self.assertEqual(list(rows), ["LPT f32", "LPT bf16", "PyTorch f32, eager", "PyTorch f32, compiled", "PyTorch bf16, eager",
                                      "PyTorch bf16, compiled"])
        for first in (1, 4):  # the columns of each number of threads
            self.assertEqual([rows[name][first:first + 2] for name in list(rows)[2:]],
                             [["6400", ""], ["12800", ""], ["25600", ""], ["51200", ""]])
            for name, best in (("LPT f32", 12800), ("LPT bf16", 51200)):
                self.assertAlmostEqual(float(rows[name][first + 1]), float(rows[name][first]) / best, delta=0.006)

    def test_shares_of_the_time_are_all_of_it(self):
        rows = self.tables()[f"time-{WIDTH}"]["rows"]
        self.assertEqual([row[0] for row in rows], ["f32", "bf16"])
        for row in rows:
            self.assertAlmostEqual(sum(map(float, row[1:])), 100, delta=4)
            self.assertGreater(float(row[1]), 0)

    def test_a_report_becomes_a_page_with_pictures(self):
        tables = self.tables()
        for tree in ("tools/make_benchmarks.py", "tools/benchmark_pictures.py", "docs/benchmarks", "docs/_static/benchmarks"):
            copy = shutil.copytree if (SOURCE / tree).is_dir() else shutil.copy
            (self.folder / tree).parent.mkdir(parents=True, exist_ok=True)
            copy(SOURCE / tree, self.folder / tree)
        page = self.folder / "docs" / "benchmarks" / "of-this-test.md"
        page.write_text("## Run\n" + "".join(f"\n<!-- begin of-this-test/{name} -->\n<!-- end -->\n" for name in tables), encoding="utf-8")
        made = subprocess.run([sys.executable, self.folder / "tools/make_benchmarks.py", "import", "of-this-test", self.report],
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        for name, table in tables.items():
            picture = self.folder / f"docs/_static/benchmarks/of-this-test-{name}.svg"
            texts = [one.text for one in xml.etree.ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
            for expected in [row[0] for row in table["rows"]] + table["picture"]["series"]:
                self.assertIn(expected, texts)
            self.assertIn(f"![{table['picture']['title']}]", page.read_text(encoding="utf-8"))

    def test_without_a_compiler_only_eager_steps_remain(self):
        self.training.has_compiler = False
        names = [row[0] for row in self.tables()[f"width-{WIDTH}"]["rows"]]
        self.assertEqual(names, ["LPT f32", "LPT bf16", "PyTorch f32, eager", "PyTorch bf16, eager"])

    def test_another_model_is_an_error(self):
        self.training.extra_parameters = 1
        status, _, err = self.measure()
        self.assertEqual((status, self.report.exists()), (1, False))
        self.assertIn(f"train_lm has {PARAMETERS} parameters, the model in PyTorch {PARAMETERS + 1}", err)

    def test_a_missing_library_or_program_is_an_error(self):
        status, _, err = self.measure(f"--build={self.folder}")
        self.assertEqual(status, 1)
        self.assertIn("expected the programs attention_bench and train_lm", err)
        sys.modules["step_torch"] = None
        for options in ((), ("--attention",)):
            status, _, err = self.measure(*options)
            self.assertEqual(status, 1)
            self.assertIn("v/bin/pip install torch", err)

    def test_attention_bench_answers(self):
        bench = BUILD / "bench" / "attention_bench"
        helped = subprocess.run([bench, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(helped.returncode, 0, helped.stderr)
        self.assertIn("THREADS", helped.stdout)
        subprocess.run([bench, "2", "1", "--json", self.report], stdout=subprocess.DEVNULL, check=True)
        tables = json.loads(self.report.read_text(encoding="utf-8"))["tables"]
        self.assertEqual(list(tables), ["attention-1", "softmax-1", "peaks-1", "attention-2", "softmax-2", "peaks-2"])
        for threads in "12":
            rows = tables[f"attention-{threads}"]["rows"]
            self.assertEqual([len(rows), len({row[0] for row in rows})], [28, 28])
            self.assertEqual(len({row[0] for row in tables[f"softmax-{threads}"]["rows"]}), 9)
        subprocess.run([bench, "1", "0", "--json", self.report], stdout=subprocess.DEVNULL, check=True)
        limits = json.loads(self.report.read_text(encoding="utf-8"))["tables"]
        self.assertEqual(list(limits), ["peaks-1", "memory-1"])
        self.assertGreater(float(limits["memory-1"]["rows"][0][1]), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
