// The value of one element: encode and decode. Reference kernels, SIMD tail loops, CUDA code and tests share them.
//
// A float element of M mantissa bits whose smallest normal is 2^e_min has the magnitude codes
//   code = (max(e, e_min) - e_min) · 2^M + q,   q = significand in units of 2^(max(e, e_min) - M),
// The formula covers subnormals (e < e_min), normals, and the carry into the next exponent. An integer has a single exponent:
// q counts ones, or fractions of one if the integer has mantissa bits below the binary point. A list is a table of levels;
// its code is the index in the table.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "lpt.h"
#include "src/base/host_device.hpp"

namespace lpt {

// Storage of codes in memory: `elements` codes in `bytes` bytes, with the first code in the lowest bits.
struct Packing {
  int32_t elements;
  int32_t bytes;
};

// The levels of a list in ascending order, their codes, and the thresholds between adjacent levels. A value above
// threshold[i] is nearer to level[i + 1] than to level[i].
struct LevelList {
  float level[16];
  float threshold[15];
  uint8_t code[16];
  float value[16];  // by code
};

// All members are plain numbers, so that kernels can copy it by value. Magnitude codes exclude the sign.
struct Element {
  int32_t bits;            // of one code
  int32_t mantissa_bits;   // stored
  int32_t min_exponent;    // of the smallest normal; 0 for integers
  uint32_t max_code;       // magnitude code of the largest finite value
  uint32_t infinity_code;  // result of overflow to infinity: infinity, else NaN, else max_code
  uint32_t nan_code;       // magnitude code of NaN, or the full code of a single NaN; 0: no NaN
  bool is_signed;
  bool is_integer;
  bool is_fnuz = false;               // the code of -0 is NaN
  bool has_no_zero = false;           // e8m0fnu: code 0 is the value below the smallest normal
  bool is_ternary = false;            // codes of int2, five in one byte
  const LevelList *levels = nullptr;  // of a list
};

constexpr Element kElementF16 = {16, 10, -14, 0x7BFF, 0x7C00, 0x7E00, true, false};
constexpr Element kElementBf16 = {16, 7, -126, 0x7F7F, 0x7F80, 0x7FC0, true, false};
constexpr Element kElementE4m3fn = {8, 3, -6, 0x7E, 0x7F, 0x7F, true, false};
constexpr Element kElementE4m3 = {8, 3, -6, 0x77, 0x78, 0x7C, true, false};
constexpr Element kElementE5m2 = {8, 2, -14, 0x7B, 0x7C, 0x7E, true, false};
constexpr Element kElementE4m3fnuz = {8, 3, -7, 0x7F, 0x80, 0x80, true, false, true};
constexpr Element kElementE5m2fnuz = {8, 2, -15, 0x7F, 0x80, 0x80, true, false, true};
constexpr Element kElementE4m3b11fnuz = {8, 3, -10, 0x7F, 0x80, 0x80, true, false, true};
constexpr Element kElementE3m4 = {8, 4, -2, 0x6F, 0x70, 0x78, true, false};
constexpr Element kElementE3m2fn = {6, 2, -2, 0x1F, 0x1F, 0, true, false};
constexpr Element kElementE2m3fn = {6, 3, 0, 0x1F, 0x1F, 0, true, false};
constexpr Element kElementE2m1fn = {4, 1, 0, 0x7, 0x7, 0, true, false};
constexpr Element kElementE3m0 = {4, 0, -2, 0x7, 0x7, 0, true, false};
// Code 0 is 2^-127, whereas the formula above has zero: a scale is never zero. Every value up to 2^-127 is encoded as code 0,
// including zero. Between 2^-127 and 2^-126 the fraction is that of 2^-126, so the nearest code is the upper one. Other ties
// are rounded up as well, because their quotient 1 is odd. Except for zero, this is the behavior of ml_dtypes.
constexpr Element kElementE8m0fnu = {8, 0, -126, 0xFE, 0xFF, 0xFF, false, false, false, true};
constexpr Element kElementInt8 = {8, 0, 0, 127, 127, 0, true, true};
constexpr Element kElementUint8 = {8, 0, 0, 255, 255, 0, false, true};
constexpr Element kElementInt16 = {16, 0, 0, 32767, 32767, 0, true, true};
constexpr Element kElementInt4 = {4, 0, 0, 7, 7, 0, true, true};
constexpr Element kElementUint4 = {4, 0, 0, 15, 15, 0, false, true};
constexpr Element kElementInt3 = {3, 0, 0, 3, 3, 0, true, true};
constexpr Element kElementInt2 = {2, 0, 0, 1, 1, 0, true, true};
constexpr Element kElementTernary = {2, 0, 0, 1, 1, 0, true, true, false, false, true};
constexpr Element kElementQ16 = {8, 6, 0, 127, 127, 0, true, true};

constexpr Packing packing_of(const Element &element) {
  if (element.is_ternary) return {5, 1};
  switch (element.bits) {
    case 16:
      return {1, 2};
    case 6:
      return {4, 3};
    case 4:
      return {2, 1};
    case 2:
      return {4, 1};
    case 8:
      return {1, 1};
    default:
      return {8, element.bits};
  }
}

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

// Adds the sign of `value` to a magnitude code. Integers use two's complement, so they have no -0.
LPT_HOST_DEVICE static inline uint32_t with_sign(const Element &element, uint32_t magnitude, bool is_negative) {
  if (!is_negative || !element.is_signed) return magnitude;
  if (element.is_fnuz && (magnitude == 0 || magnitude == element.nan_code)) return magnitude;
  if (element.is_integer) return (0u - magnitude) & ((1u << element.bits) - 1);
  return magnitude | (1u << (element.bits - 1));
}

// Returns the code of the nearest level. Ties round to the lower level. NaN gets the code of zero.
LPT_HOST_DEVICE static inline uint32_t encode_level(const LevelList &list, float value) {
  if (value != value) value = 0.0f;
  int32_t place = 0;
  while (place < 15 && value > list.threshold[place]) ++place;
  return list.code[place];
}

// Rounds an f32 value to the element. `random` holds the `random_bits` (16 or 8) random bits of stochastic rounding.
//
// Stochastic: psi = floor(f · 2^(b+1) / 2^s) is the dropped fraction truncated to b + 1 bits. The value is rounded up if
// psi + 2R + 1 >= 2^(b+1). For s <= b dropped bits the probability is exactly the fraction. For s > b it is the fraction
// rounded to b bits, halves up.
// An unsigned element has no code for a negative value: the result is NaN, or zero if the element has no NaN. Stochastic
// underflow applies this rule below the smallest positive code, and rounds to nearest even above it. A list always rounds to
// nearest.
LPT_HOST_DEVICE static inline uint32_t encode(const Element &element, float value, lpt_rounding rounding,
                                              lpt_overflow overflow, uint32_t random, int32_t random_bits) {
  if (element.levels != nullptr) return encode_level(*element.levels, value);
  const uint32_t bits = float_bits(value);
  const bool is_negative = (bits >> 31) != 0;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return with_sign(element, element.nan_code, is_negative);
  if (is_negative && !element.is_signed && magnitude != 0) return element.nan_code;
  const uint32_t beyond = overflow == LPT_OVERFLOW_INFINITE ? element.infinity_code : element.max_code;
  if (magnitude == 0x7F800000u) return with_sign(element, beyond, is_negative);
  if (element.has_no_zero && magnitude <= 0x00400000u) return 0;  // at most 2^-127

  const bool is_subnormal = magnitude < 0x00800000u;
  const uint64_t significand = is_subnormal ? magnitude : (magnitude & 0x007FFFFFu) | 0x00800000u;
  const int32_t exponent = is_subnormal ? -126 : static_cast<int32_t>(magnitude >> 23) - 127;
  const int32_t grid = exponent < element.min_exponent || element.is_integer ? element.min_exponent : exponent;
  int32_t dropped = grid - element.mantissa_bits - (exponent - 23);  // bits below the last bit of the target
  // A float drops at least 23 - 10 bits. An integer drops none from 2^23 on, where every integer element has overflowed.
  if (dropped < 1) return with_sign(element, beyond, is_negative);
  if (dropped > 60) dropped = 60;

  uint64_t quotient = significand >> dropped;
  const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
  const bool is_under = grid == element.min_exponent && quotient == 0;
  const bool is_drawn =
      rounding == LPT_ROUNDING_STOCHASTIC || (rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW && is_under);
  if (!is_drawn && rounding != LPT_ROUNDING_TOWARD_ZERO) {
    const uint64_t half = uint64_t{1} << (dropped - 1);
    // Without mantissa bits, the quotient of a normal is always 1, so the parity of the exponent decides whether a code is
    // even. A scale (has_no_zero) rounds ties up, as in ml_dtypes.
    const bool is_exponent_odd = ((grid - element.min_exponent) & 1) != 0;
    const bool is_odd = element.mantissa_bits == 0 && !element.is_integer && !element.has_no_zero
                            ? ((quotient & 1) != 0) != is_exponent_odd
                            : (quotient & 1) != 0;
    quotient += rest > half || (rest == half && (is_odd || rounding == LPT_ROUNDING_NEAREST_AWAY));
  } else if (is_drawn) {
    // rest < 2^24, so the shifted value fits in 64 bits. If more than 40 bits are dropped, psi is exactly 0.
    const int32_t wide = random_bits + 1;
    const uint64_t psi = (rest << wide) >> dropped;
    quotient += psi + 2 * uint64_t{random} + 1 >= (uint64_t{1} << wide);
  }
  const uint64_t code = (static_cast<uint64_t>(grid - element.min_exponent) << element.mantissa_bits) + quotient;
  return with_sign(element, code > element.max_code ? beyond : static_cast<uint32_t>(code), is_negative);
}

// Returns the value of a code. The result is exact because every element fits f32.
LPT_HOST_DEVICE static inline float decode(const Element &element, uint32_t code) {
  if (element.levels != nullptr) return element.levels->value[code & 15];
  if (element.is_integer) {
    const int32_t shift = 32 - element.bits;
    const auto integer = static_cast<int32_t>(code << shift);
    const float whole = static_cast<float>(element.is_signed ? integer >> shift : static_cast<int32_t>(code));
    return element.mantissa_bits == 0 ? whole
                                      : whole * bits_float(static_cast<uint32_t>(127 - element.mantissa_bits) << 23);
  }
  if (element.is_fnuz && code == element.nan_code) return bits_float(0x7FC00000u);
  const uint32_t sign_mask = element.is_signed ? 1u << (element.bits - 1) : 0;
  const uint32_t sign = (code & sign_mask) != 0 ? 0x80000000u : 0;
  const uint32_t magnitude = code & ~sign_mask & ((1u << element.bits) - 1);
  if (magnitude > element.max_code) {
    const bool is_infinity = magnitude == element.infinity_code && element.infinity_code != element.nan_code;
    return bits_float(sign | (is_infinity ? 0x7F800000u : 0x7FC00000u));
  }
  const uint32_t biased = magnitude >> element.mantissa_bits;
  const uint32_t fraction = magnitude & ((1u << element.mantissa_bits) - 1);
  if (element.has_no_zero) {  // 2^(code - 127)
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

// Returns the code of element `index` of the array at `data`.
LPT_HOST_DEVICE static inline uint32_t load_code(const Element &element, const void *data, int64_t index) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  if (element.bits == 8) return bytes[index];
  if (element.bits == 16) return bytes[2 * index] | static_cast<uint32_t>(bytes[2 * index + 1]) << 8;
  if (element.is_ternary) {
    uint32_t digits = bytes[index / 5];
    for (int64_t i = index % 5; i > 0; --i) digits /= 3;
    return digits % 3 == 2 ? 3 : digits % 3;
  }
  uint32_t code = 0;
  for (int32_t bit = 0; bit < element.bits; ++bit) {
    const int64_t place = index * element.bits + bit;
    code |= static_cast<uint32_t>(bytes[place / 8] >> (place % 8) & 1) << bit;
  }
  return code;
}

// Writes the code of element `index`. Callers write the elements of a row in order, and a row begins on a byte. Each call
// clears the bits of the byte above its code, so that the last byte of a row is padded with zeros.
LPT_HOST_DEVICE static inline void store_code(const Element &element, void *data, int64_t index, uint32_t code) {
  auto *bytes = static_cast<uint8_t *>(data);
  if (element.bits == 8) {
    bytes[index] = static_cast<uint8_t>(code);
    return;
  }
  if (element.bits == 16) {
    bytes[2 * index] = static_cast<uint8_t>(code);
    bytes[2 * index + 1] = static_cast<uint8_t>(code >> 8);
    return;
  }
  if (element.is_ternary) {
    uint32_t digit = code == 3 ? 2 : code;
    for (int64_t i = index % 5; i > 0; --i) digit *= 3;
    bytes[index / 5] = static_cast<uint8_t>(index % 5 == 0 ? digit : bytes[index / 5] + digit);
    return;
  }
  for (int32_t bit = 0; bit < element.bits; ++bit) {
    const int64_t place = index * element.bits + bit;
    const auto below = static_cast<uint8_t>((1 << (place % 8)) - 1);
    const auto value = static_cast<uint8_t>((code >> bit & 1) << (place % 8));
    bytes[place / 8] = static_cast<uint8_t>((bytes[place / 8] & below) | value);
  }
}

}  // namespace lpt
