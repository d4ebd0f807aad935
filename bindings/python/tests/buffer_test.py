"""Buffers: arrays of ctypes, any strides and alignment, and sizes that do not fit."""
import ctypes
import multiprocessing
import struct
import unittest

import lpt
from support import floats, needs_numpy


class Ctypes(unittest.TestCase):
    """ctypes exports arrays without strides."""

    def test_arrays_are_wrapped(self):
        shared = multiprocessing.Array("f", range(64), lock=False)
        self.assertEqual([float(i) for i in range(64)], lpt.Tensor(shared).tolist())
        self.assertEqual(ctypes.addressof(shared), lpt.Tensor(shared).address)
        rows = ((ctypes.c_float * 3) * 2)((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
        self.assertEqual([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], lpt.Tensor(rows).tolist())
        self.assertEqual((), lpt.Tensor(ctypes.c_float(2.0)).shape)

    def test_arrays_are_operands(self):
        self.assertEqual([0.0] * 64, lpt.quantize((ctypes.c_double * 64)(), "bf16").tolist())
        matrix = ((ctypes.c_float * 2) * 2)((1.0, 2.0), (3.0, 4.0))
        self.assertEqual([[7.0, 10.0], [15.0, 22.0]], lpt.gemm(matrix, matrix).tolist())
        codes = ((ctypes.c_uint8 * 2) * 2)((0x38, 0x40), (0x44, 0x48))
        payload = lpt.Tensor(codes, "e4m3fn")
        self.assertEqual([[1.0, 2.0], [3.0, 4.0]], lpt.combine("e4m3fn", 2, 2, payload=payload).tolist())
        self.assertEqual([[1.0, 2.0], [3.0, 4.0]], lpt.combine("f32", 2, 2, payload=matrix).tolist())

    def test_arrays_are_outputs(self):
        out = (ctypes.c_float * 3)()
        lpt.dequantize(lpt.quantize(floats([1.0, 2.0, 3.0]), "bf16"), out=out)
        self.assertEqual([1.0, 2.0, 3.0], list(out))


@needs_numpy
class Copies(unittest.TestCase):
    def test_of_a_field_of_records_are_read(self):
        import numpy
        for kind in ("f4", "f8", "f2"):
            records = numpy.zeros((3, 4), [("a", kind), ("b", "i1")])
            records["a"] = numpy.arange(12).reshape(3, 4)
            with self.subTest(kind=kind):
                self.assertEqual(records["a"].tolist(), lpt.dequantize(lpt.quantize(records["a"], "bf16")).tolist())
                self.assertEqual(records["a"].T.tolist(), lpt.quantize(records["a"].T, "bf16").tolist())

    def test_of_unaligned_arrays_are_read(self):
        import numpy
        unaligned = numpy.frombuffer(b"x" + struct.pack("<6f", *range(6)), "<f4", offset=1).reshape(2, 3)
        self.assertEqual(unaligned.tolist(), lpt.dequantize(lpt.quantize(unaligned, "bf16")).tolist())
        self.assertEqual([[5.0], [14.0]], lpt.gemm(unaligned, numpy.array([[0], [1], [2]], numpy.float32)).tolist())

    def test_are_not_made_of_what_is_wrapped_or_written(self):
        import numpy
        field = numpy.zeros(4, [("a", "f4"), ("b", "i2")])["a"]
        for call in (lpt.Tensor, lambda one: lpt.dequantize(lpt.empty(4, "bf16"), out=one)):
            with self.assertRaisesRegex(ValueError, "strides.0. is 6 bytes: expected a multiple of the element's 4"):
                call(field)

    def test_of_too_many_elements_raise_memory_error(self):
        import numpy
        for elements in (2 ** 59, 2 ** 60, 2 ** 61 - 1):
            with self.subTest(elements=elements):
                huge = numpy.lib.stride_tricks.as_strided(numpy.ones(1, numpy.float32), (elements,), (0,))
                self.assertRaises(MemoryError, lpt.quantize, huge, "bf16")

    def test_of_empty_arrays_are_empty(self):
        import numpy
        self.assertEqual((0, 3), lpt.quantize(numpy.zeros((4, 3), numpy.float32)[:0, ::-1], "bf16").shape)
        self.assertEqual((0,), lpt.quantize(numpy.zeros(0, [("a", "f4"), ("b", "i2")])["a"], "bf16").shape)


if __name__ == "__main__":
    unittest.main()
