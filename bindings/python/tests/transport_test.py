"""Communicators over a transport in Python: results, optional functions, failures, and the end of a comm."""
import collections
import threading
import unittest

import lpt
from support import floats, needs_numpy


class Mailboxes:
    """Messages of ranks that are threads, by sender, receiver and tag."""

    def __init__(self, rank_count):
        self.rank_count, self.lock = rank_count, threading.Lock()
        self.messages = collections.defaultdict(collections.deque)
        self.barrier, self.shared = threading.Barrier(rank_count), [None] * rank_count


class Transport:
    """send(), receive(), test() and cancel() over mailboxes."""

    name = "mailboxes"

    def __init__(self, boxes, rank):
        self.boxes, self.rank, self.calls = boxes, rank, collections.Counter()

    def send(self, peer, tag, data):
        self.calls["send"] += 1
        with self.boxes.lock:
            self.boxes.messages[self.rank, peer, tag].append(bytes(data))

    def receive(self, peer, tag, data):
        self.calls["receive"] += 1
        return (peer, self.rank, tag), data

    def test(self, request):
        key, data = request
        with self.boxes.lock:
            if not self.boxes.messages[key]:
                return False
            data[:] = self.boxes.messages[key].popleft()
        return True

    def cancel(self, request):
        self.calls["cancel"] += 1

    def close(self):
        self.calls["close"] += 1


class Exchanging(Transport):
    """With the optional functions; every rank reads the views of the others between two barriers."""

    def exchange(self, outgoing, incoming, timeout_seconds):
        self.calls["exchange"] += 1
        self.boxes.shared[self.rank] = outgoing
        self.boxes.barrier.wait(timeout_seconds)
        for peer, view in enumerate(incoming):
            if peer != self.rank:
                view[:] = self.boxes.shared[peer][self.rank]
        self.boxes.barrier.wait(timeout_seconds)

    def all_reduce(self, source, target, format, reduction, timeout_seconds):
        self.calls["all_reduce"] += 1
        self.boxes.shared[self.rank] = source.cast("f").tolist()
        self.boxes.barrier.wait(timeout_seconds)
        sums = [sum(numbers) for numbers in zip(*self.boxes.shared)]
        self.boxes.barrier.wait(timeout_seconds)
        target.cast("f")[:] = floats(sums)
        assert (format, reduction) == ("f32", "sum")

    def abort(self):
        self.boxes.barrier.abort()


