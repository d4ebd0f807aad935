"""Arguments: accepted values, and errors that name the argument, its value and the expected values."""
import math
import unittest

import lpt
from lpt import capi
from lpt._options import options
from support import Draws, floats, needs_numpy


class Case(unittest.TestCase):
    def rejects(self, kind, text, call, *arguments, **given):
        """Check that the call raises `kind` with a message that contains `text` and does not list all constants."""
        with self.assertRaises(kind) as caught:
            call(*arguments, **given)
        self.assertIn(text, str(caught.exception))
        self.assertLess(len(str(caught.exception)), 300)


class Options(Case):
    def setUp(self):
        self.x = floats(range(8), [2, 4])

    def test_of_a_wrong_type_are_named(self):
        multiply = lambda **given: lpt.gemm(self.x, self.x, **dict({"b_transposed": True}, **given))  # noqa: E731
        self.rejects(TypeError, "scaler is 'abc': expected lpt_scaler or None", lpt.quantize, self.x, "e4m3fn", scaler="abc")
        self.rejects(TypeError, "b_transposed is 'yes': expected True or False", multiply, b_transposed="yes")
        self.rejects(TypeError, "alpha is 'a': expected a number", multiply, alpha="a")
        self.rejects(TypeError, "bias is [1.0]: list is not a tensor", multiply, bias=[1.0])
        self.rejects(TypeError, "quantize is 3: expected a dict", multiply, quantize=3)
        self.rejects(TypeError, "bits is 2.5: expected an integer", multiply, emulation={"arithmetic": "l_mul", "bits": 2.5})
        self.rejects(TypeError, "random is 3: expected an lpt.Random", lpt.quantize, self.x, "e4m3fn", random=3)
        self.rejects(TypeError, "random is (1, 2, 3, 4, 5, 6)", lpt.quantize, self.x, "e4m3fn", random=(1, 2, 3, 4, 5, 6))
        self.rejects(TypeError, "codec is 'x': expected lpt_comm_codec or None",
                     lpt.Comm.local(lpt.Group(1), 0).all_reduce, self.x, codec="x")
        self.rejects(TypeError, "input_order is 'abcd'", lpt.weights_pack, lpt.quantize(self.x, "e4m3fn"), input_order="abcd")
        self.rejects(TypeError, "cast_a_to_bf16 is 'no': expected True or False", multiply, cast_a_to_bf16="no")

    def test_unknown_names_list_the_known_ones(self):
        self.rejects(ValueError, 'second_underflow is "up": expected one of', lpt.Optimizer, second_underflow="up")
        self.rejects(ValueError, 'rounding is "up": expected one of', lpt.quantize, self.x, "e4m3fn", rounding="up")

    def test_unknown_options_list_the_keywords(self):
        self.rejects(TypeError, "is_b_transposed is not an option: expected b_transposed", lpt.gemm, self.x, self.x,
                     is_b_transposed=True)
        self.rejects(TypeError, "is_nesterov is not an option: expected nesterov", lpt.Optimizer, "sgd", is_nesterov=True)
        self.rejects(TypeError, "is_first_expanded is not an option: expected first_expanded", lpt.Optimizer().add, 8,
                     is_first_expanded=True)
        for call in (lambda: lpt.gemm(self.x, self.x, transpose_b=True), lambda: lpt.Optimizer(lr=1.0),
                     lambda: lpt.Optimizer().add(8, moments="f32")):
            with self.assertRaisesRegex(TypeError, "is not an option: expected ") as caught:
                call()
            names = str(caught.exception).split("expected ")[1].split(", ")
            self.assertEqual([], [name for name in names if name.startswith("is_")])
            self.assertEqual(sorted(names), names)
        self.rejects(TypeError, "lr is not an option: expected beta1, beta2, epsilon", lpt.Optimizer, lr=1.0)

    def test_out_of_range_state_the_range(self):
        self.rejects(OverflowError, "tile_rows is 4294967296: expected -2147483648 to 2147483647", lpt.weights_pack,
                     lpt.quantize(self.x, "e4m3fn"), tile_rows=2 ** 32)
        self.rejects(OverflowError, "seed is -1: expected 0 to", lpt.quantize, self.x, "e4m3fn", random=lpt.Random(seed=-1))
        self.rejects(OverflowError, "step is 4294967296: expected 0 to 4294967295", lpt.quantize, self.x, "e4m3fn",
                     random=lpt.Random(step=2 ** 32))

    def test_of_numbers_accept_index_objects(self):
        class Two:
            def __index__(self):
                return 2
        self.assertEqual([[1, 1, 0, 0]], [line[:4] for line in memoryview(
            lpt.sparse_select(floats([4.0, 3.0, 2.0, 1.0], [1, 4]), kept=Two(), of=4)[0]).tolist()])

    def test_flags_of_gemm_are_keywords(self):
        made = options(capi.lpt_gemm_options, {"cast_a_to_bf16": True, "flags": capi.LPT_GEMM_PORTABLE_ORDER}, [])
        self.assertEqual(capi.LPT_GEMM_CAST_A_TO_BF16 | capi.LPT_GEMM_PORTABLE_ORDER, made.flags)
        self.assertEqual(0, options(capi.lpt_gemm_options, {"cast_a_to_bf16": False}, []).flags)
        for kind in (capi.lpt_gemm_options, capi.lpt_linear_gemm_options):
            self.assertEqual(capi.LPT_GEMM_FAST_ACCUMULATE, options(kind, {"fast_accumulate": True}, []).flags)
        self.rejects(TypeError, "cast_a_to_bf16 is not an option", lpt.quantize, self.x, "e4m3fn", cast_a_to_bf16=True)


