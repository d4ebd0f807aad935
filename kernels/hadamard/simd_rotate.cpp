// Rotations with SIMD vectors.
//
// A group of up to 128 columns is stored in vectors. Steps of strides below the vector width exchange lanes of a vector. Steps
// of larger strides combine two vectors. A larger group is a number of such groups, whose further steps combine columns of the
// target. If the columns of a source are adjacent in memory along rows, the narrow steps combine columns. A
// transpose in registers then converts them to rows, and the wide steps process the rows.
#include "kernels/common/simd.hpp"
#include "kernels/hadamard/hadamard.hpp"

namespace lpt {
namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// The operands of one row.
struct RotateRow {
  const void *from;
  float *to;
  const float *row_factor;  // NULL, or the factor of the row
  const float *factors;
  const float *signs_before, *signs_after;
  const float *tail_factors;  // factors of the last columns, which do not fill a vector
  int64_t size;
};

// Loads elements. A NaN of a 16-bit format becomes the quiet NaN of the same sign.
template <lpt_format kPlain>
[[gnu::always_inline]] inline F32 load_quiet(const void *data, int64_t index, int64_t count) {
  const F32 value = load_numbers<kPlain>(data, index, count);
  return kPlain == LPT_FORMAT_F32 ? value : with_quiet_nan(value);
}

template <lpt_format kPlain>
[[gnu::always_inline]] inline F32 prepared(const RotateRow &line, int64_t column, int64_t count) {
  F32 value = load_quiet<kPlain>(line.from, column, count);
  if (line.row_factor != nullptr) value = value * broadcast(*line.row_factor);
  if (line.factors != nullptr) value = value * load_numbers<LPT_FORMAT_F32>(line.factors, column, count);
  if (line.signs_before == nullptr) return value;
  return value * load_numbers<LPT_FORMAT_F32>(line.signs_before, column, count);
}

[[gnu::always_inline]] inline void put(const RotateRow &line, int64_t column, F32 value, int64_t count) {
  if (line.signs_after != nullptr) {
    value = value * load_numbers<LPT_FORMAT_F32>(line.signs_after, column, count);
  }
  store_numbers(line.to + column, value, count);
}

[[gnu::always_inline]] inline F32 narrow_steps(F32 value) {
  value = butterfly<1>(value);
  value = butterfly<2>(value);
  if constexpr (kLanes >= 8) value = butterfly<4>(value);
  if constexpr (kLanes == 16) value = butterfly<8>(value);
  return value;
}

// Computes all steps between vectors. The function is recursive because compilers do not unroll a loop over strides and spill
// its vectors.
template <int kCount, int kStride = 1>
[[gnu::always_inline]] inline void pair_steps(F32 (&vectors)[kCount]) {
  if constexpr (kStride < kCount) {
#pragma GCC unroll 32
    for (int i = 0; i < kCount; ++i) {
      if ((i & kStride) != 0) continue;
      const F32 a = vectors[i];
      const F32 b = vectors[i + kStride];
      vectors[i] = a + b;
      vectors[i + kStride] = a - b;
    }
    pair_steps<kCount, 2 * kStride>(vectors);
  }
}

// Computes the steps between the vectors of a group that begins at `column`. If it is no part of a larger group, the product and
// the signs that are applied last follow.
template <int kVectors, bool kIsPart = false>
[[gnu::always_inline]] inline void complete_group(const RotateRow &line, int64_t column, F32 (&group)[kVectors]) {
  const F32 factor = broadcast(hadamard_factor(kVectors * kLanes));
  pair_steps<kVectors>(group);
#pragma GCC unroll 32
  for (int i = 0; i < kVectors; ++i) {
    if constexpr (kIsPart) {
      store_numbers(line.to + column + i * kLanes, group[i], kLanes);
    } else {
      put(line, column + i * kLanes, group[i] * factor, kLanes);
    }
  }
}

constexpr int64_t kPartColumns = 128;  // of the vectors of a group

// Computes the steps of strides from `stride` below kCount · stride, in a group of `size` columns. After the last steps, the
// product and the signs that are applied last follow. Returns the next stride.
template <int kCount>
int64_t wide_steps(const RotateRow &line, int64_t column, int64_t size, int64_t stride) {
  const int64_t next = kCount * stride;
  const F32 factor = broadcast(hadamard_factor(size));
  for (int64_t block = column; block < column + size; block += next) {
    for (int64_t at = block; at < block + stride; at += kLanes) {
      F32 group[kCount];
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) group[i] = load_numbers<LPT_FORMAT_F32>(line.to, at + i * stride, kLanes);
      pair_steps<kCount>(group);
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) {
        if (next < size) {
          store_numbers(line.to + at + i * stride, group[i], kLanes);
        } else {
          put(line, at + i * stride, group[i] * factor, kLanes);
        }
      }
    }
  }
  return next;
}

