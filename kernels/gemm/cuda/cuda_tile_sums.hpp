// Output of the sums of a tile from shared memory to c, or to the partial sums of a part of k.
#pragma once

#include "kernels/gemm/cuda/cuda_four_bits.hpp"
#include "kernels/gemm/cuda/cuda_tiles.hpp"

namespace lpt {

__device__ __forceinline__ int64_t within(int64_t index, int64_t extent) { return index < extent ? index : extent - 1; }

// Stores the sums of kTokens rows of a by 128 columns of c. The rows of `sums` are kSumStride apart. If `parts` is not NULL,
// the sums are those of part blockIdx.z of k.
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

// Queues a kernel that adds the partial sums in the order of the parts and applies the epilogue to c.
void add_parts_of_tiles(const FourBitsJob &job, const float *parts, int64_t count, void *stream);

}  // namespace lpt
