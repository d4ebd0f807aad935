#!/bin/sh
# Runs the C# layer on the runtime of Microsoft, manually. The runtime has no compiler, so Mono compiles for it: first the
# source for Mono, then the source for .NET 7 and later. LibraryImport, which requires the compiler of Microsoft, is replaced by
# DllImport.
#   pip download --no-deps dotnetcore2 && python3 -m zipfile -e dotnetcore2-*.whl FOLDER
#   tests/bindings/dotnet.sh FOLDER/dotnetcore2/bin build/test
set -eu
[ $# = 2 ] || { echo "usage: dotnet.sh RUNTIME_FOLDER BUILD_FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
runtime=$(cd "$1" && pwd)
built=$(cd "$2" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/mono" "$place/net" "$place/source" "$place/library"
# Only the SONAME, as on a system without the development package.
cp -L "$built/liblpt.so.1" "$place/library/"
chmod +x "$runtime/dotnet"
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

run() { # FOLDER PROGRAM [ARGUMENT]...
  folder=$1 program=$2
  shift 2
  printf '{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}}}\n' \
    >"$folder/${program%.exe}.runtimeconfig.json"
  "$runtime/dotnet" "$folder/$program" "$@"
}

cp "$built/tests/bindings/csharp/"* "$place/mono/"
ln -s liblpt.so.1 "$place/library/liblpt.so"
LD_LIBRARY_PATH=$place/library run "$place/mono" LptTests.exe "$root/tests/abi/lpt_abi.txt"
rm "$place/library/liblpt.so"

cp "$root/bindings/csharp/Lpt/"*.cs "$place/source/"
sed -i 's/\[LibraryImport(Library)\] public static partial/[DllImport(Library)] public static extern/' "$place/source/Native.cs"
cat >"$place/source/Stub.cs" <<'END'
namespace System.Runtime.CompilerServices { public sealed class ModuleInitializerAttribute : Attribute { } }
END
# The compiler of Mono does not run module initializers, so a start program calls it.
cat >"$place/Run.cs" <<'END'
using System;
using System.Reflection;

static class Run
{
    static int Main(string[] arguments)
    {
        var install = typeof(Lpt.Native).Assembly.GetType("Lpt.Resolver").GetMethod("Install", BindingFlags.NonPublic | BindingFlags.Static);
        install.Invoke(null, null);
        return LptTests.Main(arguments);
    }
}
END
references=$(for name in System.Private.CoreLib System.Runtime System.Runtime.Extensions System.Runtime.InteropServices System.Collections \
  System.Collections.Concurrent System.Threading System.Threading.Thread System.Linq System.Console System.IO.FileSystem; do
  printf ' -r:%s' "$runtime"/shared/Microsoft.NETCore.App/*/$name.dll; done)
compile="mcs -langversion:latest -unsafe -nostdlib -noconfig $references"
$compile -d:NET7_0_OR_GREATER -target:library -out:"$place/net/Lpt.dll" "$place"/source/*.cs
sed 's/static int Main/public static int Main/; s/^static class LptTests/public static class LptTests/' \
  "$root/bindings/csharp/Tests/LptTests.cs" >"$place/LptTests.cs"
$compile -d:NET7_0_OR_GREATER -main:Run -r:"$place/net/Lpt.dll" -out:"$place/net/Run.exe" "$place/Run.cs" "$place/LptTests.cs"
LD_LIBRARY_PATH=$place/library run "$place/net" Run.exe "$root/tests/abi/lpt_abi.txt"
