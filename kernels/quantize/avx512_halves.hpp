// f32 → f16 and bf16 to nearest even, and small floats → f32, with AVX-512. Included by an ISA file only.
#pragma once

#include "kernels/common/x86_avx512.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

struct HalfCast {
  __m512 inverse;
  __m512 limit;  // the largest element where overflow saturates, else infinity
  __m512i amax;  // largest finite magnitude so far, as bits
  bool is_streamed;
};

// Codes in the low halves of the lanes.
template <bool kIsF16>
[[gnu::always_inline]] inline __m512i half_code(__m512 source, const HalfCast &cast) {
  const __m512 product = magnitude_f32x16(_mm512_mul_ps(source, cast.inverse));
  const __m512 magnitude = _mm512_min_ps(cast.limit, product);  // NaN stays: it is the second operand
  __m512i code;
  if constexpr (kIsF16) {
    code = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(magnitude, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  } else {
    const __m512i bits = _mm512_castps_si512(magnitude);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    code = _mm512_srli_epi32(sum, 16);
  }
  const __mmask16 is_nan = _mm512_cmp_ps_mask(magnitude, magnitude, _CMP_UNORD_Q);
  const Element element = kIsF16 ? kElementF16 : kElementBf16;
  code = _mm512_mask_mov_epi32(code, is_nan, _mm512_set1_epi32(static_cast<int>(element.nan_code)));
  const __m512i sign = _mm512_set1_epi32(0x8000);
  return _mm512_ternarylogic_epi32(sign, _mm512_srli_epi32(_mm512_castps_si512(source), 16), code, 0xCA);
}

// One group of 32; lanes outside `mask` are neither read nor written.
template <bool kIsF16, bool kIsWhole>
[[gnu::always_inline]] inline void half_group(HalfCast &cast, const float *from, uint16_t *to, __mmask32 mask) {
  __m512 source[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const auto lanes = static_cast<__mmask16>(mask >> (16 * i));
    source[i] = kIsWhole ? _mm512_loadu_ps(from + 16 * i) : _mm512_maskz_loadu_ps(lanes, from + 16 * i);
    const __m512i magnitude = _mm512_castps_si512(magnitude_f32x16(source[i]));
    const __mmask16 is_finite = _mm512_cmplt_epu32_mask(magnitude, _mm512_set1_epi32(0x7F800000));
    cast.amax = _mm512_mask_max_epu32(cast.amax, is_finite, cast.amax, magnitude);
  }
  const __m256i low = _mm512_cvtepi32_epi16(half_code<kIsF16>(source[0], cast));
  const __m256i high = _mm512_cvtepi32_epi16(half_code<kIsF16>(source[1], cast));
  const __m512i codes = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  if (!kIsWhole) {
    _mm512_mask_storeu_epi16(to, mask, codes);
  } else if (cast.is_streamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes);
  } else {
    _mm512_storeu_si512(to, codes);
  }
}

// `count` adjacent numbers; the first group starts before them, where the target is aligned.
template <bool kIsF16>
void half_span(HalfCast &cast, const float *from, uint16_t *to, int64_t count) {
  const auto head = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64 / 2);
  for (int64_t first = -head; first < count; first += 32) {
    if (first >= 0 && first + 32 <= count) {
      half_group<kIsF16, true>(cast, from + first, to + first, ~__mmask32{0});
    } else {
      half_group<kIsF16, false>(cast, from + first, to + first,
                                static_cast<__mmask32>(lane_mask(-first, count - first)));
    }
  }
}

// The upper bytes of an f32 are its bf16, which holds every float of 8 bits: one table for each byte of it, by the seven
// magnitude bits of the code.
struct ByteTables {
  uint8_t low[128];
  uint8_t high[128];
};

