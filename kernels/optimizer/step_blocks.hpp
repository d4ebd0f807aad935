// Scales of blocks in a unit: plain ones by the AMAX rule, and expanded ones (power.hpp) with the span of their
// numbers. Included by ISA files.
#pragma once

#include "kernels/optimizer/power.hpp"
#include "kernels/optimizer/step_codes.hpp"

namespace lpt {
namespace {

// What a block's scale follows from.
struct BlockMagnitudes {
  float amax, least;         // of finite numbers; least is positive, or 0 where none is
  bool has_nan, is_special;  // special: NaN or infinity
};

// Infinities and NaN are left out one by one.
template <typename Isa>
[[gnu::noinline]] BlockMagnitudes special_magnitudes(const float *numbers, int64_t count) {
  using Ints = typename Isa::Ints;
  const Ints none = Isa::all_ints(kMagnitude), zero = Isa::all_ints(0);
  Ints greatest = zero, least = none, any = zero;
  for (int64_t i = 0; i < count; i += Isa::kWidth) {
    const Ints bits = Isa::bits(Isa::load(numbers + i)) & kMagnitude;
    const Ints finite = bits < kInfinity ? bits : zero;
    greatest = Isa::greatest(greatest, finite);
    least = Isa::least(least, finite > 0 ? finite : none);
    any = Isa::greatest(any, bits);
  }
  const int32_t amax = Isa::greatest_of(greatest);
  const int32_t smallest = amax == 0 ? 0 : Isa::least_of(least);
  return {bits_float(static_cast<uint32_t>(amax)), bits_float(static_cast<uint32_t>(smallest)),
          Isa::greatest_of(any) > kInfinity, true};
}

template <typename Isa>
[[gnu::noinline]] BlockMagnitudes block_magnitudes(const float *numbers, int64_t count) {
  using Ints = typename Isa::Ints;
  // One off, so that zero is the largest of all as an unsigned number.
  Ints greatest = Isa::all_ints(0), least = Isa::all_ints(-1);
  for (int64_t i = 0; i < count; i += Isa::kWidth) {
    const Ints bits = Isa::bits(Isa::load(numbers + i)) & kMagnitude;
    greatest = Isa::greatest(greatest, bits);
    least = Isa::least_unsigned(least, bits - 1);
  }
  const int32_t amax = Isa::greatest_of(greatest);
  if (amax >= kInfinity) return special_magnitudes<Isa>(numbers, count);
  const uint32_t smallest = amax == 0 ? 0 : static_cast<uint32_t>(Isa::least_of(least)) + 1;
  return {bits_float(static_cast<uint32_t>(amax)), bits_float(smallest), false, false};
}

// Scales and their inverses of as many blocks as there are lanes: f32_scale() of AMAX, inverse_scale().
template <typename Isa>
void find_scales(const float *amax, float largest, float *scales, float *inverses) {
  using Floats = typename Isa::Floats;
  const Floats found = Isa::load(amax);
  const Floats ideal = Isa::greatest(found / Isa::all(largest), Isa::all(kSmallestNormal));
  const Floats scale = select<Isa>(found == Isa::all(0.0f), Isa::all(1.0f), ideal);
  Isa::store(scales, scale);
  Isa::store(inverses, Isa::all(1.0f) / scale);
}

// ---- the functions of power.hpp in lanes

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats log2_lanes(typename Isa::Floats x) {
  using K = Log2Constants;
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;
  const Ints is_subnormal = x < Isa::all(0x1p-126f);
  const Ints bits = is_subnormal ? Isa::bits(x * Isa::all(0x1p24f)) : Isa::bits(x);
  const Ints power = (bits - static_cast<int32_t>(K::kRootHalfBits)) >> 23;
  const Floats f = Isa::floats(bits - (power << 23)) - Isa::all(1.0f);
  Floats p = Isa::fused(Isa::all(K::kC7), f, Isa::all(K::kC6));
  p = Isa::fused(p, f, Isa::all(K::kC5));
  p = Isa::fused(p, f, Isa::all(K::kC4));
  p = Isa::fused(p, f, Isa::all(K::kC3));
  p = Isa::fused(p, f, Isa::all(K::kC2));
  p = Isa::fused(p, f, Isa::all(K::kC1));
  p = Isa::fused(p, f, Isa::all(K::kC0));
  return Isa::fused(f, p, Isa::of_ints(power - (is_subnormal & 24)));
}

template <typename Isa>
struct Power2Lanes {
  typename Isa::Floats fraction;
  typename Isa::Ints power;
};

template <typename Isa>
[[gnu::always_inline]] inline Power2Lanes<Isa> power2_lanes(typename Isa::Floats x) {
  using K = Power2Constants;
  using Floats = typename Isa::Floats;
  const Floats bias = Isa::all(K::kRoundBias);
  const Floats n = (x + bias) - bias;
  const Floats r = x - n;
  Floats p = Isa::fused(Isa::all(K::kC5), r, Isa::all(K::kC4));
  p = Isa::fused(p, r, Isa::all(K::kC3));
  p = Isa::fused(p, r, Isa::all(K::kC2));
  p = Isa::fused(p, r, Isa::all(K::kC1));
  return {Isa::fused(p, r, Isa::all(1.0f)), Isa::truncated(n)};
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats power_of_two_lanes(typename Isa::Ints power) {
  return Isa::floats((power + 127) << 23);
}

template <typename Isa>
void expand(const Expansion &e, const float *from, float *to, int64_t count) {
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;
  const Floats amax = Isa::all(e.amax), zero = Isa::all(0.0f);
  for (int64_t i = 0; i < count; i += Isa::kWidth) {
    const Floats number = Isa::load(from + i);
    const Floats magnitude = magnitude_of<Isa>(number);
    Floats x = Isa::all(e.exponent) * (log2_lanes<Isa>(magnitude) - Isa::all(e.log2_amax));
    x = Isa::greatest(x, Isa::all(-126.0f));
    const Power2Lanes<Isa> p = power2_lanes<Isa>(x);
    const Floats stretched = Isa::all(e.largest) * (p.fraction * power_of_two_lanes<Isa>(p.power));
    const Ints is_inside = (magnitude <= amax) & (magnitude != zero);
    const Ints sign = Isa::bits(number) & ~kMagnitude;
    Isa::store(to + i, Isa::floats(Isa::bits(select<Isa>(is_inside, stretched, magnitude)) | sign));
  }
}

template <typename Isa>
void compress(const Expansion &e, const ByteNumbers &numbers, const uint8_t *from, float *to, int64_t count) {
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;
  const Floats amax = Isa::all(e.amax), zero = Isa::all(0.0f);
  for (int64_t i = 0; i < count; i += Isa::kQuad) {
    Floats decoded[4];
    Isa::decode(numbers, from + i, decoded);
    for (int j = 0; j < 4; ++j) {
      const Floats number = magnitude_of<Isa>(decoded[j]);
      Floats x = (log2_lanes<Isa>(number) - Isa::all(e.log2_largest)) * Isa::all(e.inverse_exponent);
      x = Isa::greatest(x, Isa::all(-250.0f));
      const Power2Lanes<Isa> p = power2_lanes<Isa>(x);
      const Ints half = p.power >> 1;
      const Floats shrunk = p.fraction * power_of_two_lanes<Isa>(half) * amax * power_of_two_lanes<Isa>(p.power - half);
      const Floats inside = select<Isa>(number != zero, shrunk, zero);
      const Floats result = select<Isa>(number <= Isa::all(e.largest), inside, number * amax);
      Isa::store(to + i + j * Isa::kWidth, Isa::floats(Isa::bits(result) | (Isa::bits(decoded[j]) & ~kMagnitude)));
    }
  }
}

}  // namespace
}  // namespace lpt
