// Exact rules that derive scales from amax. Reference kernels, SIMD kernels, CUDA code and tests share them.
//
// M is the largest finite value of the element; t is the inverse of the tensor scale, or 1 without a tensor scale. amax is
// the largest finite magnitude of the block; E = floor(log2 M).
//
//   block scale  rule                   value                                              bounds             zero block
//   f32          AMAX                   (amax / M) · t                                     2^-126 .. largest  1
//                POWER_OF_TWO           smallest power of two >= (amax · t) / M            2^-126 .. 2^127    1
//                POWER_OF_TWO_DOWN      largest power of two <= (amax · t) / M             2^-126 .. 2^127    1
//                POWER_OF_TWO_NEAREST   DOWN, doubled if ratio / DOWN > sqrt(2)           2^-126 .. 2^127    1
//                LIST                   first of the list >= (amax / M) · t, or the last   within the list    the first
//                MEAN                   mean magnitude · t                                 2^-126 .. largest  1
//                SAWB                   per tensor: (12.1 · sqrt(mean square) - 12.2 · mean magnitude) / M, or AMAX
//   e8m0fnu      ROUND_UP               smallest power of two >= (amax · t) / M            2^-127 .. 2^127    2^-127
//                FLOOR                  2^(floor(log2 (amax · t)) - E)                     2^-127 .. 2^127    2^-127
//                THREE_QUARTERS         FLOOR with t · 4/3 instead of t: FLOOR of amax     2^-127 .. 2^127    2^-127
//                CEIL                   2^(ceil(log2 (amax · t)) - E)                      2^-127 .. 2^127    2^-127
//                EVEN                   FLOOR of amax · t rounded to M's mantissa, ties up 2^-127 .. 2^127    2^-127
//                QUEST_...              2^f(log2 (2.92247856 · deviation · t / 6 + 1e-8))  2^-127 .. 2^127    2^-127
//   e4m3fn       NEAREST                (amax / M) · t, to nearest even                    2^-9 .. 448        2^-9
//                ROUND_UP               (amax / M) · t, rounded up to a code               2^-9 .. 448        2^-9
//                HEADROOM               (amax / M) · t · (17/16), to nearest even          2^-9 .. 448        2^-9
//                FOUR_OVER_SIX          NEAREST, or NEAREST of (amax / M) · t · 1.5 if its squared error is smaller
//   tensor f32   -             as f32 with t = 1; with an e4m3fn block scale amax / (M · 448), or amax / (M · 256) by
//                              HEADROOM and FOUR_OVER_SIX; with an e8m0fnu block scale and THREE_QUARTERS 4/3
//
// Each arithmetic operator above is one f32 operation. Powers of two are found by integer arithmetic, so no log2 is rounded.
// MSE tries its candidates in order and keeps the first with the smallest squared error. striped_sum() defines the order of
// the sums of squares, deviations and means. An element is encode(source · inverse) with inverse = 1 / (block scale · tensor
// scale); its sign is that of the source.
// A block can contain a NaN, or an infinity in an overflow mode that does not saturate. Such a block keeps the scale of its
// finite elements if the scale is f32 and the element has a NaN. Otherwise the scale is NaN. The codes are those of the
// finite scale: NaN, or zero if the element has no NaN. A scale that the caller supplies is not changed.
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

// IEEE 754 square roots are exact on every machine. The builtin keeps <cmath> out of files that are compiled for one
// instruction set.
LPT_HOST_DEVICE static inline float root(float value) { return __builtin_sqrtf(value); }

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

// Returns the k of the smallest power of two 2^k >= numerator / denominator.
LPT_HOST_DEVICE static inline int32_t ceil_log2_ratio(float numerator, float denominator) {
  const FloatParts above = float_parts(numerator);
  const FloatParts below = float_parts(denominator);
  return above.exponent - below.exponent + (above.significand > below.significand ? 1 : 0);
}

// Returns the k of the largest power of two 2^k <= numerator / denominator.
LPT_HOST_DEVICE static inline int32_t floor_log2_ratio(float numerator, float denominator) {
  const FloatParts above = float_parts(numerator);
  const FloatParts below = float_parts(denominator);
  return above.exponent - below.exponent - (above.significand < below.significand ? 1 : 0);
}

