// Loops of the GEMM that multiplies few rows by a 2:4 matrix, for all instruction sets. Included by ISA files only.
//
// A Kind defines the type of the elements of a (Number), the size of the elements of b (kBytes), and the accumulators (Lanes).
// Its add_step() multiplies one step of columns by up to kSharedRows rows.
#pragma once

#include "kernels/common/prefetcher.hpp"
#include "kernels/gemm/sparse.hpp"

namespace lpt {
namespace {

constexpr int64_t kSparseColumns = 256;  // columns per step
constexpr int64_t kBlockRows = 8;        // rows of b that read a span of a before the next span
constexpr int64_t kWholeRowsBytes = 32 << 10;
constexpr int64_t kPieceBytes = 16 << 10;

// Rounds k up to a multiple of kSparseColumns.
inline int64_t whole_steps(int64_t k) { return (k + kSparseColumns - 1) / kSparseColumns * kSparseColumns; }

// Reading of rows of a as f32, shared by the floating-point kinds.
struct SparseFloatRows {
  using Number = float;

  // Converts a row to f32. Returns nonzero if an element is not finite.
  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, float *to) {
    read_numbers(a, row, k, to);
    uint32_t has_others = 0;
    for (int64_t p = 0; p < k; ++p) has_others |= static_cast<uint32_t>(!is_finite(to[p]));
    memset(to + k, 0, static_cast<size_t>(4 * (whole_steps(k) - k)));
    return static_cast<int32_t>(has_others);
  }
  static void read_numbers(const MatrixView &a, int64_t row, int64_t k, float *to) {
    const auto *from = static_cast<const uint8_t *>(a.data);
    if (a.format.element == LPT_FORMAT_F32) {
      memcpy(to, from + 4 * row * a.row_stride, static_cast<size_t>(4 * k));
    } else if (a.format.element == LPT_FORMAT_BF16) {
      from += 2 * row * a.row_stride;
      for (int64_t p = 0; p < k; ++p) {
        uint16_t half;
        memcpy(&half, from + 2 * p, sizeof half);
        to[p] = bf16_of(half);
      }
    } else {
      float values[256];
      const Element element = element_of(a.format.element);
      for (uint32_t code = 0; code < 256; ++code) values[code] = decode(element, code);
      from += row * a.row_stride;
      for (int64_t p = 0; p < k; ++p) to[p] = values[from[p]];
    }
  }
  static float finished(float sum, int32_t has_others, const float *a, const uint8_t *indices, int64_t k) {
    return has_others != 0 && has_unstored_nonfinite(a, indices, k) ? __builtin_nanf("") : sum;
  }
};

// Rows of a as bf16, without conversion.
struct SparseHalfRows {
  using Number = uint16_t;

  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, uint16_t *to) {
    memcpy(to, static_cast<const uint8_t *>(a.data) + 2 * row * a.row_stride, static_cast<size_t>(2 * k));
    uint32_t has_others = 0;
    for (int64_t p = 0; p < k; ++p) has_others |= static_cast<uint32_t>(!is_finite(to[p]));
    memset(to + k, 0, static_cast<size_t>(2 * (whole_steps(k) - k)));
    return static_cast<int32_t>(has_others);
  }
  static float finished(float sum, int32_t has_others, const uint16_t *a, const uint8_t *indices, int64_t k) {
    return has_others != 0 && has_unstored_nonfinite(a, indices, k) ? __builtin_nanf("") : sum;
  }
};

// Rows of a as int8. All elements are finite.
struct SparseByteRows {
  using Number = int8_t;

  static float finished(float sum, int32_t, const int8_t *, const uint8_t *, int64_t) { return sum; }
};

// The last columns of a row, padded to a full step with stored zeros at valid indices.
template <typename Kind>
struct SparseTail {
  alignas(64) uint8_t stored[kSparseColumns / 2 * Kind::kBytes];
  uint8_t indices[kSparseColumns / 8];

  SparseTail(const uint8_t *from, const uint8_t *places, int64_t columns) {
    memset(stored, 0, sizeof stored);
    memset(indices, 0x44, sizeof indices);
    memcpy(stored, from, static_cast<size_t>((columns + 3) / 4 * 2 * Kind::kBytes));
    memcpy(indices, places, static_cast<size_t>((columns + 7) / 8));
  }
};

// Prefetchers for a sequential read of b.
struct SparseReads {
  Prefetcher stored, indices;
};

// Returns prefetchers over b. The distance is larger than that of prefetcher_over() because a step reads many lines at once.
// The distance of the indices equals that of the stored elements in time, not in bytes.
inline SparseReads reads_over(const void *stored, int64_t stored_bytes, const void *indices, int64_t index_bytes) {
  constexpr int64_t kLarge = int64_t{8} << 20;
  constexpr int64_t kDistance = 8192, kIndexDistance = 1024;
  return {make_prefetcher(stored_bytes >= kLarge ? stored : nullptr, kDistance),
          make_prefetcher(index_bytes >= kLarge ? indices : nullptr, kIndexDistance)};
}

// Rows of a as read_row() wrote them, and what it returned for each row.
template <typename Kind>
struct SparseRows {
  typename Kind::Number *numbers;
  int32_t *has_nonfinite;
};

// Accumulators of a block of rows of b: lanes for each of these rows and each row of a.
template <typename Kind>
struct SparseBlock {
  typename Kind::Lanes lanes[kBlockRows][kMaxSparseRows];
};

