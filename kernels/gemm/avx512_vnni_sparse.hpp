// Few rows by a 2:4 matrix: what is stored is spread to its places in registers. Included by an ISA file only.
//
// A byte of places becomes eight bits that say which columns are stored: two look-ups of 16 entries. 32 or 64 of these bits
// are the mask of one expansion, which puts exactly half as many stored numbers where they belong. Every row of a meets the
// same expanded numbers, so up to four or eight share them.
#pragma once

#include "kernels/common/ahead.hpp"
#include "kernels/common/avx512_places.hpp"
#include "kernels/common/intrinsics.hpp"
#include "kernels/gemm/sparse.hpp"

namespace lpt {
namespace {

inline int64_t whole_steps(int64_t k) { return (k + kSparseStep - 1) / kSparseStep * kSparseStep; }

inline float add_up(const __m512 (&lanes)[4]) {
  const __m512 half = _mm512_add_ps(_mm512_add_ps(lanes[0], lanes[2]), _mm512_add_ps(lanes[1], lanes[3]));
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(half), _mm512_extractf32x8_ps(half, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Rows of a as floats.
struct SparseFloats {
  using Number = float;
  static constexpr int kSharedRows = 4;  // times four accumulators
  template <int kRows>
  struct Sums {
    __m512 lanes[kRows][4];
    void clear() {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) lanes[r][v] = _mm512_setzero_ps();
      }
    }
    float sum(int r, int32_t) const { return add_up(lanes[r]); }
  };

  template <int kRows>
  [[gnu::always_inline]] static void add(Sums<kRows> &sums, int v, const float *a, int64_t a_stride, __m512 numbers) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums.lanes[r][v] = _mm512_fmadd_ps(_mm512_loadu_ps(a + r * a_stride), numbers, sums.lanes[r][v]);
    }
  }

  // Returns what every sum of this row is too large by.
  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, float *to) {
    for (int64_t p = 0; p < k; ++p) to[p] = load_float(a, row * a.row_stride + p);
    for (int64_t p = k; p < whole_steps(k); ++p) to[p] = 0.0f;
    return 0;
  }
};

struct SparseF32 : SparseFloats {
  static constexpr int64_t kBytes = 4;
  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *bits, const float *a,
                                              int64_t a_stride, Sums<kRows> &sums) {
    for (int64_t p = 0; p < kSparseStep; p += 64) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        const int64_t at = p + 16 * v;
        const __m512i eight =
            _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored + at / 2 * kBytes)));
        const __m512i numbers = _mm512_maskz_expand_epi32(mask_at<uint16_t>(bits + at / 8), eight);
        add(sums, v, a + at, a_stride, _mm512_castsi512_ps(numbers));
      }
    }
  }
};

struct SparseBf16 : SparseFloats {
  static constexpr int64_t kBytes = 2;
  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *bits, const float *a,
                                              int64_t a_stride, Sums<kRows> &sums) {
    for (int64_t p = 0; p < kSparseStep; p += 64) {
#pragma GCC unroll 2
      for (int v = 0; v < 4; v += 2) {
        const int64_t at = p + 16 * v;
        const __m512i sixteen =
            _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored + at / 2 * kBytes)));
        const __m512i halves = _mm512_maskz_expand_epi16(mask_at<uint32_t>(bits + at / 8), sixteen);
        const __m512i low = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(halves)), 16);
        const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(halves, 1)), 16);
        add(sums, v, a + at, a_stride, _mm512_castsi512_ps(low));
        add(sums, v + 1, a + at + 16, a_stride, _mm512_castsi512_ps(high));
      }
    }
  }
};

// Bytes of b as b + 128, which is their bytes with the top bit flipped; what is not stored is 128. So a sum is too large by
// 128 times the sum of its row of a.
struct SparseInt8 {
  using Number = int8_t;
  static constexpr int64_t kBytes = 1;
  static constexpr int kSharedRows = 8;
  template <int kRows>
  struct Sums {
    __m512i lanes[kRows];
    void clear() {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) lanes[r] = _mm512_setzero_si512();
    }
    float sum(int r, int32_t excess) const { return static_cast<float>(_mm512_reduce_add_epi32(lanes[r]) - excess); }
  };

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *bits, const int8_t *a,
                                              int64_t a_stride, Sums<kRows> &sums) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
#pragma GCC unroll 8
    for (int64_t p = 0; p < kSparseStep; p += 64) {
      const __m512i half = _mm512_xor_si512(
          flip, _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored + p / 2))));
      const __m512i numbers = _mm512_mask_expand_epi8(flip, mask_at<uint64_t>(bits + p / 8), half);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        sums.lanes[r] = _mm512_dpbusd_epi32(sums.lanes[r], numbers, _mm512_loadu_si512(a + r * a_stride + p));
      }
    }
  }

  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, int8_t *to) {
    memcpy(to, static_cast<const int8_t *>(a.data) + row * a.row_stride, static_cast<size_t>(k));
    memset(to + k, 0, static_cast<size_t>(whole_steps(k) - k));
    int32_t sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += to[p];
    return 128 * sum;
  }
};

