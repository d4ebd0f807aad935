#!/usr/bin/env python3
"""Makes tests/golden/formats from ml_dtypes and numpy, which share no code with LPT.

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6
    golden-venv/bin/python tools/make_golden.py                # all but all_floats.csv; some seconds
    golden-venv/bin/python tools/make_golden.py --all-floats   # all_floats.csv alone; some minutes

<element>.csv    every code of an element of 8 bits or fewer: code, and the bits of its value in f32. A NaN is 7fc00000
                 with the code's sign.
digests.csv      what a set of f32 values becomes in an element, to nearest even, overflow to infinity: one digest for
                 each set and element. The set "codes" is the way back: all codes of a 16-bit element, as f32 bits.
random_bits.csv  the random bits of some elements: Philox4x32 from its definition (Salmon et al., SC 2011).
all_floats.csv   as digests.csv, for all 2^32 values in the order of their bits.

The digest: item i goes to lane i mod 65536. A lane's hash is 64-bit FNV-1a over its items in order, each of them its
bytes from the lowest up: one byte for a code of 8 bits or fewer, two for 16 bits, four for f32 bits. The digest is
FNV-1a over the 65536 lane hashes, eight bytes each from the lowest up. Lanes let numpy and threads work side by side.

The sets:
    bf16       all bf16 values in the order of their codes, f16 likewise
    midpoints  for each code from zero up to the largest finite one, the value halfway to the next code: the f32 before
               it, it, and the f32 after it; then all of these with a minus. The code after the largest finite one
               stands where it would stand if the element went on.
    random     10 million f32 whose bits are the high halves of splitmix64 outputs, seed 1

Where LPT means something else, the script writes what LPT means:
    NaN        any NaN code counts as the positive one that LPT writes; an element without NaN gives code 0
               (ml_dtypes: -0 in e2m1fn)
    e8m0fnu    zero of either sign gives code 0, which is 2^-127, because a scale of zeros must be a number (ml_dtypes:
               NaN)
    int8       numpy's rint, clipped to -127 ... 127
"""
import argparse
import pathlib
import sys

import ml_dtypes
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "formats"
LANES = 65536
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


class Element:
    def __init__(self, name, dtype, bits, nan_code, largest_code):
        self.name, self.dtype, self.bits = name, dtype, bits
        self.nan_code, self.largest_code = nan_code, largest_code
        self.code_type = np.dtype("<u2" if bits == 16 else "u1")

    def encode(self, values):
        is_nan = np.isnan(values)
        if self.name == "int8":
            codes = np.clip(np.rint(np.where(is_nan, 0, values)), -127, 127).astype(np.int8).view(np.uint8)
        else:
            codes = values.astype(self.dtype).view(self.code_type)
        codes = np.where(is_nan, self.nan_code, codes)
        if self.name == "e8m0fnu":
            codes = np.where(values == 0, 0, codes)
        elif self.name == "e4m3fn":  # overflow gives a NaN of the value's sign
            codes = np.where(codes == 0xFF, self.nan_code, codes)
        return codes.astype(self.code_type)

    def decode(self, codes):
        return codes.astype(self.code_type).view(self.dtype).astype(np.float32)


ELEMENTS = [
    Element("f16", np.float16, 16, 0x7E00, 0x7BFF),
    Element("bf16", ml_dtypes.bfloat16, 16, 0x7FC0, 0x7F7F),
    Element("e4m3fn", ml_dtypes.float8_e4m3fn, 8, 0x7F, 0x7E),
    Element("e4m3", ml_dtypes.float8_e4m3, 8, 0x7C, 0x77),
    Element("e5m2", ml_dtypes.float8_e5m2, 8, 0x7E, 0x7B),
    Element("e2m1fn", ml_dtypes.float4_e2m1fn, 4, 0, 0x7),
    Element("e8m0fnu", ml_dtypes.float8_e8m0fnu, 8, 0xFF, 0xFE),
    Element("int8", np.int8, 8, 0, 127),
]


def canonical_bits(values):
    """The bits of f32 values, every NaN as 7fc00000 with its sign."""
    bits = values.view(np.uint32)
    return np.where(np.isnan(values), (bits & np.uint32(0x80000000)) | np.uint32(0x7FC00000), bits).astype("<u4")


class Digest:
    """Takes items in pieces of a multiple of LANES, save the last one."""

    def __init__(self):
        self.lanes = np.full(LANES, FNV_OFFSET, np.uint64)

    def add(self, items):
        size = items.dtype.itemsize
        data = items.view(np.uint8).reshape(-1, size)
        for start in range(0, len(data), LANES):
            piece = data[start : start + LANES]
            lanes = self.lanes[: len(piece)]
            for byte in range(size):
                lanes ^= piece[:, byte]
                lanes *= np.uint64(FNV_PRIME)

    def text(self):
        digest = FNV_OFFSET
        for byte in self.lanes.astype("<u8").tobytes():
            digest = (digest ^ byte) * FNV_PRIME % 2**64
        return f"{digest:016x}"


