// Vectors of AVX-512 (simd.hpp). All functions are static: each file that includes this header has its own copy.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "kernels/common/philox_lanes.hpp"
#include "lpt.h"

namespace lpt {

using F32 = __m512;
using F64 = __m512d;
using I32 = int32_t __attribute__((vector_size(64)));
using U32 = uint32_t __attribute__((vector_size(64)));
using U16 = __m256i;
using Mask = __mmask16;
using ActiveLanes = __mmask16;
constexpr int64_t kLanes = 16;

static inline ActiveLanes all_lanes() { return 0xFFFF; }
static inline ActiveLanes first_lanes(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

// Returns one bit for each lane in [begin, end), limited to 64 lanes.
static inline __mmask64 lane_mask(int64_t begin, int64_t end) {
  const uint64_t below_end = end >= 64 ? ~uint64_t{0} : end <= 0 ? 0 : (uint64_t{1} << end) - 1;
  const uint64_t below_begin = begin >= 64 ? ~uint64_t{0} : begin <= 0 ? 0 : (uint64_t{1} << begin) - 1;
  return below_end & ~below_begin;
}

// 16-bit elements.

[[gnu::always_inline]] static inline __m512i dwords_of_words(__m256i words) { return _mm512_cvtepu16_epi32(words); }

// Preserves all bits of a NaN.
[[gnu::always_inline]] static inline __m512 f32_of_bf16(__m256i codes) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(dwords_of_words(codes), 16));
}

// Returns bf16 codes in the upper halves of dwords, rounded to nearest even without a test for NaN; vcvtneps2bf16 would flush
// subnormals to zero. Values that are too large carry into infinity. A NaN whose lower half is zero keeps its bits.
[[gnu::always_inline]] static inline __m512i bf16_rounded(__m512 numbers) {
  const __m512i bits = _mm512_castps_si512(numbers);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
}

[[gnu::always_inline]] static inline F32 f32_of_f16(U16 codes) { return _mm512_cvtph_ps(codes); }

// Rounds to nearest even. NaN remains NaN.
[[gnu::always_inline]] static inline U16 f16_of_f32(F32 value) {
  return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Rounds as bf16_rounded() does.
[[gnu::always_inline]] static inline U16 bf16_of_f32(F32 value) {
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(bf16_rounded(value), 16));
}

// Conversion of two vectors.
[[gnu::always_inline]] static inline __m512i f16_of_f32(F32 first, F32 second) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(f16_of_f32(first)), f16_of_f32(second), 1);
}
[[gnu::always_inline]] static inline __m512i bf16_of_f32(F32 first, F32 second) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i pair = _mm512_or_si512(_mm512_slli_epi32(lane, 2), _mm512_slli_epi32(lane, 18));
  const __m512i upper_halves = _mm512_add_epi32(pair, _mm512_set1_epi32(0x00030001));  // words 1, 3, 5, ...
  return _mm512_permutex2var_epi16(bf16_rounded(first), upper_halves, bf16_rounded(second));
}

// Memory.

// Inactive lanes are neither read nor written; loads set them to 0.
[[gnu::always_inline]] static inline F32 load(const float *from) { return _mm512_loadu_ps(from); }
[[gnu::always_inline]] static inline F32 load(const float *from, ActiveLanes lanes) {
  return _mm512_maskz_loadu_ps(lanes, from);
}
[[gnu::always_inline]] static inline void store(float *to, F32 value) { _mm512_storeu_ps(to, value); }
[[gnu::always_inline]] static inline void store(float *to, ActiveLanes lanes, F32 value) {
  _mm512_mask_storeu_ps(to, lanes, value);
}
[[gnu::always_inline]] static inline U16 load_u16(const uint8_t *from, ActiveLanes lanes) {
  return _mm256_maskz_loadu_epi16(lanes, from);
}
[[gnu::always_inline]] static inline void store_u16(uint8_t *to, ActiveLanes lanes, U16 codes) {
  _mm256_mask_storeu_epi16(to, lanes, codes);
}

