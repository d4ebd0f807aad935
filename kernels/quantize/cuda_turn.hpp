// A tile of 64 × 64 bytes, turned in shared memory: each of 256 threads brings sixteen bytes of a line and takes sixteen of a
// line of the other direction.
#pragma once

#include "kernels/common/cuda_strip.hpp"

namespace lpt {

constexpr uint32_t kTurnThreads = 256;
constexpr int32_t kTurnTile = 64;
constexpr int32_t kTurnPitch = kTurnTile + 4;  // words of a column lie in different banks

// The thread's line of the tile, and its first place in it; the same before and after.
__device__ __forceinline__ int32_t turn_line() { return static_cast<int32_t>(threadIdx.x) / 4; }
__device__ __forceinline__ int32_t turn_place() { return static_cast<int32_t>(threadIdx.x) % 4 * kStrip; }

// Every thread of the block comes here.
__device__ __forceinline__ CodeStrip<8> turn_tile(const CodeStrip<8> &codes) {
  __shared__ uint32_t tile[kTurnTile * kTurnPitch / 4];
  for (int32_t i = 0; i < 4; ++i) tile[(turn_line() * kTurnPitch + turn_place()) / 4 + i] = codes.word[i];
  __syncthreads();
  const auto *bytes = reinterpret_cast<const unsigned char *>(tile);
  CodeStrip<8> turned = {};
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) {
    const uint32_t code = bytes[(turn_place() + i) * kTurnPitch + turn_line()];
    turned.word[i / 4] |= code << (8 * (i % 4));
  }
  return turned;
}

// How many of the sixteen places from `at` on are below `end`.
__device__ __forceinline__ int32_t count_below(int64_t at, int64_t end) {
  const int64_t left = end - at;
  return left <= 0 ? 0 : static_cast<int32_t>(left < kStrip ? left : kStrip);
}

}  // namespace lpt
