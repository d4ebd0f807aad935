"""DLPack import and export, pickles, and properties of tensors."""
import copy
import ctypes
import gc
import pickle
import unittest
from unittest import mock

import lpt
from lpt import capi
from support import address, floats, needs_numpy

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Array(ctypes.Structure):
    """DLTensor of dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("array", Array)]


class OldProducer:
    """A producer of DLPack before 1.0, which takes no keyword arguments."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self):
        return self.tensor.__dlpack__()


class Dlpack(unittest.TestCase):
    def test_capsules_describe_the_tensor(self):
        tensor = lpt.empty((2, 3), "e4m3fn")
        capsule = tensor.__dlpack__(max_version=(1, 1))
        found = Versioned.from_address(get_pointer(capsule, b"dltensor_versioned"))
        self.assertEqual((1, 0, 10, 8, 1, 2), (found.major, found.flags, found.array.code, found.array.bits,
                                               found.array.lanes, found.array.ndim))
        self.assertEqual(([2, 3], [3, 1]), (found.array.shape[:2], found.array.strides[:2]))
        self.assertEqual(tensor.address, found.array.data)
        self.assertTrue(is_valid(tensor.__dlpack__(), b"dltensor"))
        self.assertEqual((1, 0), tensor.__dlpack_device__())

    def test_tensors_pass_through_both_versions_in_place(self):
        tensor = lpt.quantize(floats([1.0, 2.0]), "bf16")
        for producer in (tensor, OldProducer(tensor), tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0))):
            again = lpt.from_dlpack(producer)
            self.assertEqual((tensor.address, "bf16", [1.0, 2.0]), (again.address, again.format, again.tolist()))

    @needs_numpy
    def test_producers_without_a_buffer_are_read_in_place(self):
        import numpy
        lent = lpt.empty((2, 3), "bf16")

        class Producer(numpy.ndarray):  # dtypes of dates have no buffer
            def __dlpack__(self, **_):
                return lent.__dlpack__()

        read = lpt.Tensor(numpy.zeros(6, "M8[s]").view(Producer))
        self.assertEqual(("bf16", (2, 3), lent.address), (read.format, read.shape, read.address))

    def test_a_capsule_is_taken_once(self):
        capsule = lpt.empty(3).__dlpack__()
        lpt.from_dlpack(capsule)
        self.assertTrue(is_valid(capsule, b"used_dltensor"))
        with self.assertRaises(ValueError):
            lpt.from_dlpack(capsule)

    def test_memory_lives_as_long_as_it_is_referenced(self):
        data = bytearray(8)
        capsule = lpt.Tensor(data).__dlpack__()
        again = lpt.from_dlpack(capsule)
        del capsule
        gc.collect()
        with self.assertRaises(BufferError):
            data.extend(b"more")
        del again
        data.extend(b"more")
        for version in (None, (1, 0)):
            lpt.Tensor(data).__dlpack__(max_version=version)  # a capsule that is not consumed
            data.extend(b"more")

    def test_read_only_memory_is_flagged(self):
        tensor = lpt.Tensor(bytes(4))
        found = Versioned.from_address(get_pointer(capsule := tensor.__dlpack__(max_version=(1, 0)),
                                                   b"dltensor_versioned"))
        self.assertEqual(1, found.flags)
        self.assertTrue(memoryview(lpt.from_dlpack(capsule)).readonly)
        with self.assertRaises(BufferError):
            tensor.__dlpack__()

    def test_devices_streams_and_copies(self):
        tensor = lpt.empty(2)
        self.assertRaises(BufferError, tensor.__dlpack__, stream=1)
        self.assertRaises(BufferError, tensor.__dlpack__, dl_device=(2, 0))
        copied = lpt.from_dlpack(tensor.__dlpack__(copy=True))
        self.assertNotEqual(tensor.address, copied.address)

    def test_scales_are_exported_as_separate_parts(self):
        tensor = lpt.quantize(floats(range(64), [2, 32]), "mxfp8_e4m3")
        with self.assertRaises(lpt.Unsupported):
            tensor.__dlpack__()
        parts = {name: lpt.from_dlpack(part) for name, part in tensor.parts().items()}
        again = lpt.combine("mxfp8_e4m3", 2, 32, **parts)
        self.assertEqual(tensor.tolist(), again.tolist())
        self.assertEqual(tensor.part("block_scales").address, again.part("block_scales").address)

    @needs_numpy
    def test_numpy_takes_tensors_in_place(self):
        import numpy
        tensor = lpt.Tensor(floats(range(6), [2, 3]))
        self.assertEqual(tensor.address, numpy.from_dlpack(tensor).ctypes.data)

    @needs_numpy
    def test_numpy_arrays_of_several_parts_are_rejected(self):
        import numpy
        tensor = lpt.quantize(floats(range(64), [2, 32]), "mxfp8_e4m3")
        for call in (lambda: numpy.asarray(tensor), lambda: numpy.array(tensor), lambda: numpy.asarray(tensor, numpy.float32)):
            with self.assertRaisesRegex(TypeError, r"numpy.asarray\(tensor.dequantize\(\)\) .* tensor.parts\(\)"):
                call()
        self.assertEqual((2, 32), numpy.asarray(tensor.dequantize()).shape)
        with self.assertRaisesRegex(TypeError, r"lpt.weights_unpack\(tensor\)"):
            numpy.asarray(lpt.weights_pack(tensor))

    @needs_numpy
    def test_numpy_arrays_of_one_part_share_memory(self):
        import numpy
        tensor = lpt.Tensor(floats(range(6), [2, 3]))
        self.assertEqual(tensor.address, numpy.asarray(tensor).ctypes.data)
        self.assertEqual(tensor.address, tensor.__array__().ctypes.data)
        self.assertNotEqual(tensor.address, tensor.__array__(copy=True).ctypes.data)
        self.assertEqual(numpy.float64, numpy.asarray(tensor, numpy.float64).dtype)
        self.assertEqual(numpy.float64, tensor.__array__(numpy.float64).dtype)


