"""python -m lpt: runs the command-line tool of this package or, if the package has none, the program lpt on PATH."""
import os
import sys

from ._tool import tool_path


def main() -> None:
    try:
        tool = tool_path()
    except FileNotFoundError as error:
        sys.exit(f"lpt: {error}")
    os.execv(tool, ["lpt"] + sys.argv[1:])


if __name__ == "__main__":
    main()
