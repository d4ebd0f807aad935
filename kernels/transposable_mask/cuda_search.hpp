// SEARCH on one warp: the algorithm of ref_search.cpp. Lanes evaluate the rows or columns of one step. Of equal gains the lower
// row or column wins, which the reference kernel evaluates first.
#pragma once

#include "kernels/transposable_mask/cuda_tile.hpp"

namespace lpt {

// Gains are below 2^46.
constexpr int64_t kGainBias = int64_t{1} << 50;

__device__ __forceinline__ uint64_t gain_key(int64_t gain, int line) {
  return static_cast<uint64_t>(gain + kGainBias) << 5 | static_cast<uint64_t>(kWarp - 1 - line);
}
__device__ __forceinline__ int64_t gain_of_key(uint64_t key) { return static_cast<int64_t>(key >> 5) - kGainBias; }
__device__ __forceinline__ int line_of_key(uint64_t key) { return kWarp - 1 - static_cast<int>(key & (kWarp - 1)); }

// Returns the columns that keep fewer than N elements.
__device__ __forceinline__ uint32_t short_columns(const WarpTile &tile) {
  return __ballot_sync(kAllLanes, lane_of_warp() < tile.size && tile.in_column < tile.kept);
}

__device__ __forceinline__ void keep_place(WarpTile &tile, int row, int column) {
  flip_bits(tile, row, 1u << column);
  tile.in_column += lane_of_warp() == column;
}

__device__ __forceinline__ void keep_any_free(WarpTile &tile) {
  const uint32_t columns = short_columns(tile);
  const int lane = lane_of_warp();
  const bool is_short = lane < tile.size && __popc(tile.rows[lane]) < tile.kept;
  const uint32_t free = is_short ? columns & ~tile.rows[lane] : 0;
  const int row = lowest_bit(__ballot_sync(kAllLanes, free != 0));
  keep_place(tile, row, lowest_bit(__shfl_sync(kAllLanes, free, static_cast<uint32_t>(row))));
}

// Returns the best exchange in which the row of the lane gives one of its columns to `row` and keeps `column` instead.
__device__ __forceinline__ uint64_t detour_of_lane(const WarpTile &tile, int row, int column, int &out_column) {
  const int lane = lane_of_warp();
  uint64_t best = 0;
  if (lane >= tile.size || tile.stays(lane, column)) return best;
  for (uint32_t left = tile.rows[lane] & ~tile.rows[row]; left != 0; left &= left - 1) {
    const int j = lowest_bit(left);
    const int64_t gain = tile.worth(row, j) + tile.worth(lane, column) - tile.worth(lane, j);
    const uint64_t key = gain_key(gain, lane);
    if (key <= best) continue;
    best = key;
    out_column = j;
  }
  return best;
}

__device__ __forceinline__ void fill_place(WarpTile &tile, int row, int column) {
  if (!tile.stays(row, column)) return keep_place(tile, row, column);
  int between = 0;
  const uint64_t key = largest_of_warp(detour_of_lane(tile, row, column, between));
  if (key == 0) return keep_any_free(tile);
  const int other = line_of_key(key);
  const uint32_t bit = 1u << __shfl_sync(kAllLanes, between, static_cast<uint32_t>(other));
  flip_bits(tile, other, bit | 1u << column);
  flip_bits(tile, row, bit);
  tile.in_column += lane_of_warp() == column;
}

__device__ __forceinline__ void fill_lines(WarpTile &tile) {
  for (int row = 0; row < tile.size; ++row) {
    while (__popc(tile.rows[row]) < tile.kept) fill_place(tile, row, lowest_bit(short_columns(tile)));
  }
}

__device__ __forceinline__ uint64_t best_move(const WarpTile &tile, int from, int to) {
  const int lane = lane_of_warp();
  const bool is_free = ((tile.rows[from] & ~tile.rows[to]) >> lane & 1) != 0;
  return largest_of_warp(is_free ? gain_key(tile.worth(to, lane) - tile.worth(from, lane), lane) : 0);
}

__device__ __forceinline__ bool exchange_best(WarpTile &tile, int a, int b) {
  const uint64_t one = best_move(tile, a, b), other = best_move(tile, b, a);
  if (one == 0 || other == 0 || gain_of_key(one) + gain_of_key(other) <= 0) return false;
  const uint32_t columns = 1u << line_of_key(one) | 1u << line_of_key(other);
  flip_bits(tile, a, columns);
  flip_bits(tile, b, columns);
  return true;
}

__device__ __forceinline__ void exchange_lines(WarpTile &tile) {
  uint32_t before = kAllLanes;
  while (before != 0) {
    uint32_t now = 0;
    for (int a = 0; a < tile.size; ++a) {
      for (int b = a + 1; b < tile.size; ++b) {
        const uint32_t pair = 1u << a | 1u << b;
        if (((before | now) & pair) == 0) continue;
        while (exchange_best(tile, a, b)) now |= pair;
      }
    }
    before = now;
  }
}

__device__ __forceinline__ void improve_warp(WarpTile &tile) {
  fill_lines(tile);
  exchange_lines(tile);
}

}  // namespace lpt
