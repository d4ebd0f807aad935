// Vectors of AVX2 with FMA and F16C (simd.hpp). All functions are static: each file that includes this header has its own copy.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "kernels/common/philox_lanes.hpp"
#include "lpt.h"

namespace lpt {

using F32 = __m256;
using F64 = __m256d;
using I32 = int32_t __attribute__((vector_size(32)));
using U32 = uint32_t __attribute__((vector_size(32)));
using U16 = __m128i;
using Mask = __m256;          // all bits of a lane, or none
using ActiveLanes = int64_t;  // the number of active lanes
constexpr int64_t kLanes = 8;

static inline ActiveLanes all_lanes() { return kLanes; }

// 16-bit elements.

[[gnu::always_inline]] static inline __m256i dwords_of_words(__m128i words) { return _mm256_cvtepu16_epi32(words); }

// Preserves all bits of a NaN.
[[gnu::always_inline]] static inline __m256 f32_of_bf16(__m128i codes) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(dwords_of_words(codes), 16));
}

// Returns bf16 codes in dwords, rounded to nearest even without a test for NaN. Values that are too large carry into infinity.
// A NaN whose lower half is zero keeps its bits.
[[gnu::always_inline]] static inline __m256i bf16_dwords(__m256 numbers) {
  const __m256i bits = _mm256_castps_si256(numbers);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd), 16);
}

[[gnu::always_inline]] static inline F32 f32_of_f16(U16 codes) { return _mm256_cvtph_ps(codes); }

// Rounds to nearest even. NaN remains NaN.
[[gnu::always_inline]] static inline U16 f16_of_f32(F32 value) {
  return _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Rounds as bf16_dwords() does.
[[gnu::always_inline]] static inline U16 bf16_of_f32(F32 value) {
  const __m256i codes = bf16_dwords(value);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(codes, codes), 0x08));
}

// Conversion of two vectors.
[[gnu::always_inline]] static inline __m256i f16_of_f32(F32 first, F32 second) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(f16_of_f32(first)), f16_of_f32(second), 1);
}
[[gnu::always_inline]] static inline __m256i bf16_of_f32(F32 first, F32 second) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(bf16_dwords(first), bf16_dwords(second)), 0xD8);
}

// Memory.

// Returns a mask with all bits set in the first `count` lanes.
[[gnu::always_inline]] static inline __m256i lane_bits(int64_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(count)), lane);
}

static inline ActiveLanes first_lanes(int64_t count) { return count; }

// Inactive lanes are neither read nor written; loads set them to 0.
[[gnu::always_inline]] static inline F32 load(const float *from) { return _mm256_loadu_ps(from); }
[[gnu::always_inline]] static inline F32 load(const float *from, ActiveLanes lanes) {
  return lanes == kLanes ? load(from) : _mm256_maskload_ps(from, lane_bits(lanes));
}
[[gnu::always_inline]] static inline void store(float *to, F32 value) { _mm256_storeu_ps(to, value); }
[[gnu::always_inline]] static inline void store(float *to, ActiveLanes lanes, F32 value) {
  if (lanes == kLanes) return store(to, value);
  _mm256_maskstore_ps(to, lane_bits(lanes), value);
}
[[gnu::always_inline]] static inline U16 load_u16(const uint8_t *from, ActiveLanes lanes) {
  if (lanes == kLanes) return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  U16 codes = _mm_setzero_si128();
  __builtin_memcpy(&codes, from, static_cast<size_t>(2 * lanes));
  return codes;
}
[[gnu::always_inline]] static inline void store_u16(uint8_t *to, ActiveLanes lanes, U16 codes) {
  if (lanes == kLanes) return _mm_storeu_si128(reinterpret_cast<__m128i *>(to), codes);
  __builtin_memcpy(to, &codes, static_cast<size_t>(2 * lanes));
}

// Loads elements `index` to `index + 7` of f32, bf16 or f16. Elements from `count` on are 0, and their memory is not read.
template <lpt_format kPlain>
[[gnu::always_inline]] static inline __m256 load_numbers(const void *data, int64_t index, int64_t count) {
  if constexpr (kPlain == LPT_FORMAT_F32) {
    const float *const from = static_cast<const float *>(data) + index;
    return count >= 8 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, lane_bits(count));
  } else {
    const uint16_t *const from = static_cast<const uint16_t *>(data) + index;
    __m128i codes = _mm_setzero_si128();
    if (count >= 8) {
      codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
    } else if (count > 0) {
      __builtin_memcpy(&codes, from, static_cast<size_t>(count) * sizeof *from);
    }
    return kPlain == LPT_FORMAT_F16 ? _mm256_cvtph_ps(codes) : f32_of_bf16(codes);
  }
}

