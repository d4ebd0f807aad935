// f32 → f16 and bf16 to nearest even, with AVX-512. Included by an ISA file only.
#pragma once

#include "kernels/quantize/avx512_element.hpp"

namespace lpt {
namespace {

struct HalfCast {
  __m512 inverse;
  __m512 limit;  // the largest element where overflow saturates, else infinity
  __m512 amax;   // largest magnitude so far, infinity too; NaN may hide others
  bool has_nan;  // a NaN came
  bool is_streamed;
};

constexpr int kSmallerMagnitudeSigned = 2;  // of vrangeps: the smaller magnitude with the first one's sign

// f32 whose upper halves are bf16.
[[gnu::always_inline]] inline __m512i rounded_bf16(__m512 held) {
  const __m512i bits = _mm512_castps_si512(held);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
}

alignas(64) constexpr uint16_t kUpperOfLane[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                   33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};

// The codes of 32 products, in order; those of NaN are another number's.
template <bool kIsF16>
[[gnu::always_inline]] inline __m512i half_codes(__m512 low, __m512 high, const HalfCast &cast) {
  low = _mm512_range_ps(low, cast.limit, kSmallerMagnitudeSigned);
  high = _mm512_range_ps(high, cast.limit, kSmallerMagnitudeSigned);
  if constexpr (kIsF16) {
    const __m256i codes = _mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_inserti64x4(_mm512_castsi256_si512(codes),
                              _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), 1);
  }
  return _mm512_permutex2var_epi16(rounded_bf16(low), _mm512_load_si512(kUpperOfLane), rounded_bf16(high));
}

// Puts the codes of NaN, with the sources' signs, where the products are NaN.
template <bool kIsF16>
inline __m512i with_half_nan(__m512i codes, __m512 low, __m512 high, uint32_t is_nan) {
  const __m512i signs =
      _mm512_permutex2var_epi16(_mm512_castps_si512(low), _mm512_load_si512(kUpperOfLane), _mm512_castps_si512(high));
  const Element element = kIsF16 ? kElementF16 : kElementBf16;
  const __m512i nan = _mm512_ternarylogic_epi32(_mm512_set1_epi16(INT16_MIN), signs,
                                                _mm512_set1_epi16(static_cast<int16_t>(element.nan_code)), 0xCA);
  return _mm512_mask_mov_epi16(codes, is_nan, nan);
}

// One group of 32; lanes outside `mask` are neither read nor written.
template <bool kIsF16, bool kIsWhole>
[[gnu::always_inline]] inline void half_group(HalfCast &cast, const float *from, uint16_t *to, __mmask32 mask) {
  __m512 sources[2];
  __m512 products[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const auto lanes = static_cast<__mmask16>(mask >> (16 * i));
    sources[i] = kIsWhole ? _mm512_loadu_ps(from + 16 * i) : _mm512_maskz_loadu_ps(lanes, from + 16 * i);
    cast.amax = _mm512_range_ps(cast.amax, sources[i], kLargerMagnitude);
    products[i] = _mm512_mul_ps(sources[i], cast.inverse);
  }
  __m512i codes = half_codes<kIsF16>(products[0], products[1], cast);
  if (_mm512_cmp_ps_mask(products[0], products[1], _CMP_UNORD_Q) != 0) [[unlikely]] {
    const uint32_t low = _mm512_cmp_ps_mask(products[0], products[0], _CMP_UNORD_Q);
    const uint32_t high = _mm512_cmp_ps_mask(products[1], products[1], _CMP_UNORD_Q);
    codes = with_half_nan<kIsF16>(codes, sources[0], sources[1], low | high << 16);
    cast.has_nan = true;
  }
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
void half_span(HalfCast &shared, const float *from, uint16_t *to, int64_t count) {
  HalfCast cast = shared;
  const auto head = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64 / 2);
  for (int64_t first = -head; first < count; first += 32) {
    if (first >= 0 && first + 32 <= count) {
      half_group<kIsF16, true>(cast, from + first, to + first, ~__mmask32{0});
    } else {
      half_group<kIsF16, false>(cast, from + first, to + first,
                                static_cast<__mmask32>(lane_mask(-first, count - first)));
    }
  }
  shared = cast;
}

}  // namespace
}  // namespace lpt
