#!/usr/bin/env python3
"""Sums the JUnit reports of ctest into the final line `N passed, N failed, N skipped`.

Usage: sum_tests.py REPORT...

A case that is a GoogleTest suite counts as the tests that it ran. A suite that ended early counts as one failure plus its
passed tests. A report that is missing, unreadable or empty counts as one failure. The end of the output of each failed case is
printed before the sum. Exit status 1 if anything failed.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED = r": Skipped\n\s*(.+)"
TAIL_LINES = 30


def read_cases(report):
    """Returns the test cases of one report."""
    if not report.exists():
        raise ValueError("no report: see the errors above")
    cases = ElementTree.parse(report).getroot().findall("testcase")
    if not cases:
        raise ValueError("no test ran")
    return cases


def output_of(case):
    return case.findtext("system-out") or ""


def skip_reason(case):
    """Returns why a case was skipped on purpose; None if it was not."""
    if case.get("status") == "disabled":
        return "disabled"
    skipped = case.find("skipped")
    # ctest also marks a missing program or a failed fixture as skipped. It counts them as failures, and so does this script.
    if skipped is None or not skipped.get("message", "").startswith("SKIP_"):
        return None
    out = output_of(case)
    found = re.search(SKIPPED, out) or re.search(r"skipped: (.+)", out)  # of GoogleTest; of a script
    return found.group(1).strip() if found else f"{case.get('name')} gave no reason"


def is_suite(case):
    """Returns whether a case is a GoogleTest suite: tests/discover_suites.cmake names it like a GoogleTest filter."""
    return ".*" in case.get("name")


def sum_suite(case):
    """Returns the number of passed tests of a suite, the names of failed tests, and the reasons of skipped ones."""
    out = output_of(case)
    passed = len(re.findall(r"^\[       OK \] ", out, re.MULTILINE))
    failed = re.findall(r"^\[  FAILED  \] (\S+?),? .*\(\d+ ms\)$", out, re.MULTILINE)
    if case.get("status") != "run" and not failed:
        failed = [case.get("name")]
    return passed, failed, [reason.strip() for reason in re.findall(SKIPPED, out)]


def failure_lines(case):
    """Returns the lines that explain a failed case: for GoogleTest the output of the first failed test, else the last lines."""
    out = output_of(case)
    if is_suite(case):
        ends = re.search(r"^\[  FAILED  \] .*\(\d+ ms\)$", out, re.MULTILINE)
        begin = out.rfind("[ RUN      ]", 0, ends.start() if ends else len(out))
        lines = out[max(begin, 0):ends.end() if ends else len(out)].splitlines()
        return lines if len(lines) <= TAIL_LINES else lines[:TAIL_LINES // 2] + ["[…]"] + lines[-TAIL_LINES // 2:]
    return out.splitlines()[-TAIL_LINES:]


def main(reports):
    passed, failed, skip_counts = 0, [], collections.Counter()
    for report in map(pathlib.Path, reports):
        try:
            cases = read_cases(report)
        except (OSError, ValueError, ElementTree.ParseError) as problem:
            failed.append(f"{report.stem}: ended early ({problem})")
            continue
        for case in cases:
            before = len(failed)
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
            if len(failed) > before:
                print(f"-- {report.stem}: {case.get('name')}", *failure_lines(case), sep="\n   ")
    for reason, count in sorted(skip_counts.items()):
        print(f"skipped {count} in {reason}")
    for name in failed:
        print(f"failed in {name}")
    print(f"{passed} passed, {len(failed)} failed, {sum(skip_counts.values())} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
