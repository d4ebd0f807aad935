#!/usr/bin/env python3
"""Makes tests/golden/formats from ml_dtypes and numpy, which share no code with LPT.

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6
    golden-venv/bin/python tools/make_golden.py                # all but all_floats.csv; a minute
    golden-venv/bin/python tools/make_golden.py --all-floats   # all_floats.csv alone; some minutes

<element>.csv    every code of an element of at most 8 bits: code, and the bits of its value in f32. A NaN is 7fc00000 with
                 the sign of the code; the NaN of an fnuz element has none.
digests.csv      the codes of a set of f32 values in an element, to nearest even, overflow to infinity: one digest for
                 each set and element. The set "codes" decodes: all codes of a 16-bit element, as f32 bits.
random_bits.csv  the random bits of some elements: Philox4x32 from its definition (Salmon et al., SC 2011).
all_floats.csv   like digests.csv, for all 2^32 values in the order of their bits.

tools/golden.py documents the digest.

The sets:
    bf16       all bf16 values in the order of their codes; f16 has the same form
    midpoints  for each code from zero to the largest finite one, the value halfway to the next code: the f32 before
               it, itself, and the f32 after it; then all of these negated. The code after the largest finite one has
               the value that continues the sequence.
    random     10 million f32 whose bits are the high halves of splitmix64 outputs, seed 1

Where LPT differs, the script writes the result of LPT:
    NaN        any NaN code counts as the positive one that LPT writes (of an fnuz element: its only one); an element
               without NaN gives code 0 (ml_dtypes: -0 in e2m1fn, e2m3fn, e3m2fn)
    e8m0fnu    zero of either sign gives code 0, which is 2^-127, because a scale of zeros must be a number (ml_dtypes:
               NaN)
    integers   rint of numpy, saturated symmetrically: -127 ... 127 for int8, and the same for int16, int4, int3, int2;
               uint4 to 0 ... 15 (ml_dtypes truncates int4, int2 and uint4 with wraparound, and has no int3). A ternary
               element is an int2: its codes are 0, 1 and 3 for 0, 1 and -1.
    q1_6       the element of MXINT8, int8 in units of 1/64: rint of 64 times the value, saturated to -127 ... 127
"""
import argparse

import ml_dtypes
import numpy as np

import golden
from golden import digest_of

PACKAGES = ["ml_dtypes", "numpy"]


class Element:
    def __init__(self, name, dtype, bits, nan_code, largest_code):
        self.name, self.dtype, self.bits = name, dtype, bits
        self.nan_code, self.largest_code = nan_code, largest_code
        self.code_type = np.dtype("<u2" if bits == 16 else "u1")

    def encode(self, values):
        is_nan = np.isnan(values)
        codes = np.where(is_nan, self.nan_code, values.astype(self.dtype).view(self.code_type))
        if self.name == "e8m0fnu":
            codes = np.where(values == 0, 0, codes)
        elif self.name == "e4m3fn":  # overflow gives a NaN with the sign of the value
            codes = np.where(codes == 0xFF, self.nan_code, codes)
        return codes.astype(self.code_type)

    def decode(self, codes):
        values = codes.astype(self.code_type).view(self.dtype).astype(np.float32)
        return np.where(np.isnan(values), np.float32(np.nan), values) if self.name.endswith("fnuz") else values


class Integer(Element):
    """Counts units of 1 / per_one. numpy rounds; ml_dtypes decodes codes of less than 8 bits."""

    def __init__(self, name, dtype, bits, per_one=1):
        is_signed = not name.startswith("u")
        self.largest = (1 << (bits - is_signed)) - 1
        self.smallest = -self.largest if is_signed else 0
        self.per_one = np.float32(per_one)
        super().__init__(name, dtype, bits, 0, self.largest)

    def encode(self, values):
        finite = np.where(np.isnan(values), np.float32(0), values)
        units = np.clip(np.rint(finite * self.per_one), self.smallest, self.largest).astype(np.int32)
        return (units & ((1 << self.bits) - 1)).astype(self.code_type)

    def decode(self, codes):
        if self.bits == 3:  # no type of ml_dtypes: extends the sign
            return ((codes << 5).astype(np.int8) >> 5).astype(np.float32)
        return super().decode(codes) / self.per_one


