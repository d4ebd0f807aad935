// The fast rotation, once for all instruction sets. Included by ISA files: everything here has internal linkage.
//
// A group is in vectors. Steps of strides below a vector's width exchange lanes of one vector, the others pair vectors.
// Where the columns of a source are lines of memory, the narrow steps pair these lines, a transpose in registers makes
// rows of them, and the wide steps follow on the rows.
//
// An Isa gives kWidth, Vector, and
//   load<plain>(data, index, count)     adjacent numbers as f32, zero past `count`; a NaN of 16 bits becomes the quiet one
//   store(to, vector, count), spread(number), add, subtract, multiply
//   step<stride>(vector)                (a, b) → (a + b, a - b) between lanes
//   blend(a, b, count)                  the first `count` lanes of b, the others of a
//   transpose(vectors)                  kWidth of them
#pragma once

#include "kernels/hadamard/kernels.hpp"

namespace lpt {
namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// One row on its way.
struct RotateRow {
  const void *from;
  float *to;
  const float *row_factor;  // of the row; NULL or one number
  const float *factors;
  const float *signs_before, *signs_after;
  const float *tail_factors;  // of the columns that fill no vector
};

template <typename Isa, lpt_format kPlain>
[[gnu::always_inline]] inline typename Isa::Vector prepared(const RotateRow &line, int64_t column, int64_t count) {
  constexpr auto kF32 = LPT_FORMAT_F32;
  typename Isa::Vector value = Isa::template load<kPlain>(line.from, column, count);
  if (line.row_factor != nullptr) value = Isa::multiply(value, Isa::spread(*line.row_factor));
  if (line.factors != nullptr) value = Isa::multiply(value, Isa::template load<kF32>(line.factors, column, count));
  if (line.signs_before == nullptr) return value;
  return Isa::multiply(value, Isa::template load<kF32>(line.signs_before, column, count));
}

template <typename Isa>
[[gnu::always_inline]] inline void put(const RotateRow &line, int64_t column, typename Isa::Vector value,
                                       int64_t count) {
  if (line.signs_after != nullptr) {
    value = Isa::multiply(value, Isa::template load<LPT_FORMAT_F32>(line.signs_after, column, count));
  }
  Isa::store(line.to + column, value, count);
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Vector narrow_steps(typename Isa::Vector value) {
  value = Isa::template step<1>(value);
  value = Isa::template step<2>(value);
  value = Isa::template step<4>(value);
  if constexpr (Isa::kWidth == 16) value = Isa::template step<8>(value);
  return value;
}

// All steps between vectors. Not a loop over strides: such a loop stays one, and its vectors go through memory.
template <typename Isa, int kCount, int kStride = 1>
[[gnu::always_inline]] inline void pair_steps(typename Isa::Vector (&vectors)[kCount]) {
  if constexpr (kStride < kCount) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      if ((i & kStride) != 0) continue;
      const typename Isa::Vector a = vectors[i];
      const typename Isa::Vector b = vectors[i + kStride];
      vectors[i] = Isa::add(a, b);
      vectors[i + kStride] = Isa::subtract(a, b);
    }
    pair_steps<Isa, kCount, 2 * kStride>(vectors);
  }
}

// Steps between the vectors of a group that begins at `column`, the product, and the signs that come last.
template <typename Isa, int kVectors>
[[gnu::always_inline]] inline void finish_group(const RotateRow &line, int64_t column,
                                                typename Isa::Vector (&group)[kVectors]) {
  const typename Isa::Vector factor = Isa::spread(hadamard_factor(kVectors * Isa::kWidth));
  pair_steps<Isa, kVectors>(group);
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    put<Isa>(line, column + i * Isa::kWidth, Isa::multiply(group[i], factor), Isa::kWidth);
  }
}

