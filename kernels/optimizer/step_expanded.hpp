// Coding of expanded groups (power.hpp) without computing a power per element. Included by simd_*.cpp.
#pragma once

#include "kernels/optimizer/step_blocks.hpp"
#include "kernels/optimizer/step_update.hpp"

namespace lpt {
namespace {

// Decodes groups by tables. An element is M · (q / largest)^(1/k). One table of the 128 magnitudes for M = 1 serves all groups
// with the exponent k. The product of an entry and M is rounded as in compressed(), unless the result is subnormal.
class ExpandedNumbers {
 public:
  void reset(const Element &layout) {
    numbers_ = byte_numbers(layout);
    largest_ = decode(layout, layout.max_code);
    for (uint16_t slot = 0; slot < kSlots; ++slot) exponents_[slot] = slot ^ 1;  // of another slot: no hit
  }

  void load(float amax, uint16_t exponent, const uint8_t *from, float *to) {
    const int32_t slot = exponent % kSlots;
    if (exponents_[slot] != exponent) fill(slot, exponent);
    if (!(amax * least_[slot] >= kLeastExact && amax <= kLargestFloat)) {
      return compress(make_expansion(largest_, amax, exponent), numbers_, from, to, kGroup);
    }
    const F32 scales = broadcast(amax);
    for (int64_t i = 0; i < kGroup; i += kQuad) {
      F32 numbers[4];
      look_up(tables_[slot], from + i, numbers);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) lpt::store(to + i + j * kLanes, numbers[j] * scales);
    }
  }

 private:
  static constexpr uint16_t kSlots = 32;  // most groups have exponents of 8 to 40 sixteenths
  static constexpr float kLeastExact = 0x1p-125f;
  static constexpr int32_t kMagnitudes = 128;

  [[gnu::noinline]] void fill(int32_t slot, uint16_t exponent) {
    uint8_t codes[kMagnitudes];
    float numbers[kMagnitudes];
    for (int32_t code = 0; code < kMagnitudes; ++code) codes[code] = static_cast<uint8_t>(code);
    compress(make_expansion(largest_, 1.0f, exponent), numbers_, codes, numbers, kMagnitudes);
    tables_[slot] = magnitudes(numbers);
    least_[slot] = numbers[1] >= kLeastExact ? numbers[1] : 0.0f;
    exponents_[slot] = exponent;
  }

  ByteNumbers numbers_;
  float largest_;
  uint16_t exponents_[kSlots];
  float least_[kSlots];
  Magnitudes tables_[kSlots];
};

// Returns log2 on [1, 2) by a polynomial of degree 6. The error is at most 3.9e-6, of which 1.6e-6 is rounding.
[[gnu::always_inline]] inline F32 log2_of_significands(F32 m) {
  F32 p = mul_add(broadcast(-0x1.a4ec46p-6f), m, broadcast(0x1.19c09p-2f));
  p = mul_add(p, m, broadcast(-0x1.4454cp+0f));
  p = mul_add(p, m, broadcast(0x1.a4adp+1f));
  p = mul_add(p, m, broadcast(-0x1.55e328p+2f));
  p = mul_add(p, m, broadcast(0x1.873ac6p+2f));
  return mul_add(p, m, broadcast(-0x1.852008p+1f));
}

// Magnitudes of the groups of a unit, and the constants of their encoding.
struct ExpandedGroups {
  float amax[kUnitLanes], least[kUnitLanes];  // of finite positive magnitudes; 1 if a group has none
  int32_t sixteenths[kUnitLanes];             // expansion_exponent()
  int32_t is_special[kUnitLanes];             // the group has infinities or NaN
  int32_t is_fit[kUnitLanes];                 // store() supports the group
  int32_t limits[kUnitLanes];                 // store() fails for smaller fractions
  float slopes[kUnitLanes], firsts[kUnitLanes];
};

// Encodes groups in the logarithmic domain. The position of an element is 2^M · (log2 of its expanded magnitude - E - kOffset).
// M is the number of mantissa bits and E the smallest exponent. With kOffset, no two thresholds between codes have positions
// between the same two integers.
//
// floor(position) therefore selects an addend with which the sum reaches the next integer at the threshold. floor(sum) is the
// code. All octaves of normal codes have the same addends. Subnormal codes have negative positions. A group needs fifteen of
// these, because its smallest positive magnitude is expanded to 2 / largest or more. Positions and sums have 16 fraction bits.
class ExpandedCodes {
 public:
  void reset(const Element &layout) {
    layout_ = layout;
    octave_ = static_cast<float>(1 << (kPoint + layout.mantissa_bits));
    log2_largest_ = log2_f32(decode(layout, layout.max_code));
    const int32_t octave = 1 << layout.mantissa_bits;
    int32_t positive[16], negative[16];
    for (int32_t code = octave; code < 2 * octave; ++code) {
      const int32_t place = threshold(code);
      for (int32_t at = place >> kPoint & (octave - 1); at < 16; at += octave) {
        positive[at] = ((code + 1) << kPoint) - place;
      }
    }
    int32_t code = 0;
    while (threshold(code) < -(16 << kPoint)) ++code;
    for (int32_t at = 0; at < 16; ++at) {
      const int32_t place = threshold(code);
      const bool is_passed = place >> kPoint == at - 16;
      if (is_passed) ++code;
      negative[at] = (code << kPoint) - (is_passed ? place : (at - 16) * (1 << kPoint));
    }
    negative[0] = 1 << (kPoint - 1);  // of zero, which has position INT32_MIN and code 0
    additions_ = additions(positive, negative);
  }

