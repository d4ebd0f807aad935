// The plain matrix product: any formats, any layout, one sum in the order of k. It decides what the others may differ from.
#include <cmath>
#include <cstring>

#include "kernels/gemm/rows.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr int64_t kColumns = 64;  // of b that are decoded at once

int64_t at_most(int64_t value, int64_t limit) { return value < limit ? value : limit; }

// Reads number (row, column) of a matrix of scales or of plain elements as T, exactly.
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

int64_t block_of(int64_t index, int32_t extent) { return extent == LPT_WHOLE ? 0 : index / extent; }

// Element times (block scale times tensor scale): in f32 as dequantize does it, in f64 exactly.
template <typename T>
T value_at(const MatrixView &view, int64_t row, int64_t column) {
  const Format &format = view.format;
  T value = number_at<T>(format.element, view.data, row * view.row_stride + column * view.column_stride);
  if (format.is_plain()) return value;
  T scale = 1;
  if (format.has_block_scale()) {
    const int64_t block =
        block_of(row, format.block_rows) * view.block_scale_stride + block_of(column, format.block_columns);
    scale = number_at<T>(format.block_scale, view.block_scales, block);
    if (format.has_zero_point()) value -= static_cast<T>(view.zero_points[block]);
  }
  if (format.has_tensor_scale()) scale *= static_cast<T>(*view.tensor_scale);
  return value * scale;
}

// Rounds to odd, so that a second rounding to fewer bits gives what one rounding would.
float narrow(double value) {
  const float rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || std::isnan(value) || std::isinf(rounded)) return rounded;
  const uint32_t bits = float_bits(rounded);
  if ((bits & 1) != 0) return rounded;
  return bits_float(std::fabs(static_cast<double>(rounded)) < std::fabs(value) ? bits + 1 : bits - 1);
}
float narrow(float value) { return value; }

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

// Rows of c one at a time, 64 columns of b decoded beside them.
template <typename T>
void multiply(const GemmRequest &request) {
  T *const a_row = reinterpret_cast<T *>(request.scratch);
  T *const b_block = a_row + request.k;
  const T *const bias = static_cast<const T *>(request.bias);
  const T alpha = static_cast<T>(request.alpha);
  const T beta = static_cast<T>(request.beta);
  for (int64_t column = 0; column < request.n; column += kColumns) {
    const int64_t columns = at_most(request.n - column, kColumns);
    const int64_t first_column = request.first_column + column;
    for (int64_t p = 0; p < request.k; ++p) {
      for (int64_t j = 0; j < columns; ++j) {
        b_block[p * kColumns + j] = request.is_b_transposed ? value_at<T>(request.b, first_column + j, p)
                                                            : value_at<T>(request.b, p, first_column + j);
      }
      for (int64_t j = columns; j < kColumns; ++j) b_block[p * kColumns + j] = 0;
    }
    for (int64_t i = 0; i < request.m; ++i) {
      const int64_t row = request.first_row + i;
      for (int64_t p = 0; p < request.k; ++p) {
        a_row[p] = request.is_a_transposed ? value_at<T>(request.a, p, row) : value_at<T>(request.a, row, p);
      }
      T sum[kColumns] = {};
      for (int64_t p = 0; p < request.k; ++p) {
        for (int64_t j = 0; j < kColumns; ++j) sum[j] += a_row[p] * b_block[p * kColumns + j];
      }
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t index = row * request.c.row_stride + (first_column + j) * request.c.column_stride;
        T value = alpha * sum[j];
        if (request.beta != 0) value += beta * number_at<T>(request.c.format.element, request.c.data, index);
        if (bias != nullptr) value += bias[first_column + j];
        store(request.c, index, value);
      }
    }
  }
}

}  // namespace

void gemm_any_ref(const GemmRequest &request) { request.is_f64 ? multiply<double>(request) : multiply<float>(request); }

size_t gemm_scratch_ref(const GemmRequest &request) {
  const size_t bytes = request.is_f64 ? sizeof(double) : sizeof(float);
  return static_cast<size_t>(request.k) * (1 + kColumns) * bytes;
}

}  // namespace lpt
