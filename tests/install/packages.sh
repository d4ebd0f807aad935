#!/bin/sh
# Makes Debian packages of BUILD_FOLDER in PLACE, unpacks them into one folder, and uses what lies there.
set -eu
[ $# = 5 ] || { echo "usage: packages.sh CPACK BUILD_FOLDER PLACE VERSION C_COMPILER" >&2; exit 2; }
cpack=$1 build=$2 place=$3 version=$4 compiler=$5
here=$(dirname "$0")

rm -rf "$place"
mkdir -p "$place/root"
(cd "$build" && "$cpack" -G DEB -B "$place/made" >"$place/log" 2>&1) || { cat "$place/log"; exit 1; }
mkdir "$place/debs"
mv "$place"/made/*.deb "$place/debs"
rm -rf "$place/made"

fail() { echo "packages: $*" >&2; exit 1; }
field() { dpkg-deb -f "$1" "$2"; }

ls "$place"/debs/liblpt1_*.deb "$place"/debs/liblpt-dev_*.deb >/dev/null
for package in "$place"/debs/*.deb; do
  [ "$(field "$package" Version)" = "$version" ] || fail "$package is of version $(field "$package" Version)"
  dpkg-deb -c "$package" | grep -v '/$' | sed 's/.* \.\//\//; s/ -> .*//' >>"$place/files"
  dpkg-deb -x "$package" "$place/root"
  case $package in
    */liblpt1_*) ;;
    *) field "$package" Depends | grep -q "liblpt1 (= $version)" || fail "$package does not depend on liblpt1 (= $version)" ;;
  esac
done
doubles=$(sort "$place/files" | uniq -d)
[ -z "$doubles" ] || fail "in two packages: $doubles"
if grep -rIl "$build" "$place/root"; then fail "the files above spell the build folder"; fi

folder=$(dirname "$(find "$place/root" -name lpt.pc)")
PKG_CONFIG_PATH=$folder "$compiler" -std=c99 -pedantic -Wall -Werror "$here/consumer/main.c" \
  $(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs lpt) -o "$place/consumer"
LD_LIBRARY_PATH=$folder/.. "$place/consumer"
# The tool finds the library by its own place.
tool=$place/root/usr/bin/lpt
[ ! -e "$tool" ] || "$tool" --version
