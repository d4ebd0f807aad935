// Reductions over a thread block that processes one row.
#pragma once

#include "kernels/common/cuda_lines.hpp"
#include "src/formats/functions.hpp"

namespace lpt {

constexpr uint32_t kLineThreads = 256;

// Returns the value of a number after a store to and a load from memory.
__device__ __forceinline__ float stored_number(lpt_format format, float number) {
  if (format == LPT_FORMAT_F32) return number;
  if (format == LPT_FORMAT_BF16) return number_of<Dtype::kBf16>(code_of<Dtype::kBf16>(number));
  return number_of<Dtype::kF16>(code_of<Dtype::kF16>(number));
}

// Returns the sum over all threads of the block, to each thread: a butterfly within each warp, then the warps in order. The
// order is fixed, so that results are reproducible. All threads of the block must call it; it may be called repeatedly.
__device__ __forceinline__ double block_sum(double number) {
  __shared__ double sums[kLineThreads / 32];
  for (uint32_t distance = 16; distance > 0; distance /= 2) number += __shfl_xor_sync(kAllLanes, number, distance);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = number;
  __syncthreads();
  double sum = 0.0;
  for (uint32_t warp = 0; warp < kLineThreads / 32; ++warp) sum += sums[warp];
  return sum;
}

// Returns the largest value without NaN; minus infinity for an empty row.
__device__ __forceinline__ float block_largest(float number) {
  __shared__ float numbers[kLineThreads / 32];
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, number, distance);
    number = other > number ? other : number;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) numbers[threadIdx.x / 32] = number;
  __syncthreads();
  float largest = numbers[0];
  for (uint32_t warp = 1; warp < kLineThreads / 32; ++warp) {
    largest = numbers[warp] > largest ? numbers[warp] : largest;
  }
  return largest;
}

// First column of a thread, if a block processes a full row.
__device__ __forceinline__ int64_t first_column() { return int64_t{threadIdx.x} * kFragment; }

constexpr int64_t kLineStep = int64_t{kLineThreads} * kFragment;

inline uint32_t blocks_of_rows(int64_t rows) { return static_cast<uint32_t>(rows < (1 << 20) ? rows : 1 << 20); }

}  // namespace lpt
