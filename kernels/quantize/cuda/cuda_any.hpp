// Codes of any format as kernel arguments, passed by value. The format is known at run time. Common formats have specialized
// kernels instead.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

constexpr int32_t kStripes = 16;  // running sums of striped_sum()

// An element of a format. `levels` is a copy of the level list, because element.levels points to host memory.
struct AnyElement {
  Element element;
  LevelList levels;
  bool has_levels;
  int32_t wide_bytes;  // 4 for f32 and 8 for f64, which have no Element; otherwise 0
};

struct AnyCodes {
  void *data, *block_scales;
  uint8_t *zero_points;       // NULL: none
  const float *tensor_scale;  // NULL: none
  int64_t rows, columns, stride, block_scale_stride;
  int64_t block_rows, block_columns;
  lpt_format scale;
  AnyElement any;
};

__device__ __forceinline__ float any_tensor_scale(const AnyCodes &codes) {
  return codes.tensor_scale == nullptr ? 1.0f : *codes.tensor_scale;
}

__device__ __forceinline__ int64_t any_block(const AnyCodes &codes, int64_t row, int64_t column) {
  return row / codes.block_rows * codes.block_scale_stride + column / codes.block_columns;
}

// Returns the scale of a block. The format must have block scales.
__device__ __forceinline__ float any_block_scale(const AnyCodes &codes, int64_t block) {
  const uint32_t code = codes.scale == LPT_FORMAT_F32
                            ? float_bits(static_cast<const float *>(codes.block_scales)[block])
                            : static_cast<const uint8_t *>(codes.block_scales)[block];
  return block_scale_value(codes.scale, code);
}

__device__ __forceinline__ float any_scale(const AnyCodes &codes, int64_t row, int64_t column) {
  const float tensor_scale = any_tensor_scale(codes);
  if (codes.scale == LPT_FORMAT_NONE) return tensor_scale;
  return any_block_scale(codes, any_block(codes, row, column)) * tensor_scale;
}

__device__ __forceinline__ float any_zero_point(const AnyCodes &codes, int64_t row, int64_t column) {
  return codes.zero_points == nullptr ? 0.0f : static_cast<float>(codes.zero_points[any_block(codes, row, column)]);
}

__device__ __forceinline__ float any_element(const AnyCodes &codes, int64_t row, int64_t column) {
  const int64_t index = row * codes.stride + column;
  if (codes.any.wide_bytes == 4) return static_cast<const float *>(codes.data)[index];
  if (codes.any.wide_bytes == 8) return static_cast<float>(static_cast<const double *>(codes.data)[index]);
  const uint32_t code = load_code(codes.any.element, codes.data, index);
  return codes.any.has_levels ? codes.any.levels.value[code & 15] : decode(codes.any.element, code);
}

__device__ __forceinline__ float any_number(const AnyCodes &codes, int64_t row, int64_t column) {
  const float element = any_element(codes, row, column);
  const float moved = codes.zero_points == nullptr ? element : element - any_zero_point(codes, row, column);
  return unscaled(moved, any_scale(codes, row, column));
}

// Host code.

inline AnyElement any_element_of(lpt_format plain) {
  AnyElement any = {};
  if (!has_element(plain)) {
    any.wide_bytes = plain == LPT_FORMAT_F32 ? 4 : 8;
    return any;
  }
  any.element = element_of(plain);
  any.has_levels = any.element.levels != nullptr;
  if (any.has_levels) any.levels = *any.element.levels;
  any.element.levels = nullptr;
  return any;
}

inline AnyCodes any_codes(const MatrixView &view) {
  const Format &format = view.format;
  const BlockGrid grid = block_grid(format, view.rows, view.columns);
  AnyCodes codes = {};
  codes.data = view.data;
  codes.block_scales = view.block_scales;
  codes.zero_points = format.has_zero_point() ? view.zero_points : nullptr;
  codes.tensor_scale = format.has_tensor_scale() ? view.tensor_scale : nullptr;
  codes.rows = view.rows;
  codes.columns = view.columns;
  codes.stride = view.row_stride;
  codes.block_scale_stride = view.block_scale_stride;
  codes.block_rows = grid.block_rows;
  codes.block_columns = grid.block_columns;
  codes.scale = format.block_scale;
  codes.any = any_element_of(format.element);
  return codes;
}

// A matrix of f32, bf16 or f16 with any strides, as a kernel argument.
struct AnyNumbers {
  void *data;
  int64_t row_stride, column_stride;
  lpt_format format;
  uint32_t nan_bits;  // bits of a NaN that a cast keeps: all of f32, the sign of 16 bits
};

__device__ __forceinline__ float number_at(const AnyNumbers &numbers, int64_t row, int64_t column) {
  const int64_t index = row * numbers.row_stride + column * numbers.column_stride;
  if (numbers.format == LPT_FORMAT_F32) return static_cast<const float *>(numbers.data)[index];
  const uint32_t code = static_cast<const uint16_t *>(numbers.data)[index];
  return numbers.format == LPT_FORMAT_BF16 ? number_of<Dtype::kBf16>(code) : number_of<Dtype::kF16>(code);
}

inline AnyNumbers any_numbers(const MatrixView &view) {
  const lpt_format element = view.format.element;
  return {view.data, view.row_stride, view.column_stride, element, element == LPT_FORMAT_F32 ? ~0u : 0x80000000u};
}

}  // namespace lpt
