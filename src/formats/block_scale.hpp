// How scales follow from amax: exact rules, shared by the reference rows, the SIMD rows, CUDA, and the tests.
//
// M is the element's largest finite value, t the tensor scale's inverse (1 without one), amax the largest finite
// magnitude of the block.
//
//   block scale  rule          value                                                 bounds             all-zero block
//   f32          AMAX          (amax / M) · t                                        2^-126 .. largest  1
//                POWER_OF_TWO  smallest power of two >= (amax · t) / M               2^-126 .. 2^127    1
//   e8m0fnu      ROUND_UP      smallest power of two >= (amax · t) / M               2^-127 .. 2^127    2^-127
//                FLOOR         2^(floor(log2 (amax · t)) - floor(log2 M))            2^-127 .. 2^127    2^-127
//   e4m3fn       NEAREST       (amax / M) · t, to nearest even                       2^-9 .. 448        2^-9
//                HEADROOM      (amax / M) · t · (17/16), to nearest even             2^-9 .. 448        2^-9
//   tensor f32   -             as f32 with t = 1; beside an e4m3fn block scale amax / (M · 448), HEADROOM amax / (M · 256)
//
// Each operation that is written is one f32 operation; powers of two are found by integers, so no log2 rounds.
// An element is encode(source · inverse) with inverse = 1 / (block scale · tensor scale), the sign is the source's.
// A block that holds a NaN (or an infinity that shall not saturate) keeps the scale of its finite rest if that scale is
// f32 and the element has a NaN; else its scale becomes NaN. Its codes are those of the finite scale: NaN, or zero where
// the element has none. A scale that is given is never changed.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/host_device.hpp"
#include "src/formats/element.hpp"
#include "src/formats/format.hpp"

