// What the SIMD kernels of softmax share. Included by ISA files: all functions have internal linkage.
#pragma once

#include "kernels/activation/vectors.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {
namespace {

// The x of the largest argument scale · x of a row: the maximum, or the minimum for a negative scale.
struct RowTop {
  float x;
  bool has_nan;   // among the visible columns
  bool is_empty;  // no visible column, or only infinities whose argument is minus infinity
};

template <bool kIsF32>
[[gnu::always_inline]] inline RowTop find_top(const RowSource &inputs, const VisibleColumns &seen, float scale) {
  // The minimum is computed as the maximum of -x.
  const F32 flip = broadcast(scale < 0.0f ? -0.0f : 0.0f), lowest = broadcast(-__builtin_inff());
  // max() returns its second operand if one is NaN: the peak excludes NaN.
  F32 peaks = lowest;
  Mask nans = {};
  for_columns(seen.begin, seen.end, [&](int64_t column, ActiveLanes columns) {
    const F32 x = xor_bits(load_row<kIsF32>(inputs, column, columns), flip);
    peaks = max(select_active(columns, x, lowest), peaks);
    nans = either(nans, is_nan(x));
  });
  const float peak = reduce_max(peaks);
  const bool has_nan = has_any(nans);
  return {scale < 0.0f ? -peak : peak, has_nan, !has_nan && peak == -__builtin_inff()};
}

// Writes zeros to the columns that are not visible.
template <bool kIsF32>
[[gnu::always_inline]] inline void clear_hidden(const RowSource &outputs, const VisibleColumns &seen, int64_t width) {
  const auto clear = [&](int64_t column, ActiveLanes columns) {
    store_row<kIsF32>(outputs, column, columns, broadcast(0.0f));
  };
  for_columns(0, seen.begin, clear);
  for_columns(seen.end, width, clear);
}

// Writes log Σ exp(scale · x), if it is requested, for the sum of exp(scale · (x - top)).
[[gnu::always_inline]] inline void write_log_sum(const SoftmaxForwardRequest &request, int64_t row, const RowTop &top,
                                                 double sum) {
  if (request.log_sums == nullptr) return;
  const auto scale = static_cast<double>(static_cast<float>(request.scale));
  const double log_sum = scale * static_cast<double>(top.x) + log_f64(sum);
  static_cast<float *>(request.log_sums)[row] = top.is_empty ? -__builtin_inff() : static_cast<float>(log_sum);
}

}  // namespace
}  // namespace lpt
