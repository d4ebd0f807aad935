// GEMM of at most 16 rows of a by 4-bit weights, for token generation (decoding). Weights are read once, 16 bytes per lane at a
// time. They are converted to bf16 or f16 in registers, exactly, and multiplied by warp MMA instructions. The warps of a block
// process steps of k round-robin. Their sums are added in the order of the warps, so that the bits do not depend on timing.
#include "kernels/gemm/cuda/cuda_few_rows.hpp"
#include "kernels/gemm/cuda/cuda_four_bits.hpp"
#include "kernels/gemm/cuda/cuda_gemm.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 32 * kFewWarps;

// The calling thread: its lane, its position in the MMA fragments, and its warp in the block.
struct FewCoords {
  uint32_t lane;
  int32_t group, place, warp;
};

__device__ __forceinline__ FewCoords few_place() {
  const uint32_t lane = threadIdx.x % 32;
  return {lane, static_cast<int32_t>(lane / 4), static_cast<int32_t>(lane % 4), static_cast<int32_t>(threadIdx.x / 32)};
}

// a: eight adjacent elements of a row, as the right operands of the two MMA instructions of a word.

__device__ __forceinline__ uint32_t low_halves(uint32_t first, uint32_t second) {
  return (first & 0xFFFFu) | second << 16;
}
__device__ __forceinline__ uint32_t high_halves(uint32_t first, uint32_t second) {
  return first >> 16 | (second & 0xFFFF0000u);
}

struct RightWord {
  MmaRight gemm[2];
};

// Loads the right operands of eight adjacent elements of a row from `eight` on.
template <lpt_format kA>
__device__ __forceinline__ RightWord load_right(const uint8_t *eight) {
  RightWord right;
  if constexpr (kA == LPT_FORMAT_E4M3FN) {
    const uint2 codes = *reinterpret_cast<const uint2 *>(eight);
#pragma unroll
    for (int32_t pair = 0; pair < 4; ++pair) {
      const uint32_t both = (codes.x >> (8 * pair) & 0xFFu) | (codes.y >> (8 * pair) & 0xFFu) << 16;
      right.gemm[pair / 2].word[pair % 2] = f16_of_e4m3(both);
    }
  } else {
    const uint4 halves = *reinterpret_cast<const uint4 *>(eight);
    right.gemm[0] = {{low_halves(halves.x, halves.z), high_halves(halves.x, halves.z)}};
    right.gemm[1] = {{low_halves(halves.y, halves.w), high_halves(halves.y, halves.w)}};
  }
  return right;
}

// b: the rows of a lane are eight apart. Rows past the end repeat the last row; their results are not stored.

template <int32_t kRowTiles>
struct Weights {
  uint32_t word[2 * kRowTiles][kFewWords];
};

// Addresses of the first row of a lane at the lane's offset along k, and the byte offsets of its other rows. The offsets fit 32
// bits: the last row is at most 56 rows after the first.
template <int32_t kRowTiles>
struct RowsOfB {
  const uint8_t *codes, *scales;
  uint32_t code_at[2 * kRowTiles], scale_at[2 * kRowTiles];
};

template <bool kIsNarrow>
__device__ __forceinline__ void load_row(const uint8_t *row, uint32_t (&words)[kFewWords]) {
  if constexpr (kIsNarrow) {
#pragma unroll
    for (int32_t i = 0; i < kFewWords; ++i) {
      words[i] = *reinterpret_cast<const uint32_t *>(row + first_k_of_word(true, i, 0) / 2);
    }
  } else {
    const uint4 four = load_four(row);
    words[0] = four.x;
    words[1] = four.y;
    words[2] = four.z;
    words[3] = four.w;
  }
}

template <bool kIsNarrow, int32_t kRowTiles>
__device__ __forceinline__ Weights<kRowTiles> load_weights(const RowsOfB<kRowTiles> &rows, int64_t step) {
  Weights<kRowTiles> weights;
  const uint8_t *const codes = rows.codes + step * (kFewStep / 2);
#pragma unroll
  for (int32_t row = 0; row < 2 * kRowTiles; ++row) load_row<kIsNarrow>(codes + rows.code_at[row], weights.word[row]);
  return weights;
}

