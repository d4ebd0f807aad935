#!/bin/sh
# Installs BUILD_FOLDER, then moves the tree to PREFIX: whatever still spells the first place breaks its users.
set -eu
[ $# = 3 ] || { echo "usage: install_and_move.sh CMAKE BUILD_FOLDER PREFIX" >&2; exit 2; }
cmake=$1 build=$2 prefix=$3 first=$3.first

rm -rf "$prefix" "$first"
"$cmake" --install "$build" --prefix "$first"
if grep -rIl "$first" "$first"; then
  echo "the files above spell the place they were installed to" >&2
  exit 1
fi
mv "$first" "$prefix"
