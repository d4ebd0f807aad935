"""GEMMs of ggml, for peers.py: weights of MXFP4, NVFP4, Q4_0, Q8_0 by f32, which ggml casts to Q8_0 in each call.

Uses the shared libraries of llama-cpp-python, or of a build of ggml in a folder. Weights have the layout of files, and the
packed layouts of llama.cpp if this CPU has one (AMX tiles, repacked).
"""
import array
import ctypes
import importlib.util
import math
import os
import pathlib
import random

from peers_race import Contender

F32 = 0
TYPES = {"MXFP4": 39, "NVFP4": 40, "Q4_0": 2, "Q8_0": 8}  # enum ggml_type
BLOCK = 64  # elements: that of NVFP4, four scales; twice that of the others
ROWS_MADE = 16  # weights repeat after this number of rows
LIBRARIES = ("libggml-base.so", "libggml-cpu.so", "libggml.so")
WORK_BYTES = 1 << 20  # of descriptors: ggml stores elements elsewhere


class Parameters(ctypes.Structure):
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


POINTER, INT, LONG, SIZE, FLAG = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_size_t, ctypes.c_bool
LOG = ctypes.CFUNCTYPE(None, INT, ctypes.c_char_p, POINTER)
SIGNATURES = {
    "ggml_log_set": (None, POINTER, POINTER),
    "ggml_version": (ctypes.c_char_p,),
    "ggml_init": (POINTER, Parameters),
    "ggml_free": (None, POINTER),
    "ggml_new_tensor_2d": (POINTER, POINTER, INT, LONG, LONG),
    "ggml_mul_mat": (POINTER, POINTER, POINTER, POINTER),
    "ggml_new_graph": (POINTER, POINTER),
    "ggml_build_forward_expand": (None, POINTER, POINTER),
    "ggml_nbytes": (SIZE, POINTER),
    "ggml_quantize_chunk": (SIZE, INT, POINTER, POINTER, LONG, LONG, LONG, POINTER),
    "ggml_backend_cpu_init": (POINTER,),
    "ggml_backend_cpu_reg": (POINTER,),
    "ggml_backend_cpu_buffer_type": (POINTER,),
    "ggml_backend_cpu_set_n_threads": (None, POINTER, INT),
    "ggml_backend_get_device": (POINTER, POINTER),
    "ggml_backend_dev_supports_op": (FLAG, POINTER, POINTER),
    "ggml_backend_reg_get_proc_address": (POINTER, POINTER, ctypes.c_char_p),
    "ggml_backend_buft_name": (ctypes.c_char_p, POINTER),
    "ggml_backend_alloc_ctx_tensors_from_buft": (POINTER, POINTER, POINTER),
    "ggml_backend_buffer_free": (None, POINTER),
    "ggml_backend_tensor_set": (None, POINTER, POINTER, SIZE, SIZE),
    "ggml_backend_tensor_get": (None, POINTER, POINTER, SIZE, SIZE),
    "ggml_backend_graph_compute": (INT, POINTER, POINTER),
}


def folder_of_package():
    package = importlib.util.find_spec("llama_cpp")
    if package is None:
        raise ImportError("No ggml: pip install llama-cpp-python, or name a folder with libggml.so by --ggml")
    return pathlib.Path(package.origin).parent / "lib"


def declared(libraries):
    """Returns the ggml functions by name, each from the first library that has it."""
    functions = {}
    for name, (result, *arguments) in SIGNATURES.items():
        holder = next((library for library in libraries if hasattr(library, name)), None)
        if holder is None:
            raise ImportError(f"ggml has no {name}")
        function = getattr(holder, name)
        function.restype, function.argtypes = result, arguments
        functions[name.removeprefix("ggml_")] = function
    return functions


