"""Blocks of f32 values that a C++ test can generate bit for bit from integers, powers of two, and single scaled f32 values.

Words are outputs of splitmix64. splitmix64(seed, i) is output i, counted from 0, of the generator seeded with `seed`.

A class of MX blocks, number c in MX_CLASSES, has blocks of 32. Block b takes 33 words of seed 1000 + c, from word 33·b
on: the head h, then one draw d for each element.

A class of NVFP4 tensors, number c in NVFP4_CLASSES, has tensors of 1024 blocks of 16. Tensor t takes 1 + 1024·17 words
of seed 2000 + c, from word (1 + 1024·17)·t on: the tensor's head H, then for each block the head h and 16 draws.

Derived from words ((w >> a) & m always uses the unsigned word):
    sign(d)              d >> 63
    mantissa(w)          (w >> 40) & 0x7FFFFF
    near(d, base, mask)  the f32 of sign(d), exponent field max(base - ((d >> 8) & mask), 0), mantissa(d)
    gauss(d, factor)     s · factor, one f32 product; s = the sum of the four 16-bit parts of d, minus 131070
    factor(w, field)     the positive f32 of this exponent field and mantissa(w)
    power(field)         the positive f32 of this exponent field and mantissa 0
    pick(w, low, high)   low + (w & 0xFFFF) mod (high - low + 1)
    place                index in a block: (h >> 16) & 31 in MX, (h >> 16) & 15 in NVFP4

MX classes, with blocks of:
    ordinary   gauss(d, factor(h, pick(h, 91, 131)))
    wide       gauss(d, factor(h, pick(h, 11, 235)))
    near       near(d, pick(h, 20, 254), 15)
    bits       the bits d >> 32; where the exponent field is 255, bit 30 is cleared
    tiny       near(d, pick(h, 0, 31), 3)
    outlier    as ordinary; the element at `place` is then multiplied, in f32, by power(128 + ((h >> 24) & 15))
    sparse     near(d, pick(h, 100, 150), 7) where (d & 7) = 0 and ((h >> 32) & 3) != 0, else a zero of sign(d)
    ties       ((d & 511) - 256) · power(pick(h, 97, 157)), exact
    edges      base = pick(h, 30, 250); near(d, base - 1, 7); the element at `place` has the sign of its draw and the
               bits ((base << 23) | EDGES[((h >> 24) & 255) mod 5]) + ((h >> 32) & 7) - 4
    infinity   near(d, pick(h, 20, 250), 7); where ((h >> 32) & 1) = 1, infinity of sign(d) at `place` and where
               (d & 15) = 0
    nan        as infinity; then, where ((h >> 33) & 1) = 1, the element at `place` becomes the NaN of the bits
               sign(d), 0x7FC00000, mantissa(d)

NVFP4 classes, with base = pick(H, 60, 180) except in tiny:
    ordinary   gauss(d, factor(h, base - (h & 3)))
    wide       gauss(d, factor(h, base - (h & 31) mod 24))
    near       near(d, base - (h & 7), 7)
    sparse     near(d, base - (h & 7), 7) where (d & 7) = 0 and ((h >> 32) & 3) != 0, else a zero of sign(d)
    ties       (d mod 49 - 24) · S / 4 · power(base), exact, where S is the e4m3fn value of the code
               8 + ((h >> 8) & 127) mod 119; the first element of each block is 6 · S · power(base), and that of the
               tensor 2688 · power(base)
    edges      near(d, base - 11, 7); then the first element of each block has the bits of 6 · middle · power(base),
               exact, plus ((h >> 32) & 7) - 4, where middle is halfway between the e4m3fn codes s and s + 1,
               s = 8 + ((h >> 8) & 127) mod 118; the first element of the tensor is 2688 · power(base)
    tiny       base = pick(H, 0, 31); near(d, max(base - (h & 3), 0), 3)
    infinity   near(d, base - (h & 7), 7); where ((h >> 32) & 3) = 0, infinity of sign(d) at `place`
    nan        as infinity; then, where ((h >> 32) & 7) = 4, the element at `place` becomes the NaN of sign(d),
               0x7FC00000, mantissa(d)
    reciprocal values near ties of a division by t = A / 2688, one f32 division, where A = factor(H, base): the bits of
               (TIES[((d >> 8) & 255) mod 7] · S) · t plus ((d >> 32) & 3) - 1, with sign(d), S as in ties, the product
               in brackets exact, the other one f32 product; the first element of each block is positive and has
               6 · middle of edges in the brackets; the first element of the tensor is A
"""
import ml_dtypes
import numpy as np