// Returns the k that is nearest to log2(numerator / denominator): it is rounded up if the square of the ratio is above
// 2^(2k + 1). Both squares fit 64 bits. They are never equal because sqrt(2) is irrational.
LPT_HOST_DEVICE static inline int32_t nearest_log2_ratio(float numerator, float denominator) {
  const int32_t power = floor_log2_ratio(numerator, denominator);
  const FloatParts above = float_parts(numerator);
  const FloatParts below = float_parts(denominator);
  // Significand of the ratio in [1, 2): lifted / below.
  const uint64_t lifted = uint64_t{above.significand} << (above.significand < below.significand ? 1 : 0);
  return power + (lifted * lifted > 2 * uint64_t{below.significand} * below.significand ? 1 : 0);
}

LPT_HOST_DEVICE static inline float clamp_scale(float scale) {
  if (scale < kSmallestNormal) return kSmallestNormal;
  return scale > kLargestFloat ? kLargestFloat : scale;
}

// Scales that Gaudi 2 applies in hardware. LIST uses them if the caller supplies no list.
constexpr float kGaudi2Scales[] = {0x1p-8f, 0x1p-4f, 1.0f, 0x1p4f};

// The parameters of a scale rule other than the block.
struct ScaleSpec {
  lpt_format kind;  // format of the block scale; F32 for a tensor scale without block scales
  lpt_scale_rule rule;
  float largest;          // M
  int32_t mantissa_bits;  // of the element
  float tensor_inverse;   // t
  const float *list;      // for LIST
  int32_t list_count;
};

// The statistics of a block that scale rules read. Sums are those of striped_sum().
struct BlockStats {
  float amax;             // of finite elements
  float low, high;        // min and max of the finite elements and 0
  float magnitude_sum;    // for MEAN
  float sum, square_sum;  // for QUEST
  float count;            // number of elements
};

// Returns 2^power with the exponent clamped to the normal range.
LPT_HOST_DEVICE static inline float clamped_power_of_two(int32_t power) {
  if (power < -126) power = -126;
  if (power > 127) power = 127;
  return bits_float(static_cast<uint32_t>(power + 127) << 23);
}

LPT_HOST_DEVICE static inline float listed_scale(const ScaleSpec &spec, float requested) {
  for (int32_t i = 0; i < spec.list_count; ++i) {
    if (spec.list[i] >= requested) return spec.list[i];
  }
  return spec.list[spec.list_count - 1];
}

LPT_HOST_DEVICE static inline float f32_scale(const ScaleSpec &spec, float amax) {
  if (spec.rule == LPT_SCALE_RULE_LIST) return listed_scale(spec, (amax / spec.largest) * spec.tensor_inverse);
  if (amax == 0.0f) return 1.0f;
  const float units = clamp_scale(amax * spec.tensor_inverse);
  switch (spec.rule) {
    case LPT_SCALE_RULE_POWER_OF_TWO:
      return clamped_power_of_two(ceil_log2_ratio(units, spec.largest));
    case LPT_SCALE_RULE_POWER_OF_TWO_DOWN:
      return clamped_power_of_two(floor_log2_ratio(units, spec.largest));
    case LPT_SCALE_RULE_POWER_OF_TWO_NEAREST:
      return clamped_power_of_two(nearest_log2_ratio(units, spec.largest));
    default:
      return clamp_scale((amax / spec.largest) * spec.tensor_inverse);
  }
}

LPT_HOST_DEVICE static inline uint32_t e8m0fnu_code(int32_t power) {
  if (power < -127) return 0;
  return power > 127 ? 254 : static_cast<uint32_t>(power + 127);
}

LPT_HOST_DEVICE static inline uint32_t e8m0fnu_scale(const ScaleSpec &spec, float amax) {
  float units = amax * spec.tensor_inverse;
  if (units == 0.0f) return 0;
  if (units > kLargestFloat) units = kLargestFloat;
  const FloatParts parts = float_parts(units);
  const int32_t least = float_parts(spec.largest).exponent;
  switch (spec.rule) {
    case LPT_SCALE_RULE_FLOOR:
    case LPT_SCALE_RULE_THREE_QUARTERS:
      return e8m0fnu_code(parts.exponent - least);
    case LPT_SCALE_RULE_CEIL:
      return e8m0fnu_code(parts.exponent - least + (parts.significand > 0x00800000u ? 1 : 0));
    case LPT_SCALE_RULE_EVEN: {
      const uint32_t half = 1u << (23 - spec.mantissa_bits - 1);
      return e8m0fnu_code(parts.exponent - least + (parts.significand + half >= 0x01000000u ? 1 : 0));
    }
    default:
      return e8m0fnu_code(ceil_log2_ratio(units, spec.largest));
  }
}

