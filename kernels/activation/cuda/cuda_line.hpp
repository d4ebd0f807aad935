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
__device__ __forceinline__ double block_sum(double number, uint32_t warps = kLineThreads / 32) {
  __shared__ double sums[32];
  for (uint32_t distance = 16; distance > 0; distance /= 2) number += __shfl_xor_sync(kAllLanes, number, distance);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = number;
  __syncthreads();
  double sum = 0.0;
  for (uint32_t warp = 0; warp < warps; ++warp) sum += sums[warp];
  return sum;
}

// Returns max(a, b), or a NaN if a or b is NaN.
__device__ __forceinline__ float larger_or_nan(float a, float b) {
#if defined(__CUDA_ARCH__)
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
#else
  return b > a || b != b ? b : a;
#endif
}

// Returns the largest number of all threads of the block, to each thread, or a NaN if one of them is NaN. All threads of the
// block must call it; it may be called repeatedly.
__device__ __forceinline__ float block_max_or_nan(float number, uint32_t warps) {
  __shared__ float numbers[32];
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    number = larger_or_nan(number, __shfl_xor_sync(kAllLanes, number, distance));
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) numbers[threadIdx.x / 32] = number;
  __syncthreads();
  number = numbers[threadIdx.x % 32 < warps ? threadIdx.x % 32 : 0];
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    number = larger_or_nan(number, __shfl_xor_sync(kAllLanes, number, distance));
  }
  return number;
}

// Returns the largest number of all threads of the block, to each thread. No number may be NaN. A thread without elements
// passes minus infinity, which is the result for an empty row.
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