import golden

MX_CLASSES = {
    "ordinary": 65536, "wide": 65536, "near": 65536, "bits": 16384, "tiny": 16384, "outlier": 16384, "sparse": 16384,
    "ties": 16384, "edges": 16384, "infinity": 16384, "nan": 16384,
}  # fmt: skip
NVFP4_CLASSES = {
    "ordinary": 512, "wide": 32, "near": 32, "sparse": 32, "ties": 32, "edges": 32, "tiny": 32, "infinity": 32,
    "nan": 32, "reciprocal": 2,
}  # fmt: skip
EDGES = np.array([0x000000, 0x400000, 0x600000, 0x700000, 0x780000], np.uint64)
TIES = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5], np.float32)
SCALES = np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
BLOCKS_OF_TENSOR = 1024


def u64(value):
    return np.uint64(value)


def part(word, shift, mask):
    return (word >> u64(shift)) & u64(mask)


def sign(word):
    return (word >> u64(63)) << u64(31)


def mantissa(word):
    return part(word, 40, 0x7FFFFF)


def floats(bits):
    return np.asarray(bits).astype(np.uint32).view(np.float32)


def near(draws, base, mask):
    field = np.maximum(np.asarray(base).astype(np.int64) - part(draws, 8, mask).astype(np.int64), 0)
    return floats(sign(draws) | field.astype(np.uint64) << u64(23) | mantissa(draws))


def gauss(draws, factors):
    total = sum(part(draws, shift, 0xFFFF).astype(np.int64) for shift in (0, 16, 32, 48)) - 131070
    return total.astype(np.float32) * factors


def power(field):
    return floats(np.asarray(field).astype(np.uint64) << u64(23))


def factor(words, field):
    return floats(np.asarray(field).astype(np.uint64) << u64(23) | mantissa(words))


def pick(words, low, high):
    return u64(low) + part(words, 0, 0xFFFF) % u64(high - low + 1)


def is_at_place(heads, draws):
    return np.arange(draws.shape[-1], dtype=np.uint64) == part(heads, 16, draws.shape[-1] - 1)


def infinities(draws):
    return floats(sign(draws) | u64(0x7F800000))


def nans(draws):
    return floats(sign(draws) | u64(0x7FC00000) | mantissa(draws))


def mx_blocks(name):
    """Returns blocks × 32 values. Heads are a column, so that they combine with each draw of their block."""
    count = MX_CLASSES[name]
    words = golden.splitmix64(1000 + list(MX_CLASSES).index(name), count * 33).reshape(count, 33)
    heads, draws = words[:, :1], words[:, 1:]
    place = is_at_place(heads, draws)
    if name in ("ordinary", "outlier"):
        values = gauss(draws, factor(heads, pick(heads, 91, 131)))
        outliers = values * power(u64(128) + part(heads, 24, 15))
        return np.where(place, outliers, values) if name == "outlier" else values
    if name == "wide":
        return gauss(draws, factor(heads, pick(heads, 11, 235)))
    if name == "near":
        return near(draws, pick(heads, 20, 254), 15)
    if name == "bits":
        bits = draws >> u64(32)
        return floats(np.where(part(bits, 23, 255) == 255, bits & u64(0xBFFFFFFF), bits))
    if name == "tiny":
        return near(draws, pick(heads, 0, 31), 3)
    if name == "sparse":
        is_kept = ((draws & u64(7)) == 0) & (part(heads, 32, 3) != 0)
        return np.where(is_kept, near(draws, pick(heads, 100, 150), 7), floats(sign(draws)))
    if name == "ties":
        return (part(draws, 0, 511).astype(np.int64) - 256).astype(np.float32) * power(pick(heads, 97, 157))
    if name == "edges":
        base = pick(heads, 30, 250)
        edge = (base << u64(23) | EDGES[part(heads, 24, 255) % u64(5)]) + part(heads, 32, 7) - u64(4)
        return np.where(place, floats(sign(draws) | edge), near(draws, base - u64(1), 7))
    values = near(draws, pick(heads, 20, 250), 7)
    is_infinite = (part(heads, 32, 1) == 1) & (place | (part(draws, 0, 15) == 0))
    values = np.where(is_infinite, infinities(draws), values)
    return np.where(place & (part(heads, 33, 1) == 1), nans(draws), values) if name == "nan" else values


