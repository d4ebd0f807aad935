// Functions of functions.hpp for the 16 elements of a fragment, with the same bits. The scalar functions branch for each
// element that may be a NaN, or whose result may be subnormal or infinite. These functions branch once for all 16.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "src/formats/functions.hpp"

namespace lpt {

// Bound of |x| for which exp(x) and exp(-x) are normal numbers.
constexpr float kMiddle = 87.0f;

// Returns whether |x| <= kMiddle for all elements. A NaN gives false.
__device__ __forceinline__ bool are_in_fast_range(const FloatFragment &x) {
  float most = 0.0f;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) most = larger_magnitude(most, x.number[i]);
  return most <= kMiddle;
}

// Computes exp_f32(x) for |x| <= kMiddle. In this range 2^n is one normal factor, and the multiplication by it is exact.
__device__ __forceinline__ float middle_exp(float x) {
  using K = ExpConstants;
  const float biased = fused_multiply_add(x, K::kLog2E, K::kRoundBias);
  const float n = biased - K::kRoundBias;
  float r = fused_multiply_add(n, -K::kLn2High, x);
  r = fused_multiply_add(n, -K::kLn2Low, r);
  return exp_polynomial(r) * bits_float((float_bits(biased) << 23) + 0x3F800000u);
}

// Computes 1 / x, rounded to nearest, for 1 <= x <= 2: the steps of the compiler for this range, without its branch.
__device__ __forceinline__ float middle_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return __fmaf_rn(inverse, __fmaf_rn(-x, inverse, 1.0f), inverse);
#else
  return 1.0f / x;
#endif
}

// Computes silu_f32(x) for |x| <= kMiddle, from exp(-|x|).
__device__ __forceinline__ float middle_silu(float x) {
  const float e = middle_exp(-magnitude_of(x));
  const float larger = middle_inverse(1.0f + e);
  return x * (x < 0.0f ? e * larger : larger);
}

// Computes silu_f32() of each element.
__device__ __forceinline__ FloatFragment silu_of(FloatFragment x) {
  if (are_in_fast_range(x)) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = middle_silu(x.number[i]);
  } else {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = silu_f32(x.number[i]);
  }
  return x;
}

}  // namespace lpt
