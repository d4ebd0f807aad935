// Code that the reference kernels share: reading single elements of any matrix, and storing a sum to c.
#pragma once

#include <cmath>
#include <cstring>

#include "kernels/gemm/gemm.hpp"
#include "src/formats/element.hpp"

namespace lpt {

constexpr int64_t kReferenceColumns = 64;  // columns of b that are decoded together

// Returns scale or unscaled element `index` as T, exactly.
template <typename T>
T number_at(lpt_format plain, const void *data, int64_t index) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  if (plain == LPT_FORMAT_F64) {
    double value;
    std::memcpy(&value, bytes + 8 * index, sizeof value);
    return static_cast<T>(value);
  }
  if (plain == LPT_FORMAT_F32) {
    float value;
    std::memcpy(&value, bytes + 4 * index, sizeof value);
    return static_cast<T>(value);
  }
  const Element element = element_of(plain);
  return static_cast<T>(decode(element, load_code(element, data, index)));
}

// An operand as lanes × k. A lane is a row of a or a column of b.
struct OperandMN {
  const MatrixView &view;
  bool is_k_adjacent;  // stored as lanes × k; otherwise as k × lanes

  // Returns the element minus its zero point, without scales.
  template <typename T>
  T element(int64_t lane, int64_t p) const {
    const int64_t row = row_of(lane, p), column = column_of(lane, p);
    const T value = number_at<T>(view.format.element, view.data, row * view.row_stride + column * view.column_stride);
    return view.format.has_zero_point() ? value - static_cast<T>(view.zero_points[block_at(row, column)]) : value;
  }

  // Returns 1 if the format has no block scale.
  template <typename T>
  T block_scale(int64_t lane, int64_t p) const {
    if (!view.format.has_block_scale()) return 1;
    return number_at<T>(view.format.block_scale, view.block_scales, block_at(row_of(lane, p), column_of(lane, p)));
  }
  template <typename T>
  T tensor_scale() const {
    return view.format.has_tensor_scale() ? static_cast<T>(*view.tensor_scale) : 1;
  }

  // Returns the number of elements along k that share a scale.
  int64_t steps_of_scale(int64_t k) const {
    const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
    return view.format.has_block_scale() && extent != LPT_BLOCK_EXTENT_FULL && extent < k ? extent : k;
  }
  bool is_scaled_along_k(int64_t k) const { return steps_of_scale(k) < k; }

  // Returns the factor of the sum of a lane: its scale, unless scales vary along k, times the tensor scale.
  float lane_factor(int64_t lane, int64_t k) const {
    if (k == 0 || is_scaled_along_k(k)) return tensor_scale<float>();
    return block_scale<float>(lane, 0) * tensor_scale<float>();
  }

 private:
  int64_t row_of(int64_t lane, int64_t p) const { return is_k_adjacent ? lane : p; }
  int64_t column_of(int64_t lane, int64_t p) const { return is_k_adjacent ? p : lane; }
  int64_t block_at(int64_t row, int64_t column) const {
    return block_of(row, view.format.block_rows) * view.block_scale_stride +
           block_of(column, view.format.block_columns);
  }
  static int64_t block_of(int64_t index, int32_t extent) {
    return extent == LPT_BLOCK_EXTENT_FULL ? 0 : index / extent;
  }
};

inline OperandMN rows_of_a(const GemmRequest &request) { return {request.a, !request.is_a_transposed}; }
inline OperandMN columns_of_b(const GemmRequest &request) { return {request.b, request.is_b_transposed}; }

// Rounds to odd. A second rounding to fewer bits then returns the same value as a single rounding.
inline float narrow(double value) {
  const float rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || std::isnan(value) || std::isinf(rounded)) return rounded;
  const uint32_t bits = float_bits(rounded);
  if ((bits & 1) != 0) return rounded;
  return bits_float(std::fabs(static_cast<double>(rounded)) < std::fabs(value) ? bits + 1 : bits - 1);
}
inline float narrow(float value) { return value; }

template <typename T>
void store(const MatrixView &c, int64_t index, T value) {
  auto *bytes = static_cast<uint8_t *>(c.data);
  if (c.format.element == LPT_FORMAT_F64) {
    const double wide = static_cast<double>(value);
    std::memcpy(bytes + 8 * index, &wide, sizeof wide);
  } else if (c.format.element == LPT_FORMAT_F32) {
    const float single = static_cast<float>(value);
    std::memcpy(bytes + 4 * index, &single, sizeof single);
  } else {
    const auto half = static_cast<uint16_t>(
        encode(element_of(c.format.element), narrow(value), LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16));
    std::memcpy(bytes + 2 * index, &half, sizeof half);
  }
}

// Adds the beta and bias terms to alpha times a sum, and stores the result at (row, column) of c.
template <typename T>
void store_with_terms(const GemmRequest &request, int64_t row, int64_t column, T value) {
  const int64_t index = row * request.c.row_stride + column * request.c.column_stride;
  const T beta = static_cast<T>(request.beta);
  if (beta != 0) value += beta * number_at<T>(request.c.format.element, request.c.data, index);
  if (request.bias != nullptr) value += static_cast<const T *>(request.bias)[column];
  store(request.c, index, value);
}

// Columns of b that are decoded together.
struct ColumnBlock {
  int64_t first;  // column of c
  int64_t count;  // at most kReferenceColumns
};

// Computes a part of c. Calls read_columns() for each block of columns, then read_row() and sum() for each row.
template <typename ReadColumns, typename ReadRow, typename Sum>
void for_each_block(const GemmRequest &request, const ReadColumns &read_columns, const ReadRow &read_row,
                    const Sum &sum) {
  for (int64_t column = 0; column < request.n; column += kReferenceColumns) {
    const int64_t left = request.n - column;
    const ColumnBlock block = {request.first_column + column, left < kReferenceColumns ? left : kReferenceColumns};
    read_columns(block);
    for (int64_t i = 0; i < request.m; ++i) {
      read_row(request.first_row + i);
      sum(request.first_row + i, block);
    }
  }
}

}  // namespace lpt
