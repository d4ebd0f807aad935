#!/bin/sh
# Packs the assembly compiled by Mono like NuGet, unpacks it in another folder, and runs the tests with only the packages.
set -eu
[ $# = 6 ] || { echo "usage: nuget.sh PACK_PY LPT_DLL LIBRARY TESTS_EXE ABI_TABLE MONO" >&2; exit 2; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 "$1" "$2" "$3" "$place/packages"
for package in "$place"/packages/*.nupkg; do
  # The package is a valid zip file and declares a content type for each extension.
  python3 - "$package" "$place/unpacked" <<'END'
import sys, xml.etree.ElementTree as tree, zipfile
with zipfile.ZipFile(sys.argv[1]) as package:
    assert package.testzip() is None
    types = {one.get("Extension") for one in tree.fromstring(package.read("[Content_Types].xml"))}
    names = package.namelist()
    assert types >= {name.rsplit(".", 1)[1] for name in names if name != "[Content_Types].xml"}, (types, names)
    nuspec = [name for name in names if name.endswith(".nuspec")]
    assert len(nuspec) == 1 and "/" not in nuspec[0] and f'"/{nuspec[0]}"' in package.read("_rels/.rels").decode(), names
    tree.fromstring(package.read(nuspec[0]))
    package.extractall(sys.argv[2])
END
done
cp "$4" "$place/unpacked/lib/net472/"
cd "$place/unpacked/lib/net472"
LD_LIBRARY_PATH=$place/unpacked/runtimes/linux-x64/native "$6" "$(basename "$4")" "$5"
