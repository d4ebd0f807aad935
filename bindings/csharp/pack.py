#!/usr/bin/env python3
"""Makes the two NuGet packages where there is no .NET SDK, of what Mono compiled: LPT with the assembly, LPT.Native with the library.

  pack.py LPT_DLL LIBRARY FOLDER      LPT_DLL: the Lpt.dll of mcs; LIBRARY: a liblpt.so.1; writes FOLDER/LPT….nupkg and FOLDER/LPT.Native….nupkg

Names, release and descriptions are those of the projects, with which `dotnet pack` makes the same two with netstandard2.0 and net8.0 in
them. Here the assembly is one for .NET Framework's profile, net472, which is Mono's.
"""
import pathlib
import re
import sys
import zipfile
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
STAMP = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes

RELATIONS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{nuspec}" Id="R0" />
</Relationships>
"""
NUSPEC = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>{id}</id>
    <version>{version}</version>
    <authors>LPT</authors>
    <description>{description}</description>
    {groups}
  </metadata>
</package>
"""


def told(project, element):
    return re.search(f"<{element}>(.*?)</{element}>", project).group(1)


def content_types(names):
    """A type for every kind of file, or OPC readers refuse the package."""
    endings = sorted({name.rsplit(".", 1)[1] for name in names})
    lines = [f'  <Default Extension="{ending}" ContentType="application/octet-stream" />' for ending in endings]
    lines.append('  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />')
    return ('<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\n'
            + "\n".join(lines) + "\n</Types>\n")


def write_package(folder, project, groups, files):
    """files: {place in the package: path}."""
    text = (HERE / project).read_text(encoding="utf-8")
    name, version = told(text, "PackageId"), told(text, "Version")
    nuspec = f"{name}.nuspec"
    manifest = NUSPEC.format(id=name, version=version, description=escape(told(text, "Description")),
                             groups=groups.format(version=version))
    parts = {"[Content_Types].xml": content_types([nuspec, *files]), "_rels/.rels": RELATIONS.format(nuspec=nuspec), nuspec: manifest}
    path = folder / f"{name}.{version}.nupkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for place, data in [*parts.items(), *((place, source.read_bytes()) for place, source in files.items())]:
            information = zipfile.ZipInfo(place, STAMP)
            information.compress_type, information.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            package.writestr(information, data)
    return path


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    assembly, library, folder = map(pathlib.Path, arguments)
    folder.mkdir(parents=True, exist_ok=True)
    needs = ('<dependencies><group targetFramework=".NETFramework4.7.2"><dependency id="LPT.Native" version="{version}" /></group>'
             "</dependencies>")
    print(write_package(folder, "Lpt/Lpt.csproj", needs, {
        "lib/net472/Lpt.dll": assembly, "lib/net472/Lpt.dll.config": HERE / "Lpt/Lpt.dll.config"}))
    print(write_package(folder, "Lpt.Native/Lpt.Native.csproj", "", {"runtimes/linux-x64/native/liblpt.so.1": library}))


if __name__ == "__main__":
    main(sys.argv[1:])
