// Amax and scales of blocks with AVX2, eight blocks at a time, by the rules of block_scale.hpp. Included by an ISA file only.
#pragma once

#include "kernels/quantize/x86/avx2_lanes.hpp"

namespace lpt {
namespace {

[[gnu::always_inline]] inline __m256i magnitude_bits(__m256 value) {
  return _mm256_and_si256(_mm256_castps_si256(value), all_lanes(0x7FFFFFFF));
}

// Loads the first `count` lanes; the other lanes are zero.
[[gnu::always_inline]] inline __m256 load_some(const float *from, int64_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane));
}

// Returns the largest magnitude of `count` elements in each lane, as bits; infinities and NaN count.
inline __m256i largest_bits(const float *from, int64_t count) {
  __m256i largest[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  int64_t at = 0;
  for (; at + 16 <= count; at += 16) {
    largest[0] = _mm256_max_epi32(largest[0], magnitude_bits(_mm256_loadu_ps(from + at)));
    largest[1] = _mm256_max_epi32(largest[1], magnitude_bits(_mm256_loadu_ps(from + at + 8)));
  }
  for (; at < count; at += 8) {
    const int64_t left = count - at;
    largest[0] = _mm256_max_epi32(largest[0], magnitude_bits(load_some(from + at, left < 8 ? left : 8)));
  }
  return _mm256_max_epi32(largest[0], largest[1]);
}

// Returns the largest lane of vector i in lane i.
[[gnu::always_inline]] inline __m256i largest_of_each(const __m256i (&v)[8]) {
  __m256i pairs[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pairs[i] =
        _mm256_max_epi32(_mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]), _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  }
  const __m256i low =
      _mm256_max_epi32(_mm256_unpacklo_epi64(pairs[0], pairs[1]), _mm256_unpackhi_epi64(pairs[0], pairs[1]));
  const __m256i high =
      _mm256_max_epi32(_mm256_unpacklo_epi64(pairs[2], pairs[3]), _mm256_unpackhi_epi64(pairs[2], pairs[3]));
  return _mm256_max_epi32(_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31));
}

// Returns the largest magnitudes of eight full blocks of 8 · kVectors elements.
template <int kVectors>
[[gnu::always_inline]] inline __m256i largest_of_blocks(const float *from) {
  __m256i v[8];
#pragma GCC unroll 8
  for (int block = 0; block < 8; ++block) {
    v[block] = magnitude_bits(_mm256_loadu_ps(from + 8 * kVectors * block));
#pragma GCC unroll 4
    for (int i = 1; i < kVectors; ++i) {
      v[block] = _mm256_max_epi32(v[block], magnitude_bits(_mm256_loadu_ps(from + 8 * (kVectors * block + i))));
    }
  }
  return largest_of_each(v);
}

// Raises slab[b] to the largest magnitude of block b of the `count` elements, as bits, eight blocks at a time.
inline void raise_blocks(const float *from, int64_t count, int64_t block, uint32_t *slab) {
  for (int64_t first = 0; first < count; first += 8 * block, slab += 8) {
    const int64_t left = count - first;
    __m256i found;
    if (left >= 8 * block && block == 16) {
      found = largest_of_blocks<2>(from + first);
    } else if (left >= 8 * block && block == 32) {
      found = largest_of_blocks<4>(from + first);
    } else {
      __m256i v[8];
      for (int64_t i = 0; i < 8; ++i) {
        const int64_t rest = left - i * block;
        v[i] = rest > 0 ? largest_bits(from + first + i * block, rest < block ? rest : block) : _mm256_setzero_si256();
      }
      found = largest_of_each(v);
    }
    const __m256i before = load_bytes(slab);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(slab), _mm256_max_epi32(before, found));
  }
}

inline uint32_t largest_lane(__m256i lanes) {
  uint32_t values[8];
  memcpy(values, &lanes, sizeof values);
  uint32_t largest = 0;
  for (const uint32_t value : values) largest = value > largest ? value : largest;
  return largest;
}