// Loads elements `index` to `index + 15` of f32, bf16 or f16. Elements from `count` on are 0, and their memory is not read.
template <lpt_format kPlain>
[[gnu::always_inline]] static inline __m512 load_numbers(const void *data, int64_t index, int64_t count) {
  const auto present = static_cast<__mmask16>(lane_mask(0, count));
  if constexpr (kPlain == LPT_FORMAT_F32) {
    const float *const from = static_cast<const float *>(data) + index;
    return count >= 16 ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(present, from);
  } else {
    const uint16_t *const from = static_cast<const uint16_t *>(data) + index;
    const __m256i codes = count >= 16 ? _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))
                                      : _mm256_maskz_loadu_epi16(present, from);
    return kPlain == LPT_FORMAT_F16 ? _mm512_cvtph_ps(codes) : f32_of_bf16(codes);
  }
}

// Stores the first `count` elements of a vector, at most kLanes.
[[gnu::always_inline]] static inline void store_numbers(float *to, F32 value, int64_t count) {
  if (count >= kLanes) return store(to, value);
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(lane_mask(0, count)), value);
}

[[gnu::always_inline]] static inline F64 load(const double *from) { return _mm512_loadu_pd(from); }

// `lanes` must be at most kLanes / 2 active lanes.
[[gnu::always_inline]] static inline F64 load(const double *from, ActiveLanes lanes) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), from);
}
[[gnu::always_inline]] static inline void store(double *to, ActiveLanes lanes, F64 value) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(lanes), value);
}
[[gnu::always_inline]] static inline __m512i bits_of(F32 value) { return _mm512_castps_si512(value); }
[[gnu::always_inline]] static inline __m512i bits_of(F64 value) { return _mm512_castpd_si512(value); }

[[gnu::always_inline]] static inline void store_past_caches(float *to, F32 value) { _mm512_stream_ps(to, value); }
// Must follow store_past_caches() and streamed stores.
[[gnu::always_inline]] static inline void store_fence() { _mm_sfence(); }

// Stores a full vector. `is_streamed`: bypasses the caches; `to` must then be aligned to the vector size.
[[gnu::always_inline]] static inline void store_bits(uint8_t *to, __m512i bits, bool is_streamed) {
  auto *const place = reinterpret_cast<__m512i *>(to);
  is_streamed ? _mm512_stream_si512(place, bits) : _mm512_storeu_si512(place, bits);
}

// Arithmetic. The operators + - * / work on lanes.

[[gnu::always_inline]] static inline F64 broadcast(double value) { return _mm512_set1_pd(value); }
[[gnu::always_inline]] static inline F32 broadcast(float value) { return _mm512_set1_ps(value); }
// Returns a · b + c, rounded once.
[[gnu::always_inline]] static inline F32 mul_add(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
[[gnu::always_inline]] static inline F64 mul_add(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a, b, c); }
// Returns c - a · b, rounded once.
[[gnu::always_inline]] static inline F32 neg_mul_add(F32 a, F32 b, F32 c) { return _mm512_fnmadd_ps(a, b, c); }
// max and min return b if both operands are zeros or if one is NaN.
[[gnu::always_inline]] static inline F32 max(F32 a, F32 b) { return _mm512_max_ps(a, b); }
[[gnu::always_inline]] static inline F32 min(F32 a, F32 b) { return _mm512_min_ps(a, b); }
[[gnu::always_inline]] static inline F32 xor_bits(F32 a, F32 b) { return _mm512_xor_ps(a, b); }
[[gnu::always_inline]] static inline F32 abs(F32 value) { return _mm512_abs_ps(value); }
[[gnu::always_inline]] static inline F32 negative_abs(F32 value) { return _mm512_or_ps(value, _mm512_set1_ps(-0.0f)); }
[[gnu::always_inline]] static inline F32 with_sign_of(F32 magnitude, F32 source) {
  const __m512i sign = _mm512_and_si512(_mm512_castps_si512(source), _mm512_set1_epi32(INT32_MIN));
  return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(magnitude), sign));
}

