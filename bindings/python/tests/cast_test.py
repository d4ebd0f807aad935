"""Casts, exceptions, and memory that is shared without a copy."""
import array
import unittest

import lpt
from support import address, floats, needs_ml_dtypes, needs_numpy

# Magnitudes of e2m1fn, indexed by code.
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


class Casts(unittest.TestCase):
    def test_quantize_rounds_to_the_nearest_codes(self):
        numbers = [sign * value for value in E2M1 for sign in (1.0, -1.0)]
        codes = memoryview(lpt.quantize(floats(numbers, [1, 16]), "e2m1fn")).tolist()[0]
        self.assertEqual([0x80, 0x91, 0xA2, 0xB3, 0xC4, 0xD5, 0xE6, 0xF7], codes)

    def test_dequantize_decodes_codes_and_scales(self):
        quantized = lpt.quantize(floats([12.0, -6.0, 3.0, 1.0] * 8, [1, 32]), "mxfp4")
        scale = 2.0 ** (memoryview(quantized.part("block_scales")).tolist()[0][0] - 127)
        codes = memoryview(quantized.part("payload")).tolist()[0]
        expected = []
        for byte in codes:
            for code in (byte & 15, byte >> 4):
                expected.append((-1 if code & 8 else 1) * E2M1[code & 7] * scale)
        self.assertEqual(expected, quantized.tolist()[0])
        self.assertEqual([12.0, -6.0, 3.0, 1.0], expected[:4])

    def test_the_inverse_of_a_scale_is_at_most_the_largest_float(self):
        largest = 2.0 ** 128 * (1 - 2.0 ** -24)
        for exponent in (-130, -127):
            value = 6 * 2.0 ** exponent
            q = lpt.quantize(floats([value] * 16 + [6 * 448 * 2.0 ** -126] * 16, [1, 32]), "nvfp4")
            scale = q.part("block_scales").tolist()[0][0] * q.part("tensor_scale").tolist()
            self.assertEqual(2.0 ** exponent, scale)
            expected = min(E2M1, key=lambda one: abs(one - value * min(1 / scale, largest)))
            self.assertEqual([expected * scale] * 16, q.tolist()[0][:16])

    def test_saturated_infinities_are_the_largest_code_except_in_f32_and_f64(self):
        infinite = float("inf")
        for format, expected in (("f64", infinite), ("f32", infinite), ("f16", 65504.0), ("e4m3fn", 448.0)):
            self.assertEqual([expected, -expected], lpt.quantize(floats([infinite, -infinite]), format).tolist())

    def test_out_is_written_and_returned(self):
        source, target = floats([1.0, 2.0]), floats([0.0, 0.0])
        codes = lpt.empty(2, "e4m3fn")
        self.assertIs(codes, lpt.quantize(source, out=codes))
        lpt.dequantize(codes, out=target)
        self.assertEqual([1.0, 2.0], target.tolist())

    def test_returns_the_transposed_cast_after_the_first(self):
        source = floats(range(6), [2, 3])
        rows, columns = lpt.quantize(source, "e4m3fn", transposed=True)
        self.assertEqual(((2, 3), (3, 2)), (rows.shape, columns.shape))
        self.assertEqual([list(line) for line in zip(*rows.tolist())], columns.tolist())

    def test_stochastic_bits_belong_to_seed_and_step(self):
        source = floats([0.3] * 256, [1, 256])
        casts = [memoryview(lpt.quantize(source, "e4m3fn", rounding="stochastic", random=random)).tobytes()
                 for random in (lpt.Random(seed=1), {"seed": 1}, lpt.Random(seed=2), lpt.Random(seed=1, step=1))]
        self.assertEqual(casts[0], casts[1])
        self.assertEqual(3, len(set(casts)))

    def test_statistics_count(self):
        statistics = lpt.Statistics()
        lpt.quantize(floats([1000.0, 1.0, 0.0, float("nan")]), "e4m3fn", statistics=statistics)
        self.assertEqual((4, 1, 1), tuple(statistics.values[name] for name in
                                          ("element_count", "nan_count", "clipped_count")))
        statistics.reset()
        self.assertEqual(0, statistics.values["element_count"])

    @needs_ml_dtypes
    def test_elements_are_those_of_ml_dtypes(self):
        import ml_dtypes
        import numpy
        numbers = numpy.arange(-1500, 1500, dtype=numpy.float32) / 7
        for name in ("float8_e4m3fn", "float8_e5m2", "bfloat16"):
            expected = numpy.clip(numbers, -448, 448).astype(getattr(ml_dtypes, name))
            found = lpt.quantize(numpy.clip(numbers, -448, 448), lpt.Tensor(expected).format).numpy()
            self.assertEqual(expected.tobytes(), found.tobytes(), name)


