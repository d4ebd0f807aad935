// EXACT on one warp: the algorithm of ref_flow.cpp. Each lane holds the nodes of one row and one column.
#pragma once

#include "kernels/transposable_mask/cuda_tile.hpp"

namespace lpt {

constexpr int64_t kFarWarp = int64_t{1} << 60;  // infinite distance; all lanes add potentials to it, and the sum must
                                                // not overflow

struct WarpNode {
  int64_t distance, potential;
  int from;
  bool is_done;
};
struct FlowLane {
  WarpNode row, column;
};

// Keeps the largest integer weights of the row of the lane.
__device__ __forceinline__ void keep_largest_warp(WarpTile &tile, FlowLane &flow) {
  const int row = lane_of_warp();
  uint32_t bits = 0;
  int64_t least = INT64_MAX;
  for (int j = 0; row < tile.size && j < tile.size; ++j) {
    const int64_t worth = tile.worth(row, j);
    int before = 0;
    for (int k = 0; k < tile.size; ++k) {
      before += tile.worth(row, k) > worth || (tile.worth(row, k) == worth && k < j);
    }
    if (before >= tile.kept) continue;
    bits |= 1u << j;
    least = worth < least ? worth : least;
  }
  tile.rows[row] = bits;
  flow.row.potential = row < tile.size ? least : 0;
  flow.column.potential = 0;
  __syncwarp();
  count_columns(tile);
}

// Returns the nearest node that is not done, the last of equal ones. Distances are below 2^51.
__device__ __forceinline__ int nearest_warp(const WarpTile &tile, const FlowLane &flow) {
  const auto key = [](const WarpNode &node, int number) {
    const bool is_open = !node.is_done && node.distance != kFarWarp;
    return is_open ? ~(static_cast<uint64_t>(node.distance) << 6 | static_cast<uint64_t>(63 - number)) : 0;
  };
  const int lane = lane_of_warp();
  const uint64_t row = lane < tile.size ? key(flow.row, lane) : 0;
  const uint64_t column = lane < tile.size ? key(flow.column, tile.size + lane) : 0;
  return 63 - static_cast<int>(~largest_of_warp(row > column ? row : column) & 63);
}

__device__ __forceinline__ void reach_warp(WarpNode &next, int64_t distance, int from) {
  if (distance >= next.distance) return;
  next.distance = distance;
  next.from = from;
}

// Relaxes the edges from a row to the columns that it does not keep, one column per lane.
__device__ __forceinline__ void relax_from_row(const WarpTile &tile, FlowLane &flow, int row) {
  const int lane = lane_of_warp();
  const int64_t reached = __shfl_sync(kAllLanes, flow.row.distance + flow.row.potential, static_cast<uint32_t>(row));
  if (lane < tile.size && !tile.stays(row, lane)) {
    reach_warp(flow.column, reached - tile.worth(row, lane) - flow.column.potential, row);
  }
  if (lane == row) flow.row.is_done = true;
}

// Relaxes the edges from a column to the rows that keep it, one row per lane.
__device__ __forceinline__ void relax_from_column(const WarpTile &tile, FlowLane &flow, int column) {
  const int lane = lane_of_warp();
  const int64_t reached =
      __shfl_sync(kAllLanes, flow.column.distance + flow.column.potential, static_cast<uint32_t>(column));
  if (lane < tile.size && tile.stays(lane, column)) {
    reach_warp(flow.row, reached + tile.worth(lane, column) - flow.row.potential, tile.size + column);
  }
  if (lane == column) flow.column.is_done = true;
}

// Returns the nearest column that keeps fewer than N elements.
__device__ __forceinline__ int find_target_warp(const WarpTile &tile, FlowLane &flow, int source) {
  flow.row.distance = kFarWarp;
  flow.column.distance = lane_of_warp() == source ? 0 : kFarWarp;
  flow.row.is_done = flow.column.is_done = false;
  for (;;) {
    const int node = nearest_warp(tile, flow), column = node - tile.size;
    if (column < 0) {
      relax_from_row(tile, flow, node);
      continue;
    }
    if (__shfl_sync(kAllLanes, tile.in_column, static_cast<uint32_t>(column)) < tile.kept) return column;
    relax_from_column(tile, flow, column);
  }
}

__device__ __forceinline__ void send_from_warp(WarpTile &tile, FlowLane &flow, int source) {
  const int target = find_target_warp(tile, flow, source);
  const int64_t reached = __shfl_sync(kAllLanes, flow.column.distance, static_cast<uint32_t>(target));
  flow.row.potential += flow.row.distance < reached ? flow.row.distance : reached;
  flow.column.potential += flow.column.distance < reached ? flow.column.distance : reached;
  for (int node = tile.size + target; node != tile.size + source;) {
    const bool is_row = node < tile.size;
    const auto lane = static_cast<uint32_t>(is_row ? node : node - tile.size);
    const int before = __shfl_sync(kAllLanes, is_row ? flow.row.from : flow.column.from, lane);
    flip_bits(tile, is_row ? node : before, 1u << ((is_row ? before : node) - tile.size));
    node = before;
  }
  tile.in_column += (lane_of_warp() == target) - (lane_of_warp() == source);
}

__device__ __forceinline__ void solve_flow_warp(WarpTile &tile) {
  find_integer_weights_warp(tile);
  FlowLane flow = {};
  keep_largest_warp(tile, flow);
  for (int column = 0; column < tile.size; ++column) {
    while (__shfl_sync(kAllLanes, tile.in_column, static_cast<uint32_t>(column)) > tile.kept) {
      send_from_warp(tile, flow, column);
    }
  }
}

}  // namespace lpt
