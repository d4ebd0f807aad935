// Functions of functions.hpp for sixteen numbers, bit for bit. They branch for each number where one may be a NaN, or a result
// subnormal or infinite; here one branch is for sixteen.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "src/formats/functions.hpp"

namespace lpt {

// exp(-87) is a normal number.
constexpr float kMiddle = 87.0f;

__device__ __forceinline__ bool are_in_middle(const FloatFragment &x) {
  float most = 0.0f;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) most = larger_magnitude(most, x.number[i]);
  return most <= kMiddle;
}

// exp_f32() of |x| <= kMiddle: 2^n is one factor, and a product with it is exact.
__device__ __forceinline__ float middle_exp(float x) {
  using K = ExpConstants;
  const float biased = fused_multiply_add(x, K::kLog2E, K::kRoundBias);
  const float n = biased - K::kRoundBias;
  float r = fused_multiply_add(n, -K::kLn2High, x);
  r = fused_multiply_add(n, -K::kLn2Low, r);
  return exp_polynomial(r) * bits_float((float_bits(biased) << 23) + 0x3F800000u);
}

// 1 / x, rounded to nearest, for 1 <= x <= 2: the compiler's steps in the middle of the range.
__device__ __forceinline__ float middle_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return __fmaf_rn(inverse, __fmaf_rn(-x, inverse, 1.0f), inverse);
#else
  return 1.0f / x;
#endif
}

__device__ __forceinline__ float middle_silu(float x) {
  const float e = middle_exp(-magnitude_of(x));
  const float larger = middle_inverse(1.0f + e);
  return x * (x < 0.0f ? e * larger : larger);
}

// silu_f32().
__device__ __forceinline__ FloatFragment silu_of(FloatFragment x) {
  if (are_in_middle(x)) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = middle_silu(x.number[i]);
  } else {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = silu_f32(x.number[i]);
  }
  return x;
}

}  // namespace lpt
