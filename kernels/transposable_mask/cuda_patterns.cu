// 2:4 by patterns.hpp: one thread per tile, entirely in registers. Tiles without a finite sum are solved by the flow: the warp
// processes those of its lanes one at a time.
#include "kernels/transposable_mask/cuda_flow.hpp"
#include "kernels/transposable_mask/cuda_kernels.hpp"
#include "kernels/transposable_mask/patterns.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 128;
constexpr int64_t kMostRowsOfTiles = 4096;

// Bits of a half tile: half 0 is rows 0 and 1, half 1 is rows 2 and 3.
template <int kHalf, int kUpper, int kLower>
constexpr uint32_t kHalfBits = half_bits(kUpper, kLower) << 8 * kHalf;

struct WarpCandidate {
  float sum;
  uint32_t bits;

  __device__ __forceinline__ void consider(float next_sum, uint32_t next_bits) {
    bits = next_sum > sum ? next_bits : bits;
    sum = next_sum > sum ? next_sum : sum;
  }
};

struct WarpPairSums {
  float of[4][6];

  template <int kHalf, int kUpper, int kLower>
  __device__ __forceinline__ float half() const {
    return of[2 * kHalf][kUpper] + of[2 * kHalf + 1][kLower];
  }
};

template <int kPair>
__device__ __forceinline__ void add_pairs(const float (&weights)[4][4], WarpPairSums &sums) {
  constexpr ColumnPair kColumns = kPairs[kPair];
#pragma unroll
  for (int row = 0; row < 4; ++row) sums.of[row][kPair] = weights[row][kColumns.low] + weights[row][kColumns.high];
  if constexpr (kPair < 5) add_pairs<kPair + 1>(weights, sums);
}

template <int kPair>
__device__ __forceinline__ void consider_equal_pairs(const WarpPairSums &sums, WarpCandidate &best) {
  constexpr uint32_t kBits = kHalfBits<0, kPair, kPair> | kHalfBits<1, 5 - kPair, 5 - kPair>;
  best.consider(sums.half<0, kPair, kPair>() + sums.half<1, 5 - kPair, 5 - kPair>(), kBits);
  if constexpr (kPair < 5) consider_equal_pairs<kPair + 1>(sums, best);
}

template <int kHalf, int kPair>
__device__ __forceinline__ void consider_complements(const WarpPairSums &sums, WarpCandidate &best) {
  best.consider(sums.half<kHalf, kPair, 5 - kPair>(), kHalfBits<kHalf, kPair, 5 - kPair>);
  if constexpr (kPair < 5) consider_complements<kHalf, kPair + 1>(sums, best);
}

// Returns the better order of two pairs of a half tile.
template <int kHalf, int kA, int kB>
__device__ __forceinline__ WarpCandidate either_order(const WarpPairSums &sums) {
  WarpCandidate best = {sums.half<kHalf, kA, kB>(), kHalfBits<kHalf, kA, kB>};
  best.consider(sums.half<kHalf, kB, kA>(), kHalfBits<kHalf, kB, kA>);
  return best;
}

template <int kIndex>
__device__ __forceinline__ void consider_shared_columns(const WarpPairSums &sums, WarpCandidate &best) {
  constexpr SharedColumn kShared = kSharedColumns[kIndex];
  const WarpCandidate upper = either_order<0, kShared.upper, kShared.upper_other>(sums);
  const WarpCandidate lower = either_order<1, kShared.lower, kShared.lower_other>(sums);
  best.consider(upper.sum + lower.sum, upper.bits | lower.bits);
  if constexpr (kIndex < 11) consider_shared_columns<kIndex + 1>(sums, best);
}

// Returns sixteen bits, four per row.
__device__ __forceinline__ uint32_t best_pattern(const float (&weights)[4][4]) {
  WarpPairSums sums;
  add_pairs<0>(weights, sums);
  WarpCandidate best = {sums.half<0, 0, 0>() + sums.half<1, 5, 5>(), kHalfBits<0, 0, 0> | kHalfBits<1, 5, 5>};
  consider_equal_pairs<1>(sums, best);
  WarpCandidate upper = {sums.half<0, 0, 5>(), kHalfBits<0, 0, 5>};
  WarpCandidate lower = {sums.half<1, 0, 5>(), kHalfBits<1, 0, 5>};
  consider_complements<0, 1>(sums, upper);
  consider_complements<1, 1>(sums, lower);
  best.consider(upper.sum + lower.sum, upper.bits | lower.bits);
  consider_shared_columns<0>(sums, best);
  return best.bits;
}

__device__ __forceinline__ bool is_finite_sum(const float (&weights)[4][4]) {
  float rows[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) rows[i] = (weights[i][0] + weights[i][1]) + (weights[i][2] + weights[i][3]);
  return (rows[0] + rows[1]) + (rows[2] + rows[3]) < bits_float(0x7F800000u);
}

struct PatternJob {
  TileJob tiles;
  bool loads_whole, stores_whole;  // four elements of a row per access
};