// As many groups of kVectors vectors as fit between `column` and `end`; gives where they end.
template <typename Isa, lpt_format kPlain, int kVectors>
int64_t rotate_groups(const RotateRow &given, int64_t column, int64_t end) {
  constexpr int64_t kWidth = Isa::kWidth;
  const RotateRow line = given;  // so that no store can be meant for it: its pointers stay in registers
  for (; column + kVectors * kWidth <= end; column += kVectors * kWidth) {
    typename Isa::Vector group[kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) {
      group[i] = narrow_steps<Isa>(prepared<Isa, kPlain>(line, column + i * kWidth, kWidth));
    }
    finish_group<Isa, kVectors>(line, column, group);
  }
  return column;
}

// The last columns, fewer than a vector holds: groups of 8, 4, 2 and 1, each at a multiple of its size.
template <typename Isa, lpt_format kPlain>
void rotate_tail(const RotateRow &line, int64_t column, int64_t count) {
  typename Isa::Vector value = prepared<Isa, kPlain>(line, column, count);
  value = Isa::blend(value, Isa::template step<1>(value), count & ~int64_t{1});
  value = Isa::blend(value, Isa::template step<2>(value), count & ~int64_t{3});
  if constexpr (Isa::kWidth == 16) value = Isa::blend(value, Isa::template step<4>(value), count & ~int64_t{7});
  const typename Isa::Vector factors = Isa::template load<LPT_FORMAT_F32>(line.tail_factors, 0, count);
  put<Isa>(line, column, Isa::blend(value, Isa::multiply(value, factors), count & ~int64_t{1}), count);
}

template <typename Isa>
void fill_tail_factors(int64_t count, float *factors) {
  int64_t size = Isa::kWidth / 2;
  for (int64_t begin = 0; begin < count; begin += size) {
    size = hadamard_group(size, count - begin);
    for (int64_t i = begin; i < begin + size; ++i) factors[i] = hadamard_factor(size);
  }
}

// What does not fill a group of kVectors vectors: at most one of each smaller power of two.
template <typename Isa, lpt_format kPlain, int kVectors>
void rotate_rest(const RotateRow &line, int64_t column, int64_t columns) {
  if constexpr (kVectors >= 16) column = rotate_groups<Isa, kPlain, 8>(line, column, columns);
  if constexpr (kVectors >= 8) column = rotate_groups<Isa, kPlain, 4>(line, column, columns);
  if constexpr (kVectors >= 4) column = rotate_groups<Isa, kPlain, 2>(line, column, columns);
  if constexpr (kVectors >= 2) column = rotate_groups<Isa, kPlain, 1>(line, column, columns);
  if (column < columns) rotate_tail<Isa, kPlain>(line, column, columns - column);
}

template <typename Isa, lpt_format kPlain, int kVectors>
void rotate_line(const RotateRow &line, int64_t columns) {
  const int64_t column = rotate_groups<Isa, kPlain, kVectors>(line, 0, columns);
  if (column < columns) rotate_rest<Isa, kPlain, kVectors>(line, column, columns);
}

// Without a rotation.
template <typename Isa, lpt_format kPlain>
void copy_line(const RotateRow &given, int64_t columns) {
  constexpr int64_t kWidth = Isa::kWidth;
  const RotateRow line = given;
  int64_t column = 0;
  for (; column + kWidth <= columns; column += kWidth) {
    put<Isa>(line, column, prepared<Isa, kPlain>(line, column, kWidth), kWidth);
  }
  if (column < columns) put<Isa>(line, column, prepared<Isa, kPlain>(line, column, columns - column), columns - column);
}

using RunRow = void (*)(const RotateRow &line, int64_t columns);

template <typename Isa, lpt_format kPlain>
RunRow line_of(int32_t size) {
  switch (size) {
    case 16:
      return rotate_line<Isa, kPlain, 16 / Isa::kWidth>;
    case 32:
      return rotate_line<Isa, kPlain, 32 / Isa::kWidth>;
    case 64:
      return rotate_line<Isa, kPlain, 64 / Isa::kWidth>;
    case 128:
      return rotate_line<Isa, kPlain, 128 / Isa::kWidth>;
    default:
      return copy_line<Isa, kPlain>;
  }
}