consteval ByteTables byte_tables(Element element) {
  ByteTables tables = {};
  for (uint32_t code = 0; code < 128; ++code) {
    const uint32_t fraction = code & ((1u << element.mantissa_bits) - 1);
    uint32_t bits = 0;
    if (code > element.max_code) {
      const bool is_infinity = code == element.infinity_code && element.infinity_code != element.nan_code;
      bits = is_infinity ? 0x7F80 : 0x7FC0;
    } else if (code >> element.mantissa_bits != 0) {
      const auto bias = static_cast<uint32_t>(element.min_exponent + 126);
      bits = ((code >> element.mantissa_bits) + bias) << 7 | fraction << (7 - element.mantissa_bits);
    } else if (fraction != 0) {
      int32_t exponent = element.min_exponent;
      uint32_t significand = fraction << (7 - element.mantissa_bits);
      for (; significand < 128; significand <<= 1) --exponent;
      bits = static_cast<uint32_t>(exponent + 127) << 7 | (significand & 127);
    }
    tables.low[code] = static_cast<uint8_t>(bits);
    tables.high[code] = static_cast<uint8_t>(bits >> 8);
  }
  return tables;
}

alignas(64) constexpr ByteTables kE4m3fnTables = byte_tables(kElementE4m3fn);
alignas(64) constexpr ByteTables kE4m3Tables = byte_tables(kElementE4m3);
alignas(64) constexpr ByteTables kE5m2Tables = byte_tables(kElementE5m2);

// Stores 16 numbers, past the caches if the place is aligned.
[[gnu::always_inline]] inline void store_f32(float *to, __m512 value, __mmask16 mask, bool is_streamed) {
  if (mask != 0xFFFF) {
    _mm512_mask_storeu_ps(to, mask, value);
  } else if (is_streamed) {
    _mm512_stream_ps(to, value);
  } else {
    _mm512_storeu_ps(to, value);
  }
}

// Spreads bytes 16i to 16i + 15 of `low` and `high` over the two upper bytes of the lanes.
[[gnu::always_inline]] inline __m512 joined(__m512i low, __m512i high, int part) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i number = _mm512_add_epi32(lane, _mm512_set1_epi32(16 * part));
  // Byte 2 of a lane takes from `low`, byte 3 from `high` (index 64 and up); bytes 0 and 1 are zero.
  const __m512i index = _mm512_or_si512(_mm512_slli_epi32(number, 16),
                                        _mm512_slli_epi32(_mm512_add_epi32(number, _mm512_set1_epi32(64)), 24));
  return _mm512_castsi512_ps(_mm512_maskz_permutex2var_epi8(0xCCCCCCCCCCCCCCCC, low, index, high));
}

inline void decode_bytes(const ByteTables &tables, const uint8_t *from, float *to, int64_t count, __m512 scale,
                         bool is_streamed) {
  const __m512i low0 = _mm512_load_si512(tables.low);
  const __m512i low1 = _mm512_load_si512(tables.low + 64);
  const __m512i high0 = _mm512_load_si512(tables.high);
  const __m512i high1 = _mm512_load_si512(tables.high + 64);
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  const auto head = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64 / 4);
  for (int64_t first = -head; first < count; first += 64) {
    const __mmask64 mask = lane_mask(-first, count - first);
    const __m512i codes = _mm512_maskz_loadu_epi8(mask, from + first);
    const __m512i low = _mm512_permutex2var_epi8(low0, codes, low1);
    const __m512i high = _mm512_ternarylogic_epi32(sign, codes, _mm512_permutex2var_epi8(high0, codes, high1), 0xCA);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      const __m512 value = _mm512_mul_ps(joined(low, high, part), scale);
      store_f32(to + first + 16 * part, value, static_cast<__mmask16>(mask >> (16 * part)), is_streamed);
    }
  }
}

template <bool kIsF16>
void decode_halves(const uint16_t *from, float *to, int64_t count, __m512 scale, bool is_streamed) {
  const auto head = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64 / 4);
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  for (int64_t first = -head; first < count; first += 16) {
    const auto mask = static_cast<__mmask16>(lane_mask(-first, count - first));
    const __m256i codes = _mm256_maskz_loadu_epi16(mask, from + first);
    __m512 value =
        kIsF16 ? _mm512_cvtph_ps(codes) : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    const __m512i nan =
        _mm512_ternarylogic_epi32(sign, _mm512_castps_si512(value), _mm512_set1_epi32(0x7FC00000), 0xCA);
    value = _mm512_mask_mov_ps(value, is_nan, _mm512_castsi512_ps(nan));
    store_f32(to + first, _mm512_mul_ps(value, scale), mask, is_streamed);
  }
}

}  // namespace
}  // namespace lpt