// Offsets of the block scales of a lane's words: one scale per word, or fewer if blocks are longer than a word.
template <lpt_format kScale, int32_t kGroup>
struct ScalePlace {
  static constexpr int32_t kBytes = kScale == LPT_FORMAT_F32 ? 4 : 1;
  static constexpr bool kIsNarrow = kScale == LPT_FORMAT_F32 && kGroup == 32;
  LPT_HOST_DEVICE static constexpr int32_t of_word(int32_t word) {
    return first_k_of_word(kIsNarrow, word, 0) / kGroup * kBytes;
  }
  static constexpr int32_t kOfStep = kFewStep / kGroup * kBytes;
};

template <lpt_format kScale, int32_t kGroup, int32_t kRowTiles>
__device__ __forceinline__ uint32_t scale_code(const RowsOfB<kRowTiles> &rows, int32_t row, int64_t step,
                                               int32_t word) {
  using Place = ScalePlace<kScale, kGroup>;
  const uint8_t *const scale = rows.scales + step * Place::kOfStep + rows.scale_at[row] + Place::of_word(word);
  if constexpr (kScale == LPT_FORMAT_F32) return *reinterpret_cast<const uint32_t *>(scale);
  return *scale;
}

template <typename Kind>
__device__ __forceinline__ MmaLeft left_of(uint32_t upper, uint32_t lower, int32_t gemm, const uint32_t (&scales)[2]) {
  MmaLeft left;
#pragma unroll
  for (int32_t i = 0; i < 2; ++i) {
    if constexpr (Kind::kIsInteger) {
      left.word[2 * i] = int4_pair<Kind::kDtype>(upper, 2 * gemm + i);
      left.word[2 * i + 1] = int4_pair<Kind::kDtype>(lower, 2 * gemm + i);
    } else {
      left.word[2 * i] = e2m1_pair(upper, 2 * gemm + i, scales[0]);
      left.word[2 * i + 1] = e2m1_pair(lower, 2 * gemm + i, scales[1]);
    }
  }
  return left;
}

// Sums.

template <int32_t kRowTiles, int32_t kTokenTiles>
struct Sums {
  MmaSum at[kRowTiles][kTokenTiles];
};

template <lpt_format kA, int32_t kTokenTiles>
struct RowsOfA {
  const uint8_t *row[kTokenTiles];  // at the lane's offset along k; rows past the end repeat the last row
  static constexpr int32_t kBytes = kA == LPT_FORMAT_E4M3FN ? 1 : 2;
};

// Adds the products of one word of all tiles. The sums belong to one group of scales, or the weights include their scales.
template <lpt_format kA, lpt_format kScale, int32_t kGroup, int32_t kRowTiles, int32_t kTokenTiles>
__device__ __forceinline__ void add_word(const RowsOfA<kA, kTokenTiles> &a, const RowsOfB<kRowTiles> &b, int64_t step,
                                         int32_t word, const Weights<kRowTiles> &weights,
                                         Sums<kRowTiles, kTokenTiles> &sums) {
  using Kind = FourBitsKind<kA, kScale, kGroup>;
  RightWord right[kTokenTiles];
  const int64_t k = step * kFewStep + first_k_of_word(Kind::kIsNarrow, word, 0);
#pragma unroll
  for (int32_t i = 0; i < kTokenTiles; ++i) {
    right[i] = load_right<kA>(a.row[i] + k * RowsOfA<kA, kTokenTiles>::kBytes);
  }
#pragma unroll
  for (int32_t tile = 0; tile < kRowTiles; ++tile) {
    uint32_t scales[2] = {};
#pragma unroll
    for (int32_t half = 0; half < 2 && !Kind::kIsInteger; ++half) {
      scales[half] = scale_halves<kScale>(scale_code<kScale, kGroup>(b, 2 * tile + half, step, word));
    }
#pragma unroll
    for (int32_t gemm = 0; gemm < 2; ++gemm) {
      const MmaLeft left = left_of<Kind>(weights.word[2 * tile][word], weights.word[2 * tile + 1][word], gemm, scales);
#pragma unroll
      for (int32_t i = 0; i < kTokenTiles; ++i) {
        multiply_add<Kind::kDtype>(sums.at[tile][i], left, right[i].gemm[gemm]);
      }
    }
  }
}

