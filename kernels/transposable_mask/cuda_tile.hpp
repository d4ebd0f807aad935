// One tile that a warp processes: its weights and mask are in shared memory, and lane i holds state of row i and column i. All
// lanes hold the results of warp-wide decisions. tile.hpp defines the solvers.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt {

constexpr int kWarp = 32;  // lanes; also the largest tile size

struct TileJob {
  const void *source;
  uint8_t *mask;
  const float *importance;                            // NULL, or one value per column
  int64_t rows, columns, source_stride, mask_stride;  // in elements
  lpt_format format;                                  // of the source
  int32_t kept, of;
  int32_t iterations;  // iterations and sharpness: ENTROPY only
  float sharpness;
};

inline TileJob tile_job(const TransposableMaskRequest &request) {
  return {request.source.data,
          static_cast<uint8_t *>(request.mask.data),
          request.importance,
          request.source.rows,
          request.source.columns,
          request.source.row_stride,
          request.mask.row_stride,
          request.source.format.element,
          request.kept,
          request.of,
          request.iterations,
          request.sharpness};
}

// Rows in shared memory are `pitch` elements apart. An odd pitch avoids bank conflicts by row and by column.
struct WarpTile {
  int size, kept, pitch;
  uint32_t *rows;  // bit j of rows[i]: element (i, j) is kept
  int64_t *integer_weights;
  float *weights;
  int in_column;  // kept elements in the column of the lane

  __device__ __forceinline__ int at(int row, int column) const { return row * pitch + column; }
  __device__ __forceinline__ int64_t worth(int row, int column) const { return integer_weights[at(row, column)]; }
  __device__ __forceinline__ bool stays(int row, int column) const { return (rows[row] >> column & 1) != 0; }
};

LPT_HOST_DEVICE constexpr int pitch_of(int size) { return size | 1; }

__device__ __forceinline__ int lane_of_warp() { return static_cast<int>(threadIdx.x % kWarp); }

__device__ __forceinline__ uint64_t largest_of_warp(uint64_t key) {
#pragma unroll
  for (uint32_t distance = kWarp / 2; distance > 0; distance /= 2) {
    const uint64_t other = __shfl_xor_sync(kAllLanes, key, distance);
    key = other > key ? other : key;
  }
  return key;
}

// Returns the index of the lowest set bit of a nonzero value.
__device__ __forceinline__ int lowest_bit(uint32_t bits) { return __popc((bits & (0u - bits)) - 1); }

// Flips bits of a row by one lane, then synchronizes the warp.
__device__ __forceinline__ void flip_bits(WarpTile &tile, int row, uint32_t bits) {
  if (lane_of_warp() == 0) tile.rows[row] ^= bits;
  __syncwarp();
}

__device__ __forceinline__ void count_columns(WarpTile &tile) {
  tile.in_column = 0;
  for (int row = 0; row < tile.size; ++row) tile.in_column += tile.stays(row, lane_of_warp());
}

__device__ __forceinline__ float weight_warp(const TileJob &job, int64_t row, int64_t column) {
  if (row >= job.rows || column >= job.columns) return 0.0f;
  const int64_t index = row * job.source_stride + column;
  float number;
  if (job.format == LPT_FORMAT_F32) {
    number = static_cast<const float *>(job.source)[index];
  } else {
    const uint32_t code = static_cast<const uint16_t *>(job.source)[index];
    number = job.format == LPT_FORMAT_BF16 ? plain_number<Dtype::kBf16>(code) : plain_number<Dtype::kF16>(code);
  }
  const float magnitude = bits_float(float_bits(number) & 0x7FFFFFFFu);
  return job.importance == nullptr ? magnitude : magnitude * job.importance[column];
}

// Loads the tile that begins at (row, column), with an empty mask.
__device__ __forceinline__ void load_tile(const TileJob &job, int64_t row, int64_t column, WarpTile &tile) {
  for (int place = lane_of_warp(); place < tile.size * tile.size; place += kWarp) {
    const int i = place / tile.size, j = place % tile.size;
    tile.weights[tile.at(i, j)] = weight_warp(job, row + i, column + j);
  }
  tile.rows[lane_of_warp()] = 0;
  tile.in_column = 0;
  __syncwarp();
}

__device__ __forceinline__ void store_tile(const TileJob &job, int64_t row, int64_t column, const WarpTile &tile) {
  for (int place = lane_of_warp(); place < tile.size * tile.size; place += kWarp) {
    const int i = place / tile.size, j = place % tile.size;
    if (row + i >= job.rows || column + j >= job.columns) continue;
    job.mask[(row + i) * job.mask_stride + column + j] = static_cast<uint8_t>(tile.stays(i, j));
  }
  __syncwarp();  // the next tile reuses the memory
}

// Functions of the order of weights.

__device__ __forceinline__ uint32_t rank_warp(float weight) {
  const uint32_t bits = float_bits(weight) & 0x7FFFFFFFu;
  return bits > 0x7F800000u ? 0x7F800001u : bits;
}

