// Dynamic range expansion of states (COAT, arXiv 2410.19313): log2, 2^x, and the expansion of a magnitude and its inverse. All
// kernels run the same sequence of f32 operations. Each fused multiply-add is explicit.
//
// A block has the exponent k = floor(16 · R / log2(M / s)) / 16, in [1/16, 64]. M is its largest and s its smallest positive
// magnitude. R = log2(largest² / 2) is the range that the element represents well. A magnitude x is encoded as
// largest · (x / M)^k, and q is decoded as M · (q / largest)^(1/k). M is decoded exactly.
#pragma once

#include <cstdint>

#include "src/base/host_device.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Returns a · b + c, rounded once.
LPT_HOST_DEVICE static inline float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

// log2(1 + f) = f · p(f), with a polynomial p of degree 7: minimax on [sqrt(1/2) - 1, sqrt(2) - 1].
struct Log2Constants {
  static constexpr uint32_t kRootHalfBits = 0x3F3504F3u;  // sqrt(1/2)
  static constexpr float kC0 = 0x1.715474p+0f;
  static constexpr float kC1 = -0x1.715528p-1f;
  static constexpr float kC2 = 0x1.ec7724p-2f;
  static constexpr float kC3 = -0x1.70e2a8p-2f;
  static constexpr float kC4 = 0x1.25fd34p-2f;
  static constexpr float kC5 = -0x1.fdb32ap-3f;
  static constexpr float kC6 = 0x1.df5192p-3f;
  static constexpr float kC7 = -0x1.2a9f3ap-3f;
};

// Returns log2 of a positive finite value, which may be subnormal. log2(1) is 0. The relative error is below 3.4e-7.
LPT_HOST_DEVICE static inline float log2_f32(float x) {
  using K = Log2Constants;
  const bool is_subnormal = x < 0x1p-126f;
  const uint32_t bits = float_bits(is_subnormal ? x * 0x1p24f : x);
  const int32_t power = static_cast<int32_t>(bits - K::kRootHalfBits) >> 23;
  const float f = bits_float(bits - (static_cast<uint32_t>(power) << 23)) - 1.0f;
  float p = fused(K::kC7, f, K::kC6);
  p = fused(p, f, K::kC5);
  p = fused(p, f, K::kC4);
  p = fused(p, f, K::kC3);
  p = fused(p, f, K::kC2);
  p = fused(p, f, K::kC1);
  p = fused(p, f, K::kC0);
  return fused(f, p, static_cast<float>(power - (is_subnormal ? 24 : 0)));
}

// 2^r = 1 + r · p(r) for r in [-1/2, 1/2], with a polynomial p of degree 4: minimax, relative error 2^-23.3.
struct Power2Constants {
  static constexpr float kRoundBias = 0x1.8p+23f;  // the low bits of x + kRoundBias are the nearest integer
  static constexpr float kC1 = 0x1.62e42ap-1f;
  static constexpr float kC2 = 0x1.ebf9bcp-3f;
  static constexpr float kC3 = 0x1.c6b752p-5f;
  static constexpr float kC4 = 0x1.3cea88p-7f;
  static constexpr float kC5 = 0x1.5bba14p-10f;
};

// 2^x = fraction · 2^power for |x| < 2^22, with the fraction in [0.7, 1.42].
struct Power2 {
  float fraction;
  int32_t power;
};

LPT_HOST_DEVICE static inline Power2 power2(float x) {
  using K = Power2Constants;
  const float n = (x + K::kRoundBias) - K::kRoundBias;
  const float r = x - n;
  float p = fused(K::kC5, r, K::kC4);
  p = fused(p, r, K::kC3);
  p = fused(p, r, K::kC2);
  p = fused(p, r, K::kC1);
  return {fused(p, r, 1.0f), static_cast<int32_t>(n)};
}

// Constants of the expansion of a block.
struct Expansion {
  float largest;           // largest value of the element
  float log2_largest;      // by log2_f32()
  float amax;              // M
  float log2_amax;         // by log2_f32()
  float exponent;          // k
  float inverse_exponent;  // 1 / k
};

LPT_HOST_DEVICE static inline Expansion make_expansion(float largest, float amax, uint16_t sixteenths) {
  const float exponent = static_cast<float>(sixteenths) * 0.0625f;
  return {largest, log2_f32(largest), amax, log2_f32(amax), exponent, 1.0f / exponent};
}

// Returns 16 · k of a block with M = amax and s = least. Both are 0 if the block has no positive finite magnitude. k is 1 if
// they are equal.
LPT_HOST_DEVICE static inline uint16_t expansion_exponent(float largest, float amax, float least) {
  if (amax == least) return 16;
  const float range = 16.0f * fused(2.0f, log2_f32(largest), -1.0f);
  const float span = log2_f32(amax) - log2_f32(least);
  if (!(span * 1024.0f > range)) return 1024;
  const float k = range / span;
  // `k` is in sixteenths. It is below 1 only if M / s exceeds 2^(16 · R): 2^237 for e4m3, 2^265 for e4m3fn.
  return k < 1.0f ? uint16_t{1} : static_cast<uint16_t>(static_cast<int32_t>(k));
}

// Returns largest · (magnitude / M)^k. 0, NaN and magnitudes beyond M (infinity) are returned unchanged.
LPT_HOST_DEVICE static inline float expanded(const Expansion &e, float magnitude) {
  if (!(magnitude <= e.amax) || magnitude == 0.0f) return magnitude;
  float x = e.exponent * (log2_f32(magnitude) - e.log2_amax);
  x = x < -126.0f ? -126.0f : x;
  const Power2 p = power2(x);
  return e.largest * (p.fraction * clamped_power_of_two(p.power));
}

// Returns M · (number / largest)^(1/k) for the magnitude of an element. 0 and NaN are returned unchanged; infinity is
// multiplied by M.
LPT_HOST_DEVICE static inline float compressed(const Expansion &e, float number) {
  if (!(number <= e.largest)) return number * e.amax;
  if (number == 0.0f) return 0.0f;
  float x = (log2_f32(number) - e.log2_largest) * e.inverse_exponent;
  x = x < -250.0f ? -250.0f : x;
  const Power2 p = power2(x);
  const int32_t half = p.power >> 1;
  return p.fraction * clamped_power_of_two(half) * e.amax * clamped_power_of_two(p.power - half);
}

}  // namespace lpt
