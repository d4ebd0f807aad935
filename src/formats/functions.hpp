// exp and the logistic function in f32: one sequence of IEEE operations, so that scalar, SIMD and CUDA agree bit for
// bit.
//
// Every fused multiply-add is written out; nothing else may be contracted. A NaN gives a NaN, whose sign and payload
// are the machine's own. Largest errors over all 2^32 arguments, in units of the last place: exp 0.90, its subnormal
// results 0.86, sigmoid 2.8, silu 3.6 (above -87; below, where sigmoid has few bits left, silu is smaller than 2^-118).
#pragma once

#include <cstdint>
#include <cstring>

#include "src/base/host_device.hpp"

namespace lpt {

// exp(x) = 2^n · p(r),  n = round(x / ln 2),  r = x - n · ln 2 in [-0.3467, 0.3467].
// p(r) = 1 + r + r² · q(r) with q of degree 4, minimax: relative error 2^-28.2.
struct ExpConstants {
  static constexpr float kLowest = -104.0f;  // below ln 2^-150: the result is 0
  static constexpr float kHighest = 89.0f;   // above ln 2^128: the result is infinity
  static constexpr float kLog2E = 0x1.715476p+0f;
  static constexpr float kRoundBias = 0x1.8p+23f;  // adding it leaves the nearest integer in the low bits
  static constexpr float kLn2High = 0x1.62e4p-1f;  // 15 bits: n · high is exact
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kC2 = 0x1.fffffcp-2f;
  static constexpr float kC3 = 0x1.555492p-3f;
  static constexpr float kC4 = 0x1.5558d4p-5f;
  static constexpr float kC5 = 0x1.123a0cp-7f;
  static constexpr float kC6 = 0x1.6a23cap-10f;
};

// a · b + c, rounded once.
LPT_HOST_DEVICE static inline float fused_multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

// 2^n for n in [-126, 127].
LPT_HOST_DEVICE static inline float power_of_two(int32_t n) {
  const uint32_t bits = static_cast<uint32_t>(n + 127) << 23;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

LPT_HOST_DEVICE static inline float exp_f32(float x) {
  using K = ExpConstants;
  // Comparisons with NaN are false: a NaN stays.
  x = K::kLowest > x ? K::kLowest : x;
  x = K::kHighest < x ? K::kHighest : x;
  if (x != x) return x;
  const float biased = fused_multiply_add(x, K::kLog2E, K::kRoundBias);
  const float n = biased - K::kRoundBias;
  float r = fused_multiply_add(n, -K::kLn2High, x);
  r = fused_multiply_add(n, -K::kLn2Low, r);
  float p = fused_multiply_add(K::kC6, r, K::kC5);
  p = fused_multiply_add(p, r, K::kC4);
  p = fused_multiply_add(p, r, K::kC3);
  p = fused_multiply_add(p, r, K::kC2);
  p = fused_multiply_add(p, r, 1.0f);
  p = fused_multiply_add(p, r, 1.0f);
  // Two steps, since 2^n may be no f32. The first product is exact: only the second one rounds, or overflows.
  const int32_t exponent = static_cast<int32_t>(n);
  const int32_t half = exponent >> 1;
  return p * power_of_two(half) * power_of_two(exponent - half);
}

// sigmoid(x) = 1 / (1 + exp(-x)) and its complement sigmoid(-x) = 1 - sigmoid(x), neither with cancellation.
struct Sigmoid {
  float value;
  float complement;
};

// e = exp(-|x|),  i = 1 / (1 + e):  the larger of the two is i, the smaller e · i.
LPT_HOST_DEVICE static inline Sigmoid sigmoid_f32(float x) {
  const float e = exp_f32(x < 0.0f ? x : -x);
  const float larger = 1.0f / (1.0f + e);
  const float smaller = e * larger;
  return x < 0.0f ? Sigmoid{smaller, larger} : Sigmoid{larger, smaller};
}

// silu(x) = x · sigmoid(x). As in x / (1 + exp(-x)), minus infinity gives NaN.
LPT_HOST_DEVICE static inline float silu_f32(float x) { return x * sigmoid_f32(x).value; }

// silu'(x) = sigmoid(x) · (1 + x · sigmoid(-x)).
LPT_HOST_DEVICE static inline float silu_derivative_f32(float x) {
  const Sigmoid sigmoid = sigmoid_f32(x);
  return sigmoid.value * fused_multiply_add(x, sigmoid.complement, 1.0f);
}

}  // namespace lpt