class Kinds(Case):
    """Arguments of a wrong kind are named."""

    def setUp(self):
        self.x = floats(range(8), [2, 4])

    def test_flags_are_bools(self):
        self.rejects(ValueError, 'smoothing is "no": expected one of channel, none', lpt.swiglu, self.x, self.x, smoothing="no")
        self.rejects(TypeError, "smoothing is 2: expected True or False", lpt.swiglu, self.x, self.x, smoothing=2)
        self.assertIs(lpt.Tensor, type(lpt.swiglu(self.x, self.x, smoothing="none")))
        self.assertEqual(2, len(lpt.swiglu(self.x, self.x, smoothing="channel")))
        layer = lpt.Linear(4, 1)
        layer.prepare(floats(range(4), [1, 4]))
        self.rejects(TypeError, "inference is 'no': expected True or False", layer.forward, self.x, inference="no")
        self.rejects(TypeError, "watched is 'no': expected True or False", layer.watch, "no")
        self.rejects(TypeError, "writable is 'no': expected True or False", lpt.Tensor, self.x, writable="no")
        with lpt.Comm.local(lpt.Group(1), 0) as comm:
            self.rejects(TypeError, "future is 'no': expected True or False", comm.all_reduce, self.x, future="no")

    def test_formats_are_no_bools(self):
        self.rejects(TypeError, "format is True: expected the name or number of a format", lpt.quantize, self.x, True)

    def test_shapes_are_no_bytes(self):
        self.rejects(TypeError, "shape is b'12': expected a number", lpt.empty, b"12")

    def test_handles_are_named(self):
        self.rejects(TypeError, "context is 5: expected a Context", lpt.quantize, self.x, "bf16", context=5)
        self.rejects(TypeError, "threads_of is 5: expected a Context", lpt.Context, threads_of=5)
        self.rejects(TypeError, "recipe is 5: expected a Recipe", lpt.Linear(4, 1).set_recipe, 5)
        self.rejects(TypeError, "comm is 5: expected a Comm", lpt.share_amax, 5, [])
        self.rejects(TypeError, "comm is 5: expected a Comm", lpt.Optimizer().add_shards, 5, [])

    def test_tensors_are_named(self):
        self.rejects(TypeError, "compressed is a memoryview: expected an lpt.Tensor", lpt.sparse_decompress, self.x)
        self.rejects(TypeError, "packed is a memoryview: expected an lpt.Tensor", lpt.weights_unpack, self.x)
        self.rejects(TypeError, "packed is a memoryview: expected an lpt.Tensor", lpt.weights_save, self.x)
        self.rejects(TypeError, "producer is a int: expected __dlpack__ or a DLPack capsule", lpt.from_dlpack, 3)

    def test_sequences_are_named(self):
        weights = lpt.quantize(self.x, "e4m3fn")
        self.rejects(TypeError, "output_order is 5: expected a sequence of integers", lpt.weights_pack, weights, output_order=5)
        self.rejects(TypeError, "group_ends is [1.5]: expected int32 or int64, or a sequence of integers", lpt.gemm_grouped,
                     self.x, floats(range(4), [1, 4, 1]), [1.5])
        self.rejects(TypeError, "targets is 'ab': expected int32 or int64", lpt.cross_entropy, self.x, "ab")
        self.rejects(OverflowError, "indices is [9223372036854775808]: expected int32", lpt.embedding, self.x, [2 ** 63])

    def test_states_are_bytes(self):
        optimizer, text = lpt.Optimizer(), "is a str: expected bytes"
        optimizer.add(2)
        self.rejects(TypeError, "state " + text, lpt.weights_load, "abc")
        self.rejects(TypeError, "state " + text, lpt.Linear(4, 1).load_state, "abc")
        self.rejects(TypeError, "state " + text, lpt.Scaler().load_state, "abc")
        self.rejects(TypeError, "states[0] " + text, optimizer.load_state, ["abc"])
        self.rejects(TypeError, "states[0][0] " + text, optimizer.load_state_many, [["abc"]])
        self.rejects(TypeError, "data " + text, lpt.foreign_layout_import, "abc", "ggml", (1, 32), "f32")

    def test_names_are_those_of_the_keywords(self):
        self.rejects(ValueError, 'reduction is "avg": expected one of', lpt.cross_entropy, self.x, [0, 1], reduction="avg")
        self.rejects(ValueError, 'kind is "fast": expected one of', lpt.rotary_frequencies, 4, "fast")
        self.rejects(ValueError, 'layout is "cuda": expected one of', lpt.foreign_layout_export, self.x, "cuda")
        self.rejects(ValueError, 'cast is "input": expected one of', lpt.Recipe().set_cast, "input", "bf16")
        self.rejects(ValueError, 'product is "up": expected one of', lpt.Recipe().set_product, "up")
        self.rejects(ValueError, 'operand is "x": expected one of', lpt.Recipe().set_scaler, "x")
        self.rejects(ValueError, 'level is "loud": expected one of', lpt.default_context().set_log, None, "loud")
        self.rejects(ValueError, 'direction is "up": expected one of', lpt.sparse_check, self.x, direction="up")


