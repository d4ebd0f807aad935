// Numbers to codes and back for any element but lists: the integer steps of encode() and decode() in lanes, any rounding
// and any number. What a step does most has shorter ways of its own in the Isa. Included by ISA files: everything here
// has internal linkage.
//
// An Isa has vectors of f32 (Floats) and of int32_t (Ints), of which gcc and clang add, compare and select the lanes,
// and what else is done with them; see avx2_lanes.hpp. Loops go by four vectors: Isa::kQuad elements.
#pragma once

#include "kernels/optimizer/optimizer.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr int32_t kMagnitude = 0x7FFFFFFF;
constexpr int32_t kInfinity = 0x7F800000;

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

// A number of elements that loops can do, at least `count`: memory of a unit has space for them.
template <typename Isa>
constexpr int64_t whole_quads(int64_t count) {
  return (count + Isa::kQuad - 1) / Isa::kQuad * Isa::kQuad;
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats magnitude_of(typename Isa::Floats value) {
  return Isa::floats(Isa::bits(value) & kMagnitude);
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats select(typename Isa::Ints condition, typename Isa::Floats yes,
                                                          typename Isa::Floats no) {
  return Isa::floats(condition ? Isa::bits(yes) : Isa::bits(no));
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats with_plain_nan(typename Isa::Floats value) {
  return select<Isa>(value != value, Isa::floats(Isa::all_ints(0x7FC00000)), value);
}

// ---- to f32

template <typename Isa>
void load_numbers(lpt_format format, const uint8_t *from, float scale, float *to, int64_t count) {
  using Floats = typename Isa::Floats;
  const Floats scales = Isa::all(scale);
  for (int64_t i = 0; i < count; i += Isa::kWidth) {
    const Floats number =
        format == LPT_FORMAT_F16 ? Isa::load_f16(from + 2 * i) : Isa::floats(Isa::load_halves(from + 2 * i) << 16);
    Isa::store(to + i, number * scales);
  }
}

// ---- from f32

// How codes are made of numbers.
struct Coding {
  Element layout;
  lpt_rounding rounding;
  lpt_optimizer_underflow underflow;
  int32_t random_bits;    // 16 or 8 for each element
  const uint8_t *random;  // of the first element; NULL: none are drawn
};

// Magnitude codes of finite magnitudes up to the largest, to nearest even: see Isa::store_nearest(). bf16 has no space
// for an addend above it and rounds in integers.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Ints nearest_codes(const Element &layout, typename Isa::Floats magnitude) {
  using Ints = typename Isa::Ints;
  const Ints bits = Isa::bits(magnitude);
  if (layout.min_exponent == kElementBf16.min_exponent) return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  const int32_t dropped = 23 - layout.mantissa_bits;
  const Ints least = Isa::all_ints((layout.min_exponent + 127) << 23);
  const Ints exponent = Isa::greatest(bits & kInfinity, least);
  const Ints addend = exponent + (dropped << 23);
  return Isa::bits(magnitude + Isa::floats(addend)) - addend + ((exponent - least) >> dropped);
}

// The same toward zero, or up if `words` say so.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Ints cut_codes(const Coding &coding, typename Isa::Floats magnitude,
                                                           bool is_drawn, typename Isa::Ints words) {
  using Ints = typename Isa::Ints;
  const Element &layout = coding.layout;
  const Ints bits = Isa::bits(magnitude);
  const Ints field = bits >> 23;
  const Ints significand = (bits & 0x007FFFFF) | (field > 0 ? Isa::all_ints(0x00800000) : Isa::all_ints(0));
  const Ints exponent = Isa::greatest(field, Isa::all_ints(1));
  const Ints least = Isa::all_ints(layout.min_exponent + 127);
  const Ints grid = Isa::greatest(exponent, least);
  const Ints dropped = grid - exponent + (23 - layout.mantissa_bits);
  Ints quotient = Isa::down(significand, dropped);
  if (is_drawn) {
    const int32_t wide = coding.random_bits + 1;
    const Ints rest = significand & Isa::wrapping_sum(Isa::up(Isa::all_ints(1), dropped), Isa::all_ints(-1));
    const Ints psi = Isa::down(rest, dropped - wide) | Isa::up(rest, wide - dropped);
    quotient += (psi + 2 * words + 1) >> wide;
  }
  return ((grid - least) << layout.mantissa_bits) + quotient;
}

// Whole codes: round(scaled), saturated, a NaN the positive quiet one; `value` is what was scaled.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Ints codes_of(const Coding &coding, typename Isa::Floats value,
                                                          typename Isa::Floats scaled, typename Isa::Ints words) {
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;
  const Element &layout = coding.layout;
  const auto max_code = static_cast<int32_t>(layout.max_code);
  const Floats magnitude = Isa::least(magnitude_of<Isa>(scaled), Isa::all(decode(layout, layout.max_code)));
  Ints codes = coding.rounding == LPT_ROUNDING_NEAREST_EVEN
                   ? nearest_codes<Isa>(layout, magnitude)
                   : cut_codes<Isa>(coding, magnitude, coding.rounding == LPT_ROUNDING_STOCHASTIC, words);
  if (coding.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC) {
    const Floats smallest = Isa::all(decode(layout, 1));
    codes = magnitude < smallest ? cut_codes<Isa>(coding, magnitude, true, words) : codes;
  }
  codes = Isa::least(codes, Isa::all_ints(max_code));
  if (coding.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP) {
    codes = Isa::greatest(codes, value != Isa::all(0.0f) ? Isa::all_ints(1) : Isa::all_ints(0));
  }
  const int32_t sign = 1 << (layout.bits - 1);
  codes |= Isa::bits(scaled) >> (32 - layout.bits) & sign;
  return scaled != scaled ? Isa::all_ints(static_cast<int32_t>(layout.nan_code)) : codes;
}

