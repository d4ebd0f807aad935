#!/usr/bin/env python3
"""Sums ctest's JUnit reports into the closing line `N passed, N failed, N skipped`.

Usage: sum_tests.py REPORT...

A report that is missing, unreadable or empty stands for a run that broke off and counts as one failure.
Exit status 1 if anything failed.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def read_cases(report):
    """The test cases of one report; an exception says what is wrong with it."""
    if not report.exists():
        raise ValueError("no report; what went wrong stands further up")
    cases = ElementTree.parse(report).getroot().findall("testcase")
    if not cases:
        raise ValueError("no test ran")
    return cases


def skip_reason(case):
    """Why a case was skipped on purpose; None where it was not."""
    if case.get("status") == "disabled":
        return "disabled"
    skipped = case.find("skipped")
    # ctest also says "skipped" of a missing program or a failed fixture; those it counts as failures, and so do we.
    if skipped is None or not skipped.get("message", "").startswith("SKIP_"):
        return None
    said = re.search(r": Skipped\n\s*(.+)", case.findtext("system-out") or "")
    return said.group(1).strip() if said else f"{case.get('name')} gave no reason"


def main(reports):
    passed, failed, skip_counts = 0, [], collections.Counter()
    for report in map(pathlib.Path, reports):
        try:
            cases = read_cases(report)
        except (OSError, ValueError, ElementTree.ParseError) as problem:
            failed.append(f"{report.stem}: broke off ({problem})")
            continue
        for case in cases:
            if case.get("status") == "run":
                passed += 1
            elif reason := skip_reason(case):
                skip_counts[f"{report.stem}: {reason}"] += 1
            else:
                failed.append(f"{report.stem}: {case.get('name')}")
    for reason, count in sorted(skip_counts.items()):
        print(f"skipped {count} in {reason}")
    for name in failed:
        print(f"failed in {name}")
    print(f"{passed} passed, {len(failed)} failed, {sum(skip_counts.values())} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
