// Vectors of Advanced SIMD (simd.hpp), with the functions that the families of LPT_SIMD_FAMILIES_arm_neon use. All functions
// are static: each file that includes this header has its own copy.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "lpt.h"

namespace lpt {

using F32 = float32x4_t;
using F64 = float64x2_t;
using I32 = int32_t __attribute__((vector_size(16)));
using U32 = uint32x4_t;
using U16 = uint16x4_t;
using Mask = uint32x4_t;      // all bits of a lane, or none
using ActiveLanes = int64_t;  // the number of active lanes
constexpr int64_t kLanes = 4;

static inline ActiveLanes all_lanes() { return kLanes; }
static inline ActiveLanes first_lanes(int64_t count) { return count; }

// Arithmetic. The operators + - * / work on lanes.

[[gnu::always_inline]] static inline F64 broadcast(double value) { return vdupq_n_f64(value); }
[[gnu::always_inline]] static inline F32 broadcast(float value) { return vdupq_n_f32(value); }
// Returns a · b + c, rounded once.
[[gnu::always_inline]] static inline F32 mul_add(F32 a, F32 b, F32 c) { return vfmaq_f32(c, a, b); }
[[gnu::always_inline]] static inline F64 mul_add(F64 a, F64 b, F64 c) { return vfmaq_f64(c, a, b); }
// Returns c - a · b, rounded once.
[[gnu::always_inline]] static inline F32 neg_mul_add(F32 a, F32 b, F32 c) { return vfmsq_f32(c, a, b); }
// max and min return b if both operands are zeros or if one is NaN.
[[gnu::always_inline]] static inline F32 max(F32 a, F32 b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
[[gnu::always_inline]] static inline F32 min(F32 a, F32 b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
[[gnu::always_inline]] static inline I32 i32_of(F32 value) { return reinterpret_cast<I32>(value); }
[[gnu::always_inline]] static inline F32 f32_of(I32 value) { return reinterpret_cast<F32>(value); }
[[gnu::always_inline]] static inline uint32x4_t u32_of(F32 value) { return vreinterpretq_u32_f32(value); }
[[gnu::always_inline]] static inline F32 f32_of(uint32x4_t bits) { return vreinterpretq_f32_u32(bits); }
[[gnu::always_inline]] static inline F32 xor_bits(F32 a, F32 b) { return f32_of(veorq_u32(u32_of(a), u32_of(b))); }
[[gnu::always_inline]] static inline F32 abs(F32 value) { return vabsq_f32(value); }
[[gnu::always_inline]] static inline F32 negative_abs(F32 value) {
  return f32_of(vorrq_u32(u32_of(value), vdupq_n_u32(0x80000000)));
}

// Returns value · 2^n. NaN times any power of two is NaN.
[[gnu::always_inline]] static inline F32 times_power_of_two(F32 value, F32 n) {
  const auto power = [](int32x4_t exponent) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(exponent, vdupq_n_s32(127)), 23));
  };
  const int32x4_t exponent = vcvtnq_s32_f32(n);
  const int32x4_t half = vshrq_n_s32(exponent, 1);
  return value * power(half) * power(vsubq_s32(exponent, half));
}

// Shifts by the counts in the lanes of `counts`; the result is 0 for counts of 32 to 127, and of 2^32 - 96 to 2^32 - 32.
[[gnu::always_inline]] static inline U32 shift_left(U32 value, U32 counts) {
  return vshlq_u32(value, vreinterpretq_s32_u32(counts));
}

// Masks.

