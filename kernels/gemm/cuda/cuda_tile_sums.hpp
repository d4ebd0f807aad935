// From the sums of a tile, in shared memory, to c, or to parts of k that are added later.
#pragma once

#include "kernels/gemm/cuda/cuda_four_bits.hpp"
#include "kernels/gemm/cuda/cuda_tiles.hpp"

namespace lpt {

__device__ __forceinline__ int64_t within(int64_t index, int64_t extent) { return index < extent ? index : extent - 1; }

// Of each row of a, kSumStride apart, the sums of 128 columns of c. `parts` NULL: they are whole; else blockIdx.z is their part.
template <int32_t kTokens, int32_t kThreads>
__device__ __forceinline__ void store_tile(const FourBitsJob &job, int64_t first_token, int64_t first_row,
                                           const float *sums, float *parts) {
  for (auto index = static_cast<int32_t>(threadIdx.x); index < kTokens * kTileRows; index += kThreads) {
    const int64_t token = first_token + index / kTileRows, row = first_row + index % kTileRows;
    if (token >= job.m || row >= job.n) continue;
    const float sum = sums[index / kTileRows * kSumStride + index % kTileRows];
    if (parts == nullptr) {
      finish(job, token, row, sum);
    } else {
      parts[(blockIdx.z * job.m + token) * job.n + row] = sum;
    }
  }
}

// Queues what adds the parts in their order and finishes c.
void add_parts_of_tiles(const FourBitsJob &job, const float *parts, int64_t count, void *stream);

}  // namespace lpt