[[gnu::always_inline]] static inline F32 sqrt(F32 value) { return _mm512_sqrt_ps(value); }
// Returns a / b, or 0 if a is 0.
[[gnu::always_inline]] static inline F32 quotient_or_zero(F32 a, F32 b) {
  return _mm512_maskz_div_ps(_mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_NEQ_UQ), a, b);
}

// Rounds to the nearest integer, ties to even.
[[gnu::always_inline]] static inline F32 nearest_integer(F32 value) {
  return _mm512_roundscale_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Returns value - nearest_integer(value), which is exact; 0 for an infinity.
[[gnu::always_inline]] static inline F32 from_nearest_integer(F32 value) {
  return _mm512_reduce_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Returns value · 2^n, rounded once. NaN · 2^-infinity is 0.
[[gnu::always_inline]] static inline F32 times_power_of_two(F32 value, F32 n) { return _mm512_scalef_ps(value, n); }

// Integers. The C++ operators work on lanes.

[[gnu::always_inline]] static inline __m512i bits_of(U32 value) { return reinterpret_cast<__m512i>(value); }
[[gnu::always_inline]] static inline U32 u32_of(F32 value) { return reinterpret_cast<U32>(value); }
[[gnu::always_inline]] static inline F32 f32_of(U32 value) { return reinterpret_cast<F32>(value); }
[[gnu::always_inline]] static inline U32 broadcast_bits(uint32_t bits) {
  return reinterpret_cast<U32>(_mm512_set1_epi32(static_cast<int32_t>(bits)));
}
[[gnu::always_inline]] static inline U32 min(U32 a, U32 b) {
  return reinterpret_cast<U32>(_mm512_min_epu32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline __m512i bits_of(I32 value) { return reinterpret_cast<__m512i>(value); }
[[gnu::always_inline]] static inline I32 i32_of(__m512i bits) { return reinterpret_cast<I32>(bits); }
[[gnu::always_inline]] static inline I32 i32_of(F32 value) { return reinterpret_cast<I32>(value); }
[[gnu::always_inline]] static inline F32 f32_of(I32 value) { return reinterpret_cast<F32>(value); }
[[gnu::always_inline]] static inline I32 broadcast_i32(int32_t value) { return i32_of(_mm512_set1_epi32(value)); }
[[gnu::always_inline]] static inline I32 min(I32 a, I32 b) { return i32_of(_mm512_min_epi32(bits_of(a), bits_of(b))); }
[[gnu::always_inline]] static inline I32 max(I32 a, I32 b) { return i32_of(_mm512_max_epi32(bits_of(a), bits_of(b))); }
[[gnu::always_inline]] static inline I32 min_unsigned(I32 a, I32 b) {
  return i32_of(_mm512_min_epu32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline I32 max_unsigned(I32 a, I32 b) {
  return i32_of(_mm512_max_epu32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline I32 wrapping_add(I32 a, I32 b) {
  return i32_of(_mm512_add_epi32(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline F32 f32_of_i32(I32 value) { return _mm512_cvtepi32_ps(bits_of(value)); }
// Rounds toward zero.
[[gnu::always_inline]] static inline I32 truncate_i32(F32 value) { return i32_of(_mm512_cvttps_epi32(value)); }
// Rounds to nearest. Numbers that do not fit 32 bits give INT32_MIN.
[[gnu::always_inline]] static inline I32 nearest_i32(F32 value) { return i32_of(_mm512_cvtps_epi32(value)); }
// Returns the bits of the larger magnitude; `largest` is a magnitude. A NaN may be ignored.
[[gnu::always_inline]] static inline I32 larger_magnitude(I32 largest, F32 value) {
  constexpr int kLargerWithoutSign = 11;
  return i32_of(_mm512_range_ps(f32_of(largest), value, kLargerWithoutSign));
}
static inline int32_t reduce_max_unsigned(I32 value) {
  return static_cast<int32_t>(_mm512_reduce_max_epu32(bits_of(value)));
}
static inline int32_t reduce_min_unsigned(I32 value) {
  return static_cast<int32_t>(_mm512_reduce_min_epu32(bits_of(value)));
}
[[gnu::always_inline]] static inline I32 load_u16_as_i32(const uint8_t *from) {
  return i32_of(dwords_of_words(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
}
[[gnu::always_inline]] static inline I32 load_u8_as_i32(const uint8_t *from) {
  return i32_of(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
}
// Shifts by the counts in the lanes of `counts`; the result is 0 for counts of 32 or more.
[[gnu::always_inline]] static inline U32 shift_left(U32 value, U32 counts) {
  return reinterpret_cast<U32>(_mm512_sllv_epi32(bits_of(value), bits_of(counts)));
}
[[gnu::always_inline]] static inline U32 shift_right(U32 value, U32 counts) {
  return reinterpret_cast<U32>(_mm512_srlv_epi32(bits_of(value), bits_of(counts)));
}
[[gnu::always_inline]] static inline I32 shift_left(I32 value, I32 counts) {
  return i32_of(_mm512_sllv_epi32(bits_of(value), bits_of(counts)));
}
// Shifts logically: zeros are shifted in.
[[gnu::always_inline]] static inline I32 shift_right(I32 value, I32 counts) {
  return i32_of(_mm512_srlv_epi32(bits_of(value), bits_of(counts)));
}
// Returns the bits of `bits` that are set in neither a nor b.
[[gnu::always_inline]] static inline U32 neither_of(U32 a, U32 b, uint32_t bits) {
  return reinterpret_cast<U32>(_mm512_ternarylogic_epi32(bits_of(a), bits_of(b), bits_of(broadcast_bits(bits)), 0x02));
}
// Returns a bit for each lane below the limit, for values below 2^31.
[[gnu::always_inline]] static inline uint32_t lanes_below(U32 value, uint32_t limit) {
  return _mm512_cmplt_epi32_mask(bits_of(value), bits_of(broadcast_bits(limit)));
}
// Returns a bit for each lane that is not below the limit, or NaN.
[[gnu::always_inline]] static inline uint32_t lanes_not_below(F32 value, float limit) {
  return _mm512_cmp_ps_mask(value, _mm512_set1_ps(limit), _CMP_NLT_UQ);
}

// Masks.

[[gnu::always_inline]] static inline Mask is_nan(F32 value) { return _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q); }
[[gnu::always_inline]] static inline Mask is_negative(F32 value) {
  return _mm512_cmp_ps_mask(value, _mm512_setzero_ps(), _CMP_LT_OQ);
}
[[gnu::always_inline]] static inline Mask is_greater(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
[[gnu::always_inline]] static inline Mask is_at_least(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
[[gnu::always_inline]] static inline Mask is_equal(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
[[gnu::always_inline]] static inline Mask both(Mask a, Mask b) { return _kand_mask16(a, b); }
[[gnu::always_inline]] static inline Mask either(Mask a, Mask b) { return _kor_mask16(a, b); }
[[gnu::always_inline]] static inline Mask without(Mask a, Mask b) { return _kandn_mask16(b, a); }
[[gnu::always_inline]] static inline Mask opposite(Mask mask) { return _knot_mask16(mask); }
[[gnu::always_inline]] static inline bool has_all(Mask mask) { return mask == 0xFFFF; }
[[gnu::always_inline]] static inline bool has_any(Mask mask) { return mask != 0; }
[[gnu::always_inline]] static inline F32 select(Mask mask, F32 yes, F32 no) {
  return _mm512_mask_mov_ps(no, mask, yes);
}
[[gnu::always_inline]] static inline U32 select(Mask mask, U32 yes, U32 no) {
  return reinterpret_cast<U32>(_mm512_mask_mov_epi32(bits_of(no), mask, bits_of(yes)));
}
// Returns a ^ b where mask is true, otherwise a.
[[gnu::always_inline]] static inline U32 xor_where(Mask mask, U32 a, U32 b) {
  return reinterpret_cast<U32>(_mm512_mask_xor_epi32(bits_of(a), mask, bits_of(a), bits_of(b)));
}
// Returns `value` where mask is true, otherwise 0.
[[gnu::always_inline]] static inline F32 only(Mask mask, F32 value) { return _mm512_maskz_mov_ps(mask, value); }
[[gnu::always_inline]] static inline F32 select_active(ActiveLanes lanes, F32 active, F32 other) {
  return _mm512_mask_mov_ps(other, lanes, active);
}
[[gnu::always_inline]] static inline F32 select_first(int64_t count, F32 first, F32 other) {
  return _mm512_mask_mov_ps(other, static_cast<__mmask16>(lane_mask(0, count)), first);
}
// Replaces each NaN by the positive quiet NaN.
[[gnu::always_inline]] static inline F32 with_default_nan(F32 value) {
  return select(is_nan(value), _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000)), value);
}
// Replaces each NaN by the quiet NaN of the same sign.
[[gnu::always_inline]] static inline F32 with_quiet_nan(F32 value) {
  // (value & sign bit) | quiet NaN
  const __m512i nan = _mm512_ternarylogic_epi32(_mm512_castps_si512(value), _mm512_set1_epi32(INT32_MIN),
                                                _mm512_set1_epi32(0x7FC00000), 0xEA);
  return select(is_nan(value), _mm512_castsi512_ps(nan), value);
}

// Returns `value`, or the positive quiet NaN where a or b is NaN.
[[gnu::always_inline]] static inline F32 unless_nan(F32 a, F32 b, F32 value) {
  return select(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000)), value);
}
[[gnu::always_inline]] static inline F64 unless_nan(F64 a, F64 b, F64 value) {
  const F64 nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7FF8000000000000));
  return _mm512_mask_mov_pd(value, _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q), nan);
}
[[gnu::always_inline]] static inline F64 with_default_nan(F64 value) { return unless_nan(value, value, value); }

// Return the larger and the smaller value. The result is NaN if an operand is NaN, and +0 is larger than -0. For two zeros
// _mm512_max_ps returns the second operand, so that both orders are computed and their bits are combined. For other values both
// orders are equal.
[[gnu::always_inline]] static inline F32 maximum(F32 a, F32 b) {
  return unless_nan(a, b, _mm512_and_ps(_mm512_max_ps(a, b), _mm512_max_ps(b, a)));
}
[[gnu::always_inline]] static inline F64 maximum(F64 a, F64 b) {
  return unless_nan(a, b, _mm512_and_pd(_mm512_max_pd(a, b), _mm512_max_pd(b, a)));
}
[[gnu::always_inline]] static inline F32 minimum(F32 a, F32 b) {
  return unless_nan(a, b, _mm512_or_ps(_mm512_min_ps(a, b), _mm512_min_ps(b, a)));
}
[[gnu::always_inline]] static inline F64 minimum(F64 a, F64 b) {
  return unless_nan(a, b, _mm512_or_pd(_mm512_min_pd(a, b), _mm512_min_pd(b, a)));
}

// Returns the magnitude, or 0 for infinity and NaN.
[[gnu::always_inline]] static inline F32 finite_abs(F32 value) {
  const F32 size = abs(value);
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(size, _mm512_set1_ps(__builtin_inff()), _CMP_LT_OQ), size);
}

// Operations across lanes.

// A table of 16 floats. at() returns the entries that the low four bits of the indices select.
using Table16 = __m512;
[[gnu::always_inline]] static inline Table16 load_table(const float *from) { return _mm512_loadu_ps(from); }
[[gnu::always_inline]] static inline F32 at(Table16 table, U32 indices) {
  return _mm512_permutexvar_ps(bits_of(indices), table);
}

// Requires that no lane is NaN.
static inline float reduce_max(F32 values) { return _mm512_reduce_max_ps(values); }

[[gnu::always_inline]] static inline F64 lower_f64(F32 value) { return _mm512_cvtps_pd(_mm512_castps512_ps256(value)); }
[[gnu::always_inline]] static inline F64 upper_f64(F32 value) {
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(value, 1));
}
// Adds the upper half of the lanes to the lower half until one lane remains.
static inline double reduce_add(F64 values) { return _mm512_reduce_add_pd(values); }

// Computes sums[i] += a[i] · b[i] for active lanes. The products are exact.
[[gnu::always_inline]] static inline void add_products_to(double *sums, ActiveLanes lanes, F32 a, F32 b) {
  const auto low = static_cast<__mmask8>(lanes), high = static_cast<__mmask8>(lanes >> 8);
  _mm512_mask_storeu_pd(sums, low, mul_add(lower_f64(a), lower_f64(b), _mm512_maskz_loadu_pd(low, sums)));
  if (high == 0) return;
  sums += 8;
  _mm512_mask_storeu_pd(sums, high, mul_add(upper_f64(a), upper_f64(b), _mm512_maskz_loadu_pd(high, sums)));
}

// Exchanges lanes 2i and 2i + 1.
[[gnu::always_inline]] static inline F32 exchanged_pairs(F32 value) { return _mm512_permute_ps(value, 0xB1); }

// Replaces lanes (a, b) at a distance of kStride by (a + b, a - b). The lane is multiplied by 1 or -1, which is exact, and
// added to its partner.
template <int kStride>
[[gnu::always_inline]] static inline F32 butterfly(F32 value) {
  const auto signs = [](__mmask16 negative) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(1.0f), negative, _mm512_set1_ps(-1.0f));
  };
  if constexpr (kStride == 1) {
    return _mm512_fmadd_ps(value, signs(0xAAAA), _mm512_permute_ps(value, 0xB1));
  } else if constexpr (kStride == 2) {
    return _mm512_fmadd_ps(value, signs(0xCCCC), _mm512_permute_ps(value, 0x4E));
  } else if constexpr (kStride == 4) {
    return _mm512_fmadd_ps(value, signs(0xF0F0), _mm512_shuffle_f32x4(value, value, 0xB1));
  } else {
    return _mm512_fmadd_ps(value, signs(0xFF00), _mm512_shuffle_f32x4(value, value, 0x4E));
  }
}

// Transposes 16 × 16 dwords: within 2 × 2, then 4 × 4, then 128-bit quarters.
[[gnu::always_inline]] static inline void transpose(__m512i (&rows)[16]) {
  __m512i pairs[16], quads[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // quads[4·g + c]: rows 4·g to 4·g + 3 of columns c, c + 4, c + 8, c + 12
    quads[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i even_low = _mm512_shuffle_i32x4(quads[c], quads[4 + c], 0x88);  // columns c, c + 8
    const __m512i odd_low = _mm512_shuffle_i32x4(quads[c], quads[4 + c], 0xDD);   // columns c + 4, c + 12
    const __m512i even_high = _mm512_shuffle_i32x4(quads[8 + c], quads[12 + c], 0x88);
    const __m512i odd_high = _mm512_shuffle_i32x4(quads[8 + c], quads[12 + c], 0xDD);
    rows[c] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    rows[c + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    rows[c + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xDD);
    rows[c + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xDD);
  }
}

[[gnu::always_inline]] static inline void transpose(__m512 (&rows)[16]) {
  __m512i bits[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) bits[i] = _mm512_castps_si512(rows[i]);
  transpose(bits);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) rows[i] = _mm512_castsi512_ps(bits[i]);
}

// Transposes 4 × 4 floats within 128-bit quarters. The function is its own inverse.
[[gnu::always_inline]] static inline void transpose_fours(__m512 (&v)[4]) {
  const __m512d low = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1]));
  const __m512d high = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
  const __m512d other_low = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3]));
  const __m512d other_high = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
  v[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, other_low));
  v[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, other_low));
  v[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high, other_high));
  v[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high, other_high));
}

