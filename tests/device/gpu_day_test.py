#!/usr/bin/env python3
"""scripts/gpu from end to end on a plugin whose runtime is the processor, and the judge of its figures.

Usage: gpu_day_test.py BUNDLE PLUGIN_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLE, ON_CPU = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SKIPPED = 77
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
import goals  # noqa: E402
import torch_peers  # noqa: E402


def run(*command, **changes):
    environment = {**os.environ, "LPT_PLUGIN_PATH": str(ON_CPU), "LD_LIBRARY_PATH": str(BUNDLE), **changes}
    environment |= {"LPT_CUBLASLT": str(path) for path in ON_CPU.glob("libcublasLt.so.*")}  # one that tests may have
    environment |= {"LPT_CUSPARSELT": str(path) for path in ON_CPU.glob("libcusparseLt.so.*")}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=280)


class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.done = run(ROOT / "scripts" / "gpu", "--rehearse", "--from", BUNDLE, "--out", cls.folder.name)
        path = pathlib.Path(cls.folder.name) / "goals.json"
        cls.result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_runs_to_its_end(self):
        self.assertEqual(0, self.done.returncode, self.done.stdout + self.done.stderr)

    def test_has_a_line_for_every_goal_and_judges_none(self):
        lines = self.done.stdout.splitlines()
        for number, title, _ in goals.GOALS:
            self.assertTrue(any(line.startswith(f"{number:<4} {title}") for line in lines), number)
        self.assertIn("a rehearsal, figures mean nothing", self.done.stdout)
        self.assertTrue(self.result["is_rehearsal"])
        self.assertLessEqual({goal["outcome"] for goal in self.result["goals"]}, {"rehearsed", "unmeasured"})

    def test_casts_and_the_suite_have_figures(self):
        parts = {part["what"]: part for goal in self.result["goals"] for part in goal["parts"]}
        self.assertEqual("rehearsed", parts["blocks: nvfp4, of a copy"]["outcome"])
        self.assertEqual(1.0, parts["tests: passed"]["figure"])

    def test_what_is_not_measured_says_why(self):
        for goal in self.result["goals"]:
            for part in goal["parts"]:
                self.assertTrue(part["outcome"] != "unmeasured" or part["why"], part)


class WithoutGpu(unittest.TestCase):
    def test_the_script_says_so(self):
        done = run(ROOT / "scripts" / "gpu", "--from", BUNDLE, "--out", "/nonexistent", LPT_TEST_DRIVER="0")
        self.assertEqual(SKIPPED, done.returncode, done.stderr)
        self.assertIn("no GPU: CUDA driver version is insufficient", done.stdout)

    def test_the_bench_says_so(self):
        done = run(BUNDLE / "gpu_bench", "--tiny", LPT_TEST_DRIVER="0")
        self.assertEqual(SKIPPED, done.returncode)
        self.assertIn("no GPU: CUDA driver version is insufficient", done.stdout)


class Calls(unittest.TestCase):
    """What a GPU does not take yet is tried on the processor, so that the calls themselves are right when it does."""

    def test_all_are_taken_by_the_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bench.json"
            done = run(BUNDLE / "gpu_bench", "--tiny", "--processor", "--json", path)
            self.assertEqual(0, done.returncode, done.stdout)
            rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        missing = [row for row in rows if "missing" in row and not row["who"].startswith("cublaslt")]
        self.assertEqual([], missing)
        self.assertGreater(len(rows), 60)


class Judge(unittest.TestCase):
    def figures(self, seconds):
        rows = [{"group": "copy", "who": "copy", "bytes": 100, "seconds": 1.0},
                {"group": "blocks", "who": "mxfp8_e4m3", "bytes": 100, "seconds": seconds}]
        return goals.Figures({"rows": rows}, {"missing": "no torch"}, {"tests": ("1", ""), "memcheck": ("skipped", "none")})

    def outcome(self, seconds, checks):
        return goals.judged(self.figures(seconds), checks, False)[0]

    def test_compares_with_the_floor(self):
        checks = [goals.share(0.85, "blocks", "mxfp8_e4m3")]
        self.assertEqual("met", self.outcome(1 / 0.85, checks))
        self.assertEqual("not met", self.outcome(1 / 0.84, checks))

    def test_lets_the_worst_part_decide(self):
        good, absent = goals.share(0.85, "blocks", "mxfp8_e4m3"), goals.share(0.85, "blocks", "nvfp4")
        self.assertEqual("unmeasured", self.outcome(1.0, [good, absent]))
        self.assertEqual("not met", self.outcome(9.0, [good, absent]))
        self.assertEqual("not met", self.outcome(1.0, [good, goals.stage("tests")]))
        self.assertEqual("unmeasured", self.outcome(1.0, [goals.stage("memcheck")]))

    def test_asks_only_for_what_is_timed(self):
        """A goal whose names no group has would stay unmeasured for ever."""
        named = set()

        class Names(goals.Figures):
            def row(self, group, who):
                named.add((group, who))
                return {"bytes": 1, "seconds": 1, "elements": 1}

        figures = Names({}, {}, {})
        for _, _, checks in goals.GOALS:
            for _, _, value in checks:
                try:
                    value(figures)
                except goals.Unmeasured:
                    pass
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bench.json"
            run(BUNDLE / "gpu_bench", "--tiny", "--processor", "--json", path)
            timed = {(row["group"], row["who"]) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
        self.assertEqual(set(), named - timed - {("torch", who) for who in torch_peers.PEERS})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