// QuEST (arXiv 2502.05003, as in Quartet): the clip that is optimal for normally distributed elements, as a power of two.
LPT_HOST_DEVICE static inline uint32_t quest_scale(const ScaleSpec &spec, const BlockStats &facts) {
  if (facts.amax == 0.0f) return 0;
  const float mean = facts.sum / facts.count;
  float variance = facts.square_sum / facts.count - mean * mean;
  if (!(variance > 0.0f)) variance = 0.0f;
  if (variance > kLargestFloat) variance = kLargestFloat;
  float requested = root(variance) * (2.92247856f / 6.0f) * spec.tensor_inverse + 1e-8f;
  if (requested > kLargestFloat) requested = kLargestFloat;
  if (spec.rule == LPT_SCALE_RULE_QUEST_FLOOR) return e8m0fnu_code(floor_log2_ratio(requested, 1.0f));
  if (spec.rule == LPT_SCALE_RULE_QUEST_CEIL) return e8m0fnu_code(ceil_log2_ratio(requested, 1.0f));
  return e8m0fnu_code(nearest_log2_ratio(requested, 1.0f));
}

// Returns (amax / M) · t · factor as a nonzero code of e4m3fn.
LPT_HOST_DEVICE static inline uint32_t e4m3fn_code(const ScaleSpec &spec, float amax, float factor) {
  float units = (amax / spec.largest) * spec.tensor_inverse;
  if (factor != 1.0f) units = units * factor;
  constexpr Element element = kElementE4m3fn;  // a copy: device code cannot reference host memory
  uint32_t code = encode(element, units, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 0);
  if (spec.rule == LPT_SCALE_RULE_ROUND_UP && code < element.max_code && decode(element, code) < units) ++code;
  return code == 0 ? 1 : code;
}

LPT_HOST_DEVICE static inline uint32_t e4m3fn_scale(const ScaleSpec &spec, float amax) {
  return e4m3fn_code(spec, amax, spec.rule == LPT_SCALE_RULE_HEADROOM ? 17.0f / 16.0f : 1.0f);
}

// Returns the code of a block scale for a rule that reads amax only. For f32, the code is the bits of the scale.
LPT_HOST_DEVICE static inline uint32_t block_scale_code(const ScaleSpec &spec, float amax) {
  if (spec.kind == LPT_FORMAT_E8M0FNU) return e8m0fnu_scale(spec, amax);
  if (spec.kind == LPT_FORMAT_E4M3FN) return e4m3fn_scale(spec, amax);
  return float_bits(f32_scale(spec, amax));
}

LPT_HOST_DEVICE static inline bool is_quest_rule(lpt_scale_rule rule) {
  return rule >= LPT_SCALE_RULE_QUEST_FLOOR && rule <= LPT_SCALE_RULE_QUEST_CEIL;
}

LPT_HOST_DEVICE static inline bool is_rule_of_amax(lpt_scale_rule rule) {
  switch (rule) {
    case LPT_SCALE_RULE_QUEST_FLOOR:
    case LPT_SCALE_RULE_QUEST_NEAREST:
    case LPT_SCALE_RULE_QUEST_CEIL:
    case LPT_SCALE_RULE_FOUR_OVER_SIX:
    case LPT_SCALE_RULE_MSE:
    case LPT_SCALE_RULE_FIXED:
    case LPT_SCALE_RULE_MEAN:
    case LPT_SCALE_RULE_SAWB:
      return false;
    default:
      return true;
  }
}

// Candidates of rules that try several scales.

// Returns the factor of an MSE candidate. Candidates 0 to 15 are 32/32, 31/32 … 17/32 of the AMAX scale. For e8m0fnu the four
// candidates are the power of ROUND_UP and the next three below it.
LPT_HOST_DEVICE static inline float mse_factor(int32_t candidate) {
  return static_cast<float>(32 - candidate) * 0x1p-5f;
}

LPT_HOST_DEVICE static inline int32_t candidate_count(const ScaleSpec &spec) {
  if (spec.rule == LPT_SCALE_RULE_FOUR_OVER_SIX) return 2;
  if (spec.rule != LPT_SCALE_RULE_MSE) return 1;
  return spec.kind == LPT_FORMAT_E8M0FNU ? 4 : 16;
}

LPT_HOST_DEVICE static inline uint32_t candidate_code(const ScaleSpec &spec, float amax, int32_t candidate) {
  if (spec.kind == LPT_FORMAT_E4M3FN) {
    if (spec.rule == LPT_SCALE_RULE_FOUR_OVER_SIX) return e4m3fn_code(spec, amax, candidate == 0 ? 1.0f : 1.5f);
    return e4m3fn_code(spec, amax, mse_factor(candidate));
  }
  if (spec.kind == LPT_FORMAT_E8M0FNU) {
    const uint32_t code = e8m0fnu_scale(spec, amax);
    return code > static_cast<uint32_t>(candidate) ? code - static_cast<uint32_t>(candidate) : 0;
  }
  if (amax == 0.0f) return float_bits(1.0f);
  return float_bits(clamp_scale((amax / spec.largest) * spec.tensor_inverse * mse_factor(candidate)));
}

