#!/bin/sh
# Runs a program, in the locale C and in one of UTF-8, and compares the lines that it prints with those of FILE.
set -eu
[ $# -ge 2 ] || { echo "usage: prints_alike.sh FILE PROGRAM [ARGUMENT]..." >&2; exit 2; }
expected=$1
shift
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
for locale in C C.UTF-8; do
  echo "LC_ALL=$locale"
  LC_ALL=$locale "$@" >"$printed"
  diff -u "$expected" "$printed"
done