float *target_row(const HadamardRequest &request, int64_t row) {
  return static_cast<float *>(request.target.data) + row * request.target.row_stride;
}

template <typename Isa, lpt_format kPlain>
void rotate_rows(const HadamardRequest &request) {
  constexpr int64_t kBytes = kPlain == LPT_FORMAT_F32 ? 4 : 2;
  const MatrixView &source = request.source;
  const RunRow run = line_of<Isa, kPlain>(request.size);
  float tail_factors[Isa::kWidth];
  fill_tail_factors<Isa>(source.columns % Isa::kWidth, tail_factors);
  RotateRow line = {};
  line.factors = request.factors;
  (request.is_inverse ? line.signs_after : line.signs_before) = request.signs;
  line.tail_factors = tail_factors;
  for (int64_t row = 0; row < source.rows; ++row) {
    line.from = static_cast<const uint8_t *>(source.data) + row * source.row_stride * kBytes;
    line.to = target_row(request, row);
    if (request.row_factors != nullptr) line.row_factor = request.row_factors + row;
    run(line, source.columns);
  }
}

// ---- a source whose rows are adjacent

// Rows [row, end) of such a source, two vectors of them at most: so a line of the cache is read once.
struct RowChunk {
  const HadamardRequest &request;
  int64_t row, end;
};

// Writes kWidth rows of kWidth columns from lines of memory, or what there is of them, with the narrow steps done or not.
// All loops are unrolled: an index that is not known would put the tile in memory.
template <typename Isa, lpt_format kPlain, bool kIsWhole>
void transpose_tile(const HadamardRequest &request, int64_t row, int64_t column, bool has_steps) {
  constexpr int kWidth = Isa::kWidth;
  constexpr auto kF32 = LPT_FORMAT_F32;
  const MatrixView &source = request.source;
  const int64_t rows = kIsWhole ? kWidth : smaller(source.rows - row, kWidth);
  const int64_t columns = kIsWhole ? kWidth : smaller(source.columns - column, kWidth);
  const float *const signs = request.is_inverse && request.size != 0 ? nullptr : request.signs;
  const float *const factors = request.factors;
  const float *const row_factors = request.row_factors;
  typename Isa::Vector tile[kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    const int64_t from = column + (i < columns ? i : 0);
    tile[i] = Isa::template load<kPlain>(source.data, row + from * source.column_stride, rows);
    if (row_factors != nullptr) tile[i] = Isa::multiply(tile[i], Isa::template load<kF32>(row_factors, row, rows));
    if (factors != nullptr) tile[i] = Isa::multiply(tile[i], Isa::spread(factors[from]));
    if (signs != nullptr) tile[i] = Isa::multiply(tile[i], Isa::spread(signs[from]));
  }
  if (has_steps) pair_steps<Isa, kWidth>(tile);
  Isa::transpose(tile);
  float *const to = target_row(request, row) + column;
  const int64_t stride = request.target.row_stride;
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    if (i < rows) Isa::store(to + i * stride, tile[i], columns);
  }
}

template <typename Isa, lpt_format kPlain>
void transpose_tiles(const RowChunk &slab, int64_t column, bool has_steps) {
  constexpr int64_t kWidth = Isa::kWidth;
  const bool is_whole = column + kWidth <= slab.request.source.columns;
  for (int64_t row = slab.row; row < slab.end; row += kWidth) {
    if (is_whole && row + kWidth <= slab.end) {
      transpose_tile<Isa, kPlain, true>(slab.request, row, column, has_steps);
    } else {
      transpose_tile<Isa, kPlain, false>(slab.request, row, column, has_steps);
    }
  }
}

