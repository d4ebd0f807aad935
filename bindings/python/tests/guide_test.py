"""Runs the code blocks of the guides in order."""
import contextlib
import io
import os
import re
import subprocess
import tempfile
import unittest

import lpt
from support import Draws, needs_numpy, write_safetensors

TOOL = os.path.join(os.path.dirname(lpt.__file__), "bin", "lpt")


def page_text(*page):
    with open(os.path.join(os.environ["LPT_SOURCE_DIR"], "docs", *page), encoding="utf-8") as file:
        return file.read()


class Guide(unittest.TestCase):
    def run_blocks(self, *page):
        blocks = re.findall(r"^```python\n(.*?)^```", page_text(*page), re.M | re.S)
        names = {}
        for index, block in enumerate(blocks):
            with self.subTest(block=index), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"{page[-1]}, block {index}", "exec"), names)
        return len(blocks)

    def enter_folder(self):
        """Work in a new folder until the end of the test."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(place.name)

    @needs_numpy
    def test_python_runs(self):
        self.assertGreater(self.run_blocks("languages", "python.md"), 10)

    @needs_numpy
    def test_quickstart_runs(self):
        self.assertEqual(self.run_blocks("start", "quickstart.md"), 2)

    @needs_numpy
    def test_transformer_runs(self):
        self.assertEqual(self.run_blocks("guides", "transformer.md"), 6)

    @needs_numpy
    def test_monitor_runs(self):
        self.assertEqual(self.run_blocks("guides", "monitor.md"), 1)

    @needs_numpy
    def test_gemm_runs(self):
        self.enter_folder()
        self.assertEqual(self.run_blocks("guides", "gemm.md"), 1)

    @needs_numpy
    def test_calibration_runs(self):
        self.assertEqual(self.run_blocks("guides", "calibration.md"), 7)

    @needs_numpy
    @unittest.skipUnless(os.path.exists(TOOL), "the tool is not built")
    def test_the_example_of_convert_prints_this_and_is_read(self):
        self.enter_folder()
        draws = Draws()
        write_safetensors("model.safetensors", {"layer.weight": ([256, 512], draws.list(256 * 512)),
                                                "layer.bias": ([256], draws.list(256))})
        command, expected = re.search(r"^```\n\$ lpt (convert model\.safetensors .*?)\n(.*?)^```$", page_text("reference", "cli.md"), re.M | re.S).groups()
        done = subprocess.run([TOOL, *command.split()], capture_output=True, text=True, timeout=60)
        self.assertEqual((0, expected), (done.returncode, done.stderr + done.stdout))
        self.assertEqual(self.run_blocks("reference", "cli.md"), 1)


if __name__ == "__main__":
    unittest.main()