def run(kind, rank_count, body, **options):
    """Call body(comm) on one thread for each rank; return the results or exceptions, and the transports."""
    boxes, results = Mailboxes(rank_count), [None] * rank_count
    transports = [kind(boxes, rank) for rank in range(rank_count)]

    def work(rank):
        try:
            lpt.set_default_context(lpt.Context(1))
            with lpt.Comm.custom(transports[rank], rank, rank_count, **{"timeout_seconds": 20.0, **options}) as comm:
                results[rank] = body(comm)
        except Exception as error:  # the test checks it
            results[rank] = error
    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(rank_count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, transports


def collectives(comm):
    own = floats([float(comm.rank + i % 5) for i in range(600)], [6, 100])
    later = comm.all_reduce(own, wire="e4m3fn_row", future=True)
    part = comm.split(comm.rank % 2)
    return (comm.all_reduce(own).tolist(), comm.all_gather(floats([comm.rank + 1.0], [1, 1])).tolist(),
            comm.reduce_scatter(own).tolist(), part.all_reduce(own).tolist(), later.wait().tolist(), comm.values["engine"])


class Transports(unittest.TestCase):
    def test_have_the_bits_of_local_ranks(self):
        group, expected = lpt.Group(3), [None] * 3

        def work(rank):
            with lpt.Comm.local(group, rank, timeout_seconds=20.0) as comm:
                expected[rank] = collectives(comm)[:-1]
        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for kind in (Transport, Exchanging):
            results, transports = run(kind, 3, collectives)
            self.assertEqual([one + ("mailboxes",) for one in expected], results)
            for transport in transports:
                self.assertEqual(1, transport.calls["close"])
                self.assertGreater(transport.calls["send"], 0)
                self.assertEqual(kind is Exchanging, transport.calls["exchange"] > 0)

    def test_reduce_by_a_function_of_the_transport(self):
        def body(comm):
            return comm.all_reduce(floats([comm.rank + 1.0, 0.5]), algorithm="native").tolist()
        results, transports = run(Exchanging, 2, body)
        self.assertEqual([[3.0, 1.0]] * 2, results)
        self.assertEqual([1, 1], [transport.calls["all_reduce"] for transport in transports])

    @needs_numpy
    def test_share_memory_with_numpy(self):
        import numpy

        class Arrays(Transport):
            def receive(self, peer, tag, data):
                return super().receive(peer, tag, numpy.asarray(data))

            def test(self, request):
                key, data = request
                with self.boxes.lock:
                    if not self.boxes.messages[key]:
                        return False
                    data[:] = numpy.frombuffer(self.boxes.messages[key].popleft(), numpy.uint8)
                return True
        results, _ = run(Arrays, 2, lambda comm: comm.all_reduce(floats([1.0, 2.0])).tolist())
        self.assertEqual([[2.0, 4.0]] * 2, results)

    def test_may_only_exchange(self):
        class Alone:
            name, exchange, abort = "alone", Exchanging.exchange, Exchanging.abort

            def __init__(self, boxes, rank):
                self.boxes, self.rank, self.calls = boxes, rank, collections.Counter()
        results, _ = run(Alone, 3, lambda comm: comm.all_reduce(floats([comm.rank + 1.0])).tolist())
        self.assertEqual([[6.0]] * 3, results)

    def test_one_rank_needs_no_message(self):
        results, transports = run(Transport, 1, lambda comm: comm.all_reduce(floats([3.0])).tolist())
        self.assertEqual([[3.0]], results)
        self.assertEqual({"close": 1}, dict(transports[0].calls))


class Failures(unittest.TestCase):
    def test_exceptions_become_errors_of_the_collective(self):
        class Broken(Transport):
            def send(self, peer, tag, data):
                if self.rank == 1 and self.calls["send"] == 12:
                    raise KeyError("no\nroute")
                super().send(peer, tag, data)

        def body(comm):
            for _ in range(100):
                comm.all_reduce(floats([1.0]))
        results, transports = run(Broken, 2, body, timeout_seconds=2.0)
        self.assertIsInstance(results[1], lpt.Aborted)
        self.assertIn(r"KeyError: 'no\nroute'", str(results[1]))
        self.assertIsInstance(results[0], (lpt.Aborted, lpt.Timeout))
        self.assertEqual([1, 1], [transport.calls["close"] for transport in transports])

    def test_timeouts_keep_their_kind(self):
        class Late(Transport):
            def test(self, request):
                if self.rank == 0:
                    raise TimeoutError("no answer")
                return super().test(request)
        results, _ = run(Late, 2, lambda comm: None)
        self.assertIsInstance(results[0], lpt.Timeout)
        self.assertIn("functions->test failed: TimeoutError: no answer", str(results[0]))

    def test_transports_without_a_method_are_rejected(self):
        with self.assertRaisesRegex(TypeError, r"transport is object, without send\(\): expected"):
            lpt.Comm.custom(object(), 0, 2)
        boxes = Mailboxes(2)
        for rank, name, text in ((2, "fine", "rank is 2"), (0, "", "name"), (0, "x" * 32, "name")):
            transport = Transport(boxes, 0)
            transport.name = name
            with self.assertRaisesRegex(lpt.InvalidArgument, text):
                lpt.Comm.custom(transport, rank, 2)
            self.assertEqual(1, transport.calls["close"])


if __name__ == "__main__":
    unittest.main()
