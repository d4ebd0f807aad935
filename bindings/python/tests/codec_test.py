"""Codecs in Python: encoded messages of collectives, and failures of codec functions."""
import gc
import threading
import time
import unittest

import lpt
from support import floats, needs_numpy, run


def encode(numbers, data):
    codes = data.cast("b")
    for i, number in enumerate(numbers):
        codes[i] = int(number)


def decode(data, numbers):
    for i, code in enumerate(data.cast("b")):
        numbers[i] = code


def decode_add(data, total):
    for i, code in enumerate(data.cast("b")):
        total[i] += code


def int8(**others):
    """Return a codec of integers from -128 to 127, with one byte per element."""
    return lpt.Codec("int8", **{"bytes_for": lambda count: count, "encode": encode, "decode": decode, **others})


def fail(*_):
    raise KeyError("mine")


class Codecs(unittest.TestCase):
    def test_encode_the_messages_of_every_reduction(self):
        def body(comm):
            own = floats([float(comm.rank + i % 5) for i in range(600)], [6, 100])
            total = comm.all_reduce(own, codec=int8())
            later = comm.all_reduce(own, codec=int8(decode_add=decode_add), future=True).wait()
            part = comm.reduce_scatter(own, codec=int8())
            many = comm.all_reduce_many([floats([1.0, 2.0]), floats([3.0])], codec=int8())
            whole = comm.all_gather(floats([comm.rank + 1.0] * 2, [1, 2]), codec=int8())
            soon = comm.all_gather(floats([comm.rank + 1.0] * 2, [1, 2]), codec=int8(), future=True).wait()
            return (total.tolist(), later.tolist(), part.tolist(), [tensor.tolist() for tensor in many], whole.tolist(),
                    soon.tolist())
        expected = [[3.0 + 3.0 * ((100 * row + i) % 5) for i in range(100)] for row in range(6)]
        for rank, (total, later, part, many, whole, soon) in enumerate(run(3, body)):
            self.assertEqual((expected, expected, expected[2 * rank:2 * rank + 2]), (total, later, part))
            self.assertEqual(([[3.0, 6.0], [9.0]], [[1.0] * 2, [2.0] * 2, [3.0] * 2]), (many, whole))
            self.assertEqual(whole, soon)

    def test_call_the_library(self):
        def encode(numbers, data):
            data[:] = memoryview(lpt.quantize(numbers, "e4m3fn"))

        def decode(data, numbers):
            lpt.dequantize(lpt.Tensor(data, "e4m3fn"), out=numbers)

        def body(comm):
            return comm.all_reduce(floats([comm.rank + 1.0] * 512), codec=int8(encode=encode, decode=decode)).tolist()
        self.assertEqual([[3.0] * 512] * 2, run(2, body))

    def test_send_the_declared_number_of_bytes(self):
        def body(comm):
            before = comm.values["bytes_sent"]
            comm.all_reduce(floats([1.0] * 65536), codec=int8(encode=lambda numbers, data: None, decode=lambda *_: None))
            return comm.values["bytes_sent"] - before
        # Each rank sends half of the input to the other rank, and half of the sum.
        self.assertEqual([65536] * 2, run(2, body))

    def test_run_on_all_threads_of_a_context(self):
        seen = set()

        def note(numbers, data):
            seen.add(threading.get_ident())
            time.sleep(0.01)
            encode(numbers, data)

        def body(comm):
            context = lpt.Context(4)
            return comm.all_reduce(floats([2.0] * 2048), codec=int8(encode=note), context=context).tolist()
        self.assertEqual([[8.0] * 2048] * 4, run(4, body))
        self.assertGreater(len(seen), 4)

    def test_encode_the_messages_of_buckets(self):
        def body(comm):
            gradients = [floats([1.0 + comm.rank] * 8) for _ in range(3)]
            buckets = lpt.GradientBuckets(comm, gradients, bucket_bytes=32)
            buckets.begin(codec=int8())
            for index in (2, 1, 0):
                buckets.ready(index)
            buckets.wait()
            return [list(gradient) for gradient in gradients]
        self.assertEqual([[[3.0] * 8] * 3] * 2, run(2, body))

    def test_outlive_dropped_futures_and_buckets(self):
        is_dropped = threading.Event()

        def body(comm):
            gradient = floats([1.0 + comm.rank] * 8)
            buckets = lpt.GradientBuckets(comm, [gradient], order="reversed")
            buckets.begin(codec=int8())
            if comm.rank == 0:
                buckets.ready(0)  # in progress: the other rank has not joined
                del buckets
                gc.collect()
                is_dropped.set()
            else:
                is_dropped.wait(20)
                buckets.ready(0)
                buckets.wait()
            comm.barrier()
            return list(gradient)
        self.assertEqual([[3.0] * 8] * 2, run(2, body))

    @needs_numpy
    def test_share_memory_with_numpy(self):
        import numpy
        codec = lpt.Codec("numpy", lambda count: count,
                          lambda numbers, data: numpy.copyto(numpy.asarray(data).view(numpy.int8), numbers, casting="unsafe"),
                          lambda data, numbers: numpy.copyto(numpy.asarray(numbers), numpy.asarray(data).view(numpy.int8)))
        numbers = numpy.arange(-60, 60, dtype=numpy.float32)
        found = run(2, lambda comm: numpy.asarray(comm.all_reduce(numbers, codec=codec)))
        for sums in found:
            self.assertEqual((2 * numbers).tolist(), sums.tolist())


