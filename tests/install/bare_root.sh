# For scripts to include. A bare Debian of this system's suite, made by debootstrap; it is removed when the script exits.
#   make_bare_root ROOT LOG               77 where root, debootstrap or a mirror is missing
#   in_bare_root ROOT [NAME=VALUE]... COMMAND...   with /proc, without /sys, and of this environment only how the network is reached

remove_bare_root() {
  ! mountpoint -q "$bare_root/proc" || umount "$bare_root/proc"
  rm -rf --one-file-system "$bare_root"
}

make_bare_root() {
  command -v debootstrap >/dev/null && [ "$(id -u)" = 0 ] || { echo "skipped: needs root and debootstrap" >&2; exit 77; }
  bare_root=$1
  trap remove_bare_root EXIT
  trap 'exit 1' HUP INT TERM
  remove_bare_root
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
  debootstrap --variant=minbase "$suite" "$bare_root" "${mirror:-http://deb.debian.org/debian}" >"$2" 2>&1 ||
    { tail -n 5 "$2"; echo "skipped: no mirror" >&2; exit 77; }
  # By /proc a program knows its own place.
  mount -t proc proc "$bare_root/proc"
}

in_bare_root() {
  root=$1
  shift
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} chroot "$root" env "$@"
}