// Stores the first `count` elements of a vector, at most kLanes.
[[gnu::always_inline]] static inline void store_numbers(float *to, F32 value, int64_t count) {
  if (count >= kLanes) return store(to, value);
  _mm256_maskstore_ps(to, lane_bits(count), value);
}

[[gnu::always_inline]] static inline F64 load(const double *from) { return _mm256_loadu_pd(from); }

// `lanes` must be at most kLanes / 2 active lanes.
[[gnu::always_inline]] static inline F64 load(const double *from, ActiveLanes lanes) {
  F64 value = _mm256_setzero_pd();
  __builtin_memcpy(&value, from, static_cast<size_t>(8 * lanes));
  return value;
}
[[gnu::always_inline]] static inline void store(double *to, ActiveLanes lanes, F64 value) {
  __builtin_memcpy(to, &value, static_cast<size_t>(8 * lanes));
}
[[gnu::always_inline]] static inline __m256i bits_of(F32 value) { return _mm256_castps_si256(value); }
[[gnu::always_inline]] static inline __m256i bits_of(F64 value) { return _mm256_castpd_si256(value); }

[[gnu::always_inline]] static inline void store_past_caches(float *to, F32 value) { _mm256_stream_ps(to, value); }
// Must follow store_past_caches() and streamed stores.
[[gnu::always_inline]] static inline void store_fence() { _mm_sfence(); }

// Stores a full vector. `is_streamed`: bypasses the caches; `to` must then be aligned to the vector size.
[[gnu::always_inline]] static inline void store_bits(uint8_t *to, __m256i bits, bool is_streamed) {
  auto *const place = reinterpret_cast<__m256i *>(to);
  is_streamed ? _mm256_stream_si256(place, bits) : _mm256_storeu_si256(place, bits);
}

// Arithmetic. The operators + - * / work on lanes.

[[gnu::always_inline]] static inline F64 broadcast(double value) { return _mm256_set1_pd(value); }
[[gnu::always_inline]] static inline F32 broadcast(float value) { return _mm256_set1_ps(value); }
// Returns a · b + c, rounded once.
[[gnu::always_inline]] static inline F32 mul_add(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
[[gnu::always_inline]] static inline F64 mul_add(F64 a, F64 b, F64 c) { return _mm256_fmadd_pd(a, b, c); }
// Returns c - a · b, rounded once.
[[gnu::always_inline]] static inline F32 neg_mul_add(F32 a, F32 b, F32 c) { return _mm256_fnmadd_ps(a, b, c); }
// max and min return b if both operands are zeros or if one is NaN.
[[gnu::always_inline]] static inline F32 max(F32 a, F32 b) { return _mm256_max_ps(a, b); }
[[gnu::always_inline]] static inline F32 min(F32 a, F32 b) { return _mm256_min_ps(a, b); }
[[gnu::always_inline]] static inline F32 xor_bits(F32 a, F32 b) { return _mm256_xor_ps(a, b); }
[[gnu::always_inline]] static inline F32 abs(F32 value) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value); }
[[gnu::always_inline]] static inline F32 negative_abs(F32 value) { return _mm256_or_ps(value, _mm256_set1_ps(-0.0f)); }
[[gnu::always_inline]] static inline F32 with_sign_of(F32 magnitude, F32 source) {
  return _mm256_or_ps(magnitude, _mm256_and_ps(source, _mm256_set1_ps(-0.0f)));
}

[[gnu::always_inline]] static inline F32 sqrt(F32 value) { return _mm256_sqrt_ps(value); }
// Returns a / b, or 0 if a is 0.
[[gnu::always_inline]] static inline F32 quotient_or_zero(F32 a, F32 b) {
  return _mm256_and_ps(_mm256_div_ps(a, b), _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_NEQ_UQ));
}