// Completes a group of `size` columns whose parts are rotated.
void complete_parts(const RotateRow &given, int64_t column, int64_t size) {
  const RotateRow line = given;
  for (int64_t stride = kPartColumns; stride < size;) {
    const int64_t left = size / stride;
    stride = left >= 8   ? wide_steps<8>(line, column, size, stride)
             : left == 4 ? wide_steps<4>(line, column, size, stride)
                         : wide_steps<2>(line, column, size, stride);
  }
}

// Calls complete(column, size) for the groups of more than kPartColumns columns. Returns the column after the last one.
template <typename Complete>
int64_t for_large_groups(int64_t size, int64_t columns, const Complete &complete) {
  int64_t column = 0;
  for (; size > kPartColumns; size /= 2) {
    for (; column + size <= columns; column += size) complete(column, size);
  }
  return column;
}

// Rotates the groups of kVectors vectors that fit between `column` and `end`. Returns the column after the last group.
template <lpt_format kPlain, int kVectors, bool kIsPart = false>
int64_t rotate_groups(const RotateRow &given, int64_t column, int64_t end) {
  const RotateRow line = given;  // a local copy does not alias the stores, so that its pointers are kept in registers
  for (; column + kVectors * kLanes <= end; column += kVectors * kLanes) {
    F32 group[kVectors];
#pragma GCC unroll 32
    for (int i = 0; i < kVectors; ++i) {
      group[i] = narrow_steps(prepared<kPlain>(line, column + i * kLanes, kLanes));
    }
    complete_group<kVectors, kIsPart>(line, column, group);
  }
  return column;
}

// Rotates the last columns, fewer than a vector holds: groups of 8, 4, 2 and 1, each at a multiple of its size.
template <lpt_format kPlain>
void rotate_tail(const RotateRow &line, int64_t column, int64_t count) {
  F32 value = prepared<kPlain>(line, column, count);
  value = select_first(count & ~int64_t{1}, butterfly<1>(value), value);
  value = select_first(count & ~int64_t{3}, butterfly<2>(value), value);
  if constexpr (kLanes == 16) value = select_first(count & ~int64_t{7}, butterfly<4>(value), value);
  const F32 factors = load_numbers<LPT_FORMAT_F32>(line.tail_factors, 0, count);
  put(line, column, select_first(count & ~int64_t{1}, value * factors, value), count);
}

void fill_tail_factors(int64_t count, float *factors) {
  int64_t size = kLanes / 2;
  for (int64_t begin = 0; begin < count; begin += size) {
    size = hadamard_group(size, count - begin);
    for (int64_t i = begin; i < begin + size; ++i) factors[i] = hadamard_factor(size);
  }
}

// Rotates the columns that do not fill a group of kVectors vectors: at most one group of each smaller power of two.
template <lpt_format kPlain, int kVectors>
void rotate_rest(const RotateRow &line, int64_t column, int64_t columns) {
  if constexpr (kVectors >= 32) column = rotate_groups<kPlain, 16>(line, column, columns);
  if constexpr (kVectors >= 16) column = rotate_groups<kPlain, 8>(line, column, columns);
  if constexpr (kVectors >= 8) column = rotate_groups<kPlain, 4>(line, column, columns);
  if constexpr (kVectors >= 4) column = rotate_groups<kPlain, 2>(line, column, columns);
  if constexpr (kVectors >= 2) column = rotate_groups<kPlain, 1>(line, column, columns);
  if (column < columns) rotate_tail<kPlain>(line, column, columns - column);
}

template <lpt_format kPlain, int kVectors>
void rotate_line(const RotateRow &line, int64_t columns) {
  int64_t column = 0;
  if constexpr (kVectors * kLanes == kPartColumns) {
    column = for_large_groups(line.size, columns, [&](int64_t first, int64_t size) {
      rotate_groups<kPlain, kVectors, true>(line, first, first + size);
      complete_parts(line, first, size);
    });
  }
  column = rotate_groups<kPlain, kVectors>(line, column, columns);
  if (column < columns) rotate_rest<kPlain, kVectors>(line, column, columns);
}

