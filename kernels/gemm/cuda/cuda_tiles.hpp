// Work distribution of the kernel for many rows of a by 4-bit weights: the tiles, the parts of k, and the layout of a stage in
// shared memory. All of it is computed from the extents, and tests check it without a device.
//
// A block computes 128 columns of c (rows of b) for 32, 64 or 128 rows of a. It processes k in stages of 128 elements. A stage
// is copied to shared memory while previous stages are multiplied. A warp processes 32 rows of b, the left operand, and up to
// 64 rows of a. first_k_of_word() of cuda_few_rows.hpp defines which codes of a stage a lane has. In a word of eight adjacent
// codes, MMA instruction p has codes 4p to 4p + 3 at the four positions of the lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

constexpr int32_t kTileRows = 128;  // of b
constexpr int32_t kTileStep = 128;  // of k
constexpr int32_t kChunkBytes = 16;
constexpr int32_t kAChunks = 16;  // of a row of a in a stage: 128 elements of 16 bits; 8-bit elements have half as many
constexpr int32_t kBChunks = 4;   // of a row of b: 128 codes

// Return the position of a chunk of a row in its row of shared memory. The lanes of a quarter-warp read from all banks.
LPT_HOST_DEVICE constexpr int32_t place_of_a_chunk(int32_t row, int32_t chunk) {
  return chunk ^ (chunk >> 3) ^ (row & 1) * 6;
}
LPT_HOST_DEVICE constexpr int32_t place_of_byte_chunk(int32_t row, int32_t chunk) { return chunk ^ (row & 3) << 1; }
LPT_HOST_DEVICE constexpr int32_t place_of_b_chunk(int32_t row, int32_t chunk) { return chunk ^ (row >> 1 & 3); }

// The fewest stages with which copies overlap the arithmetic. They fit in 99 KiB, which all devices of compute capability 8.0
// and later have.
template <int32_t kTokens>
constexpr int32_t kStages = kTokens == 128 ? 2 : 3;
template <int32_t kTokens, int32_t kABytes>
constexpr int32_t kAStageBytes = kTokens *kTileStep *kABytes;
template <int32_t kTokens, int32_t kABytes>
constexpr int32_t kStageBytes = kAStageBytes<kTokens, kABytes> + kTileRows *kBChunks *kChunkBytes;

// The sums reuse the shared memory of the stages. A row has one column more, so that the lanes write to all banks.
constexpr int32_t kSumStride = kTileRows + 1;
template <int32_t kTokens>
constexpr int32_t kSumBytes = kTokens *kSumStride * 4;
template <int32_t kTokens, int32_t kABytes>
constexpr int32_t kSharedBytes = kStages<kTokens> *kStageBytes<kTokens, kABytes> > kSumBytes<kTokens>
                                     ? kStages<kTokens> *kStageBytes<kTokens, kABytes>
                                     : kSumBytes<kTokens>;
static_assert(kSharedBytes<128, 2> <= 99 * 1024 && kSharedBytes<64, 2> <= 99 * 1024 &&
              kSharedBytes<32, 2> <= 99 * 1024);

struct TileGrid {
  int32_t tokens;  // rows of a per block
  int64_t token_tiles, row_tiles;
  int64_t parts, steps_of_part;  // of k; the last part may have fewer
};

// Two blocks for each of the 132 multiprocessors of an H100 or H200. A part has at least four stages. There are at most eight
// parts, because the sums of each part are written to memory and read.
constexpr int64_t kRequestedBlocks = 2 * 132;
constexpr int64_t kMostParts = 8;
constexpr int64_t kLeastStepsOfPart = 4;

constexpr int64_t rounded_up(int64_t number, int64_t unit) { return (number + unit - 1) / unit; }

constexpr TileGrid tile_grid(int64_t m, int64_t n, int64_t k) {
  TileGrid grid = {};
  grid.tokens = m <= 32 ? 32 : m <= 64 ? 64 : 128;
  grid.token_tiles = rounded_up(m, grid.tokens);
  grid.row_tiles = rounded_up(n, kTileRows);
  const int64_t steps = k / kTileStep, blocks = grid.token_tiles * grid.row_tiles;
  int64_t parts = kRequestedBlocks / blocks;
  if (parts > steps / kLeastStepsOfPart) parts = steps / kLeastStepsOfPart;
  if (parts > kMostParts) parts = kMostParts;
  if (parts < 1) parts = 1;
  grid.steps_of_part = rounded_up(steps, parts);
  grid.parts = rounded_up(steps, grid.steps_of_part);
  return grid;
}

// Returns the bytes of the f32 sums of all parts. Each part is stored as c without gaps, one after the other.
constexpr size_t tile_scratch_bytes(const TileGrid &grid, int64_t m, int64_t n) {
  return grid.parts == 1 ? 0 : static_cast<size_t>(grid.parts * m * n) * sizeof(float);
}

}  // namespace lpt