class Formats(Case):
    def test_unknown_ones_are_named(self):
        self.rejects(lpt.InvalidArgument, "format is 999999: expected", lpt.format_name, 999999)
        self.rejects(lpt.InvalidArgument, "format is 999999: expected", lpt.format_text, 999999)
        self.rejects(lpt.InvalidArgument, "format is 999999: expected", lpt.format_describe, 999999)
        self.rejects(lpt.InvalidArgument, "element='e4m3fn', block_columns=7", lpt.format_from_description, element="e4m3fn",
                     block_columns=7)

    def test_unknown_names_list_similar_ones(self):
        for name, similar in (("mxfp8", "similar: mxfp8_e4m3, mxfp8_e5m2"), ("float8_e4m3fn", "similar: e4m3fn"),
                              ("nvpf4", ", nvfp4;"), ("fp4", "similar: mxfp4, nvfp4")):
            self.rejects(lpt.InvalidArgument, f'format is "{name}": expected', lpt.empty, 8, name)
            self.rejects(lpt.InvalidArgument, similar, lpt.empty, 8, name)
            self.rejects(lpt.InvalidArgument, "lpt.formats() lists the names", lpt.empty, 8, name)
        self.rejects(lpt.InvalidArgument, "power of two", lpt.empty, (1, 100), "int8/1x100/f32")
        self.rejects(lpt.InvalidArgument, "block_columns is 7, expected a power of two", lpt.format_from_description,
                     element="e4m3fn", block_scale="f32", block_rows=1, block_columns=7)

    def test_are_dtypes_of_torch(self):
        class dtype:
            """As torch.dtype, which has no name but its text."""

            def __init__(self, text):
                self.text = text

            def __repr__(self):
                return self.text
        for text, format in (("torch.float8_e4m3fn", "e4m3fn"), ("torch.bfloat16", "bf16"), ("torch.float16", "f16"),
                             ("torch.float32", "f32"), ("torch.float64", "f64"), ("torch.uint8", "uint8")):
            self.assertEqual(format, lpt.empty(8, dtype(text)).format)
        self.rejects(TypeError, "format is a dtype", lpt.empty, 8, dtype("torch.complex64"))

    @needs_numpy
    def test_are_dtypes_of_numpy(self):
        import numpy
        for given in (numpy.float16, numpy.dtype("float16"), numpy.dtype("f2")):
            self.assertEqual("f16", lpt.quantize(floats([1.0]), given).format)
        self.rejects(TypeError, "format is a type", lpt.empty, 8, float)

    def test_are_names_or_integers(self):
        self.rejects(TypeError, "format is a float: expected the name or number of a format", lpt.empty, 3, 3.7)
        self.rejects(TypeError, "format is a NoneType", lpt.empty, 3, None)
        self.rejects(ValueError, "without null characters", lpt.empty, (2, 32), "mxfp4\0junk")
        self.rejects(ValueError, "without null characters", lpt.Recipe, "fp8_current\0junk")

    def test_instead_of_an_output_are_reported(self):
        x = floats(range(8), [2, 4])
        q = lpt.quantize(x, "e4m3fn")
        self.rejects(TypeError, "format is a Tensor: expected the name or number of a format; the output is the keyword out",
                     lpt.quantize, x, q)
        self.rejects(TypeError, "the output is the keyword out", lpt.dequantize, q, lpt.empty((2, 4)))

    def test_of_codes_state_the_expected_data(self):
        codes = memoryview(bytearray(64)).cast("B", [2, 32])
        self.rejects(ValueError, "format is mxfp4: expected a format without scales", lpt.Tensor, codes, "mxfp4")
        self.rejects(ValueError, "format is e4m3fn/2:4: expected a format without scales", lpt.Tensor, codes, "e4m3fn/2:4")
        self.rejects(ValueError, "format is nf4: expected another format, or data with 2 axes", lpt.Tensor, bytearray(8), "nf4")
        self.rejects(ValueError, "data has elements of 8 bits: expected 32", lpt.Tensor, codes, "f32")

    def test_of_packed_elements_take_bytes_that_fill_rows(self):
        # 4 elements of 6 bits take 3 bytes.
        for shape in ([4], [2, 4]):
            codes = memoryview(bytearray(math.prod(shape))).cast("B", shape)
            self.rejects(ValueError, "data has 4 bytes per row: expected a multiple of 3, which hold 4 elements of e2m3fn",
                         lpt.Tensor, codes, "e2m3fn")
        self.assertEqual((2, 4), lpt.Tensor(memoryview(bytearray(6)).cast("B", [2, 3]), "e2m3fn").shape)

    def test_of_sparse_matrices_are_named(self):
        dense = lpt.quantize(floats(range(8), [2, 4]), "e4m3fn_row")
        self.rejects(ValueError, "compressed is e4m3fn_row: expected a 2:4 format", lpt.sparse_decompress, dense)


