// GEMM of many rows of a of e4m3fn by int4 at the rate of FP8, on Hopper only. The weights are the left operand of wgmma. They
// are converted to e4m3fn in registers, exactly, without a converted copy in memory. The sums of wgmma end after 128 elements
// of k, the length of a group. They are multiplied by the scales of the group and added in f32.
#include <utility>

#include "kernels/common/cuda_async.hpp"
#include "kernels/common/cuda_wgmma.hpp"
#include "kernels/gemm/cuda/cuda_gemm.hpp"
#include "kernels/gemm/cuda/cuda_tile_sums.hpp"
#include "kernels/gemm/cuda/cuda_warpgroups.hpp"

namespace lpt {
namespace {

constexpr int32_t kThreads = 2 * 128;
constexpr int32_t kSlices = kTileStep / 32;

struct WideJob {
  FourBitsJob gemm;
  const float *a_groups;  // scales of 1 × 128 of a; NULL: none
  int64_t steps_of_part;
  float *parts;  // NULL: one part
};

struct WideCoords {
  uint32_t thread;        // within its group of 128
  int32_t place, row[2];  // rows of b in the tile
};

__device__ __forceinline__ WideCoords wide_place() {
  const uint32_t thread = threadIdx.x % 128;
  const int32_t first = static_cast<int32_t>(threadIdx.x / 128) * 64;
  return {
      thread, static_cast<int32_t>(thread % 4), {first + wgmma_sum_row(thread, 0), first + wgmma_sum_row(thread, 2)}};
}

// Copies from global memory to a stage. Rows past the end repeat the last row; their results are not stored.

template <int32_t kTokens>
__device__ __forceinline__ void copy_stage(const FourBitsJob &job, int64_t first_token, int64_t first_row, int64_t step,
                                           uint8_t *stage) {
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const uint8_t *const a = static_cast<const uint8_t *>(job.a) + step * kTileStep;
  const uint8_t *const b = static_cast<const uint8_t *>(job.b) + step * (kTileStep / 2);
#pragma unroll
  for (int32_t i = 0; i < kTokens * kWideChunks / kThreads; ++i) {
    const int32_t row = (thread + i * kThreads) / kWideChunks, chunk = thread % kWideChunks;
    copy_async(stage + (row * kWideChunks + wgmma_chunk_place(row, chunk)) * kChunkBytes,
               a + within(first_token + row, job.m) * job.a_stride + chunk * kChunkBytes);
  }
  stage += wide_a_bytes(kTokens);
#pragma unroll
  for (int32_t i = 0; i < kTileRows * kBChunks / kThreads; ++i) {
    const int32_t row = (thread + i * kThreads) / kBChunks, chunk = thread % kBChunks;
    copy_async(stage + (row * kBChunks + place_of_b_chunk(row, chunk)) * kChunkBytes,
               b + within(first_row + row, job.n) * job.b_stride + chunk * kChunkBytes);
  }
}

// Scales of a step. One thread per row reads those of a; each lane reads those of its two rows of b.

struct WideScales {
  float a, b[2];
};

template <int32_t kTokens>
__device__ __forceinline__ WideScales load_scales(const WideJob &job, int64_t first_token, int64_t first_row,
                                                  int64_t step, const WideCoords &at) {
  const FourBitsJob &gemm = job.gemm;
  WideScales scales = {1.0f, {}};
  if (job.a_groups != nullptr && threadIdx.x < kTokens) {
    scales.a = job.a_groups[within(first_token + threadIdx.x, gemm.m) * gemm.a_scale_stride + step];
  }
#pragma unroll
  for (int32_t i = 0; i < 2; ++i) {
    const int64_t row = within(first_row + at.row[i], gemm.n);
    scales.b[i] = static_cast<const float *>(gemm.b_scales)[row * gemm.b_scale_stride + step];
  }
  return scales;
}

// Sums.

template <int32_t kTokens>
struct WideSums {
  WgmmaSum at[kTokens / kGroupTokens];
};

struct WideLeft {
  WgmmaLeft slice[kSlices];
};

__device__ __forceinline__ WideLeft load_left(const uint8_t *stage, const WideCoords &at) {
  WideLeft left;
#pragma unroll
  for (int32_t i = 0; i < 4 * kSlices; ++i) {
    const int32_t row = at.row[i % 2];
    const uint8_t *const codes =
        stage + row * kBChunks * kChunkBytes + place_of_four_codes(row, i / 4, i / 2 % 2, at.place);
    left.slice[i / 4].word[i % 4] = e4m3_of_int4(*reinterpret_cast<const uint16_t *>(codes));
  }
  return left;
}

template <int32_t kTokens>
__device__ __forceinline__ void multiply_stage(const uint8_t *stage, const WideCoords &at, WideSums<kTokens> &sums) {
  const WideLeft left = load_left(stage + wide_a_bytes(kTokens), at);
  const uint32_t address = shared_address(stage);
  begin_wgmma();
#pragma unroll
  for (int32_t slice = 0; slice < kSlices; ++slice) {
#pragma unroll
    for (int32_t i = 0; i < kTokens / kGroupTokens; ++i) {
      const auto begin = static_cast<uint32_t>(wide_a_bytes(kGroupTokens) * i + 32 * slice);
      multiply_add(sums.at[i], left.slice[slice], wgmma_descriptor(address + begin), slice > 0);
    }
  }
  end_wgmma();
}

// Adds the sums of a group, multiplied by the scales of their rows of b and of a, to the totals.
template <int32_t kTokens>
__device__ __forceinline__ void close_group(const WideScales &scales, const float *a_scales, const WideCoords &at,
                                            const WideSums<kTokens> &sums, WideSums<kTokens> &totals) {
#pragma unroll
  for (int32_t tile = 0; tile < kTokens / kGroupTokens; ++tile) {
#pragma unroll
    for (int32_t i = 0; i < 32; ++i) {
      const float scale = scales.b[i % 4 / 2] * a_scales[tile * kGroupTokens + wgmma_sum_column(at.thread, i)];
      totals.at[tile].number[i] += scale * sums.at[tile].number[i];
    }
  }
}

// Output of the sums to c, or to the partial sums of a part of k. They are copied to shared memory first, so that adjacent
// threads write adjacent elements.

template <int32_t kTokens>
__device__ __forceinline__ void share_sums(const WideSums<kTokens> &totals, const WideCoords &at, float *shared) {
#pragma unroll
  for (int32_t i = 0; i < kTokens / 2; ++i) {
    const int32_t token = i / 32 * kGroupTokens + wgmma_sum_column(at.thread, i % 32);
    shared[token * kSumStride + at.row[i % 4 / 2]] = totals.at[i / 32].number[i % 32];
  }
}

template <int32_t kTokens>
__global__ void __launch_bounds__(kThreads) multiply_by_warpgroups(WideJob job) {
  constexpr int32_t kPrefetcher = kWideStages - 1;
  __shared__ float a_scales[2][kTokens];
  LPT_DYNAMIC_SHARED(uint8_t, unaligned);
  uint8_t *const shared = unaligned + (0u - shared_address(unaligned)) % kWgmmaBoundary;
  const FourBitsJob &gemm = job.gemm;
  const WideCoords at = wide_place();
  const int64_t first_token = int64_t{blockIdx.x} * kTokens, first_row = int64_t{blockIdx.y} * kTileRows;
  const int64_t first = blockIdx.z * job.steps_of_part, steps = gemm.k / kTileStep;
  const int64_t end = first + job.steps_of_part < steps ? first + job.steps_of_part : steps;
#pragma unroll
  for (int32_t i = 0; i < kPrefetcher; ++i) {
    if (first + i < end) {
      copy_stage<kTokens>(gemm, first_token, first_row, first + i, shared + i * wide_stage_bytes(kTokens));
    }
    close_copies();
  }
  WideScales next = load_scales<kTokens>(job, first_token, first_row, first, at);
  WideSums<kTokens> totals = {}, sums = {};
  int32_t stage = 0;
  for (int64_t step = first; step < end; ++step) {
    const WideScales scales = next;
    float *const of_step = a_scales[step % 2];
    wait_for_copies<kPrefetcher - 1>();
    fence_copies_for_wgmma();
    if (threadIdx.x < kTokens) of_step[threadIdx.x] = scales.a;
    __syncthreads();  // all copies to the stage are complete, and no thread reads the previous stage
    if (step + kPrefetcher < end) {
      copy_stage<kTokens>(gemm, first_token, first_row, step + kPrefetcher,
                          shared + (stage + kPrefetcher) % kWideStages * wide_stage_bytes(kTokens));
    }
    close_copies();
    if (step + 1 < end) next = load_scales<kTokens>(job, first_token, first_row, step + 1, at);
    multiply_stage<kTokens>(shared + stage * wide_stage_bytes(kTokens), at, sums);
    close_group<kTokens>(scales, of_step, at, sums, totals);
    stage = (stage + 1) % kWideStages;
  }
  wait_for_copies<0>();
  __syncthreads();
  auto *const shared_sums = reinterpret_cast<float *>(shared);
  share_sums<kTokens>(totals, at, shared_sums);
  __syncthreads();
  store_tile<kTokens, kThreads>(gemm, first_token, first_row, shared_sums, job.parts);
}

// Host code.

template <int32_t kTokens>
void launch_warpgroups(const WideJob &job, const TileGrid &grid, void *stream) {
  const dim3 blocks(static_cast<uint32_t>(grid.token_tiles), static_cast<uint32_t>(grid.row_tiles),
                    static_cast<uint32_t>(grid.parts));
  allow_shared(multiply_by_warpgroups<kTokens>, wide_shared_bytes(kTokens));
  LPT_LAUNCH(multiply_by_warpgroups<kTokens>, blocks, static_cast<uint32_t>(kThreads), wide_shared_bytes(kTokens),
             stream, job);
}

}  // namespace

void gemm_warpgroups_int4_cuda(const GemmRequest &request, void *stream) {
  const TileGrid grid = warpgroup_grid(request.m, request.n, request.k);
  WideJob job = {four_bits_job(request), nullptr, grid.steps_of_part, nullptr};
  if (request.a.format.block_columns == kTileStep) std::swap(job.a_groups, job.gemm.a_scales);
  if (grid.parts > 1) job.parts = reinterpret_cast<float *>(request.scratch);
  if (grid.tokens == 64) {
    launch_warpgroups<64>(job, grid, stream);
  } else {
    launch_warpgroups<128>(job, grid, stream);
  }
  if (job.parts != nullptr) add_parts_of_tiles(job.gemm, job.parts, grid.parts, stream);
}

}  // namespace lpt
