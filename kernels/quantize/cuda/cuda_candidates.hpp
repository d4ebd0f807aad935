// Scale rules that try several scales of a block: the first scale with the smallest squared error is selected.
#pragma once

#include "kernels/quantize/cuda/cuda_blocks.hpp"

namespace lpt {

// Adds the upper half of the array to the lower half, recursively. Widths are constants, because a variable index would place
// the array in local memory.
template <int32_t kWidth>
__device__ __forceinline__ void fold(float (&sum)[kFragment]) {
#pragma unroll
  for (int32_t i = 0; i < kWidth; ++i) sum[i] += sum[i + kWidth];
  if constexpr (kWidth > 1) fold<kWidth / 2>(sum);
}

// Returns 0 for a NaN or an infinity. -0 becomes 0.
__device__ __forceinline__ float finite_number(float number) {
  return (float_bits(number) & 0x7FFFFFFFu) < kFloatInfinityBits ? number + 0.0f : 0.0f;
}

__device__ __forceinline__ FloatFragment finite_numbers(const FloatFragment &fragment) {
  FloatFragment finite;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) finite.number[i] = finite_number(fragment.number[i]);
  return finite;
}

// Computes the squared errors of a cast to nearest even with `scale` and back.
template <Element kTarget>
__device__ __forceinline__ FloatFragment squared_errors(const FloatFragment &fragment, float scale) {
  const float inverse = inverse_scale(scale);
  FloatFragment squares;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    const float number = fragment.number[i];
    const float error = number - small_number<kTarget>(nearest_code<kTarget>(scaled(number, inverse))) * scale;
    squares.number[i] = number == 0.0f ? 0.0f : error * error;
  }
  return squares;
}

// Returns the code of the best candidate. The elements of the fragment must be finite. sum(fragment) returns the sum over all
// threads of a block, to each thread.
template <lpt_format kFormat, lpt_format kScale, typename Sum>
__device__ __forceinline__ uint32_t best_candidate(const CastJob &job, const ScaleSpec &spec,
                                                   const FloatFragment &fragment, float amax, const Sum &sum) {
  constexpr Element kTarget = small_element(kFormat);
  const float tensor_scale = tensor_scale_of(job);
  uint32_t best = candidate_code(spec, amax, 0);
  float least = sum(squared_errors<kTarget>(fragment, block_scale_value(kScale, best) * tensor_scale));
  for (int32_t i = 1; i < candidate_count(spec); ++i) {
    const uint32_t code = candidate_code(spec, amax, i);
    const float error = sum(squared_errors<kTarget>(fragment, block_scale_value(kScale, code) * tensor_scale));
    if (!(error < least)) continue;
    best = code;
    least = error;
  }
  return best;
}

}  // namespace lpt
