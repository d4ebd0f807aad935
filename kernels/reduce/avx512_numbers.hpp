// Numbers of AVX-512 for reductions: sixteen f32 or eight f64, and how they lie in memory. Included by an ISA file only.
#pragma once

#include "kernels/common/simd_avx512.hpp"

namespace lpt {
namespace {

// Of two zeros _mm512_max_ps gives the second, so both orders are requested: where the numbers are equal, their signs are
// joined, and elsewhere the two are the same.
struct F32x16 {
  using Number = float;
  static constexpr int64_t kCount = 16;
  __m512 v;

  [[gnu::always_inline]] static F32x16 all(float number) { return {_mm512_set1_ps(number)}; }
  [[gnu::always_inline]] F32x16 operator+(F32x16 other) const { return {_mm512_add_ps(v, other.v)}; }
  [[gnu::always_inline]] F32x16 operator*(F32x16 other) const { return {_mm512_mul_ps(v, other.v)}; }
  [[gnu::always_inline]] F32x16 operator/(F32x16 other) const { return {_mm512_div_ps(v, other.v)}; }
  [[gnu::always_inline]] F32x16 or_nan(F32x16 a, F32x16 b) const {
    const __mmask16 is_nan = _mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q);
    return {_mm512_mask_mov_ps(v, is_nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000)))};
  }
  [[gnu::always_inline]] F32x16 with_plain_nan() const { return or_nan(*this, *this); }
  [[gnu::always_inline]] F32x16 larger(F32x16 other) const {
    const F32x16 both = {_mm512_and_ps(_mm512_max_ps(v, other.v), _mm512_max_ps(other.v, v))};
    return both.or_nan(*this, other);
  }
  [[gnu::always_inline]] F32x16 smaller(F32x16 other) const {
    const F32x16 both = {_mm512_or_ps(_mm512_min_ps(v, other.v), _mm512_min_ps(other.v, v))};
    return both.or_nan(*this, other);
  }
};

struct F64x8 {
  using Number = double;
  static constexpr int64_t kCount = 8;
  __m512d v;

  [[gnu::always_inline]] static F64x8 all(double number) { return {_mm512_set1_pd(number)}; }
  [[gnu::always_inline]] F64x8 operator+(F64x8 other) const { return {_mm512_add_pd(v, other.v)}; }
  [[gnu::always_inline]] F64x8 operator*(F64x8 other) const { return {_mm512_mul_pd(v, other.v)}; }
  [[gnu::always_inline]] F64x8 operator/(F64x8 other) const { return {_mm512_div_pd(v, other.v)}; }
  [[gnu::always_inline]] F64x8 or_nan(F64x8 a, F64x8 b) const {
    const __mmask8 is_nan = _mm512_cmp_pd_mask(a.v, b.v, _CMP_UNORD_Q);
    return {_mm512_mask_mov_pd(v, is_nan, _mm512_castsi512_pd(_mm512_set1_epi64(0x7FF8000000000000)))};
  }
  [[gnu::always_inline]] F64x8 with_plain_nan() const { return or_nan(*this, *this); }
  [[gnu::always_inline]] F64x8 larger(F64x8 other) const {
    const F64x8 both = {_mm512_and_pd(_mm512_max_pd(v, other.v), _mm512_max_pd(other.v, v))};
    return both.or_nan(*this, other);
  }
  [[gnu::always_inline]] F64x8 smaller(F64x8 other) const {
    const F64x8 both = {_mm512_or_pd(_mm512_min_pd(v, other.v), _mm512_min_pd(other.v, v))};
    return both.or_nan(*this, other);
  }
};

[[gnu::always_inline]] inline void store_line(uint8_t *to, __m512i line, bool is_streamed) {
  if (is_streamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), line);
  } else {
    _mm512_storeu_si512(to, line);
  }
}

[[gnu::always_inline]] inline __mmask16 first_lanes(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

// For each format: load, load_few and store_few for up to a vector, store for four of them.
struct Avx512F64 {
  using Lanes = F64x8;
  static constexpr int64_t kBytes = 8;

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) { return {_mm512_loadu_pd(from)}; }
  static Lanes load_few(const uint8_t *from, int64_t count) {
    return {_mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count)), from)};
  }
  static void store_few(uint8_t *to, Lanes lanes, int64_t count) {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first_lanes(count)), lanes.v);
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[4], bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store_line(to + 64 * i, _mm512_castpd_si512(lanes[i].v), is_streamed);
  }
};

struct Avx512F32 {
  using Lanes = F32x16;
  static constexpr int64_t kBytes = 4;

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) { return {_mm512_loadu_ps(from)}; }
  static Lanes load_few(const uint8_t *from, int64_t count) {
    return {_mm512_maskz_loadu_ps(first_lanes(count), from)};
  }
  static void store_few(uint8_t *to, Lanes lanes, int64_t count) {
    _mm512_mask_storeu_ps(to, first_lanes(count), lanes.v);
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[4], bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store_line(to + 64 * i, _mm512_castps_si512(lanes[i].v), is_streamed);
  }
};

// Formats of 16 bits share how their codes are moved.
template <typename Codes>
struct Avx512Halves {
  using Lanes = F32x16;
  static constexpr int64_t kBytes = 2;

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) {
    return Codes::numbers(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
  }
  static Lanes load_few(const uint8_t *from, int64_t count) {
    return Codes::numbers(_mm256_maskz_loadu_epi16(first_lanes(count), from));
  }
  static void store_few(uint8_t *to, Lanes lanes, int64_t count) {
    _mm256_mask_storeu_epi16(to, first_lanes(count), _mm512_castsi512_si256(Codes::of(lanes, lanes)));
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[4], bool is_streamed) {
    store_line(to, Codes::of(lanes[0], lanes[1]), is_streamed);
    store_line(to + 64, Codes::of(lanes[2], lanes[3]), is_streamed);
  }
};

struct Bf16Codes {
  [[gnu::always_inline]] static F32x16 numbers(__m256i codes) { return {f32_of_bf16(codes)}; }
  [[gnu::always_inline]] static __m512i of(F32x16 first, F32x16 second) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i pair = _mm512_or_si512(_mm512_slli_epi32(lane, 2), _mm512_slli_epi32(lane, 18));
    const __m512i upper_halves = _mm512_add_epi32(pair, _mm512_set1_epi32(0x00030001));  // words 1, 3, 5, ...
    return _mm512_permutex2var_epi16(bf16_rounded(first.v), upper_halves, bf16_rounded(second.v));
  }
};

struct F16Codes {
  [[gnu::always_inline]] static F32x16 numbers(__m256i codes) { return {_mm512_cvtph_ps(codes)}; }
  [[gnu::always_inline]] static __m512i of(F32x16 first, F32x16 second) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m256i low = _mm512_cvtps_ph(first.v, kNearest), high = _mm512_cvtps_ph(second.v, kNearest);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
};

struct Avx512Numbers {
  using F64 = Avx512F64;
  using F32 = Avx512F32;
  using Bf16 = Avx512Halves<Bf16Codes>;
  using F16 = Avx512Halves<F16Codes>;
};

}  // namespace
}  // namespace lpt
