#!/bin/sh
# Runs a program and compares the lines that it prints with those of FILE.
set -eu
[ $# -ge 2 ] || { echo "usage: told_alike.sh FILE PROGRAM [ARGUMENT]..." >&2; exit 2; }
expected=$1
shift
told=$(mktemp)
trap 'rm -f "$told"' EXIT
"$@" >"$told"
diff -u "$expected" "$told"
