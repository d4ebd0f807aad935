#!/usr/bin/env python3
"""Makes tests/golden/recipes.csv: the GEMMs of every recipe, emulated in numpy from the papers.

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6 gfloat==0.5.2
    golden-venv/bin/python tools/make_recipe_golden.py

The script shares no code with LPT. RECIPES states the casts of each paper; docs/reference/recipes.md lists their sections.
Scales, rounding and random bits follow docs/reference/numerics.md: scales and the values that are rounded are f32. The
products of the decoded operands are summed in f64.

    recipe, step  name of the recipe; optimizer step, from 1
    gemm          forward, dgrad or wgrad
    bound         of |f32 result - value|: (inner size + 16) · 2^-24 · the largest sum of |products|, in hexadecimal
    values        SAMPLES results of each row of the GEMM, as bits of f32: in row r the columns (5 r + j · COLUMN_STEP) mod
                  columns, j = 0, 1, ...

Inputs are exact: see inputs(). For every operand, the script moves each element to the nearest other code, and counts how
often a sampled result changes by more than two bounds. It prints these shares, and stops if one is below 0.95 for codes of at
most 8 bits, or below 0.7 for bf16. So a test that compares the results compares the codes.
"""
import dataclasses
import importlib.metadata
import pathlib

import numpy as np

import block_rules
import golden
import random_rounding
from random_rounding import ELEMENTS

F32 = np.float32
ROWS, INPUT, OUTPUT = 80, 160, 96
SAMPLES, COLUMN_STEP = 6, 13
DIVISOR = -1  # groups of the largest power of two that divides the axis, at least 16 for these axes
PREPARE, CALL = (3, 4, 5), (6, 7, 8)  # seed, stream and step of lpt_random
ROLES = {"x": 0, "w": 1, "dy": 2}
FIXED_SIGNS = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1], F32)
PATH = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "recipes.csv"


def inputs(seed, rows, columns, factor):
    """Returns sums of the four 16-bit words of splitmix64 outputs, centred, times a power of two: deviation 1.15 · factor."""
    words = golden.splitmix64(seed, rows * columns).view(np.uint16).reshape(rows, columns, 4)
    return ((words.astype(np.int64).sum(axis=-1) - 131070) * 2.0**-15 * factor).astype(F32)


