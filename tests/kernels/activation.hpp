// Shared by the tests of SwiGLU, RMSNorm and softmax: elements as double, and error bounds.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {

// Bounds named k…Error apply to one result, in units of kEps times the magnitude stated next to the check. Rounding to the
// output format is added. Measured errors are at most half of each bound.
constexpr double kEps = 0x1p-23;

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

// Returns half a unit in the last place of `format` at `value`, plus the bound of underflow.
inline double rounding_error(lpt_format format, double value) {
  if (format == LPT_FORMAT_F64 || format == LPT_FORMAT_F32) return 0x1p-149;
  if (format == LPT_FORMAT_BF16) return std::fabs(value) * 0x1p-8 + 0x1p-133;
  return std::fabs(value) * 0x1p-11 + 0x1p-24;
}

inline double largest(lpt_format format) {
  return format == LPT_FORMAT_F16 ? 65504.0 : format == LPT_FORMAT_F64 ? 1e308 : 3.3e38;
}

// Returns an element as double. f64 keeps all its bits, unlike in Matrix::get.
inline double number(const Matrix &matrix, int64_t row, int64_t column) {
  if (matrix.format().id != LPT_FORMAT_F64) return static_cast<double>(matrix.get(row, column));
  double value;
  std::memcpy(&value, matrix.data.data() + 8 * matrix.index(row, column), sizeof value);
  return value;
}

inline void put(Matrix &matrix, int64_t row, int64_t column, double value) {
  if (matrix.format().id != LPT_FORMAT_F64) return matrix.set(row, column, static_cast<float>(value));
  std::memcpy(matrix.data.data() + 8 * matrix.index(row, column), &value, sizeof value);
}

// Outliers overflow f16; the tests against definitions use finite values only.
inline void fill_finite(Random &random, Matrix &matrix, Values values) {
  matrix.fill(random, values);
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      if (!std::isfinite(matrix.get(row, column))) matrix.set(row, column, 60000.0f);
    }
  }
}

inline void expect_near(const Matrix &matrix, int64_t row, int64_t column, double expected, double tolerance,
                        const std::string &where) {
  const double found = number(matrix, row, column);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << where << " at " << row << ", " << column << ": " << found << ", expected NaN";
    return;
  }
  if (std::fabs(expected) > largest(matrix.format().id) * 0.99) return;  // tests of the encoder cover overflow
  const double allowed = tolerance + rounding_error(matrix.format().id, expected);
  EXPECT_LE(std::fabs(found - expected), allowed)
      << where << " at " << row << ", " << column << ": " << found << ", expected " << expected;
}

inline std::string shape_text(const char *row, lpt_format format, int64_t rows, int64_t columns, Values values) {
  return std::string(row) + ' ' + format_name(format) + ' ' + std::to_string(rows) + "x" + std::to_string(columns) +
         ' ' + name_of(values);
}

}  // namespace lpt::test