// Adds the columns [begin, end) of one row of b, multiplied by kRows rows of a from row i of this part on.
template <typename Kind, int kRows>
inline void add_columns(const GemmRequest &request, int64_t column, int64_t begin, int64_t end, int64_t i,
                        const SparseRows<Kind> &rows, const SparseReads &reads, typename Kind::Lanes *lanes) {
  const MatrixView &b = request.b;
  const int64_t a_stride = whole_steps(request.k);
  const typename Kind::Number *const a = rows.numbers + i * a_stride;
  const uint8_t *stored = static_cast<const uint8_t *>(b.data) + column * b.row_stride * Kind::kBytes;
  const uint8_t *indices = b.indices + column * b.index_stride;
  typename Kind::Lanes sums[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums[r] = lanes[r];
  int64_t p = begin;
  for (; p + kSparseColumns <= end; p += kSparseColumns) {
    constexpr int kLines = kSparseColumns / 2 * Kind::kBytes / 64;
    reads.indices.prefetch<1>(indices + p / 8);
    reads.stored.prefetch<(kLines < 8 ? kLines : 8)>(stored + p / 2 * Kind::kBytes);
    if constexpr (kLines > 8) reads.stored.prefetch<8>(stored + p / 2 * Kind::kBytes + 512);
    Kind::template add_step<kRows>(stored + p / 2 * Kind::kBytes, indices + p / 8, a + p, a_stride, sums);
  }
  if (p < end) {
    const SparseTail<Kind> tail(stored + p / 2 * Kind::kBytes, indices + p / 8, end - p);
    Kind::template add_step<kRows>(tail.stored, tail.indices, a + p, a_stride, sums);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) lanes[r] = sums[r];
}

// Adds the same columns for all rows of a.
template <typename Kind>
inline void add_columns_of_all(const GemmRequest &request, int64_t column, int64_t begin, int64_t end,
                               const SparseRows<Kind> &rows, const SparseReads &reads, typename Kind::Lanes *lanes) {
  constexpr int kShared = Kind::kSharedRows;
  int64_t i = 0;
  for (; i + kShared <= request.m; i += kShared) {
    add_columns<Kind, kShared>(request, column, begin, end, i, rows, reads, lanes + i);
  }
  if constexpr (kShared > 4) {
    for (; i + 4 <= request.m; i += 4) add_columns<Kind, 4>(request, column, begin, end, i, rows, reads, lanes + i);
  }
  for (; i + 2 <= request.m; i += 2) add_columns<Kind, 2>(request, column, begin, end, i, rows, reads, lanes + i);
  if (i < request.m) add_columns<Kind, 1>(request, column, begin, end, i, rows, reads, lanes + i);
}

// Multiplies `count` rows of b from `column` on. The loop advances by `columns` columns, so that L1 holds the elements of a
// that all rows of b read.
template <typename Kind>
inline void multiply_block(const GemmRequest &request, int64_t column, int64_t count, int64_t columns,
                           const SparseRows<Kind> &rows, const SparseReads &reads) {
  SparseBlock<Kind> block;
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < request.m; ++i) block.lanes[j][i].clear();
  }
  for (int64_t begin = 0; begin < request.k; begin += columns) {
    const int64_t end = begin + columns < request.k ? begin + columns : request.k;
    for (int64_t j = 0; j < count; ++j) {
      add_columns_of_all<Kind>(request, column + j, begin, end, rows, reads, block.lanes[j]);
    }
  }
  for (int64_t j = 0; j < count; ++j) {
    const uint8_t *indices = request.b.indices + (column + j) * request.b.index_stride;
    for (int64_t i = 0; i < request.m; ++i) {
      const typename Kind::Number *a = rows.numbers + i * whole_steps(request.k);
      const float sum =
          Kind::finished(block.lanes[j][i].sum(rows.has_nonfinite[i]), rows.has_nonfinite[i], a, indices, request.k);
      store_sum(request, request.first_row + i, column + j, sum);
    }
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
    rows.has_nonfinite[i] = Kind::read_row(request.a, request.first_row + i, request.k, a + i * a_stride);
  }
  const int64_t row_bytes = b.row_stride * Kind::kBytes;
  const SparseReads reads =
      reads_over(static_cast<const uint8_t *>(b.data) + request.first_column * row_bytes, request.n * row_bytes,
                 b.indices + request.first_column * b.index_stride, request.n * b.index_stride);
  // If L1 holds all rows of a, each row of b is processed in full, so that b is read as one stream.
  const int64_t a_bytes = request.m * a_stride * static_cast<int64_t>(sizeof(typename Kind::Number));
  const bool is_whole = a_bytes <= kWholeRowsBytes;
  const int64_t fitting = a_stride * kPieceBytes / a_bytes / kSparseColumns * kSparseColumns;
  const int64_t columns = is_whole ? a_stride : fitting > 0 ? fitting : kSparseColumns;
  const int64_t block_rows = is_whole ? 1 : kBlockRows;
  for (int64_t j = 0; j < request.n; j += block_rows) {
    const int64_t count = j + block_rows < request.n ? block_rows : request.n - j;
    multiply_block<Kind>(request, request.first_column + j, count, columns, rows, reads);
  }
}

}  // namespace
}  // namespace lpt
