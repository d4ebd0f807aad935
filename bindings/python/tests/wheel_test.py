"""The wheel: its contents, its dependencies, and its installation by pip on a system without LPT."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import lpt

SOURCE = os.environ["LPT_SOURCE_DIR"]
SCRIPT = os.path.join(SOURCE, "bindings", "python", "build_wheel.py")
# Libraries of the system that every C++ process has. The libraries of the package are next to the module.
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "liblpt.so.1"}
# Plugins are loaded on first use, and depend on the libraries that they support.
OF_PLUGINS = ("liblpt_openmpi.so", "liblpt_mpich.so", "liblpt_cuda.so")
# Versions of Debian 12, on which the wheel is built.
NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=200, **options).stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        output_of(sys.executable, SCRIPT, "--build-dir", os.environ["LPT_BUILD_DIR"], "--out", cls.place.name)
        wheels = [os.path.join(cls.place.name, name) for name in os.listdir(cls.place.name)]
        cls.wheel, = (path for path in wheels if os.path.basename(path).startswith("lpt-"))
        cls.cuda = [path for path in wheels if path != cls.wheel]  # the wheel of the plugin, if it was built

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def programs(self, wheel):
        """Unpack a wheel and return every ELF file by name."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        with zipfile.ZipFile(wheel) as archive:
            self.assertIsNone(archive.testzip())
            for name in archive.namelist():
                if archive.read(name)[:4] == b"\x7fELF":
                    yield os.path.basename(name), archive.extract(name, place.name)

    def test_needs_only_what_every_system_has(self):
        names = []
        programs = list(self.programs(self.wheel))
        brought = {name for name, _ in programs}
        for name, path in programs:
            names.append(name)
            if name in OF_PLUGINS:
                continue
            headers = output_of("objdump", "-p", path)
            needed = set(re.findall(r"NEEDED +(\S+)", headers))
            self.assertEqual(set(), needed - SYSTEM_LIBRARIES - brought, name)
            for library, version in re.findall(r"0x\S+ 0x\S+ \d+ (GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)$", headers, re.M):
                self.assertLessEqual(tuple(map(int, version.split("."))), NEWEST[library], (name, library))
            self.assertNotIn(os.environ["LPT_BUILD_DIR"], headers)
        self.assertIn("liblpt.so.1", names)
        self.assertEqual(1, sum(name.startswith("_capi.") for name in names))

    def test_has_the_tag_of_the_oldest_manylinux_with_its_symbols(self):
        # The newest symbols of a few manylinux, from the policies of auditwheel.
        policies = {28: ((2, 28), (3, 4, 24)), 31: ((2, 31), (3, 4, 28)), 34: ((2, 34), (3, 4, 29)), 35: ((2, 35), (3, 4, 30)),
                    36: ((2, 36), (3, 4, 30))}
        for wheel in [self.wheel, *self.cuda]:
            newest = {"GLIBC": (2, 17), "GLIBCXX": (3, 4, 19)}
            for _, path in self.programs(wheel):
                for library, version in re.findall(r"(GLIBC|GLIBCXX)_([\d.]+)$", output_of("objdump", "-p", path), re.M):
                    newest[library] = max(newest[library], tuple(map(int, version.split("."))))
            fitting = [n for n, limits in policies.items() if newest["GLIBC"] <= limits[0] and newest["GLIBCXX"] <= limits[1]]
            tag = re.search(r"-manylinux_2_(\d+)_\w+\.whl$", wheel)
            self.assertEqual(min(fitting), int(tag[1]), wheel)
            with zipfile.ZipFile(wheel) as archive:
                name, = (one for one in archive.namelist() if one.endswith("/WHEEL"))
                stated = re.search(r"^Tag: (\S+)$", archive.read(name).decode(), re.M)[1]
            self.assertTrue(wheel.endswith(f"-{stated}.whl"), stated)

    def test_the_plugin_has_a_wheel_of_its_own(self):
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertNotIn("lpt/liblpt_cuda.so", archive.namelist())
        if not self.cuda:
            self.skipTest("the build has no CUDA plugin")
        with zipfile.ZipFile(self.cuda[0]) as archive:
            self.assertEqual(["lpt/liblpt_cuda.so"], [name for name in archive.namelist() if ".dist-info/" not in name])
            metadata = archive.read(f"lpt_cuda-{lpt.__version__}.dist-info/METADATA").decode()
        self.assertIn(f"\nRequires-Dist: lpt=={lpt.__version__}\n", metadata)

    def test_contains_the_modules_of_the_sources(self):
        folder = pathlib.Path(SOURCE, "bindings", "python", "lpt")
        with zipfile.ZipFile(self.wheel) as archive:
            found = {name for name in archive.namelist() if name.endswith(".py")}
        sources = {f"lpt/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.py")}
        self.assertEqual(sources | {"lpt/capi.py", "lpt/_keywords.py"}, found)

    def test_is_installed_by_pip_where_no_lpt_is(self):
        with tempfile.TemporaryDirectory() as place:
            try:
                output_of(sys.executable, "-m", "venv", place)
            except subprocess.CalledProcessError:
                self.skipTest("python3-venv is not installed")
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            output_of(os.path.join(place, "bin", "pip"), "install", "--no-index", "--quiet", self.wheel, *self.cuda,
                      env=environment)
            libraries = {path.name for path in pathlib.Path(place).glob("lib/*/site-packages/lpt/liblpt*")}
            self.assertIn("liblpt.so.1", libraries)
            self.assertEqual(bool(self.cuda), "liblpt_cuda.so" in libraries)
            code = ("import lpt, array; print(lpt.quantize(array.array('f', [1.0]), 'e4m3fn').tolist());"
                    "print(*{line.split()[-1] for line in open('/proc/self/maps') if 'liblpt.so' in line})")
            found = output_of(os.path.join(place, "bin", "python"), "-c", code, env=environment, cwd=place).split()
            self.assertEqual("[1.0]", found[0])
            parent = os.path.dirname(place)
            self.assertEqual([parent], [os.path.commonpath([parent, name]) for name in found[1:]])
            self.assertIn(lpt.__version__, output_of(os.path.join(place, "bin", "lpt"), "--version", env=environment))
            # The wheel contains all vectors; verifying one file takes less time.
            vectors, = pathlib.Path(place).glob("lib/*/site-packages/lpt/share/lpt/conformance")
            golden = pathlib.Path(SOURCE, "tests", "golden", "formats")
            self.assertEqual(sorted(path.name for path in golden.glob("*.csv")),
                             sorted(path.name for path in vectors.glob("*.csv")))
            for path in vectors.glob("*.csv"):
                self.assertEqual((golden / path.name).read_bytes(), path.read_bytes())
                if path.name != "e4m3fn.csv":
                    path.unlink()
            verified = output_of(os.path.join(place, "bin", "python"), "-m", "lpt", "verify", env=environment, cwd=place)
            self.assertIn("256 checks, 0 wrong", verified)

    def test_metadata_takes_no_build_and_is_that_of_the_wheel(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import build_wheel; build_wheel.subprocess = None\n"
                "print(build_wheel.prepare_metadata_for_build_wheel(sys.argv[2]))")
        with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(self.wheel) as archive:
            name = output_of(sys.executable, "-c", code, os.path.dirname(SCRIPT), place).strip()
            expected = {one: archive.read(one) for one in archive.namelist() if one.startswith(f"{name}/")}
            for one in ("RECORD", "WHEEL", "LICENSE"):  # WHEEL depends on the compiled files
                del expected[f"{name}/{one}"]
            found = {f"{name}/{one}": pathlib.Path(place, name, one).read_bytes()
                     for one in os.listdir(os.path.join(place, name))}
        self.assertEqual(expected, found)
        self.assertIn(f"\nVersion: {lpt.__version__}\n", found[f"{name}/METADATA"].decode())

    def test_builds_only_the_package_and_prints_the_time(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import build_wheel\n"
                "class Recorder:\n  run = staticmethod(lambda command, **_: print(*map(str, command)))\n"
                "build_wheel.subprocess = Recorder; build_wheel.build('folder', ['-DLPT_CUDA=OFF'])")
        first, configured, built, last = output_of(sys.executable, "-c", code, os.path.dirname(SCRIPT)).splitlines()
        self.assertRegex(last, r"^lpt: the build took \d+ s of CPU time$")
        self.assertRegex(first, "^lpt: compiling .* folder")
        self.assertIn("-DLPT_CUDA=OFF", configured)
        self.assertEqual("cmake --build folder --target lpt_python_package", built)

    def test_contains_the_cuda_plugin_only_on_request(self):
        code = ("import pathlib, sys; sys.path.insert(0, sys.argv[1]); import build_wheel\n"
                "class Recorder:\n  run = staticmethod(lambda command, **_: print(*map(str, command)))\n"
                "build_wheel.subprocess = Recorder\n"
                "build_wheel.build(pathlib.Path(sys.argv[2]), sys.argv[3:])")
        with tempfile.TemporaryDirectory() as place:
            plugin = pathlib.Path(place, "liblpt_cuda.so")
            for given, targets in ((["-DLPT_CUDA=ON"], "lpt_python_package lpt_cuda"), ([], "lpt_python_package")):
                plugin.touch()
                lines = output_of(sys.executable, "-c", code, os.path.dirname(SCRIPT), place, *given).splitlines()
                self.assertEqual(f"cmake --build {place} --target {targets}", lines[2])
                self.assertEqual(bool(given), plugin.exists())

    @unittest.skipUnless(os.path.exists(os.path.join(SOURCE, ".git")), "the sources are not a git work tree")
    def test_the_sources_are_those_of_git(self):
        with tempfile.TemporaryDirectory() as place:
            path = output_of(sys.executable, SCRIPT, "--source", "--out", place).strip()
            with tarfile.open(path) as archive:
                names = archive.getnames()
        top = f"lpt-{lpt.__version__}/"
        for name in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "include/lpt.h", "bindings/python/capi.i"):
            self.assertIn(top + name, names)
        self.assertEqual([], [name for name in names if not name.startswith(top) or "/build/" in name])


if __name__ == "__main__":
    unittest.main()
