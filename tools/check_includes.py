#!/usr/bin/env python3
"""Checks that includes only point downwards: {api, plugins}, ops, {kernels, comm}, {formats, backends}, base.

Usage: check_includes.py [ROOT]

A folder may include itself and any folder below it, never one beside or above it. A kernel family sees formats, base and
kernels/common, but neither backends nor another family. Everybody sees lpt.h and the headers of lpt/. One line per offence, exit status 1.
"""
import pathlib
import re
import sys

LEVELS = [{"api", "plugins"}, {"ops"}, {"kernels", "comm"}, {"formats", "backends"}, {"base"}]
LEVEL_OF = {folder: level for level, folders in enumerate(LEVELS) for folder in folders}
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".inc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)')
PUBLIC_HEADER_MAY_SEE = {"stddef.h", "stdint.h"}


def place(path):
    """(folder, family) of a path from the root: src/ops/x.cpp ("ops", None), kernels/x/ref.cpp ("kernels", "x")."""
    parts = path.split("/")
    if len(parts) >= 3 and parts[0] == "src":
        return parts[1], None
    if len(parts) >= 3 and parts[0] == "kernels":
        return "kernels", parts[1]
    return None, None


def reason(source, target):
    """Why `source` may not include `target`, both as (folder, family); None where it may."""
    (folder, family), (seen_room, seen_family) = source, target
    if seen_room not in LEVEL_OF:
        return "it is in no folder of the core"
    if folder == seen_room == "kernels":
        if seen_family in (family, "common"):
            return None
        return f"kernels/{family} may not see another family"
    if folder == seen_room:
        return None
    if folder == "kernels" and seen_room == "backends":
        return "kernels never see backends"
    if LEVEL_OF[seen_room] > LEVEL_OF[folder]:
        return None
    where = "beside" if LEVEL_OF[seen_room] == LEVEL_OF[folder] else "above"
    return f"{folder} may not see {seen_room}, which is {where} it"


def offence(path, quoted, bracketed):
    """What is wrong with one include of the file at `path`; None if nothing is."""
    target = quoted or bracketed
    if path.startswith("include/"):
        if quoted or target in PUBLIC_HEADER_MAY_SEE:
            return None if path != "include/lpt.h" or "research" not in target else "core headers do not see research"
        return "public headers may see <stddef.h>, <stdint.h> and each other only"
    source = place(path)
    if source[0] not in LEVEL_OF:
        return "the file itself is in no folder of the core"
    if target == "lpt.h" or target.startswith("lpt/"):
        return None
    if place(target)[0] is None:
        return "it is not written from the root, as in \"src/base/status.hpp\"" if quoted else None
    return reason(source, place(target))


def main(root):
    bad = checked = 0
    files = [path for top in ("include", "src", "kernels") for path in sorted((root / top).rglob("*"))]
    for file in (path for path in files if path.suffix in SUFFIXES):
        path = file.relative_to(root).as_posix()
        checked += 1
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            why = found and offence(path, *found.groups())
            if why:
                print(f"{path}:{number}: includes {found.group(1) or found.group(2)}: {why}")
                bad += 1
    print(f"check_includes: {checked} files, {bad} offences")
    return 1 if bad or not checked else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)))