class Extents(Case):
    @needs_numpy
    def test_are_numbers_of_any_kind(self):
        import numpy
        self.assertEqual((3,), lpt.empty(numpy.int64(3)).shape)
        self.assertEqual((2, 3), lpt.empty(numpy.array([2, 3])).shape)
        payload = lpt.empty((2, 4), "e4m3fn")
        self.assertEqual((2, 4), lpt.combine("e4m3fn", numpy.int64(2), numpy.int32(4), payload=payload).shape)
        self.assertEqual(2, lpt.Linear(numpy.int64(2), numpy.int64(1)).input_columns)
        self.assertEqual((1, 2), lpt.empty((4, 4)).view(numpy.array([1, 2]), (numpy.int64(1), 2)).shape)

    def test_are_required(self):
        self.rejects(TypeError, "shape is None: expected a number", lpt.empty, None)
        self.rejects(TypeError, "shape is 2.5: expected a number", lpt.empty, 2.5)
        self.rejects(TypeError, "shape is (2, 1.5): expected a number", lpt.empty, (2, 1.5))
        self.rejects(TypeError, "rows is 'a': expected an integer", lpt.combine, "f32", "a", 4, payload=lpt.empty((2, 4)))


class Handles(Case):
    def test_without_a_handle_are_rejected(self):
        kinds = [kind for name, kind in vars(capi).items() if name.startswith("lpt_") and isinstance(kind, type)]
        self.assertGreater(len(kinds), 50)
        empty = {kind.__name__: kind.__new__(kind) for kind in kinds}
        self.rejects(TypeError, "source is an empty lpt.capi.lpt_tensor: expected lpt_tensor or None", capi.lpt_quantize,
                     lpt.default_context()._handle, empty["lpt_tensor"], None, None, None)
        self.rejects((TypeError, BufferError), "", lpt.quantize, empty["lpt_tensor"], "e4m3fn")
        takers = {"lpt_context": lambda one: capi.lpt_quantize(one, None, None, None, None),
                  "lpt_statistics": lambda one: capi.lpt_statistics_reset(lpt.default_context()._handle, one)}
        for name, one in empty.items():
            with self.subTest(kind=name):
                for member in lpt._context.members_of(type(one)):
                    self.assertRaises(TypeError, getattr, one, member)
                destroy = getattr(capi, name + "_destroy", None)
                if destroy is not None:
                    self.rejects(TypeError, "", destroy, one)
                if name in takers:
                    self.rejects(TypeError, f"is an empty lpt.capi.{name}", takers[name], one)
                repr(one)

    def test_that_python_subclasses_are_rejected(self):
        empty = lpt.Tensor.__base__.__new__(lpt.Tensor)
        self.rejects(TypeError, "empty Tensor", lpt.quantize, empty, "e4m3fn")


