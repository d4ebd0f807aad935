"""Runs the code blocks of the guide to PyTorch, and the example."""
import contextlib
import io
import os
import re
import subprocess
import sys
import unittest

from support import needs_torch


@needs_torch
class Guide(unittest.TestCase):
    def test_the_eight_tasks_run_and_take_at_most_five_lines(self):
        with open(os.path.join(os.environ["LPT_SOURCE_DIR"], "docs", "guides", "pytorch.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertEqual(8, len(blocks))  # the model, and seven tasks; the command-line tool does the eighth
        names = {}
        for index, block in enumerate(blocks):
            self.assertLessEqual(len(block.splitlines()), 5)
            with self.subTest(block=index), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"pytorch.md, block {index}", "exec"), names)

    def test_the_example_runs(self):
        path = os.path.join(os.environ["LPT_SOURCE_DIR"], "bindings", "python", "examples", "torch_fp8.py")
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("state: 2.06 bytes for each parameter", done.stdout)


if __name__ == "__main__":
    unittest.main()