// Rules.

// Eight codes, or the bits of f32 scales, and their values.
struct BlockScales {
  __m256i codes;
  __m256 value;
};

// A rule that selects the power of two of (amax · t) / M, or the next power if the significand is above `threshold`.
struct PowerRule {
  int32_t shift;      // added to the exponent of amax · t
  int32_t threshold;  // without the implicit leading one
};

inline PowerRule power_rule(const ScaleSpec &spec) {
  const FloatParts most = float_parts(spec.largest);
  const auto fraction = static_cast<int32_t>(most.significand & 0x007FFFFFu);
  switch (spec.rule) {
    case LPT_SCALE_RULE_FLOOR:
    case LPT_SCALE_RULE_THREE_QUARTERS:
      return {-most.exponent, 0x007FFFFF};
    case LPT_SCALE_RULE_CEIL:
      return {-most.exponent, 0};
    case LPT_SCALE_RULE_EVEN:
      return {-most.exponent, 0x007FFFFF - (1 << (22 - spec.mantissa_bits))};
    case LPT_SCALE_RULE_POWER_OF_TWO_DOWN:
      return {-most.exponent - 1, fraction - 1};
    default:
      return {-most.exponent, fraction};
  }
}

// Returns the exponent of each lane + 127, for positive finite units.
[[gnu::always_inline]] inline __m256i biased_power(__m256 units, const PowerRule &rule) {
  const __m256i is_subnormal = _mm256_cmpgt_epi32(all_lanes(0x00800000), _mm256_castps_si256(units));
  const __m256 raised = _mm256_mul_ps(units, _mm256_set1_ps(0x1p24f));
  const __m256i bits = _mm256_castps_si256(_mm256_blendv_ps(units, raised, _mm256_castsi256_ps(is_subnormal)));
  const __m256i lowered = _mm256_and_si256(is_subnormal, _mm256_set1_epi32(24));
  const __m256i exponent = _mm256_sub_epi32(_mm256_srli_epi32(bits, 23), lowered);
  const __m256i fraction = _mm256_and_si256(bits, all_lanes(0x007FFFFF));
  const __m256i is_above = _mm256_cmpgt_epi32(fraction, _mm256_set1_epi32(rule.threshold));
  return _mm256_sub_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(rule.shift)), is_above);
}

[[gnu::always_inline]] inline BlockScales e8m0fnu_scales(__m256 units, const PowerRule &rule) {
  const __m256i power = biased_power(_mm256_min_ps(units, _mm256_set1_ps(kLargestFloat)), rule);
  const __m256i held = _mm256_min_epi32(_mm256_max_epi32(power, _mm256_setzero_si256()), _mm256_set1_epi32(254));
  const __m256i is_zero = _mm256_castps_si256(_mm256_cmp_ps(units, _mm256_setzero_ps(), _CMP_EQ_OQ));
  const __m256i codes = _mm256_andnot_si256(is_zero, held);
  return {codes, e8m0fnu_values(codes)};
}

[[gnu::always_inline]] inline BlockScales e4m3fn_scales(__m256 units, bool rounds_up) {
  const __m256 held = _mm256_min_ps(units, _mm256_set1_ps(448.0f));
  const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(held), all_lanes(0x7F800000));
  const __m256i field = _mm256_max_epi32(exponent, all_lanes((127 - 6) << 23));
  const __m256i magic = _mm256_add_epi32(field, all_lanes(20 << 23));
  const __m256i sum = _mm256_castps_si256(_mm256_add_ps(held, _mm256_castsi256_ps(magic)));
  const __m256i steps = _mm256_srli_epi32(_mm256_sub_epi32(field, all_lanes((127 - 6) << 23)), 20);
  __m256i codes = _mm256_add_epi32(_mm256_sub_epi32(sum, magic), steps);
  if (rounds_up) {
    const __m256i is_below = _mm256_castps_si256(_mm256_cmp_ps(e4m3fn_values(codes), units, _CMP_LT_OQ));
    codes = _mm256_min_epi32(_mm256_sub_epi32(codes, is_below), all_lanes(0x7E));
  }
  codes = _mm256_max_epi32(codes, all_lanes(1));
  return {codes, e4m3fn_values(codes)};
}