// Applies factors and signs without a rotation.
template <lpt_format kPlain>
void copy_line(const RotateRow &given, int64_t columns) {
  const RotateRow line = given;
  int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) {
    put(line, column, prepared<kPlain>(line, column, kLanes), kLanes);
  }
  if (column < columns) put(line, column, prepared<kPlain>(line, column, columns - column), columns - column);
}

using RunRow = void (*)(const RotateRow &line, int64_t columns);

template <lpt_format kPlain>
RunRow line_of(int32_t size) {
  switch (size) {
    case 16:
      return rotate_line<kPlain, 16 / kLanes>;
    case 32:
      return rotate_line<kPlain, 32 / kLanes>;
    case 64:
      return rotate_line<kPlain, 64 / kLanes>;
    case 0:
      return copy_line<kPlain>;
    default:
      return rotate_line<kPlain, kPartColumns / kLanes>;
  }
}

float *target_row(const HadamardRequest &request, int64_t row) {
  return static_cast<float *>(request.target.data) + row * request.target.row_stride;
}

template <lpt_format kPlain>
void rotate_rows(const HadamardRequest &request) {
  constexpr int64_t kBytes = kPlain == LPT_FORMAT_F32 ? 4 : 2;
  const MatrixView &source = request.source;
  const RunRow run = line_of<kPlain>(request.size);
  float tail_factors[kLanes];
  fill_tail_factors(source.columns % kLanes, tail_factors);
  RotateRow line = {};
  line.factors = request.factors;
  (request.is_inverse ? line.signs_after : line.signs_before) = request.signs;
  line.tail_factors = tail_factors;
  line.size = request.size;
  for (int64_t row = 0; row < source.rows; ++row) {
    line.from = static_cast<const uint8_t *>(source.data) + row * source.row_stride * kBytes;
    line.to = target_row(request, row);
    if (request.row_factors != nullptr) line.row_factor = request.row_factors + row;
    run(line, source.columns);
  }
}

// Sources whose rows are adjacent in memory.

// Rows [row, end) of such a source: at most two vectors of rows, so that each cache line is read once.
struct RowChunk {
  const HadamardRequest &request;
  int64_t row, end;
};

// Transposes a tile of at most kLanes × kLanes elements from columns of the source to rows of the target. `has_steps` adds the
// narrow steps. All loops are unrolled, because a variable index would spill the tile.
template <lpt_format kPlain, bool kIsWhole>
void transpose_tile(const HadamardRequest &request, int64_t row, int64_t column, bool has_steps) {
  const MatrixView &source = request.source;
  const int64_t rows = kIsWhole ? kLanes : smaller(source.rows - row, kLanes);
  const int64_t columns = kIsWhole ? kLanes : smaller(source.columns - column, kLanes);
  const float *const signs = request.is_inverse && request.size != 0 ? nullptr : request.signs;
  const float *const factors = request.factors;
  const float *const row_factors = request.row_factors;
  F32 tile[kLanes];
#pragma GCC unroll 32
  for (int i = 0; i < kLanes; ++i) {
    const int64_t from = column + (i < columns ? i : 0);
    tile[i] = load_quiet<kPlain>(source.data, row + from * source.column_stride, rows);
    if (row_factors != nullptr) tile[i] = tile[i] * load_numbers<LPT_FORMAT_F32>(row_factors, row, rows);
    if (factors != nullptr) tile[i] = tile[i] * broadcast(factors[from]);
    if (signs != nullptr) tile[i] = tile[i] * broadcast(signs[from]);
  }
  if (has_steps) pair_steps<kLanes>(tile);
  transpose(tile);
  float *const to = target_row(request, row) + column;
  const int64_t stride = request.target.row_stride;
#pragma GCC unroll 32
  for (int i = 0; i < kLanes; ++i) {
    if (i < rows) store_numbers(to + i * stride, tile[i], columns);
  }
}

template <lpt_format kPlain>
void transpose_tiles(const RowChunk &slab, int64_t column, bool has_steps) {
  const bool is_whole = column + kLanes <= slab.request.source.columns;
  for (int64_t row = slab.row; row < slab.end; row += kLanes) {
    if (is_whole && row + kLanes <= slab.end) {
      transpose_tile<kPlain, true>(slab.request, row, column, has_steps);
    } else {
      transpose_tile<kPlain, false>(slab.request, row, column, has_steps);
    }
  }
}