// As many groups of kVectors vectors as fit from `column` on: each is transposed, then finished while it is near.
template <typename Isa, lpt_format kPlain, int kVectors>
int64_t rotate_groups(const RowChunk &slab, int64_t column) {
  constexpr int64_t kWidth = Isa::kWidth;
  RotateRow line = {};
  line.signs_after = slab.request.is_inverse ? slab.request.signs : nullptr;
  for (; column + kVectors * kWidth <= slab.request.source.columns; column += kVectors * kWidth) {
    for (int i = 0; i < kVectors; ++i) transpose_tiles<Isa, kPlain>(slab, column + i * kWidth, true);
    line.to = target_row(slab.request, slab.row);
    for (int64_t row = slab.row; row < slab.end; ++row, line.to += slab.request.target.row_stride) {
      typename Isa::Vector group[kVectors];
#pragma GCC unroll 16
      for (int i = 0; i < kVectors; ++i) {
        group[i] = Isa::template load<LPT_FORMAT_F32>(line.to, column + i * kWidth, kWidth);
      }
      finish_group<Isa, kVectors>(line, column, group);
    }
  }
  return column;
}

template <typename Isa, lpt_format kPlain>
void transpose_tail(const RowChunk &slab, int64_t column) {
  const int64_t count = slab.request.source.columns - column;
  float tail_factors[Isa::kWidth];
  fill_tail_factors<Isa>(count, tail_factors);
  transpose_tiles<Isa, kPlain>(slab, column, false);
  RotateRow line = {};
  line.signs_after = slab.request.is_inverse ? slab.request.signs : nullptr;
  line.tail_factors = tail_factors;
  for (int64_t row = slab.row; row < slab.end; ++row) {
    line.from = line.to = target_row(slab.request, row);
    rotate_tail<Isa, LPT_FORMAT_F32>(line, column, count);
  }
}

template <typename Isa, lpt_format kPlain>
void transpose_slab(const RowChunk &slab) {
  constexpr int64_t kWidth = Isa::kWidth;
  const int64_t vectors = slab.request.size / kWidth;
  int64_t column = 0;
  if constexpr (kWidth == 8) {
    if (vectors >= 16) column = rotate_groups<Isa, kPlain, 16>(slab, column);
  }
  if (vectors >= 8) column = rotate_groups<Isa, kPlain, 8>(slab, column);
  if (vectors >= 4) column = rotate_groups<Isa, kPlain, 4>(slab, column);
  if (vectors >= 2) column = rotate_groups<Isa, kPlain, 2>(slab, column);
  column = rotate_groups<Isa, kPlain, 1>(slab, column);
  if (column < slab.request.source.columns) transpose_tail<Isa, kPlain>(slab, column);
}

template <typename Isa, lpt_format kPlain>
void rotate_transposed(const HadamardRequest &request) {
  constexpr int64_t kWidth = Isa::kWidth;
  const MatrixView &source = request.source;
  for (int64_t row = 0; row < source.rows; row += 2 * kWidth) {
    const RowChunk slab = {request, row, smaller(row + 2 * kWidth, source.rows)};
    if (request.size != 0) {
      transpose_slab<Isa, kPlain>(slab);
    } else {
      for (int64_t column = 0; column < source.columns; column += kWidth)
        transpose_tiles<Isa, kPlain>(slab, column, false);
    }
  }
}

template <typename Isa, lpt_format kPlain>
void rotate_any(const HadamardRequest &request) {
  if (request.source.column_stride == 1) {
    rotate_rows<Isa, kPlain>(request);
  } else {
    rotate_transposed<Isa, kPlain>(request);
  }
}

template <typename Isa>
void rotate(const HadamardRequest &request) {
  switch (request.source.format.element) {
    case LPT_FORMAT_BF16:
      return rotate_any<Isa, LPT_FORMAT_BF16>(request);
    case LPT_FORMAT_F16:
      return rotate_any<Isa, LPT_FORMAT_F16>(request);
    default:
      return rotate_any<Isa, LPT_FORMAT_F32>(request);
  }
}

}  // namespace
}  // namespace lpt
