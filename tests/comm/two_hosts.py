#!/usr/bin/env python3
"""Runs one MPI job on two hosts, which are linked network namespaces of this machine, and checks its output.

Usage: two_hosts.py openmpi|mpich LIBRARY_FOLDER PROGRAM_FOLDER JOB

JOB is a number of processes, half of them on each host, that run the suite over TCP; or unplugged: the link is set down during
reductions; or late_end: a rank ends later than the others. The hosts are always removed at the end. Exit status 77, with the
reason, if there is no launcher or no permission to create namespaces.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mpi_job

LOGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "login")
PREFIX = f"lpt{os.getpid()}h"
HOSTS = {PREFIX + digit: f"10.77.1.{digit}" for digit in "12"}
ADDRESSES = list(HOSTS.values())

# The launchers start on the first host and log in to the second one. Ranks of one host use TCP too.
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--timeout", "140", "--oversubscribe", "--map-by", "node",
                "--host", ",".join(f"{address}:8" for address in ADDRESSES), "--mca", "plm_rsh_agent", LOGIN,
                "--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "eth0",
                "--mca", "oob_tcp_if_include", "eth0", "-x", "LPT_TEST_INTERFACE=eth0", "-n"],
    "mpich": ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", LOGIN, "-iface", "eth0",
              "-hosts", ",".join(ADDRESSES), "-ppn", "1",
              # Without this UCX would use shared memory between the hosts, for any host names.
              "-genv", "UCX_TLS", "self,tcp", "-genv", "UCX_NET_DEVICES", "eth0",
              "-genv", "LPT_TEST_INTERFACE", "eth0", "-n"],
}
LEAST_CROSSING_BYTES = 4 << 20  # the suite sends several times as much

LATEST_SECONDS = 6.0  # in which a rank must report the fault; its timeout is three seconds
UNPLUGGED_SECONDS = 7.0  # then the launchers can end the job


class IpError(Exception):
    """A failed command of ip, with its error output."""


def ip(*words):
    job = subprocess.run(["ip", *words], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if job.returncode != 0:
        raise IpError(f"ip {' '.join(words)}: exit {job.returncode}: {job.stderr.strip()}")
    return job.stdout


def skip(reason):
    print(f"two_hosts: skipped: {reason}")
    sys.exit(mpi_job.SKIPPED)


def check_rights(mpi):
    for tool in (LAUNCHERS[mpi][0], "ip", "unshare"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    if os.geteuid() != 0:
        skip("namespaces are made by root only")
    try:
        ip("netns", "add", PREFIX)
        ip("netns", "del", PREFIX)
    except IpError as error:
        skip(error)


def set_up():
    first, second = HOSTS
    for host in HOSTS:
        ip("netns", "add", host)
    ip("link", "add", "eth0", "netns", first, "type", "veth", "peer", "name", "eth0", "netns", second)
    for host, address in HOSTS.items():
        ip("-n", host, "addr", "add", f"{address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            ip("-n", host, "link", "set", link, "up")
    # The kernel reports the state late, and UCX ignores links that are not up.
    for host in HOSTS:
        wait_for(lambda: "state UP" in ip("-n", host, "link", "show", "eth0"))


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def take_down():
    there = {line.split()[0] for line in ip("netns", "list").splitlines()}
    for host in there.intersection(HOSTS):
        for process in ip("netns", "pids", host).split():
            try:
                os.kill(int(process), signal.SIGKILL)
            except ProcessLookupError:
                pass
        ip("netns", "del", host)


def crossed_bytes():
    facts = ip("-n", PREFIX + "1", "-s", "link", "show", "eth0")
    return int(re.search(r"TX:.*\n\s*(\d+)", facts)[1])


def set_cable(state):
    ip("-n", PREFIX + "1", "link", "set", "eth0", state)


def suite(mpi, programs, ranks):
    wrong = mpi_job.suite(mpi, programs, ranks)
    crossed = crossed_bytes()
    print(f"{crossed} bytes went from one host to the other")
    if wrong or crossed >= LEAST_CROSSING_BYTES:
        return wrong
    return f"expected at least {LEAST_CROSSING_BYTES} bytes to cross"


def is_named(line):
    """Returns whether a rank reports in time that a rank of the other host is missing. A rank of its host may be late too."""
    said = re.match(r"rank (\d) after ([0-9.]+) s: \d+: .*rank ([0-9, ]+) did not come within", line)
    if said is None:
        return False
    rank, missing = int(said[1]), {int(word) for word in said[3].split(",")}
    return float(said[2]) <= LATEST_SECONDS and any(q % 2 != rank % 2 for q in missing)


def goes_on_right(line):
    """Returns whether a later call does not enter MPI, or, if no message of the caller was pending, reports missing ranks."""
    return re.match(r"rank \d: \d: .*(enters it no more|did not come within)", line) is not None


def unplugged(mpi, programs):
    ranks = 4
    command = [*mpi_job.LAUNCHERS[mpi], str(ranks), f"{programs}/comm_mpi_faults", "unplugged"]
    with subprocess.Popen(command, env=mpi_job.environment_of(mpi), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as job:
        guard = threading.Timer(100, job.kill)
        guard.start()
        named = right = 0
        for line in job.stdout:
            print(line, end="", flush=True)
            if line.startswith("under way"):
                set_cable("down")
                threading.Timer(UNPLUGGED_SECONDS, set_cable, ["up"]).start()
            named += is_named(line)
            right += goes_on_right(line)
        guard.cancel()
    if named == right == ranks:
        return None
    return f"exit {job.returncode}, {named} of {ranks} ranks name in time who is missing, {right} go on as expected"


JOBS = {"unplugged": unplugged, "late_end": mpi_job.late_end}


def run(mpi, programs, job):
    # A program on the other host inherits the environment of the launcher.
    os.environ["LPT_HOSTS"] = PREFIX
    mpi_job.LAUNCHERS[mpi] = [LOGIN, ADDRESSES[0], *LAUNCHERS[mpi]]
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TMPDIR"] = scratch
        try:
            try:
                set_up()
            except IpError as error:
                skip(error)
            return suite(mpi, programs, int(job)) if job.isdigit() else JOBS[job](mpi, programs)
        finally:
            take_down()


def end(*_):
    """Handles a signal. Ignores further signals, so that they do not interrupt the removal of the hosts."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(1)


def main(mpi, libraries, programs, job):
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    check_rights(mpi)
    os.environ["LPT_PLUGIN_PATH"] = libraries
    wrong = run(mpi, programs, job)
    if wrong:
        print(f"two_hosts: {mpi} {job}: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