@needs_numpy
class Strides(Case):
    """Operations read arrays of any strides; the expected result is that of the same operation on a dense copy."""

    def arrays(self):
        import numpy
        x = numpy.array(Draws(3).list(24 * 32), numpy.float32).reshape(24, 32)
        yield "negative", x[::-1, ::-1]
        yield "broadcast", numpy.broadcast_to(x[:1], (24, 32))
        yield "transposed", x.T
        yield "steps", x[:, ::2]
        yield "gap", x[:, :16]
        yield "permuted", numpy.transpose(x.reshape(4, 6, 32), (1, 0, 2))
        yield "column", x[:, 3:4]

    def test_of_any_kind_are_read(self):
        import numpy
        for name, strided in self.arrays():
            dense = numpy.ascontiguousarray(strided)
            for operation in (lambda one: lpt.quantize(one, "e4m3fn"), lambda one: lpt.softmax(one, scale=0.5),
                              lambda one: lpt.gemm(one, numpy.eye(one.shape[-1], dtype=numpy.float32))):
                with self.subTest(strides=name):
                    self.assertEqual(operation(dense).tolist(), operation(strided).tolist())

    def test_of_a_second_operand_are_read(self):
        import numpy
        for name, strided in self.arrays():
            if strided.ndim == 2:
                dense, left = numpy.ascontiguousarray(strided), numpy.ones((3, strided.shape[0]), numpy.float32)
                with self.subTest(strides=name):
                    self.assertEqual(lpt.gemm(left, dense).tolist(), lpt.gemm(left, strided).tolist())

    def test_of_other_types_are_read(self):
        import numpy
        for kind in ("float16", "float64"):
            x = numpy.arange(12, dtype=kind).reshape(3, 4)
            self.assertEqual(x[::-1].tolist(), lpt.dequantize(lpt.quantize(x[::-1], "bf16")).tolist())

    def test_of_what_is_wrapped_or_written_are_those_of_the_memory(self):
        import numpy
        x = numpy.zeros((4, 4), numpy.float32)
        self.assertEqual(x.ctypes.data, lpt.Tensor(x.T).address)
        self.rejects(lpt.InvalidArgument, "strides[0] is -4: expected at least 0", lpt.Tensor, x[::-1])
        self.rejects(lpt.InvalidArgument, "strides[0] is -4: expected at least 0", lpt.dequantize, lpt.empty((4, 4), "e4m3fn"),
                     out=x[::-1])

    def test_of_transposed_operands_of_gemm_are_read_in_place(self):
        import numpy
        x = numpy.zeros((4, 8), numpy.float32)
        self.assertEqual(x.ctypes.data, lpt._tensor.multiplied(x.T).address)
        self.assertNotEqual(x.ctypes.data, lpt._tensor.read(x.T).address)

    def test_of_dlpack_are_read(self):
        from exchange_test import Versioned, get_pointer

        class Producer:
            def __init__(self, tensor, strides):
                self.tensor, self.strides = tensor, strides

            def __dlpack__(self, **_):
                capsule = self.tensor.__dlpack__(max_version=(1, 0))
                found = Versioned.from_address(get_pointer(capsule, b"dltensor_versioned")).array
                for axis, stride in enumerate(self.strides):
                    found.strides[axis] = stride
                return capsule
        tensor = lpt.quantize(floats(range(6), [2, 3]), "bf16")
        self.assertEqual([[0.0, 1.0, 2.0]] * 2, lpt.dequantize(Producer(tensor, (0, 1))).tolist())
        self.assertEqual([[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]], lpt.dequantize(Producer(tensor, (1, 2))).tolist())
        self.rejects(lpt.InvalidArgument, "strides[0] is 0", lpt.Tensor, Producer(tensor, (0, 1)))


class Parameter:
    """A parameter as in torch, which exports its memory only after detach()."""

    def __init__(self, tensor, requires_grad=True):
        self.tensor, self.requires_grad = tensor, requires_grad

    def detach(self):
        return Parameter(self.tensor, False)

    def __dlpack__(self, **given):
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.tensor.__dlpack__(**given)


class Gradients(Case):
    def test_parameters_are_read_and_written(self):
        tensor = lpt.Tensor(floats([1.0, 2.0]))
        self.assertEqual([1.0, 2.0], lpt.quantize(Parameter(tensor), "e4m3fn").tolist())
        optimizer = lpt.Optimizer("sgd", beta1=0.0)
        optimizer.add(2)
        optimizer.step([Parameter(tensor)], [floats([1.0, 1.0])], learning_rate=0.5)
        self.assertEqual([0.5, 1.5], tensor.tolist())

    def test_tensors_without_detach_are_reported(self):
        class Bare:
            requires_grad = True
        self.rejects(TypeError, "Bare requires gradients and has no detach()", lpt.quantize, Bare(), "e4m3fn")


if __name__ == "__main__":
    unittest.main()
