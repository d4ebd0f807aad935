#!/bin/sh
# A plugin has one symbol, needs neither driver nor toolkit to be opened, and remembers no folder of the machine it was built
# on.
#   closed_plugin.sh PLUGIN
set -eu
symbols=$(nm -D --defined-only "$1" | awk '{print $3}')
[ "$symbols" = lpt_plugin_entry ] || { echo "exported: $symbols"; exit 1; }
dynamic=$(readelf -d "$1")
case $dynamic in
  *RPATH* | *RUNPATH* | *libcuda* | *libcudart* | *libcublas* | *libcusparse* | *libnccl*) echo "$dynamic"; exit 1 ;;
esac
