"""The blocks of docs/languages/python.md, one after the other."""
import contextlib
import io
import os
import re
import unittest

from support import needs_numpy


class Guide(unittest.TestCase):
    @needs_numpy
    def test_runs(self):
        path = os.path.join(os.environ["LPT_SOURCE_DIR"], "docs", "languages", "python.md")
        with open(path, encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 10)
        names = {}
        for index, block in enumerate(blocks):
            with self.subTest(block=index), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"python.md, block {index}", "exec"), names)


if __name__ == "__main__":
    unittest.main()
