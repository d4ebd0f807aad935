"""python -m lpt: the command-line tool that the package brings, or the system's."""
import os
import shutil
import sys


def main() -> None:
    own = os.path.join(os.path.dirname(__file__), "bin", "lpt")
    tool = own if os.path.exists(own) else shutil.which("lpt")
    if tool is None:
        sys.exit(f"lpt: neither {own} nor a program lpt on PATH is there: Debian has it in lpt-tools")
    os.execv(tool, ["lpt"] + sys.argv[1:])


if __name__ == "__main__":
    main()
