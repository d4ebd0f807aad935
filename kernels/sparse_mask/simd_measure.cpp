// Statistics of a selection.
//
// The sums of a row run from its first number to its last: one chain of additions. Rows do not depend on each other,
// so lanes are rows, and each lane adds up in the order of the law. Rows of memory are transposed in squares of as many
// rows as columns; where rows lie side by side already (groups of columns) they are read as they are.
//
// Numbers come without signs; the sign says instead whether a number stays. What a sum does not want is added as zero,
// which changes none: no sum is below zero.
#include "kernels/sparse_mask/blocks.hpp"

namespace lpt {
namespace {

// Numbers and their mask; steps lead to the next row.
template <typename Number>
struct Measured {
  const Number *from;
  int64_t from_step;
  const uint8_t *mask;
  int64_t mask_step;
};

// Counts through groups, whatever pieces the columns come in.
struct GroupedSums {
  MarkedRows::Sums sums;
  int of = 1;
  int in_group = 0;

  [[gnu::always_inline]] void add(MarkedRows::Marked marked) {
    sums.add(marked);
    if (++in_group < of) return;
    sums.end_group();
    in_group = 0;
  }
  // At the end of the rows, whose last groups may be short.
  void write(SparseSums *to, int64_t rows) {
    if (in_group > 0) sums.end_group();
    sums.write(to, rows);
  }
};

template <typename Number>
[[gnu::always_inline]] inline void add_square(const Measured<Number> &at, GroupedSums &sums) {
  MarkedRows::Marked square[kLanes];
#pragma GCC unroll 16
  for (int row = 0; row < kLanes; ++row) {
    square[row] = MarkedRows::marked(at.from + row * at.from_step, at.mask + row * at.mask_step);
  }
  MarkedRows::transpose_square(square);
#pragma GCC unroll 16
  for (int column = 0; column < kLanes; ++column) sums.add(square[column]);
}

// A square of which only some rows or columns are there runs on a copy; the others are zeros, which change no sum.
template <typename Number>
[[gnu::noinline]] void add_edge(const Measured<Number> &at, GroupedSums &sums, int64_t rows, int64_t columns) {
  Number from[kLanes * kLanes] = {};
  uint8_t mask[kLanes * kLanes] = {};
  const auto size = static_cast<size_t>(columns);
  for (int64_t row = 0; row < rows; ++row) {
    __builtin_memcpy(from + row * kLanes, at.from + row * at.from_step, size * sizeof *from);
    __builtin_memcpy(mask + row * kLanes, at.mask + row * at.mask_step, size);
  }
  add_square(Measured<Number>{from, kLanes, mask, kLanes}, sums);
}

template <typename Number>
void add_rows(const Measured<Number> &line, GroupedSums &sums, int64_t rows, int64_t columns) {
  for (int64_t column = 0; column < columns; column += kLanes) {
    const Measured<Number> at = {line.from + column, line.from_step, line.mask + column, line.mask_step};
    const int64_t count = smaller(kLanes, columns - column);
    if (rows == kLanes && count == kLanes) {
      add_square(at, sums);
    } else {
      add_edge(at, sums, rows, count);
    }
  }
}

// Rows side by side; steps lead to the next column.
template <typename Number>
void add_columns(const Measured<Number> &line, GroupedSums &all_sums, int64_t rows, int64_t columns) {
  GroupedSums sums = all_sums;  // in registers
  for (int64_t column = 0; column < columns; ++column) {
    const Number *from = line.from + column * line.from_step;
    const uint8_t *mask = line.mask + column * line.mask_step;
    if (rows == kLanes) {
      sums.add(MarkedRows::marked(from, mask));
      continue;
    }
    Number numbers[kLanes] = {};
    uint8_t bytes[kLanes] = {};
    __builtin_memcpy(numbers, from, static_cast<size_t>(rows) * sizeof *from);
    __builtin_memcpy(bytes, mask, static_cast<size_t>(rows));
    sums.add(MarkedRows::marked(numbers, bytes));
  }
  all_sums = sums;
}

// How many vectors of rows alternate, so that lines of memory are read whole, and for how many columns each.
constexpr int64_t kRowVectors = 32, kRowVectorColumns = 16;

template <typename Number>
void measure_columns(const SparseMeasureRequest &request, int64_t row, int64_t rows) {
  const MatrixView &source = request.source, &mask = request.mask;
  GroupedSums sums[kRowVectors];
  for (GroupedSums &each : sums) each.of = request.of;
  for (int64_t column = 0; column < source.columns; column += kRowVectorColumns) {
    for (int64_t i = 0; i * kLanes < rows; ++i) {
      const int64_t first = row + i * kLanes;
      const Measured<Number> line = {
          static_cast<const Number *>(source.data) + first + column * source.column_stride, source.column_stride,
          static_cast<const uint8_t *>(mask.data) + first + column * mask.column_stride, mask.column_stride};
      add_columns(line, sums[i], smaller(kLanes, rows - i * kLanes),
                  smaller(kRowVectorColumns, source.columns - column));
    }
  }
  for (int64_t i = 0; i * kLanes < rows; ++i) {
    const int64_t first = i * kLanes;
    sums[i].write(request.sums + row + first, smaller(kLanes, rows - first));
  }
}

template <typename Number>
void measure_rows(const SparseMeasureRequest &request, int64_t row, int64_t rows) {
  const MatrixView &source = request.source, &mask = request.mask;
  GroupedSums sums;
  sums.of = request.of;
  add_rows(Measured<Number>{static_cast<const Number *>(source.data) + row * source.row_stride, source.row_stride,
                            static_cast<const uint8_t *>(mask.data) + row * mask.row_stride, mask.row_stride},
           sums, rows, source.columns);
  sums.write(request.sums + row, rows);
}

template <typename Number>
void measure_of(const SparseMeasureRequest &request) {
  const bool is_along_lines = request.source.column_stride == 1;
  const int64_t step = is_along_lines ? kLanes : kRowVectors * kLanes;
  const auto measure = is_along_lines ? measure_rows<Number> : measure_columns<Number>;
  for (int64_t row = 0; row < request.source.rows; row += step) {
    measure(request, row, smaller(step, request.source.rows - row));
  }
}

}  // namespace

void LPT_KERNEL(sparse_measure)(const SparseMeasureRequest &request) {
  request.source.format.element == LPT_FORMAT_F32 ? measure_of<float>(request) : measure_of<uint16_t>(request);
}

}  // namespace lpt
