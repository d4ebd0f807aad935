// Building blocks of the loops of the layers: vectors of adjacent columns in f32, and sums in f64. Included by simd_*.cpp.
#pragma once

#include <cstdint>

#include "kernels/activation/kernels.hpp"
#include "kernels/common/simd.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

// body(column, columns) for every group in [begin, end); `columns` is constant but for the last one.
template <typename Body>
[[gnu::always_inline]] inline void for_columns(int64_t begin, int64_t end, const Body &body) {
  int64_t column = begin;
  for (; column + kLanes <= end; column += kLanes) body(column, all_lanes());
  if (column < end) body(column, first_lanes(end - column));
}

// ---- numbers in memory

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

// Zero where there is no column. kIsF32: so are all lines, and the loops test no formats.
template <bool kIsF32>
[[gnu::always_inline]] inline F32 load_row(const RowSource &line, int64_t column, ActiveLanes columns) {
  if (kIsF32 || line.format == LPT_FORMAT_F32) return load(floats_at(line, column), columns);
  const auto halves = load_u16(line.data + 2 * column, columns);
  return line.format == LPT_FORMAT_F16 ? f32_of_f16(halves) : f32_of_bf16(halves);
}

// Nearest even; beyond the largest value infinity; NaN the positive quiet one.
template <bool kIsF32>
[[gnu::always_inline]] inline void store_row(const RowSource &line, int64_t column, ActiveLanes columns, F32 value) {
  value = with_default_nan(value);
  if (kIsF32 || line.format == LPT_FORMAT_F32) return store(floats_at(line, column), columns, value);
  const auto halves = line.format == LPT_FORMAT_F16 ? f16_of_f32(value) : bf16_of_f32(value);
  store_u16(line.data + 2 * column, columns, halves);
}

// ---- functions: the operations of src/formats/functions.hpp

[[gnu::always_inline]] inline F32 exp_polynomial(F32 r) {
  using K = ExpConstants;
  F32 p = mul_add(broadcast(K::kC6), r, broadcast(K::kC5));
  p = mul_add(p, r, broadcast(K::kC4));
  p = mul_add(p, r, broadcast(K::kC3));
  p = mul_add(p, r, broadcast(K::kC2));
  p = mul_add(p, r, broadcast(1.0f));
  return mul_add(p, r, broadcast(1.0f));
}

// The operand order of min and max keeps NaN.
[[gnu::always_inline]] inline F32 exponential(F32 x) {
  using K = ExpConstants;
  x = max(broadcast(K::kLowest), x);
  x = min(broadcast(K::kHighest), x);
  const F32 bias = broadcast(K::kRoundBias);
  const F32 n = mul_add(x, broadcast(K::kLog2E), bias) - bias;
  F32 r = mul_add(n, broadcast(-K::kLn2High), x);
  r = mul_add(n, broadcast(-K::kLn2Low), r);
  return times_power_of_two(exp_polynomial(r), n);
}

struct Logistic {
  F32 value, complement;
};

[[gnu::always_inline]] inline Logistic logistic(F32 x) {
  const F32 one = broadcast(1.0f);
  const F32 e = exponential(negative_abs(x));
  const F32 larger = one / (one + e);
  const F32 smaller = e * larger;
  return {select(is_negative(x), smaller, larger), select(is_negative(x), larger, smaller)};
}

// ---- sums in f64: of the lower lanes and of the upper ones

struct Sum {
  F64 low = {}, high = {};

  // The product is exact.
  [[gnu::always_inline]] void add_products(F32 a, F32 b) {
    low = mul_add(lower_f64(a), lower_f64(b), low);
    high = mul_add(upper_f64(a), upper_f64(b), high);
  }
  [[gnu::always_inline]] void add(F32 value) {
    low += lower_f64(value);
    high += upper_f64(value);
  }
  double total() const { return reduce_add(low + high); }
};

}  // namespace
}  // namespace lpt