def words(random, domain, role, index):
    """Returns the 16 random bits of each index."""
    seed, stream, step = random
    block, place = index // np.uint64(8), index % np.uint64(8)
    full = np.full(index.shape, domain << 28 | stream << 4 | role, np.uint64)
    counters = [block & np.uint64(0xFFFFFFFF), block >> np.uint64(32), full, np.full(index.shape, step, np.uint64)]
    drawn = random_rounding.philox(counters, [seed & 0xFFFFFFFF, seed >> 32], 7)
    word = np.take_along_axis(drawn, (place // np.uint64(2))[..., np.newaxis].astype(np.int64), axis=-1)[..., 0]
    return word >> (place % np.uint64(2) * np.uint64(16)) & np.uint64(0xFFFF)


# Casts. A cast takes a matrix along the inner size and its random bits. It returns codes · scales and the clip limits.


@dataclasses.dataclass
class Operand:
    values: np.ndarray  # f64
    steps: np.ndarray  # distance of each value to the nearest other one of its block
    limits: np.ndarray  # the largest magnitude that does not clip


def largest_of(element):
    return float(ELEMENTS[element].decode(np.array([ELEMENTS[element].largest_code]))[0])


def steps_of(element, values):
    codes = np.arange(ELEMENTS[element].largest_code + 1)
    levels = np.unique(np.abs(ELEMENTS[element].decode(codes).astype(np.float64)))
    at = np.searchsorted(levels, np.abs(values))
    below = np.where(at > 0, levels[at] - levels[np.maximum(at - 1, 0)], np.inf)
    above = np.where(at + 1 < len(levels), levels[np.minimum(at + 1, len(levels) - 1)] - levels[at], np.inf)
    return np.minimum(below, above)


@dataclasses.dataclass
class Cast:
    element: str
    scale: object = None  # (block, tensor scale) -> f32 scale of the block; None: 1
    block: tuple = None  # rows and columns along the inner size; None: the tensor
    tensor_scale: object = None  # matrix -> f32
    stochastic: bool = False

    def __call__(self, matrix, bits):
        tensor = F32(1) if self.tensor_scale is None else F32(self.tensor_scale(matrix))
        height, width = self.block or matrix.shape
        result = Operand(*(np.zeros(matrix.shape) for _ in range(3)))
        for top in range(0, matrix.shape[0], height):
            for left in range(0, matrix.shape[1], width):
                at = np.s_[top : top + height, left : left + width]
                block = matrix[at]
                scale = F32(1) if self.scale is None else F32(self.scale(block, tensor))
                codes = self.codes(block * np.minimum(F32(1) / (scale * tensor), np.finfo(F32).max), bits[at])
                decoded = ELEMENTS[self.element].decode(codes).astype(np.float64).reshape(block.shape)
                factor = float(scale) * float(tensor)
                result.values[at] = decoded * factor
                result.steps[at] = steps_of(self.element, decoded) * factor
                result.limits[at] = largest_of(self.element) * factor * (1 + 2.0**-24)
        return result

    def codes(self, scaled, bits):
        if self.stochastic:
            width = random_rounding.Random(0, 0, 0, 0, 7, 16)
            return random_rounding.codes(scaled.reshape(-1), self.element, width, draws=bits.reshape(-1))
        largest = F32(largest_of(self.element))
        return ELEMENTS[self.element].encode(np.clip(scaled.reshape(-1), -largest, largest))

    def to_nearest(self):
        return dataclasses.replace(self, stochastic=False)


def amax(block):
    return np.abs(block).max().reshape(1)


def amax_scale(element, rule="amax"):
    return lambda block, _: block_rules.f32_scales(amax(block), largest_of(element), rule)[0]


def per_tensor(element, rule="amax", **options):
    return Cast(element, amax_scale(element, rule), **options)


def blocks(element, rows, columns):
    return Cast(element, amax_scale(element), (rows, columns))


def mx(element, rule):
    return Cast(element, lambda block, _: np.ldexp(1.0, int(block_rules.e8m0_codes(rule, amax(block), element)[0]) - 127),
                (1, 32))  # fmt: skip


def nvfp4(rows, columns, **options):
    def scale(block, tensor):
        units = (amax(block) / F32(6)) * (F32(1) / tensor)
        return block_rules.e4m3fn_values(block_rules.e4m3fn_codes(units))[0]

    return Cast("e2m1fn", scale, (rows, columns), lambda matrix: block_rules.tensor_scales(matrix[np.newaxis])[0], **options)


def quest_scale(block, _):
    """The power of two nearest to the best clip of normal values: 2.92247856 deviations at the largest code 6."""
    deviation = np.sqrt(max(float(np.mean(block.astype(np.float64) ** 2) - np.mean(block.astype(np.float64)) ** 2), 0.0))
    return 2.0 ** np.rint(np.log2(deviation * 2.92247856 / 6 + 1e-8))


def three_quarters(**options):
    """Elements are 3/4 · value / 2^(floor(log2 amax) - 2): the tensor scale 4/3 restores the values."""
    scale = lambda block, _: 2.0 ** (block_rules.floor_log2(amax(block))[0] - 2)  # noqa: E731
    return Cast("e2m1fn", scale, (1, 32), lambda _: 4.0 / 3.0, **options)


def sawb_scale(block, _):
    values = block.astype(np.float64)
    clip = 12.1 * np.sqrt(np.mean(values**2)) - 12.2 * np.mean(np.abs(values))
    return (clip if 0 < clip < np.abs(values).max() else np.abs(values).max()) / 7


@dataclasses.dataclass
class Gemm:
    hadamard: int = 0
    signs: str = "none"
    along_rows: bool = False
    source: str = "plain"  # what the backward GEMM casts x or w from
    draws: int = 1
    parts: int = 1
    unit: bool = False


E4M3, E5M2 = per_tensor("e4m3fn"), per_tensor("e5m2")
POWER4, POWER5 = per_tensor("e4m3fn", "power_of_two"), per_tensor("e5m2", "power_of_two")
POWER5_RANDOM = per_tensor("e5m2", "power_of_two", stochastic=True)
ONE4, ONE5, ONE5_RANDOM = Cast("e4m3fn"), Cast("e5m2"), Cast("e5m2", stochastic=True)
BF16, MXFP8 = Cast("bf16"), mx("e4m3fn", "round_up")
ROW, SQUARE = blocks("e4m3fn", 1, 128), blocks("e4m3fn", 128, 128)
NV, NV_SQUARE, NV_RANDOM = nvfp4(1, 16), nvfp4(16, 16), nvfp4(1, 16, stochastic=True)
QUEST = Cast("e2m1fn", quest_scale, (1, 32))
ROOMY, ROOMY_RANDOM = three_quarters(), three_quarters(stochastic=True)
SAWB, LOGARITHMIC = Cast("int4", sawb_scale), per_tensor("e3m0", stochastic=True)
INT4_RANDOM, INT8 = per_tensor("int4", stochastic=True), per_tensor("int8")
FINE6, WIDE6 = per_tensor("e2m3fn"), per_tensor("e3m2fn")
PLAIN, UNIT = Gemm(), Gemm(unit=True)
QUARTET = [Gemm(32), *[Gemm(32, "random", source="clipped")] * 2]

# forward x, forward w; dgrad dy, dgrad w; wgrad dy, wgrad x. Then forward, dgrad, wgrad.
RECIPES = {
    ("bf16", 1): ([BF16] * 6, [PLAIN] * 3),
    ("fp8_trillion", 1): ([ONE4, ONE4, ONE5_RANDOM, ONE5, ONE5_RANDOM, ONE5], [PLAIN] * 3),
    ("fp8_trillion", 2): ([POWER4, POWER4, POWER5_RANDOM, POWER5, POWER5_RANDOM, POWER5], [PLAIN] * 3),
    ("fp8_current", 1): ([E4M3, E4M3, E5M2, E4M3, E5M2, E4M3], [PLAIN] * 3),
    ("mxfp8", 1): ([MXFP8] * 6, [PLAIN] * 3),
    ("fp8_block", 1): ([ROW, SQUARE, ROW, SQUARE, ROW, ROW], [PLAIN] * 3),
    ("fp4_all_the_way", 1): ([NV, NV, NV_RANDOM, NV, NV_RANDOM, NV_RANDOM], [PLAIN] * 3),
    ("nvfp4_pretrain", 1): ([NV, NV_SQUARE, NV_RANDOM, NV_SQUARE, NV_RANDOM, NV], [PLAIN, PLAIN, Gemm(16, "fixed")]),
    ("quartet_v1", 1): ([QUEST, QUEST, *[ROOMY_RANDOM] * 4], QUARTET),
    ("quartet_neurips", 1): ([QUEST, QUEST, *[ROOMY] * 4], QUARTET),
    ("luq", 1): ([SAWB, SAWB, LOGARITHMIC, SAWB, LOGARITHMIC, SAWB], [PLAIN, PLAIN, Gemm(draws=2)]),
    ("halo_0", 1): ([E4M3] * 6, [PLAIN] * 3),
    ("halo_1", 1): ([FINE6, FINE6, *[WIDE6] * 4], [Gemm(DIVISOR), PLAIN, PLAIN]),
    ("halo_2", 1): ([INT8] * 6, [Gemm(DIVISOR), Gemm(DIVISOR, along_rows=True), PLAIN]),
    ("coat", 1): ([E4M3, E4M3, E5M2, E4M3, E5M2, E4M3], [PLAIN] * 3),
    ("int4_hadamard_sawb", 1): ([SAWB, SAWB, INT4_RANDOM, None, INT4_RANDOM, None],
                                [Gemm(32), *[Gemm(source="clipped", parts=2)] * 2]),
    ("unit_scaling", 1): ([ONE4, ONE4, ONE5, ONE4, ONE5, ONE4], [UNIT] * 3),
}  # fmt: skip


# Rotations along the columns.


def groups(size, columns):
    if size == DIVISOR:
        size = columns & -columns
    begin = 0
    while begin < columns:
        while size > columns - begin:
            size //= 2
        yield begin, size
        begin += size


def rotate(matrix, size, signs):
    """In f32: signs, then steps of stride 1, 2, 4, ..., then 1 / sqrt(size)."""
    if size == 0:
        return matrix
    result = matrix * signs
    for begin, group in groups(size, matrix.shape[1]):
        part, stride = result[:, begin : begin + group], 1
        while stride < group:
            pairs = part.reshape(len(part), -1, 2, stride)
            part = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(part.shape)
            stride *= 2
        result[:, begin : begin + group] = part * F32(1 / np.sqrt(F32(group))) if group > 1 else part
    return result


def hadamard(size, columns):
    """Returns the matrix of rotate() in f64."""
    matrix = np.zeros((columns, columns))
    for begin, group in groups(size, columns):
        i = np.arange(group)
        parity = np.vectorize(lambda n: bin(n).count("1") % 2)(i[:, np.newaxis] & i)
        matrix[begin : begin + group, begin : begin + group] = (1 - 2.0 * parity) / np.sqrt(group)
    return matrix


def signs_of(gemm, which, columns):
    if gemm.signs == "none":
        return np.ones(columns, F32)
    if gemm.signs == "fixed":
        return np.resize(FIXED_SIGNS, columns)
    index = (np.arange(columns) % gemm.hadamard).astype(np.uint64)
    drawn = words(CALL if which == 2 else PREPARE, 6, which, index)
    return np.where(drawn & np.uint64(1), -1, 1).astype(F32)


# GEMMs. An operand is cast along its inner size: `along` is x, w or dy, transposed if the inner size is its rows.


def cast_along(cast, name, along, is_transposed, draw=0):
    shape = along.shape[::-1] if is_transposed else along.shape
    index = np.arange(along.size, dtype=np.uint64).reshape(shape)
    role = ROLES[name] if draw == 0 else 8 + draw
    return cast(along, words(PREPARE if name == "w" else CALL, 2, role, index.T if is_transposed else index))


def cast_gradient(cast, gemm, along, is_transposed):
    """Returns the mean of the draws, or the sum of two parts. A step of a part or draw is that of the smallest one."""
    first = None
    if gemm.parts == 2:
        first = cast_along(cast.to_nearest(), "dy", along, is_transposed)
        along = along - first.values.astype(F32)
    draws = [cast_along(cast, "dy", along, is_transposed, draw) for draw in range(gemm.draws)]
    values = sum(draw.values for draw in draws) / gemm.draws + (0 if first is None else first.values)
    return Operand(values, np.min([draw.steps for draw in draws], axis=0) / gemm.draws, draws[0].limits)


@dataclasses.dataclass
class Result:
    name: str
    a: Operand  # rows × inner
    b: Operand  # columns × inner
    factor: float = 1.0
    mask: np.ndarray = None
    left: np.ndarray = None  # matrices that undo rotations
    right: np.ndarray = None

    def complete(self, values, is_magnitude=False):
        values = values * self.factor
        if self.mask is not None:
            values = values * self.mask
        for matrix, is_left in ((self.left, True), (self.right, False)):
            if matrix is not None:
                matrix = np.abs(matrix) if is_magnitude else matrix
                values = matrix @ values if is_left else values @ matrix
        return values

    def values(self):
        return self.complete(self.a.values @ self.b.values.T)

    def bound(self):
        magnitudes = self.complete(np.abs(self.a.values) @ np.abs(self.b.values).T, True)
        return (self.a.values.shape[1] + 16) * 2.0**-24 * float(magnitudes.max())


def results_of(casts, gemms, x, w, dy):
    forward = gemms[0]
    signs = signs_of(forward, 0, INPUT)
    x_forward = cast_along(casts[0], "x", rotate(x, forward.hadamard, signs), False)
    w_forward = cast_along(casts[1], "w", rotate(w, forward.hadamard, signs), False)
    unit = [1 / np.sqrt(size) if forward.unit else 1.0 for size in (INPUT, INPUT, ROWS)]
    yield Result("forward", x_forward, w_forward, unit[0])
    for which, name in ((1, "dgrad"), (2, "wgrad")):
        gemm, (gradient_cast, other_cast) = gemms[which], casts[2 * which : 2 * which + 2]
        operand, given, cast, clipped = ("w", w, w_forward, x_forward) if which == 1 else ("x", x, x_forward, w_forward)
        rotated_from = rotate(x if which == 1 else w, forward.hadamard, signs)  # what decides about the mask
        result = Result(name, None, None, unit[which])
        if gemm.source != "plain":
            given = cast.values.astype(F32)
            result.right = hadamard(forward.hadamard, INPUT) if forward.hadamard else None
        if gemm.source == "clipped":
            result.mask = (np.abs(rotated_from) <= clipped.limits).astype(float)
        inner = OUTPUT if which == 1 else ROWS
        gradient = dy if which == 1 else dy.T
        if gemm.along_rows:
            along = cast_along(gradient_cast, "dy", rotate(dy.T, gemm.hadamard, np.ones(ROWS, F32)), False)
            result.a = Operand(along.values.T, along.steps.T, None)
            result.left = hadamard(gemm.hadamard, ROWS)
            result.b = cast_along(other_cast, operand, given.T, True)
        else:
            signs_inner = signs_of(gemm, which, inner)
            is_transposed = gemm.hadamard == 0
            result.a = cast_gradient(gradient_cast, gemm, rotate(gradient, gemm.hadamard, signs_inner),
                                     which == 2 and is_transposed)  # fmt: skip
            if other_cast is None:  # the codes of forward
                result.b = Operand(cast.values.T, cast.steps.T, None)
            else:
                result.b = cast_along(other_cast, operand, rotate(given.T, gemm.hadamard, signs_inner), is_transposed)
        yield result


def samples(values):
    rows, columns = values.shape
    at = (5 * np.arange(rows)[:, np.newaxis] + COLUMN_STEP * np.arange(SAMPLES)) % columns
    return np.take_along_axis(values, at, axis=1)


def noticed_share(result, is_a):
    """Returns the share of the elements of an operand whose nearest other code changes a sampled result by two bounds."""
    operand, other = (result.a, result.b) if is_a else (result.b, result.a)
    found = total = 0
    bound = 2 * result.bound()
    for row in range(0, len(operand.values)):
        for inner in range(0, operand.values.shape[1], 3):
            change = np.zeros((len(result.a.values), len(result.b.values)))
            moved = operand.steps[row, inner] * other.values[:, inner]
            if is_a:
                change[row] = moved
            else:
                change[:, row] = moved
            found += bool((np.abs(samples(result.complete(change))) > bound).any())
            total += 1
    return found / total


def main():
    x, w, dy = inputs(1, ROWS, INPUT, 1.0), inputs(2, OUTPUT, INPUT, 0.125), inputs(3, ROWS, OUTPUT, 2.0**-7)
    rows = []
    for (name, step), (casts, gemms) in RECIPES.items():
        shares = []
        for result in results_of(casts, gemms, x, w, dy):
            shares += [noticed_share(result, True), noticed_share(result, False)]
            bits = samples(result.values()).astype(F32).view(np.uint32).reshape(-1)
            rows.append(f"{name},{step},{result.name},{result.bound().hex()}," + "".join(f"{bit:08x}" for bit in bits))
        print(f"{name:24} {step}  " + " ".join(f"{share:.4f}" for share in shares), flush=True)
        assert min(shares) > (0.7 if name == "bf16" else 0.95), name
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in ("ml_dtypes", "numpy"))
    text = "\n".join([f"# tools/make_recipe_golden.py, {versions}", "recipe,step,gemm,bound,values", *rows])
    PATH.write_text(text + "\n")


if __name__ == "__main__":
    main()
