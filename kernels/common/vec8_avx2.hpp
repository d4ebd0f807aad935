// Eight values as f64 with AVX2 and F16C.
#pragma once

#include <cstdint>

#include "kernels/common/simd_avx2.hpp"

namespace lpt {
namespace {

struct Vec8 {
  struct Mask {
    __m256d low, high;
  };
  __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();

  [[gnu::always_inline]] static Vec8 of(__m256 numbers) {
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(numbers)), _mm256_cvtps_pd(_mm256_extractf128_ps(numbers, 1))};
  }
  [[gnu::always_inline]] static Vec8 of_f32(const void *from) {
    return of(_mm256_loadu_ps(static_cast<const float *>(from)));
  }
  [[gnu::always_inline]] static Vec8 of_bf16(const void *from) {
    return of(f32_of_bf16(_mm_loadu_si128(static_cast<const __m128i *>(from))));
  }
  [[gnu::always_inline]] static Vec8 of_f16(const void *from) {
    return of(_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i *>(from))));
  }

  // Returns the lanes that are finite: x - x is NaN for other values.
  [[gnu::always_inline]] Mask finite() const {
    const __m256d zero = _mm256_setzero_pd();
    return {_mm256_cmp_pd(_mm256_sub_pd(low, low), zero, _CMP_EQ_OQ),
            _mm256_cmp_pd(_mm256_sub_pd(high, high), zero, _CMP_EQ_OQ)};
  }
  [[gnu::always_inline]] static Mask both(Mask a, Mask b) {
    return {_mm256_and_pd(a.low, b.low), _mm256_and_pd(a.high, b.high)};
  }
  [[gnu::always_inline]] static uint32_t bits(Mask mask) {
    return static_cast<uint32_t>(_mm256_movemask_pd(mask.low) | _mm256_movemask_pd(mask.high) << 4);
  }
  // Returns the lanes of the mask; other lanes are 0.
  [[gnu::always_inline]] Vec8 only(Mask mask) const {
    return {_mm256_and_pd(low, mask.low), _mm256_and_pd(high, mask.high)};
  }

  [[gnu::always_inline]] Vec8 operator+(Vec8 other) const {
    return {_mm256_add_pd(low, other.low), _mm256_add_pd(high, other.high)};
  }
  [[gnu::always_inline]] Vec8 operator-(Vec8 other) const {
    return {_mm256_sub_pd(low, other.low), _mm256_sub_pd(high, other.high)};
  }
  [[gnu::always_inline]] Vec8 operator*(Vec8 other) const {
    return {_mm256_mul_pd(low, other.low), _mm256_mul_pd(high, other.high)};
  }

  void store(double *to) const {
    _mm256_storeu_pd(to, low);
    _mm256_storeu_pd(to + 4, high);
  }
};

}  // namespace
}  // namespace lpt
