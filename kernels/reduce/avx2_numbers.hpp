// Numbers of AVX2 and F16C for reductions: eight f32 or four f64, and how they lie in memory. Included by an ISA file only.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/simd_avx2.hpp"

namespace lpt {
namespace {

// Of two zeros _mm256_max_ps gives the second, so both orders are requested: where the numbers are equal, their signs are
// joined, and elsewhere the two are the same.
struct F32x8 {
  using Number = float;
  static constexpr int64_t kCount = 8;
  __m256 v;

  [[gnu::always_inline]] static F32x8 all(float number) { return {_mm256_set1_ps(number)}; }
  [[gnu::always_inline]] F32x8 operator+(F32x8 other) const { return {_mm256_add_ps(v, other.v)}; }
  [[gnu::always_inline]] F32x8 operator*(F32x8 other) const { return {_mm256_mul_ps(v, other.v)}; }
  [[gnu::always_inline]] F32x8 operator/(F32x8 other) const { return {_mm256_div_ps(v, other.v)}; }
  [[gnu::always_inline]] F32x8 or_nan(F32x8 a, F32x8 b) const {
    const __m256 is_nan = _mm256_cmp_ps(a.v, b.v, _CMP_UNORD_Q);
    return {_mm256_blendv_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)), is_nan)};
  }
  [[gnu::always_inline]] F32x8 with_plain_nan() const { return or_nan(*this, *this); }
  [[gnu::always_inline]] F32x8 larger(F32x8 other) const {
    const F32x8 both = {_mm256_and_ps(_mm256_max_ps(v, other.v), _mm256_max_ps(other.v, v))};
    return both.or_nan(*this, other);
  }
  [[gnu::always_inline]] F32x8 smaller(F32x8 other) const {
    const F32x8 both = {_mm256_or_ps(_mm256_min_ps(v, other.v), _mm256_min_ps(other.v, v))};
    return both.or_nan(*this, other);
  }
};

struct F64x4 {
  using Number = double;
  static constexpr int64_t kCount = 4;
  __m256d v;

  [[gnu::always_inline]] static F64x4 all(double number) { return {_mm256_set1_pd(number)}; }
  [[gnu::always_inline]] F64x4 operator+(F64x4 other) const { return {_mm256_add_pd(v, other.v)}; }
  [[gnu::always_inline]] F64x4 operator*(F64x4 other) const { return {_mm256_mul_pd(v, other.v)}; }
  [[gnu::always_inline]] F64x4 operator/(F64x4 other) const { return {_mm256_div_pd(v, other.v)}; }
  [[gnu::always_inline]] F64x4 or_nan(F64x4 a, F64x4 b) const {
    const __m256d is_nan = _mm256_cmp_pd(a.v, b.v, _CMP_UNORD_Q);
    return {_mm256_blendv_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(0x7FF8000000000000)), is_nan)};
  }
  [[gnu::always_inline]] F64x4 with_plain_nan() const { return or_nan(*this, *this); }
  [[gnu::always_inline]] F64x4 larger(F64x4 other) const {
    const F64x4 both = {_mm256_and_pd(_mm256_max_pd(v, other.v), _mm256_max_pd(other.v, v))};
    return both.or_nan(*this, other);
  }
  [[gnu::always_inline]] F64x4 smaller(F64x4 other) const {
    const F64x4 both = {_mm256_or_pd(_mm256_min_pd(v, other.v), _mm256_min_pd(other.v, v))};
    return both.or_nan(*this, other);
  }
};

[[gnu::always_inline]] inline void store_vector(uint8_t *to, __m256i value, bool is_streamed) {
  if (is_streamed) {
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), value);
  }
}

// Up to a vector of numbers by way of a whole one beside it.
template <typename Format>
struct Avx2Few {
  static auto load_few(const uint8_t *from, int64_t count) {
    uint8_t whole[32] = {};
    memcpy(whole, from, static_cast<size_t>(count * Format::kBytes));
    return Format::load(whole);
  }
  template <typename Lanes>
  static void store_few(uint8_t *to, Lanes lanes, int64_t count) {
    uint8_t whole[128];
    Format::store(whole, {lanes, lanes, lanes, lanes}, false);
    memcpy(to, whole, static_cast<size_t>(count * Format::kBytes));
  }
};

// For each format: load, load_few and store_few for up to a vector, store for four of them.
struct Avx2F64 : Avx2Few<Avx2F64> {
  using Lanes = F64x4;
  static constexpr int64_t kBytes = 8;

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) {
    return {_mm256_loadu_pd(reinterpret_cast<const double *>(from))};
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[4], bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store_vector(to + 32 * i, _mm256_castpd_si256(lanes[i].v), is_streamed);
  }
};

struct Avx2F32 : Avx2Few<Avx2F32> {
  using Lanes = F32x8;
  static constexpr int64_t kBytes = 4;

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) {
    return {_mm256_loadu_ps(reinterpret_cast<const float *>(from))};
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[4], bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store_vector(to + 32 * i, _mm256_castps_si256(lanes[i].v), is_streamed);
  }
};

// Formats of 16 bits share how their codes are moved.
template <typename Codes>
struct Avx2Halves : Avx2Few<Avx2Halves<Codes>> {
  using Lanes = F32x8;
  static constexpr int64_t kBytes = 2;

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) {
    return Codes::numbers(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[4], bool is_streamed) {
    store_vector(to, Codes::of(lanes[0], lanes[1]), is_streamed);
    store_vector(to + 32, Codes::of(lanes[2], lanes[3]), is_streamed);
  }
};

struct Bf16Codes {
  [[gnu::always_inline]] static F32x8 numbers(__m128i codes) { return {f32_of_bf16(codes)}; }
  [[gnu::always_inline]] static __m256i of(F32x8 first, F32x8 second) {
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(bf16_dwords(first.v), bf16_dwords(second.v)), 0xD8);
  }
};

struct F16Codes {
  [[gnu::always_inline]] static F32x8 numbers(__m128i codes) { return {_mm256_cvtph_ps(codes)}; }
  [[gnu::always_inline]] static __m256i of(F32x8 first, F32x8 second) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m128i low = _mm256_cvtps_ph(first.v, kNearest), high = _mm256_cvtps_ph(second.v, kNearest);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }
};

struct Avx2Numbers {
  using F64 = Avx2F64;
  using F32 = Avx2F32;
  using Bf16 = Avx2Halves<Bf16Codes>;
  using F16 = Avx2Halves<F16Codes>;
};

}  // namespace
}  // namespace lpt
