// Eight values as f64 with AVX-512.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"

namespace lpt {
namespace {

struct Vec8 {
  using Mask = __mmask8;
  __m512d lanes = _mm512_setzero_pd();

  [[gnu::always_inline]] static Vec8 of_f32(const void *from) {
    return {_mm512_cvtps_pd(_mm256_loadu_ps(static_cast<const float *>(from)))};
  }
  [[gnu::always_inline]] static Vec8 of_bf16(const void *from) {
    const __m256i codes = _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i *>(from)));
    return {_mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(codes, 16)))};
  }
  [[gnu::always_inline]] static Vec8 of_f16(const void *from) {
    return {_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i *>(from))))};
  }

  // Returns the lanes that are finite: x - x is NaN for other values.
  [[gnu::always_inline]] Mask finite() const {
    return _mm512_cmp_pd_mask(_mm512_sub_pd(lanes, lanes), _mm512_setzero_pd(), _CMP_EQ_OQ);
  }
  [[gnu::always_inline]] static Mask both(Mask a, Mask b) { return _kand_mask8(a, b); }
  [[gnu::always_inline]] static uint32_t bits(Mask mask) { return mask; }
  // Returns the lanes of the mask; other lanes are 0.
  [[gnu::always_inline]] Vec8 only(Mask mask) const { return {_mm512_maskz_mov_pd(mask, lanes)}; }

  [[gnu::always_inline]] Vec8 operator+(Vec8 other) const { return {_mm512_add_pd(lanes, other.lanes)}; }
  [[gnu::always_inline]] Vec8 operator-(Vec8 other) const { return {_mm512_sub_pd(lanes, other.lanes)}; }
  [[gnu::always_inline]] Vec8 operator*(Vec8 other) const { return {_mm512_mul_pd(lanes, other.lanes)}; }

  void store(double *to) const { _mm512_storeu_pd(to, lanes); }
};

}  // namespace
}  // namespace lpt
