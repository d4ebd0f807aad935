"""Ranks on threads: collectives, futures, and failures of a rank."""
import glob
import os
import pickle
import shutil
import subprocess
import sys
import threading
import unittest
from array import array

import lpt
from support import Draws, floats, run


class Ranks(unittest.TestCase):
    def test_reduce_and_gather(self):
        def body(comm):
            own = floats([comm.rank + 1.0] * 4, [4, 1])
            total = comm.all_reduce(own)
            most = comm.all_reduce(own, reduction="maximum", future=True)
            part = comm.reduce_scatter(floats([1.0] * 6, [6, 1]), counts=[1, 2, 3], reduction="average")
            whole = comm.all_gather(floats([comm.rank] * 2, [1, 2]))
            swapped = comm.all_to_all(floats([10 * comm.rank + i for i in range(3)], [3, 1]))
            many = comm.all_reduce_many([floats([1.0]), floats([2.0, 3.0])], factor=2.0)
            root = comm.broadcast(floats([comm.rank]), root=1)
            comm.barrier()
            return (total.tolist(), most.wait().tolist(), part.tolist(), whole.tolist(), swapped.tolist(),
                    [tensor.tolist() for tensor in many], root.tolist(), comm.is_same(total), comm.is_same(own))
        for rank, found in enumerate(run(3, body)):
            self.assertEqual(([[6.0]] * 4, [[3.0]] * 4, [[1.0]] * (rank + 1), [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]],
                              [[0.0 + rank], [10.0 + rank], [20.0 + rank]], [[6.0], [12.0, 18.0]], [1.0], True, False), found)

    def test_slices_are_cast_and_gathered(self):
        draws = Draws()
        numbers = draws.list(4 * 64)
        whole = floats(numbers, [4, 64])
        options = {"hadamard_size": 32, "scale_rule": "power_of_two"}
        expected = lpt.quantize(whole, "e4m3fn_tensor", **options)
        plain = lpt.quantize(whole, "nvfp4")

        def body(comm):
            part = floats(numbers[128 * comm.rank:128 * comm.rank + 128], [2, 64])
            cast = comm.all_gather(part, format="e4m3fn_tensor", cast=options)
            with self.assertRaisesRegex(TypeError, "cast is 3: expected a dict of options of quantize"):
                comm.all_gather(part, format="int8_row", cast=3)
            sent = comm.values["bytes_sent"]
            plain = comm.all_gather(part, format="nvfp4", future=True).wait()
            return cast.dequantize().tolist(), plain.dequantize().tolist(), comm.values["bytes_sent"] - sent
        for cast, found, sent in run(2, body):
            self.assertEqual((expected.dequantize().tolist(), plain.dequantize().tolist()), (cast, found))
            self.assertEqual(2 * 64 // 2 + 2 * 64 // 16 + 4 + 8, sent)  # codes, block scales, tensor scale and the amax

    def test_groups_reduce_by_levels(self):
        def body(comm):
            inner, outer = comm.split(comm.rank // 2, comm.rank), comm.split(comm.rank % 2, comm.rank)
            own = floats([float(comm.rank + 1)] * 2048)
            exact = inner.all_reduce(own, outer_comm=outer, outer={"factor": 2.0})
            cast = inner.all_reduce(own, outer_comm=outer, outer={"wire": "int8_1x32", "algorithm": "two_shot"}, future=True)
            cast = cast.wait()
            with self.assertRaisesRegex(TypeError, "outer is 3: expected a dict of options of all_reduce"):
                inner.all_reduce(own, outer_comm=outer, outer=3)
            return exact.tolist(), cast.tolist(), inner.values["bytes_sent"], outer.values["bytes_sent"]
        for exact, cast, inside, outside in run(4, body):
            self.assertEqual(([20.0] * 2048, [10.0] * 2048), (exact, cast))
            self.assertEqual((2 * 2 * 1024 * 4, 1024 * 4 + 1024 * 36 // 32), (inside, outside))

    def test_attention_over_a_divided_sequence(self):
        draws = Draws()
        batch, heads, positions, width = 2, 4, 8, 4
        shape = (batch, heads, positions, width)
        query, key, value, slope = [draws.list(batch * heads * positions * width) for _ in range(4)]
        whole = [floats(numbers, shape) for numbers in (query, key, value, slope)]
        expected, sums = lpt.attention(*whole[:3], causal=True, log_sum_exp=True)
        slopes = lpt.attention_backward(*whole, output=expected, log_sum_exp=sums, causal=True)

        def part(tensor, rank):
            return [number for b in tensor.tolist() for head in b for row in head[4 * rank:4 * rank + 4] for number in row]

        def body(comm):
            mine = [floats(part(tensor, comm.rank), (batch, heads, positions // 2, width)) for tensor in whole]
            alone = comm.split(comm.rank)
            results = []
            for comms in ({"ring": comm}, {"heads": comm}, {"ring": comm, "heads": alone, "layout": "contiguous"}):
                output, logs = lpt.sequence_attention(*mine[:3], causal=True, log_sum_exp=True, **comms)
                results.append([output, *lpt.sequence_attention_backward(*mine, output=output, log_sum_exp=logs, causal=True,
                                                                         **comms)])
            cast = lpt.sequence_attention(*mine[:3], ring=comm, causal=True, wire="int8_row", layout="zigzag")
            self.assertEqual(output.shape, cast.shape)
            with self.assertRaisesRegex(ValueError, "ring and heads are NULL"):
                lpt.sequence_attention(*mine[:3])
            return [[[number for b in tensor.tolist() for h in b for row in h for number in row] for tensor in one]
                    for one in results]
        for rank, found in enumerate(run(2, body)):
            for one in found:
                for tensor, numbers in zip((expected, *slopes), one):
                    for a, b in zip(part(tensor, rank), numbers):
                        self.assertAlmostEqual(a, b, places=5)

    def test_gradients_are_reduced_during_backward(self):
        def body(comm):
            gradients = [floats([comm.rank + float(i)] * (i + 1)) for i in range(4)]
            buckets = lpt.GradientBuckets(comm, gradients, bucket_bytes=16)
            for step in range(2):
                buckets.begin(reduction="average")
                for index in (3, 2, 1) if step == 0 else (1, 3, 2):
                    buckets.ready(index)
                with self.assertRaisesRegex(ValueError, r"gradients\[0\]"):
                    buckets.wait()
                buckets.ready(0)
                buckets.wait()
            return [list(gradient) for gradient in gradients], buckets.values["is_recorded"]
        for found in run(3, body):
            self.assertEqual(([[1.0 + i] * (i + 1) for i in range(4)], 1), found)

    def test_shards_step_like_the_full_parameter(self):
        draws = Draws()
        sizes = (5000, 3, 9000)
        first = [draws.list(size) for size in sizes]
        slopes = [draws.list(size) for size in sizes]
        whole = [floats(numbers) for numbers in first]
        alone = lpt.Optimizer(beta2=0.95)
        for size in sizes:
            alone.add(size, first_moment="e4m3fn_1x128", weight_decay=0.1)
        for _ in range(2):
            alone.step(whole, [floats(numbers) for numbers in slopes], learning_rate=0.01, largest_norm=1.0)

        def body(comm, reduce):
            mine = [floats(numbers) for numbers in first]
            optimizer = lpt.Optimizer(beta2=0.95)
            optimizer.add_shards(comm, [{"elements": size, "first_moment": "e4m3fn_1x128", "weight_decay": 0.1}
                                        for size in sizes])
            # With reduced gradients, one rank has exactly twice the mean.
            part = 1.0 if reduce is None else 2.0 if comm.rank == 0 else 0.0
            for _ in range(2):
                optimizer.step_shards(comm, mine, [floats([part * x for x in numbers]) for numbers in slopes],
                                      reduce=reduce, learning_rate=0.01, largest_norm=1.0)
            with self.assertRaisesRegex(TypeError, "shards"):
                pickle.dumps(optimizer)
            return [bytes(numbers) for numbers in mine], optimizer.nbytes
        for reduce in (None, {"reduction": "average"}):
            found = run(2, lambda comm, reduce=reduce: body(comm, reduce))
            for parameters, size in found:
                self.assertEqual([bytes(numbers) for numbers in whole], parameters)
                self.assertLess(size, alone.nbytes)

    def test_a_rejected_name_leaves_no_other_name(self):
        def body(comm):
            optimizer = lpt.Optimizer()
            with self.assertRaisesRegex(lpt.InvalidArgument, 'name is "a": parameter 0 has it'):
                optimizer.add_shards(comm, [{"elements": 8, "name": name} for name in ("a", "b", "a")])
            self.assertRaises(lpt.InvalidArgument, optimizer.find, "b")
            indices = optimizer.add_shards(comm, [{"elements": 8, "name": name} for name in ("b", "a")])
            return list(indices), optimizer.find("a")
        self.assertEqual([([0, 1], 1)] * 2, run(2, body))

    def test_state_is_restored_with_another_number_of_ranks(self):
        sizes, kind = (5000, 3), {"first_moment": "e4m3fn_1x128", "weight_decay": 0.1}
        draws = Draws()
        first, slopes = [draws.list(size) for size in sizes], [draws.list(size) for size in sizes]

        def step(parameters, stepping):
            stepping(parameters, [floats(numbers) for numbers in slopes], learning_rate=0.01)
            return [bytes(numbers) for numbers in parameters]

        def body(comm):
            optimizer, mine = lpt.Optimizer(), [floats(numbers) for numbers in first]
            optimizer.add_shards(comm, [{"elements": size, **kind} for size in sizes])
            step(mine, lambda *given, **options: optimizer.step_shards(comm, *given, **options))
            return optimizer.state()
        states = run(3, body)
        alone, joined = lpt.Optimizer(), lpt.Optimizer()
        for size in sizes:
            alone.add(size, **kind)
            joined.add(size, **kind)
        parameters = [floats(numbers) for numbers in first]
        step(parameters, alone.step)
        joined.load_state_many(states)
        others = [floats(numbers) for numbers in parameters]
        self.assertEqual(step(parameters, alone.step), step(others, joined.step))
        self.assertRaises(lpt.InvalidState, joined.load_state_many, states[:2])
        self.assertRaisesRegex(ValueError, r"states\[1\] has 1 states: expected 2", joined.load_state_many,
                               [states[0], states[1][:1]])
        self.assertRaises(TypeError, joined.load_state_many, [[1, 2]])

    def test_rows_of_a_sequence_are_gathered_and_scattered(self):
        counts = [2, 0, 1]

        def body(comm):
            mine = lpt.empty((counts[comm.rank], 2))
            if mine.size:
                memoryview(mine).cast("B")[:] = array("f", [10.0 * comm.rank + i for i in range(mine.size)]).tobytes()
            plan = lpt.PartialPlan(2, 2, comm.rank_count)
            whole = comm.sequence_gather(mine, row_counts=counts, plan=plan)
            later = comm.sequence_gather(mine, row_counts=counts, future=True).wait()
            parts = [comm.sequence_scatter(whole, row_counts=counts),
                     comm.sequence_scatter(whole, row_counts=counts, plan=plan, backward=True),
                     comm.sequence_scatter(whole, row_counts=counts, future=True).wait()]
            with self.assertRaisesRegex(lpt.Unsupported, "private"):
                comm.sequence_gather(mine, row_counts=counts, plan=lpt.PartialPlan(2, 1, comm.rank_count))
            even = comm.sequence_gather(floats([comm.rank], [1, 1]))
            return whole.tolist(), later.tolist(), [part.tolist() for part in parts], even.tolist()
        rows = [[0.0, 1.0], [2.0, 3.0], [20.0, 21.0]]
        for rank, (whole, later, parts, even) in enumerate(run(3, body)):
            begin = sum(counts[:rank])
            own = [[3 * number for number in row] for row in rows[begin:begin + counts[rank]]]
            self.assertEqual((rows, rows, [own] * 3), (whole, later, parts))
            self.assertEqual([[0.0], [1.0], [2.0]], even)

    def test_classes_and_layers_are_shared(self):
        logits = Draws().list(8 * 6)
        targets = [5, 0, 3, -1, 2, 1, 4, 5]
        columns = (2, 4)

        def of_rank(comm):
            begin = sum(columns[:comm.rank])
            return floats([x for row in range(8) for x in logits[6 * row + begin:][:columns[comm.rank]]],
                          [8, columns[comm.rank]])

        def body(comm):
            loss, sums = lpt.cross_entropy(of_rank(comm), targets, comm=comm, label_smoothing=0.1)
            gradient = lpt.cross_entropy_backward(of_rank(comm), targets, sums, comm=comm, label_smoothing=0.1)
            layer = lpt.Linear(2, 3, lpt.Recipe("f32"))
            weight = floats([float(comm.rank + 1)] * 6, [3, 2])
            layer.prepare(weight)
            product = layer.forward(floats([1.0, 2.0], [1, 2]), comm=comm, parallel="rows")
            product = product[0] if isinstance(product, tuple) else product
            return loss.tolist(), gradient.tolist(), product.tolist()
        loss, sums = lpt.cross_entropy(floats(logits, [8, 6]), array("q", targets), label_smoothing=0.1)
        gradient = lpt.cross_entropy_backward(floats(logits, [8, 6]), targets, sums, label_smoothing=0.1).tolist()
        for rank, found in enumerate(run(2, body)):
            # Sums are added in f64 in rank order: one rounding to f32 may differ.
            self.assertAlmostEqual(loss.tolist()[0], found[0][0], delta=abs(found[0][0]) * 2 ** -23)
            begin = sum(columns[:rank])
            for row, own in zip(gradient, found[1]):
                for x, y in zip(row[begin:begin + columns[rank]], own):
                    self.assertAlmostEqual(x, y, delta=abs(x) * 2 ** -22)
            self.assertEqual([[9.0] * 3], found[2])
        with self.assertRaisesRegex(ValueError, "targets is 2 int64: expected a vector of 8"):
            lpt.cross_entropy(floats(logits, [8, 6]), [1, 2])

    def test_send_and_receive_and_split(self):
        def body(comm):
            if comm.rank == 0:
                comm.send(floats([42.0]), 1, tag=7)
            else:
                self.assertEqual([42.0], comm.receive(lpt.empty(1), 0, tag=7).tolist())
            part = comm.split(comm.rank)
            alone = comm.split(-1 if comm.rank else 0)
            return part.rank_count, alone is None, comm.values["engine"]
        self.assertEqual([(1, False, "local"), (1, True, "local")], run(2, body))

    def test_messages_have_the_wire_format(self):
        def body(comm):
            return comm.all_reduce(floats([1.0] * 2048), wire="e4m3fn_tensor", algorithm="one_shot").tolist()
        self.assertEqual([[2.0] * 2048] * 2, run(2, body))

    def test_share_some_columns(self):
        def body(comm):
            plan = lpt.PartialPlan(4, 0.5, comm.rank_count)
            values = plan.values()
            x = floats([1.0, 2.0, 3.0, 4.0], [1, 4])
            scale = 2 ** 0.5
            summed = comm.partial_all_reduce(plan, x).tolist()[0]
            later = comm.partial_all_reduce(plan, x, future=True, backward=True).wait().tolist()[0]
            eye = floats([float(i % 5 == 0) for i in range(16)], [4, 4])
            product = comm.partial_gemm(plan, x, eye).tolist()[0]
            weight = floats([1.0] * 4, [4, 1])
            plan.scale_weight(weight)
            return (values["shared_columns"], summed, later, product, weight.tolist(), scale)
        for shared, summed, later, product, weight, scale in run(2, body):
            self.assertEqual((2, [2.0, 4.0]), (shared, summed[:2]))
            for found, expected in zip(summed[2:], (3 * scale, 4 * scale)):
                self.assertLess(abs(found - expected), 1e-6)
            self.assertEqual((summed, summed), (later, product))
            self.assertEqual([[1.0], [1.0]], weight[:2])
            self.assertLess(abs(weight[3][0] - scale), 1e-6)

    def test_signs_are_sent_and_errors_are_kept(self):
        def body(comm):
            x = floats([(-1.0) ** (i + comm.rank) * (1 + i % 3) for i in range(1024)])
            errors = comm.signs_errors(1024)
            sums = [0.0] * 1024
            for call in range(64):
                made = comm.all_reduce_signs(x, *errors, future=call % 2 == 1)
                sums = [total + number for total, number in zip(sums, (made.wait() if call % 2 else made).tolist())]
            return [total / 64 for total in sums], errors[1].size
        found = run(2, body)
        self.assertEqual([512, 512], [size for _, size in found])
        # The inputs of both ranks sum to 0: the mean of outputs approaches 0 as 1 / calls.
        self.assertEqual(found[0][0], found[1][0])
        self.assertLess(max(map(abs, found[0][0])), 0.25)

    def test_layers_share_their_amax(self):
        def body(comm):
            layer = lpt.Linear(16, 16, "fp8_trillion")
            layer.prepare(floats([1.0] * 256, [16, 16]))
            layer.forward(floats([2.0 + comm.rank] * 16, [1, 16]))
            lpt.share_amax(comm, [layer])
            layer.update()
            return layer.scaler_values("input")["amax"], layer.cast_nbytes
        for amax, size in run(2, body):
            self.assertEqual(3.0, amax)
            self.assertGreaterEqual(size, 256)

    def test_estimate_costs(self):
        ring = lpt.collective_cost("all_reduce", 4, 1000, algorithm="ring", latency_seconds=1e-3, bytes_per_second=1e6)
        self.assertEqual(6, ring["step_count"])
        self.assertEqual(2 * 3 / 4 * 4000, ring["rank_bytes"])
        link = lpt.link_fit([1e3, 1e5], [2e-3, 101e-3])
        self.assertLess(abs(link["latency_seconds"] - 1e-3) + abs(link["bytes_per_second"] / 1e6 - 1), 1e-9)
        self.assertRaises(ValueError, lpt.link_fit, [1.0], [])
        self.assertEqual(1, lpt.cost_break_even("all_gather", 4, "e4m3fn", **link))
        self.assertEqual(-1, lpt.cost_break_even("all_gather", 4, "e4m3fn", encode_bytes_per_second=1.0, **link))
        self.assertRaisesRegex(ValueError, "all_gather", lpt.collective_cost, "gather", 2, 1, latency_seconds=0.0,
                               bytes_per_second=1e6)

    def test_thresholds_of_slow_ranks(self):
        times = [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 9.0], [1.0, 1.0]]]
        found = lpt.drop_compute_fit(times, serial_seconds=1.0, threshold_seconds=2.0)
        self.assertEqual((7 / 8, 7.0, 3.0), (found["kept_fraction"], found["full_seconds"], found["step_seconds"]))
        self.assertLess(lpt.drop_compute_fit(times)["threshold_seconds"], 9.0)
        self.assertAlmostEqual(1.0345, lpt.drop_compute_estimate(192, 12, 1.0, 0.1, serial_seconds=0.5)["speedup"], 3)
        self.assertRaisesRegex(ValueError, "as many micro-batches", lpt.drop_compute_fit, [[[1.0], [1.0, 2.0]]])
        self.assertRaisesRegex(ValueError, "ranks is 0", lpt.drop_compute_fit, [])

    def test_other_ranks_fail_after_a_rank_closes(self):
        def body(comm):
            if comm.rank == 1:
                raise KeyError("mine")
            comm.barrier()
        found = run(2, body)
        self.assertIsInstance(found[0], (lpt.Aborted, ConnectionError))
        self.assertIsInstance(found[1], KeyError)

    def test_different_shapes_are_reported(self):
        def body(comm):
            comm.all_reduce(floats([1.0] * (comm.rank + 1)))
        self.assertTrue(all(isinstance(error, (lpt.Mismatch, lpt.Aborted)) for error in run(2, body)))

    def test_a_future_without_a_wait_keeps_its_memory(self):
        def body(comm):
            for _ in range(50):
                comm.all_reduce(floats([1.0] * 4096), future=True)
            comm.barrier()
            return True
        self.assertEqual([True, True], run(2, body))

    def test_memory_of_a_dropped_future_is_held_until_it_is_done(self):
        is_dropped = threading.Event()

        def body(comm):
            if comm.rank == 0:
                comm.all_reduce(floats([1.0] * 8), future=True)  # in progress: the other rank has not joined
                held = len(lpt._comm._pending)
                is_dropped.set()
            else:
                is_dropped.wait(20)
                held = comm.all_reduce(floats([1.0] * 8)).tolist()
            comm.barrier()
            comm.all_reduce(floats([1.0]), future=True).wait()
            return held, len(lpt._comm._pending)
        self.assertEqual([(1, 0), ([2.0] * 8, 0)], run(2, body))

    def test_a_link_is_emulated(self):
        def body(comm):
            return comm.all_reduce(floats([comm.rank + 1.0] * 100)).tolist()
        self.assertEqual([[3.0] * 100] * 2, run(2, body, emulation={"link_latency_seconds": 1e-4, "link_bytes_per_second": 1e9}))
        self.assertEqual([[3.0] * 100] * 2, run(2, body, flags=lpt.capi.LPT_COMM_CHECKSUMS))
        errors = run(2, body, flags=lpt.capi.LPT_COMM_CHECKSUMS, emulation={"damaged_message": 1})
        self.assertTrue(all(isinstance(error, (lpt.Mismatch, lpt.Aborted)) for error in errors), errors)
        self.assertTrue(any(isinstance(error, lpt.Mismatch) for error in errors), errors)
        with self.assertRaisesRegex(TypeError, "emulation is 3: expected a dict of link_latency_seconds"):
            lpt.Comm.local(lpt.Group(1), 0, emulation=3)
        with self.assertRaisesRegex(TypeError, "arithmetic is not an option: expected damaged_message"):
            lpt.Comm.local(lpt.Group(1), 0, emulation={"arithmetic": "l_mul"})

    def test_a_future_that_is_dropped_in_a_callback_keeps_its_memory(self):
        # The garbage collector runs at any point: here in a call that uses the context of the thread.
        unraised, futures, context = [], [], lpt.default_context()._handle
        with lpt.Comm.local(lpt.Group(1), 0) as comm:
            futures.append(comm.all_reduce(floats([1.0] * 4), future=True))
            handle = futures[0]._handle
            note = lambda *_: futures.clear()  # noqa: E731
            hook, sys.unraisablehook = sys.unraisablehook, unraised.append
            try:
                lpt.capi.lpt_context_set_log(context, lpt.capi.LPT_LOG_LEVEL_DISPATCH, note)
                lpt.quantize(floats([1.0]), "e4m3fn")
            finally:
                lpt.capi.lpt_context_set_log(context, lpt.capi.LPT_LOG_LEVEL_NONE, None)
                sys.unraisablehook = hook
            self.assertEqual(([], []), (futures, unraised))
            self.assertIn(handle, [kept[0] for kept in lpt._comm._pending])

    def test_counts_are_one_for_each_rank(self):
        def body(comm):
            self.assertRaisesRegex(ValueError, "2 numbers: expected 1", comm.all_gather, floats([1.0]), counts=[1, 1])
        run(1, body)

    @unittest.skipUnless(shutil.which("mpirun.openmpi"), "Open MPI is not installed")
    def test_processes_of_mpi_are_ranks(self):
        if not glob.glob(os.path.join(os.environ["LPT_BUILD_DIR"], "liblpt_openmpi.so")):
            self.skipTest("liblpt_openmpi.so was not built")
        # One write per process: output of print() in several writes may interleave with that of the other process.
        code = ("import array, lpt, os; comm = lpt.Comm.mpi(timeout_seconds=30.0);"
                "total = comm.all_reduce(array.array('f', [comm.rank + 1.0])).tolist();"
                "os.write(1, f\"{comm.rank_count} {comm.values['engine']} {total}\\n\".encode())")
        environment = {**os.environ, "LPT_PLUGIN_PATH": os.environ["LPT_BUILD_DIR"], "LPT_MPI": "openmpi",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        job = subprocess.run(["mpirun.openmpi", "--oversubscribe", "--timeout", "60", "-n", "2", sys.executable, "-c", code],
                             env=environment, capture_output=True, text=True, timeout=100)
        self.assertEqual((0, 2), (job.returncode, job.stdout.count("2 openmpi [3.0]")), job.stdout + job.stderr)


if __name__ == "__main__":
    unittest.main()