class Packs(unittest.TestCase):
    def test_export_the_bytes_of_rows_of_packed_elements(self):
        for format, bytes_of_row in (("e2m3fn", 9), ("int4", 6), ("int2", 3), ("ternary", 3), ("e4m3fn", 12), ("bf16", 24)):
            view = memoryview(lpt.quantize(floats([1.0] * 24, [2, 12]), format))
            self.assertEqual(2 * bytes_of_row, view.nbytes, format)


class Pickles(unittest.TestCase):
    def test_keep_all_parts(self):
        source = floats([value / 7 for value in range(256)], [4, 64])
        for format in ("f32", "bf16", "e4m3fn", "e4m3fn_row", "nvfp4", "mxfp6_e3m2", "uint4_1x32", "nf4_1x64",
                       "ternary_tensor"):
            tensor = lpt.quantize(source, format)
            for again in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
                self.assertEqual((tensor.format, tensor.shape), (again.format, again.shape))
                for name, part in tensor.parts().items():
                    self.assertEqual(memoryview(part).tobytes(), memoryview(again.part(name)).tobytes(), format)

    def test_of_views_hold_only_the_view(self):
        tensor = lpt.Tensor(floats(range(12), [3, 4]))[1:, :2]
        self.assertEqual([[4.0, 5.0], [8.0, 9.0]], pickle.loads(pickle.dumps(tensor)).tolist())

    def test_of_packed_and_sparse_weights(self):
        weights = lpt.quantize(floats(range(64 * 32), [64, 32]), "int8_row")
        x = floats([1.0] * 32, [1, 32])
        packed = lpt.weights_pack(weights)
        again = pickle.loads(pickle.dumps(packed))
        self.assertEqual(lpt.gemm(x, packed, b_transposed=True).tolist(), lpt.gemm(x, again, b_transposed=True).tolist())
        mask, kept = lpt.sparse_select(floats(range(64), [4, 16]))
        sparse = lpt.sparse_compress(lpt.quantize(kept, "e4m3fn"), mask)
        self.assertEqual(lpt.sparse_decompress(sparse).tolist(),
                         lpt.sparse_decompress(pickle.loads(pickle.dumps(sparse))).tolist())

    def test_of_scalers_keep_their_history(self):
        scaler = lpt.Scaler(kind="delayed", history_length=4)
        lpt.quantize(floats([3.0, -8.0], [1, 2]), "e4m3fn_tensor", scaler=scaler)
        lpt.update([scaler])
        self.assertEqual(8.0, pickle.loads(pickle.dumps(scaler)).values["amax"])

    def test_of_contexts_are_rejected(self):
        self.assertRaises(TypeError, pickle.dumps, lpt.default_context())


class Handles(unittest.TestCase):
    def test_of_the_low_level_are_empty_once_destroyed(self):
        tensor = lpt.empty(2)
        capi.lpt_tensor_destroy(tensor)
        capi.lpt_tensor_destroy(None)
        self.assertRaisesRegex(ValueError, "was destroyed", lambda: tensor.shape)
        self.assertRaisesRegex(BufferError, "was destroyed", memoryview, tensor)
        self.assertRaisesRegex(ValueError, "is NULL", capi.lpt_tensor_size, lpt.default_context()._handle, tensor)

    def test_views_share_memory(self):
        tensor = lpt.Tensor(floats(range(12), [3, 4]))
        view = tensor[1:, 2:]
        self.assertEqual((tensor.address + 24, (2, 2), (4, 1)), (view.address, view.shape, view.strides))
        memoryview(view)[0, 0] = 50.0
        self.assertEqual(50.0, tensor.tolist()[1][2])
        self.assertEqual(address(memoryview(tensor)), tensor.address)
        for key, kind in ((0, TypeError), ((slice(None),) * 3, TypeError), (slice(0, 2, 2), ValueError)):
            self.assertRaises(kind, tensor.__getitem__, key)
        with self.assertRaisesRegex(TypeError, r"index is 0: expected at most 2 slices .* tensor\[i:i \+ 1\] is the view"):
            tensor[0]

    @needs_numpy
    def test_are_shown_as_those_of_numpy(self):
        q = lpt.quantize(floats([0.5, 1.0, -2.0, 4.0], [2, 2]), "e4m3fn_row")
        self.assertEqual("lpt.Tensor([[ 0.5,  1. ],\n            [-2. ,  4. ]], shape=(2, 2), format='e4m3fn_row')", repr(q))
        self.assertEqual("lpt.Tensor([0, 0], shape=(2,), format='int64')", repr(lpt.empty(2, "int64")))
        self.assertIn("...,", repr(lpt.empty(2000)))

    def test_are_shown_without_values_if_these_are_many_or_packed(self):
        self.assertEqual("lpt.Tensor(..., shape=(1024, 1025), format='bf16')", repr(lpt.empty((1024, 1025), "bf16")))
        packed = lpt.weights_pack(lpt.quantize(floats(range(8), [2, 4]), "int8_row"))
        self.assertEqual("lpt.Tensor(..., shape=(2, 4), format='int8_row')", repr(packed))
        with mock.patch.dict("sys.modules", numpy=None):
            self.assertEqual("lpt.Tensor(..., shape=(), format='e4m3fn')", ascii(lpt.empty((), "e4m3fn")))


if __name__ == "__main__":
    unittest.main()
