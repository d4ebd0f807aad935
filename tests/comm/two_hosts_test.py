#!/usr/bin/env python3
"""If `ip` cannot create the two hosts, as in a container without /sys, two_hosts.py skips with the command and its error.

Usage: two_hosts_test.py    Exit status 77 without root, which two_hosts.py requires.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

IP = """#!/bin/sh
case $1 in -n) echo "mount of /sys failed: No such file or directory" >&2; exit 255 ;; esac
"""


def main():
    if os.geteuid() != 0:
        print("skipped: needs root")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name, script in (("ip", IP), ("mpirun.openmpi", "#!/bin/sh\n"), ("unshare", "#!/bin/sh\n")):
            program = pathlib.Path(folder, name)
            program.write_text(script, encoding="ascii")
            program.chmod(0o755)
        script = pathlib.Path(__file__).with_name("two_hosts.py")
        job = subprocess.run([sys.executable, script, "openmpi", folder, folder, "2"],
                             env={**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}, text=True, check=False, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(job.stdout)
    words = ("skipped: ip -n ", " addr add ", "mount of /sys failed: No such file or directory")
    return 0 if job.returncode == 77 and all(word in job.stdout for word in words) else 1


if __name__ == "__main__":
    sys.exit(main())
