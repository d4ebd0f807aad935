"""The package in a process: import, forks, threads, memory over many calls, and completeness."""
import ast
import gc
import multiprocessing
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import unittest

import lpt
from lpt import capi
from support import floats


def cast_sum(seed):
    """Run a cast and a GEMM with threads, in a child process."""
    x = floats([float((seed + i) % 7) for i in range(64 * 64)], [64, 64])
    return sum(map(sum, lpt.gemm(lpt.quantize(x, "mxfp8_e4m3"), x).tolist()))


def many_bits():
    """Return the bits of the results of several operations."""
    x = floats([(i * 37 % 101 - 50) / 7 for i in range(24 * 512)], [24, 512])
    made = [lpt.quantize(x, name) for name in ("nf4_1x64", "mxfp4", "nvfp4", "e4m3fn_row")]
    y = lpt.gemm(made[1], x, b_transposed=True)
    packed = lpt.gemm(x, lpt.weights_pack(made[0]), b_transposed=True)
    parts = [part for one in made for part in one.parts().values()]
    return b"".join(memoryview(one).tobytes() for one in parts + [y, packed, lpt.softmax(x)])


def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment}).stdout


class Process(unittest.TestCase):
    def test_import_loads_no_other_library(self):
        found = python("import sys, lpt; print([name for name in ('numpy', 'torch', 'jax', 'ml_dtypes', 'multiprocessing')"
                       " if name in sys.modules])")
        self.assertEqual("[]", found.strip())

    def test_works_without_numpy(self):
        code = ("import sys; sys.modules['numpy'] = None; import lpt, array;"
                "print(lpt.quantize(array.array('f', [1.0, 3.0]), 'e4m3fn').tolist())")
        self.assertEqual("[1.0, 3.0]", python(code).strip())

    def test_forked_children_continue(self):
        expected = [cast_sum(seed) for seed in range(4)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(expected, pool.map_async(cast_sum, range(4)).get(60))
        self.assertEqual(expected, [cast_sum(seed) for seed in range(4)])

    def test_other_threads_run_during_a_call(self):
        group, order = lpt.Group(2), []

        def wait_in_the_library():
            comm = lpt.Comm.local(group, 1, timeout_seconds=20.0)
            comm.barrier()
            order.append("let go")
        thread = threading.Thread(target=wait_in_the_library)
        thread.start()
        # If the GIL were held while the other rank waits, this rank could not join, and the other would time out.
        comm = lpt.Comm.local(group, 0, timeout_seconds=20.0)
        order.append("came")
        comm.barrier()
        thread.join()
        self.assertEqual(["came", "let go"], order)

    def test_memory_stays_flat(self):
        source, out = floats(range(64), [1, 64]), lpt.empty((1, 64), "nvfp4")
        layer = lpt.Linear(64, 4, "fp8_current")
        layer.prepare(floats([1.0] * 256, [4, 64]))
        weight, codes = floats([1.0] * 256, [4, 64]), lpt.empty((1, 4), "e4m3fn_row")
        codec = lpt.Codec("nothing", lambda count: 1, lambda numbers, data: None, lambda data, numbers: None)
        comm = lpt.Comm.local(lpt.Group(1), 0)

        def calls(count):
            for _ in range(count):
                lpt.quantize(source, out=out)
                lpt.dequantize(lpt.quantize(source, "nvfp4", rounding="stochastic", random=(1, 2))).part("payload")
                lpt.from_dlpack(lpt.Tensor(source).__dlpack__())
                memoryview(lpt.Tensor(source)).release()
                layer.forward(source)
                lpt.gemm(source, weight, b_transposed=True, out=codes, quantize={"rounding": "toward_zero"})
                comm.all_reduce(source, out=source, codec=codec)
                lpt.tensor_copy(comm.all_gather(source, codec=codec))
                try:
                    lpt.quantize(source, out=lpt.empty((2, 2), "nvfp4"))
                except lpt.Error:
                    pass
        # Each call creates many objects: the default count detects leaks of at least 64 bytes per call.
        rounds = int(os.environ.get("LPT_SLOW_CALLS", "100000")) // 10
        calls(1000)
        gc.collect()
        before = resident_kib()
        calls(rounds)
        gc.collect()
        self.assertLess(resident_kib() - before, 512)

    def test_concurrent_threads_get_the_same_bits(self):
        expected, count = many_bits(), 16
        begin, found = threading.Barrier(count), []

        def work():
            begin.wait(60)
            found.extend(many_bits() for _ in range(4))
        threads = [threading.Thread(target=work) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([True] * 4 * count, [bits == expected for bits in found])

    def test_threads_share_one_pool(self):
        # Count the threads of the process after all Python threads have created their context.
        code = ("import os, sys, threading, lpt; done = threading.Barrier(9); x = lpt.empty((1024, 1024))\n"
                "def work(): [lpt.quantize(x, 'mxfp8_e4m3') for _ in range(20)]; done.wait(60); done.wait(60)\n"
                "for _ in range(8): threading.Thread(target=work).start()\n"
                "done.wait(60); print(len(os.listdir('/proc/self/task'))); done.wait(60)")
        self.assertLessEqual(int(python(code)), 1 + 8 + len(os.sched_getaffinity(0)) - 1)

    def test_contexts_end_with_their_threads(self):
        def count():
            gc.collect()
            return sum(type(one) is lpt.Context for one in gc.get_objects())
        cast_sum(1)
        before = count()
        during = []
        threads = [threading.Thread(target=lambda: during.append((cast_sum(1), count()))) for _ in range(4)]
        for thread in threads:
            thread.start()
            thread.join()
        self.assertEqual([before + 1] * 4, [number for _, number in during])
        self.assertEqual(before, count())

    def test_a_child_forked_among_busy_threads_continues(self):
        expected, is_over = cast_sum(1), threading.Event()

        def work():
            while not is_over.is_set():
                cast_sum(2)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)  # a child that blocks fails
                    os._exit(0 if cast_sum(1) == expected else 1)
                self.assertEqual(0, os.waitpid(child, 0)[1])
        finally:
            is_over.set()
            for thread in threads:
                thread.join()

    def test_the_low_level_has_everything_of_the_header(self):
        files = pathlib.Path(os.environ["LPT_SOURCE_DIR"], "include").rglob("*.h")
        header = "".join(file.read_text(encoding="utf-8") for file in files)
        functions = re.findall(r"^LPT_API [^;]*?\b(lpt_\w+)\(", header, re.M)
        constants = re.findall(r"^\s+(LPT_\w+) =", header, re.M)
        structs = re.findall(r"^(?:typedef )?struct (lpt_\w+) \{", header, re.M)
        self.assertGreater(len(functions), 190)
        self.assertEqual([], [name for name in functions + constants + structs if not hasattr(capi, name)])
        for name in structs:
            getattr(capi, name)()
        self.assertEqual([], [name for name in functions if not (getattr(capi, name).__doc__ or "").strip()])

    def test_the_stub_names_all_of_it(self):
        stub = ast.parse((pathlib.Path(lpt.__file__).parent / "capi.pyi").read_text(encoding="utf-8"))
        classes = {node.name: {one.target.id for one in node.body if isinstance(one, ast.AnnAssign)}
                   for node in stub.body if isinstance(node, ast.ClassDef)}
        names = [node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)]
        names += [node.name for node in stub.body if isinstance(node, ast.FunctionDef)] + list(classes)
        self.assertEqual(sorted(name for name in dir(capi) if not name.startswith("_")), sorted(names))
        for name, members in classes.items():
            kind = getattr(capi, name)
            found = {member for member in vars(kind) if not member.startswith("_") and not callable(getattr(kind, member))}
            self.assertEqual(found - {"thisown", "this"}, members, name)

    def test_the_layer_above_has_every_function(self):
        used = "".join(path.read_text(encoding="utf-8") for path in pathlib.Path(lpt.__file__).parent.glob("*.py"))
        # The interface files of the package call these functions: they raise errors, wrap and describe tensors, and pack weights.
        below = {"lpt_abi_level", "lpt_version", "lpt_status_string", "lpt_context_create", "lpt_context_error",
                 "lpt_tensor_create", "lpt_tensor_wrap", "lpt_tensor_wrap_matrix", "lpt_tensor_describe",
                 "lpt_tensor_from_dlpack", "lpt_tensor_take_dlpack", "lpt_tensor_to_dlpack", "lpt_tensor_create_matrix",
                 "lpt_tensor_wrap_const_matrix", "lpt_tensor_format", "lpt_tensor_rank", "lpt_tensor_extent",
                 "lpt_tensor_stride", "lpt_tensor_data", "lpt_tensor_const_data", "lpt_tensor_device", "lpt_struct_init",
                 "lpt_weights_pack"}
        functions = {name for name in dir(capi) if name.startswith("lpt_") and not isinstance(getattr(capi, name), type)
                     and not name.endswith("_destroy")}
        self.assertGreater(len(functions), 150)
        self.assertEqual(below, {name for name in functions if not re.search(rf"capi\.{name}\b", used)})

    def test_the_tool_and_the_header_are_inside(self):
        self.assertTrue(os.path.exists(os.path.join(lpt.get_include(), "lpt.h")))
        tool = subprocess.run([sys.executable, "-m", "lpt", "--help"], capture_output=True, text=True, timeout=60)
        self.assertIn("inspect", tool.stdout + tool.stderr)
        self.assertEqual(capi.lpt_version_string(), lpt.__version__)


if __name__ == "__main__":
    unittest.main()
