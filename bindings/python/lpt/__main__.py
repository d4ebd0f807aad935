"""python -m lpt: the command-line tool that the package brings."""
import os
import sys


def main() -> None:
    tool = os.path.join(os.path.dirname(__file__), "bin", "lpt")
    if not os.path.exists(tool):
        sys.exit(f"lpt: {tool} is not there: this package was built without the command-line tool")
    os.execv(tool, ["lpt"] + sys.argv[1:])


if __name__ == "__main__":
    main()
