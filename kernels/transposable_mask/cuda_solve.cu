// Tiles of any size by any solver: each warp solves tiles in a loop. All lanes of a warp cooperate in each sequential decision.
#include "kernels/transposable_mask/cuda_flow.hpp"
#include "kernels/transposable_mask/cuda_kernels.hpp"
#include "kernels/transposable_mask/cuda_search.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostWarps = 32 * 132;  // the resident blocks of an H100

// Shared memory of a tile: integer weights, weights, factors of ENTROPY, rows.
constexpr int64_t shared_bytes(int size) { return int64_t{size} * pitch_of(size) * 16 + kWarp * 4; }

// ENTROPY: the algorithm of ref_entropy.cpp; the memory of the weights holds s.

__device__ __forceinline__ void begin_transport(const WarpTile &tile, float *factors, float sharpness) {
  constexpr float kLowest = -69.0f;
  uint64_t largest = 1;
  for (int row = 0; row < tile.size; ++row) {
    const int64_t worth = lane_of_warp() < tile.size ? tile.worth(row, lane_of_warp()) : 0;
    if (static_cast<uint64_t>(worth) > largest) largest = static_cast<uint64_t>(worth);
  }
  largest = largest_of_warp(largest);
  for (int row = 0; row < tile.size && lane_of_warp() < tile.size; ++row) {
    const int i = tile.at(row, lane_of_warp());
    const float share = static_cast<float>(tile.integer_weights[i]) / static_cast<float>(static_cast<int64_t>(largest));
    const float power = sharpness * (share - 1.0f);
    tile.weights[i] = exp_f32(power > kLowest ? power : kLowest);
    factors[i] = 1.0f;
  }
  __syncwarp();
}

// Scales the row or column of the lane, whose elements are `step` apart.
__device__ __forceinline__ void scale_line_warp(const WarpTile &tile, int first, int step) {
  if (lane_of_warp() < tile.size) {
    float sum = 0.0f;
    for (int i = 0; i < tile.size; ++i) sum += tile.weights[first + i * step];
    const float factor = static_cast<float>(tile.kept) / sum;
    for (int i = 0; i < tile.size; ++i) tile.weights[first + i * step] *= factor;
  }
  __syncwarp();
}

__device__ __forceinline__ void iterate_warp(const WarpTile &tile, float *factors) {
  scale_line_warp(tile, tile.at(lane_of_warp(), 0), 1);
  scale_line_warp(tile, lane_of_warp(), tile.pitch);
  for (int row = 0; row < tile.size && lane_of_warp() < tile.size; ++row) {
    const int i = tile.at(row, lane_of_warp());
    const float t = tile.weights[i] * factors[i];
    tile.weights[i] = t < 1.0f ? t : 1.0f;
    factors[i] = t < 1.0f ? 1.0f : t;
  }
  __syncwarp();
}

// One tile.

template <lpt_sparse_solver kSolver>
__device__ __forceinline__ void solve_warp(const TileJob &job, WarpTile &tile, float *factors) {
  if constexpr (kSolver == LPT_SPARSE_SOLVER_EXACT) return solve_flow_warp(tile);
  if constexpr (kSolver == LPT_SPARSE_SOLVER_PRUNE) return solve_prune_warp(tile);
  if constexpr (kSolver == LPT_SPARSE_SOLVER_GREEDY) return solve_greedy_warp(tile);
  find_integer_weights_warp(tile);
  if constexpr (kSolver == LPT_SPARSE_SOLVER_ENTROPY) {
    begin_transport(tile, factors, job.sharpness);
    for (int i = 0; i < job.iterations; ++i) iterate_warp(tile, factors);
  }
  solve_greedy_warp(tile);
  improve_warp(tile);
}

template <lpt_sparse_solver kSolver>
__global__ void __launch_bounds__(kWarp) solve_tiles(TileJob job) {
  LPT_DYNAMIC_SHARED(int64_t, integer_weights);
  const int pitch = pitch_of(job.of), places = job.of * pitch;
  auto *const weights = reinterpret_cast<float *>(integer_weights + places);
  float *const factors = weights + places;
  auto *const rows = reinterpret_cast<uint32_t *>(factors + places);
  WarpTile tile = {job.of, job.kept, pitch, rows, integer_weights, weights, 0};
  const int64_t across = (job.columns + job.of - 1) / job.of;
  const int64_t count = across * ((job.rows + job.of - 1) / job.of);
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const int64_t row = i / across * job.of, column = i % across * job.of;
    load_tile(job, row, column, tile);
    solve_warp<kSolver>(job, tile, factors);
    store_tile(job, row, column, tile);
  }
}

template <lpt_sparse_solver kSolver>
void launch(const TransposableMaskRequest &request, void *stream) {
  const TileJob job = tile_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const int64_t count = ((job.rows + job.of - 1) / job.of) * ((job.columns + job.of - 1) / job.of);
  const auto blocks = static_cast<uint32_t>(count < kMostWarps ? count : kMostWarps);
  LPT_LAUNCH(solve_tiles<kSolver>, dim3(blocks), dim3(kWarp), static_cast<size_t>(shared_bytes(job.of)), stream, job);
}

}  // namespace

void transposable_mask_any_cuda(const TransposableMaskRequest &request, void *stream) {
  switch (request.solver) {
    case LPT_SPARSE_SOLVER_GREEDY:
      return launch<LPT_SPARSE_SOLVER_GREEDY>(request, stream);
    case LPT_SPARSE_SOLVER_SEARCH:
      return launch<LPT_SPARSE_SOLVER_SEARCH>(request, stream);
    case LPT_SPARSE_SOLVER_PRUNE:
      return launch<LPT_SPARSE_SOLVER_PRUNE>(request, stream);
    case LPT_SPARSE_SOLVER_ENTROPY:
      return launch<LPT_SPARSE_SOLVER_ENTROPY>(request, stream);
    default:
      return launch<LPT_SPARSE_SOLVER_EXACT>(request, stream);
  }
}

}  // namespace lpt
