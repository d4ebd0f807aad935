// f32 → blocks of 16 or 32 elements along a row, with scales of 8 bits, sixteen blocks at a time with AVX-512. Included
// by an ISA file only.
#pragma once

#include "kernels/quantize/avx512_bytes.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

struct BlockRules {
  __m512 largest;  // of the element
  __m512 tensor_inverse;
  __m512 tensor_scale;
  bool has_headroom;  // e4m3fn
  bool is_floor;      // e8m0fnu
};

struct BlockScales {
  __m128i codes;
  __m512 inverse;
};

[[gnu::always_inline]] inline __m512 inverse_f32x16(__m512 block_scale, const BlockRules &rules) {
  const __m512 inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), _mm512_mul_ps(block_scale, rules.tensor_scale));
  return _mm512_min_ps(inverse, _mm512_set1_ps(kLargestFloat));
}

// The rules of block_scale.hpp for sixteen finite amax.
[[gnu::always_inline]] inline BlockScales e4m3fn_scales(__m512 amax, const BlockRules &rules) {
  __m512 units = _mm512_mul_ps(_mm512_div_ps(amax, rules.largest), rules.tensor_inverse);
  if (rules.has_headroom) units = _mm512_mul_ps(units, _mm512_set1_ps(17.0f / 16.0f));
  const __m512i biased = nearest_code<E4m3fn>(_mm512_min_ps(units, _mm512_set1_ps(E4m3fn::kLargest)));
  const __m512i low =
      _mm512_and_si512(_mm512_sub_epi32(biased, _mm512_set1_epi32(kNearestBias<E4m3fn>)), _mm512_set1_epi32(0x7F));
  const __m512i code = _mm512_max_epu32(low, _mm512_set1_epi32(1));
  const __m512i normal = _mm512_add_epi32(_mm512_slli_epi32(code, 20), _mm512_set1_epi32((127 - 7) << 23));
  const __m512 small = _mm512_mul_ps(_mm512_cvtepi32_ps(code), _mm512_set1_ps(0x1p-9f));
  const __mmask16 is_small = _mm512_cmplt_epu32_mask(code, _mm512_set1_epi32(8));
  const __m512 scale = _mm512_mask_mov_ps(_mm512_castsi512_ps(normal), is_small, small);
  return {_mm512_cvtepi32_epi8(code), inverse_f32x16(scale, rules)};
}

[[gnu::always_inline]] inline BlockScales e8m0fnu_scales(__m512 amax, const BlockRules &rules) {
  const __m512 units = _mm512_min_ps(_mm512_mul_ps(amax, rules.tensor_inverse), _mm512_set1_ps(kLargestFloat));
  const __m512 exponents = _mm512_sub_ps(_mm512_getexp_ps(units), _mm512_getexp_ps(rules.largest));
  __m512i power = _mm512_cvtps_epi32(exponents);  // of zero: -infinity, then the smallest integer
  if (!rules.is_floor) {
    const __m512 significand = _mm512_getmant_ps(units, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    const __m512 limit = _mm512_getmant_ps(rules.largest, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
    const __mmask16 is_above = _mm512_cmp_ps_mask(significand, limit, _CMP_GT_OQ);
    power = _mm512_mask_add_epi32(power, is_above, power, _mm512_set1_epi32(1));
  }
  const __m512i code = _mm512_add_epi32(_mm512_max_epi32(power, _mm512_set1_epi32(-127)), _mm512_set1_epi32(127));
  const __m512i bits = _mm512_mask_mov_epi32(_mm512_slli_epi32(code, 23), _mm512_testn_epi32_mask(code, code),
                                             _mm512_set1_epi32(0x00400000));
  return {_mm512_cvtepi32_epi8(code), inverse_f32x16(_mm512_castsi512_ps(bits), rules)};
}

[[gnu::always_inline]] inline BlockScales block_scales(bool is_e4m3fn, __m512 amax, const BlockRules &rules) {
  return is_e4m3fn ? e4m3fn_scales(amax, rules) : e8m0fnu_scales(amax, rules);
}

// Lane i of the result is the largest lane of vector i.
[[gnu::always_inline]] inline __m512i largest_of_each(__m512i (&v)[16]) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    v[i] =
        _mm512_max_epu32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] =
        _mm512_max_epu32(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    v[i] = _mm512_max_epu32(_mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0x88),
                            _mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0xDD));
  }
  return _mm512_max_epu32(_mm512_shuffle_i32x4(v[0], v[1], 0x88), _mm512_shuffle_i32x4(v[0], v[1], 0xDD));
}