// Rounds to the nearest integer, ties to even.
[[gnu::always_inline]] static inline F32 nearest_integer(F32 value) {
  return _mm256_round_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Returns value - nearest_integer(value), which is exact.
[[gnu::always_inline]] static inline F32 from_nearest_integer(F32 value) { return value - nearest_integer(value); }

// Returns value · 2^n. NaN times any power of two is NaN.
[[gnu::always_inline]] static inline F32 times_power_of_two(F32 value, F32 n) {
  const auto power = [](__m256i exponent) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)), 23));
  };
  const __m256i exponent = _mm256_cvtps_epi32(n);
  const __m256i half = _mm256_srai_epi32(exponent, 1);
  return value * power(half) * power(_mm256_sub_epi32(exponent, half));
}

// Integers. The C++ operators work on lanes.

[[gnu::always_inline]] static inline __m256i bits_of(U32 value) { return reinterpret_cast<__m256i>(value); }
[[gnu::always_inline]] static inline U32 u32_of(F32 value) { return reinterpret_cast<U32>(value); }
[[gnu::always_inline]] static inline F32 f32_of(U32 value) { return reinterpret_cast<F32>(value); }
[[gnu::always_inline]] static inline U32 broadcast_bits(uint32_t bits) {
  return reinterpret_cast<U32>(_mm256_set1_epi32(static_cast<int32_t>(bits)));
}
[[gnu::always_inline]] static inline U32 min(U32 a, U32 b) {
  return reinterpret_cast<U32>(_mm256_min_epu32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline __m256i bits_of(I32 value) { return reinterpret_cast<__m256i>(value); }
[[gnu::always_inline]] static inline I32 i32_of(__m256i bits) { return reinterpret_cast<I32>(bits); }
[[gnu::always_inline]] static inline I32 i32_of(F32 value) { return reinterpret_cast<I32>(value); }
[[gnu::always_inline]] static inline F32 f32_of(I32 value) { return reinterpret_cast<F32>(value); }
[[gnu::always_inline]] static inline I32 broadcast_i32(int32_t value) { return i32_of(_mm256_set1_epi32(value)); }
[[gnu::always_inline]] static inline I32 min(I32 a, I32 b) { return i32_of(_mm256_min_epi32(bits_of(a), bits_of(b))); }
[[gnu::always_inline]] static inline I32 max(I32 a, I32 b) { return i32_of(_mm256_max_epi32(bits_of(a), bits_of(b))); }
[[gnu::always_inline]] static inline I32 min_unsigned(I32 a, I32 b) {
  return i32_of(_mm256_min_epu32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline I32 max_unsigned(I32 a, I32 b) {
  return i32_of(_mm256_max_epu32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline I32 wrapping_add(I32 a, I32 b) {
  return i32_of(_mm256_add_epi32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline F32 f32_of_i32(I32 value) { return _mm256_cvtepi32_ps(bits_of(value)); }
// Rounds toward zero.
[[gnu::always_inline]] static inline I32 truncate_i32(F32 value) { return i32_of(_mm256_cvttps_epi32(value)); }
// Rounds to nearest. Numbers that do not fit 32 bits give INT32_MIN.
[[gnu::always_inline]] static inline I32 nearest_i32(F32 value) { return i32_of(_mm256_cvtps_epi32(value)); }
// Returns the bits of the larger magnitude; `largest` is a magnitude. A NaN may be ignored.
[[gnu::always_inline]] static inline I32 larger_magnitude(I32 largest, F32 value) {
  return max(largest, i32_of(value) & 0x7FFFFFFF);
}
[[gnu::always_inline]] static inline int32_t reduce_max_unsigned(I32 value) {
  __m128i x = _mm_max_epu32(_mm256_castsi256_si128(bits_of(value)), _mm256_extracti128_si256(bits_of(value), 1));
  x = _mm_max_epu32(x, _mm_shuffle_epi32(x, 0x4E));
  return _mm_cvtsi128_si32(_mm_max_epu32(x, _mm_shuffle_epi32(x, 0xB1)));
}
static inline int32_t reduce_min_unsigned(I32 value) { return ~reduce_max_unsigned(~value); }
[[gnu::always_inline]] static inline I32 load_u16_as_i32(const uint8_t *from) {
  return i32_of(dwords_of_words(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
}
[[gnu::always_inline]] static inline I32 load_u8_as_i32(const uint8_t *from) {
  return i32_of(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from))));
}
// Shifts by the counts in the lanes of `counts`; the result is 0 for counts of 32 or more.
[[gnu::always_inline]] static inline U32 shift_left(U32 value, U32 counts) {
  return reinterpret_cast<U32>(_mm256_sllv_epi32(bits_of(value), bits_of(counts)));
}
[[gnu::always_inline]] static inline U32 shift_right(U32 value, U32 counts) {
  return reinterpret_cast<U32>(_mm256_srlv_epi32(bits_of(value), bits_of(counts)));
}
[[gnu::always_inline]] static inline I32 shift_left(I32 value, I32 counts) {
  return i32_of(_mm256_sllv_epi32(bits_of(value), bits_of(counts)));
}
// Shifts logically: zeros are shifted in.
[[gnu::always_inline]] static inline I32 shift_right(I32 value, I32 counts) {
  return i32_of(_mm256_srlv_epi32(bits_of(value), bits_of(counts)));
}
// Returns the bits of `bits` that are set in neither a nor b.
[[gnu::always_inline]] static inline U32 neither_of(U32 a, U32 b, uint32_t bits) {
  return reinterpret_cast<U32>(_mm256_andnot_si256(bits_of(a | b), bits_of(broadcast_bits(bits))));
}
// Returns a bit for each lane below the limit, for values below 2^31.
[[gnu::always_inline]] static inline uint32_t lanes_below(U32 value, uint32_t limit) {
  const __m256i is_below = _mm256_cmpgt_epi32(bits_of(broadcast_bits(limit)), bits_of(value));
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is_below)));
}
// Returns a bit for each lane that is not below the limit, or NaN.
[[gnu::always_inline]] static inline uint32_t lanes_not_below(F32 value, float limit) {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(value, _mm256_set1_ps(limit), _CMP_NLT_UQ)));
}

// Masks.

[[gnu::always_inline]] static inline Mask is_nan(F32 value) { return _mm256_cmp_ps(value, value, _CMP_UNORD_Q); }
[[gnu::always_inline]] static inline Mask is_negative(F32 value) {
  return _mm256_cmp_ps(value, _mm256_setzero_ps(), _CMP_LT_OQ);
}
[[gnu::always_inline]] static inline Mask is_greater(F32 a, F32 b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
[[gnu::always_inline]] static inline Mask is_at_least(F32 a, F32 b) { return _mm256_cmp_ps(a, b, _CMP_GE_OQ); }
[[gnu::always_inline]] static inline Mask is_equal(F32 a, F32 b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
[[gnu::always_inline]] static inline Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
[[gnu::always_inline]] static inline Mask either(Mask a, Mask b) { return _mm256_or_ps(a, b); }
[[gnu::always_inline]] static inline Mask without(Mask a, Mask b) { return _mm256_andnot_ps(b, a); }
[[gnu::always_inline]] static inline Mask opposite(Mask mask) {
  return _mm256_xor_ps(mask, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}
[[gnu::always_inline]] static inline bool has_all(Mask mask) { return _mm256_movemask_ps(mask) == 0xFF; }
[[gnu::always_inline]] static inline bool has_any(Mask mask) { return _mm256_movemask_ps(mask) != 0; }
[[gnu::always_inline]] static inline F32 select(Mask mask, F32 yes, F32 no) { return _mm256_blendv_ps(no, yes, mask); }
[[gnu::always_inline]] static inline U32 select(Mask mask, U32 yes, U32 no) {
  return reinterpret_cast<U32>(_mm256_blendv_epi8(bits_of(no), bits_of(yes), _mm256_castps_si256(mask)));
}
// Returns a ^ b where mask is true, otherwise a.
[[gnu::always_inline]] static inline U32 xor_where(Mask mask, U32 a, U32 b) {
  return a ^ reinterpret_cast<U32>(_mm256_and_si256(_mm256_castps_si256(mask), bits_of(b)));
}
// Returns `value` where mask is true, otherwise 0.
[[gnu::always_inline]] static inline F32 only(Mask mask, F32 value) { return _mm256_and_ps(mask, value); }
[[gnu::always_inline]] static inline F32 select_active(ActiveLanes lanes, F32 active, F32 other) {
  return lanes == kLanes ? active : _mm256_blendv_ps(other, active, _mm256_castsi256_ps(lane_bits(lanes)));
}
[[gnu::always_inline]] static inline F32 select_first(int64_t count, F32 first, F32 other) {
  return _mm256_blendv_ps(other, first, _mm256_castsi256_ps(lane_bits(count)));
}
// Replaces each NaN by the positive quiet NaN.
[[gnu::always_inline]] static inline F32 with_default_nan(F32 value) {
  return select(is_nan(value), _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)), value);
}
// Replaces each NaN by the quiet NaN of the same sign.
[[gnu::always_inline]] static inline F32 with_quiet_nan(F32 value) {
  const F32 sign = _mm256_and_ps(value, _mm256_set1_ps(-0.0f));
  const F32 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  return select(is_nan(value), _mm256_or_ps(sign, quiet), value);
}

// Returns `value`, or the positive quiet NaN where a or b is NaN.
[[gnu::always_inline]] static inline F32 unless_nan(F32 a, F32 b, F32 value) {
  return select(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)), value);
}
[[gnu::always_inline]] static inline F64 unless_nan(F64 a, F64 b, F64 value) {
  const F64 nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7FF8000000000000));
  return _mm256_blendv_pd(value, nan, _mm256_cmp_pd(a, b, _CMP_UNORD_Q));
}
[[gnu::always_inline]] static inline F64 with_default_nan(F64 value) { return unless_nan(value, value, value); }