[[gnu::always_inline]] inline BlockScales f32_scales(__m256 amax, __m256 value) {
  const __m256 is_zero = _mm256_cmp_ps(amax, _mm256_setzero_ps(), _CMP_EQ_OQ);
  const __m256 scale = _mm256_blendv_ps(value, _mm256_set1_ps(1.0f), is_zero);
  return {_mm256_castps_si256(scale), scale};
}

[[gnu::always_inline]] inline __m256 clamped(__m256 scale) {
  return _mm256_min_ps(_mm256_max_ps(scale, _mm256_set1_ps(kSmallestNormal)), _mm256_set1_ps(kLargestFloat));
}

// Applies rules without a vector implementation, one block at a time.
inline BlockScales scales_one_by_one(const ScaleSpec &spec, __m256 amax) {
  float each[8];
  uint32_t codes[8];
  float values[8];
  memcpy(each, &amax, sizeof each);
  for (int i = 0; i < 8; ++i) {
    codes[i] = block_scale_code(spec, each[i]);
    values[i] = block_scale_value(spec.kind, codes[i]);
  }
  return {load_bytes(codes), _mm256_loadu_ps(values)};
}

// Returns the scales of eight finite amax.
inline BlockScales block_scales(const ScaleSpec &spec, __m256 amax) {
  const __m256 tensor_inverse = _mm256_set1_ps(spec.tensor_inverse);
  const __m256 units = _mm256_mul_ps(amax, tensor_inverse);
  const __m256 parts = _mm256_mul_ps(_mm256_div_ps(amax, _mm256_set1_ps(spec.largest)), tensor_inverse);
  if (spec.kind == LPT_FORMAT_E8M0FNU) return e8m0fnu_scales(units, power_rule(spec));
  if (spec.kind == LPT_FORMAT_E4M3FN) {
    const float factor = spec.rule == LPT_SCALE_RULE_HEADROOM ? 17.0f / 16.0f : 1.0f;
    return e4m3fn_scales(_mm256_mul_ps(parts, _mm256_set1_ps(factor)), spec.rule == LPT_SCALE_RULE_ROUND_UP);
  }
  if (spec.rule == LPT_SCALE_RULE_LIST || spec.rule == LPT_SCALE_RULE_POWER_OF_TWO_NEAREST) {
    return scales_one_by_one(spec, amax);
  }
  if (spec.rule == LPT_SCALE_RULE_AMAX) return f32_scales(amax, clamped(parts));
  const __m256i power = biased_power(clamped(units), power_rule(spec));
  const __m256i held = _mm256_min_epi32(_mm256_max_epi32(power, _mm256_set1_epi32(1)), _mm256_set1_epi32(254));
  return f32_scales(amax, _mm256_castsi256_ps(_mm256_slli_epi32(held, 23)));
}

// Returns 1 / scale as inverse_scale() does. minps returns its second operand for a NaN, so that a NaN is kept.
[[gnu::always_inline]] inline __m256 inverses_of(__m256 scale) {
  return _mm256_min_ps(_mm256_set1_ps(kLargestFloat), _mm256_div_ps(_mm256_set1_ps(1.0f), scale));
}

inline void store_scales(const MatrixView &target, int64_t index, __m256i codes, int64_t count) {
  uint32_t each[8];
  memcpy(each, &codes, sizeof each);
  if (count > 8) count = 8;
  if (target.format.block_scale == LPT_FORMAT_F32) {
    memcpy(static_cast<float *>(target.block_scales) + index, each, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(each[i]);
  memcpy(static_cast<uint8_t *>(target.block_scales) + index, bytes, static_cast<size_t>(count));
}

}  // namespace
}  // namespace lpt