// The last columns of a row, filled up: stored zeros at legal places.
template <typename Kind>
struct SparseTail {
  alignas(64) uint8_t stored[kSparseStep / 2 * Kind::kBytes];
  uint8_t indices[64];

  SparseTail(const uint8_t *from, const uint8_t *places, int64_t columns) {
    memset(stored, 0, sizeof stored);
    memset(indices, 0x44, sizeof indices);
    memcpy(stored, from, static_cast<size_t>((columns + 3) / 4 * 2 * Kind::kBytes));
    memcpy(indices, places, static_cast<size_t>((columns + 7) / 8));
  }
};

// Reading b from end to end.
struct SparseReads {
  Ahead stored, indices;
};

// Rows of a as they are read, and what their sums are too large by.
template <typename Kind>
struct SparseRows {
  typename Kind::Number *numbers;
  int32_t *excess;
};

// A row of b by kRows rows of a, from the part's row i on.
template <typename Kind, int kRows>
inline void multiply_row(const GemmRequest &request, int64_t i, int64_t column, const SparseRows<Kind> &rows,
                         const SparseReads &reads) {
  const MatrixView &b = request.b;
  const int64_t a_stride = whole_steps(request.k);
  const typename Kind::Number *const a = rows.numbers + i * a_stride;
  const uint8_t *stored = static_cast<const uint8_t *>(b.data) + column * b.row_stride * Kind::kBytes;
  const uint8_t *indices = b.indices + column * b.index_stride;
  typename Kind::template Sums<kRows> sums;
  sums.clear();
  alignas(64) uint8_t bits[64];
  int64_t p = 0;
  for (; p + kSparseStep <= request.k; p += kSparseStep) {
    constexpr int kLines = kSparseStep / 2 * Kind::kBytes / 64;
    reads.indices.ask<1>(indices + p / 8);
    reads.stored.ask<(kLines < 8 ? kLines : 8)>(stored + p / 2 * Kind::kBytes);
    if (kLines > 8) reads.stored.ask<8>(stored + p / 2 * Kind::kBytes + 512);
    spread_places(indices + p / 8, bits);
    Kind::template add_step<kRows>(stored + p / 2 * Kind::kBytes, bits, a + p, a_stride, sums);
  }
  if (p < request.k) {
    const SparseTail<Kind> tail(stored + p / 2 * Kind::kBytes, indices + p / 8, request.k - p);
    spread_places(tail.indices, bits);
    Kind::template add_step<kRows>(tail.stored, bits, a + p, a_stride, sums);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    store_sum(request, request.first_row + i + r, column, sums.sum(r, rows.excess[i + r]));
  }
}

template <typename Kind>
size_t sparse_scratch(const GemmRequest &request) {
  return static_cast<size_t>(request.m * whole_steps(request.k)) * sizeof(typename Kind::Number) +
         static_cast<size_t>(request.m) * sizeof(int32_t);
}

template <typename Kind>
void multiply_sparse(const GemmRequest &request) {
  const MatrixView &b = request.b;
  const int64_t a_stride = whole_steps(request.k);
  auto *a = reinterpret_cast<typename Kind::Number *>(request.scratch);
  const SparseRows<Kind> rows = {a, reinterpret_cast<int32_t *>(a + request.m * a_stride)};
  for (int64_t i = 0; i < request.m; ++i) {
    rows.excess[i] = Kind::read_row(request.a, request.first_row + i, request.k, a + i * a_stride);
  }
  const int64_t row_bytes = b.row_stride * Kind::kBytes;
  const SparseReads reads = {
      ahead_over(static_cast<const uint8_t *>(b.data) + request.first_column * row_bytes, request.n * row_bytes),
      ahead_over(b.indices + request.first_column * b.index_stride, request.n * b.index_stride)};
  for (int64_t j = 0; j < request.n; ++j) {
    const int64_t column = request.first_column + j;
    int64_t i = 0;
    for (; i + Kind::kSharedRows <= request.m; i += Kind::kSharedRows) {
      multiply_row<Kind, Kind::kSharedRows>(request, i, column, rows, reads);
    }
    for (; i + 4 <= request.m; i += 4) multiply_row<Kind, 4>(request, i, column, rows, reads);
    for (; i < request.m; ++i) {
      multiply_row<Kind, 1>(request, i, column, rows, reads);
    }
  }
}

}  // namespace
}  // namespace lpt
