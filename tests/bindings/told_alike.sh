#!/bin/sh
# Runs a program, in the locale C and in one of UTF-8, and compares the lines that it prints with those of FILE.
set -eu
[ $# -ge 2 ] || { echo "usage: told_alike.sh FILE PROGRAM [ARGUMENT]..." >&2; exit 2; }
expected=$1
shift
told=$(mktemp)
trap 'rm -f "$told"' EXIT
for locale in C C.UTF-8; do
  echo "LC_ALL=$locale"
  LC_ALL=$locale "$@" >"$told"
  diff -u "$expected" "$told"
done