// Loads four adjacent codes.
template <Dtype kSource>
__device__ __forceinline__ void load_four_weights(const PatternJob &job, int64_t row, int64_t column,
                                                  float (&weights)[4]) {
  const auto *const bytes = static_cast<const unsigned char *>(job.tiles.source) +
                            (row * job.tiles.source_stride + column) * kDtypeBytes<kSource>;
  uint32_t codes[4];
  if constexpr (kSource == Dtype::kF32) {
    const uint4 four = __ldcs(reinterpret_cast<const uint4 *>(bytes));
    codes[0] = four.x, codes[1] = four.y, codes[2] = four.z, codes[3] = four.w;
  } else {
    const uint2 two = __ldcs(reinterpret_cast<const uint2 *>(bytes));
    codes[0] = two.x & 0xFFFFu, codes[1] = two.x >> 16, codes[2] = two.y & 0xFFFFu, codes[3] = two.y >> 16;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float magnitude = bits_float(float_bits(plain_number<kSource>(codes[j])) & 0x7FFFFFFFu);
    weights[j] = job.tiles.importance == nullptr ? magnitude : magnitude * job.tiles.importance[column + j];
  }
}

template <Dtype kSource>
__device__ __forceinline__ void load_weights(const PatternJob &job, int64_t row, int64_t column,
                                             float (&weights)[4][4]) {
  const bool is_whole = job.loads_whole && column + 4 <= job.tiles.columns;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (is_whole && row + i < job.tiles.rows) {
      load_four_weights<kSource>(job, row + i, column, weights[i]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) weights[i][j] = weight_warp(job.tiles, row + i, column + j);
    }
  }
}

__device__ __forceinline__ void store_pattern(const PatternJob &job, int64_t row, int64_t column, uint32_t bits) {
  const bool is_whole = job.stores_whole && column + 4 <= job.tiles.columns;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (row + i >= job.tiles.rows) return;
    const uint32_t line = bits >> 4 * i;
    uint8_t *const to = job.tiles.mask + (row + i) * job.tiles.mask_stride + column;
    if (is_whole) {
      *reinterpret_cast<uint32_t *>(to) = (line & 1) | (line & 2) << 7 | (line & 4) << 14 | (line & 8) << 21;
      continue;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (column + j < job.tiles.columns) to[j] = static_cast<uint8_t>(line >> j & 1);
    }
  }
}

// Shared memory of a warp for the flow of one tile.
struct FlowSpace {
  int64_t integer_weights[4 * pitch_of(4)];
  float weights[4 * pitch_of(4)];
  uint32_t rows[kWarp];
};

__device__ __forceinline__ void solve_nonfinite(const TileJob &job, int64_t row, int64_t column, uint32_t lanes,
                                                FlowSpace &space) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int64_t first = __shfl_sync(kAllLanes, column, static_cast<uint32_t>(lowest_bit(lanes)));
    WarpTile tile = {4, 2, pitch_of(4), space.rows, space.integer_weights, space.weights, 0};
    load_tile(job, row, first, tile);
    solve_flow_warp(tile);
    store_tile(job, row, first, tile);
  }
}

template <Dtype kSource>
__global__ void __launch_bounds__(kThreads) solve_patterns_of(PatternJob job) {
  __shared__ FlowSpace spaces[kThreads / kWarp];
  const int64_t column = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * 4;
  const bool is_inside = column < job.tiles.columns;
  for (int64_t row = int64_t{blockIdx.y} * 4; row < job.tiles.rows; row += int64_t{gridDim.y} * 4) {
    bool is_endless = false;
    if (is_inside) {
      float weights[4][4];
      load_weights<kSource>(job, row, column, weights);
      is_endless = !is_finite_sum(weights);
      if (!is_endless) store_pattern(job, row, column, best_pattern(weights));
    }
    const uint32_t endless = __ballot_sync(kAllLanes, is_endless);
    if (endless != 0) solve_nonfinite(job.tiles, row, column, endless, spaces[threadIdx.x / kWarp]);
  }
}

bool is_on_boundaries(const MatrixView &view, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(4 * bytes) == 0 && view.row_stride % 4 == 0;
}

template <Dtype kSource>
void launch(const TransposableMaskRequest &request, void *stream) {
  const PatternJob job = {tile_job(request), is_on_boundaries(request.source, kDtypeBytes<kSource>),
                          is_on_boundaries(request.mask, 1)};
  if (job.tiles.rows == 0 || job.tiles.columns == 0) return;
  const int64_t across = (job.tiles.columns + 4 * kThreads - 1) / (4 * kThreads), down = (job.tiles.rows + 3) / 4;
  const dim3 blocks(static_cast<uint32_t>(across),
                    static_cast<uint32_t>(down < kMostRowsOfTiles ? down : kMostRowsOfTiles));
  LPT_LAUNCH(solve_patterns_of<kSource>, blocks, dim3(kThreads), 0, stream, job);
}

}  // namespace

void transposable_mask_2_4_exact_cuda(const TransposableMaskRequest &request, void *stream) {
  for_float_dtype(request.source.format.element,
                  [&]<Dtype kSource>(DtypeTag<kSource>) { launch<kSource>(request, stream); });
}

}  // namespace lpt
