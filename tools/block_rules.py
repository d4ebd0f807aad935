"""The rules of LPT for MX and NVFP4 blocks in numpy, from docs/reference/numerics.md: the reference for the golden files.

Amax is the maximum over finite values. A power-of-two scale is computed with integers. An element is RNE(x · (1 / scale)),
saturated.
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


def tensor_scales(tensors, rule="nearest"):
    amax = finite_amax(tensors.reshape(len(tensors), -1))
    units = F32(6 * (256 if rule in ("headroom", "four_over_six") else 448))
    scales = np.clip(amax / units, F32(2.0**-126), np.finfo(F32).max)
    return np.where(amax == 0, F32(1), scales)


def e4m3fn_values(codes):
    return codes.view(ml_dtypes.float8_e4m3fn).astype(F32)


def e4m3fn_codes(units, rounds_up=False):
    codes = np.minimum(units, F32(448)).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    if rounds_up:
        codes = codes + ((e4m3fn_values(codes) < units) & (codes < 126)).astype(np.uint8)
    return np.maximum(codes, 1)


def nvfp4_inverse(scale_codes, tensor_scale):
    return np.minimum(F32(1) / (e4m3fn_values(scale_codes) * tensor_scale), np.finfo(F32).max)


def sum_of_lanes(numbers):
    """Sums the last axis of 16 in f32: adds halves until one value remains."""
    while numbers.shape[-1] > 1:
        half = numbers.shape[-1] // 2
        numbers = numbers[..., :half] + numbers[..., half:]
    return numbers[..., 0]


def nvfp4_error(values, scale_codes, tensor_scale):
    codes = codes_of(values, nvfp4_inverse(scale_codes, tensor_scale), "e2m1fn")
    scales = e4m3fn_values(scale_codes) * tensor_scale
    decoded = codes.view(ml_dtypes.float4_e2m1fn).astype(F32) * scales[..., np.newaxis]
    return sum_of_lanes((values - decoded) ** 2)


def nvfp4_scale_codes(values, tensor_scale, rule):
    units = (finite_amax(values) / F32(6)) * (F32(1) / tensor_scale)
    if rule == "headroom":
        return e4m3fn_codes(units * F32(17 / 16))
    codes = e4m3fn_codes(units, rounds_up=rule == "round_up")
    if rule == "four_over_six":
        others = e4m3fn_codes(units * F32(1.5))
        is_better = nvfp4_error(values, others, tensor_scale) < nvfp4_error(values, codes, tensor_scale)
        codes = np.where(is_better, others, codes)
    return codes


def nvfp4(values, tensor_scale, rule="nearest"):
    """`values` has the shape … × 16; tensor scales broadcast to the leading axes."""
    scale_codes = nvfp4_scale_codes(values, tensor_scale, rule)
    codes = codes_of(values, nvfp4_inverse(scale_codes, tensor_scale), "e2m1fn")
    return np.where(np.isnan(values).any(axis=-1), 0x7F, scale_codes).astype(np.uint8), codes


def f32_scales(amax, largest, rule="amax"):
    if rule == "power_of_two":  # the smallest one that is at least amax / largest
        power = floor_log2(amax) - floor_log2(largest) + (np.frexp(amax)[0] > np.frexp(F32(largest))[0])
        scales = np.ldexp(F32(1), np.clip(power, -126, 127).astype(np.int32))
    else:
        scales = np.clip(amax / F32(largest), F32(2.0**-126), np.finfo(F32).max)
    return np.where(amax == 0, F32(1), scales)


def integers(values, largest):
    """Returns the f32 scales and the integers of signed groups."""
    scales = f32_scales(finite_amax(values), largest)
    scaled = values * (F32(1) / scales)[..., np.newaxis]
    return scales, np.clip(np.rint(scaled), -largest, largest).astype(np.int32)


def unsigned(values, levels):
    """Returns the f32 scales, zero points and codes of groups with zero points."""
    low, high = np.minimum(values.min(axis=-1), F32(0)), np.maximum(values.max(axis=-1), F32(0))
    half = high * F32(0.5) - low * F32(0.5)
    scales = np.where(half == 0, F32(1), np.maximum(half / F32(levels / 2), F32(2.0**-126)))
    inverse = F32(1) / scales
    zeros = np.clip(np.rint(-low * inverse), 0, levels)
    codes = np.clip(np.rint(values * inverse[..., np.newaxis]) + zeros[..., np.newaxis], 0, levels)
    return scales, zeros.astype(np.uint8), codes.astype(np.uint8)
