// Rules of block_scale.hpp that depend on amax only, for sixteen blocks at a time with AVX-512. Included by an ISA file only.
//
// All power-of-two rules have one form: power = exponent of units + base + (significand > above[0]) + (significand > above[1]),
// where units = amax · t.
#pragma once

#include "kernels/quantize/quantize.hpp"
#include "kernels/quantize/x86/avx512_element.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

struct ScaleLanes {
  ScaleSpec spec;
  bool is_power;
  __m512 largest;  // largest element
  __m512 tensor_inverse;
  __m512 tensor_scale;
  __m512 base;
  __m512 above[2];
  ElementLanes e4m3fn;
};

struct FoundScales {
  __m512i codes;  // for f32 scales: their bits
  __m512 inverse;
};

// Returns floor(√2 · value) for a 24-bit value.
inline uint32_t times_root_two(uint32_t value) {
  const uint64_t square = 2 * uint64_t{value} * value;
  auto result = static_cast<uint64_t>(__builtin_sqrt(static_cast<double>(square)));
  while (result * result > square) --result;
  while ((result + 1) * (result + 1) <= square) ++result;
  return static_cast<uint32_t>(result);
}

inline void set_powers(ScaleLanes &lanes) {
  const FloatParts largest = float_parts(lanes.spec.largest);
  int32_t base = -largest.exponent;
  uint32_t above[2] = {0x02000000, 0x02000000};  // exceeds every significand
  switch (lanes.spec.rule) {
    case LPT_SCALE_RULE_FLOOR:
    case LPT_SCALE_RULE_THREE_QUARTERS:
      break;
    case LPT_SCALE_RULE_CEIL:
      above[0] = 0x00800000;
      break;
    case LPT_SCALE_RULE_EVEN:
      above[0] = 0x00FFFFFF - (1u << (23 - lanes.spec.mantissa_bits - 1));
      break;
    case LPT_SCALE_RULE_POWER_OF_TWO_DOWN:
      --base;
      above[0] = largest.significand - 1;
      break;
    case LPT_SCALE_RULE_POWER_OF_TWO_NEAREST:
      --base;
      above[1] = times_root_two(largest.significand);
      above[0] = above[1] / 2;
      break;
    case LPT_SCALE_RULE_QUEST_FLOOR:
      base = 0;
      break;
    case LPT_SCALE_RULE_QUEST_NEAREST:
      base = 0;
      above[0] = times_root_two(0x00800000);
      break;
    case LPT_SCALE_RULE_QUEST_CEIL:
      base = 0;
      above[0] = 0x00800000;
      break;
    default:
      above[0] = largest.significand;
      break;
  }
  lanes.base = _mm512_set1_ps(static_cast<float>(base));
  for (int i = 0; i < 2; ++i) lanes.above[i] = _mm512_set1_ps(static_cast<float>(above[i]) * 0x1p-23f);
}

inline ScaleLanes scale_lanes(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  ScaleLanes lanes = {};
  lanes.spec =
      scale_spec(target.format, request.rule, request.tensor_inverse, request.scale_list, request.scale_list_count);
  lanes.is_power = target.format.block_scale == LPT_FORMAT_E8M0FNU || request.rule == LPT_SCALE_RULE_POWER_OF_TWO ||
                   request.rule == LPT_SCALE_RULE_POWER_OF_TWO_DOWN ||
                   request.rule == LPT_SCALE_RULE_POWER_OF_TWO_NEAREST;
  lanes.largest = _mm512_set1_ps(lanes.spec.largest);
  lanes.tensor_inverse = _mm512_set1_ps(lanes.spec.tensor_inverse);
  lanes.tensor_scale = _mm512_set1_ps(target.format.tensor_scale != LPT_FORMAT_NONE ? *target.tensor_scale : 1.0f);
  if (lanes.is_power) set_powers(lanes);
  if (target.format.block_scale == LPT_FORMAT_E4M3FN) lanes.e4m3fn = element_lanes(kElementE4m3fn, Kind::kEven);
  return lanes;
}

// Returns the exponents as integers; for zero a large negative integer.
[[gnu::always_inline]] inline __m512i powers(__m512 units, const ScaleLanes &lanes) {
  const __m512 significand = _mm512_getmant_ps(units, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const __m512i one = _mm512_set1_epi32(1);
  __m512i power = _mm512_cvtps_epi32(_mm512_add_ps(_mm512_getexp_ps(units), lanes.base));
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    power = _mm512_mask_add_epi32(power, _mm512_cmp_ps_mask(significand, lanes.above[i], _CMP_GT_OQ), power, one);
  }
  return power;
}

[[gnu::always_inline]] inline __m512 clamped(__m512 scale) {
  return _mm512_min_ps(_mm512_max_ps(scale, _mm512_set1_ps(kSmallestNormal)), _mm512_set1_ps(kLargestFloat));
}

[[gnu::always_inline]] inline __m512 units_of(__m512 amax, const ScaleLanes &lanes) {
  return _mm512_mul_ps(_mm512_div_ps(amax, lanes.largest), lanes.tensor_inverse);
}

[[gnu::always_inline]] inline __m512i e8m0fnu_codes(__m512 amax, const ScaleLanes &lanes) {
  const __m512 units = _mm512_min_ps(_mm512_mul_ps(amax, lanes.tensor_inverse), _mm512_set1_ps(kLargestFloat));
  const __m512i least = _mm512_set1_epi32(-127);
  const __m512i power = _mm512_min_epi32(_mm512_max_epi32(powers(units, lanes), least), _mm512_set1_epi32(127));
  return _mm512_sub_epi32(power, least);
}