// Random bits.

// 16 random bits for each of 64 elements in order, the first 32 elements in `low`; or 8 bits for each of 128 elements.
struct RandomU16x64 {
  __m512i low;
  __m512i high;
};

// The words of eight counters after some rounds. The upper halves of the lanes are undefined.
struct PhiloxWords {
  __m512i word[4];
};

[[gnu::always_inline]] static inline __m512i philox_multiplied(__m512i word, uint32_t multiplier) {
  return _mm512_mul_epu32(word, _mm512_set1_epi64(multiplier));
}

[[gnu::always_inline]] static inline __m512i philox_mixed(__m512i product, __m512i word, uint64_t key) {
  const __m512i keys = _mm512_set1_epi64(static_cast<int64_t>(key));
  return _mm512_ternarylogic_epi64(_mm512_srli_epi64(product, 32), word, keys, 0x96);
}

[[gnu::always_inline]] static inline void philox_round(PhiloxWords &words, uint64_t key0, uint64_t key1) {
  const __m512i product0 = philox_multiplied(words.word[0], kPhiloxMultiplier0);
  const __m512i product1 = philox_multiplied(words.word[2], kPhiloxMultiplier1);
  words = {
      {philox_mixed(product1, words.word[1], key0), product1, philox_mixed(product0, words.word[3], key1), product0}};
}

