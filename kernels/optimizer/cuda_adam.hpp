// The direction of Adam and AdamW for eight elements: m' / (sqrt(x) + epsilon), 0 where m' is zero, rounded as IEEE 754
// requires. The square roots and divisions of the compiler branch for each element. This code branches once for eight elements.
//
//   sqrt:      r = rsqrt(x), s = x · r, s + (x - s · s) · r / 2
//   quotient:  r = 1 / b, r = r + r · (1 - b · r), q = a · r, q + (a - b · q) · r
//
// Each step is one multiply-add. These are the steps of the compiler for values in the middle of the range.
#pragma once

#include "kernels/optimizer/cuda_eight.hpp"
#include "kernels/optimizer/rule.hpp"

namespace lpt {

#if defined(__CUDA_ARCH__)

__device__ __forceinline__ float middle_root(float x) {
  float reciprocal;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
  const float root = x * reciprocal;
  return __fmaf_rn(__fmaf_rn(-root, root, x), reciprocal * 0.5f, root);
}

__device__ __forceinline__ float middle_quotient(float a, float b) {
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
  reciprocal = __fmaf_rn(reciprocal, __fmaf_rn(-b, reciprocal, 1.0f), reciprocal);
  const float quotient = a * reciprocal;
  return __fmaf_rn(__fmaf_rn(-b, quotient, a), reciprocal, quotient);
}

// The middle of the range, as bits: x from 2^-100 to below 2^100, |m'| from 2^-64 to below 2^64. With 0 <= epsilon < 2^50 the
// denominator is between 2^-50 and 2^51. No intermediate result is then subnormal or overflows.
constexpr uint32_t kLeastSquare = 27u << 23, kSquares = 200u << 23;
constexpr uint32_t kLeastMoment = 63u << 23, kMoments = 128u << 23;
constexpr float kMostEpsilon = 0x1p50f;

#endif

__device__ __forceinline__ float adam_direction(float m, float x, float epsilon) {
  return m == 0.0f ? 0.0f : m / (root_of(x) + epsilon);
}

// Computes adam_direction() of each element.
__device__ __forceinline__ void adam_directions(const FloatVec8 &m, const FloatVec8 &x, float epsilon,
                                                FloatVec8 &direction) {
#if defined(__CUDA_ARCH__)
  uint32_t most_square = 0, most_moment = 0;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const bool is_zero = m.number[i] == 0.0f;
    const float square = is_zero ? 1.0f : x.number[i];
    const float moment = is_zero ? 1.0f : m.number[i];
    most_square = max(most_square, float_bits(square) - kLeastSquare);
    most_moment = max(most_moment, (float_bits(moment) & 0x7FFFFFFFu) - kLeastMoment);
    const float quotient = middle_quotient(moment, middle_root(square) + epsilon);
    direction.number[i] = is_zero ? 0.0f : quotient;
  }
  if (most_square < kSquares && most_moment < kMoments && epsilon < kMostEpsilon) return;
#endif
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) direction.number[i] = adam_direction(m.number[i], x.number[i], epsilon);
}

}  // namespace lpt
