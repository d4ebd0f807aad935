#!/bin/sh
# Checks that the plugin opens without the toolkit: PROGRAM --probe reports the driver, not a missing library.
#   without_toolkit.sh PROGRAM PLUGIN
set -eu
program=$1
folder=/usr/local/cuda
unshare -rm true 2>/dev/null || { echo "skipped: this system grants no namespace of mounts"; exit 77; }
[ -d "$folder" ] || { echo "skipped: there is no $folder"; exit 77; }
LPT_PLUGIN_PATH=$(dirname "$2")
export LPT_PLUGIN_PATH
words=$(unshare -rm sh -c "mount -t tmpfs none \$(readlink -f $folder) && ! ls $folder/bin/nvcc 2>/dev/null && $program --probe") || true
echo "$words"
case $words in
  *"driver version"* | *"no CUDA-capable device"* | *"cuda:0 is"*) ;;
  *) exit 1 ;;
esac
