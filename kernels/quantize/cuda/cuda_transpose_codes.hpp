// Transposes a tile of 64 × 64 codes of 8, 16 or 32 bits in shared memory. Each of 256 threads stores 16 codes of a line, and
// loads 16 codes of a line of the other direction.
#pragma once

#include "kernels/common/cuda_fragment.hpp"

namespace lpt {

constexpr uint32_t kTransposeThreads = 256;
constexpr int32_t kTransposeTile = 64;

// Codes from line to line in shared memory. The padding places the codes of a column in different banks.
template <int32_t kBits>
constexpr int32_t kTransposePitch = kTransposeTile + 32 / kBits;

// The thread's line of the tile, and its first index in that line. Both are equal before and after the transposition.
__device__ __forceinline__ int32_t transpose_line() { return static_cast<int32_t>(threadIdx.x) / 4; }
__device__ __forceinline__ int32_t transpose_place() { return static_cast<int32_t>(threadIdx.x) % 4 * kFragment; }

template <int32_t kBits>
__device__ __forceinline__ uint32_t code_in_tile(const uint32_t *tile, int32_t place) {
  if constexpr (kBits == 8) return reinterpret_cast<const uint8_t *>(tile)[place];
  if constexpr (kBits == 16) return reinterpret_cast<const uint16_t *>(tile)[place];
  return tile[place];
}

// Transposes a tile. All threads of the block must call it, because it contains a barrier.
template <int32_t kBits>
__device__ __forceinline__ CodeFragment<kBits> transpose_tile(const CodeFragment<kBits> &codes) {
  __shared__ uint32_t tile[kTransposeTile * kTransposePitch<kBits> * kBits / 32];
  const int32_t first = (transpose_line() * kTransposePitch<kBits> + transpose_place()) * kBits / 32;
#pragma unroll
  for (int32_t i = 0; i < kBits / 2; ++i) tile[first + i] = codes.word[i];
  __syncthreads();
  CodeFragment<kBits> transposed_copy = {};
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    put_code(transposed_copy, i,
             code_in_tile<kBits>(tile, (transpose_place() + i) * kTransposePitch<kBits> + transpose_line()));
  }
  return transposed_copy;
}

// Returns how many of the 16 indices from `at` on are below `end`.
__device__ __forceinline__ int32_t count_below(int64_t at, int64_t end) {
  const int64_t left = end - at;
  return left <= 0 ? 0 : static_cast<int32_t>(left < kFragment ? left : kFragment);
}

}  // namespace lpt
