#!/usr/bin/env python3
"""Writes the two NuGet packages without the .NET SDK, from files of Mono: LPT with the assembly, LPT.Native with the library.

  pack.py LPT_DLL LIBRARY FOLDER

LPT_DLL is the Lpt.dll of mcs, LIBRARY a liblpt.so.1. Writes FOLDER/LPT….nupkg and FOLDER/LPT.Native….nupkg.

Names, release and descriptions are those of the project files. With these, `dotnet pack` writes the same packages for
netstandard2.0 and net8.0. This script packs the assembly for the profile of Mono, net472.
"""
import pathlib
import re
import sys
import zipfile
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
STAMP = (1980, 1, 1, 0, 0, 0)  # fixed, for reproducible packages

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


def element_text(project, element):
    """Return the text of an element of a project file."""
    return re.search(f"<{element}>(.*?)</{element}>", project).group(1)


def content_types(names):
    """Return [Content_Types].xml with a type for every file name extension, which OPC requires."""
    endings = sorted({name.rsplit(".", 1)[1] for name in names})
    lines = [f'  <Default Extension="{ending}" ContentType="application/octet-stream" />' for ending in endings]
    lines.append('  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />')
    return ('<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\n'
            + "\n".join(lines) + "\n</Types>\n")


def write_package(folder, project, groups, files):
    """Write a package, and return its path. files: {path in the package: path of the file}."""
    text = (HERE / project).read_text(encoding="utf-8")
    name, version = element_text(text, "PackageId"), element_text(text, "Version")
    nuspec = f"{name}.nuspec"
    manifest = NUSPEC.format(id=name, version=version, description=escape(element_text(text, "Description")),
                             groups=groups.format(version=version))
    parts = {"[Content_Types].xml": content_types([nuspec, *files]), "_rels/.rels": RELATIONS.format(nuspec=nuspec),
             nuspec: manifest}
    path = folder / f"{name}.{version}.nupkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for target, data in [*parts.items(), *((target, source.read_bytes()) for target, source in files.items())]:
            information = zipfile.ZipInfo(target, STAMP)
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
