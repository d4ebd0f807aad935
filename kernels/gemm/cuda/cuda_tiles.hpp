// How the kernel for many rows of a by weights of four bits shares out its work: tiles, the parts of k, and where a stage's numbers
// lie in shared memory. All of it is a function of extents, which tests walk without a device.
//
// A block makes 128 columns of c (rows of b) for 32, 64 or 128 rows of a. It goes along k by stages of 128, which are copied to
// shared memory while the one before is multiplied. A warp takes 32 rows of b, the left operand, and up to 64 rows of a. What a
// lane has of a stage is first_k_of_word()'s of few rows; in a word of eight adjacent codes, MMA operation p has codes 4p to
// 4p + 3 at the lane's four places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

constexpr int32_t kTileRows = 128;  // of b
constexpr int32_t kTileStep = 128;  // of k
constexpr int32_t kChunkBytes = 16;
constexpr int32_t kAChunks = 16;  // of a row of a in a stage: 128 numbers of 16 bits; of bytes half as many
constexpr int32_t kBChunks = 4;   // of a row of b: 128 codes

// Where a row's chunk is in its row of shared memory, so that the lanes of a quarter of a warp read from all banks.
LPT_HOST_DEVICE constexpr int32_t place_of_a_chunk(int32_t row, int32_t chunk) {
  return chunk ^ (chunk >> 3) ^ (row & 1) * 6;
}
LPT_HOST_DEVICE constexpr int32_t place_of_byte_chunk(int32_t row, int32_t chunk) { return chunk ^ (row & 3) << 1; }
LPT_HOST_DEVICE constexpr int32_t place_of_b_chunk(int32_t row, int32_t chunk) { return chunk ^ (row >> 1 & 3); }

// The fewest stages that keep a block's copies ahead, of what all devices from 8.0 on have: 99 KiB.
template <int32_t kTokens>
constexpr int32_t kStages = kTokens == 128 ? 2 : 3;
template <int32_t kTokens, int32_t kABytes>
constexpr int32_t kAStageBytes = kTokens *kTileStep *kABytes;
template <int32_t kTokens, int32_t kABytes>
constexpr int32_t kStageBytes = kAStageBytes<kTokens, kABytes> + kTileRows *kBChunks *kChunkBytes;

// Sums on their way to c lie where the stages were; a column more, so that lanes write to all banks.
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
  int32_t tokens;  // of a, of a block
  int64_t token_tiles, row_tiles;
  int64_t parts, steps_of_part;  // of k; the last part may have fewer
};

// Two blocks for each of the 132 multiprocessors of an H100 or H200. A part has four stages at least, and there are eight at most:
// each is written and read once more.
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

// Sums of parts, in f32, one part after the other, each as c without gaps.
constexpr size_t tile_scratch_bytes(const TileGrid &grid, int64_t m, int64_t n) {
  return grid.parts == 1 ? 0 : static_cast<size_t>(grid.parts * m * n) * sizeof(float);
}

}  // namespace lpt
