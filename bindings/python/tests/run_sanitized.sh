#!/bin/sh
# Runs the tests on a build for ASan and UBSan that has the package (-DLPT_BUILD_PYTHON=ON): run_sanitized.sh BUILD_FOLDER
# The interpreter is none of it, so the sanitizers' libraries come first, and its own small-object allocator is left out. Leaks
# are the interpreter's; process_test.py looks for ours.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc PYTHONPATH="$build/python" LPT_BUILD_DIR="$build"
export LPT_SOURCE_DIR="$(cd ../../.. && pwd)" LPT_SLOW_CALLS=10000
exec /usr/bin/python3 -B -m unittest -q ${2-cast_test exchange_test operation_test rank_test train_test guide_test}
