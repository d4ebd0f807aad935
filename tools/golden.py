"""Common parts of the scripts that make golden files: digests, sets of values, and writing a file.

The digest: item i belongs to lane i mod 65536. The hash of a lane is 64-bit FNV-1a over its items in order, each as
little-endian bytes: one byte for a code of at most 8 bits, two for 16 bits, four for f32 bits. The digest is FNV-1a over the
65536 lane hashes, eight little-endian bytes each. Lanes allow numpy and threads to work in parallel.
"""
import importlib.metadata
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "formats"
LANES = 65536
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


class Digest:
    """Adds items in chunks of a multiple of LANES, except for the last chunk."""

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


def splitmix64(seed, count, start=0):
    """Returns outputs `start` to `start + count` of the generator."""
    places = np.arange(start + 1, start + count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        state = np.uint64(seed) + places * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def splitmix64_highs(seed, count, start=0):
    return (splitmix64(seed, count, start) >> np.uint64(32)).astype(np.uint32)


def canonical_bits(values):
    """Returns the bits of f32 values, with every NaN as 7fc00000 with its sign."""
    bits = values.view(np.uint32)
    return np.where(np.isnan(values), (bits & np.uint32(0x80000000)) | np.uint32(0x7FC00000), bits).astype("<u4")


def around(middles):
    """Returns for each positive f32 the f32 before it, itself, and the one after; then all of these negated."""
    bits = middles.astype(np.float32).view(np.uint32)
    assert (bits.view(np.float32) == middles).all()
    near = np.stack([bits - 1, bits, bits + 1], axis=1).reshape(-1)
    return np.concatenate([near, near | np.uint32(0x80000000)]).view(np.float32)


def write(name, header, rows, packages, *facts):
    """Writes a file. Its first line has the command, the versions of the packages, and the given facts."""
    arguments = [pathlib.Path(argument).name for argument in sys.argv[1:]]
    command = " ".join(["tools/" + pathlib.Path(sys.argv[0]).name, *arguments])
    versions = [f"{package} {importlib.metadata.version(package)}" for package in packages]
    lines = [f"# {', '.join([command, *versions, *facts])}", header, *rows]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.csv").write_text("\n".join(lines) + "\n")