inline __m512 e8m0fnu_values(__m512i codes) {
  const __m512i bits = _mm512_mask_mov_epi32(_mm512_slli_epi32(codes, 23), _mm512_testn_epi32_mask(codes, codes),
                                             _mm512_set1_epi32(0x00400000));
  const __mmask16 is_nan = _mm512_cmpeq_epi32_mask(codes, _mm512_set1_epi32(0xFF));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(bits, is_nan, _mm512_set1_epi32(kFloatNanBits)));
}

inline __m512 e4m3fn_values(__m512i codes) {
  const __m512i magnitude = _mm512_and_si512(codes, _mm512_set1_epi32(0x7F));
  const __m512i normal = _mm512_add_epi32(_mm512_slli_epi32(magnitude, 20), _mm512_set1_epi32((127 - 7) << 23));
  const __m512 small = _mm512_mul_ps(_mm512_cvtepi32_ps(magnitude), _mm512_set1_ps(0x1p-9f));
  const __mmask16 is_small = _mm512_cmplt_epu32_mask(magnitude, _mm512_set1_epi32(8));
  const __mmask16 is_nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x7F));
  const __m512i number = _mm512_mask_mov_epi32(normal, is_small, _mm512_castps_si512(small));
  const __m512i bits = _mm512_mask_mov_epi32(number, is_nan, _mm512_set1_epi32(kFloatNanBits));
  return _mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(_mm512_set1_epi32(INT32_MIN), _mm512_slli_epi32(codes, 24), bits, 0xCA));
}

// e4m3fn_code() of sixteen amax.
[[gnu::always_inline]] inline __m512i e4m3fn_codes(__m512 amax, float factor, const ScaleLanes &lanes) {
  __m512 units = units_of(amax, lanes);
  if (factor != 1.0f) units = _mm512_mul_ps(units, _mm512_set1_ps(factor));
  __m512i codes = _mm512_and_si512(rounded<Kind::kEven>(units, lanes.e4m3fn), _mm512_set1_epi32(0x7F));
  if (lanes.spec.rule == LPT_SCALE_RULE_ROUND_UP) {
    const __mmask16 is_below = _mm512_cmp_ps_mask(e4m3fn_values(codes), units, _CMP_LT_OQ) &
                               _mm512_cmplt_epu32_mask(codes, _mm512_set1_epi32(kElementE4m3fn.max_code));
    codes = _mm512_mask_add_epi32(codes, is_below, codes, _mm512_set1_epi32(1));
  }
  return _mm512_max_epu32(codes, _mm512_set1_epi32(1));
}

inline __m512 listed_scales(__m512 ideal, const ScaleSpec &spec) {
  __m512 found = _mm512_set1_ps(spec.list[spec.list_count - 1]);
  for (int32_t i = spec.list_count - 1; i >= 0; --i) {
    const __m512 scale = _mm512_set1_ps(spec.list[i]);
    found = _mm512_mask_mov_ps(found, _mm512_cmp_ps_mask(scale, ideal, _CMP_GE_OQ), scale);
  }
  return found;
}

inline __m512 f32_scales(__m512 amax, const ScaleLanes &lanes) {
  if (lanes.spec.rule == LPT_SCALE_RULE_LIST) return listed_scales(units_of(amax, lanes), lanes.spec);
  const __mmask16 is_zero = _mm512_cmp_ps_mask(amax, _mm512_setzero_ps(), _CMP_EQ_OQ);
  __m512 scale;
  if (lanes.is_power) {
    const __m512i found = powers(clamped(_mm512_mul_ps(amax, lanes.tensor_inverse)), lanes);
    const __m512i power = _mm512_min_epi32(_mm512_max_epi32(found, _mm512_set1_epi32(-126)), _mm512_set1_epi32(127));
    scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(power, _mm512_set1_epi32(127)), 23));
  } else {
    scale = clamped(units_of(amax, lanes));
  }
  return _mm512_mask_mov_ps(scale, is_zero, _mm512_set1_ps(1.0f));
}

// Returns the values of scale codes.
[[gnu::always_inline]] inline __m512 scale_values(lpt_format kind, __m512i codes) {
  if (kind == LPT_FORMAT_E8M0FNU) return e8m0fnu_values(codes);
  return kind == LPT_FORMAT_E4M3FN ? e4m3fn_values(codes) : _mm512_castsi512_ps(codes);
}

[[gnu::always_inline]] inline __m512 inverses_of(__m512i codes, const ScaleLanes &lanes) {
  const __m512 scale = _mm512_mul_ps(scale_values(lanes.spec.kind, codes), lanes.tensor_scale);
  const __m512 inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), scale);
  // minps returns its second operand for a NaN, so that a NaN is kept. abs() is applied because the sign of a code is that of
  // the source only.
  return abs(_mm512_min_ps(_mm512_set1_ps(kLargestFloat), inverse));
}

// Returns the scales of sixteen finite amax and their inverses.
[[gnu::always_inline]] inline FoundScales found_scales(__m512 amax, const ScaleLanes &lanes) {
  __m512i codes;
  if (lanes.spec.kind == LPT_FORMAT_E8M0FNU) {
    codes = e8m0fnu_codes(amax, lanes);
  } else if (lanes.spec.kind == LPT_FORMAT_E4M3FN) {
    codes = e4m3fn_codes(amax, lanes.spec.rule == LPT_SCALE_RULE_HEADROOM ? 17.0f / 16.0f : 1.0f, lanes);
  } else {
    codes = _mm512_castps_si512(f32_scales(amax, lanes));
  }
  return {codes, inverses_of(codes, lanes)};
}

}  // namespace
}  // namespace lpt
