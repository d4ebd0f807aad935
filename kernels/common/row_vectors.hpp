// Rows of a matrix of f32, bf16 or f16 as f32 vectors of adjacent columns. Included by ISA files: all functions have internal
// linkage.
#pragma once

#include <cstdint>

#include "kernels/common/simd.hpp"
#include "src/formats/view.hpp"

namespace lpt {
namespace {

// Calls body(column, columns) for each vector in [begin, end). `columns` is constant except for the last vector.
template <typename Body>
[[gnu::always_inline]] inline void for_columns(int64_t begin, int64_t end, const Body &body) {
  int64_t column = begin;
  for (; column + kLanes <= end; column += kLanes) body(column, all_lanes());
  if (column < end) body(column, first_lanes(end - column));
}

// Elements in memory.

struct RowSource {
  uint8_t *data;
  lpt_format format;
};

inline bool is_f32(const MatrixView &view) { return view.format.id == LPT_FORMAT_F32; }

inline RowSource line_of(const MatrixView &view, int64_t row) {
  const int64_t bytes = is_f32(view) ? 4 : 2;
  return {static_cast<uint8_t *>(view.data) + row * view.row_stride * bytes, view.format.id};
}

inline float *floats_at(const RowSource &line, int64_t column) { return reinterpret_cast<float *>(line.data) + column; }

// Loads a vector; missing columns are 0. kIsF32: all rows are f32, so that loops do not test the format.
template <bool kIsF32>
[[gnu::always_inline]] inline F32 load_row(const RowSource &line, int64_t column, ActiveLanes columns) {
  if (kIsF32 || line.format == LPT_FORMAT_F32) return load(floats_at(line, column), columns);
  const auto halves = load_u16(line.data + 2 * column, columns);
  return line.format == LPT_FORMAT_F16 ? f32_of_f16(halves) : f32_of_bf16(halves);
}

// Stores a vector rounded to nearest even. Values beyond the largest one are stored as infinity, NaN as the positive quiet NaN.
template <bool kIsF32>
[[gnu::always_inline]] inline void store_row(const RowSource &line, int64_t column, ActiveLanes columns, F32 value) {
  value = with_default_nan(value);
  if (kIsF32 || line.format == LPT_FORMAT_F32) return store(floats_at(line, column), columns, value);
  const auto halves = line.format == LPT_FORMAT_F16 ? f16_of_f32(value) : bf16_of_f32(value);
  store_u16(line.data + 2 * column, columns, halves);
}

}  // namespace
}  // namespace lpt
