"""Helpers of the tests: buffers, ranks on threads, checkpoints, and a generator of numbers."""
import array
import importlib.util
import json
import threading
import unittest

import lpt


HAS_NUMPY = importlib.util.find_spec("numpy") is not None
HAS_ML_DTYPES = importlib.util.find_spec("ml_dtypes") is not None
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_numpy = unittest.skipUnless(HAS_NUMPY, "NumPy is not installed")
needs_torch = unittest.skipUnless(HAS_TORCH, "torch is not installed")
needs_ml_dtypes = unittest.skipUnless(HAS_NUMPY and HAS_ML_DTYPES, "ml_dtypes is not installed")


def floats(numbers, shape=None):
    """Return numbers as a writable float32 buffer of any shape, with the standard library only."""
    data = array.array("f", numbers)
    return memoryview(data).cast("B").cast("f", shape or [len(data)])


def address(buffer):
    """Return the address of a buffer."""
    import ctypes
    return ctypes.addressof(ctypes.c_char.from_buffer(memoryview(buffer).cast("B")))


def run(rank_count, body, **options):
    """Call body(comm) on one thread for each rank, and return the result or the exception of each. Options are those of the Comm."""
    group, results = lpt.Group(rank_count), [None] * rank_count

    def rank(index):
        try:
            lpt.set_default_context(lpt.Context(1))
            with lpt.Comm.local(group, index, timeout_seconds=30.0, **options) as comm:
                results[index] = body(comm)
        except Exception as error:  # the test checks it
            results[index] = error
            group.abort()
    threads = [threading.Thread(target=rank, args=(index,)) for index in range(rank_count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, AssertionError):
            raise result
    return results


def write_safetensors(path, tensors):
    """Write f32 tensors, given by name as shape and values."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        begin, data = len(data), data + array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(path):
    """Return the tensors of a file by name: arrays of float32, and bytes for other types."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    tensors = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            tensors[name] = array.array("f", data[begin:end]) if tensor["dtype"] == "F32" else data[begin:end]
    return tensors


class Draws:
    """A linear congruential generator, x' = 1664525·x + 1013904223."""

    def __init__(self, seed=1):
        self.state = seed

    def __call__(self):
        self.state = (1664525 * self.state + 1013904223) % 2 ** 32
        return self.state / 2 ** 31 - 1.0

    def list(self, count):
        return [self() for _ in range(count)]
