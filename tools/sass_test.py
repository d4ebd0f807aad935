#!/usr/bin/env python3
"""Tests sass.py: it must detect a planted kernel, a table with smaller counts, and one with wider accesses.

Usage: sass_test.py PLANTED_CUBIN
"""
import contextlib
import io
import pathlib
import sys
import tempfile

import sass


def offences(cubin, change):
    """Returns the output of check() for the cubin and its changed table."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "table.csv")
        sass.write(table, [cubin])
        lines = table.read_text(encoding="utf-8").splitlines()
        table.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = sass.check(table, [cubin])
        return status, said.getvalue()


def with_row(**changes):
    """Returns a function that changes columns of the only kernel of the table."""
    def change(lines):
        row = dict(zip(sass.COLUMNS, lines[-1].split(","))) | {key: str(value) for key, value in changes.items()}
        return lines[:-1] + [",".join(row.values())]
    return change


def expect(status, said, *parts):
    missing = [part for part in parts if part not in said]
    if status != 1 or missing:
        sys.exit(f"status {status}, expected 1 and {missing} in:\n{said}")


def lacks(cubin, name, kernel):
    """Returns the output of need() for the cubin."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = sass.need(name, 1, kernel, [cubin])
    return status, said.getvalue()


def main(cubin):
    expect(*offences(cubin, lambda lines: lines), "accesses of local memory: expected none", "1 kernels, 1 offences")
    expect(*offences(cubin, with_row(instructions=10)), "instructions: expected at most 11")
    expect(*offences(cubin, with_row(wide=1)), "accesses are 128 bits wide: expected 1 of")
    expect(*offences(cubin, with_row(kernel="other")), "planted: is not in the table", "other: is in the table, and nowhere else")
    expect(*lacks(cubin, "HMMA", "planted"), "planted: 0 HMMA: expected at least 1", "1 kernels, 1 without HMMA")
    expect(*lacks(cubin, "LDGSTS", "other"), "0 kernels, 0 without LDGSTS")
    status, said = offences(cubin, lambda lines: [line.replace("nvcc ", "nvcc 9") for line in lines])
    if status != sass.SKIPPED:
        sys.exit(f"another toolkit: status {status}, expected {sass.SKIPPED}:\n{said}")


if __name__ == "__main__":
    main(sys.argv[1])
