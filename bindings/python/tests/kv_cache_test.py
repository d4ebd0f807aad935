"""The store of keys and values, compared with NumPy."""
import unittest

import lpt
from support import needs_numpy


class KVCache(unittest.TestCase):
    @needs_numpy
    def test_stores_rows_that_attention_reads(self):
        import numpy as np
        generator = np.random.default_rng(1)
        keys, values = (generator.normal(size=(2, 5, 3, 8)).astype(np.float32) for _ in range(2))  # positions before heads
        views = [one.transpose(0, 2, 1, 3) for one in (keys, values)]
        cache = lpt.KVCache(3, 7, 8, batches=2, key_format="int8_row", value_format="bf16", key_scale_rule="power_of_two")
        cache.append(*[one[:, :, :2] for one in views])
        cache.append(*[one[:, :, 2:] for one in views], [1, 3])
        self.assertEqual([3, 5], cache.lengths.tolist())
        self.assertEqual(((2, 3, 7, 8), "int8_row", "bf16"), (cache.keys.shape, cache.keys.format, cache.values.format))
        self.assertEqual(2 * 3 * 7 * (8 + 4 + 16), cache.nbytes)
        # The definition of the scale: the smallest power of two that is at least amax / 127.
        scale = 2.0 ** np.ceil(np.log2(np.abs(views[0]).max(axis=-1, keepdims=True) / 127.0))
        rounded = np.round(views[0] / scale) * scale
        query = generator.normal(size=(2, 6, 1, 8)).astype(np.float32)
        output = np.asarray(lpt.attention(query, cache.keys, cache.values, key_lengths=cache.lengths))
        for batch, positions in enumerate(([0, 1, 4], range(5))):
            for head in range(6):
                key, value = (one[batch, head // 2, positions] for one in (rounded, views[1]))
                weights = np.exp(query[batch, head] @ key.T / np.sqrt(8.0))
                expected = weights @ value / weights.sum()
                # bf16 values have an error of 2^-9 of their magnitude, and so have probabilities.
                self.assertLess(np.abs(expected - output[batch, head]).max(), 2.0 ** -8 * np.abs(value).max())
        before = np.asarray(lpt.dequantize(cache.keys))
        cache.select([1, 1])
        self.assertEqual([5, 5], cache.lengths.tolist())
        np.testing.assert_array_equal(before[1, :, :5], np.asarray(lpt.dequantize(cache.keys))[0, :, :5])
        cache.truncate([4, 0])
        self.assertEqual([4, 0], cache.lengths.tolist())
        with self.assertRaisesRegex(lpt.InvalidArgument, r"batch 0 has 4 of 7 positions, expected at most 3"):
            cache.append(*views)
        with self.assertRaisesRegex(TypeError, "counts is 1.5: expected int32 or int64, or a sequence"):
            cache.append(*views, 1.5)
        cache.truncate()
        self.assertEqual([0, 0], cache.lengths.tolist())
        self.assertTrue(memoryview(cache.lengths).readonly)
