// Conversion of f32 to elements of at most 8 bits in few instructions, with the bits of a saturating encode(): nearest even and
// stochastic. The element is a template parameter, so that its constants are folded.
#pragma once

#include "src/base/host_device.hpp"
#include "src/formats/block_scale.hpp"
#include "src/formats/element.hpp"
#include "src/formats/functions.hpp"

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

// Rounds as stochastic_code(), on a grid of ones.
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

// Clamps to 0 .. 1; a NaN becomes 0.
LPT_HOST_DEVICE static inline float saturate_unit(float number) {
#if defined(__CUDA_ARCH__)
  return __saturatef(number);
#else
  return number > 0.0f ? number < 1.0f ? number : 1.0f : 0.0f;
#endif
}

template <Element kElement>
constexpr bool kIsE2m1 = kElement.bits == 4 && kElement.mantissa_bits == 1;

constexpr uint32_t kOnesBits = 0x4B000000u;  // 2^23, where the last place of an f32 is 1

// Returns kOnesBits + the magnitude code of e2m1fn. The code is the minimum of 2y, y + 2, y / 2 + 4 and 7, each rounded to
// nearest even. On each grid one of these lines is exact; the others are above it, because they are tangents of a concave
// function. Each multiply-add rounds once. Values above 8 give the result of 8. y / 8 is exact, or too small to affect the
// result.
LPT_HOST_DEVICE static inline uint32_t nearest_e2m1(float magnitude) {
  const float eighth = saturate_unit(magnitude * 0.125f);
  const uint32_t halves = float_bits(fused_multiply_add(eighth, 16.0f, 0x1p23f));
  const uint32_t ones = float_bits(fused_multiply_add(eighth, 8.0f, 0x1p23f + 2.0f));
  const uint32_t twos = float_bits(fused_multiply_add(eighth, 4.0f, 0x1p23f + 4.0f));
  uint32_t least = halves < ones ? halves : ones;
  least = least < twos ? least : twos;
  return least < kOnesBits + 7 ? least : kOnesBits + 7;
}

// Rounds to nearest even, by adding the number whose last place is the grid:
//   code = (exponent of the grid - least exponent) · 2^M + significand in units of the grid.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t nearest_code(float value) {
  if constexpr (kElement.is_integer) return nearest_integer<kElement>(value);
  if constexpr (kIsE2m1<kElement>) {
    const uint32_t bits = float_bits(value);
    return (nearest_e2m1(bits_float(bits & 0x7FFFFFFFu)) & 7) | (bits >> 31) << 3;
  }
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

// Returns a + b rounded down, for a and b that are not negative.
LPT_HOST_DEVICE static inline float add_down(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rd(a, b);
#else
  const float sum = a + b;
  const float high = a > b ? a : b, low = a > b ? b : a;
  return sum - high > low ? bits_float(float_bits(sum) - 1) : sum;  // the difference is exact
#endif
}

// Computes psi and the quotient of encode() as one integer, to which 2R + 1 is added. The bits of an f32 supply both: the
// exponent and floor(significand · 2^(b+1) / 2^s). Subnormal codes are on the grid of y + 2^e_min, whose exponent is one too
// large. The larger of both integers is the correct one: as functions of y they are equal at 2^e_min, and each is smaller than
// the other outside its range.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t stochastic_code(float value, uint32_t random, uint32_t random_bits) {
  if constexpr (kElement.is_integer) return drawn_integer<kElement>(value, random, random_bits);
  using Float = SmallFloat<kElement>;
  constexpr uint32_t kLeast = Float::kLeastExponent << 23;
  constexpr uint32_t kNone = (Float::kLeastExponent - 1) << kElement.mantissa_bits;
  const uint32_t bits = float_bits(value);
  const uint32_t normal = bits & 0x7FFFFFFFu;
  const uint32_t subnormal = float_bits(add_down(bits_float(normal), bits_float(kLeast))) - (1u << 23);
  const uint32_t grid = normal > subnormal ? normal : subnormal;
  const uint32_t noise = (2 * random + 1) << (Float::kDropped - 1 - static_cast<int32_t>(random_bits));
  return signed_code<kElement>(bits, ((grid + noise) >> Float::kDropped) - kNone);
}

template <Element kElement>
constexpr bool kIsByteFloat = kElement.bits == 8 && !kElement.is_integer;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define LPT_HAS_DEVICE_CODES
#endif