[[gnu::always_inline]] static inline Mask opposite(Mask mask) { return vmvnq_u32(mask); }
[[gnu::always_inline]] static inline Mask is_nan(F32 value) { return opposite(vceqq_f32(value, value)); }
[[gnu::always_inline]] static inline Mask is_negative(F32 value) { return vcltzq_f32(value); }
[[gnu::always_inline]] static inline Mask either(Mask a, Mask b) { return vorrq_u32(a, b); }
[[gnu::always_inline]] static inline Mask is_greater(F32 a, F32 b) { return vcgtq_f32(a, b); }
[[gnu::always_inline]] static inline bool has_any(Mask mask) { return vmaxvq_u32(mask) != 0; }
[[gnu::always_inline]] static inline F32 select(Mask mask, F32 yes, F32 no) { return vbslq_f32(mask, yes, no); }
// Returns a mask with all bits set in the first `count` lanes.
[[gnu::always_inline]] static inline Mask lane_bits(int64_t count) {
  static constexpr int32_t kLane[kLanes] = {0, 1, 2, 3};
  return vcltq_s32(vld1q_s32(kLane), vdupq_n_s32(static_cast<int32_t>(count)));
}
[[gnu::always_inline]] static inline F32 select_active(ActiveLanes lanes, F32 active, F32 other) {
  return lanes == kLanes ? active : select(lane_bits(lanes), active, other);
}
[[gnu::always_inline]] static inline F32 select_first(int64_t count, F32 first, F32 other) {
  return select(lane_bits(count), first, other);
}
// Returns `value`, or the positive quiet NaN where a or b is NaN.
[[gnu::always_inline]] static inline F32 unless_nan(F32 a, F32 b, F32 value) {
  return select(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)), value, f32_of(vdupq_n_u32(0x7FC00000)));
}
[[gnu::always_inline]] static inline F64 unless_nan(F64 a, F64 b, F64 value) {
  const F64 nan = vreinterpretq_f64_u64(vdupq_n_u64(0x7FF8000000000000));
  return vbslq_f64(vandq_u64(vceqq_f64(a, a), vceqq_f64(b, b)), value, nan);
}
// Replaces each NaN by the positive quiet NaN.
[[gnu::always_inline]] static inline F32 with_default_nan(F32 value) { return unless_nan(value, value, value); }
[[gnu::always_inline]] static inline F64 with_default_nan(F64 value) { return unless_nan(value, value, value); }
// Replaces each NaN by the quiet NaN of the same sign.
[[gnu::always_inline]] static inline F32 with_quiet_nan(F32 value) {
  const uint32x4_t quiet = vorrq_u32(vandq_u32(u32_of(value), vdupq_n_u32(0x80000000)), vdupq_n_u32(0x7FC00000));
  return select(is_nan(value), f32_of(quiet), value);
}
// Return the larger and the smaller value. The result is NaN if an operand is NaN, and +0 is larger than -0, as the
// instructions define it.
[[gnu::always_inline]] static inline F32 maximum(F32 a, F32 b) { return unless_nan(a, b, vmaxq_f32(a, b)); }
[[gnu::always_inline]] static inline F64 maximum(F64 a, F64 b) { return unless_nan(a, b, vmaxq_f64(a, b)); }
[[gnu::always_inline]] static inline F32 minimum(F32 a, F32 b) { return unless_nan(a, b, vminq_f32(a, b)); }
[[gnu::always_inline]] static inline F64 minimum(F64 a, F64 b) { return unless_nan(a, b, vminq_f64(a, b)); }

// Returns the magnitude, or 0 for infinity and NaN.
[[gnu::always_inline]] static inline F32 finite_abs(F32 value) {
  const F32 size = abs(value);
  return f32_of(vandq_u32(u32_of(size), vcltq_f32(size, broadcast(__builtin_inff()))));
}

// 16-bit elements.

// Preserves all bits of a NaN.
[[gnu::always_inline]] static inline F32 f32_of_bf16(U16 codes) { return f32_of(vshll_n_u16(codes, 16)); }

// Returns bf16 codes, rounded to nearest even without a test for NaN. Values that are too large carry into infinity. A NaN
// whose lower half is zero keeps its bits.
[[gnu::always_inline]] static inline U16 bf16_of_f32(F32 value) {
  const uint32x4_t bits = u32_of(value);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  return vshrn_n_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd), 16);
}