def digest_of(items):
    digest = Digest()
    digest.add(items)
    return digest.text()


def midpoints(element):
    codes = np.arange(element.largest_code + 1)
    values = element.decode(codes).astype(np.float64)
    # One more step of the last size; e8m0fnu alone has no mantissa, so that its next step is twice as wide.
    after = 2 * values[-1] - (0 if element.name == "e8m0fnu" else values[-2])
    middles = (values + np.append(values[1:], after)) / 2
    bits = middles.astype(np.float32).view(np.uint32)
    assert (bits.view(np.float32) == middles).all()
    around = np.stack([bits - 1, bits, bits + 1], axis=1).reshape(-1)
    return np.concatenate([around, around | np.uint32(0x80000000)]).view(np.float32)


def splitmix64_highs(seed, count):
    state = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)


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
    """Bits of element `index`: those from bits · (index mod n) up, of the n = 128 / bits elements of its block."""
    per_block = 128 // bits
    block = index // per_block
    words = philox4x32([block & 0xFFFFFFFF, block >> 32, stream, step], [seed & 0xFFFFFFFF, seed >> 32], rounds)
    whole = sum(word << (32 * place) for place, word in enumerate(words))
    return (whole >> (bits * (index % per_block))) & ((1 << bits) - 1)


def write(name, header, rows):
    command = " ".join(["tools/make_golden.py", *sys.argv[1:]])
    lines = [f"# {command}, ml_dtypes {ml_dtypes.__version__}, numpy {np.__version__}", header, *rows]
    (FOLDER / f"{name}.csv").write_text("\n".join(lines) + "\n")


def write_decoded():
    for element in ELEMENTS:
        if element.bits > 8:
            continue
        bits = canonical_bits(element.decode(np.arange(1 << element.bits)))
        write(element.name, "code,f32_bits", [f"{code},{value:08x}" for code, value in enumerate(bits)])


def write_digests():
    every_16 = np.arange(65536, dtype=np.uint16)
    sets = {
        "bf16": every_16.view(ml_dtypes.bfloat16).astype(np.float32),
        "f16": every_16.view(np.float16).astype(np.float32),
        "midpoints": None,
        "random": splitmix64_highs(1, 10_000_000).view(np.float32),
    }
    rows = []
    for element in ELEMENTS:
        if element.bits == 16:
            rows.append(f"codes,{element.name},{digest_of(canonical_bits(element.decode(every_16)))}")
        for name, values in sets.items():
            codes = element.encode(midpoints(element) if values is None else values)
            rows.append(f"{name},{element.name},{digest_of(codes)}")
    write("digests", "set,element,digest", rows)


def write_random_bits():
    rows = []
    for seed, stream, step in [(0, 0, 0), (1, 0x10000000, 2), (0x123456789ABCDEF0, 0x2ABCDEF7, 0xFFFFFFFF)]:
        for rounds in (7, 10):
            for bits in (16, 8):
                for index in [0, 1, 2, 7, 8, 9, 15, 16, 31, 1000003, 2**35 + 13, 2**40 + 7]:
                    value = random_bits(seed, stream, step, rounds, bits, index)
                    rows.append(f"{seed},{stream},{step},{rounds},{bits},{index},{value}")
    write("random_bits", "seed,stream,step,rounds,bits,index,value", rows)


def write_all_floats():
    elements = [element for element in ELEMENTS if element.name in ("e4m3fn", "e5m2")]
    digests = [Digest() for _ in elements]
    low = np.arange(LANES, dtype=np.uint32)
    for high in range(65536):
        values = (low | np.uint32(high << 16)).view(np.float32)
        for element, digest in zip(elements, digests):
            digest.add(element.encode(values))
    rows = [f"all_floats,{element.name},{digest.text()}" for element, digest in zip(elements, digests)]
    write("all_floats", "set,element,digest", rows)


def main():
    parser = argparse.ArgumentParser(description="makes tests/golden/formats; the source says how to run it")
    parser.add_argument("--all-floats", action="store_true", help="all_floats.csv instead of the others")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Casting overflows and NaN is the point here.
    with np.errstate(all="ignore"):
        if arguments.all_floats:
            write_all_floats()
        else:
            write_decoded()
            write_digests()
            write_random_bits()


if __name__ == "__main__":
    main()
