"""Lossy links: averages of what arrives, parameters with ages, and rejected arguments."""
import unittest
from array import array

import lpt
from support import run


class LossyLinks(unittest.TestCase):
    def test_averages_have_what_arrives(self):
        def body(comm):
            link = lpt.LossyLink(comm, payload_bytes=8, injected_loss=0.5, seed=3, address="127.0.0.1")
            x = array("f", [comm.rank + 1.0] * 240)
            results = []
            for mode, loss in (("count", None), ("horvitz_thompson", [0.5] * 3), ("horvitz_thompson", None)):
                arrivals = bytearray(40 * 3)  # 80 floats of this rank are 40 packets
                before = [None if q == comm.rank else link.statistics(q) for q in range(3)]
                found = link.reduce_scatter(x, mode=mode, loss=loss, arrivals=arrivals)
                results.append((mode, loss, before, bytes(arrivals), memoryview(found).tolist()))
            return results, link.statistics()

        for rank, (results, statistics) in enumerate(run(3, body)):
            for mode, loss, before, arrivals, found in results:
                for k in range(40):
                    here = arrivals[3 * k:3 * k + 3]
                    self.assertEqual(1, here[rank])
                    if mode == "count":
                        expected = sum(q + 1.0 for q in range(3) if here[q]) / sum(here)
                    else:
                        def weight(q):
                            if q == rank:
                                return 1.0
                            lost, received = before[q]["lost_count"], before[q]["received_count"]
                            return 1.0 / (1.0 - (loss[q] if loss else lost / (lost + received + 1)))
                        expected = sum((q + 1.0) * weight(q) for q in range(3) if here[q]) / 3
                    for one in found[2 * k:2 * k + 2]:
                        self.assertLessEqual(abs(one - expected), 5 * 2.0 ** -24 * expected)  # five roundings to f32
            missing = sum(arrivals.count(0) for _, _, _, arrivals, _ in results)
            self.assertEqual(missing, statistics["lost_count"])
            self.assertEqual(240, statistics["lost_count"] + statistics["received_count"])

    def test_parameters_keep_lost_values(self):
        def body(comm):
            link = lpt.LossyLink(comm, payload_bytes=16, injected_loss=0.5)
            out, ages, seen = array("d", [-1.0] * 40), array("i", [0] * 20), []
            for call in range(1, 5):
                link.all_gather(array("d", [100.0 * comm.rank + call] * 20), out, ages=ages)
                seen.append((list(out), list(ages)))
            return seen

        for rank, seen in enumerate(run(2, body)):
            for call, (out, ages) in enumerate(seen, 1):
                for i, value in enumerate(out):
                    age = ages[i // 2]
                    self.assertEqual(-1.0 if age == call else 100.0 * (i // 20) + call - age, value)
                self.assertEqual([0] * 10, ages[10 * rank:10 * rank + 10])

    def test_wrong_arguments(self):
        def body(comm):
            link = lpt.LossyLink(comm)
            x = array("f", [1.0] * 4)
            self.assertRaisesRegex(ValueError, "loss has 1 numbers: expected 2", link.reduce_scatter, x, mode="horvitz_thompson",
                                   loss=[0.1])
            self.assertRaisesRegex(ValueError, 'mode is "mean"', link.reduce_scatter, x, mode="mean")
            self.assertRaisesRegex(ValueError, "arrival_count is 3: expected 2", link.reduce_scatter, x, arrivals=bytearray(3))
            self.assertRaisesRegex(ValueError, "age_count is 1: expected 2", link.all_gather, x, array("f", [0.0] * 8),
                                   ages=array("i", [0]))
            self.assertRaisesRegex(ValueError, "counts has 3 numbers: expected 2", lpt.capi.lpt_lossy_all_gather, None,
                                   link._handle, lpt.empty((2,), "f32"), [1, 2, 3], 0, lpt.empty((4,), "f32"), None)
            self.assertRaisesRegex(ValueError, "peer is 7", link.statistics, 7)
            return True

        self.assertEqual([True, True], run(2, body))
        self.assertRaisesRegex(ValueError, "loss is 1", lpt.lossy_estimate, 1.0, 4)

    def test_estimate(self):
        self.assertAlmostEqual(1.1111, lpt.lossy_estimate(0.1, 64)["owner_weight"], 4)
        self.assertAlmostEqual(2 * 0.1 / (1 - 0.01), lpt.lossy_estimate(0.1, 64)["drift"], 12)


if __name__ == "__main__":
    unittest.main()