def nvfp4_tensors(name):
    """Returns tensors × 1024 × 16 values."""
    count = NVFP4_CLASSES[name]
    words = golden.splitmix64(2000 + list(NVFP4_CLASSES).index(name), count * (1 + BLOCKS_OF_TENSOR * 17))
    words = words.reshape(count, -1)
    tensor_heads = words[:, :1, np.newaxis]
    words = words[:, 1:].reshape(count, BLOCKS_OF_TENSOR, 17)
    heads, draws = words[..., :1], words[..., 1:]
    base = (pick(tensor_heads, 0, 31) if name == "tiny" else pick(tensor_heads, 60, 180)).astype(np.int64)
    if name == "ordinary":
        return gauss(draws, factor(heads, base - part(heads, 0, 3).astype(np.int64)))
    if name == "wide":
        return gauss(draws, factor(heads, base - (part(heads, 0, 31) % u64(24)).astype(np.int64)))
    if name == "tiny":
        return near(draws, np.maximum(base - part(heads, 0, 3).astype(np.int64), 0), 3)
    if name in ("ties", "edges"):
        return nvfp4_boundaries(name, heads, draws, base)
    if name == "reciprocal":
        return nvfp4_reciprocal(tensor_heads, heads, draws, base)
    values = near(draws, base - part(heads, 0, 7).astype(np.int64), 7)
    if name == "sparse":
        is_kept = ((draws & u64(7)) == 0) & (part(heads, 32, 3) != 0)
        return np.where(is_kept, values, floats(sign(draws)))
    place = is_at_place(heads, draws)
    if name in ("infinity", "nan"):
        values = np.where(place & (part(heads, 32, 3) == 0), infinities(draws), values)
    return np.where(place & (part(heads, 32, 7) == 4), nans(draws), values) if name == "nan" else values


def tie_scales(heads):
    """Returns S of the class ties."""
    return SCALES[u64(8) + part(heads, 8, 127) % u64(119)]


def six_middles(heads):
    """Returns 6 · middle of the class edges, exact."""
    code = u64(8) + part(heads, 8, 127) % u64(118)
    return np.float32(6) * ((SCALES[code] + SCALES[code + u64(1)]) / np.float32(2))


def nudged(values, steps):
    return floats(values.view(np.uint32).astype(np.int64) + steps)


def nvfp4_boundaries(name, heads, draws, base):
    if name == "ties":
        steps = (draws % u64(49)).astype(np.int64) - 24
        values = steps.astype(np.float32) * (tie_scales(heads) / np.float32(4)) * power(base)
        values[..., 0] = (np.float32(6) * tie_scales(heads) * power(base))[..., 0]
    else:
        values = near(draws, base - 11, 7)
        edge = nudged(six_middles(heads) * power(base), part(heads, 32, 7).astype(np.int64) - 4)
        values[..., 0] = edge[..., 0]
    values[:, 0, 0] = (np.float32(2688) * power(base))[:, 0, 0]
    return values


def nvfp4_reciprocal(tensor_heads, heads, draws, base):
    amax = factor(tensor_heads, base)
    scale = amax / np.float32(2688)
    scaled = TIES[part(draws, 8, 255) % u64(7)] * tie_scales(heads)
    scaled[..., 0] = six_middles(heads)[..., 0]
    values = nudged(scaled * scale, part(draws, 32, 3).astype(np.int64) - 1)
    values[..., 1:] = floats(values[..., 1:].view(np.uint32) | sign(draws[..., 1:]))
    values[:, 0, 0] = amax[:, 0, 0]
    return values
