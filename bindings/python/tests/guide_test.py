"""Runs the code blocks of the guides in order."""
import contextlib
import io
import os
import re
import unittest

from support import needs_numpy


class Guide(unittest.TestCase):
    def run_blocks(self, *page):
        path = os.path.join(os.environ["LPT_SOURCE_DIR"], "docs", *page)
        with open(path, encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        names = {}
        for index, block in enumerate(blocks):
            with self.subTest(block=index), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"{page[-1]}, block {index}", "exec"), names)
        return len(blocks)

    @needs_numpy
    def test_python_runs(self):
        self.assertGreater(self.run_blocks("languages", "python.md"), 10)

    @needs_numpy
    def test_quickstart_runs(self):
        self.assertEqual(self.run_blocks("start", "quickstart.md"), 1)

    @needs_numpy
    def test_transformer_runs(self):
        self.assertEqual(self.run_blocks("guides", "transformer.md"), 4)


if __name__ == "__main__":
    unittest.main()
