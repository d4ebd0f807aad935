// Rotations within a fragment of sixteen numbers, and what they are multiplied by before. Bits as kernels/hadamard/hadamard.hpp states.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/hadamard_factor.hpp"

namespace lpt {

// A NaN stays as it is: what a device's product makes of one has no sign.
__device__ __forceinline__ float times(float number, float factor) {
  return number == number ? number * factor : number;
}

__device__ __forceinline__ void multiply(FloatFragment &fragment, const float *factors, int64_t column, int32_t count) {
  if (factors == nullptr) return;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    if (i < count) fragment.number[i] = times(fragment.number[i], factors[column + i]);
  }
}

// Groups of less than sixteen are those of a fragment that ends the row: the powers of two of its count, largest first. So groups
// of 2 · stride and more end where the bits of the count do that are worth as much.
template <int32_t kStride>
__device__ __forceinline__ void step_inside(FloatFragment &fragment, int32_t count) {
  const int32_t end = count & ~(2 * kStride - 1);
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    if ((i & kStride) != 0) continue;
    const float a = fragment.number[i], b = fragment.number[i + kStride];
    fragment.number[i] = i < end ? a + b : a;
    fragment.number[i + kStride] = i < end ? a - b : b;
  }
}

__device__ __forceinline__ void steps_inside(FloatFragment &fragment, int32_t count) {
  step_inside<1>(fragment, count);
  step_inside<2>(fragment, count);
  step_inside<4>(fragment, count);
  step_inside<8>(fragment, count);
}

// What the numbers of a group are multiplied by last.
__device__ __forceinline__ float factor_inside(int32_t place, int32_t count) {
  if (place < (count & ~7)) return hadamard_factor(8);
  if (place < (count & ~3)) return hadamard_factor(4);
  return place < (count & ~1) ? hadamard_factor(2) : 1.0f;
}

// `factor` is that of the group of a full fragment.
__device__ __forceinline__ void scale_inside(FloatFragment &fragment, int32_t count, float factor) {
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    fragment.number[i] *= count == kFragment ? factor : factor_inside(i, count);
  }
}

// In a group of sixteen, or the smaller ones that end a row. A full fragment needs no comparisons.
__device__ __forceinline__ void rotate_sixteen(FloatFragment &fragment, int32_t count) {
  if (count == kFragment) {
    steps_inside(fragment, kFragment);
    scale_inside(fragment, kFragment, hadamard_factor(kFragment));
  } else {
    steps_inside(fragment, count);
    scale_inside(fragment, count, 1.0f);
  }
}

}  // namespace lpt
