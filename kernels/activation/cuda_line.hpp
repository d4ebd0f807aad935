// Rows of f32, bf16 or f16 on the device, sixteen numbers at a time, and sums over a block of threads.
#pragma once

#include "kernels/common/cuda_strip.hpp"
#include "src/formats/functions.hpp"
#include "src/formats/view.hpp"

namespace lpt {

constexpr uint32_t kLineThreads = 256;

// A matrix as kernels take it, by value.
struct DeviceLines {
  void *data;
  int64_t stride;  // in elements
  lpt_format format;
  bool is_whole;  // strips lie on boundaries of 16 bytes
};

inline DeviceLines lines_of(const MatrixView &view) {
  const int64_t bytes = view.format.id == LPT_FORMAT_F32 ? 4 : 2;
  const bool is_whole = reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && view.row_stride * bytes % 16 == 0;
  return {view.data, view.row_stride, view.format.id, is_whole};
}

__device__ __forceinline__ NumberStrip load_line(const DeviceLines &lines, int64_t row, int64_t column, int32_t count) {
  return load_numbers(lines.format, lines.data, row * lines.stride + column, count, lines.is_whole && count == kStrip);
}

// A NaN is written as the positive quiet one.
__device__ __forceinline__ void store_line(const DeviceLines &lines, int64_t row, int64_t column, int32_t count,
                                           NumberStrip strip) {
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) strip.number[i] = positive_nan(strip.number[i]);
  store_numbers(lines.format, lines.data, row * lines.stride + column, count, lines.is_whole && count == kStrip, strip);
}

// The sum over all threads of the block, for each of them: halves of a warp, then the warps in turn. The order does not depend
// on who comes first. Every thread comes here, any number of times.
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

// The largest, NaN left out; minus infinity where there is nothing.
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

// Where a block of threads takes a whole row.
__device__ __forceinline__ int64_t first_column() { return int64_t{threadIdx.x} * kStrip; }

constexpr int64_t kLineStep = int64_t{kLineThreads} * kStrip;

}  // namespace lpt
