// exp, the logistic function and GELU in f32. Each is one sequence of IEEE operations, so that scalar, SIMD and CUDA results
// are equal bit for bit.
//
// Every fused multiply-add is explicit. The compiler must not contract other operations. The result for a NaN is a NaN whose
// sign and payload depend on the machine. Largest errors over all 2^32 arguments, in units of the last place (ULP): exp 0.90,
// its subnormal results 0.86, sigmoid 2.8, gelu 6.3, gelu by tanh 3.5. The errors of GELU include subnormal results. silu:
// 3.6 above -87; below -87, sigmoid has few significant bits and silu is smaller than 2^-118.
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
  static constexpr float kRoundBias = 0x1.8p+23f;  // adding it rounds to an integer in the low bits
  static constexpr float kLn2High = 0x1.62e4p-1f;  // 15 bits: n · high is exact
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kC2 = 0x1.fffffcp-2f;
  static constexpr float kC3 = 0x1.555492p-3f;
  static constexpr float kC4 = 0x1.5558d4p-5f;
  static constexpr float kC5 = 0x1.123a0cp-7f;
  static constexpr float kC6 = 0x1.6a23cap-10f;
};

// Returns a · b + c, rounded once.
LPT_HOST_DEVICE static inline float fused_multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

// Returns |x|; minus zero becomes zero.
LPT_HOST_DEVICE static inline float magnitude_of(float x) {
#if defined(__CUDA_ARCH__)
  return fabsf(x);
#else
  return __builtin_fabsf(x);
#endif
}

