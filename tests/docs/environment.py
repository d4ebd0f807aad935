#!/usr/bin/env python3
"""Every environment variable that the library, its tool, samples and benches read stands in docs/reference/environment.md.

Usage: environment.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

READ = re.compile(r'(?:getenv|variable)\("([A-Z_]+)"\)')
LISTED = re.compile(r"for \(const char \*const name : \{([^}]*)\}|\{\"\w+\", \{([^}]*)\}\}")
ENDINGS = {".cpp", ".hpp", ".cu", ".cuh"}


def variables_of(text):
    # src/comm/plugin.cpp reads the launchers' variables from lists.
    lists = " ".join(part for found in LISTED.findall(text) for part in found)
    return set(READ.findall(text)) | set(re.findall(r'"([A-Z][A-Z_]+)"', lists))


def main(source):
    root = pathlib.Path(source)
    files = [file for folder in ("src", "kernels", "tools", "samples", "bench") for file in (root / folder).rglob("*")
             if file.suffix in ENDINGS]
    read = set().union(*(variables_of(file.read_text(encoding="utf-8")) for file in files))
    page = (root / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    missing = sorted(name for name in read if f"`{name}`" not in page)
    print(f"{len(read)} variables are read: {' '.join(sorted(read))}")
    for name in missing:
        print(f"docs/reference/environment.md lacks {name}")
    return 1 if missing or len(read) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