ELEMENTS = [
    Element("f16", np.float16, 16, 0x7E00, 0x7BFF),
    Element("bf16", ml_dtypes.bfloat16, 16, 0x7FC0, 0x7F7F),
    Element("e4m3fn", ml_dtypes.float8_e4m3fn, 8, 0x7F, 0x7E),
    Element("e4m3", ml_dtypes.float8_e4m3, 8, 0x7C, 0x77),
    Element("e5m2", ml_dtypes.float8_e5m2, 8, 0x7E, 0x7B),
    Element("e2m1fn", ml_dtypes.float4_e2m1fn, 4, 0, 0x7),
    Element("e8m0fnu", ml_dtypes.float8_e8m0fnu, 8, 0xFF, 0xFE),
    Integer("int8", np.int8, 8),
    Element("e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 8, 0x80, 0x7F),
    Element("e5m2fnuz", ml_dtypes.float8_e5m2fnuz, 8, 0x80, 0x7F),
    Element("e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz, 8, 0x80, 0x7F),
    Element("e3m4", ml_dtypes.float8_e3m4, 8, 0x78, 0x6F),
    Element("e3m2fn", ml_dtypes.float6_e3m2fn, 6, 0, 0x1F),
    Element("e2m3fn", ml_dtypes.float6_e2m3fn, 6, 0, 0x1F),
    Integer("int16", np.int16, 16),
    Integer("q1_6", np.int8, 8, 64),
    Integer("int4", ml_dtypes.int4, 4),
    Integer("uint4", ml_dtypes.uint4, 4),
    Integer("int2", ml_dtypes.int2, 2),
    Integer("int3", np.int8, 3),
]


def bf16_values():
    return np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16).astype(np.float32)


def f16_values():
    return np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)


def midpoints(element):
    codes = np.arange(element.largest_code + 1)
    values = element.decode(codes).astype(np.float64)
    # Adds one more step of the last size. e8m0fnu has no mantissa, so its next step is twice as wide.
    after = 2 * values[-1] - (0 if element.name == "e8m0fnu" else values[-2])
    return golden.around((values + np.append(values[1:], after)) / 2)


def philox4x32(counter, key, rounds):
    for _ in range(rounds):
        left, right = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (right >> 32) ^ counter[1] ^ key[0], right & 0xFFFFFFFF,
            (left >> 32) ^ counter[3] ^ key[1], left & 0xFFFFFFFF,
        ]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def random_bits(seed, stream, step, rounds, bits, index):
    """Returns the bits of element `index`: those from bits · (index mod n), of the n = 128 / bits elements of its block."""
    per_block = 128 // bits
    block = index // per_block
    words = philox4x32([block & 0xFFFFFFFF, block >> 32, stream, step], [seed & 0xFFFFFFFF, seed >> 32], rounds)
    whole = sum(word << (32 * place) for place, word in enumerate(words))
    return (whole >> (bits * (index % per_block))) & ((1 << bits) - 1)


def write_decoded():
    for element in ELEMENTS:
        if element.bits > 8:
            continue
        bits = golden.canonical_bits(element.decode(np.arange(1 << element.bits)))
        rows = [f"{code},{value:08x}" for code, value in enumerate(bits)]
        golden.write(element.name, "code,f32_bits", rows, PACKAGES)


def write_digests():
    every_16 = np.arange(65536, dtype=np.uint16)
    sets = {
        "bf16": bf16_values(),
        "f16": f16_values(),
        "midpoints": None,
        "random": golden.splitmix64_highs(1, 10_000_000).view(np.float32),
    }
    rows = []
    for element in ELEMENTS:
        if element.bits == 16:
            rows.append(f"codes,{element.name},{digest_of(golden.canonical_bits(element.decode(every_16)))}")
        for name, values in sets.items():
            codes = element.encode(midpoints(element) if values is None else values)
            rows.append(f"{name},{element.name},{digest_of(codes)}")
    golden.write("digests", "set,element,digest", rows, PACKAGES)


def write_random_bits():
    rows = []
    for seed, stream, step in [(0, 0, 0), (1, 0x10000000, 2), (0x123456789ABCDEF0, 0x2ABCDEF7, 0xFFFFFFFF)]:
        for rounds in (7, 10):
            for bits in (16, 8):
                for index in [0, 1, 2, 7, 8, 9, 15, 16, 31, 1000003, 2**35 + 13, 2**40 + 7]:
                    value = random_bits(seed, stream, step, rounds, bits, index)
                    rows.append(f"{seed},{stream},{step},{rounds},{bits},{index},{value}")
    golden.write("random_bits", "seed,stream,step,rounds,bits,index,value", rows, PACKAGES)


def write_all_floats():
    elements = [element for element in ELEMENTS if element.name in ("e4m3fn", "e5m2")]
    digests = [golden.Digest() for _ in elements]
    low = np.arange(golden.LANES, dtype=np.uint32)
    for high in range(65536):
        values = (low | np.uint32(high << 16)).view(np.float32)
        for element, digest in zip(elements, digests):
            digest.add(element.encode(values))
    rows = [f"all_floats,{element.name},{digest.text()}" for element, digest in zip(elements, digests)]
    golden.write("all_floats", "set,element,digest", rows, PACKAGES)


def main():
    parser = argparse.ArgumentParser(description="makes tests/golden/formats; the source says how to run it")
    parser.add_argument("--all-floats", action="store_true", help="all_floats.csv instead of the others")
    arguments = parser.parse_args()
    # Overflow and NaN are intended.
    with np.errstate(all="ignore"):
        if arguments.all_floats:
            write_all_floats()
        else:
            write_decoded()
            write_digests()
            write_random_bits()


if __name__ == "__main__":
    main()