[[gnu::always_inline]] static inline F32 f32_of_f16(U16 codes) { return vcvt_f32_f16(vreinterpret_f16_u16(codes)); }
// Rounds to nearest even. NaN remains NaN.
[[gnu::always_inline]] static inline U16 f16_of_f32(F32 value) { return vreinterpret_u16_f16(vcvt_f16_f32(value)); }

// Conversion of two vectors.
[[gnu::always_inline]] static inline uint8x16_t f16_of_f32(F32 first, F32 second) {
  return vreinterpretq_u8_u16(vcombine_u16(f16_of_f32(first), f16_of_f32(second)));
}
[[gnu::always_inline]] static inline uint8x16_t bf16_of_f32(F32 first, F32 second) {
  return vreinterpretq_u8_u16(vcombine_u16(bf16_of_f32(first), bf16_of_f32(second)));
}

// Memory. Inactive lanes are neither read nor written; loads set them to 0.

[[gnu::always_inline]] static inline F32 load(const float *from) { return vld1q_f32(from); }
[[gnu::always_inline]] static inline F32 load(const float *from, ActiveLanes lanes) {
  if (lanes == kLanes) return load(from);
  F32 value = broadcast(0.0f);
  __builtin_memcpy(&value, from, static_cast<size_t>(4 * lanes));
  return value;
}
[[gnu::always_inline]] static inline void store(float *to, F32 value) { vst1q_f32(to, value); }
[[gnu::always_inline]] static inline void store(float *to, ActiveLanes lanes, F32 value) {
  if (lanes == kLanes) return store(to, value);
  __builtin_memcpy(to, &value, static_cast<size_t>(4 * lanes));
}
[[gnu::always_inline]] static inline U16 load_u16(const void *from, ActiveLanes lanes) {
  U16 codes = vdup_n_u16(0);
  __builtin_memcpy(&codes, from, lanes == kLanes ? sizeof codes : static_cast<size_t>(2 * lanes));
  return codes;
}
[[gnu::always_inline]] static inline void store_u16(void *to, ActiveLanes lanes, U16 codes) {
  __builtin_memcpy(to, &codes, lanes == kLanes ? sizeof codes : static_cast<size_t>(2 * lanes));
}

// Loads elements `index` to `index + 3` of f32, bf16 or f16. Elements from `count` on are 0, and their memory is not read.
template <lpt_format kPlain>
[[gnu::always_inline]] static inline F32 load_numbers(const void *data, int64_t index, int64_t count) {
  const int64_t lanes = count >= kLanes ? kLanes : count > 0 ? count : 0;
  if constexpr (kPlain == LPT_FORMAT_F32) {
    return load(static_cast<const float *>(data) + index, lanes);
  } else {
    const U16 codes = load_u16(static_cast<const uint16_t *>(data) + index, lanes);
    return kPlain == LPT_FORMAT_F16 ? f32_of_f16(codes) : f32_of_bf16(codes);
  }
}

// Stores the first `count` elements of a vector, at most kLanes.
[[gnu::always_inline]] static inline void store_numbers(float *to, F32 value, int64_t count) {
  store(to, count >= kLanes ? kLanes : count, value);
}

[[gnu::always_inline]] static inline F64 load(const double *from) { return vld1q_f64(from); }
// `lanes` must be at most kLanes / 2 active lanes.
[[gnu::always_inline]] static inline F64 load(const double *from, ActiveLanes lanes) {
  F64 value = broadcast(0.0);
  __builtin_memcpy(&value, from, static_cast<size_t>(8 * lanes));
  return value;
}
[[gnu::always_inline]] static inline void store(double *to, ActiveLanes lanes, F64 value) {
  __builtin_memcpy(to, &value, static_cast<size_t>(8 * lanes));
}
[[gnu::always_inline]] static inline uint8x16_t bits_of(F32 value) { return vreinterpretq_u8_f32(value); }
[[gnu::always_inline]] static inline uint8x16_t bits_of(F64 value) { return vreinterpretq_u8_f64(value); }