// Return the larger and the smaller value. The result is NaN if an operand is NaN, and +0 is larger than -0. For two zeros
// _mm256_max_ps returns the second operand, so that both orders are computed and their bits are combined. For other values both
// orders are equal.
[[gnu::always_inline]] static inline F32 maximum(F32 a, F32 b) {
  return unless_nan(a, b, _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a)));
}
[[gnu::always_inline]] static inline F64 maximum(F64 a, F64 b) {
  return unless_nan(a, b, _mm256_and_pd(_mm256_max_pd(a, b), _mm256_max_pd(b, a)));
}
[[gnu::always_inline]] static inline F32 minimum(F32 a, F32 b) {
  return unless_nan(a, b, _mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a)));
}
[[gnu::always_inline]] static inline F64 minimum(F64 a, F64 b) {
  return unless_nan(a, b, _mm256_or_pd(_mm256_min_pd(a, b), _mm256_min_pd(b, a)));
}

// Returns the magnitude, or 0 for infinity and NaN.
[[gnu::always_inline]] static inline F32 finite_abs(F32 value) {
  const F32 size = abs(value);
  return _mm256_and_ps(size, _mm256_cmp_ps(size, _mm256_set1_ps(__builtin_inff()), _CMP_LT_OQ));
}

// Operations across lanes.

