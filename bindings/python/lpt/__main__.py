"""python -m lpt: runs the command-line tool of this package or, if the package has none, the program lpt on PATH."""
import os
import shutil
import sys


def main() -> None:
    bundled = os.path.join(os.path.dirname(__file__), "bin", "lpt")
    tool = bundled if os.path.exists(bundled) else shutil.which("lpt")
    if tool is None:
        sys.exit(f"lpt: found neither {bundled} nor a program lpt on PATH: on Debian, install lpt-tools")
    os.execv(tool, ["lpt"] + sys.argv[1:])


if __name__ == "__main__":
    main()
