#!/usr/bin/env python3
"""Tests scripts/gpu from end to end on a plugin whose runtime is the CPU, and the evaluation of its measurements.

Usage: gpu_day_test.py BUNDLE PLUGIN_FOLDER
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLE, ON_CPU = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SKIPPED, FILES_BACK, BUNDLE_BYTES = 77, 8, 50 << 20  # the last two are limits of the loaned machine
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
import goals  # noqa: E402
import torch_peers  # noqa: E402


def run(*command, **changes):
    environment = {**os.environ, "LPT_PLUGIN_PATH": str(ON_CPU), "LD_LIBRARY_PATH": str(BUNDLE), **changes}
    environment |= {"LPT_CUBLASLT": str(path) for path in ON_CPU.glob("libcublasLt.so.*")}  # a test may have a separate
                                                                                            # stub
    environment |= {"LPT_CUSPARSELT": str(path) for path in ON_CPU.glob("libcusparseLt.so.*")}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=560)


class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.done = run(ROOT / "scripts" / "gpu", "--rehearse", "--from", BUNDLE, "--out", cls.folder.name)
        path = pathlib.Path(cls.folder.name) / "goals.json"
        cls.result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        cls.stages = goals.read_stages(path.parent / "stages.tsv")

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
        self.assertEqual(1.0, parts["suites: passed"]["figure"])

    def test_every_suite_is_a_process_and_warp_groups_are_last(self):
        suites = [f"suite {name}" for name in SUITES] + ["suite warpgroups"]
        self.assertEqual(suites, [name for name in self.stages if name.startswith("suite ")])
        self.assertEqual("suite warpgroups", list(self.stages)[-1])
        log = (pathlib.Path(self.folder.name) / "log.txt").read_text(encoding="utf-8")
        self.assertRegex(log.split("== suite warpgroups")[1], r"[1-9]\d* tests? from")

    def test_all_files_come_back(self):
        self.assertLessEqual(len(os.listdir(self.folder.name)), FILES_BACK)

    def test_what_is_not_measured_says_why(self):
        for goal in self.result["goals"]:
            for part in goal["parts"]:
                self.assertTrue(part["outcome"] != "unmeasured" or part["why"], part)


def listed(pattern="*"):
    """Returns the names of the tests by suite."""
    lines = run(BUNDLE / "lpt_gpu_test", "--gtest_list_tests", f"--gtest_filter={pattern}").stdout.splitlines()
    suites = {}
    for line in lines:
        if line.startswith("  "):
            suites[suite].append(line.split()[0])
        else:
            suite = line.split(".")[0]
            suites[suite] = []
    return suites


SUITES = listed()


class Faults(unittest.TestCase):
    """If a program fails, only its stage fails. All programs are stubs."""

    PROGRAMS = {
        "lpt_gpu_test": """case $* in
  *--probe*) echo "cuda:0 is a stand-in" ;;
  *list_tests*) printf 'First.\n  Test\nBroken.\n  Test\nLast.\n  Test\n' ;;
  *filter=Broken*) kill -ABRT $$ ;;
