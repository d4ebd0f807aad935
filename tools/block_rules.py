"""LPT's rules for MX and NVFP4 blocks in numpy, from docs/numerics.md: what the golden streams are compared with.

Amax is taken over finite values. A power-of-two scale comes from integers; an element is RNE(x · (1 / scale)), clipped.
"""
import ml_dtypes
import numpy as np

ELEMENTS = {
    "e4m3fn": (ml_dtypes.float8_e4m3fn, 448.0, 3),
    "e5m2": (ml_dtypes.float8_e5m2, 57344.0, 2),
    "e3m2fn": (ml_dtypes.float6_e3m2fn, 28.0, 2),
    "e2m3fn": (ml_dtypes.float6_e2m3fn, 7.5, 3),
    "e2m1fn": (ml_dtypes.float4_e2m1fn, 6.0, 1),
}
F32 = np.float32


def finite_amax(values):
    return np.where(np.isfinite(values), np.abs(values), F32(0)).max(axis=-1)


def floor_log2(values):
    return np.frexp(np.asarray(values, np.float64))[1] - 1


def codes_of(values, inverse, element):
    dtype, largest, _ = ELEMENTS[element]
    scaled = np.clip(values * inverse[..., np.newaxis], F32(-largest), F32(largest))
    return scaled.astype(dtype).view(np.uint8)


def e8m0_codes(rule, amax, element):
    _, largest, mantissa_bits = ELEMENTS[element]
    if rule == "even":
        bits = amax.view(np.uint32).astype(np.int64) + (1 << (22 - mantissa_bits))
        subnormal = floor_log2(bits & 0x7FFFFF) - 149  # as an integer of units 2^-149
        power = np.where(bits >> 23 != 0, (bits >> 23) - 127, subnormal) - floor_log2(largest)
    elif rule == "floor":
        power = floor_log2(amax) - floor_log2(largest)
    elif rule == "ceil":
        power = floor_log2(amax) + (np.frexp(amax)[0] > 0.5) - floor_log2(largest)
    else:
        power = floor_log2(amax) - floor_log2(largest) + (np.frexp(amax)[0] > np.frexp(largest)[0])
    return np.where(amax == 0, 0, np.clip(power, -127, 127) + 127).astype(np.uint8)


def mx(values, rule, element):
    amax = finite_amax(values)
    scale_codes = e8m0_codes(rule, amax, element)
    scales = np.ldexp(F32(1), scale_codes.astype(np.int32) - 127)
    codes = codes_of(values, F32(1) / scales, element)
    return np.where(np.isnan(values).any(axis=-1), 255, scale_codes).astype(np.uint8), codes


def tensor_scales(tensors):
    amax = finite_amax(tensors.reshape(len(tensors), -1))
    scales = np.clip(amax / F32(2688), F32(2.0**-126), np.finfo(F32).max)
    return np.where(amax == 0, F32(1), scales)


def nvfp4(values, tensor_scale):
    """`values` … × 16 and tensor scales that fit the leading axes."""
    units = (finite_amax(values) / F32(6)) * (F32(1) / tensor_scale)
    scale_codes = np.minimum(units, F32(448)).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    scale_codes = np.maximum(scale_codes, 1)
    scales = scale_codes.view(ml_dtypes.float8_e4m3fn).astype(F32)
    inverse = np.minimum(F32(1) / (scales * tensor_scale), np.finfo(F32).max)
    codes = codes_of(values, inverse, "e2m1fn")
    return np.where(np.isnan(values).any(axis=-1), 0x7F, scale_codes).astype(np.uint8), codes
