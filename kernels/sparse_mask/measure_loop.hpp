// What a selection did, once for all instruction sets. Included by ISA files: everything here has internal linkage.
//
// The sums of a row run from its first number to its last: one chain of additions. Rows do not depend on each other,
// so lanes are rows, and each lane adds up in the order of the law. Rows of memory are transposed in squares of as many
// rows as columns; where rows lie side by side already (groups of columns) they are read as they are.
//
// Numbers come without signs; the sign says instead whether a number stays. What a sum does not want is added as zero,
// which changes none: no sum is below zero.
//
// Lanes give kWidth, Marked (f32, the sign says what stays), and
//   marked(from, mask)   so many adjacent numbers, f32 or bf16
//   transpose_square(square) of kWidth x kWidth numbers
//   Sums of kWidth rows: add(marked), end_group(), write(sums, rows)
#pragma once

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
template <typename Lanes>
struct GroupedSums {
  typename Lanes::Sums sums;
  int of = 1;
  int in_group = 0;

  [[gnu::always_inline]] void add(typename Lanes::Marked marked) {
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

template <typename Lanes, typename Number>
[[gnu::always_inline]] inline void add_square(const Measured<Number> &at, GroupedSums<Lanes> &sums) {
  typename Lanes::Marked square[Lanes::kWidth];
#pragma GCC unroll 16
  for (int row = 0; row < Lanes::kWidth; ++row) {
    square[row] = Lanes::marked(at.from + row * at.from_step, at.mask + row * at.mask_step);
  }
  Lanes::transpose_square(square);
#pragma GCC unroll 16
  for (int column = 0; column < Lanes::kWidth; ++column) sums.add(square[column]);
}

// A square of which only some rows or columns are there runs on a copy; the others are zeros, which change no sum.
template <typename Lanes, typename Number>
[[gnu::noinline]] void add_edge(const Measured<Number> &at, GroupedSums<Lanes> &sums, int64_t rows, int64_t columns) {
  Number from[Lanes::kWidth * Lanes::kWidth] = {};
  uint8_t mask[Lanes::kWidth * Lanes::kWidth] = {};
  const auto size = static_cast<size_t>(columns);
  for (int64_t row = 0; row < rows; ++row) {
    __builtin_memcpy(from + row * Lanes::kWidth, at.from + row * at.from_step, size * sizeof *from);
    __builtin_memcpy(mask + row * Lanes::kWidth, at.mask + row * at.mask_step, size);
  }
  add_square<Lanes>(Measured<Number>{from, Lanes::kWidth, mask, Lanes::kWidth}, sums);
}

template <typename Lanes, typename Number>
void add_rows(const Measured<Number> &line, GroupedSums<Lanes> &sums, int64_t rows, int64_t columns) {
  for (int64_t column = 0; column < columns; column += Lanes::kWidth) {
    const Measured<Number> at = {line.from + column, line.from_step, line.mask + column, line.mask_step};
    const int64_t count = smaller(Lanes::kWidth, columns - column);
    if (rows == Lanes::kWidth && count == Lanes::kWidth) {
      add_square(at, sums);
    } else {
      add_edge(at, sums, rows, count);
    }
  }
}

// Rows side by side; steps lead to the next column.
template <typename Lanes, typename Number>
void add_columns(const Measured<Number> &line, GroupedSums<Lanes> &all_sums, int64_t rows, int64_t columns) {
  GroupedSums<Lanes> sums = all_sums;  // in registers
  for (int64_t column = 0; column < columns; ++column) {
    const Number *from = line.from + column * line.from_step;
    const uint8_t *mask = line.mask + column * line.mask_step;
    if (rows == Lanes::kWidth) {
      sums.add(Lanes::marked(from, mask));
      continue;
    }
    Number numbers[Lanes::kWidth] = {};
    uint8_t bytes[Lanes::kWidth] = {};
    __builtin_memcpy(numbers, from, static_cast<size_t>(rows) * sizeof *from);
    __builtin_memcpy(bytes, mask, static_cast<size_t>(rows));
    sums.add(Lanes::marked(numbers, bytes));
  }
  all_sums = sums;
}

// How many vectors of rows alternate, so that lines of memory are read whole, and for how many columns each.
constexpr int64_t kRowVectors = 32, kRowVectorColumns = 16;

template <typename Lanes, typename Number>
void measure_columns(const SparseMeasureRequest &request, int64_t row, int64_t rows) {
  const MatrixView &source = request.source, &mask = request.mask;
  GroupedSums<Lanes> sums[kRowVectors];
  for (GroupedSums<Lanes> &each : sums) each.of = request.of;
  for (int64_t column = 0; column < source.columns; column += kRowVectorColumns) {
    for (int64_t i = 0; i * Lanes::kWidth < rows; ++i) {
      const int64_t first = row + i * Lanes::kWidth;
      const Measured<Number> line = {
          static_cast<const Number *>(source.data) + first + column * source.column_stride, source.column_stride,
          static_cast<const uint8_t *>(mask.data) + first + column * mask.column_stride, mask.column_stride};
      add_columns(line, sums[i], smaller(Lanes::kWidth, rows - i * Lanes::kWidth),
                  smaller(kRowVectorColumns, source.columns - column));
    }
  }
  for (int64_t i = 0; i * Lanes::kWidth < rows; ++i) {
    const int64_t first = i * Lanes::kWidth;
    sums[i].write(request.sums + row + first, smaller(Lanes::kWidth, rows - first));
  }
}

template <typename Lanes, typename Number>
void measure_rows(const SparseMeasureRequest &request, int64_t row, int64_t rows) {
  const MatrixView &source = request.source, &mask = request.mask;
  GroupedSums<Lanes> sums;
  sums.of = request.of;
  add_rows(Measured<Number>{static_cast<const Number *>(source.data) + row * source.row_stride, source.row_stride,
                            static_cast<const uint8_t *>(mask.data) + row * mask.row_stride, mask.row_stride},
           sums, rows, source.columns);
  sums.write(request.sums + row, rows);
}

template <typename Lanes, typename Number>
void measure_of(const SparseMeasureRequest &request) {
  const bool is_along_lines = request.source.column_stride == 1;
  const int64_t step = is_along_lines ? Lanes::kWidth : kRowVectors * Lanes::kWidth;
  const auto measure = is_along_lines ? measure_rows<Lanes, Number> : measure_columns<Lanes, Number>;
  for (int64_t row = 0; row < request.source.rows; row += step) {
    measure(request, row, smaller(step, request.source.rows - row));
  }
}

template <typename Lanes>
void measure_of_any(const SparseMeasureRequest &request) {
  if (request.source.format.element == LPT_FORMAT_F32) return measure_of<Lanes, float>(request);
  measure_of<Lanes, uint16_t>(request);
}

}  // namespace
}  // namespace lpt
