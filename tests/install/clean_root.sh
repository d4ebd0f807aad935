#!/bin/sh
# Installs the packages that packages.sh made in PLACE in a bare Debian, by apt with what they depend on, and uses them there: programs
# by make and by CMake, by the library and by the archive, the tool, Python. Then it takes them away, and installs the wheel of
# PLACE/wheel, where there is one, in a virtual environment. Needs root, debootstrap and a mirror; 77 where one of them is missing.
set -eu
[ $# = 1 ] || { echo "usage: clean_root.sh PLACE" >&2; exit 2; }
place=$1 root=$1/debian here=$(dirname "$0")
. "$here/bare_root.sh"
make_bare_root "$root" "$place/debootstrap.log"
cp -r "$here/consumer" "$root/consumer"
mkdir "$root/debs"
for package in liblpt1 liblpt-dev lpt-tools python3-lpt; do
  for file in "$place/debs/${package}"_*.deb; do [ ! -e "$file" ] || cp "$file" "$root/debs"; done
done
[ ! -d "$place/wheel" ] || cp "$place"/wheel/*.whl "$root/debs"

cat >"$root/use" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive
step() { echo "== $*"; }
get() { apt-get -qq install -y --no-install-recommends "$@" >/log 2>&1 || { cat /log; exit 1; }; }
has() { ls /debs/"$1"_*.deb >/dev/null 2>&1; }

step "packages, with what they depend on"
get /debs/*.deb
ldconfig -p | grep -q "liblpt.so.1"
if has lpt-tools; then lpt doctor && lpt --version; fi
if has python3-lpt; then
  python3 /consumer/smoke.py
  ls /usr/lib/python3/dist-packages/lpt/__pycache__/*.pyc >/dev/null
  if has lpt-tools; then python3 -m lpt --version; fi
fi

step "make and pkg-config"
get gcc libc6-dev make pkg-config
make -s -C /consumer consumer && /consumer/consumer
if pkg-config --variable=libdir lpt | xargs -I{} test -e {}/liblpt.a; then
  get g++
  make -s -C /consumer consumer_by_archive && /consumer/consumer_by_archive
  archive=-DLPT_FROM_ARCHIVE=ON
fi

step "CMake"
get cmake
for choice in -DLPT_FROM_ARCHIVE=OFF ${archive-}; do
  rm -rf /built
  cmake -S /consumer -B /built "$choice" >/log && cmake --build /built >>/log || { cat /log; exit 1; }
  /built/consumer
done

step "removal"
apt-get -qq remove -y liblpt1 >/log 2>&1 || { cat /log; exit 1; }
if find / -xdev -name '*lpt*' -not -path '/debs/*' -not -path '/var/lib/*' -not -path '/var/cache/*' -not -path '/proc/*' |
  grep -v '/liblpt1$'; then
  echo "the files above were left behind" >&2
  exit 1
fi

if ls /debs/*.whl >/dev/null 2>&1; then
  step "wheel"
  get python3-venv
  python3 -m venv /venv
  /venv/bin/pip install --quiet --no-index /debs/*.whl
  /venv/bin/python /consumer/smoke.py /venv
  /venv/bin/lpt --version
fi
END
# By /proc the wheel's tool knows its own place, from which it finds its library.
in_bare_root "$root" LC_ALL=C.UTF-8 sh /use