esac""",
        "gpu_bench": "exit 0",
        "compute-sanitizer": "case $* in *racecheck*) exit 9 ;; *) exit 124 ;; esac",
    }

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in cls.PROGRAMS.items():
                path = pathlib.Path(folder) / name
                path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                path.chmod(0o755)
            out = pathlib.Path(folder) / "out"
            path = f"{folder}:{os.environ['PATH']}"
            cls.done = run(ROOT / "scripts" / "gpu", "--from", folder, "--out", out, PATH=path)
            cls.stages = goals.read_stages(out / "stages.tsv")
            result = json.loads((out / "goals.json").read_text(encoding="utf-8"))
        cls.parts = {part["what"]: part for goal in result["goals"] for part in goal["parts"]}

    def test_an_aborting_suite_fails_alone(self):
        suites = {name: status for name, (status, _) in self.stages.items() if name.startswith("suite ")}
        aborted = suites.pop("suite Broken")
        self.assertNotIn(aborted, ("0", goals.TIMEOUT))
        self.assertEqual({"suite First": "0", "suite Last": "0", "suite warpgroups": "0"}, suites)
        self.assertEqual(1, self.done.returncode)
        self.assertEqual(0.75, self.parts["suites: passed"]["figure"])

    def test_a_timeout_is_unmeasured(self):
        self.assertEqual("unmeasured", self.parts["memcheck: passed"]["outcome"])
        self.assertEqual("missed", self.parts["racecheck: passed"]["outcome"])


class Bundle(unittest.TestCase):
    def test_needs_the_systems_libraries_alone(self):
        system = r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*"
        for path in BUNDLE.iterdir():
            dynamic = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True).stdout
            for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
                self.assertRegex(needed, rf"^({system}|liblpt\.so\.\d+)$", path.name)

    def test_is_small_enough_to_be_carried(self):
        self.assertLess(sum(path.stat().st_size for path in BUNDLE.iterdir()), BUNDLE_BYTES)

    def test_sanitizers_have_tests(self):
        """gtest silently ignores names without a test."""
        text = (ROOT / "scripts" / "gpu").read_text(encoding="utf-8")
        names = [name for line in re.findall(r"^small=(.*)$", text, re.MULTILINE)
                 for name in line.removeprefix("$small:").split(":")]
        self.assertGreater(len(names), 5)
        for name in names:
            suite, test = name.split(".")
            self.assertIn(test, SUITES[suite])


class Libraries(unittest.TestCase):
    def test_an_older_cublaslt_is_found_by_its_name(self):
        stub = next(ON_CPU.glob("libcublasLt.so.*"))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(stub, pathlib.Path(folder) / "libcublasLt.so.12")
            (pathlib.Path(folder) / "libcublasLt.so.13").write_text("no library", encoding="utf-8")
            done = run(BUNDLE / "lpt_gpu_test", "--gtest_filter=DeviceGemms.LeaveWhatIsBesideC", LPT_CUBLASLT="",
                       LD_LIBRARY_PATH=f"{BUNDLE}:{folder}")
        self.assertEqual(0, done.returncode, done.stdout[-3000:])

    def test_folders_of_pip_are_searched(self):
        stub = next(ON_CPU.glob("libcublasLt.so.*"))
        with tempfile.TemporaryDirectory() as folder:
            inside = pathlib.Path(folder) / "nvidia" / "cu13" / "lib"
            inside.mkdir(parents=True)
            shutil.copy(stub, inside / "libcublasLt.so.13")
            text = (ROOT / "scripts" / "gpu").read_text(encoding="utf-8")
            function = re.search(r"^pip_folders\(\).*?^}$", text, re.MULTILINE | re.DOTALL).group(0)
            done = run("sh", "-c", f"{function}\npip_folders", PYTHONPATH=folder)
        self.assertIn(f":{inside}", done.stdout)


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
    """Runs calls without GPU kernels on the CPU, to check that the calls are valid."""

    def test_all_are_taken_by_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bench.json"
            done = run(BUNDLE / "gpu_bench", "--tiny", "--cpu", "--json", path)
            self.assertEqual(0, done.returncode, done.stdout)
            rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        missing = [row for row in rows if "missing" in row and not row["who"].startswith("cublaslt")]
        self.assertEqual([], missing)
        self.assertGreater(len(rows), 60)


class Judge(unittest.TestCase):
    def figures(self, seconds):
        rows = [{"group": "copy", "who": "copy", "bytes": 100, "seconds": 1.0},
                {"group": "blocks", "who": "mxfp8_e4m3", "bytes": 100, "seconds": seconds}]
        stages = {"suite A": ("1", ""), "suite B": ("0", ""), "memcheck": ("skipped", "none"),
                  "racecheck": (goals.TIMEOUT, "")}
        return goals.Figures({"rows": rows}, {"missing": "no torch"}, stages)

    def outcome(self, seconds, checks):
        return goals.judged(self.figures(seconds), checks, False)[0]

    def test_compares_with_the_floor(self):
        checks = [goals.share(0.85, "blocks", "mxfp8_e4m3")]
        self.assertEqual("reached", self.outcome(1 / 0.85, checks))
        self.assertEqual("missed", self.outcome(1 / 0.84, checks))

    def test_lets_the_worst_part_decide(self):
        good, absent = goals.share(0.85, "blocks", "mxfp8_e4m3"), goals.share(0.85, "blocks", "nvfp4")
        self.assertEqual("unmeasured", self.outcome(1.0, [good, absent]))
        self.assertEqual("missed", self.outcome(9.0, [good, absent]))
        self.assertEqual("missed", self.outcome(1.0, [good, ("suites", 1.0, goals.Figures.suites)]))
        self.assertEqual("unmeasured", self.outcome(1.0, [goals.stage("memcheck")]))
        self.assertEqual("unmeasured", self.outcome(1.0, [goals.stage("racecheck")]))

    def test_shows_what_has_no_floor_and_does_not_judge_it(self):
        slow, absent = goals.beside("blocks", "mxfp8_e4m3", "mxfp8_e4m3"), goals.beside("blocks", "nvfp4", "mxfp8_e4m3")
        self.assertEqual("reached", self.outcome(1.0, [goals.share(0.85, "blocks", "mxfp8_e4m3"), slow, absent]))

    def test_runs_only_what_is_timed(self):
        """Goals must name existing groups, because other goals are never measured."""
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
            run(BUNDLE / "gpu_bench", "--tiny", "--cpu", "--json", path)
            timed = {(row["group"], row["who"]) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
        self.assertEqual(set(), named - timed - {("torch", who) for who in torch_peers.PEERS})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
