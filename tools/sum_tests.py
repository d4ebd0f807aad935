#!/usr/bin/env python3
"""Sums ctest's JUnit reports into the closing line `N passed, N failed, N skipped`.

Usage: sum_tests.py REPORT...

A case that is a suite of gtest counts as the tests that it says it ran; one that broke off in their midst as one failure and those
that had passed. A report that is missing, unreadable or empty stands for a run that broke off and counts as one failure.
Exit status 1 if anything failed.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED = r": Skipped\n\s*(.+)"


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
    out = case.findtext("system-out") or ""
    said = re.search(SKIPPED, out) or re.search(r"skipped: (.+)", out)  # of gtest; of a script
    return said.group(1).strip() if said else f"{case.get('name')} gave no reason"


def is_suite(case):
    """Whether a case is many tests of gtest: tests/discover_suites.cmake names it as gtest's filter does."""
    return ".*" in case.get("name")


def sum_suite(case):
    """What a suite says: how many passed, which failed, why others were skipped."""
    said = case.findtext("system-out") or ""
    passed = len(re.findall(r"^\[       OK \] ", said, re.MULTILINE))
    failed = re.findall(r"^\[  FAILED  \] (\S+?),? .*\(\d+ ms\)$", said, re.MULTILINE)
    if case.get("status") != "run" and not failed:
        failed = [case.get("name")]
    return passed, failed, [reason.strip() for reason in re.findall(SKIPPED, said)]


def main(reports):
    passed, failed, skip_counts = 0, [], collections.Counter()
    for report in map(pathlib.Path, reports):
        try:
            cases = read_cases(report)
        except (OSError, ValueError, ElementTree.ParseError) as problem:
            failed.append(f"{report.stem}: broke off ({problem})")
            continue
        for case in cases:
            if is_suite(case):
                suite_passed, suite_failed, reasons = sum_suite(case)
                passed += suite_passed
                failed += [f"{report.stem}: {name}" for name in suite_failed]
                skip_counts.update(f"{report.stem}: {reason}" for reason in reasons)
            elif case.get("status") == "run":
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