// Rotates the groups of kVectors vectors that fit between `column` and `end`. Each group is transposed, and completed while it is
// in the cache.
template <lpt_format kPlain, int kVectors, bool kIsPart = false>
int64_t rotate_groups(const RowChunk &slab, int64_t column, int64_t end) {
  RotateRow line = {};
  line.signs_after = slab.request.is_inverse ? slab.request.signs : nullptr;
  for (; column + kVectors * kLanes <= end; column += kVectors * kLanes) {
    for (int i = 0; i < kVectors; ++i) transpose_tiles<kPlain>(slab, column + i * kLanes, true);
    line.to = target_row(slab.request, slab.row);
    for (int64_t row = slab.row; row < slab.end; ++row, line.to += slab.request.target.row_stride) {
      F32 group[kVectors];
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) {
        group[i] = load_numbers<LPT_FORMAT_F32>(line.to, column + i * kLanes, kLanes);
      }
      complete_group<kVectors, kIsPart>(line, column, group);
    }
  }
  return column;
}

// Rotates the groups of more than kPartColumns columns. Returns the column after the last one.
template <lpt_format kPlain>
int64_t rotate_large_groups(const RowChunk &slab) {
  RotateRow line = {};
  line.signs_after = slab.request.is_inverse ? slab.request.signs : nullptr;
  return for_large_groups(slab.request.size, slab.request.source.columns, [&](int64_t first, int64_t size) {
    rotate_groups<kPlain, kPartColumns / kLanes, true>(slab, first, first + size);
    for (int64_t row = slab.row; row < slab.end; ++row) {
      line.to = target_row(slab.request, row);
      complete_parts(line, first, size);
    }
  });
}

template <lpt_format kPlain>
void transpose_tail(const RowChunk &slab, int64_t column) {
  const int64_t count = slab.request.source.columns - column;
  float tail_factors[kLanes];
  fill_tail_factors(count, tail_factors);
  transpose_tiles<kPlain>(slab, column, false);
  RotateRow line = {};
  line.signs_after = slab.request.is_inverse ? slab.request.signs : nullptr;
  line.tail_factors = tail_factors;
  for (int64_t row = slab.row; row < slab.end; ++row) {
    line.from = line.to = target_row(slab.request, row);
    rotate_tail<LPT_FORMAT_F32>(line, column, count);
  }
}

template <lpt_format kPlain>
void transpose_slab(const RowChunk &slab) {
  const int64_t vectors = slab.request.size / kLanes, end = slab.request.source.columns;
  int64_t column = rotate_large_groups<kPlain>(slab);
  if constexpr (kLanes == 4) {
    if (vectors >= 32) column = rotate_groups<kPlain, 32>(slab, column, end);
  }
  if constexpr (kLanes <= 8) {
    if (vectors >= 16) column = rotate_groups<kPlain, 16>(slab, column, end);
  }
  if (vectors >= 8) column = rotate_groups<kPlain, 8>(slab, column, end);
  if (vectors >= 4) column = rotate_groups<kPlain, 4>(slab, column, end);
  if (vectors >= 2) column = rotate_groups<kPlain, 2>(slab, column, end);
  column = rotate_groups<kPlain, 1>(slab, column, end);
  if (column < end) transpose_tail<kPlain>(slab, column);
}

template <lpt_format kPlain>
void rotate_transposed(const HadamardRequest &request) {
  const MatrixView &source = request.source;
  for (int64_t row = 0; row < source.rows; row += 2 * kLanes) {
    const RowChunk slab = {request, row, smaller(row + 2 * kLanes, source.rows)};
    if (request.size != 0) {
      transpose_slab<kPlain>(slab);
    } else {
      for (int64_t column = 0; column < source.columns; column += kLanes) transpose_tiles<kPlain>(slab, column, false);
    }
  }
}

template <lpt_format kPlain>
void rotate_any(const HadamardRequest &request) {
  if (request.source.column_stride == 1) {
    rotate_rows<kPlain>(request);
  } else {
    rotate_transposed<kPlain>(request);
  }
}

}  // namespace

void LPT_KERNEL(hadamard_floats)(const HadamardRequest &request) {
  switch (request.source.format.element) {
    case LPT_FORMAT_BF16:
      return rotate_any<LPT_FORMAT_BF16>(request);
    case LPT_FORMAT_F16:
      return rotate_any<LPT_FORMAT_F16>(request);
    default:
      return rotate_any<LPT_FORMAT_F32>(request);
  }
}

}  // namespace lpt