// Computes three rounds, for counters below 2^32.
[[gnu::always_inline]] static inline PhiloxWords philox_first_rounds(const PhiloxLanes &lanes, __m512i counter) {
  const auto every = [](uint64_t word) { return _mm512_set1_epi64(static_cast<int64_t>(word)); };
  const __m512i first = philox_multiplied(counter, kPhiloxMultiplier0);
  const __m512i first2 = _mm512_xor_si512(_mm512_srli_epi64(first, 32), every(lanes.first2));
  const __m512i second = philox_multiplied(first2, kPhiloxMultiplier1);
  const __m512i second0 = _mm512_xor_si512(_mm512_srli_epi64(second, 32), every(lanes.second0));
  const __m512i second2 = _mm512_xor_si512(first, every(lanes.second2));
  const __m512i product0 = philox_multiplied(second0, kPhiloxMultiplier0);
  const __m512i product1 = philox_multiplied(second2, kPhiloxMultiplier1);
  return {{philox_mixed(product1, second, lanes.key0[2]), product1,
           _mm512_xor_si512(_mm512_srli_epi64(product0, 32), every(lanes.third2)), product0}};
}

[[gnu::noinline]] static inline PhiloxWords philox_first_rounds_of_any(const PhiloxLanes &lanes, __m512i counter) {
  PhiloxWords words = {{counter, _mm512_srli_epi64(counter, 32), _mm512_set1_epi64(static_cast<int64_t>(lanes.stream)),
                        _mm512_set1_epi64(static_cast<int64_t>(lanes.step))}};
  for (int round = 0; round < 3; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  return words;
}

// Returns the bits of blocks `block` to `block + 7`, 128 bits each.
[[gnu::always_inline]] static inline RandomU16x64 random_blocks(const PhiloxLanes &lanes, uint64_t block, int rounds) {
  // The counters are ordered so that interleaving the halves of the results returns blocks 0-3 and 4-7.
  const __m512i counter =
      _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(block)), _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0));
  PhiloxWords words;
  if (block + 7 <= 0xFFFFFFFFu) [[likely]] {
    words = philox_first_rounds(lanes, counter);
  } else {
    words = philox_first_rounds_of_any(lanes, counter);
  }
#pragma GCC unroll 4
  for (int round = 3; round < 7; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  if (rounds == 10) {
#pragma GCC unroll 3
    for (int round = 7; round < 10; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  }
  const __mmask16 odd = 0xAAAA;
  const __m512i first = _mm512_mask_shuffle_epi32(words.word[0], odd, words.word[1], _MM_PERM_CCAA);
  const __m512i second = _mm512_mask_shuffle_epi32(words.word[2], odd, words.word[3], _MM_PERM_CCAA);
  return {_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second)};
}

template <int kRounds>
[[gnu::always_inline]] static inline RandomU16x64 random_u16x64(const PhiloxLanes &lanes, uint64_t block) {
  return random_blocks(lanes, block, kRounds);
}

}  // namespace lpt
