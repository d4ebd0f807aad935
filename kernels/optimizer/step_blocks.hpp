// Scales of the blocks of a unit, by the AMAX rule or expanded (power.hpp), and their magnitudes. Included by simd_*.cpp.
#pragma once

#include "kernels/optimizer/power.hpp"
#include "kernels/optimizer/step_codes.hpp"

namespace lpt {
namespace {

// Statistics that determine the scale of a block.
struct BlockMagnitudes {
  float amax, least;         // of finite values; least: smallest positive magnitude, 0 if amax is 0
  bool has_nan, is_special;  // is_special: has NaN or infinity
};

// Computes the statistics of a block with infinities or NaN, which each iteration masks.
[[gnu::noinline]] BlockMagnitudes special_magnitudes(const float *numbers, int64_t count) {
  const I32 none = broadcast_i32(kMagnitude), zero = broadcast_i32(0);
  I32 greatest = zero, least = none, any = zero;
  for (int64_t i = 0; i < count; i += kLanes) {
    const I32 bits = i32_of(load(numbers + i)) & kMagnitude;
    const I32 finite = bits < kInfinity ? bits : zero;
    greatest = max(greatest, finite);
    least = min(least, finite > 0 ? finite : none);
    any = max(any, bits);
  }
  const int32_t amax = reduce_max_unsigned(greatest);
  const int32_t smallest = amax == 0 ? 0 : reduce_min_unsigned(least);
  return {bits_float(static_cast<uint32_t>(amax)), bits_float(static_cast<uint32_t>(smallest)),
          reduce_max_unsigned(any) > kInfinity, true};
}

[[gnu::noinline]] BlockMagnitudes block_magnitudes(const float *numbers, int64_t count) {
  // The minimum is that of magnitude bits minus 1 as unsigned integers, in which zero is the largest value.
  I32 greatest = broadcast_i32(0), least = broadcast_i32(-1);
  for (int64_t i = 0; i < count; i += kLanes) {
    const I32 bits = i32_of(load(numbers + i)) & kMagnitude;
    greatest = max(greatest, bits);
    least = min_unsigned(least, bits - 1);
  }
  const int32_t amax = reduce_max_unsigned(greatest);
  if (amax >= kInfinity) return special_magnitudes(numbers, count);
  const uint32_t smallest = amax == 0 ? 0 : static_cast<uint32_t>(reduce_min_unsigned(least)) + 1;
  return {bits_float(static_cast<uint32_t>(amax)), bits_float(smallest), false, false};
}

// Computes the scales of kLanes blocks and their inverses, as f32_scale() by the AMAX rule and inverse_scale() do.
void find_scales(const float *amax, float largest, float *scales, float *inverses) {
  const F32 found = load(amax);
  const F32 ideal = max(found / broadcast(largest), broadcast(kSmallestNormal));
  const F32 scale = select(found == broadcast(0.0f), broadcast(1.0f), ideal);
  store(scales, scale);
  store(inverses, broadcast(1.0f) / scale);
}

// Vector versions of the functions of power.hpp.

[[gnu::always_inline]] inline F32 log2_lanes(F32 x) {
  using K = Log2Constants;
  const I32 is_subnormal = x < broadcast(0x1p-126f);
  const I32 bits = is_subnormal ? i32_of(x * broadcast(0x1p24f)) : i32_of(x);
  const I32 power = (bits - static_cast<int32_t>(K::kRootHalfBits)) >> 23;
  const F32 f = f32_of(bits - (power << 23)) - broadcast(1.0f);
  F32 p = mul_add(broadcast(K::kC7), f, broadcast(K::kC6));
  p = mul_add(p, f, broadcast(K::kC5));
  p = mul_add(p, f, broadcast(K::kC4));
  p = mul_add(p, f, broadcast(K::kC3));
  p = mul_add(p, f, broadcast(K::kC2));
  p = mul_add(p, f, broadcast(K::kC1));
  p = mul_add(p, f, broadcast(K::kC0));
  return mul_add(f, p, f32_of_i32(power - (is_subnormal & 24)));
}

struct Power2Lanes {
  F32 fraction;
  I32 power;
};

[[gnu::always_inline]] inline Power2Lanes power2_lanes(F32 x) {
  using K = Power2Constants;
  const F32 bias = broadcast(K::kRoundBias);
  const F32 n = (x + bias) - bias;
  const F32 r = x - n;
  F32 p = mul_add(broadcast(K::kC5), r, broadcast(K::kC4));
  p = mul_add(p, r, broadcast(K::kC3));
  p = mul_add(p, r, broadcast(K::kC2));
  p = mul_add(p, r, broadcast(K::kC1));
  return {mul_add(p, r, broadcast(1.0f)), truncate_i32(n)};
}

[[gnu::always_inline]] inline F32 power_of_two_lanes(I32 power) { return f32_of((power + 127) << 23); }

void expand(const Expansion &e, const float *from, float *to, int64_t count) {
  const F32 amax = broadcast(e.amax), zero = broadcast(0.0f);
  for (int64_t i = 0; i < count; i += kLanes) {
    const F32 number = load(from + i);
    const F32 magnitude = abs(number);
    F32 x = broadcast(e.exponent) * (log2_lanes(magnitude) - broadcast(e.log2_amax));
    x = max(x, broadcast(-126.0f));
    const Power2Lanes p = power2_lanes(x);
    const F32 stretched = broadcast(e.largest) * (p.fraction * power_of_two_lanes(p.power));
    const I32 is_inside = (magnitude <= amax) & (magnitude != zero);
    const I32 sign = i32_of(number) & ~kMagnitude;
    store(to + i, f32_of(i32_of(select(is_inside, stretched, magnitude)) | sign));
  }
}

void compress(const Expansion &e, const ByteNumbers &numbers, const uint8_t *from, float *to, int64_t count) {
  const F32 amax = broadcast(e.amax), zero = broadcast(0.0f);
  for (int64_t i = 0; i < count; i += kQuad) {
    F32 decoded[4];
    decode(numbers, from + i, decoded);
    for (int j = 0; j < 4; ++j) {
      const F32 number = abs(decoded[j]);
      F32 x = (log2_lanes(number) - broadcast(e.log2_largest)) * broadcast(e.inverse_exponent);
      x = max(x, broadcast(-250.0f));
      const Power2Lanes p = power2_lanes(x);
      const I32 half = p.power >> 1;
      const F32 shrunk = p.fraction * power_of_two_lanes(half) * amax * power_of_two_lanes(p.power - half);
      const F32 inside = select(number != zero, shrunk, zero);
      const F32 result = select(number <= broadcast(e.largest), inside, number * amax);
      store(to + i + j * kLanes, f32_of(i32_of(result) | (i32_of(decoded[j]) & ~kMagnitude)));
    }
  }
}

}  // namespace
}  // namespace lpt