// Stores a full vector. No store bypasses the caches.
[[gnu::always_inline]] static inline void store_bits(uint8_t *to, uint8x16_t bits, bool /*is_streamed*/) {
  vst1q_u8(to, bits);
}
static inline void store_fence() {}

// Operations across lanes.

// A table of 16 floats. at() returns the entries that the low four bits of the indices select.
using Table16 = uint8x16x4_t;
[[gnu::always_inline]] static inline Table16 load_table(const float *from) {
  return vld1q_u8_x4(reinterpret_cast<const uint8_t *>(from));
}
[[gnu::always_inline]] static inline F32 at(const Table16 &table, U32 indices) {
  const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), vandq_u32(indices, vdupq_n_u32(15)), 0x04040404);
  return vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(bytes)));
}

// Requires that no lane is NaN.
static inline float reduce_max(F32 values) { return vmaxvq_f32(values); }

[[gnu::always_inline]] static inline F64 lower_f64(F32 value) { return vcvt_f64_f32(vget_low_f32(value)); }
[[gnu::always_inline]] static inline F64 upper_f64(F32 value) { return vcvt_high_f64_f32(value); }
static inline double reduce_add(F64 values) { return vaddvq_f64(values); }

// Computes sums[i] += a[i] · b[i] for active lanes. The products are exact.
[[gnu::always_inline]] static inline void add_products_to(double *sums, ActiveLanes lanes, F32 a, F32 b) {
  double padded[kLanes] = {};
  double *place = sums;
  if (lanes < kLanes) {
    place = padded;
    __builtin_memcpy(padded, sums, static_cast<size_t>(8 * lanes));
  }
  vst1q_f64(place, mul_add(lower_f64(a), lower_f64(b), vld1q_f64(place)));
  vst1q_f64(place + 2, mul_add(upper_f64(a), upper_f64(b), vld1q_f64(place + 2)));
  if (lanes < kLanes) __builtin_memcpy(sums, padded, static_cast<size_t>(8 * lanes));
}

// Exchanges lanes 2i and 2i + 1.
[[gnu::always_inline]] static inline F32 exchanged_pairs(F32 value) { return vrev64q_f32(value); }

// Replaces lanes (a, b) at a distance of kStride by (a + b, a - b). The lane is multiplied by 1 or -1, which is exact, and
// added to its partner.
template <int kStride>
[[gnu::always_inline]] static inline F32 butterfly(F32 value) {
  if constexpr (kStride == 1) {
    return mul_add(value, F32{1, -1, 1, -1}, vrev64q_f32(value));
  } else {
    return mul_add(value, F32{1, 1, -1, -1}, vextq_f32(value, value, 2));
  }
}

// Transposes 4 × 4 floats: within 2 × 2, then 64-bit halves.
[[gnu::always_inline]] static inline void transpose(F32 (&rows)[4]) {
  const auto wide = [](F32 value) { return vreinterpretq_f64_f32(value); };
  const F64 low = wide(vtrn1q_f32(rows[0], rows[1])), high = wide(vtrn2q_f32(rows[0], rows[1]));
  const F64 other_low = wide(vtrn1q_f32(rows[2], rows[3])), other_high = wide(vtrn2q_f32(rows[2], rows[3]));
  rows[0] = vreinterpretq_f32_f64(vtrn1q_f64(low, other_low));
  rows[1] = vreinterpretq_f32_f64(vtrn1q_f64(high, other_high));
  rows[2] = vreinterpretq_f32_f64(vtrn2q_f64(low, other_low));
  rows[3] = vreinterpretq_f32_f64(vtrn2q_f64(high, other_high));
}

}  // namespace lpt
