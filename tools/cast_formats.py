"""The formats and random bits of conformance vectors, and the casts in numpy.

The rules are those of tools/block_rules.py, the random bits those of tools/random_rounding.py.
"""
import numpy as np

import block_rules
import make_block_golden
import random_rounding
from random_rounding import Random

F32 = np.float32
MX_FORMATS = {
    "e4m3fn": "mxfp8_e4m3", "e5m2": "mxfp8_e5m2", "e3m2fn": "mxfp6_e3m2", "e2m3fn": "mxfp6_e2m3", "e2m1fn": "mxfp4",
}  # fmt: skip
NVFP4_RULES = ("nearest", "round_up", "headroom", "four_over_six")
RANDOMS = [
    Random(seed, offset, stream, step, rounds, bits)
    for (seed, offset, stream, step), rounds, bits in (
        ((0, 0, 0, 0), 7, 16), ((0, 0, 0, 0), 7, 8), ((0, 0, 0, 0), 10, 16), ((0, 0, 0, 0), 10, 8),
        ((0x123456789ABCDEF0, 1000003, 0xABCDEF, 0xFFFFFFFF), 7, 16), ((1, 2**35 + 13, 1, 2), 7, 8),
        ((0xFFFFFFFFFFFFFFFF, 5, 7, 1), 10, 16), ((3, 2**40 + 7, 2, 9), 10, 8),
    )
]  # fmt: skip


class Format:
    """A format with a rule. A block of 0 is the full tensor."""

    def __init__(self, name, rule, element, block):
        self.name, self.rule, self.element, self.block = name, rule, element, block

    def cast(self, values, random):
        """Returns the tensor scale or None, scales, zero points or None, codes."""
        blocks = values.reshape(-1, self.block or len(values))
        tensor_scale, zeros = None, None
        if self.name == "nvfp4":
            tensor_scale = block_rules.tensor_scales(values.reshape(1, -1), self.rule)
            scales = block_rules.nvfp4(blocks, tensor_scale, self.rule)[0]
            inverse = block_rules.nvfp4_inverse(scales, tensor_scale)
        elif self.name.startswith("e2m1fn/"):
            scales = block_rules.nvfp4(blocks, F32(1))[0]
            inverse = block_rules.nvfp4_inverse(scales, F32(1))
        elif self.name.startswith("mx"):
            scales = block_rules.mx(blocks, self.rule, self.element)[0]
            inverse = F32(1) / np.ldexp(F32(1), scales.astype(np.int32) - 127)
        elif self.element == "uint4":
            scales, zeros, _ = block_rules.unsigned(blocks, 15)
            inverse = F32(1) / scales
        else:
            scales = block_rules.f32_scales(block_rules.finite_amax(blocks), self.largest(), self.rule)
            inverse = F32(1) / scales
            if self.name.endswith("_tensor"):
                tensor_scale, scales = scales, None
        return tensor_scale, scales, zeros, self.codes((blocks * inverse[:, np.newaxis]).reshape(-1), zeros, random)

    def codes(self, scaled, zeros, random):
        if zeros is not None:
            whole = np.rint(scaled)
            if random:
                units = np.zeros(len(scaled), np.int64)
                drawn = random.draw(len(scaled))
                magnitudes = random_rounding.stochastic_integers(scaled, random.bits, drawn, units)
                whole = np.copysign(magnitudes, scaled)
            return np.clip(whole + np.repeat(zeros, self.block), 0, 15).astype(np.uint8)
        if random:
            return random_rounding.codes(scaled, self.element, random)
        return random_rounding.ELEMENTS[self.element].encode(np.clip(scaled, -self.largest(), self.largest()))

    def largest(self):
        element = random_rounding.ELEMENTS[self.element]
        return element.decode(np.array([element.largest_code]))[0]


MX = [Format(name, "round_up", element, 32) for element, name in MX_FORMATS.items()]
NVFP4 = Format("nvfp4", "headroom", "e2m1fn", 16)
GROUPS = [
    Format("int8_1x32", "amax", "int8", 32), Format("int4_1x32", "amax", "int4", 32),
    Format("uint4_1x32", "amax", "uint4", 32),
]  # fmt: skip
SCALED = [
    *(Format(f"{element}_1x128", rule, element, 128)
      for element in ("e4m3fn", "e5m2") for rule in ("amax", "power_of_two")),
    *(Format(f"{element}_tensor", rule, element, 0)
      for element in ("e4m3fn", "e5m2", "int8") for rule in ("amax", "power_of_two")),
]  # fmt: skip
NEAREST = [
    *(Format(name, rule, element, 32) for rule in make_block_golden.MODES for element, name in MX_FORMATS.items()),
    *(Format("nvfp4", rule, "e2m1fn", 16) for rule in NVFP4_RULES),
    Format("e2m1fn/1x16/e4m3fn", "nearest", "e2m1fn", 16),
    *GROUPS,
    *(Format(f"{element}_1x{size}", "amax", element, size) for element in ("int4", "uint4") for size in (64, 128)),
    *SCALED,
]
STOCHASTIC = [*MX, NVFP4, *GROUPS, *SCALED]
