"""Topologies, and schedules of all-reduces: lists of sends, simulated times, and sums on local ranks."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

import lpt
from support import floats, run


def seconds_of(schedule, links, payload):
    """Returns the time in which every message waits for its chunks and its links, as lpt.h defines it."""
    have, free = defaultdict(float), defaultdict(float)  # (rank, chunk), link: seconds
    sends, chunks = schedule.sends(), schedule.values["chunk_count"]
    for step in range(schedule.values["step_count"]):
        arrivals = []
        for send, hops in (one for one in sends if one[0].step == step):
            names = range(send.first_chunk, send.first_chunk + send.chunk_count)
            delays = [sum(links[hop].latency_seconds for hop in hops[:i]) for i in range(len(hops) + 1)]
            start = max([have[send.source, name] for name in names] + [free[hop] - delay for hop, delay in zip(hops, delays)])
            occupied = send.chunk_count * payload / chunks / min(links[hop].bytes_per_second for hop in hops)
            for hop, delay in zip(hops, delays):
                free[hop] = start + delay + occupied
            arrivals += [((send.target, name), start + delays[-1] + occupied) for name in names]
        for place, when in arrivals:
            have[place] = max(have[place], when)
    return max(have.values())


class Schedules(unittest.TestCase):
    def test_multitree_takes_five_steps_of_a_torus(self):
        torus = lpt.Topology("torus", [4, 4], latency_seconds=1e-6, bytes_per_second=1e9)
        values = lpt.Schedule(torus).values
        self.assertEqual((5, 5, 4), (values["add_step_count"], values["copy_step_count"], values["least_step_count"]))
        self.assertEqual((16, 0, 64), tuple(torus.values[name] for name in ("rank_count", "switch_count", "link_count")))
        self.assertEqual([(0, 4), (0, 12), (0, 1), (0, 3)], [link[:2] for link in torus.links[:4]])

    def test_times_are_those_of_the_definition(self):
        topologies = [lpt.Topology("torus", [3, 4], latency_seconds=1e-6, bytes_per_second=1e9),
                      lpt.Topology("two_level", [2, 3], bytes_per_second=1e10, upper_latency_seconds=1e-3,
                                   upper_bytes_per_second=1e8)]
        for topology in topologies:
            for algorithm in ("multitree", "ring", "double_tree", "halving", "hierarchical"):
                schedule = lpt.Schedule(topology, algorithm)
                seconds, of_links = schedule.simulate(3e6)
                self.assertAlmostEqual(1.0, seconds / seconds_of(schedule, topology.links, 3e6), places=12)
                self.assertEqual(topology.values["link_count"], len(of_links))
                self.assertLessEqual(max(of_links), seconds)
                self.assertLess(seconds, schedule.simulate(3e6, reduce_bytes_per_second=1e7)[0])

    def test_lists_are_verified(self):
        graph = lpt.Topology.graph(2, [lpt.Link(0, 1), (1, 0, 1e-6)])
        sends = [(0, 0, 1, 0, 2, 0), (1, 1, 0, 0, 2, 1)]
        schedule = lpt.Schedule.from_sends(graph, 2, sends)
        self.assertEqual([(lpt.Send(*send), (i,)) for i, send in enumerate(sends)], schedule.sends())
        with self.assertRaisesRegex(lpt.InvalidArgument, "without a copy of chunk 0 for rank 0"):
            lpt.Schedule.from_sends(graph, 2, sends[:1])
        with self.assertRaisesRegex(TypeError, "sends"):
            lpt.Schedule.from_sends(graph, 2, [(0, 0, 1)])
        with self.assertRaisesRegex(lpt.InvalidArgument, "divisor"):
            lpt.Schedule(graph, "hierarchical", group_ranks=3)
        with self.assertRaisesRegex(ValueError, "out_sends has 0 bytes"):
            lpt.capi.lpt_schedule_sends(None, schedule._handle, 2, 2, bytearray(), bytearray(8), bytearray(8))

    def test_sums_on_ranks(self):
        def body(comm):
            schedule = lpt.Schedule(lpt.Topology("torus", [2, 2]))
            numbers = floats([float(comm.rank + 1)] * 100)
            total = schedule.all_reduce(comm, numbers)
            mean = schedule.all_reduce(comm, numbers, future=True, reduction="average").wait()
            return total.tolist(), mean.tolist()
        for found in run(4, body):
            self.assertEqual(([10.0] * 100, [2.5] * 100), found)

    def test_the_picture_of_the_documentation_is_that_of_the_sample(self):
        root = pathlib.Path(os.environ["LPT_SOURCE_DIR"])
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder, "schedules.svg")
            command = [sys.executable, root / "samples/python/schedules.py", "--svg", picture]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            self.assertIn("multitree         10", done.stdout)
            expected = (root / "docs/_static/schedules.svg").read_text(encoding="utf-8")
            self.assertEqual(expected, picture.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