// A table of 16 floats. at() returns the entries that the low four bits of the indices select.
struct Table16 {
  __m256 low, high;
};
[[gnu::always_inline]] static inline Table16 load_table(const float *from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
[[gnu::always_inline]] static inline F32 at(const Table16 &table, U32 indices) {
  const __m256i bits = bits_of(indices);
  const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(bits, 28));
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table.low, bits), _mm256_permutevar8x32_ps(table.high, bits),
                          is_high);
}

// Requires that no lane is NaN.
static inline float reduce_max(F32 values) {
  float lanes[kLanes];
  _mm256_storeu_ps(lanes, values);
  float largest = lanes[0];
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

[[gnu::always_inline]] static inline F64 lower_f64(F32 value) { return _mm256_cvtps_pd(_mm256_castps256_ps128(value)); }
[[gnu::always_inline]] static inline F64 upper_f64(F32 value) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(value, 1));
}
// Adds the upper half of the lanes to the lower half until one lane remains.
static inline double reduce_add(F64 values) {
  const __m128d pairs = _mm_add_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd(values, 1));
  return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
}

// Computes sums[i] += a[i] · b[i] for active lanes. The products are exact.
[[gnu::always_inline]] static inline void add_products_to(double *sums, ActiveLanes lanes, F32 a, F32 b) {
  double padded[kLanes] = {};
  double *place = sums;
  if (lanes < kLanes) {
    place = padded;
    __builtin_memcpy(padded, sums, static_cast<size_t>(8 * lanes));
  }
  _mm256_storeu_pd(place, mul_add(lower_f64(a), lower_f64(b), _mm256_loadu_pd(place)));
  _mm256_storeu_pd(place + 4, mul_add(upper_f64(a), upper_f64(b), _mm256_loadu_pd(place + 4)));
  if (lanes < kLanes) __builtin_memcpy(sums, padded, static_cast<size_t>(8 * lanes));
}

