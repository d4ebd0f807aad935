// Work distribution of the kernel for many rows of a of e4m3fn by int4. It is that of cuda_tiles.hpp, with tiles of 64 or 128
// rows of a. A group of four warps processes 64 rows of b, the left operand, and all rows of a of the tile.
#pragma once

#include "kernels/gemm/cuda/cuda_tiles.hpp"

namespace lpt {

constexpr int32_t kGroupTokens = 64;  // rows of a per MMA instruction
constexpr int32_t kWideChunks = 8;    // of a row of a in a stage: 128 bytes
constexpr int32_t kWideStages = 4;

LPT_HOST_DEVICE constexpr int32_t wide_a_bytes(int32_t tokens) { return tokens * kWideChunks * kChunkBytes; }
LPT_HOST_DEVICE constexpr int32_t wide_stage_bytes(int32_t tokens) {
  return wide_a_bytes(tokens) + kTileRows * kBChunks * kChunkBytes;
}

// Stages are aligned to 1024 bytes. The additional 1024 bytes are for the alignment of the first stage.
LPT_HOST_DEVICE constexpr int32_t wide_shared_bytes(int32_t tokens) {
  return kWideStages * wide_stage_bytes(tokens) + 1024;
}
static_assert(wide_stage_bytes(64) % 1024 == 0 && wide_stage_bytes(128) % 1024 == 0);
static_assert(64 * kSumStride * 4 <= kWideStages * wide_stage_bytes(64));
static_assert(128 * kSumStride * 4 <= kWideStages * wide_stage_bytes(128));

// Returns the byte offset in the stage's rows of b of four codes of a lane: slice `slice` of 32 elements of k, from column 16 ·
// half + 4 · place on.
LPT_HOST_DEVICE constexpr int32_t place_of_four_codes(int32_t row, int32_t slice, int32_t half, int32_t place) {
  return place_of_b_chunk(row, slice) * kChunkBytes + 8 * half + 2 * place;
}

constexpr TileGrid warpgroup_grid(int64_t m, int64_t n, int64_t k) {
  TileGrid grid = tile_grid(m, n, k);
  if (grid.tokens < kGroupTokens) grid.tokens = kGroupTokens;  // m is at most 32: one tile in both cases
  return grid;
}

}  // namespace lpt