class Failures(unittest.TestCase):
    def test_exceptions_are_raised_on_their_rank(self):
        for broken in ({"encode": fail}, {"decode": fail}, {"decode_add": fail}):
            for future in (False, True):
                def body(comm):
                    codec = int8(**(broken if comm.rank == 0 else {}))
                    made = comm.all_reduce(floats([1.0] * 2048), codec=codec, future=future)
                    return made.wait() if future else made
                found = run(2, body)
                self.assertIsInstance(found[0], KeyError, (broken, future))
                self.assertIsInstance(found[0].__cause__, lpt.Aborted)
                self.assertRegex(str(found[0].__cause__), "codec int8: (encode|decode|decode_add) gives 1")
                # The other rank succeeds if the first one failed in its last step.
                self.assertIsInstance(found[1], (lpt.Aborted, lpt.Tensor))

    def test_of_sizes_are_raised_before_data_is_sent(self):
        found = run(2, lambda comm: comm.all_reduce(floats([1.0] * 8), codec=int8(bytes_for=fail)))
        self.assertEqual([KeyError] * 2, [type(error) for error in found])
        found = run(2, lambda comm: comm.all_reduce(floats([1.0] * 8), codec=int8(bytes_for=lambda count: "many")))
        self.assertEqual([TypeError] * 2, [type(error) for error in found])

    def test_reach_the_caller_of_gathers_buckets_and_shards(self):
        def gather(comm):
            comm.all_gather(floats([1.0]), codec=int8(encode=fail))

        def buckets(comm):
            passing = lpt.GradientBuckets(comm, [floats([1.0] * 8)])
            passing.begin(codec=int8(encode=fail))
            passing.ready(0)
            passing.wait()

        def shards(comm):
            optimizer = lpt.Optimizer()
            optimizer.add_shards(comm, [{"elements": 1024}])
            optimizer.step_shards(comm, [floats([1.0] * 1024)], [floats([1.0] * 1024)], reduce={"codec": int8(encode=fail)},
                                  learning_rate=0.1)
        for body in (gather, buckets, shards):
            self.assertEqual([KeyError], [type(error) for error in run(1, body)], body)

    def test_views_that_outlive_the_call_are_reported(self):
        for keep in (memoryview, lambda view: view, lambda view: view[:1], lambda view: view.cast("B")):
            kept = []
            codec = int8(decode=lambda data, numbers: kept.append((keep(data), keep(numbers))))
            found, = run(1, lambda comm: comm.all_reduce(floats([1.0] * 8), codec=codec))
            self.assertIsInstance(found, BufferError)

    def test_names_are_short(self):
        codec = int8()
        codec.name = "of thirteen.."
        found, = run(1, lambda comm: comm.all_reduce(floats([1.0]), codec=codec))
        self.assertIsInstance(found, lpt.InvalidArgument)
        self.assertIn("1 to 12 bytes", str(found))

    def test_a_comm_is_destroyed_during_a_codec_call(self):
        is_begun = threading.Event()

        def slow(numbers, data):
            is_begun.set()
            time.sleep(0.2)

        def leave():
            comm = lpt.Comm.local(lpt.Group(1), 0)
            future = comm.all_reduce(floats([1.0] * 8), codec=int8(encode=slow), future=True)
            is_begun.wait(20)
            comm.close()
            del future
            gc.collect()
        thread = threading.Thread(target=leave, daemon=True)
        thread.start()
        # If the GIL were held during the join of the comm's thread, both would deadlock.
        thread.join(20)
        self.assertFalse(thread.is_alive())


if __name__ == "__main__":
    unittest.main()