// Bytes with the sign on top and the magnitude in the low bits → two codes of 4 bits per byte.
[[gnu::always_inline]] inline __m256i packed_nibbles(__m512i bytes) {
  const __m512i magnitudes = _mm512_and_si512(bytes, _mm512_set1_epi8(7));
  const __m512i nibbles = _mm512_ternarylogic_epi32(_mm512_set1_epi8(8), _mm512_srli_epi16(bytes, 4), magnitudes, 0xCA);
  return _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(nibbles, _mm512_set1_epi16(0x1001)));
}

struct BlockCast {
  BlockRules rules;
  PhiloxLanes philox;
  __m512i amax;  // largest finite magnitude so far, as bits
};

// Sixteen blocks from `from`, `count` numbers or fewer than whole. False: there is an infinity or NaN, nothing was done.
template <typename Element, Mode kMode, int kVectors, bool kIsE4m3fn>
bool cast_blocks(BlockCast &cast, const float *from, uint8_t *to, uint8_t *scales, int64_t count,
                 uint64_t random_block) {
  constexpr int64_t kBlock = 16 * kVectors;
  constexpr bool kIsPacked = Element::kMantissaBits == 1;
  const bool is_whole = count >= 16 * kBlock;
  const auto load = [&](int64_t at) {
    if (is_whole) return _mm512_loadu_ps(from + at);
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(lane_mask(0, count - at) & 0xFFFF), from + at);
  };
  __m512i magnitudes[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    magnitudes[i] = _mm512_castps_si512(magnitude_f32x16(load(i * kBlock)));
    if constexpr (kVectors == 2) {
      magnitudes[i] = _mm512_max_epu32(magnitudes[i], _mm512_castps_si512(magnitude_f32x16(load(i * kBlock + 16))));
    }
  }
  const __m512i amax = largest_of_each(magnitudes);
  if (_mm512_cmpge_epu32_mask(amax, _mm512_set1_epi32(0x7F800000)) != 0) return false;
  cast.amax = _mm512_max_epu32(cast.amax, amax);
  const BlockScales found = block_scales(kIsE4m3fn, _mm512_castsi512_ps(amax), cast.rules);
  _mm_mask_storeu_epi8(scales, static_cast<__mmask16>(lane_mask(0, (count + kBlock - 1) / kBlock) & 0xFFFF),
                       found.codes);

  for (int group = 0; group < 4 * kVectors && group * 64 < count; ++group) {
    __m512 source[4];
    __m512 inverse[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      source[i] = load(group * 64 + 16 * i);
      inverse[i] = _mm512_permutexvar_ps(_mm512_set1_epi32((group * 4 + i) / kVectors), found.inverse);
    }
    RandomU16x64 random = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    const uint64_t block = random_block + static_cast<uint64_t>(group) * 8;
    if constexpr (kMode == Mode::kPhilox7) random = random_u16x64<7>(cast.philox, block);
    if constexpr (kMode == Mode::kPhilox10) random = random_u16x64<10>(cast.philox, block);
    const __m512i bytes = codes_of<Element, kMode>(source, inverse, random);
    const int64_t left = count - group * 64;
    if constexpr (kIsPacked) {
      _mm256_mask_storeu_epi8(to + group * 32, static_cast<__mmask32>(lane_mask(0, (left + 1) / 2)),
                              packed_nibbles(bytes));
    } else {
      _mm512_mask_storeu_epi8(to + group * 64, lane_mask(0, left), bytes);
    }
  }
  return true;
}

using CastBlocks = bool (*)(BlockCast &, const float *, uint8_t *, uint8_t *, int64_t, uint64_t);

template <typename Element, Mode kMode>
CastBlocks blocks_of(const Format &format) {
  const bool is_e4m3fn = format.block_scale == LPT_FORMAT_E4M3FN;
  if (format.block_columns == 16) {
    return is_e4m3fn ? cast_blocks<Element, kMode, 1, true> : cast_blocks<Element, kMode, 1, false>;
  }
  return is_e4m3fn ? cast_blocks<Element, kMode, 2, true> : cast_blocks<Element, kMode, 2, false>;
}

template <typename Element>
CastBlocks blocks_of(const Format &format, Mode mode) {
  if (mode == Mode::kPhilox7) return blocks_of<Element, Mode::kPhilox7>(format);
  if (mode == Mode::kPhilox10) return blocks_of<Element, Mode::kPhilox10>(format);
  return blocks_of<Element, Mode::kNearest>(format);
}

CastBlocks blocks_of(const Format &format, Mode mode) {
  switch (format.element) {
    case LPT_FORMAT_E2M1FN:
      return blocks_of<E2m1fn>(format, mode);
    case LPT_FORMAT_E5M2:
      return blocks_of<E5m2>(format, mode);
    default:
      return blocks_of<E4m3fn>(format, mode);
  }
}

}  // namespace
}  // namespace lpt