#if defined(LPT_HAS_DEVICE_CODES)
// Converts two values to codes by one instruction: to nearest even, saturated. Every NaN becomes 0x7F. `first` is in the lowest
// bits.
template <Element kElement>
__device__ __forceinline__ uint32_t device_pair(float first, float second) {
  uint16_t pair;
  if constexpr (kElement.mantissa_bits == 3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  }
  return pair;
}

// Converts two codes to f32 via f16, which represents every value of e4m3fn and e5m2.
template <Element kElement>
__device__ __forceinline__ void device_numbers(uint32_t pair, float &first, float &second) {
  uint32_t halves;
  if constexpr (kElement.mantissa_bits == 3) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<uint16_t>(pair)));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(static_cast<uint16_t>(pair)));
  }
  asm("cvt.f32.f16 %0, %1;" : "=f"(first) : "h"(static_cast<uint16_t>(halves)));
  asm("cvt.f32.f16 %0, %1;" : "=f"(second) : "h"(static_cast<uint16_t>(halves >> 16)));
}
#endif

template <Element kElement>
// Corrects the code at bit `shift` if number · inverse is NaN: the conversion instruction for pairs returns a positive NaN.
LPT_HOST_DEVICE static inline uint32_t with_nan(uint32_t codes, float number, float inverse, int32_t shift) {
  const float product = number * inverse;
  if (product == product) return codes;
  const uint32_t code = kElement.nan_code | (float_bits(number) >> 31) << 7;
  return (codes & ~(0xFFu << shift)) | code << shift;
}

#if defined(LPT_HAS_DEVICE_CODES)
// Converts by the instruction for pairs. The factor is |inverse|, so that a code has the sign of the element. NaNs are
// corrected one by one, because the instruction returns one NaN code.
template <Element kElement, int32_t kWords>
__device__ __forceinline__ void device_bytes(const float (&number)[4 * kWords], float inverse,
                                             uint32_t (&word)[kWords]) {
  const float factor = magnitude_of(inverse);
  uint32_t nans = 0;
  for (int32_t i = 0; i < kWords; ++i) {
    const float *const four = number + 4 * i;
    word[i] = device_pair<kElement>(four[0] * factor, four[1] * factor) |
              device_pair<kElement>(four[2] * factor, four[3] * factor) << 16;
    nans |= (word[i] & 0x7F7F7F7Fu) + 0x01010101u;
  }
  if ((nans & 0x80808080u) == 0) return;
  for (int32_t i = 0; i < 4 * kWords; ++i) word[i / 4] = with_nan<kElement>(word[i / 4], number[i], inverse, i % 4 * 8);
}
#endif

// Computes the 8-bit codes of scaled(number, inverse), four to a word, the first in the lowest bits.
template <Element kElement, int32_t kWords>
LPT_HOST_DEVICE static inline void nearest_bytes(const float (&number)[4 * kWords], float inverse,
                                                 uint32_t (&word)[kWords]) {
#if defined(LPT_HAS_DEVICE_CODES)
  if constexpr (kIsByteFloat<kElement>) {
    device_bytes<kElement>(number, inverse, word);
  } else
#endif
  {
    for (int32_t i = 0; i < kWords; ++i) word[i] = 0;
    for (int32_t i = 0; i < 4 * kWords; ++i) {
      word[i / 4] |= nearest_code<kElement>(scaled(number[i], inverse)) << (i % 4 * 8);
    }
  }
}

// Returns two adjacent codes of any width, the first in the lowest bits.
template <Element kElement>
LPT_HOST_DEVICE static inline uint32_t nearest_pair(float first, float second) {
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

// Computes the values of four 8-bit codes, of which the first is in the lowest bits. The sign of a NaN is unspecified.
template <Element kElement>
LPT_HOST_DEVICE static inline void small_four(uint32_t codes, float *number) {
#if defined(LPT_HAS_DEVICE_CODES)
  if constexpr (kIsByteFloat<kElement>) {
    device_numbers<kElement>(codes & 0xFFFFu, number[0], number[1]);
    device_numbers<kElement>(codes >> 16, number[2], number[3]);
  } else
#endif
  {
    for (int32_t i = 0; i < 4; ++i) number[i] = small_number<kElement>(codes >> (8 * i) & 0xFFu);
  }
}

}  // namespace lpt
