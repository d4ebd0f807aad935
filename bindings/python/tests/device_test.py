"""Devices: descriptions, contexts and copies. A test plugin emulates the GPU on the CPU."""
import os
import re
import subprocess
import sys
import unittest
import unittest.mock

import lpt
from support import floats

PLUGIN = os.path.join(os.environ["LPT_BUILD_DIR"], "tests", "device", "on_cpu")
needs_plugin = unittest.skipUnless(os.path.exists(os.path.join(PLUGIN, "liblpt_cuda.so")), "tests/device is not built")


class Descriptions(unittest.TestCase):
    def test_of_the_cpu(self):
        found = lpt.device_describe()
        self.assertEqual((1, 1, ""), (found["count"], found["is_usable"], found["reason"]))
        self.assertGreater(found["processor_count"], 0)
        self.assertRaisesRegex(ValueError, "cpu, cuda", lpt.device_describe, "abacus")
        self.assertRaises(lpt.InvalidArgument, lpt.device_describe, "cpu", -1)

    def test_give_the_reason_why_a_device_is_not_usable(self):
        code = "import lpt; print(*(lpt.device_describe('cuda', 63)[name] for name in ('is_usable', 'reason')))"
        said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(said, r"^0 .+")

    def test_every_status_has_its_exception(self):
        with open(os.path.join(os.environ["LPT_SOURCE_DIR"], "include", "lpt", "common.h"), encoding="utf-8") as file:
            statuses = file.read().split("enum lpt_status_values {")[1].split("};")[0]
        classes = {kind.status: kind.__name__ for kind in vars(lpt).values()
                   if isinstance(kind, type) and issubclass(kind, lpt.Error) and kind is not lpt.Error}
        expected = {int(number): name.title().replace("_", "") for name, number in re.findall(r"LPT_(\w+) = (\d+)", statuses)}
        self.assertEqual("Ok", expected.pop(0))
        self.assertEqual(expected, classes)


@needs_plugin
class Gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["LPT_PLUGIN_PATH"] = PLUGIN  # read when the first context requires a GPU
        cls.context = lpt.Context(device="cuda")
        cls.numbers = floats([value / 7 for value in range(256)], [4, 64])

    def test_tensors_are_on_the_device_of_their_context(self):
        tensor = lpt.tensor_copy(self.numbers, context=self.context)
        made = lpt.empty((2, 2), context=self.context)
        self.assertEqual(("cuda", 0, "cuda"), (tensor.device, tensor.device_index, made.device))
        self.assertEqual(("cpu", 0), (lpt.empty(1).device, lpt.empty(1).device_index))
        self.assertEqual(("cuda", 0), (self.context.device, self.context.device_index))

    def test_casts_equal_those_of_the_cpu(self):
        for format in ("mxfp8_e4m3", "nvfp4"):
            there = lpt.tensor_copy(self.numbers, context=self.context)
            codes = lpt.quantize(there, format, context=self.context)
            self.assertEqual("cuda", codes.device)
            back = lpt.tensor_copy(codes, out=lpt.empty((4, 64), format), context=self.context)
            expected = lpt.quantize(self.numbers, format)
            for name, part in expected.parts().items():
                self.assertEqual(memoryview(part).tobytes(), memoryview(back.part(name)).tobytes(), (format, name))

    def test_copies_within_the_cpu(self):
        tensor = lpt.quantize(self.numbers, "mxfp4")
        copied = lpt.tensor_copy(tensor)
        self.assertNotEqual(tensor.address, copied.address)
        self.assertEqual(tensor.tolist(), copied.tolist())

    def test_memory_of_a_gpu_is_not_exported_as_a_buffer(self):
        tensor = lpt.tensor_copy(self.numbers, context=self.context)
        self.assertRaisesRegex(BufferError, "tensor_copy", memoryview, tensor)
        self.assertRaises(BufferError, tensor.tolist)
        self.assertRaises(BufferError, tensor.__dlpack__, copy=True)

    def test_dlpack_waits_for_streams_other_than_the_consumers(self):
        context = lpt.Context(device="cuda", device_index=1)
        tensor = lpt.empty((2, 2), context=context)
        with unittest.mock.patch.object(lpt.Context, "synchronize") as wait:
            for stream in (None, 1, -1):  # the stream of the context, twice; and no synchronization
                tensor.__dlpack__(stream=stream)
            wait.assert_not_called()
            tensor.__dlpack__(stream=2)
            wait.assert_called_once_with()
            context.set_stream(4096)
            tensor.__dlpack__(stream=4096)
            wait.assert_called_once_with()
            tensor.__dlpack__()
            self.assertEqual(2, wait.call_count)

    def test_dlpack_names_the_streams_of_its_contexts(self):
        context = lpt.Context(device="cuda", device_index=1)
        tensor = lpt.empty((2, 2), context=context)
        streams = []

        class Producer:
            def __dlpack_device__(self):
                return tensor.__dlpack_device__()

            def __dlpack__(self, *, stream=None, max_version=None):
                streams.append(stream)
                return tensor.__dlpack__(stream=-1, max_version=max_version)

        for take in (lpt.from_dlpack, lpt.Tensor):
            self.assertEqual(tensor.address, take(Producer()).address)
        context.set_stream(4096)
        lpt.from_dlpack(Producer())
        other = lpt.Context(device="cuda", device_index=1)
        lpt.from_dlpack(Producer())
        del other
        self.assertEqual([1, 1, 4096, 1, 4096], streams)

    def test_dlpack_reports_the_device(self):
        tensor = lpt.tensor_copy(self.numbers, context=self.context)
        self.assertEqual((2, 0), tensor.__dlpack_device__())
        self.assertRaises(BufferError, tensor.__dlpack__, dl_device=(1, 0))
        self.assertRaisesRegex(BufferError, "stream is 0", tensor.__dlpack__, stream=0)
        for version in (None, (1, 0)):
            again = lpt.from_dlpack(tensor.__dlpack__(stream=1, max_version=version))
            self.assertEqual(("cuda", tensor.address, "f32"), (again.device, again.address, again.format))

    def test_tensors_on_another_device_are_rejected(self):
        tensor = lpt.tensor_copy(self.numbers, context=self.context)
        for call in (lambda: lpt.quantize(self.numbers, "e4m3fn", context=self.context), lambda: lpt.quantize(tensor, "e4m3fn"),
                     lambda: lpt.quantize(self.numbers, out=lpt.empty((4, 64), "e4m3fn", context=self.context))):
            self.assertRaises((lpt.InvalidArgument, lpt.Unsupported), call)
        self.assertRaises(lpt.Unsupported, lpt.Context, device="cuda", device_index=63)

    def test_streams_belong_to_gpus(self):
        self.context.set_stream(4096)
        self.assertEqual(4096, self.context.stream)
        self.context.wait_stream(None)
        self.context.notify_stream(None)
        self.context.trim()
        self.context.set_stream(None)
        self.assertEqual(0, self.context.stream)
        self.context.synchronize()
        lpt.Context(1).synchronize()
        self.assertRaises(lpt.Unsupported, lpt.Context(1).set_stream, None)

    def test_the_first_stream_is_an_argument(self):
        context = lpt.Context(1, device="cuda", stream=4096)
        self.assertEqual(4096, context.stream)
        lpt.tensor_copy(self.numbers, context=context).__dlpack__(stream=4096)
        self.assertEqual(0, lpt.Context(1, device="cuda", stream=None).stream)
        self.assertRaisesRegex(lpt.Unsupported, "stream is 0x1000: expected NULL", lpt.Context, 1, stream=4096)


if __name__ == "__main__":
    unittest.main()