// Adds the sums of a group, multiplied by its scales, to the totals and clears them.
template <int32_t kGroup, int32_t kRowTiles, int32_t kTokenTiles>
__device__ __forceinline__ void close_group(const RowsOfB<kRowTiles> &b, int64_t step, int32_t word,
                                            Sums<kRowTiles, kTokenTiles> &sums, Sums<kRowTiles, kTokenTiles> &totals) {
#pragma unroll
  for (int32_t tile = 0; tile < kRowTiles; ++tile) {
    float scales[2];
#pragma unroll
    for (int32_t half = 0; half < 2; ++half) {
      scales[half] = bits_float(scale_code<LPT_FORMAT_F32, kGroup>(b, 2 * tile + half, step, word));
    }
#pragma unroll
    for (int32_t i = 0; i < 4 * kTokenTiles; ++i) {
      totals.at[tile][i / 4].number[i % 4] += scales[i % 4 / 2] * sums.at[tile][i / 4].number[i % 4];
    }
  }
  sums = {};
}

template <lpt_format kA, lpt_format kScale, int32_t kGroup, int32_t kRowTiles, int32_t kTokenTiles>
__device__ __forceinline__ void add_step(const RowsOfA<kA, kTokenTiles> &a, const RowsOfB<kRowTiles> &b, int64_t step,
                                         const Weights<kRowTiles> &weights, Sums<kRowTiles, kTokenTiles> &totals) {
  Sums<kRowTiles, kTokenTiles> sums = {};
#pragma unroll
  for (int32_t word = 0; word < kFewWords; ++word) {
    if constexpr (kScale == LPT_FORMAT_F32) {
      add_word<kA, kScale, kGroup>(a, b, step, word, weights, sums);
      if (kGroup == 32 || word == kFewWords - 1) close_group<kGroup>(b, step, word, sums, totals);
    } else {
      add_word<kA, kScale, kGroup>(a, b, step, word, weights, totals);
    }
  }
}

// Reduction of the sums of the warps, and output to c.

template <lpt_format kA, int32_t kTokenTiles>
__device__ __forceinline__ RowsOfA<kA, kTokenTiles> rows_of_a(const FourBitsJob &job, const FewCoords &at,
                                                              bool is_narrow) {
  RowsOfA<kA, kTokenTiles> rows;
  const int64_t k = first_k_of_word(is_narrow, 0, at.place);
#pragma unroll
  for (int32_t i = 0; i < kTokenTiles; ++i) {
    const int64_t token = 8 * i + at.group < job.m ? 8 * i + at.group : job.m - 1;
    rows.row[i] = static_cast<const uint8_t *>(job.a) + (token * job.a_stride + k) * RowsOfA<kA, kTokenTiles>::kBytes;
  }
  return rows;
}

template <lpt_format kScale, int32_t kGroup, int32_t kRowTiles>
__device__ __forceinline__ RowsOfB<kRowTiles> rows_of_b(const FourBitsJob &job, int64_t first, const FewCoords &at) {
  using Place = ScalePlace<kScale, kGroup>;
  const int64_t last = job.n - 1, row = first + at.group < last ? first + at.group : last;
  const int64_t k = first_k_of_word(Place::kIsNarrow, 0, at.place);
  RowsOfB<kRowTiles> rows;
  rows.codes = static_cast<const uint8_t *>(job.b) + row * job.b_stride + k / 2;
  rows.scales = static_cast<const uint8_t *>(job.b_scales) + (row * job.b_scale_stride + k / kGroup) * Place::kBytes;
#pragma unroll
  for (int32_t i = 0; i < 2 * kRowTiles; ++i) {
    const int64_t rows_on = 8 * i < last - row ? 8 * i : last - row;
    rows.code_at[i] = static_cast<uint32_t>(rows_on * job.b_stride);
    rows.scale_at[i] = static_cast<uint32_t>(rows_on * job.b_scale_stride * Place::kBytes);
  }
  return rows;
}

