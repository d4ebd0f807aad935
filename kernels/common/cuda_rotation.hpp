// Rotations of groups of at most 16 elements within a fragment, and factors of elements. kernels/hadamard/hadamard.hpp defines
// the bits.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/hadamard_factor.hpp"

namespace lpt {

// Returns number · factor. A NaN is returned unchanged, because a multiplication on a device loses its sign.
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

// Combines elements at distance kStride. A fragment at the end of a row has groups of fewer than 16 elements: the powers of two
// of `count`, largest first. Groups of at least 2 · kStride elements therefore end at `count` with its lower bits cleared.
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

// Returns the last factor of element `place` of a partial fragment: 1 / sqrt(elements of its group).
__device__ __forceinline__ float factor_inside(int32_t place, int32_t count) {
  if (place < (count & ~7)) return hadamard_factor(8);
  if (place < (count & ~3)) return hadamard_factor(4);
  return place < (count & ~1) ? hadamard_factor(2) : 1.0f;
}

// Multiplies elements by the last factor of their group. `factor` is that of the group that contains a full fragment.
__device__ __forceinline__ void scale_inside(FloatFragment &fragment, int32_t count, float factor) {
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    fragment.number[i] *= count == kFragment ? factor : factor_inside(i, count);
  }
}

// Rotates in groups of 16 columns; the last groups of a row are smaller. A full fragment needs no comparisons.
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