// Adds `count` elements in the order of a vector of 16 lanes. Lane i sums the elements i, i + 16, i + 32 ... in order. Then
// lanes 8 to 15 are added to lanes 0 to 7, lanes 4 to 7 to lanes 0 to 3, and so on.
template <typename Number>
LPT_HOST_DEVICE static inline float striped_sum(int64_t count, const Number &number) {
  float lane[16] = {};
  for (int64_t i = 0; i < count; ++i) lane[i % 16] += number(i);
  for (int64_t width = 8; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

LPT_HOST_DEVICE static inline float block_scale_value(lpt_format block_scale, uint32_t code) {
  constexpr Element power = kElementE8m0fnu;  // copies, as in e4m3fn_code
  constexpr Element number = kElementE4m3fn;
  if (block_scale == LPT_FORMAT_E8M0FNU) return decode(power, code);
  if (block_scale == LPT_FORMAT_E4M3FN) return decode(number, code);
  return bits_float(code);
}

LPT_HOST_DEVICE static inline uint32_t block_scale_nan(lpt_format block_scale) {
  if (block_scale == LPT_FORMAT_E8M0FNU) return kElementE8m0fnu.nan_code;
  return block_scale == LPT_FORMAT_E4M3FN ? kElementE4m3fn.nan_code : kFloatNanBits;
}

// Returns whether a NaN in a block makes its scale NaN. Otherwise the codes of the elements hold the NaN.
LPT_HOST_DEVICE static inline bool nan_goes_to_scale(lpt_format block_scale, const Element &element) {
  return block_scale != LPT_FORMAT_F32 || element.nan_code == 0;
}

// Returns 1 / scale. Overflow becomes the largest f32, so that 0 · inverse is 0. A NaN is returned as NaN.
LPT_HOST_DEVICE static inline float inverse_scale(float scale) {
  const float inverse = 1.0f / scale;
  return inverse > kLargestFloat ? kLargestFloat : inverse;
}

// Returns source · inverse with the sign of the source, also for NaN: machines differ in which NaN a multiplication returns.
LPT_HOST_DEVICE static inline float scaled(float source, float inverse) {
  return bits_float((float_bits(source * inverse) & 0x7FFFFFFFu) | (float_bits(source) & 0x80000000u));
}

// Returns element · scale. A NaN becomes the quiet NaN with the sign of the element.
LPT_HOST_DEVICE static inline float unscaled(float element, float scale) {
  const float scaled_value = element * scale;
  return scaled_value == scaled_value ? scaled_value : bits_float((float_bits(element) & 0x80000000u) | kFloatNanBits);
}

// Returns the tensor scale that belongs to block scales of format spec.kind (NONE: no block scales). The rule is resolved.
LPT_HOST_DEVICE static inline float tensor_scale_value(ScaleSpec spec, float amax) {
  if (spec.kind == LPT_FORMAT_E4M3FN) {
    if (amax == 0.0f) return 1.0f;
    const bool has_space = spec.rule == LPT_SCALE_RULE_HEADROOM || spec.rule == LPT_SCALE_RULE_FOUR_OVER_SIX;
    return clamp_scale(amax / (spec.largest * (has_space ? 256.0f : 448.0f)));
  }
  if (spec.rule == LPT_SCALE_RULE_THREE_QUARTERS) return 4.0f / 3.0f;
  spec.tensor_inverse = 1.0f;
  return f32_scale(spec, amax);
}

// Returns the spec of a format's scales.
static inline ScaleSpec scale_spec(const Format &format, lpt_scale_rule rule, float tensor_inverse,
                                   const float *list = kGaudi2Scales, int32_t list_count = 4) {
  ScaleSpec spec = {format.block_scale, rule, largest_of(format.element), 0, tensor_inverse, list, list_count};
  if (has_element(format.element)) spec.mantissa_bits = element_of(format.element).mantissa_bits;
  // The factor 4/3 only adds headroom and must cancel before the floor: (1 / (4/3)) · (4/3) is 1 in f32, too.
  if (rule == LPT_SCALE_RULE_THREE_QUARTERS) spec.tensor_inverse *= 4.0f / 3.0f;
  return spec;
}

}  // namespace lpt