// 2^power for exponents of normal numbers, and e of a number in [2^e, 2^(e+1)).
__device__ __forceinline__ double power_of_two_warp(int power) {
  const uint64_t bits = static_cast<uint64_t>(1023 + power) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
__device__ __forceinline__ int exponent_warp(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return static_cast<int>(bits >> 52) - 1023;
}

// Computes find_integer_weights().
__device__ __forceinline__ void find_integer_weights_warp(WarpTile &tile) {
  constexpr uint32_t kInfinity = 0x7F800000u;
  uint32_t largest = 0;
  bool is_special = false;
  const int count = tile.size * tile.pitch;
  for (int i = lane_of_warp(); i < count; i += kWarp) {
    if (i % tile.pitch >= tile.size) continue;
    const uint32_t rank = rank_warp(tile.weights[i]);
    is_special = is_special || rank >= kInfinity;
    if (rank < kInfinity && rank > largest) largest = rank;
  }
  largest = static_cast<uint32_t>(largest_of_warp(largest));
  is_special = __ballot_sync(kAllLanes, is_special) != 0;
  const int top = is_special ? 23 : 43;
  const double scale =
      largest == 0 ? 0.0 : power_of_two_warp(top - exponent_warp(static_cast<double>(bits_float(largest))));
  for (int i = lane_of_warp(); i < count; i += kWarp) {
    if (i % tile.pitch >= tile.size) continue;
    const uint32_t rank = rank_warp(tile.weights[i]);
    const double number = static_cast<double>(bits_float(rank));
    tile.integer_weights[i] = rank < kInfinity    ? static_cast<int64_t>(number * scale)
                              : rank == kInfinity ? int64_t{1} << 34
                                                  : int64_t{1} << 44;
  }
  __syncwarp();
}

// Keys of the order of GREEDY: the largest weight first, then the lower row, then the lower column; PRUNE has the reverse
// order. Keys have 42 bits, plus kHasPlace for a valid element. 32 · row + column has the order of the element index in the
// tile.
constexpr uint64_t kHasPlace = uint64_t{1} << 42;

template <bool kPrunes>
__device__ __forceinline__ uint64_t key_of_place(float weight, int row, int column) {
  const uint64_t key = uint64_t{rank_warp(weight)} << 10 | static_cast<uint64_t>(1023 - (row * kWarp + column));
  return kHasPlace | (kPrunes ? kHasPlace - 1 - key : key);
}

template <bool kPrunes>
__device__ __forceinline__ int place_of_key(uint64_t key) {
  const int low = static_cast<int>(key & 1023);
  return kPrunes ? low : 1023 - low;
}

// Returns the first open element of the lane. Lanes divide the rows; each lane evaluates one column.
template <bool kPrunes>
__device__ __forceinline__ uint64_t first_open(const WarpTile &tile, uint32_t full_rows, uint32_t full_columns) {
  const int column = lane_of_warp() % tile.size, step = kWarp / tile.size;
  const bool is_column_full = (full_columns >> column & 1) != 0;
  uint64_t best = 0;
  if (lane_of_warp() >= step * tile.size) return best;
  for (int row = lane_of_warp() / tile.size; row < tile.size; row += step) {
    const bool is_row_full = (full_rows >> row & 1) != 0;
    const bool is_closed = kPrunes ? is_row_full && is_column_full : is_row_full || is_column_full;
    if (is_closed || tile.stays(row, column)) continue;
    const uint64_t key = key_of_place<kPrunes>(tile.weights[tile.at(row, column)], row, column);
    best = key > best ? key : best;
  }
  return best;
}

// Keeps elements in order without sorting: a full row or column remains full, so that the first open element is always the
// next.
template <bool kPrunes>
__device__ __forceinline__ void take_in_order(WarpTile &tile, int most) {
  uint32_t full_rows = 0, full_columns = 0;
  for (;;) {
    const uint64_t key = largest_of_warp(first_open<kPrunes>(tile, full_rows, full_columns));
    if (key == 0) return;
    const int place = place_of_key<kPrunes>(key);
    const int row = place / kWarp, column = place % kWarp;
    flip_bits(tile, row, 1u << column);
    tile.in_column += lane_of_warp() == column;
    if (__popc(tile.rows[row]) >= most) full_rows |= 1u << row;
    full_columns = __ballot_sync(kAllLanes, tile.in_column >= most);
  }
}

__device__ __forceinline__ void solve_greedy_warp(WarpTile &tile) { take_in_order<false>(tile, tile.kept); }

__device__ __forceinline__ void solve_prune_warp(WarpTile &tile) {
  take_in_order<true>(tile, tile.size - tile.kept);
  const uint32_t all = tile.size == kWarp ? kAllLanes : (1u << tile.size) - 1;
  tile.rows[lane_of_warp()] = all & ~tile.rows[lane_of_warp()];
  __syncwarp();
}

}  // namespace lpt
