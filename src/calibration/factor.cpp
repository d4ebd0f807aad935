// H = R · Rᵀ with R upper triangular, from the last column to the first, and U = inverse(R). Both work on blocks of kBlock
// columns, so that most of the work is in products of matrices.
#include "src/calibration/factor.hpp"

#include <cmath>
#include <vector>

namespace lpt {
namespace {

constexpr int64_t kBlock = 64;
constexpr int64_t kTileRows = 4, kTileColumns = 4, kTileDepth = 256;

using F64x2 = double __attribute__((vector_size(16)));

// Adjacent numbers of a row.
struct Columns {
  F64x2 low, high;
};

// Computes kRows × `columns` of c -= a · b. `b` is packed: kTileColumns adjacent numbers for each step of the depth.
template <int kRows>
void subtract_tile(int64_t columns, int64_t depth, const F64View &a, const Columns *b, double *c, int64_t c_stride) {
  Columns sums[kRows] = {};
  for (int64_t d = 0; d < depth; ++d) {
    const Columns row = b[d];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const double factor = a.data[r * a.row_stride + d * a.column_stride];
      sums[r].low += factor * row.low;
      sums[r].high += factor * row.high;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    double numbers[kTileColumns];
    std::memcpy(numbers, &sums[r], sizeof numbers);
    for (int64_t column = 0; column < columns; ++column) c[r * c_stride + column] -= numbers[column];
  }
}

// Computes the columns `column` to `column` + `columns` of c -= a · b, at most kTileColumns.
void subtract_columns(int64_t rows, int64_t column, int64_t columns, int64_t depth, const F64View &a, const F64View &b,
                      double *c, int64_t c_stride) {
  Columns packed[kTileDepth];
  for (int64_t begin = 0; begin < depth; begin += kTileDepth) {
    const int64_t length = std::min(kTileDepth, depth - begin);
    for (int64_t d = 0; d < length; ++d) {
      packed[d] = Columns{};
      std::memcpy(&packed[d], b.data + (begin + d) * b.row_stride + column,
                  static_cast<size_t>(columns) * sizeof(double));
    }
    for (int64_t row = 0; row < rows; row += kTileRows) {
      const F64View part{a.data + row * a.row_stride + begin * a.column_stride, a.row_stride, a.column_stride};
      double *const place = c + row * c_stride + column;
      switch (std::min(kTileRows, rows - row)) {
        case 1:
          subtract_tile<1>(columns, length, part, packed, place, c_stride);
          break;
        case 2:
          subtract_tile<2>(columns, length, part, packed, place, c_stride);
          break;
        case 3:
          subtract_tile<3>(columns, length, part, packed, place, c_stride);
          break;
        default:
          subtract_tile<4>(columns, length, part, packed, place, c_stride);
      }
    }
  }
}

// Computes the columns begin to end of R above and in the diagonal block. Columns from `end` on are subtracted already.
bool factor_block(Context &context, int64_t size, double *h, int64_t begin, int64_t end) {
  const auto row = [=](int64_t r) { return h + r * size; };
  const auto solve_row = [=](double *numbers, int64_t last) {
    for (int64_t j = last; j >= begin; --j) {
      double sum = numbers[j];
      for (int64_t m = j + 1; m < end; ++m) sum -= numbers[m] * row(j)[m];
      numbers[j] = sum / row(j)[j];
    }
  };
  for (int64_t j = end - 1; j >= begin; --j) {
    // Row j: its elements right of the diagonal, then the diagonal.
    double square = row(j)[j];
    for (int64_t m = j + 1; m < end; ++m) square -= row(j)[m] * row(j)[m];
    if (!(square > 0.0) || !std::isfinite(square)) return false;
    row(j)[j] = std::sqrt(square);
    for (int64_t i = begin; i < j; ++i) {
      double sum = row(i)[j];
      for (int64_t m = j + 1; m < end; ++m) sum -= row(i)[m] * row(j)[m];
      row(i)[j] = sum / row(j)[j];
    }
  }
  parallel_parts(context, begin, kBlock * kBlock, [&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) solve_row(row(i), end - 1);
  });
  return true;
}

// Subtracts P · Pᵀ from the upper triangle of the first `begin` rows, where P is their columns begin to end.
void subtract_block(Context &context, int64_t size, double *h, int64_t begin, int64_t end,
                    std::vector<double> &transposed) {
  const int64_t depth = end - begin;
  transposed.resize(static_cast<size_t>(depth * begin));
  for (int64_t r = 0; r < begin; ++r) {
    for (int64_t d = 0; d < depth; ++d) transposed[static_cast<size_t>(d * begin + r)] = h[r * size + begin + d];
  }
  for (int64_t first = 0; first < begin; first += kBlock) {
    const int64_t rows = std::min(kBlock, begin - first);
    subtract_product(context, rows, begin - first, depth, {h + first * size + begin, size},
                     {transposed.data() + first, begin}, h + first * size + first, size);
  }
}

// Replaces an upper triangular block of R by its inverse.
void invert_block(int64_t count, int64_t size, double *block) {
  for (int64_t j = 0; j < count; ++j) {
    const double inverse = 1.0 / block[j * size + j];
    for (int64_t i = 0; i < j; ++i) {
      double sum = 0.0;
      for (int64_t m = i; m < j; ++m) sum += block[i * size + m] * block[m * size + j];
      block[i * size + j] = -sum * inverse;
    }
    block[j * size + j] = inverse;
  }
}

// Replaces R by its inverse, from the last block of rows to the first.
void invert_upper(Context &context, int64_t size, double *matrix) {
  for (int64_t r = 1; r < size; ++r) std::fill_n(matrix + r * size, r, 0.0);
  std::vector<double> products;
  for (int64_t end = size; end > 0;) {
    const int64_t begin = (end - 1) / kBlock * kBlock, count = end - begin, rest = size - end;
    double *const block = matrix + begin * size + begin, *const right = matrix + begin * size + end;
    invert_block(count, size, block);
    // right = -inverse(block) · (right · U)
    products.assign(static_cast<size_t>(count * rest), 0.0);
    subtract_product(context, count, rest, rest, {right, size}, {matrix + end * size + end, size}, products.data(),
                     rest);
    for (int64_t r = 0; r < count; ++r) std::fill_n(right + r * size, rest, 0.0);
    for (double &product : products) product = -product;
    subtract_product(context, count, rest, count, {block, size}, {products.data(), rest}, right, size);
    end = begin;
  }
}

}  // namespace

void subtract_product(Context &context, int64_t rows, int64_t columns, int64_t depth, const F64View &a,
                      const F64View &b, double *c, int64_t c_stride) {
  const int64_t tiles = (columns + kTileColumns - 1) / kTileColumns;
  parallel_parts(context, tiles, kTileColumns * rows * depth, [&](int64_t first, int64_t count) {
    for (int64_t column = first * kTileColumns; column < std::min((first + count) * kTileColumns, columns);
         column += kTileColumns) {
      subtract_columns(rows, column, std::min(kTileColumns, columns - column), depth, a, b, c, c_stride);
    }
  });
}

bool factor_inverse(Context &context, int64_t size, double *matrix) {
  std::vector<double> transposed;
  for (int64_t end = size; end > 0;) {
    const int64_t begin = (end - 1) / kBlock * kBlock;
    if (!factor_block(context, size, matrix, begin, end)) return false;
    subtract_block(context, size, matrix, begin, end, transposed);
    end = begin;
  }
  invert_upper(context, size, matrix);
  return true;
}

}  // namespace lpt
