// What one element means: encode and decode, shared by the reference rows, the SIMD tails, CUDA, and the tests.
//
// A float element of M mantissa bits whose smallest normal is 2^e_min has the magnitude codes
//   code = (max(e, e_min) - e_min) · 2^M + q,   q = significand in units of 2^(max(e, e_min) - M),
// which is one formula for subnormals (e < e_min), normals, and the carry into the next exponent. An integer is the
// case of one exponent only: q counts ones.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "lpt.h"
#include "src/base/host_device.hpp"

namespace lpt {

// Plain numbers, so that a kernel can take it by value. Magnitude codes leave out the sign.
struct Element {
  int32_t bits;            // storage
  int32_t mantissa_bits;   // stored
  int32_t min_exponent;    // of the smallest normal; integers: 0
  uint32_t max_code;       // magnitude code of the largest finite value
  uint32_t infinity_code;  // what overflow to infinity gives: infinity, else NaN, else max_code
  uint32_t nan_code;       // magnitude code of NaN; 0: the element has none
  bool is_signed;
  bool is_integer;
};

constexpr Element kElementF16 = {16, 10, -14, 0x7BFF, 0x7C00, 0x7E00, true, false};
constexpr Element kElementBf16 = {16, 7, -126, 0x7F7F, 0x7F80, 0x7FC0, true, false};
constexpr Element kElementE4m3fn = {8, 3, -6, 0x7E, 0x7F, 0x7F, true, false};
constexpr Element kElementE4m3 = {8, 3, -6, 0x77, 0x78, 0x7C, true, false};
constexpr Element kElementE5m2 = {8, 2, -14, 0x7B, 0x7C, 0x7E, true, false};
constexpr Element kElementE2m1fn = {4, 1, 0, 0x7, 0x7, 0, true, false};
// Code 0 is 2^-127, where the formula above has zero: a scale has no zero. Up to 2^-127 all values give it, zero too.
// Between 2^-127 and 2^-126 the fraction is that of 2^-126, so that the nearest is up; any other tie goes up as well, as
// its quotient 1 is odd. All of this but zero is as in ml_dtypes.
constexpr Element kElementE8m0fnu = {8, 0, -126, 0xFE, 0xFF, 0xFF, false, false};
constexpr Element kElementInt8 = {8, 0, 0, 127, 127, 0, true, true};

LPT_HOST_DEVICE static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

LPT_HOST_DEVICE static inline float bits_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Places the sign of `value` beside a magnitude code. An integer takes the two's complement, and so has no -0.
LPT_HOST_DEVICE static inline uint32_t with_sign(const Element &element, uint32_t magnitude, bool is_negative) {
  if (!is_negative || !element.is_signed) return magnitude;
  if (element.is_integer) return (0u - magnitude) & ((1u << element.bits) - 1);
  return magnitude | (1u << (element.bits - 1));
}

// Rounds f32 to the element. `random` holds the random bits of stochastic rounding, `random_bits` (16 or 8) of them.
//
// Stochastic: psi = floor(f · 2^(b+1) / 2^s) is the dropped part cut to b + 1 bits; up if psi + 2R + 1 >= 2^(b+1).
// Up to s = b bits the probability is exactly the fraction; beyond, it is the fraction rounded to b bits, halves up.
// An unsigned element has no code for a negative value: it gives NaN.
LPT_HOST_DEVICE static inline uint32_t encode(const Element &element, float value, lpt_rounding rounding,
                                              lpt_overflow overflow, uint32_t random, int32_t random_bits) {
  const uint32_t bits = float_bits(value);
  const bool is_negative = (bits >> 31) != 0;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return with_sign(element, element.nan_code, is_negative);
  if (is_negative && !element.is_signed && magnitude != 0) return element.nan_code;
  const uint32_t beyond = overflow == LPT_OVERFLOW_INFINITE ? element.infinity_code : element.max_code;
  if (magnitude == 0x7F800000u) return with_sign(element, beyond, is_negative);
  if (!element.is_signed && magnitude <= 0x00400000u) return 0;  // e8m0fnu, up to 2^-127

  const bool is_subnormal = magnitude < 0x00800000u;
  const uint64_t significand = is_subnormal ? magnitude : (magnitude & 0x007FFFFFu) | 0x00800000u;
  const int32_t exponent = is_subnormal ? -126 : static_cast<int32_t>(magnitude >> 23) - 127;
  const int32_t grid = exponent < element.min_exponent || element.is_integer ? element.min_exponent : exponent;
  int32_t dropped = grid - element.mantissa_bits - (exponent - 23);  // bits below the target's last place
  // A float drops 23 - 10 bits at least. An integer drops none from 2^23 on: no integer element reaches that far.
  if (dropped < 1) return with_sign(element, beyond, is_negative);
  if (dropped > 60) dropped = 60;

  uint64_t quotient = significand >> dropped;
  const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
  if (rounding == LPT_ROUNDING_NEAREST_EVEN) {
    const uint64_t half = uint64_t{1} << (dropped - 1);
    quotient += rest > half || (rest == half && (quotient & 1) != 0);
  } else if (rounding == LPT_ROUNDING_STOCHASTIC) {
    // rest < 2^24, so the shifted value fits; a drop beyond 40 bits leaves psi = 0 exactly.
    const int32_t wide = random_bits + 1;
    const uint64_t psi = (rest << wide) >> dropped;
    quotient += psi + 2 * uint64_t{random} + 1 >= (uint64_t{1} << wide);
  }
  const uint64_t code = (static_cast<uint64_t>(grid - element.min_exponent) << element.mantissa_bits) + quotient;
  return with_sign(element, code > element.max_code ? beyond : static_cast<uint32_t>(code), is_negative);
}

// Gives the number a code stands for. Exact: every element fits f32.
LPT_HOST_DEVICE static inline float decode(const Element &element, uint32_t code) {
  if (element.is_integer) {
    const int32_t shift = 32 - element.bits;
    return static_cast<float>(static_cast<int32_t>(code << shift) >> shift);
  }
  const uint32_t sign_mask = element.is_signed ? 1u << (element.bits - 1) : 0;
  const uint32_t sign = (code & sign_mask) != 0 ? 0x80000000u : 0;
  const uint32_t magnitude = code & ~sign_mask & ((1u << element.bits) - 1);
  if (magnitude > element.max_code) {
    const bool is_infinity = magnitude == element.infinity_code && element.infinity_code != element.nan_code;
    return bits_float(sign | (is_infinity ? 0x7F800000u : 0x7FC00000u));
  }
  const uint32_t biased = magnitude >> element.mantissa_bits;
  const uint32_t fraction = magnitude & ((1u << element.mantissa_bits) - 1);
  if (!element.is_signed) {  // e8m0fnu: 2^(code - 127)
    return magnitude == 0 ? bits_float(0x00400000u) : bits_float(magnitude << 23);
  }
  if (biased != 0) {
    const uint32_t exponent = biased - 1 + static_cast<uint32_t>(element.min_exponent + 127);
    return bits_float(sign | (exponent << 23) | (fraction << (23 - element.mantissa_bits)));
  }
  if (element.min_exponent == -126) return bits_float(sign | (fraction << (23 - element.mantissa_bits)));  // bf16
  const float unit = bits_float(static_cast<uint32_t>(element.min_exponent - element.mantissa_bits + 127) << 23);
  return bits_float(float_bits(static_cast<float>(fraction) * unit) | sign);
}

}  // namespace lpt
