"""Buffers: arrays of ctypes, any strides and alignment, sizes that do not fit, and arrays of the low-level module."""
import ctypes
import multiprocessing
import struct
import unittest

import lpt
from lpt import capi
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


class Clears:
    """An integer that empties its list while it is read."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __index__(self):
        self.numbers.clear()
        return 0

    def __float__(self):
        return float(self.__index__())


class Arrays(unittest.TestCase):
    """Arrays of the low-level module, whose lengths C cannot check."""

    def setUp(self):
        self.context = lpt.default_context()._handle

    def test_that_change_while_they_are_read_are_copied(self):
        tensor = lpt.empty((2, 2))
        begins = []
        begins += [Clears(begins), 0]
        self.assertEqual((1, 1), tensor.view(begins, [1, 1]).shape)
        seconds = []
        seconds += [Clears(seconds), 1.0]
        with self.assertRaises((ValueError, TypeError)):
            capi.lpt_cost_fit_link(self.context, [1.0, 2.0], seconds, capi.lpt_cost_link())

    def test_of_orders_are_as_long_as_the_tensor_requires(self):
        weight = lpt.quantize(floats(range(64), [4, 16]), "bf16")
        with self.assertRaisesRegex(ValueError, "order has 12 bytes: expected at least 16, one int32 for each row"):
            capi.lpt_weights_order(self.context, weight, None, bytearray(12))
        with self.assertRaisesRegex(ValueError, "order has 60 bytes: expected at least 64, one int32 for each column"):
            capi.lpt_sparse_order(self.context, weight, None, bytearray(60), None)
        capi.lpt_weights_order(self.context, weight, None, bytearray(16))
        with self.assertRaisesRegex(lpt.InvalidArgument, "weight is NULL"):
            capi.lpt_sparse_order(self.context, None, None, bytearray(60), None)
        with self.assertRaisesRegex(ValueError, "output_order has 12 bytes: expected at least 16, one int32 for each row"):
            capi.weights_pack(self.context, weight, None, bytes(12), None)
        with self.assertRaisesRegex(ValueError, "input_order has 60 bytes: expected at least 64, one int32 for each column"):
            capi.weights_pack(self.context, weight, None, None, bytes(60))

    def test_have_an_element_for_each_axis_or_rank(self):
        tensor = lpt.empty((2000, 2))
        for begins, extents, text in (([0], [1, 1], "begins has 1"), ([0, 0], [1] * 3000, "extents has 3000")):
            with self.assertRaisesRegex(ValueError, text + " numbers: expected 2, one for each axis"):
                capi.lpt_tensor_view(self.context, tensor, begins, extents)
        with lpt.Comm.local(lpt.Group(1), 0) as comm:
            def rejects(name, call, *arguments):
                with self.assertRaisesRegex(ValueError, name + " has 2000 numbers: expected 1, one for each rank"):
                    call(self.context, comm._handle, *arguments)
            long = [1] * 2000
            rejects("counts", capi.lpt_reduce_scatter, tensor, long, None, tensor, 0)
            rejects("counts", capi.lpt_all_gather, tensor, long, None, tensor, 0)
            rejects("send_counts", capi.lpt_all_to_all, tensor, long, None, tensor, 0)
            rejects("receive_counts", capi.lpt_all_to_all, tensor, None, long, tensor, 0)
            rejects("row_counts", capi.lpt_sequence_gather, None, tensor, long, tensor, 0)
            rejects("row_counts", capi.lpt_sequence_scatter, None, 0, tensor, long, tensor, 0)

    def test_of_one_call_have_one_length(self):
        optimizer = lpt.Optimizer("sgd")
        optimizer.add(1)
        one = lpt.Tensor(floats([1.0]))
        step = lambda indices, gradients, parameters: capi.lpt_optimizer_step(  # noqa: E731
            self.context, optimizer._handle, indices, gradients, None, parameters)
        with self.assertRaisesRegex(ValueError, "parameters has 1 items: expected 3000, as indices"):
            step([0] * 3000, [one] * 3000, [one])
        with self.assertRaisesRegex(ValueError, "gradients has 1 items: expected 3000, as indices"):
            step([0] * 3000, [one], [one] * 3000)
        step([0], [lpt.Tensor(floats([0.5]))], [one])
        self.assertEqual([1.0 - 1e-3 * 0.5], [round(value, 6) for value in one.tolist()])
        with self.assertRaisesRegex(ValueError, "gradients has 1 items: expected 2000, as noisy"):
            capi.lpt_noise_measure(self.context, [one], [one] * 2000, None, None)
        with self.assertRaisesRegex(ValueError, "own has 1 items: expected 2000, as mean"):
            capi.lpt_delay_compensate(self.context, [one], [one] * 2000, None, [one] * 2000)
        with self.assertRaisesRegex(ValueError, "gradients has 1 items: expected 2000, as mean"):
            capi.lpt_delay_compensate(self.context, [one] * 2000, [one] * 2000, None, [one])
        with self.assertRaisesRegex(ValueError, "bytes has 1 items: expected 2000, as seconds"):
            capi.lpt_cost_fit_link(self.context, [1.0], [1.0] * 2000, capi.lpt_cost_link())
        with self.assertRaisesRegex(ValueError, "seconds has 1 items: expected ranks x steps x micro_batches, 2 x 1 x 1"):
            capi.lpt_drop_compute_fit(self.context, [1.0], 2, 1, 1, 0.0, 0.0, capi.lpt_drop_compute_info())

    def test_that_must_outlive_a_call_are_rejected(self):
        with lpt.Comm.local(lpt.Group(1), 0) as comm, self.assertRaisesRegex(AttributeError, "names"):
            lpt.GradientBuckets(comm, [lpt.empty(2)], names=["a"])
        with self.assertRaisesRegex(AttributeError, "output_order"):
            capi.lpt_weights_options().output_order = bytes(16)

    def test_of_shards_have_one_length(self):
        with lpt.Comm.local(lpt.Group(1), 0) as comm:
            optimizer, kind = lpt.Optimizer("sgd"), capi.lpt_optimizer_parameter()
            kind.elements = 1
            with self.assertRaisesRegex(ValueError, "names has 1 items: expected 3, as parameters"):
                capi.lpt_optimizer_add_shards(self.context, comm._handle, optimizer._handle, ["a"], [kind] * 3)
            optimizer.add_shards(comm, [{"elements": 1}])
            one = lpt.Tensor(floats([1.0]))
            with self.assertRaisesRegex(ValueError, "parameters has 1 items: expected 2000, as indices"):
                capi.lpt_optimizer_step_shards(self.context, comm._handle, optimizer._handle, [0] * 2000, [one] * 2000, None,
                                               None, [one])


if __name__ == "__main__":
    unittest.main()
