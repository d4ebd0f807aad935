#!/bin/sh
# Builds and runs the consumer with what pkg-config says of the tree at PREFIX.
set -eu
[ $# = 5 ] || { echo "usage: pkg_config.sh PREFIX LIBRARY_FOLDER VERSION C_COMPILER PROGRAM" >&2; exit 2; }
prefix=$1 folder=$2 version=$3 compiler=$4 program=$5

export PKG_CONFIG_PATH="$prefix/$folder/pkgconfig"
pkg-config --print-errors --exact-version="$version" lpt
"$compiler" -std=c99 -pedantic -Wall -Wextra -Werror $(pkg-config --cflags lpt) \
  "$(dirname "$0")/consumer/main.c" $(pkg-config --libs lpt) -o "$program"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lpt) "$program"
