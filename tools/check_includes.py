#!/usr/bin/env python3
"""Checks that includes of src and kernels have one direction.

Usage: check_includes.py [--circles] [ROOT]

A folder includes itself and those below it: api and plugins, then nn, linear and optimizer at the same level, then parallel and
schedule at the same level, then collective and calibration at the same level, then one by one ranks, sparse, gemm, weights,
cast, tensor, call, then kernels and comm at the same level, then formats and backends, then base. A kernel family includes
formats, base and kernels/common, but neither backends nor another family.
Every file may include lpt.h and the headers of lpt/. --circles also checks that pairs of .hpp and .cpp do not include each
other in a cycle. Prints one line per offence, exit status 1.
"""
import pathlib
import re
import sys

LEVELS = [{"api", "plugins"}, {"nn", "linear", "optimizer"}, {"parallel", "schedule"}, {"collective", "calibration"}, {"ranks"},
          {"sparse"}, {"gemm"}, {"weights"}, {"cast"}, {"tensor"}, {"call"}, {"kernels", "comm"}, {"formats", "backends"}, {"base"}]
LEVEL_OF = {folder: level for level, folders in enumerate(LEVELS) for folder in folders}
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".inc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)')
PUBLIC_HEADER_MAY_SEE = {"stddef.h", "stdint.h"}


def place(path):
    """Returns (folder, family) of a path from the root: src/cast/x.cpp ("cast", None), kernels/x/ref.cpp ("kernels", "x")."""
    parts = path.split("/")
    if len(parts) >= 3 and parts[0] == "src":
        return parts[1], None
    if len(parts) >= 3 and parts[0] == "kernels":
        return "kernels", parts[1]
    return None, None


def reason(source, target):
    """Returns why `source` may not include `target`, both as (folder, family); None if it may."""
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
    """Returns the offence of one include of the file at `path`; None if there is none."""
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


def circles(root):
    """Returns groups of pairs that include each other directly or indirectly: Tarjan's strongly connected components."""
    graph = {}
    for top in ("src", "kernels"):
        for file in sorted((root / top).rglob("*.[ch]pp")):
            path = file.relative_to(root).with_suffix("").as_posix()
            found = (INCLUDE.match(line) for line in file.read_text(encoding="utf-8").splitlines())
            targets = {str(pathlib.PurePosixPath(f.group(1)).with_suffix("")) for f in found if f and f.group(1)}
            graph.setdefault(path, set()).update(t for t in targets if t != path and t.startswith(("src/", "kernels/")))
    index, low, stack, groups = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            groups.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return [group for group in groups if len(group) > 1]


def main(root, with_circles):
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
    for group in circles(root) if with_circles else ():
        print(f"{group[0]}: a circle of includes with {', '.join(group[1:])}")
        bad += 1
    print(f"check_includes: {checked} files, {bad} offences")
    return 1 if bad or not checked else 0


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--circles"]
    sys.exit(main(pathlib.Path(given[0] if given else pathlib.Path(__file__).parent.parent), "--circles" in sys.argv))
