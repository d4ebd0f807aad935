// Statistics of a selection.
//
// The sums of a row run from its first to its last element, which is one chain of additions. Rows are independent, so that each
// lane adds one row in the order of the reference kernel. Rows of memory are transposed in squares; if rows are adjacent
// (groups of columns), they are loaded without a transpose.
//
// Elements are magnitudes whose sign bit is the mask. Elements that a sum excludes are added as zero, which does not change a
// sum, because sums are not negative.
#include "kernels/sparse_mask/blocks.hpp"

namespace lpt {
namespace {

// Addresses of elements and their mask; steps are the distances between rows.
template <typename Number>
struct Measured {
  const Number *from;
  int64_t from_step;
  const uint8_t *mask;
  int64_t mask_step;
};

// Sums with a counter of the columns in a group, independent of the spans of columns.
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
  // Writes the sums after the last column; the last group may be short.
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

// Adds an incomplete square from a copy. Missing elements are zeros, which do not change a sum.
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

// Adds adjacent rows; steps are the distances between columns.
template <typename Number>
void add_columns(const Measured<Number> &line, GroupedSums &all_sums, int64_t rows, int64_t columns) {
  GroupedSums sums = all_sums;  // a copy in registers
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

// Vectors of rows that alternate, so that cache lines are read completely, and the columns per vector.
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