// Exchanges lanes 2i and 2i + 1.
[[gnu::always_inline]] static inline F32 exchanged_pairs(F32 value) { return _mm256_permute_ps(value, 0xB1); }

// Replaces lanes (a, b) at a distance of kStride by (a + b, a - b). The lane is multiplied by 1 or -1, which is exact, and
// added to its partner.
template <int kStride>
[[gnu::always_inline]] static inline F32 butterfly(F32 value) {
  if constexpr (kStride == 1) {
    return _mm256_fmadd_ps(value, _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1), _mm256_permute_ps(value, 0xB1));
  } else if constexpr (kStride == 2) {
    return _mm256_fmadd_ps(value, _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1), _mm256_permute_ps(value, 0x4E));
  } else {
    return _mm256_fmadd_ps(value, _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1), _mm256_permute2f128_ps(value, value, 1));
  }
}

// Transposes 8 × 8 dwords: within 2 × 2, then 4 × 4, then 128-bit halves.
[[gnu::always_inline]] static inline void transpose(__m256i (&rows)[8]) {
  __m256i pairs[8], quads[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {  // quads[4·g + c]: rows 4·g to 4·g + 3 of columns c, c + 4
    quads[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm256_permute2x128_si256(quads[c], quads[4 + c], 0x20);
    rows[4 + c] = _mm256_permute2x128_si256(quads[c], quads[4 + c], 0x31);
  }
}

[[gnu::always_inline]] static inline void transpose(__m256 (&rows)[8]) {
  __m256i bits[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) bits[i] = _mm256_castps_si256(rows[i]);
  transpose(bits);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) rows[i] = _mm256_castsi256_ps(bits[i]);
}

// Transposes 4 × 4 floats within 128-bit halves. The function is its own inverse.
[[gnu::always_inline]] static inline void transpose_fours(__m256 (&v)[4]) {
  const __m256d low = _mm256_castps_pd(_mm256_unpacklo_ps(v[0], v[1]));
  const __m256d high = _mm256_castps_pd(_mm256_unpackhi_ps(v[0], v[1]));
  const __m256d other_low = _mm256_castps_pd(_mm256_unpacklo_ps(v[2], v[3]));
  const __m256d other_high = _mm256_castps_pd(_mm256_unpackhi_ps(v[2], v[3]));
  v[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, other_low));
  v[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, other_low));
  v[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high, other_high));
  v[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high, other_high));
}

// Random bits.

// Stores the bits of blocks `block` to `block + 3`. One word of Philox is in each 64-bit lane.
static inline void store_random_blocks(const PhiloxLanes &lanes, uint64_t block, int32_t rounds, void *to) {
  const auto every = [](uint64_t word) { return _mm256_set1_epi64x(static_cast<int64_t>(word)); };
  // The counters are ordered so that interleaving the halves of the results returns the blocks in order.
  const __m256i counter = _mm256_add_epi64(every(block), _mm256_setr_epi64x(0, 2, 1, 3));
  __m256i word[4] = {counter, _mm256_srli_epi64(counter, 32), every(lanes.stream), every(lanes.step)};
  for (int round = 0; round < rounds; ++round) {
    const __m256i product0 = _mm256_mul_epu32(word[0], every(kPhiloxMultiplier0));
    const __m256i product1 = _mm256_mul_epu32(word[2], every(kPhiloxMultiplier1));
    const __m256i mixed1 = _mm256_xor_si256(word[1], every(lanes.key0[round]));
    const __m256i mixed3 = _mm256_xor_si256(word[3], every(lanes.key1[round]));
    word[0] = _mm256_xor_si256(_mm256_srli_epi64(product1, 32), mixed1);
    word[1] = product1;
    word[2] = _mm256_xor_si256(_mm256_srli_epi64(product0, 32), mixed3);
    word[3] = product0;
  }
  const __m256i first = _mm256_blend_epi32(word[0], _mm256_slli_epi64(word[1], 32), 0xAA);
  const __m256i second = _mm256_blend_epi32(word[2], _mm256_slli_epi64(word[3], 32), 0xAA);
  _mm256_storeu_si256(static_cast<__m256i *>(to), _mm256_unpacklo_epi64(first, second));
  _mm256_storeu_si256(static_cast<__m256i *>(to) + 1, _mm256_unpackhi_epi64(first, second));
}

}  // namespace lpt