class Ggml:
    def __init__(self, folder):
        folder = pathlib.Path(folder) if folder else folder_of_package()
        self.libraries = [ctypes.CDLL(folder / name, mode=ctypes.RTLD_GLOBAL) for name in LIBRARIES]
        self.call = declared(self.libraries)
        self.silence = LOG(lambda *_: None)
        self.call["log_set"](self.silence, None)
        self.backend = self.call["backend_cpu_init"]()
        self.name = "ggml " + self.call["version"]().decode()

    def orders(self):
        """Yields (name, buffer type of weights with this layout), the file layout first."""
        yield "", self.call["backend_cpu_buffer_type"]()
        registry = self.call["backend_cpu_reg"]()
        address = self.call["backend_reg_get_proc_address"](registry, b"ggml_backend_dev_get_extra_bufts")
        if address is None:
            return
        find = ctypes.CFUNCTYPE(ctypes.POINTER(POINTER), POINTER)(address)
        places = find(self.call["backend_get_device"](self.backend))
        for i in range(64):
            if not places[i]:
                return
            yield self.call["backend_buft_name"](places[i]).decode(), places[i]

    def contenders(self, shape, threads):
        """Returns (contenders, lines that state omitted ones with the reason)."""
        if shape["is_a_transposed"] or not shape["is_b_transposed"] or shape["k"] % BLOCK != 0:
            return [], [f"ggml: it takes a as rows, b as n x k, and k in blocks of {BLOCK}"]
        self.call["backend_cpu_set_n_threads"](self.backend, threads)
        found, left_out = [], []
        for type_name, type_code in TYPES.items():
            for order, place in self.orders():
                name = f"ggml {type_name} {order}".strip()
                gemm = Gemm(self, shape, type_code, place)
                if not gemm.is_supported:
                    continue
                reason = verdict_of_child(gemm)
                if reason:
                    left_out.append(f"{name}: {reason}")
                else:
                    found.append(Contender(name, "int8 dot", gemm.weight_bytes, gemm.run, bool(order)))
        return found, left_out


def verdict_of_child(gemm):
    """Returns "" if the sums are correct. Runs in a child process, because AMX tile code of g++ 12 can crash it.

    Uses one thread, because a fork does not copy the other threads."""
    child = os.fork()
    if child == 0:
        gemm.call["backend_cpu_set_n_threads"](gemm.backend, 1)
        os._exit(0 if gemm.check() else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "", 1: "its sums are wrong"}.get(status, f"it ends by signal {-status}")


class Gemm:
    """A GEMM of a (m rows) by weights (n rows), both with k columns. Frees the memory of ggml on destruction."""

    def __init__(self, ggml, shape, type_code, place):
        self.call, self.backend = ggml.call, ggml.backend
        self.m, self.k, self.n = shape["m"], shape["k"], shape["n"]
        parameters = Parameters(WORK_BYTES, None, True)
        self.contexts = [self.call["init"](parameters) for _ in range(2)]
        self.weights = self.call["new_tensor_2d"](self.contexts[0], type_code, self.k, self.n)
        self.a = self.call["new_tensor_2d"](self.contexts[1], F32, self.k, self.m)
        self.buffers = [self.call["backend_alloc_ctx_tensors_from_buft"](self.contexts[0], place)]
        self.c = self.call["mul_mat"](self.contexts[1], self.weights, self.a)
        self.is_supported = self.call["backend_dev_supports_op"](self.call["backend_get_device"](self.backend), self.c)
        if self.is_supported:
            self.fill(type_code)

    def fill(self, type_code):
        in_line = self.call["backend_cpu_buffer_type"]()
        self.graph = self.call["new_graph"](self.contexts[1])
        self.call["build_forward_expand"](self.graph, self.c)
        self.buffers.append(self.call["backend_alloc_ctx_tensors_from_buft"](self.contexts[1], in_line))
        numbers = random.Random(1)
        self.b_rows = array.array("f", (numbers.gauss(0, 1) for _ in range(ROWS_MADE * self.k)))
        self.a_row = array.array("f", (numbers.gauss(0, 1) for _ in range(self.k)))
        self.put(self.a, self.a_row.tobytes() * self.m)
        codes = ctypes.create_string_buffer(len(self.b_rows) * 4)
        made = self.call["quantize_chunk"](type_code, self.b_rows.buffer_info()[0], codes, 0, ROWS_MADE, self.k, None)
        self.weight_bytes = made // ROWS_MADE * self.n
        self.put(self.weights, (codes.raw[:made] * -(-self.n // ROWS_MADE))[:self.weight_bytes])

    def put(self, tensor, data):
        self.call["backend_tensor_set"](tensor, data, 0, len(data))

    def run(self):
        status = self.call["backend_graph_compute"](self.backend, self.graph)
        if status != 0:
            raise RuntimeError(f"ggml: status {status}")

    def check(self):
        """Compares some sums of c with f32. The error of 4-bit weights is sqrt(k) / 10, that of wrong sums about sqrt(k)."""
        self.run()
        rows = min(ROWS_MADE, self.n)
        got = (ctypes.c_float * rows)()
        self.call["backend_tensor_get"](self.c, got, 0, 4 * rows)
        errors = [got[row] - math.fsum(x * y for x, y in zip(self.a_row, self.b_rows[row * self.k:(row + 1) * self.k]))
                  for row in range(rows)]
        return math.fsum(error * error for error in errors) < rows * self.k * 0.2 ** 2

    def __del__(self):
        for buffer in self.buffers:
            self.call["backend_buffer_free"](buffer)
        for context in self.contexts:
            self.call["free"](context)
