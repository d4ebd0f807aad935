// Emulation of the arithmetic of other hardware, element by element. docs/reference/accumulation.md defines it.
#pragma once

#include <cstdint>

#include "src/formats/element.hpp"

namespace lpt {

// Products by addition of fields: L-Mul and the piecewise-affine product.

// Returns the bits of an f32 with its mantissa cut to `bits` bits. Values below 2^-126 become zero.
inline uint32_t cut_field(float value, int32_t bits) {
  const uint32_t word = float_bits(value);
  const uint32_t magnitude = word & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) return word;
  if (magnitude < 0x00800000u) return word & 0x80000000u;
  return word & ~((1u << (23 - bits)) - 1);
}

// L-Mul adds 2^-l to the mantissa. It adds nothing if the mantissa has no bits, because products of powers of two are exact.
inline int32_t l_mul_offset(int32_t bits) {
  if (bits == 0) return 0;
  const int32_t l = bits <= 3 ? bits : bits == 4 ? 3 : 4;
  return 1 << (23 - l);
}

// Adds exponents and mantissas of two floats as one integer, so that a carry of the mantissas reaches the exponent. Zero has no
// such field. A result below 2^-126 becomes zero, and a result beyond f32 becomes the largest f32.
inline float add_fields(uint32_t a, uint32_t b, int32_t offset) {
  const uint32_t sign = (a ^ b) & 0x80000000u;
  const uint32_t left = a & 0x7FFFFFFFu, right = b & 0x7FFFFFFFu;
  if (left >= 0x7F800000u || right >= 0x7F800000u) return bits_float(a) * bits_float(b);  // infinity or NaN
  if (left == 0 || right == 0) return bits_float(sign);
  const int64_t field = int64_t{left} + right - 0x3F800000 + offset;
  if (field < 0x00800000) return bits_float(sign);
  return bits_float(sign | (field > 0x7F7FFFFF ? 0x7F7FFFFFu : static_cast<uint32_t>(field)));
}

// Shifts of integers by powers of two.

// Shifts an integer by the exponent of a power of two. `power` is its code (1: no shift), negative for a negative power; 0 is
// zero.
inline int64_t shifted(int32_t integer, int32_t power) {
  const int32_t sign = power >> 31;
  const int32_t code = (power ^ sign) - sign;
  const int64_t moved = code == 0 ? 0 : int64_t{integer} << (code - 1);
  return (moved ^ sign) - sign;
}

// Sums of a tensor core.

// significand · 2^(exponent - mantissa bits of the format). Zero has kZeroExponent; infinity and NaN have kSpecialExponent.
struct CoreNumber {
  float value;
  int16_t significand;
  int16_t exponent;
};

constexpr int32_t kZeroExponent = -4096;
constexpr int32_t kSpecialExponent = 16384;
constexpr int64_t kCoreGroup = 32;       // products that one instruction adds
constexpr int64_t kCorePromotion = 128;  // steps of k after which the sum is added to an f32

inline bool is_special(int32_t exponent) { return exponent >= kSpecialExponent / 2; }

inline CoreNumber core_number(const Element &element, float value) {
  const uint32_t magnitude = float_bits(value) & 0x7FFFFFFFu;
  if (magnitude == 0) return {value, 0, static_cast<int16_t>(kZeroExponent)};
  if (magnitude >= 0x7F800000u) return {value, 0, static_cast<int16_t>(kSpecialExponent)};
  const int32_t own = static_cast<int32_t>(magnitude >> 23) - 127;
  const int32_t exponent = own < element.min_exponent ? element.min_exponent : own;
  const float unit = bits_float(static_cast<uint32_t>(127 + exponent - element.mantissa_bits) << 23);
  return {value, static_cast<int16_t>(value / unit), static_cast<int16_t>(exponent)};
}

// Sum in a tensor core: fraction · 2^(exponent - fraction_bits). The fraction has fraction_bits + 1 bits.
struct CoreSum {
  int32_t fraction = 0;
  int32_t exponent = kZeroExponent;
};

inline int32_t shifted_toward_zero(int32_t value, int32_t places) {
  const int32_t sign = value >> 31;
  const int32_t magnitude = (value ^ sign) - sign;
  return ((magnitude >> (places < 31 ? places : 31)) ^ sign) - sign;
}

// Truncates a sum whose unit is 2^(exponent - fraction_bits) to fraction_bits below its leading one.
inline CoreSum cut_sum(int64_t sum, int32_t exponent, int32_t fraction_bits) {
  if (sum == 0) return {};
  const int64_t magnitude = sum < 0 ? -sum : sum;
  const int32_t excess = 63 - __builtin_clzll(static_cast<uint64_t>(magnitude)) - fraction_bits;
  const int64_t kept = excess > 0 ? magnitude >> excess : magnitude << -excess;
  return {static_cast<int32_t>(sum < 0 ? -kept : kept), exponent + excess};
}

// Adds one group of products. All products and the previous sum are aligned to the largest exponent and truncated. The exponent
// of a product is the sum of the exponents of its factors, before a carry of their significands. `mantissa_bits` is the sum of
// the mantissa bits of both formats.
inline CoreSum add_group(CoreSum sum, const CoreNumber *a, const CoreNumber *b, int64_t b_stride, int64_t count,
                         int32_t mantissa_bits, int32_t fraction_bits) {
  int32_t largest = sum.exponent;
  for (int64_t p = 0; p < count; ++p) {
    const int32_t exponent = a[p].exponent + b[p * b_stride].exponent;
    if (exponent > largest) largest = exponent;
  }
  if (is_special(largest)) return {0, largest};
  int64_t total = shifted_toward_zero(sum.fraction, largest - sum.exponent);
  for (int64_t p = 0; p < count; ++p) {
    const CoreNumber &other = b[p * b_stride];
    const int32_t product = a[p].significand * other.significand * (1 << (fraction_bits - mantissa_bits));
    total += shifted_toward_zero(product, largest - a[p].exponent - other.exponent);
  }
  return cut_sum(total, largest, fraction_bits);
}

}  // namespace lpt
