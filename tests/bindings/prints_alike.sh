#!/bin/sh
# Runs a program in the locales C and C.UTF-8, and compares its output with FILE.
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