// Returns 2^n for n in [-126, 127].
LPT_HOST_DEVICE static inline float power_of_two(int32_t n) {
  const uint32_t bits = static_cast<uint32_t>(n + 127) << 23;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Returns value · 2^n for an integer n in [-252, 254]. It multiplies in two steps because 2^n can exceed the range of f32.
// Unless value is far from one, the first multiplication is exact: only the second one rounds or overflows.
LPT_HOST_DEVICE static inline float times_power_of_two(float value, float n) {
  const int32_t exponent = static_cast<int32_t>(n);
  const int32_t half = exponent >> 1;
  return value * power_of_two(half) * power_of_two(exponent - half);
}

// Returns p(r).
LPT_HOST_DEVICE static inline float exp_polynomial(float r) {
  using K = ExpConstants;
  float p = fused_multiply_add(K::kC6, r, K::kC5);
  p = fused_multiply_add(p, r, K::kC4);
  p = fused_multiply_add(p, r, K::kC3);
  p = fused_multiply_add(p, r, K::kC2);
  p = fused_multiply_add(p, r, 1.0f);
  return fused_multiply_add(p, r, 1.0f);
}

LPT_HOST_DEVICE static inline float exp_f32(float x) {
  using K = ExpConstants;
  // Comparisons with NaN are false, so x remains NaN.
  x = K::kLowest > x ? K::kLowest : x;
  x = K::kHighest < x ? K::kHighest : x;
  if (x != x) return x;
  const float biased = fused_multiply_add(x, K::kLog2E, K::kRoundBias);
  const float n = biased - K::kRoundBias;
  float r = fused_multiply_add(n, -K::kLn2High, x);
  r = fused_multiply_add(n, -K::kLn2Low, r);
  return times_power_of_two(exp_polynomial(r), n);
}

// sigmoid(x) = 1 / (1 + exp(-x)) and its complement sigmoid(-x) = 1 - sigmoid(x), neither with cancellation.
struct Sigmoid {
  float value;
  float complement;
};

// e = exp(-|x|), i = 1 / (1 + e). The larger of the two results is i, the smaller one e · i.
LPT_HOST_DEVICE static inline Sigmoid sigmoid_f32(float x) {
  const float e = exp_f32(x < 0.0f ? x : -x);
  const float larger = 1.0f / (1.0f + e);
  const float smaller = e * larger;
  return x < 0.0f ? Sigmoid{smaller, larger} : Sigmoid{larger, smaller};
}

// silu(x) = x · sigmoid(x). The result for minus infinity is NaN, as for x / (1 + exp(-x)).
LPT_HOST_DEVICE static inline float silu_f32(float x) { return x * sigmoid_f32(x).value; }

// silu'(x) = sigmoid(x) · (1 + x · sigmoid(-x)).
LPT_HOST_DEVICE static inline float silu_derivative_f32(float x) {
  const Sigmoid sigmoid = sigmoid_f32(x);
  return sigmoid.value * fused_multiply_add(x, sigmoid.complement, 1.0f);
}

// exp(-(high + low)) = fraction · 2^power for high in [0, 120] and |low| of a few ULP of high. The exponent of a tail needs
// more bits than one f32 has. The caller applies the power, so that a subnormal result is rounded once.
struct ScaledExp {
  float fraction;
  float power;
};

LPT_HOST_DEVICE static inline ScaledExp exp_of_minus(float high, float low) {
  using K = ExpConstants;
  const float n = fused_multiply_add(high, -K::kLog2E, K::kRoundBias) - K::kRoundBias;
  float r = fused_multiply_add(n, -K::kLn2High, -high);
  r = fused_multiply_add(n, -K::kLn2Low, r);
  return {exp_polynomial(r - low), n};
}

// Both kinds of GELU are x · s(x) with s(-x) = 1 - s(x). The tail t = |x| · s(-|x|) is a product, so its relative accuracy is
// kept. GELU is -t for negative x and x - t otherwise. It is -0 for -0 and for minus infinity.

// Q(a) = erfc(a / sqrt(2)) / 2 = exp(-a² / 2) · N(a) / D(a) for a in [0, 14.5]. The relative error is 2^-26.6. All
// coefficients are positive, so no cancellation occurs.
struct GeluConstants {
  static constexpr float kHighest = 14.5f;  // above, a · Q(a) is below 2^-150
  static constexpr float kN0 = 0.5f;
  static constexpr float kN1 = 0x1.c0d06p-2f;
  static constexpr float kN2 = 0x1.7743f4p-3f;
  static constexpr float kN3 = 0x1.4cde06p-5f;
  static constexpr float kN4 = 0x1.0dc42ep-8f;
  static constexpr float kD1 = 0x1.acaa6p+0f;
  static constexpr float kD2 = 0x1.33d73cp+0f;
  static constexpr float kD3 = 0x1.e0bcdep-2f;
  static constexpr float kD4 = 0x1.a136b4p-4f;
  static constexpr float kD5 = 0x1.521918p-7f;
};

// gelu(x) = x · (1 + erf(x / sqrt(2))) / 2.
LPT_HOST_DEVICE static inline float gelu_f32(float x) {
  using K = GeluConstants;
  if (x != x) return x;
  const float magnitude = magnitude_of(x);
  const float a = K::kHighest < magnitude ? K::kHighest : magnitude;
  const float half = 0.5f * a;
  const float square = half * a;
  const ScaledExp e = exp_of_minus(square, fused_multiply_add(half, a, -square));
  float numerator = fused_multiply_add(K::kN4, a, K::kN3);
  numerator = fused_multiply_add(numerator, a, K::kN2);
  numerator = fused_multiply_add(numerator, a, K::kN1);
  numerator = fused_multiply_add(numerator, a, K::kN0);
  float denominator = fused_multiply_add(K::kD5, a, K::kD4);
  denominator = fused_multiply_add(denominator, a, K::kD3);
  denominator = fused_multiply_add(denominator, a, K::kD2);
  denominator = fused_multiply_add(denominator, a, K::kD1);
  denominator = fused_multiply_add(denominator, a, 1.0f);
  const float tail = times_power_of_two(e.fraction * (a * numerator / denominator), e.power);
  return (x < 0.0f ? -0.0f : x) - tail;
}

// z(a) = a · g(a²) with g(s) = linear + cubic · s. z is twice the argument of tanh, because (1 + tanh(z / 2)) / 2
// = 1 / (1 + exp(-z)). Each constant is the sum of two f32 values.
struct GeluTanhConstants {
  static constexpr float kHighest = 11.0f;         // above, a · exp(-z(a)) is below 2^-150
  static constexpr float kLinear = 0x1.98846p+0f;  // 2 · sqrt(2 / pi). 20 bits: g - linear is exact
  static constexpr float kLinearLow = -0x1.985794p-21f;
  static constexpr float kCubic = 0x1.2444f2p-4f;  // 0.044715 · linear
  static constexpr float kCubicLow = 0x1.49b16ap-29f;
};

// gelu_tanh(x) = x · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 · x³))) / 2.
LPT_HOST_DEVICE static inline float gelu_tanh_f32(float x) {
  using K = GeluTanhConstants;
  if (x != x) return x;
  const float magnitude = magnitude_of(x);
  const float a = K::kHighest < magnitude ? K::kHighest : magnitude;
  // The low parts track the rounding error of each step: z is up to 100, and an absolute error of z is a relative error of
  // exp(-z).
  const float s = a * a;
  const float s_low = fused_multiply_add(a, a, -s);
  const float g = fused_multiply_add(K::kCubic, s, K::kLinear);
  float g_low = fused_multiply_add(K::kCubic, s, K::kLinear - g);
  g_low = fused_multiply_add(K::kCubicLow, s, g_low + K::kLinearLow);
  g_low = fused_multiply_add(K::kCubic, s_low, g_low);
  const float z = a * g;
  const ScaledExp e = exp_of_minus(z, fused_multiply_add(a, g_low, fused_multiply_add(a, g, -z)));
  const float whole = 1.0f + times_power_of_two(e.fraction, e.power);
  const float tail = times_power_of_two(e.fraction * (a / whole), e.power);
  return (x < 0.0f ? -0.0f : x) - tail;
}

}  // namespace lpt
