"""Stochastic rounding in numpy, from docs/reference/numerics.md: vectorized Philox4x32, and elements rounded with its bits."""
import numpy as np

import make_gfloat_golden
import make_golden

QUANTIZE_ROOM = 1 << 28  # the upper four bits of a stream; the site of lpt_random is above the lowest four
F32 = np.float32


def philox(counters, key, rounds):
    """Returns four arrays of 32-bit words in uint64. `key` is two words."""
    words = counters
    for _ in range(rounds):
        left, right = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        low = np.uint64(0xFFFFFFFF)
        words = [
            (right >> np.uint64(32)) ^ words[1] ^ np.uint64(key[0]), right & low,
            (left >> np.uint64(32)) ^ words[3] ^ np.uint64(key[1]), left & low,
        ]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(words, axis=-1)


class Random:
    """The fields of lpt_random and of the options of a cast."""

    def __init__(self, seed, offset, stream, step, rounds, bits):
        self.seed, self.offset, self.stream, self.step = seed, offset, stream, step
        self.rounds, self.bits = rounds, bits

    def __str__(self):
        return f"{self.seed}:{self.offset}:{self.stream}:{self.step}:{self.rounds}:{self.bits}"

    def draw(self, count):
        """Returns the bits of elements 0 to count of a tensor with contiguous rows."""
        index = np.arange(self.offset, self.offset + count, dtype=np.uint64)
        place = index % np.uint64(128 // self.bits)
        block = index // np.uint64(128 // self.bits)
        stream = np.full(count, QUANTIZE_ROOM | self.stream << 4, np.uint64)
        counters = [block & np.uint64(0xFFFFFFFF), block >> np.uint64(32), stream, np.full(count, self.step, np.uint64)]
        words = philox(counters, [self.seed & 0xFFFFFFFF, self.seed >> 32], self.rounds)
        per_word = np.uint64(32 // self.bits)
        word = words[np.arange(count), (place // per_word).astype(np.int64)]
        return word >> (place % per_word * np.uint64(self.bits)) & np.uint64((1 << self.bits) - 1)


ELEMENTS = {element.name: element for element in [*make_golden.ELEMENTS, make_gfloat_golden.E3M0]}
STORED_MANTISSA_BITS = {
    "f16": 10, "bf16": 7, "e4m3fn": 3, "e4m3": 3, "e4m3fnuz": 3, "e4m3b11fnuz": 3, "e5m2": 2, "e5m2fnuz": 2, "e3m4": 4,
    "e3m2fn": 2, "e2m3fn": 3, "e2m1fn": 1, "e3m0": 0,
}  # fmt: skip


def stochastic_integers(values, bits, random_bits, power):
    """Returns each |value| as an integer multiple of 2^power, rounded by its random bits. `power` is an array too."""
    magnitude = np.abs(values.astype(np.float64))
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, -126)
    significand = np.ldexp(magnitude, 23 - exponent).astype(np.uint64)
    below = power - (exponent - 23)  # bits of the significand below the last place
    dropped = np.clip(below, 0, 60).astype(np.uint64)  # of 24 bits and 17 more no bit remains
    whole = significand >> dropped
    rest = significand - (whole << dropped)
    fraction = rest << np.uint64(bits + 1) >> dropped
    goes_up = fraction + np.uint64(2) * random_bits + np.uint64(1) >= np.uint64(1 << (bits + 1))
    exact = np.ldexp(magnitude, -np.minimum(power, 200))
    return np.where(below <= 0, exact, (whole + goes_up).astype(np.float64))


def codes(values, element_name, random, is_underflow_alone=False, draws=None):
    """Returns saturating codes of f32 values. NaN is encoded as the element defines it."""
    element = ELEMENTS[element_name]
    draws = random.draw(len(values)) if draws is None else draws
    is_finite = np.isfinite(values)
    finite = np.where(is_finite, values, F32(0))
    magnitudes = element.decode(np.arange(element.largest_code + 1)).astype(np.float64)
    exponent = np.frexp(np.abs(finite.astype(np.float64)))[1] - 1
    step = int(np.frexp(magnitudes[1])[1]) - 1  # the smallest value is 2^step
    mantissa_bits = STORED_MANTISSA_BITS.get(element_name)
    power = np.full(len(values), step) if mantissa_bits is None else np.maximum(exponent - mantissa_bits, step)
    rounded = np.ldexp(stochastic_integers(finite, random.bits, draws, power), power)
    rounded = np.copysign(np.minimum(np.where(is_finite, rounded, np.inf), magnitudes[-1]), values)
    if is_underflow_alone:
        rounded = np.where(np.abs(values) < magnitudes[1], rounded, np.clip(values, -magnitudes[-1], magnitudes[-1]))
    return element.encode(np.where(np.isnan(values), np.nan, rounded).astype(np.float32))
