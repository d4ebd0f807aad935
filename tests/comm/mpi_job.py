#!/usr/bin/env python3
"""Runs one MPI job and checks its output.

Usage: mpi_job.py openmpi|mpich LIBRARY_FOLDER PROGRAM_FOLDER JOB

JOB is a number of processes that run the suite, or the name of a fault: stopped, slow_split, damaged, left, late_end,
killed, lonely, other_launcher. Exit status 77 if the launcher is not installed.
"""
import os
import re
import shutil
import subprocess
import sys
import time

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--timeout", "240", "-n"],
    "mpich": ["mpiexec.hydra", "-n"],
}
SECONDS = 250
SKIPPED = 77


def environment_of(mpi, **variables):
    return dict(os.environ, LPT_MPI=mpi, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMP_NUM_THREADS="1", **variables)


def launch(mpi, launcher, ranks, command, **variables):
    """Returns (exit status, output, seconds)."""
    words = LAUNCHERS[launcher]
    if shutil.which(words[0]) is None:
        print(f"{words[0]} is not installed")
        sys.exit(SKIPPED)
    begin = time.monotonic()
    job = subprocess.run([*words, str(ranks), *command], env=environment_of(mpi, **variables), timeout=SECONDS,
                         text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(job.stdout)
    return job.returncode, job.stdout, time.monotonic() - begin


def suite(mpi, programs, ranks):
    command = [f"{programs}/comm_mpi_test", "--gtest_brief=1"]
    for way in ([], ["checksums"]):
        status, _, seconds = launch(mpi, mpi, ranks, command + way)
        print(f"{ranks} ranks {' '.join(way)}: exit {status} after {seconds:.1f} s")
        if status != 0:
            return "the suite does not pass"
    return None


def stopped(mpi, programs):
    status, said, _ = launch(mpi, mpi, 3, [f"{programs}/comm_mpi_faults", "stopped"])
    named = said.count("rank 2 did not come within 0.5 seconds")
    return None if status == 0 and named == 3 else f"exit {status}, {named} ranks name the one that was stopped"


def launch_with_plugin(mpi, programs, job, plugin):
    """Runs three ranks with a test plugin that forwards calls to the plugin of the MPI."""
    real = f"{os.environ['LPT_PLUGIN_PATH']}/liblpt_{mpi}.so"
    return launch(mpi, mpi, 3, [f"{programs}/comm_mpi_faults", job], LPT_REAL_PLUGIN=real,
                  LPT_PLUGIN_PATH=f"{programs}/{plugin}.so")


def slow_split(mpi, programs):
    status, said, seconds = launch_with_plugin(mpi, programs, "slow_split", "slow_split_plugin")
    late = said.count("did not go on with it within 0.5 seconds")
    return None if status == 0 and late >= 2 and seconds < 20 else f"exit {status}, {late} ranks do not wait for ever"


def damaged(mpi, programs):
    status, said, seconds = launch_with_plugin(mpi, programs, "damaged", "flipping_plugin")
    found = said.count("message header from rank 1")
    return None if status == 0 and found == 72 and seconds < 60 else f"exit {status}, {found} of 72 errors"


def left(mpi, programs):
    status, said, _ = launch(mpi, mpi, 3, [f"{programs}/comm_mpi_faults", "left"])
    left_by = {rank for rank in range(3) if re.search(rf"^rank {rank}: 7: .*enters it no more", said, re.MULTILINE)}
    return None if status != 0 and {0, 1} <= left_by else f"exit {status}, {left_by} enter MPI no more"


def late_end(mpi, programs):
    status, said, seconds = launch(mpi, mpi, 4, [f"{programs}/comm_mpi_faults", "late_end"])
    late = said.count("rank 0: 8: ")
    return None if status == 0 and late == 1 and seconds < 20 else f"exit {status} after {seconds:.1f} s"


def killed(mpi, programs):
    status, _, seconds = launch(mpi, mpi, 3, [f"{programs}/comm_mpi_faults", "killed"])
    return None if status != 0 and seconds < 20 else f"exit {status} after {seconds:.1f} s"


def rejected(mpi, launcher, programs, ranks, phrases, **variables):
    status, said, _ = launch(mpi, launcher, ranks, [f"{programs}/comm_mpi_faults", "join"], **variables)
    missing = [phrase for phrase in phrases if phrase not in said]
    return None if status != 0 and not missing else f"exit {status}, without the words {missing}"


def lonely(mpi, programs):
    return rejected(mpi, mpi, programs, 1, ["LPT_WORLD_SIZE is 4", f"{mpi} finds 1"], LPT_WORLD_SIZE="4")


def other_launcher(mpi, programs):
    launcher, variable = {"openmpi": ("mpich", "PMI_SIZE"), "mpich": ("openmpi", "OMPI_COMM_WORLD_SIZE")}[mpi]
    return rejected(mpi, launcher, programs, 2, [f"{variable} is 2", f"{mpi} finds 1"])


FAULTS = {"stopped": stopped, "slow_split": slow_split, "damaged": damaged, "left": left, "late_end": late_end,
          "killed": killed, "lonely": lonely, "other_launcher": other_launcher}


def main(mpi, libraries, programs, job):
    os.environ["LPT_PLUGIN_PATH"] = libraries
    wrong = suite(mpi, programs, int(job)) if job.isdigit() else FAULTS[job](mpi, programs)
    if wrong:
        print(f"mpi_job: {mpi} {job}: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
