#!/usr/bin/env python3
"""Writes a wheel of the Python package, with liblpt.so, lpt.h and the command-line tool inside. Needs no network.

  build_wheel.py [--out DIR]                     builds the preset `release` with the package in build/wheel first
  build_wheel.py --build-dir DIR [--out DIR]     of a tree that is built already

A wheel (PEP 427) is a zip of the package and three files about it: written here, so that nothing has to be installed.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

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


def build(folder):
    """Configures and builds what the package needs."""
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DLPT_BUILD_PYTHON=ON", "-DLPT_BUILD_SAMPLES=OFF",
                    f"-DPython3_EXECUTABLE={sys.executable}"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "lpt_python_package"], check=True)


def gather(folder, place):
    """The package as it is installed: libraries beside the module, which looks for them there."""
    source, target = folder / "python" / "lpt", place / "lpt"
    shutil.copytree(source, target, symlinks=False, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(folder / "liblpt.so.1", target / "liblpt.so.1")
    for plugin in folder.glob("liblpt_*.so"):
        shutil.copy(plugin, target)
    # What was linked for the build tree has its path, which has room for the shorter one.
    for binary, origin in ((target / "_capi.so", "$ORIGIN"), (target / "bin" / "lpt", "$ORIGIN/..")):
        if binary.exists():
            set_run_path(binary, origin)
    for file in target.rglob("*"):
        if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
            subprocess.run(["strip", "--strip-unneeded", file], check=True)


def set_run_path(binary, origin):
    script = f'file(RPATH_SET FILE "{binary}" NEW_RPATH "{origin}")'
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as file:
        file.write(script)
        file.flush()
        subprocess.run(["cmake", "-P", file.name], check=True)


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def write(place, out, version):
    """The zip, with a record of every file."""
    info = f"lpt-{version}.dist-info"
    text = (ROOT / "docs" / "python.md").read_text()
    extra = {f"{info}/METADATA": ABOUT.format(version=version, text=text).encode(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: lpt\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode(),
             f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
             f"{info}/entry_points.txt": b"[console_scripts]\nlpt = lpt.__main__:main\n"}
    wheel = out / f"lpt-{version}-{tag()}.whl"
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
        for name, data in extra.items():
            add(name, data)
        archive.writestr(f"{info}/RECORD", "\n".join(records + [f"{info}/RECORD,,", ""]))
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build-dir", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=None)
    arguments = parser.parse_args()
    folder = (arguments.build_dir or ROOT / "build" / "wheel").resolve()
    if arguments.build_dir is None:
        build(folder)
    if not (folder / "python" / "lpt" / "_capi.so").exists():
        sys.exit(f"build_wheel.py: {folder} has no package: building it takes swig and python3-dev")
    out = (arguments.out or folder / "dist").resolve()
    out.mkdir(parents=True, exist_ok=True)
    version = re.search(r"project\(lpt VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    with tempfile.TemporaryDirectory() as name:
        gather(folder, pathlib.Path(name))
        print(write(pathlib.Path(name), out, version))


if __name__ == "__main__":
    main()