// Kept out of line: formats and roundings are tested in each iteration.
template <typename Isa>
[[gnu::noinline]] void store_any(const Coding &coding, const float *values, const float *scaled, float inverse,
                                 uint8_t *to, int64_t count) {
  using Ints = typename Isa::Ints;
  for (int64_t i = 0; i < count; i += Isa::kQuad) {
    Ints codes[4];
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * Isa::kWidth;
      Ints words = Isa::all_ints(0);
      if (coding.random != nullptr) {
        words =
            coding.random_bits == 8 ? Isa::load_bytes(coding.random + at) : Isa::load_halves(coding.random + 2 * at);
      }
      codes[j] = codes_of<Isa>(coding, Isa::load(values + at), Isa::load(scaled + at) * Isa::all(inverse), words);
    }
    if (coding.layout.bits == 8) {
      Isa::store_bytes(to + i, codes);
    } else {
      Isa::store_halves(to + 2 * i, codes);
    }
  }
}

// bf16 has the exponents of f32: all that is dropped are the lower 16 bits.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Ints bf16_codes(typename Isa::Floats value, typename Isa::Ints added) {
  using Ints = typename Isa::Ints;
  const Ints bits = Isa::bits(value);
  const Ints magnitude = Isa::least(Isa::wrapping_sum(bits & kMagnitude, added), Isa::all_ints(0x7F7FFFFF));
  const Ints codes = (magnitude >> 16) | (bits >> 16 & 0x8000);
  return value != value ? Isa::all_ints(0x7FC0) : codes;
}

enum class Bf16Rounding { kNearest, kDrawn16, kDrawn8 };

template <typename Isa, Bf16Rounding kRounding>
void store_bf16(const Coding &coding, const float *values, uint8_t *to, int64_t count) {
  using Ints = typename Isa::Ints;
  for (int64_t i = 0; i < count; i += Isa::kQuad) {
    Ints codes[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * Isa::kWidth;
      const typename Isa::Floats value = Isa::load(values + at);
      Ints added;
      if constexpr (kRounding == Bf16Rounding::kNearest) {
        added = (Isa::bits(value) >> 16 & 1) + 0x7FFF;
      } else if constexpr (kRounding == Bf16Rounding::kDrawn16) {
        added = Isa::load_halves(coding.random + 2 * at);
      } else {
        added = (Isa::load_bytes(coding.random + at) << 8) + 0x80;
      }
      codes[j] = bf16_codes<Isa>(value, added);
    }
    Isa::store_halves(to + 2 * i, codes);
  }
}

template <typename Isa>
void store_codes(const Coding &coding, const float *values, const float *scaled, float inverse, uint8_t *to,
                 int64_t count) {
  const bool is_bf16 = coding.layout.min_exponent == kElementBf16.min_exponent;
  if (!is_bf16 || coding.underflow != LPT_OPTIMIZER_UNDERFLOW_ALLOWED || coding.rounding == LPT_ROUNDING_TOWARD_ZERO) {
    return store_any<Isa>(coding, values, scaled, inverse, to, count);
  }
  if (coding.rounding == LPT_ROUNDING_NEAREST_EVEN) {
    return store_bf16<Isa, Bf16Rounding::kNearest>(coding, values, to, count);
  }
  if (coding.random_bits == 8) return store_bf16<Isa, Bf16Rounding::kDrawn8>(coding, values, to, count);
  store_bf16<Isa, Bf16Rounding::kDrawn16>(coding, values, to, count);
}

}  // namespace
}  // namespace lpt