  // Computes the constants of all groups. Returns whether store() supports all of them.
  bool prepare(ExpandedGroups &groups) const {
    const F32 amax = load(groups.amax), least = load(groups.least);
    const F32 log2_amax = log2_lanes(amax), log2_least = log2_lanes(least);
    const F32 span = log2_amax - log2_least, range = broadcast(16.0f * fused(2.0f, log2_largest_, -1.0f));
    I32 sixteenths = truncate_i32(max(range / span, broadcast(1.0f)));
    sixteenths = span * broadcast(1024.0f) > range ? sixteenths : broadcast_i32(1024);
    sixteenths = amax == least ? broadcast_i32(16) : sixteenths;
    const F32 slope = f32_of_i32(sixteenths) * broadcast(0.0625f * octave_);
    // The margin bounds the difference between a sum and the exact position of the result of expanded(), in 2^-16. The errors
    // of a logarithm are 1.4e-7 + 2^-24 · |log2| of log2_f32(), 3.9e-6 of log2_of_significands(), and 2^-24 · |log2| of
    // rounding here. All other errors add up to 4.7 · 2^-16.
    const F32 log2 = max(abs(log2_amax), abs(log2_least));
    const I32 margin = truncate_i32(slope * mul_add(log2, broadcast(1.2e-7f), broadcast(4.2e-6f))) + 6;
    const float first = octave_ * (log2_largest_ - static_cast<float>(layout_.min_exponent) - kOffset);
    I32 is_special;
    memcpy(&is_special, groups.is_special, sizeof is_special);
    const I32 is_fit = (least >= broadcast(kSmallestNormal)) & (sixteenths > 1) & (is_special == 0);
    put(groups.sixteenths, sixteenths);
    put(groups.limits, margin + margin);
    put(groups.is_fit, is_fit);
    lpt::store(groups.slopes, slope);
    lpt::store(groups.firsts, neg_mul_add(slope, log2_amax, broadcast(first) + f32_of_i32(margin)));
    return reduce_min_unsigned(is_fit) != 0;
  }

  // Encodes elements i to i + kQuad - 1 of a unit. Returns false if an element is too near to a threshold: such codes require
  // expand().
  [[gnu::always_inline]] bool store(const ExpandedGroups &groups, int64_t i, const float *from, uint8_t *to) const {
    const F32 slopes = broadcast(groups.slopes[i / kGroup]), firsts = broadcast(groups.firsts[i / kGroup]);
    I32 sums[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const F32 number = load(from + i + j * kLanes);
      const F32 octaves = mul_add(exponents_of(number), slopes, firsts);
      const I32 place = nearest_i32(mul_add(log2_of_significands(significands_of(number)), slopes, octaves));
      sums[j] = wrapping_add(place, look_up(additions_, place >> kPoint));
    }
    store_fixed_with_signs(to + i, sums, from + i);
    const I32 nearest = min_fractions(min_fractions(sums[0], sums[1]), min_fractions(sums[2], sums[3]));
    return !has_fraction_below(nearest, groups.limits[i / kGroup]);
  }

 private:
  static constexpr int32_t kPoint = 16;
  static constexpr float kOffset = 3.0f / 64;  // in octaves

  static void put(int32_t *to, I32 values) { memcpy(to, &values, sizeof values); }

  // Returns the position of the threshold above a code.
  [[gnu::noinline]] int32_t threshold(int32_t code) const {
    const float below = decode(layout_, static_cast<uint32_t>(code));
    const float above = decode(layout_, static_cast<uint32_t>(code + 1));
    const float octaves = log2_f32((below + above) * 0.5f) - static_cast<float>(layout_.min_exponent) - kOffset;
    return static_cast<int32_t>(octaves * octave_ + (octaves < 0.0f ? -0.5f : 0.5f));
  }

  Element layout_;
  float octave_;  // length of an octave in units of a position, 2^-16
  float log2_largest_;
  AddendTables additions_;
};

}  // namespace
}  // namespace lpt
