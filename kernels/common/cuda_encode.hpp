// Conversion of f32 to elements of at most 8 bits in few instructions, with the bits of a saturating encode(): nearest even and
// stochastic. The element is a template parameter, so that its constants are folded.
#pragma once

#include "src/base/host_device.hpp"
#include "src/formats/element.hpp"

namespace lpt {

// Constants of an element for rounding, as bits of f32.
template <Element kElement>
struct SmallFloat {
  static constexpr int32_t kDropped = 23 - kElement.mantissa_bits;  // mantissa bits that a normal value loses
  static constexpr uint32_t kLeastExponent = static_cast<uint32_t>(kElement.min_exponent + 127);
  // The power of two above the largest value. Values at or above it round to a code above max_code.
  static constexpr uint32_t kBeyond = ((kElement.max_code >> kElement.mantissa_bits) + kLeastExponent) << 23;
};

template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t signed_code(uint32_t bits, uint32_t code) {
  if (code > kElement.max_code) code = kElement.max_code;
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) code = kElement.nan_code;
  return code | (bits >> 31) << (kElement.bits - 1);
}

// Upper bound of magnitudes for integers of two's complement: the largest f32 below 2^(bits - 1). It rounds to a code above
// max_code.
template <Element kElement>
constexpr uint32_t kIntegerEnd = (static_cast<uint32_t>(126 + kElement.bits) << 23) - 1;

template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t integer_code(uint32_t bits, uint32_t code) {
  if (code > kElement.max_code) code = kElement.max_code;
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) code = 0;
  return ((bits >> 31) != 0 ? 0u - code : code) & ((1u << kElement.bits) - 1);
}

template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t nearest_integer(float value) {
  const uint32_t bits = float_bits(value);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > kIntegerEnd<kElement>) magnitude = kIntegerEnd<kElement>;
  return integer_code<kElement>(bits, float_bits(bits_float(magnitude) + 0x1p23f) - 0x4B000000u);
}

// Rounds as drawn_code(), on a grid of ones.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t drawn_integer(float value, uint32_t random, uint32_t random_bits) {
  const uint32_t bits = float_bits(value);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > kIntegerEnd<kElement>) magnitude = kIntegerEnd<kElement>;
  const uint32_t wide = random_bits + 1;
  uint32_t shift = 150 - (magnitude >> 23) - wide;  // at least 150 - 133 - 17
  if (shift > 31) shift = 31;
  const uint32_t lifted = ((magnitude & 0x007FFFFFu) | 0x00800000u) >> shift;
  return integer_code<kElement>(bits, (lifted + 2 * random + 1) >> wide);
}

// Rounds to nearest even, by adding the number whose last place is the grid:
//   code = (exponent of the grid - least exponent) · 2^M + significand in units of the grid.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t nearest_code(float value) {
  if constexpr (kElement.is_integer) return nearest_integer<kElement>(value);
  using Float = SmallFloat<kElement>;
  constexpr uint32_t kLeast = Float::kLeastExponent << 23;
  constexpr uint32_t kLeastGrid = (Float::kLeastExponent + Float::kDropped) << kElement.mantissa_bits;
  const uint32_t bits = float_bits(value);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > Float::kBeyond) magnitude = Float::kBeyond;
  const uint32_t normal = magnitude > kLeast ? magnitude : kLeast;
  const uint32_t grid = (normal & 0x7F800000u) + (static_cast<uint32_t>(Float::kDropped) << 23);
  const uint32_t rounded = float_bits(bits_float(magnitude) + bits_float(grid));
  return signed_code<kElement>(bits, rounded - grid + (grid >> Float::kDropped) - kLeastGrid);
}

// Computes psi and the quotient of encode() as one integer: floor(significand · 2^(b + 1) / 2^s), to which 2R + 1 is added.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t drawn_code(float value, uint32_t random, uint32_t random_bits) {
  if constexpr (kElement.is_integer) return drawn_integer<kElement>(value, random, random_bits);
  using Float = SmallFloat<kElement>;
  const uint32_t bits = float_bits(value);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > Float::kBeyond) magnitude = Float::kBeyond;
  const uint32_t exponent = magnitude >> 23;
  const uint32_t grid = exponent > Float::kLeastExponent ? exponent : Float::kLeastExponent;
  const uint32_t wide = random_bits + 1;
  uint32_t shift = Float::kDropped + (grid - exponent) - wide;  // at least 23 - 3 - 17
  if (shift > 31) shift = 31;
  const uint32_t lifted = ((magnitude & 0x007FFFFFu) | 0x00800000u) >> shift;
  const uint32_t quotient = (lifted + 2 * random + 1) >> wide;
  return signed_code<kElement>(bits, quotient + ((grid - Float::kLeastExponent) << kElement.mantissa_bits));
}

// Corrects the code of a NaN: the conversion instruction for pairs of bytes returns a positive NaN.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t with_nan(uint32_t pair, float number, int32_t shift) {
  if (number == number) return pair;
  const uint32_t code = kElement.nan_code | (float_bits(number) >> 31) << 7;
  return (pair & ~(0xFFu << shift)) | code << shift;
}

// Returns two adjacent codes, the first in the lowest bits.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t nearest_pair(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if constexpr (kElement.bits == 8 && !kElement.is_integer) {
    uint16_t pair;
    if constexpr (kElement.mantissa_bits == 3) {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    } else {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    }
    return with_nan<kElement>(with_nan<kElement>(pair, first, 0), second, 8);
  }
#endif
  return nearest_code<kElement>(first) | nearest_code<kElement>(second) << kElement.bits;
}

// Returns the value of a code. Its bits are moved to the positions of an f32. A product with a power of two then corrects the
// exponent, exactly.
template <Element kElement>
LPT_HOST_DEVICE static inline float small_number(uint32_t code) {
  if constexpr (kElement.is_integer) {
    return static_cast<float>(static_cast<int32_t>(code << (32 - kElement.bits)) >> (32 - kElement.bits));
  }
  constexpr uint32_t kUnit = static_cast<uint32_t>(253 + kElement.min_exponent) << 23;
  const uint32_t sign = (code >> (kElement.bits - 1) & 1) << 31;
  const uint32_t magnitude = code & ((1u << (kElement.bits - 1)) - 1);
  if (kElement.nan_code != 0 && magnitude > kElement.max_code) {
    const bool is_infinity = magnitude == kElement.infinity_code && kElement.infinity_code != kElement.nan_code;
    return bits_float(sign | (is_infinity ? 0x7F800000u : 0x7FC00000u));
  }
  return bits_float(sign | float_bits(bits_float(magnitude << (23 - kElement.mantissa_bits)) * bits_float(kUnit)));
}

}  // namespace lpt
