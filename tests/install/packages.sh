#!/bin/sh
# Makes Debian packages of BUILD_FOLDER in PLACE, unpacks them into one folder, and uses what is there: C, the tool, Python.
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
  copyright=$place/root/usr/share/doc/$(field "$package" Package)/copyright
  [ "$(field "$package" Version)" = "$version" ] || fail "$package is of version $(field "$package" Version)"
  dpkg-deb -c "$package" | grep -v '/$' | sed 's/.* \.\//\//; s/ -> .*//' >>"$place/files"
  dpkg-deb -x "$package" "$place/root"
  grep -q '^License: Apache-2.0$' "$copyright" || fail "$package has no copyright file"
  case $package in
    */liblpt1_*) ;;
    *) field "$package" Depends | grep -q "liblpt1 (= $version)" || fail "$package does not depend on liblpt1 (= $version)" ;;
  esac
done
doubles=$(sort "$place/files" | uniq -d)
[ -z "$doubles" ] || fail "in two packages: $doubles"
if grep -rIl "$build" "$place/root"; then fail "the files above spell the build folder"; fi

folder=$(dirname "$(find "$place/root" -name lpt.pc)")
export PKG_CONFIG_PATH="$folder"
cp -r "$here/consumer" "$place/consumer"
make -s -C "$place/consumer" CC="$compiler" consumer
LD_LIBRARY_PATH=$folder/.. "$place/consumer/consumer"
if [ -e "$folder/../liblpt.a" ]; then
  make -s -C "$place/consumer" CC="$compiler" consumer_by_archive
  "$place/consumer/consumer_by_archive"
fi
# The tool finds the library by its own place.
tool=$place/root/usr/bin/lpt
[ ! -e "$tool" ] || "$tool" --version
# So does Python's module.
package=$place/root/usr/lib/python3/dist-packages
if [ -e "$package/lpt" ]; then
  PYTHONPATH=$package /usr/bin/python3 -B "$here/consumer/smoke.py" "$place/root"
  dpkg-deb -f "$place"/debs/python3-lpt_*.deb Depends | grep -q 'python3 (>= 3.*python3 (<< 3' || fail "python3-lpt takes any Python"
  for script in postinst prerm; do dpkg-deb -I "$place"/debs/python3-lpt_*.deb $script | sh -n; done
fi
