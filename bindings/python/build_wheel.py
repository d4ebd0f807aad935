#!/usr/bin/env python3
"""Writes a wheel of the Python package with liblpt.so, lpt.h, the command-line tool and the conformance vectors.

It needs no network.

  build_wheel.py [--cuda] [--out DIR]            build the preset `release` with the package in build/wheel first
  build_wheel.py --build-dir DIR [--out DIR]     use an existing build folder
  build_wheel.py --source [--out DIR]            write a source archive of the files in git, from which pip builds a wheel

If the build folder has the CUDA plugin (--cuda), the script writes it as a second wheel, lpt-cuda, which installs the plugin
next to liblpt.so. Wheels have the tag of the oldest manylinux (PEP 600) whose glibc and libstdc++ have their symbols.

A wheel (PEP 427) is a zip of the package and its metadata. This script writes it with the standard library only. pip calls
build_wheel(), prepare_metadata_for_build_wheel() and build_sdist(), which pyproject.toml names (PEP 517).
"""
import argparse
import base64
import hashlib
import io
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

# Libraries that the wheel does not contain because every system with C++ has them; liblpt is next to the module.
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "liblpt.so.1"}
# The manylinux_2_N whose libstdc++ has the symbols GLIBCXX_3.4.n, by n.
GLIBC_OF_LIBSTDCXX = {19: 17, 22: 24, 24: 27, 28: 31, 29: 34, 30: 35, 33: 39}
CUDA_PLUGIN = "liblpt_cuda.so"
ROOT = pathlib.Path(__file__).resolve().parents[2]
ABOUT = """Metadata-Version: 2.1
Name: lpt
Version: {version}
Summary: LPT, the low-precision training toolkit: FP8, FP4, MX, NVFP4, INT8 and training with them
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{text}
"""
ABOUT_CUDA = """Metadata-Version: 2.1
Name: lpt-cuda
Version: {version}
Summary: The CUDA plugin of LPT, the low-precision training toolkit
License: Apache-2.0
Requires-Dist: lpt=={version}
Requires-Python: >=3.9
"""


def build(folder, given=()):
    """Configure with the options `given` for CMake, and build the package without debug information.

    -DLPT_CUDA=ON adds the CUDA plugin, whose kernels take most of the time.
    """
    plugins = ["lpt_cuda"] if "-DLPT_CUDA=ON" in given else []
    time = "more than 10 CPU minutes with the CUDA plugin" if plugins else "about 3 minutes on two cores"
    print(f"lpt: compiling the library and the tool in {folder}, which takes {time}", flush=True)
    if not plugins:  # of an earlier build in this folder, for another liblpt
        pathlib.Path(folder, CUDA_PLUGIN).unlink(missing_ok=True)
    flags = [f"-DCMAKE_{language}_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" for language in ("C", "CXX")]
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DLPT_BUILD_PYTHON=ON", "-DLPT_BUILD_SAMPLES=OFF",
                    "-DLPT_CALLER_FLAGS=-O1", *flags, f"-DPython3_EXECUTABLE={sys.executable}", *given],
                   cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "lpt_python_package", *plugins], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"lpt: the build took {used.ru_utime + used.ru_stime:.0f} s of CPU time", flush=True)


def gather(folder, place, has_cuda):
    """Copy the package to `place`, with the libraries next to the module; the CUDA plugin only if `has_cuda`."""
    source, target = folder / "python" / "lpt", place / "lpt"
    shutil.copytree(source, target, symlinks=False, ignore=shutil.ignore_patterns("__pycache__"))
    for other in set(target.glob("_capi*.so")) - {module(target)}:
        other.unlink()  # built for another Python in the same folder
    shutil.copy(folder / "liblpt.so.1", target / "liblpt.so.1")
    # The tool reads the vectors from ../share, relative to its folder.
    vectors = target / "share" / "lpt" / "conformance"
    shutil.copytree(ROOT / "tests" / "golden" / "formats", vectors, ignore=lambda _, names: [
        name for name in names if not name.endswith(".csv")])
    shutil.copy(ROOT / "docs" / "reference" / "conformance.md", vectors / "README.md")
    for plugin in folder.glob("liblpt_*.so"):
        if has_cuda or plugin.name != CUDA_PLUGIN:
            shutil.copy(plugin, target)
    # The run path of a binary in the build folder is replaced in place; the new one is shorter.
    for binary, origin in [(module(target), "$ORIGIN"), (target / "bin" / "lpt", "$ORIGIN/..")]:
        if binary.exists():
            set_run_path(binary, origin)
    if (target / "bin" / "lpt").exists():
        copy_libraries(target / "bin" / "lpt", target)
    for file in programs(target):
        subprocess.run(["strip", "--strip-unneeded", file], check=True)


def gather_cuda(folder, place):
    """Copy the CUDA plugin to `place`, where the wheel of the package has liblpt.so."""
    (place / "lpt").mkdir()
    subprocess.run(["strip", "--strip-unneeded", folder / CUDA_PLUGIN, "-o", place / "lpt" / CUDA_PLUGIN], check=True)


def programs(place):
    return [file for file in place.rglob("*") if file.is_file() and file.read_bytes()[:4] == b"\x7fELF"]


