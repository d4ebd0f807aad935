// Decoding of f16 and bf16, and encoding of all elements except f32 and dynamic trees: the integer steps of encode() as
// vectors, for any rounding and any value. avx2_codes.hpp and avx512_codes.hpp have faster versions of the most frequent
// conversions. Encoding loops process four vectors per iteration: kQuad elements. Included by simd_*.cpp.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/optimizer/optimizer.hpp"
#include "src/formats/element.hpp"

#if defined(__AVX512F__)
#include "kernels/optimizer/avx512_codes.hpp"
#else
#include "kernels/optimizer/avx2_codes.hpp"
#endif

namespace lpt {
namespace {

constexpr int32_t kMagnitude = 0x7FFFFFFF;
constexpr int32_t kInfinity = 0x7F800000;
constexpr int64_t kQuad = 4 * kLanes;

constexpr Element element_layout(lpt_format format) {
  return format == LPT_FORMAT_BF16     ? kElementBf16
         : format == LPT_FORMAT_F16    ? kElementF16
         : format == LPT_FORMAT_E5M2   ? kElementE5m2
         : format == LPT_FORMAT_E4M3FN ? kElementE4m3fn
                                       : kElementE4m3;
}

constexpr int64_t bytes_of(lpt_format format) {
  return format == LPT_FORMAT_F32 ? 4 : format == LPT_FORMAT_F16 || format == LPT_FORMAT_BF16 ? 2 : 1;
}

// Returns `count`, rounded up to full iterations of kQuad elements. UnitMemory has space for them.
constexpr int64_t whole_quads(int64_t count) { return (count + kQuad - 1) / kQuad * kQuad; }

// Decoding.

void load_scaled(lpt_format format, const uint8_t *from, float scale, float *to, int64_t count) {
  const F32 scales = broadcast(scale);
  for (int64_t i = 0; i < count; i += kLanes) {
    const F32 number = format == LPT_FORMAT_F16 ? f32_of_f16(load_u16(from + 2 * i, all_lanes()))
                                                : f32_of(load_u16_as_i32(from + 2 * i) << 16);
    store(to + i, number * scales);
  }
}

// Encoding.

// Parameters of an encoding.
struct Coding {
  Element layout;
  lpt_rounding rounding;
  lpt_optimizer_underflow underflow;
  int32_t random_bits;    // 16 or 8 per element
  const uint8_t *random;  // of the first element; NULL: not used
};

// Returns the codes of magnitudes up to the largest value, rounded to nearest even: see store_nearest(). The addend of bf16
// exceeds the range of f32, so that bf16 is rounded in integers.
[[gnu::always_inline]] inline I32 nearest_codes(const Element &layout, F32 magnitude) {
  const I32 bits = i32_of(magnitude);
  if (layout.min_exponent == kElementBf16.min_exponent) return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  const int32_t dropped = 23 - layout.mantissa_bits;
  const I32 least = broadcast_i32((layout.min_exponent + 127) << 23);
  const I32 exponent = max(bits & kInfinity, least);
  const I32 addend = exponent + (dropped << 23);
  return i32_of(magnitude + f32_of(addend)) - addend + ((exponent - least) >> dropped);
}

// Returns the codes of magnitudes up to the largest value, rounded toward zero. If is_drawn, rounding is stochastic by `words`.
[[gnu::always_inline]] inline I32 truncated_codes(const Coding &coding, F32 magnitude, bool is_drawn, I32 words) {
  const Element &layout = coding.layout;
  const I32 bits = i32_of(magnitude);
  const I32 field = bits >> 23;
  const I32 significand = (bits & 0x007FFFFF) | (field > 0 ? broadcast_i32(0x00800000) : broadcast_i32(0));
  const I32 exponent = max(field, broadcast_i32(1));
  const I32 least = broadcast_i32(layout.min_exponent + 127);
  const I32 grid = max(exponent, least);
  const I32 dropped = grid - exponent + (23 - layout.mantissa_bits);
  I32 quotient = shift_right(significand, dropped);
  if (is_drawn) {
    const int32_t wide = coding.random_bits + 1;
    const I32 rest = significand & wrapping_add(shift_left(broadcast_i32(1), dropped), broadcast_i32(-1));
    const I32 psi = shift_right(rest, dropped - wide) | shift_left(rest, wide - dropped);
    quotient += (psi + 2 * words + 1) >> wide;
  }
  return ((grid - least) << layout.mantissa_bits) + quotient;
}

// Returns full codes: round(scaled), saturated, with signs. A NaN becomes the positive quiet NaN. `value` is the unscaled
// value.
[[gnu::always_inline]] inline I32 codes_of(const Coding &coding, F32 value, F32 scaled, I32 words) {
  const Element &layout = coding.layout;
  const auto max_code = static_cast<int32_t>(layout.max_code);
  const F32 magnitude = min(abs(scaled), broadcast(decode(layout, layout.max_code)));
  I32 codes = coding.rounding == LPT_ROUNDING_NEAREST_EVEN
                  ? nearest_codes(layout, magnitude)
                  : truncated_codes(coding, magnitude, coding.rounding == LPT_ROUNDING_STOCHASTIC, words);
  if (coding.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC) {
    const F32 smallest = broadcast(decode(layout, 1));
    codes = magnitude < smallest ? truncated_codes(coding, magnitude, true, words) : codes;
  }
  codes = min(codes, broadcast_i32(max_code));
  if (coding.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP) {
    codes = max(codes, value != broadcast(0.0f) ? broadcast_i32(1) : broadcast_i32(0));
  }
  const int32_t sign = 1 << (layout.bits - 1);
  codes |= i32_of(scaled) >> (32 - layout.bits) & sign;
  return scaled != scaled ? broadcast_i32(static_cast<int32_t>(layout.nan_code)) : codes;
}

// Encodes with any parameters. Not inlined: each iteration tests the format and the rounding.
[[gnu::noinline]] void store_any(const Coding &coding, const float *values, const float *scaled, float inverse,
                                 uint8_t *to, int64_t count) {
  for (int64_t i = 0; i < count; i += kQuad) {
    I32 codes[4];
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * kLanes;
      I32 words = broadcast_i32(0);
      if (coding.random != nullptr) {
        words = coding.random_bits == 8 ? load_u8_as_i32(coding.random + at) : load_u16_as_i32(coding.random + 2 * at);
      }
      codes[j] = codes_of(coding, load(values + at), load(scaled + at) * broadcast(inverse), words);
    }
    if (coding.layout.bits == 8) {
      store_u8(to + i, codes);
    } else {
      store_u16(to + 2 * i, codes);
    }
  }
}

// Returns bf16 codes: the upper 16 bits of each f32, because both formats have the same exponents. `added` rounds the
// magnitude.
[[gnu::always_inline]] inline I32 bf16_codes(F32 value, I32 added) {
  const I32 bits = i32_of(value);
  const I32 magnitude = min(wrapping_add(bits & kMagnitude, added), broadcast_i32(0x7F7FFFFF));
  const I32 codes = (magnitude >> 16) | (bits >> 16 & 0x8000);
  return value != value ? broadcast_i32(0x7FC0) : codes;
}

enum class Bf16Rounding { kNearest, kDrawn16, kDrawn8 };

template <Bf16Rounding kRounding>
void store_bf16(const Coding &coding, const float *values, uint8_t *to, int64_t count) {
  for (int64_t i = 0; i < count; i += kQuad) {
    I32 codes[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * kLanes;
      const F32 value = load(values + at);
      I32 added;
      if constexpr (kRounding == Bf16Rounding::kNearest) {
        added = (i32_of(value) >> 16 & 1) + 0x7FFF;
      } else if constexpr (kRounding == Bf16Rounding::kDrawn16) {
        added = load_u16_as_i32(coding.random + 2 * at);
      } else {
        added = (load_u8_as_i32(coding.random + at) << 8) + 0x80;
      }
      codes[j] = bf16_codes(value, added);
    }
    store_u16(to + 2 * i, codes);
  }
}

// As store_any() for f16, rounded to nearest even.
[[gnu::noinline]] void store_f16(const float *scaled, float inverse, uint8_t *to, int64_t count) {
  const F32 largest = broadcast(65504.0f);
  for (int64_t i = 0; i < count; i += kLanes) {
    const F32 value = load(scaled + i) * broadcast(inverse);
    const F32 saturated = f32_of(i32_of(min(abs(value), largest)) | (i32_of(value) & ~kMagnitude));
    const F32 number = select(is_nan(value), f32_of(broadcast_i32(0x7FC00000)), saturated);
    store_u16(to + 2 * i, all_lanes(), f16_of_f32(number));
  }
}

void store_codes(const Coding &coding, const float *values, const float *scaled, float inverse, uint8_t *to,
                 int64_t count) {
  const bool is_bf16 = coding.layout.min_exponent == kElementBf16.min_exponent;
  const bool is_f16 = coding.layout.mantissa_bits == kElementF16.mantissa_bits;
  const bool is_nearest = coding.rounding == LPT_ROUNDING_NEAREST_EVEN;
  const bool is_fast = is_bf16 ? coding.rounding != LPT_ROUNDING_TOWARD_ZERO : is_f16 && is_nearest;
  if (!is_fast || coding.underflow != LPT_OPTIMIZER_UNDERFLOW_ALLOWED) {
    return store_any(coding, values, scaled, inverse, to, count);
  }
  if (is_f16) return store_f16(scaled, inverse, to, count);
  if (is_nearest) return store_bf16<Bf16Rounding::kNearest>(coding, values, to, count);
  if (coding.random_bits == 8) return store_bf16<Bf16Rounding::kDrawn8>(coding, values, to, count);
  store_bf16<Bf16Rounding::kDrawn16>(coding, values, to, count);
}

}  // namespace
}  // namespace lpt
