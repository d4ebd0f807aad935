"""The command-line tool."""
import os
import shutil


def tool_path() -> str:
    """Return the path of the tool of this package or, if the package has none, of the program lpt on PATH."""
    bundled = os.path.join(os.path.dirname(__file__), "bin", "lpt")
    tool = bundled if os.path.exists(bundled) else shutil.which("lpt")
    if tool is None:
        raise FileNotFoundError(f"found neither {bundled} nor a program lpt on PATH: on Debian, install lpt-tools")
    return tool
