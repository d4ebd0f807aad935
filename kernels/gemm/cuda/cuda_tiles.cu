// GEMM of more than 16 rows of a by 4-bit weights, without a converted copy of the weights. Codes are converted to bf16 or f16
// in registers, exactly, between shared memory and the tensor cores. If c has few tiles, k is split into parts. The sums of the
// parts are added in their order, so that the bits depend on the extents only.
#include "kernels/common/cuda_async.hpp"
#include "kernels/gemm/cuda/cuda_few_rows.hpp"
#include "kernels/gemm/cuda/cuda_gemm.hpp"
#include "kernels/gemm/cuda/cuda_tile_sums.hpp"
#include "kernels/gemm/cuda/cuda_tiles.hpp"

namespace lpt {
namespace {

constexpr int32_t kRowTiles = 2;  // tiles of 16 rows of b per warp
constexpr int32_t kRowWarps = kTileRows / (16 * kRowTiles);
constexpr int32_t kLaneRows = 2 * kRowTiles;

// Compile-time parameters of a tile. For a of 8 bits, a lane reads eight adjacent bytes. The words of the four lanes of a row
// are adjacent, so that the lanes read from all banks.
template <lpt_format kA, lpt_format kScale, int32_t kGroup>
struct TileKind : FourBitsKind<kA, kScale, kGroup> {
  static constexpr int32_t kABytes = kA == LPT_FORMAT_E4M3FN ? 1 : 2;
  static constexpr bool kIsNarrow = kABytes == 1 || FourBitsKind<kA, kScale, kGroup>::kIsNarrow;
};

// The number of 8-row tiles of a per warp, and the number of warps that share the rows of a.
template <int32_t kTokens>
struct Tokens {
  static constexpr int32_t kTiles = kTokens == 32 ? 4 : 8;
  static constexpr int32_t kWarps = kTokens / (8 * kTiles);
  static constexpr uint32_t kThreads = 32 * kRowWarps * kWarps;
};

// The calling thread: the rows of b and of a of its warp in the tile, and its position in the MMA fragments.
struct TileCoords {
  uint32_t lane;
  int32_t group, place, first_row, first_token;
};

template <int32_t kTokens>
__device__ __forceinline__ TileCoords tile_place() {
  const uint32_t lane = threadIdx.x % 32;
  const auto warp = static_cast<int32_t>(threadIdx.x / 32);
  return {lane, static_cast<int32_t>(lane / 4), static_cast<int32_t>(lane % 4), warp % kRowWarps * 16 * kRowTiles,
          warp / kRowWarps * 8 * Tokens<kTokens>::kTiles};
}

// Copies from global memory to a stage. Rows past the end repeat the last row; their results are not stored.

template <int32_t kABytes>
__device__ __forceinline__ int32_t place_of_a(int32_t row, int32_t chunk) {
  const int32_t place = kABytes == 1 ? place_of_byte_chunk(row, chunk) : place_of_a_chunk(row, chunk);
  return (row * (kAChunks / 2 * kABytes) + place) * kChunkBytes;
}

template <int32_t kTokens, int32_t kABytes>
__device__ __forceinline__ void copy_stage(const FourBitsJob &job, int64_t first_token, int64_t first_row, int64_t step,
                                           uint8_t *stage) {
  constexpr int32_t kThreads = Tokens<kTokens>::kThreads, kChunks = kAChunks / 2 * kABytes;
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const uint8_t *const a = static_cast<const uint8_t *>(job.a) + step * (kTileStep * kABytes);
  const uint8_t *const b = static_cast<const uint8_t *>(job.b) + step * (kTileStep / 2);
#pragma unroll 2  // full unrolling would keep all addresses in registers
  for (int32_t i = 0; i < kTokens * kChunks / kThreads; ++i) {
    const int32_t row = (thread + i * kThreads) / kChunks, chunk = thread % kChunks;
    copy_async(stage + place_of_a<kABytes>(row, chunk),
               a + within(first_token + row, job.m) * job.a_stride * kABytes + chunk * kChunkBytes);
  }
  stage += kAStageBytes<kTokens, kABytes>;
#pragma unroll 2
  for (int32_t i = 0; i < kTileRows * kBChunks / kThreads; ++i) {
    const int32_t row = (thread + i * kThreads) / kBChunks, chunk = thread % kBChunks;
    copy_async(stage + (row * kBChunks + place_of_b_chunk(row, chunk)) * kChunkBytes,
               b + within(first_row + row, job.n) * job.b_stride + chunk * kChunkBytes);
  }
}

// Loads from a stage to fragments.

struct RightWord {
  MmaRight gemm[2];
};

// Loads the right operands of eight elements of a row, from index `k` of the stage on.
template <int32_t kABytes>
__device__ __forceinline__ RightWord load_right(const uint8_t *stage, int32_t token, int32_t k) {
  const uint8_t *const chunk = stage + place_of_a<kABytes>(token, k * kABytes / kChunkBytes);
  if constexpr (kABytes == 2) {
    const uint4 halves = *reinterpret_cast<const uint4 *>(chunk);
    return {{{{halves.x, halves.y}}, {{halves.z, halves.w}}}};
  } else {
    const uint2 codes = *reinterpret_cast<const uint2 *>(chunk + k % kChunkBytes);
    const auto halves = [](uint32_t two) { return f16_of_e4m3((two & 0xFFu) | (two & 0xFF00u) << 8); };
    return {{{{halves(codes.x), halves(codes.x >> 16)}}, {{halves(codes.y), halves(codes.y >> 16)}}}};
  }
}

struct Weights {
  uint32_t word[kLaneRows][kFewWords];
};

template <bool kIsNarrow>
__device__ __forceinline__ Weights load_weights(const uint8_t *stage, const TileCoords &at) {
  Weights weights;
#pragma unroll
  for (int32_t i = 0; i < kLaneRows; ++i) {
    const int32_t row = at.first_row + 8 * i + at.group;
    const uint8_t *const codes = stage + row * kBChunks * kChunkBytes;
    if constexpr (kIsNarrow) {
#pragma unroll
      for (int32_t word = 0; word < kFewWords; ++word) {
        weights.word[i][word] =
            *reinterpret_cast<const uint32_t *>(codes + place_of_b_chunk(row, word) * kChunkBytes + 4 * at.place);
      }
    } else {
      const uint4 four = *reinterpret_cast<const uint4 *>(codes + place_of_b_chunk(row, at.place) * kChunkBytes);
      weights.word[i][0] = four.x;
      weights.word[i][1] = four.y;
      weights.word[i][2] = four.z;
      weights.word[i][3] = four.w;
    }
  }
  return weights;
}

// Block scales of a lane for one step, which are read while the previous step is multiplied.

template <lpt_format kScale, int32_t kGroup>
struct ScalePlaces {
  static constexpr bool kIsNarrow = kScale == LPT_FORMAT_F32 && kGroup == 32;
  static constexpr int32_t kOfStep = kTileStep / kGroup;
  static constexpr int32_t kOfLane = kGroup == 128 ? 1 : kIsNarrow ? 4 : 32 / kGroup;
  // The index among the lane's scales for a word, and the position of a scale in the step.
  LPT_HOST_DEVICE static constexpr int32_t of_word(int32_t word) { return word * kOfLane / kFewWords; }
  LPT_HOST_DEVICE static constexpr int32_t in_step(int32_t scale, int32_t place) {
    return first_k_of_word(kIsNarrow, scale * kFewWords / kOfLane, place) / kGroup;
  }
};

template <lpt_format kScale, int32_t kGroup>
struct Scales {
  uint32_t code[kLaneRows][ScalePlaces<kScale, kGroup>::kOfLane];
};

template <lpt_format kScale, int32_t kGroup>
__device__ __forceinline__ Scales<kScale, kGroup> load_scales(const FourBitsJob &job, int64_t first_row, int64_t step,
                                                              const TileCoords &at) {
  using Places = ScalePlaces<kScale, kGroup>;
  Scales<kScale, kGroup> scales;
#pragma unroll
  for (int32_t i = 0; i < kLaneRows; ++i) {
    const int64_t row = within(first_row + at.first_row + 8 * i + at.group, job.n);
    const int64_t first = row * job.b_scale_stride + step * Places::kOfStep;
#pragma unroll
    for (int32_t scale = 0; scale < Places::kOfLane; ++scale) {
      const int64_t index = first + Places::in_step(scale, at.place);
      if constexpr (kScale == LPT_FORMAT_F32) {
        scales.code[i][scale] = static_cast<const uint32_t *>(job.b_scales)[index];
      } else {
        scales.code[i][scale] = static_cast<const uint8_t *>(job.b_scales)[index];
      }
    }
  }
  return scales;
}

// Sums.

template <int32_t kTokenTiles>
struct Sums {
  MmaSum at[kRowTiles][kTokenTiles];
};

template <typename Kind>
__device__ __forceinline__ uint32_t halves_of(uint32_t word, int32_t pair, uint32_t scale) {
  const uint32_t codes = adjacent_codes(word, word >> 4, pair);
  if constexpr (Kind::kIsInteger) return int4_pair<Kind::kDtype>(codes, 0);
  return e2m1_pair(codes, 0, scale);
}

// The left operands of the two MMA instructions of a word, for one row tile.
struct LeftWord {
  MmaLeft gemm[2];
};

template <typename Kind>
__device__ __forceinline__ LeftWord left_of(const uint32_t (&words)[2], const uint32_t (&scales)[2]) {
  LeftWord left;
#pragma unroll
  for (int32_t i = 0; i < 8; ++i) {
    left.gemm[i / 4].word[i % 4] = halves_of<Kind>(words[i % 2], i / 2, scales[i % 2]);
  }
  return left;
}

// Adds the sums of a group, multiplied by its scales, to the totals and clears them.
template <int32_t kTokenTiles>
__device__ __forceinline__ void close_group(const uint32_t (&scales)[kLaneRows], Sums<kTokenTiles> &sums,
                                            Sums<kTokenTiles> &totals) {
#pragma unroll
  for (int32_t tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
    for (int32_t i = 0; i < 4 * kTokenTiles; ++i) {
      totals.at[tile][i / 4].number[i % 4] +=
          bits_float(scales[2 * tile + i % 4 / 2]) * sums.at[tile][i / 4].number[i % 4];
    }
  }
  sums = {};
}

template <typename Kind, lpt_format kScale, int32_t kTokenTiles>
__device__ __forceinline__ void add_word(const uint8_t *stage, const TileCoords &at, int32_t word,
                                         const Weights &weights, const uint32_t (&scales)[kLaneRows],
                                         Sums<kTokenTiles> &sums) {
  const int32_t k = first_k_of_word(Kind::kIsNarrow, word, at.place);
  LeftWord left[kRowTiles];
#pragma unroll
  for (int32_t tile = 0; tile < kRowTiles; ++tile) {
    const uint32_t words[2] = {weights.word[2 * tile][word], weights.word[2 * tile + 1][word]};
    uint32_t halves[2] = {};
    if constexpr (!Kind::kIsInteger) {
      halves[0] = scale_halves<kScale>(scales[2 * tile]);
      halves[1] = scale_halves<kScale>(scales[2 * tile + 1]);
    }
    left[tile] = left_of<Kind>(words, halves);
  }
#pragma unroll
  for (int32_t i = 0; i < kTokenTiles; ++i) {
    const RightWord right = load_right<Kind::kABytes>(stage, at.first_token + 8 * i + at.group, k);
#pragma unroll
    for (int32_t gemm = 0; gemm < 2; ++gemm) {
#pragma unroll
      for (int32_t tile = 0; tile < kRowTiles; ++tile) {
        multiply_add<Kind::kDtype>(sums.at[tile][i], left[tile].gemm[gemm], right.gemm[gemm]);
      }
    }
  }
}

template <typename Kind, lpt_format kScale, int32_t kGroup, int32_t kTokenTiles>
__device__ __forceinline__ void add_stage(const uint8_t *a, const uint8_t *b, const TileCoords &at,
                                          const Scales<kScale, kGroup> &scales, Sums<kTokenTiles> &totals) {
  const Weights weights = load_weights<Kind::kIsNarrow>(b, at);
  Sums<kTokenTiles> sums = {};
#pragma unroll
  for (int32_t word = 0; word < kFewWords; ++word) {
    uint32_t of_word[kLaneRows];
#pragma unroll
    for (int32_t i = 0; i < kLaneRows; ++i) of_word[i] = scales.code[i][ScalePlaces<kScale, kGroup>::of_word(word)];
    if constexpr (Kind::kIsInteger) {
      add_word<Kind, kScale>(a, at, word, weights, of_word, sums);
      if (kGroup == 32 || word == kFewWords - 1) close_group(of_word, sums, totals);
    } else {
      add_word<Kind, kScale>(a, at, word, weights, of_word, totals);
    }
  }
}

// Output of the sums to c, or to the partial sums of a part of k.

// Copies the sums to shared memory, so that adjacent threads then write adjacent elements.
template <int32_t kTokenTiles>
__device__ __forceinline__ void share_sums(const Sums<kTokenTiles> &sums, const TileCoords &at, float *shared) {
#pragma unroll
  for (int32_t tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
    for (int32_t i = 0; i < 4 * kTokenTiles; ++i) {
      const int32_t token = at.first_token + 8 * (i / 4) + mma_sum_column(at.lane, i % 4);
      const int32_t row = at.first_row + 16 * tile + mma_sum_row(at.lane, i % 4);
      shared[token * kSumStride + row] = sums.at[tile][i / 4].number[i % 4];
    }
  }
}

template <lpt_format kA, lpt_format kScale, int32_t kGroup, int32_t kTokens>
__global__ void __launch_bounds__(Tokens<kTokens>::kThreads)
    multiply_tiles(FourBitsJob job, int64_t steps_of_part, float *parts) {
  using Kind = TileKind<kA, kScale, kGroup>;
  constexpr int32_t kBytesOfStage = kStageBytes<kTokens, Kind::kABytes>;
  constexpr int32_t kThreads = Tokens<kTokens>::kThreads, kPrefetcher = kStages<kTokens> - 1;
  LPT_DYNAMIC_SHARED(uint8_t, shared);
  const TileCoords at = tile_place<kTokens>();
  const int64_t first_token = int64_t{blockIdx.x} * kTokens, first_row = int64_t{blockIdx.y} * kTileRows;
  const int64_t first = blockIdx.z * steps_of_part, steps = job.k / kTileStep;
  const int64_t end = first + steps_of_part < steps ? first + steps_of_part : steps;
#pragma unroll
  for (int32_t i = 0; i < kPrefetcher; ++i) {
    if (first + i < end)
      copy_stage<kTokens, Kind::kABytes>(job, first_token, first_row, first + i, shared + i * kBytesOfStage);
    close_copies();
  }
  Scales<kScale, kGroup> next = load_scales<kScale, kGroup>(job, first_row, first, at);
  Sums<Tokens<kTokens>::kTiles> totals = {};
  int32_t stage = 0, free = kPrefetcher;
  for (int64_t step = first; step < end; ++step) {
    const Scales<kScale, kGroup> scales = next;
    wait_for_copies<kPrefetcher - 1>();
    __syncthreads();  // all copies to the stage are complete, and no thread reads the previous stage
    if (step + kPrefetcher < end)
      copy_stage<kTokens, Kind::kABytes>(job, first_token, first_row, step + kPrefetcher,
                                         shared + free * kBytesOfStage);
    close_copies();
    if (step + 1 < end) next = load_scales<kScale, kGroup>(job, first_row, step + 1, at);
    const uint8_t *const a = shared + stage * kBytesOfStage;
    add_stage<Kind>(a, a + kAStageBytes<kTokens, Kind::kABytes>, at, scales, totals);
    stage = stage + 1 < kStages<kTokens> ? stage + 1 : 0;
    free = free + 1 < kStages<kTokens> ? free + 1 : 0;
  }
  wait_for_copies<0>();
  __syncthreads();
  auto *const sums = reinterpret_cast<float *>(shared);
  share_sums(totals, at, sums);
  __syncthreads();
  store_tile<kTokens, kThreads>(job, first_token, first_row, sums, parts);
}

constexpr uint32_t kPartThreads = 256;

__global__ void __launch_bounds__(kPartThreads) add_parts(FourBitsJob job, const float *parts, int64_t count) {
  const int64_t row = int64_t{blockIdx.x} * kPartThreads + threadIdx.x, token = blockIdx.y;
  if (row >= job.n) return;
  float sum = 0.0f;
  for (int64_t part = 0; part < count; ++part) sum += parts[(part * job.m + token) * job.n + row];
  finish(job, token, row, sum);
}

// Host code.

template <lpt_format kA, lpt_format kScale, int32_t kGroup, int32_t kTokens>
void launch_tiles(const FourBitsJob &job, const TileGrid &grid, float *parts, void *stream) {
  const dim3 blocks(static_cast<uint32_t>(grid.token_tiles), static_cast<uint32_t>(grid.row_tiles),
                    static_cast<uint32_t>(grid.parts));
  constexpr int32_t kBytes = kSharedBytes<kTokens, TileKind<kA, kScale, kGroup>::kABytes>;
  allow_shared(multiply_tiles<kA, kScale, kGroup, kTokens>, kBytes);
  LPT_LAUNCH((multiply_tiles<kA, kScale, kGroup, kTokens>), blocks, Tokens<kTokens>::kThreads, kBytes, stream, job,
             grid.steps_of_part, parts);
}

template <lpt_format kA, lpt_format kScale, int32_t kGroup>
void multiply_by_tiles(const GemmRequest &request, void *stream) {
  const FourBitsJob job = four_bits_job(request);
  const TileGrid grid = tile_grid(request.m, request.n, request.k);
  float *const parts = grid.parts == 1 ? nullptr : reinterpret_cast<float *>(request.scratch);
  if (grid.tokens == 32) {
    launch_tiles<kA, kScale, kGroup, 32>(job, grid, parts, stream);
  } else if (grid.tokens == 64) {
    launch_tiles<kA, kScale, kGroup, 64>(job, grid, parts, stream);
  } else {
    launch_tiles<kA, kScale, kGroup, 128>(job, grid, parts, stream);
  }
  if (parts == nullptr) return;
  add_parts_of_tiles(job, parts, grid.parts, stream);
}

template <lpt_format kA>
void multiply_integers(const GemmRequest &request, void *stream) {
  if (request.b.format.block_columns == 32) return multiply_by_tiles<kA, LPT_FORMAT_F32, 32>(request, stream);
  multiply_by_tiles<kA, LPT_FORMAT_F32, 128>(request, stream);
}

}  // namespace

void add_parts_of_tiles(const FourBitsJob &job, const float *parts, int64_t count, void *stream) {
  const dim3 blocks(static_cast<uint32_t>(rounded_up(job.n, kPartThreads)), static_cast<uint32_t>(job.m));
  LPT_LAUNCH(add_parts, blocks, kPartThreads, 0, stream, job, parts, count);
}

void gemm_tiles_int4_cuda(const GemmRequest &request, void *stream) {
  if (request.a.format.element == LPT_FORMAT_BF16) return multiply_integers<LPT_FORMAT_BF16>(request, stream);
  if (request.a.format.element == LPT_FORMAT_F16) return multiply_integers<LPT_FORMAT_F16>(request, stream);
  multiply_integers<LPT_FORMAT_E4M3FN>(request, stream);
}

void gemm_tiles_fp4_cuda(const GemmRequest &request, void *stream) {
  if (request.b.format.block_scale == LPT_FORMAT_E4M3FN) {
    return multiply_by_tiles<LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, 16>(request, stream);
  }
  multiply_by_tiles<LPT_FORMAT_BF16, LPT_FORMAT_E8M0FNU, 32>(request, stream);
}

size_t gemm_tiles_scratch_bytes(const GemmRequest &request) {
  return tile_scratch_bytes(tile_grid(request.m, request.n, request.k), request.m, request.n);
}

}  // namespace lpt
