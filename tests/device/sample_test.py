#!/usr/bin/env python3
"""Runs the sample that trains on a GPU, on the CPU and on the test device that replaces a GPU.

Usage: sample_test.py SAMPLE PLUGIN_FOLDER
"""
import os
import subprocess
import sys
import unittest

# Bound of the first loss: two logits of 64 products each, whose magnitudes sum to less than 16. The sum of each has an error of
# at most (64 + 8) · 2^-24 of that on each side. Six digits are printed.
FIRST_BOUND = 2 * 2 * 72 * 2**-24 * 16 + 1e-6


def losses(sample, recipe, **variables):
    job = subprocess.run([sample, recipe], env={**os.environ, **variables}, capture_output=True, text=True, timeout=200)
    return job.returncode, job.stderr, [float(line) for line in job.stdout.split()]


class Sample(unittest.TestCase):
    def check(self, recipe):
        """Checks that the sample learns on both devices and names them. Returns its first losses."""
        code, said, here = losses(SAMPLE, recipe, CUDA_VISIBLE_DEVICES="")
        self.assertEqual((0, 40), (code, len(here)), said)
        self.assertRegex(said, "^on the CPU: .")
        code, said, there = losses(SAMPLE, recipe, LPT_PLUGIN_PATH=FOLDER, LD_LIBRARY_PATH=FOLDER)
        self.assertEqual((0, 40), (code, len(there)), said)
        self.assertRegex(said, "^on threads of the CPU")
        return here[0], there[0]

    def test_begins_with_the_loss_of_the_cpu(self):
        here, there = self.check("f32")
        self.assertLessEqual(abs(here - there), FIRST_BOUND)

    def test_learns_under_fp8(self):
        self.check("fp8_current")

    def test_rejects_an_unknown_recipe(self):
        code, said, found = losses(SAMPLE, "fp7", LPT_PLUGIN_PATH=FOLDER)
        self.assertEqual((1, []), (code, found))
        self.assertIn("fp7", said)


if __name__ == "__main__":
    SAMPLE, FOLDER = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