namespace lpt {

constexpr float kSmallestNormal = 0x1p-126f;
constexpr float kLargestFloat = 0x1.fffffep+127f;
constexpr uint32_t kFloatInfinityBits = 0x7F800000u;
constexpr uint32_t kFloatNanBits = 0x7FC00000u;

// value = significand · 2^(exponent - 23), 2^23 <= significand < 2^24, for a positive finite value.
struct FloatParts {
  int32_t exponent;
  uint32_t significand;
};

LPT_HOST_DEVICE static inline FloatParts float_parts(float value) {
  const uint32_t bits = float_bits(value);
  FloatParts parts = {static_cast<int32_t>(bits >> 23) - 127, (bits & 0x007FFFFFu) | 0x00800000u};
  if (parts.exponent == -127) {
    parts = {-126, bits};
    while (parts.significand < 0x00800000u) parts = {parts.exponent - 1, parts.significand << 1};
  }
  return parts;
}

// The k of the smallest power of two 2^k >= numerator / denominator.
LPT_HOST_DEVICE static inline int32_t ceil_log2_ratio(float numerator, float denominator) {
  const FloatParts above = float_parts(numerator);
  const FloatParts below = float_parts(denominator);
  return above.exponent - below.exponent + (above.significand > below.significand ? 1 : 0);
}

LPT_HOST_DEVICE static inline float clamp_scale(float scale) {
  if (scale < kSmallestNormal) return kSmallestNormal;
  return scale > kLargestFloat ? kLargestFloat : scale;
}

LPT_HOST_DEVICE static inline float f32_scale(lpt_scale_rule rule, float amax, float largest, float tensor_inverse) {
  if (amax == 0.0f) return 1.0f;
  if (rule != LPT_SCALE_RULE_POWER_OF_TWO) return clamp_scale((amax / largest) * tensor_inverse);
  const float units = clamp_scale(amax * tensor_inverse);
  const int32_t power = ceil_log2_ratio(units, largest);
  return bits_float(static_cast<uint32_t>(power < -126 ? 1 : power + 127) << 23);
}

LPT_HOST_DEVICE static inline uint32_t e8m0fnu_scale(lpt_scale_rule rule, float amax, float largest,
                                                     float tensor_inverse) {
  float units = amax * tensor_inverse;
  if (units == 0.0f) return 0;
  if (units > kLargestFloat) units = kLargestFloat;
  const int32_t power = rule == LPT_SCALE_RULE_FLOOR ? float_parts(units).exponent - float_parts(largest).exponent
                                                     : ceil_log2_ratio(units, largest);
  return power < -127 ? 0 : static_cast<uint32_t>(power + 127);  // M >= 1, so never beyond 2^127
}

LPT_HOST_DEVICE static inline uint32_t e4m3fn_scale(lpt_scale_rule rule, float amax, float largest,
                                                    float tensor_inverse) {
  float units = (amax / largest) * tensor_inverse;
  if (rule == LPT_SCALE_RULE_HEADROOM) units = units * (17.0f / 16.0f);
  const uint32_t code = encode(kElementE4m3fn, units, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 0);
  return code == 0 ? 1 : code;
}

// The code of a block's scale; the bits themselves for f32.
LPT_HOST_DEVICE static inline uint32_t block_scale_code(lpt_format block_scale, lpt_scale_rule rule, float amax,
                                                        float largest, float tensor_inverse) {
  if (block_scale == LPT_FORMAT_E8M0FNU) return e8m0fnu_scale(rule, amax, largest, tensor_inverse);
  if (block_scale == LPT_FORMAT_E4M3FN) return e4m3fn_scale(rule, amax, largest, tensor_inverse);
  return float_bits(f32_scale(rule, amax, largest, tensor_inverse));
}

LPT_HOST_DEVICE static inline float block_scale_value(lpt_format block_scale, uint32_t code) {
  if (block_scale == LPT_FORMAT_E8M0FNU) return decode(kElementE8m0fnu, code);
  if (block_scale == LPT_FORMAT_E4M3FN) return decode(kElementE4m3fn, code);
  return bits_float(code);
}

LPT_HOST_DEVICE static inline uint32_t block_scale_nan(lpt_format block_scale) {
  if (block_scale == LPT_FORMAT_E8M0FNU) return kElementE8m0fnu.nan_code;
  return block_scale == LPT_FORMAT_E4M3FN ? kElementE4m3fn.nan_code : kFloatNanBits;
}

// Whether a block with a NaN gets a NaN scale, or says so by its elements.
LPT_HOST_DEVICE static inline bool nan_goes_to_scale(lpt_format block_scale, const Element &element) {
  return block_scale != LPT_FORMAT_F32 || element.nan_code == 0;
}

// 1 / scale. The largest f32 stands for what is beyond it, so that 0 · inverse stays 0; a NaN stays NaN.
LPT_HOST_DEVICE static inline float inverse_scale(float scale) {
  const float inverse = 1.0f / scale;
  return inverse > kLargestFloat ? kLargestFloat : inverse;
}

// source · inverse with the source's sign, also for NaN: which NaN a product hands on differs between machines.
LPT_HOST_DEVICE static inline float scaled(float source, float inverse) {
  return bits_float((float_bits(source * inverse) & 0x7FFFFFFFu) | (float_bits(source) & 0x80000000u));
}

// element · scale; a NaN is the quiet one with the element's sign.
LPT_HOST_DEVICE static inline float unscaled(float element, float scale) {
  const float product = element * scale;
  return product == product ? product : bits_float((float_bits(element) & 0x80000000u) | kFloatNanBits);
}

// The tensor scale beside block scales of this format (NONE: alone), by a resolved rule.
LPT_HOST_DEVICE static inline float tensor_scale_value(lpt_format block_scale, lpt_scale_rule rule, float amax,
                                                       float largest) {
  if (block_scale != LPT_FORMAT_E4M3FN) return f32_scale(rule, amax, largest, 1.0f);
  if (amax == 0.0f) return 1.0f;
  return clamp_scale(amax / (largest * (rule == LPT_SCALE_RULE_HEADROOM ? 256.0f : 448.0f)));
}

// The tensor scale of a format that has one.
static inline float tensor_scale_of(const Format &format, lpt_scale_rule rule, float amax) {
  return tensor_scale_value(format.block_scale, rule, amax, largest_of(format.element));
}

}  // namespace lpt
