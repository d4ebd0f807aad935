#!/usr/bin/env python3
"""Checks where a program with the static library searches for plugins: next to its executable, never in the working
directory, for any name of the command. A set-user-id program ignores the environment.

Usage: search_test.py PROGRAM PLANTED_PLUGIN    Without root the set-user-id program is not tested.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, PLANTED = sys.argv[1:]
FILES = ("liblpt_openmpi.so", "liblpt_mpich.so", "liblpt_cuda.so")
UNPRIVILEGED = 65534


def output_of(program, name, folder, **environment):
    job = subprocess.run([name], executable=program, cwd=folder, env=environment, text=True, check=False, timeout=60,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return job.stdout


class Search(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        os.chmod(scratch.name, 0o755)
        self.home, self.planted = (os.path.join(scratch.name, name) for name in ("home", "planted"))
        for folder in (self.home, self.planted):
            os.mkdir(folder)
        self.program = shutil.copy(PROGRAM, os.path.join(self.home, "search"))
        for file in FILES:
            shutil.copy(PLANTED, os.path.join(self.planted, file))

    def test_a_program_started_by_name_opens_nothing_of_the_working_directory(self):
        output = output_of(self.program, "search", self.planted)
        self.assertNotIn("was opened", output)
        self.assertIn(os.path.join(self.home, "liblpt_cuda.so"), output)

    def test_a_name_that_the_caller_made_up_leads_nowhere(self):
        output = output_of(self.program, os.path.join(self.planted, "search"), "/")
        self.assertNotIn("was opened", output)
        self.assertIn(os.path.join(self.home, "liblpt_cuda.so"), output)

    def test_the_folder_of_the_variable_comes_first(self):
        self.assertIn("was opened", output_of(self.program, "search", "/", LPT_PLUGIN_PATH=self.planted))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_set_user_id_program_does_not_read_the_variable(self):
        os.chown(self.program, UNPRIVILEGED, UNPRIVILEGED)
        os.chmod(self.program, 0o4755)
        if os.statvfs(self.program).f_flag & os.ST_NOSUID:
            self.skipTest(f"{self.home} is mounted nosuid")
        output = output_of(self.program, "search", "/", LPT_PLUGIN_PATH=self.planted)
        self.assertNotIn("was opened", output)
        self.assertIn(os.path.join(self.home, "liblpt_cuda.so"), output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
