#!/usr/bin/env python3
"""Types what README.md says about its C program: the commands of the block below it, in a folder where build/release is BUILD.

Usage: typed.py ROOT BUILD
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCKS = re.compile(r"^## Fifteen lines of C$.*?^```c\n(.*?)^```$.*?^```sh\n(.*?)^```$", re.M | re.S)
VALUES = 6  # that the program prints


def main(root, build):
    program, commands = BLOCKS.search((pathlib.Path(root) / "README.md").read_text(encoding="utf-8")).groups()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(pathlib.Path(build).resolve())
        (folder / "sample.c").write_text(program, encoding="utf-8")
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "DESTDIR")} | {"HOME": place}
        done = subprocess.run(["sh", "-eu"], input=commands, cwd=place, env=environment, capture_output=True, text=True)
    print(done.stdout[-2000:] + done.stderr[-2000:])
    printed = done.stdout.splitlines()[-VALUES:]
    return 0 if done.returncode == 0 and len([float(line) for line in printed]) == VALUES else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
