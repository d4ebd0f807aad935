#!/bin/sh
# Checks that a plugin exports one symbol, opens without driver and toolkit, and contains no path of the build machine.
#   closed_plugin.sh PLUGIN
set -eu
symbols=$(nm -D --defined-only "$1" | awk '{print $3}')
[ "$symbols" = lpt_plugin_entry ] || { echo "exported: $symbols"; exit 1; }
dynamic=$(readelf -d "$1")
case $dynamic in
  *RPATH* | *RUNPATH* | *libcuda* | *libcudart* | *libcublas* | *libcusparse* | *libnccl*) echo "$dynamic"; exit 1 ;;
esac
