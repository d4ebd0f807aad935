// What the tests of SwiGLU, RMSNorm and softmax share: numbers in double, and how far a result may be from one.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {

// Bounds named k…Error are of one result, in units of kEps times the magnitude that is named beside the check; rounding to
// the output's format comes on top. Measured: at most half of each.
constexpr double kEps = 0x1p-23;

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

// Half a unit in the last place of `format` at `value`, and what underflows.
inline double rounding_error(lpt_format format, double value) {
  if (format == LPT_FORMAT_F64 || format == LPT_FORMAT_F32) return 0x1p-149;
  if (format == LPT_FORMAT_BF16) return std::fabs(value) * 0x1p-8 + 0x1p-133;
  return std::fabs(value) * 0x1p-11 + 0x1p-24;
}

inline double largest(lpt_format format) {
  return format == LPT_FORMAT_F16 ? 65504.0 : format == LPT_FORMAT_F64 ? 1e308 : 3.3e38;
}

// Numbers as doubles; f64 keeps all its bits, which Matrix::get does not.
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

// Outliers overflow f16: the tests against definitions are about numbers.
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
  if (std::fabs(expected) > largest(matrix.format().id) * 0.99) return;  // overflow is the encoder's matter
  const double allowed = tolerance + rounding_error(matrix.format().id, expected);
  EXPECT_LE(std::fabs(found - expected), allowed)
      << where << " at " << row << ", " << column << ": " << found << ", expected " << expected;
}

inline std::string shape_text(const char *row, lpt_format format, int64_t rows, int64_t columns, Values values) {
  return std::string(row) + ' ' + format_name(format) + ' ' + std::to_string(rows) + "x" + std::to_string(columns) +
         ' ' + name_of(values);
}

}  // namespace lpt::test
