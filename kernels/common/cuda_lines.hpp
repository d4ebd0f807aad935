// Rows of f32, bf16 or f16 of a device matrix, 16 elements at a time.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// A matrix as a kernel argument, passed by value.
struct DeviceRows {
  void *data;
  int64_t stride;  // in elements
  lpt_format format;
  bool is_whole;  // fragments are aligned to 16 bytes
};

inline DeviceRows lines_of(const MatrixView &view) {
  const bool is_whole = are_rows_aligned(view.data, view.row_stride * number_bytes(view.format.id));
  return {view.data, view.row_stride, view.format.id, is_whole};
}

// Returns a vector of f32 as a matrix whose rows are all the same memory.
inline DeviceRows line_of_vector(const void *data) {
  return {const_cast<void *>(data), 0, LPT_FORMAT_F32, reinterpret_cast<uintptr_t>(data) % 16 == 0};
}

__device__ __forceinline__ FloatFragment load_line(const DeviceRows &lines, int64_t row, int64_t column,
                                                   int32_t count) {
  return load_numbers(lines.format, lines.data, row * lines.stride + column, count,
                      lines.is_whole && count == kFragment);
}

__device__ __forceinline__ float number_of_line(const DeviceRows &lines, int64_t row, int64_t column) {
  const int64_t index = row * lines.stride + column;
  if (lines.format == LPT_FORMAT_F32) return static_cast<const float *>(lines.data)[index];
  const uint32_t code = static_cast<const uint16_t *>(lines.data)[index];
  return lines.format == LPT_FORMAT_BF16 ? number_of<Dtype::kBf16>(code) : number_of<Dtype::kF16>(code);
}

// Stores a fragment. A NaN is stored as the positive quiet NaN.
__device__ __forceinline__ void store_line(const DeviceRows &lines, int64_t row, int64_t column, int32_t count,
                                           FloatFragment fragment) {
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = positive_nan(fragment.number[i]);
  store_numbers(lines.format, lines.data, row * lines.stride + column, count, lines.is_whole && count == kFragment,
                fragment);
}

}  // namespace lpt
