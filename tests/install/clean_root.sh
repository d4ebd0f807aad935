#!/bin/sh
# Installs the packages that packages.sh made in PLACE in a bare Debian, by apt with what they depend on, and uses them there.
# Needs root, debootstrap and a mirror; 77 where one of them is missing.
set -eu
[ $# = 1 ] || { echo "usage: clean_root.sh PLACE" >&2; exit 2; }
place=$1 root=$1/debian
command -v debootstrap >/dev/null && [ "$(id -u)" = 0 ] || { echo "skipped: needs root and debootstrap" >&2; exit 77; }

trap 'rm -rf "$root"' EXIT
rm -rf "$root"
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$place/debootstrap.log" 2>&1 ||
  { tail -n 5 "$place/debootstrap.log"; echo "skipped: no mirror" >&2; exit 77; }
mkdir "$root/debs"
cp "$place"/debs/liblpt1_*.deb "$place"/debs/liblpt-dev_*.deb "$place/consumer" "$root/debs"
[ ! -e "$place/root/usr/bin/lpt" ] || cp "$place"/debs/lpt-tools_*.deb "$root/debs"
chroot "$root" sh -ec '
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq install -y --no-install-recommends /debs/*.deb >/dev/null 2>&1
  /debs/consumer
  ldconfig -p | grep -q "liblpt.so.1"
  [ ! -x /usr/bin/lpt ] || lpt doctor
  apt-get -qq remove -y liblpt1 >/dev/null 2>&1
  if ls /usr/lib/liblpt* 2>/dev/null; then echo "the files above were left behind" >&2; exit 1; fi'