template <lpt_format kA, lpt_format kScale, int32_t kGroup, int32_t kTokenTiles>
__global__ void __launch_bounds__(kThreads, 3 - kTokenTiles) multiply_few_rows(FourBitsJob job) {
  constexpr bool kIsNarrow = FourBitsKind<kA, kScale, kGroup>::kIsNarrow;
  constexpr int32_t kRowTiles = 2 * kTokenTiles, kRows = 16 * kRowTiles, kTokens = 8 * kTokenTiles;
  __shared__ float parts[kFewWarps][kTokens][kRows];
  const FewCoords at = few_place();
  const int64_t first = int64_t{blockIdx.x} * kRows, steps = job.k / kFewStep;
  const RowsOfA<kA, kTokenTiles> a = rows_of_a<kA, kTokenTiles>(job, at, kIsNarrow);
  const RowsOfB<kRowTiles> b = rows_of_b<kScale, kGroup, kRowTiles>(job, first, at);

  Sums<kRowTiles, kTokenTiles> totals = {};
  Weights<kRowTiles> next = {};
  if (at.warp < steps) next = load_weights<kIsNarrow>(b, at.warp);
  for (int64_t step = at.warp; step < steps; step += kFewWarps) {
    const Weights<kRowTiles> weights = next;
    const int64_t after = step + kFewWarps;
    if (after < steps) next = load_weights<kIsNarrow>(b, after);
    add_step<kA, kScale, kGroup>(a, b, step, weights, totals);
  }

#pragma unroll
  for (int32_t tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
    for (int32_t i = 0; i < 4 * kTokenTiles; ++i) {
      parts[at.warp][8 * (i / 4) + mma_sum_column(at.lane, i % 4)][16 * tile + mma_sum_row(at.lane, i % 4)] =
          totals.at[tile][i / 4].number[i % 4];
    }
  }
  __syncthreads();
  for (int32_t index = static_cast<int32_t>(threadIdx.x); index < kTokens * kRows; index += kThreads) {
    const int32_t token = index / kRows, row = index % kRows;
    if (token >= job.m || first + row >= job.n) continue;
    float sum = 0.0f;
#pragma unroll
    for (uint32_t warp = 0; warp < kFewWarps; ++warp) sum += parts[warp][token][row];
    finish(job, token, first + row, sum);
  }
}

// Host code.

template <lpt_format kA, lpt_format kScale, int32_t kGroup>
void launch_few_rows(const GemmRequest &request, void *stream) {
  const FourBitsJob job = four_bits_job(request);
  const int64_t rows = request.m > 8 ? 64 : 32;  // rows of b per block, for which a is read once
  const auto grid = static_cast<uint32_t>((request.n + rows - 1) / rows);
  if (request.m > 8) {
    LPT_LAUNCH((multiply_few_rows<kA, kScale, kGroup, 2>), grid, kThreads, 0, stream, job);
  } else {
    LPT_LAUNCH((multiply_few_rows<kA, kScale, kGroup, 1>), grid, kThreads, 0, stream, job);
  }
}

template <lpt_format kA>
void launch_integers(const GemmRequest &request, void *stream) {
  if (request.b.format.block_columns == 32) return launch_few_rows<kA, LPT_FORMAT_F32, 32>(request, stream);
  launch_few_rows<kA, LPT_FORMAT_F32, 128>(request, stream);
}

}  // namespace

void gemm_few_rows_int4_cuda(const GemmRequest &request, void *stream) {
  if (request.a.format.element == LPT_FORMAT_BF16) return launch_integers<LPT_FORMAT_BF16>(request, stream);
  if (request.a.format.element == LPT_FORMAT_F16) return launch_integers<LPT_FORMAT_F16>(request, stream);
  launch_integers<LPT_FORMAT_E4M3FN>(request, stream);
}

void gemm_few_rows_fp4_cuda(const GemmRequest &request, void *stream) {
  if (request.b.format.block_scale == LPT_FORMAT_E4M3FN) {
    return launch_few_rows<LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, 16>(request, stream);
  }
  launch_few_rows<LPT_FORMAT_BF16, LPT_FORMAT_E8M0FNU, 32>(request, stream);
}

}  // namespace lpt