def copy_libraries(program, target):
    """Copy libraries of a program that not every system has next to the module, with their licenses."""
    needed = re.findall(r"NEEDED +(\S+)", output("objdump", "-p", program))
    for name, path in re.findall(r"(\S+) => (/\S+)", output("ldd", program)):
        if name in needed and name not in SYSTEM_LIBRARIES and not (target / name).exists():
            shutil.copy(path, target / name)
            package = output("dpkg-query", "-S", os.path.realpath(path)).split(":")[0]
            shutil.copy(f"/usr/share/doc/{package}/copyright", target / f"{name}.copyright")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def module(package):
    """Return the path of the compiled module for the running Python."""
    return package / ("_capi" + sysconfig.get_config_var("EXT_SUFFIX"))


def set_run_path(binary, origin):
    script = f'file(RPATH_SET FILE "{binary}" NEW_RPATH "{origin}")'
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as file:
        file.write(script)
        file.flush()
        subprocess.run(["cmake", "-P", file.name], check=True)


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def python_tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}"


def platform_tag(place):
    """Return the oldest manylinux that has every symbol which the programs in `place` require."""
    glibc = 17
    for file in programs(place):
        headers = output("objdump", "-p", file)
        glibc = max([glibc, *map(int, re.findall(r" GLIBC_2\.(\d+)$", headers, re.M))])
        for libstdcxx in map(int, re.findall(r" GLIBCXX_3\.4\.(\d+)$", headers, re.M)):
            glibc = max(glibc, next(GLIBC_OF_LIBSTDCXX[n] for n in sorted(GLIBC_OF_LIBSTDCXX) if n >= libstdcxx))
    return f"manylinux_2_{glibc}_{os.uname().machine}"


def write(place, out, name, tag, metadata):
    """Write the zip with a record of every file, and return its path. `metadata` are the files of .dist-info but two."""
    version = version_of_sources()
    info, wheel = f"{name}-{version}.dist-info", out / f"{name}-{version}-{tag}.whl"
    metadata = metadata | {"LICENSE": (ROOT / "LICENSE").read_bytes(), "WHEEL": (
        f"Wheel-Version: 1.0\nGenerator: lpt\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())}
    records = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
            archive.writestr(entry, data)
            records.append(f"{name},{digest(data)},{len(data)}")
        for file in sorted(place.rglob("*")):
            if file.is_file():
                add(file.relative_to(place).as_posix(), file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        for file, data in metadata.items():
            add(f"{info}/{file}", data)
        archive.writestr(f"{info}/RECORD", "\n".join(records + [f"{info}/RECORD,,", ""]))
    return wheel


def metadata_files():
    """Return the metadata of the package that does not depend on compiled files."""
    return {"METADATA": about(version_of_sources()), "entry_points.txt": b"[console_scripts]\nlpt = lpt.__main__:main\n"}


def about(version):
    text = (ROOT / "docs" / "languages" / "python.md").read_text(encoding="utf-8")
    return ABOUT.format(version=version, text=text).encode()


def version_of_sources():
    return re.search(r"project\(lpt VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: build a wheel and return its name. pip's --config-settings cmake='-D…' passes options to CMake."""
    folder = ROOT / "build" / "wheel"
    build(folder, shlex.split((config_settings or {}).get("cmake", "")))
    return make(folder, pathlib.Path(wheel_directory), has_cuda=True).name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: write the metadata, without compiling, and return its folder."""
    info = pathlib.Path(metadata_directory) / f"lpt-{version_of_sources()}.dist-info"
    info.mkdir()
    for name, data in metadata_files().items():
        (info / name).write_bytes(data)
    return info.name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: write an archive of all files in git, and return its name."""
    version = version_of_sources()
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    archive = pathlib.Path(sdist_directory) / f"lpt-{version}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in sorted(filter(None, files)):
            tar.add(ROOT / name, f"lpt-{version}/{name}", recursive=False)
        data = about(version)
        entry = tarfile.TarInfo(f"lpt-{version}/PKG-INFO")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return archive.name


def make(folder, out, has_cuda):
    """Write the wheel of a build folder, and return its path. It contains the CUDA plugin, if there is one and `has_cuda`."""
    if not module(folder / "python" / "lpt").exists():
        sys.exit(f"build_wheel.py: {folder} has no package for this Python: install swig and python3-dev, and build again")
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        gather(folder, place, has_cuda)
        return write(place, out, "lpt", f"{python_tag()}-{platform_tag(place)}", metadata_files())


def make_cuda(folder, out):
    """Write the wheel of the CUDA plugin, and return its path."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        gather_cuda(folder, place)
        about_cuda = {"METADATA": ABOUT_CUDA.format(version=version_of_sources()).encode()}
        return write(place, out, "lpt_cuda", f"py3-none-{platform_tag(place)}", about_cuda)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build-dir", type=pathlib.Path)
    parser.add_argument("--cuda", action="store_true", help="compile the CUDA plugin too, which requires nvcc")
    parser.add_argument("--source", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=None)
    arguments = parser.parse_args()
    folder = (arguments.build_dir or ROOT / "build" / "wheel").resolve()
    out = (arguments.out or folder / "dist").resolve()
    out.mkdir(parents=True, exist_ok=True)
    if arguments.source:
        print(out / build_sdist(out))
        return
    if arguments.build_dir is None:
        build(folder, ["-DLPT_CUDA=ON"] if arguments.cuda else [])
    print(make(folder, out, has_cuda=False))
    if (folder / CUDA_PLUGIN).exists():
        print(make_cuda(folder, out))


if __name__ == "__main__":
    main()
