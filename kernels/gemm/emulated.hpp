// How other machines multiply and add up, number by number; docs/reference/accumulation.md has the definitions.
#pragma once

#include <cstdint>

#include "src/formats/element.hpp"

namespace lpt {

// ---- products by adding fields: L-Mul and the piecewise-affine product

// An f32 with `bits` of its mantissa; what is below 2^-126 counts as zero.
inline uint32_t cut_field(float value, int32_t bits) {
  const uint32_t word = float_bits(value);
  const uint32_t magnitude = word & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) return word;
  if (magnitude < 0x00800000u) return word & 0x80000000u;
  return word & ~((1u << (23 - bits)) - 1);
}

// L-Mul adds 2^-l of a mantissa; nothing to powers of two, whose products are exact.
inline int32_t l_mul_offset(int32_t bits) {
  if (bits == 0) return 0;
  const int32_t l = bits <= 3 ? bits : bits == 4 ? 3 : 4;
  return 1 << (23 - l);
}

// Adds exponent and mantissa of two numbers as one integer, so that a carry of the mantissas reaches the exponent. Zero
// has no such field; a result below 2^-126 becomes zero, one beyond f32 its largest number.
inline float add_fields(uint32_t a, uint32_t b, int32_t offset) {
  const uint32_t sign = (a ^ b) & 0x80000000u;
  const uint32_t left = a & 0x7FFFFFFFu, right = b & 0x7FFFFFFFu;
  if (left >= 0x7F800000u || right >= 0x7F800000u) return bits_float(a) * bits_float(b);  // infinity or NaN
  if (left == 0 || right == 0) return bits_float(sign);
  const int64_t field = int64_t{left} + right - 0x3F800000 + offset;
  if (field < 0x00800000) return bits_float(sign);
  return bits_float(sign | (field > 0x7F7FFFFF ? 0x7F7FFFFFu : static_cast<uint32_t>(field)));
}

// ---- shifts of integers by powers of two

// An integer moved by the exponent of a power of two: its code (1: not moved), negative for a negative one; 0 is zero.
inline int64_t shifted(int32_t integer, int32_t power) {
  const int32_t sign = power >> 31;
  const int32_t code = (power ^ sign) - sign;
  const int64_t moved = code == 0 ? 0 : int64_t{integer} << (code - 1);
  return (moved ^ sign) - sign;
}

// ---- sums of a tensor core

// significand · 2^(exponent - mantissa bits of its format). Zero's exponent is far below, infinity's and NaN's far above.
struct CoreNumber {
  float value;
  int16_t significand;
  int16_t exponent;
};

constexpr int32_t kZeroExponent = -4096;
constexpr int32_t kSpecialExponent = 16384;
constexpr int64_t kCoreGroup = 32;       // products that one instruction adds up
constexpr int64_t kCorePromotion = 128;  // steps of k after which the sum moves to f32

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

// What a tensor core keeps of a sum: fraction · 2^(exponent - fraction bits), of which the fraction has one bit more.
struct CoreSum {
  int32_t fraction = 0;
  int32_t exponent = kZeroExponent;
};

inline int32_t shifted_toward_zero(int32_t value, int32_t places) {
  const int32_t sign = value >> 31;
  const int32_t magnitude = (value ^ sign) - sign;
  return ((magnitude >> (places < 31 ? places : 31)) ^ sign) - sign;
}

// Keeps fraction_bits below the leading one of a sum whose unit is 2^(exponent - fraction_bits).
inline CoreSum cut_sum(int64_t sum, int32_t exponent, int32_t fraction_bits) {
  if (sum == 0) return {};
  const int64_t magnitude = sum < 0 ? -sum : sum;
  const int32_t excess = 63 - __builtin_clzll(static_cast<uint64_t>(magnitude)) - fraction_bits;
  const int64_t kept = excess > 0 ? magnitude >> excess : magnitude << -excess;
  return {static_cast<int32_t>(sum < 0 ? -kept : kept), exponent + excess};
}

// Adds one group of products: all of them and the sum so far are aligned to the largest exponent and cut there. The
// exponent of a product is that of its factors added, before a carry of their significands. `mantissa_bits` are those of
// both factors together.
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