class Exceptions(unittest.TestCase):
    def rejects(self, kind, texts, call):
        with self.assertRaises(kind) as caught:
            call()
        for text in texts:
            self.assertIn(text, str(caught.exception))

    def test_carry_the_librarys_text(self):
        source = floats([1.0] * 4, [2, 2])
        self.rejects(lpt.InvalidArgument, ["output", "2 x 2"],
                     lambda: lpt.dequantize(lpt.quantize(source, "e4m3fn"), out=lpt.empty((3, 3))))

    def test_derive_from_standard_exceptions(self):
        source = floats([1.0] * 4, [2, 2])
        for kind, call in ((ValueError, lambda: lpt.quantize(source, "nvfp5")),
                           (lpt.Error, lambda: lpt.quantize(source, "nvfp5")),
                           (ValueError, lambda: lpt.quantize(source, "nvfp4", rounding="up")),
                           (TypeError, lambda: lpt.quantize(source, "nvfp4", round="up")),
                           (TypeError, lambda: lpt.quantize(source)),
                           (TypeError, lambda: lpt.quantize(object(), "nvfp4")),
                           (TypeError, lambda: lpt.quantize([1.0], "nvfp4")),
                           (TypeError, lambda: lpt.quantize(array.array("Q", [1]), "nvfp4")),
                           (BufferError, lambda: lpt.dequantize(lpt.empty(1, "e4m3fn"), out=bytes(4))),
                           (NotImplementedError, lambda: lpt.capi.tensor_capsule(lpt.empty((2, 2), "nvfp4"), 1)),
                           (TypeError, lambda: lpt.capi.lpt_quantize(None, 3, None, None, None))):
            self.rejects(kind, [], call)

    def test_leave_outputs_untouched(self):
        target = floats([7.0] * 4)
        with self.assertRaises(lpt.Error):
            lpt.dequantize(lpt.empty(3, "e4m3fn"), out=target)
        self.assertEqual([7.0] * 4, target.tolist())


class Memory(unittest.TestCase):
    def test_buffers_are_wrapped_in_place(self):
        for data in (array.array("f", range(8)), array.array("d", range(8)), bytearray(8), floats(range(8), [2, 4])):
            tensor = lpt.Tensor(data)
            self.assertEqual(address(data), tensor.address)
            self.assertEqual(address(data), address(tensor))
            self.assertEqual(memoryview(data).tolist(), memoryview(tensor).tolist())

    def test_a_tensor_keeps_wrapped_memory_alive(self):
        data = bytearray(8)
        tensor = lpt.Tensor(data)
        view = tensor[2:5]
        del tensor
        with self.assertRaises(BufferError):
            data.extend(b"more")
        del view
        data.extend(b"more")

    def test_a_memoryview_keeps_the_tensor_alive(self):
        view = memoryview(lpt.quantize(floats([1.0] * 1000), "e4m3fn"))
        self.assertEqual([0x38] * 1000, view.tolist())

    def test_read_only_memory_is_not_written(self):
        tensor = lpt.Tensor(bytes(8))
        for source in (tensor, tensor[1:3], tensor.part("payload")):
            self.assertTrue(memoryview(source).readonly)
            with self.assertRaises(BufferError):
                lpt.sparse_apply(lpt.empty(8), bytes(8), out=source)

    def test_combined_read_only_memory_is_not_written(self):
        given = b"\x38" * 64
        row = lpt.quantize(floats(range(64), [1, 64]), "e4m3fn_row")
        for format, parts in (("e4m3fn", {"payload": lpt.Tensor(given)}), ("e4m3fn", {"payload": given}),
                              ("e4m3fn_row", {"payload": bytearray(64), "block_scales": memoryview(bytes(4)).cast("f")}),
                              ("e4m3fn_row", {"payload": lpt.Tensor(given), "block_scales": row.part("block_scales")})):
            with self.subTest(format=format, parts=parts):
                whole = lpt.combine(format, 1, 64, **parts)
                for target in (whole, whole.view((0, 0), (1, 64)), whole[:, :64]):
                    self.assertRaises(BufferError, lpt.quantize, floats(range(64), [1, 64]), out=target)
                self.assertTrue(memoryview(whole.part("payload")).readonly)
                self.assertTrue(memoryview(lpt.Tensor(whole.part("payload"), "uint8")).readonly)
        self.assertEqual(b"\x38" * 64, given)
        writable = lpt.combine("e4m3fn", 1, 64, payload=bytearray(64))
        self.assertEqual([list(range(17))], lpt.quantize(floats(range(64), [1, 64]), out=writable)[:, :17].tolist())

    @needs_numpy
    def test_numpy_shares_memory_both_ways(self):
        import numpy
        array_ = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        self.assertEqual(array_.ctypes.data, lpt.Tensor(array_).address)
        strided = array_[:, ::2]
        self.assertEqual((4, 2), lpt.Tensor(strided).strides)
        self.assertEqual(strided.tolist(), lpt.Tensor(strided).tolist())
        tensor = lpt.empty((2, 3))
        numpy.asarray(tensor)[1, 2] = 5
        self.assertEqual(tensor.address, numpy.asarray(tensor).ctypes.data)
        self.assertEqual(5.0, tensor.tolist()[1][2])
        with self.assertRaises(lpt.Error):
            lpt.Tensor(array_[::-1])

    @needs_ml_dtypes
    def test_ml_dtypes_share_memory_both_ways(self):
        import ml_dtypes
        import numpy
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
            array_ = numpy.ones((2, 3), dtype=getattr(ml_dtypes, name))
            tensor = lpt.Tensor(array_)
            self.assertEqual(array_.ctypes.data, tensor.address)
            self.assertEqual([[1.0] * 3] * 2, tensor.tolist())
            self.assertEqual(array_.dtype, tensor.numpy().dtype)
            self.assertEqual(array_.ctypes.data, tensor.numpy().ctypes.data)

    def test_a_format_interprets_codes(self):
        codes = bytearray([0x38, 0xC0])
        tensor = lpt.Tensor(codes, "e4m3fn")
        self.assertEqual(([1.0, -2.0], address(codes)), (tensor.tolist(), tensor.address))
        packed = lpt.Tensor(bytearray([0x21, 0x43]), "e2m1fn")
        self.assertEqual([0.5, 1.0, 1.5, 2.0], packed.tolist())
        with self.assertRaises(ValueError):
            lpt.Tensor(codes, "f32")


if __name__ == "__main__":
    unittest.main()
