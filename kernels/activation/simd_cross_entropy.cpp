// SIMD kernels of cross entropy.
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <bool kIsF32>
RowSums sums_of_row(const RowSource &logits, int64_t width, int64_t place) {
  const F32 lowest = broadcast(-__builtin_inff());
  // max() returns its second operand if one is NaN: the peak excludes NaN.
  F32 peaks = lowest;
  Mask nans = {};
  Sum all;
  for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
    const F32 x = load_row<kIsF32>(logits, column, columns);
    peaks = max(select_active(columns, x, lowest), peaks);
    nans = either(nans, is_nan(x));
    all.add(x);
  });
  const float peak = has_any(nans) ? __builtin_nanf("") : reduce_max(peaks);
  RowSums sums{static_cast<double>(peak), 0.0, 0.0, all.total()};
  if (place >= 0 && place < width) {
    const ActiveLanes one = first_lanes(1);
    sums.target = static_cast<double>(reduce_max(select_active(one, load_row<kIsF32>(logits, place, one), lowest)));
  }
  if (peak == -__builtin_inff()) return sums;
  Sum exponentials;
  const F32 top = broadcast(peak);
  for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
    const F32 e = exponential(load_row<kIsF32>(logits, column, columns) - top);
    exponentials.add(select_active(columns, e, broadcast(0.0f)));
  });
  sums.exponentials = exponentials.total();
  return sums;
}

template <bool kIsF32>
void write_gradient_row(const CrossEntropyGradientRequest &request, int64_t row) {
  const RowSource from = line_of(request.logits, row), to = line_of(request.gradient, row);
  const int64_t width = request.logits.columns, place = request.places[row];
  const auto factor = static_cast<float>(request.factors[row]);
  if (request.factors[row] == 0.0) {
    for_columns(0, width,
                [&](int64_t column, ActiveLanes columns) { store_row<kIsF32>(to, column, columns, broadcast(0.0f)); });
    return;
  }
  // The logarithm as two f32, so that x - log_sum keeps the accuracy of f32.
  const auto high = static_cast<float>(request.log_sums[row]);
  const float rest = static_cast<float>(request.log_sums[row] - static_cast<double>(high));
  const F32 highs = broadcast(high), lows = broadcast(rest == rest ? rest : 0.0f), factors = broadcast(factor);
  const F32 off = broadcast(static_cast<float>(request.off));
  const auto value_of = [&](int64_t column, ActiveLanes columns, F32 taken) {
    const F32 x = load_row<kIsF32>(from, column, columns);
    return factors * (exponential((x - highs) - lows) - taken);
  };
  // The target is computed first: the gradient may overwrite the logits.
  const bool is_here = place >= 0 && place < width;
  const ActiveLanes one = first_lanes(1);
  const F32 of_target =
      is_here ? value_of(place, one, broadcast(static_cast<float>(request.off + request.on))) : factors;
  for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
    store_row<kIsF32>(to, column, columns, value_of(column, columns, off));
  });
  if (is_here) store_row<kIsF32>(to, place, one, of_target);
}

}  // namespace

void LPT_KERNEL(cross_entropy_sums)(const CrossEntropySumsRequest &request) {
  const int64_t width = request.logits.columns;
  for (int64_t row = 0; row < request.logits.rows; ++row) {
    const RowSource logits = line_of(request.logits, row);
    const int64_t place = request.places[row];
    request.sums[row] =
        is_f32(request.logits) ? sums_of_row<true>(logits, width, place) : sums_of_row<false>(logits, width, place);
  }
}

void LPT_KERNEL(cross_entropy_gradient)(const CrossEntropyGradientRequest &request) {
  const bool is_plain = is_f32(request.logits) && is_f32(request.gradient);
  for (int64_t row = 0; row < request.logits.rows; ++row) {
    if (is_plain) {
      write_gradient_row<true>(request, row);
    } else {
      write_gradient_row<false>(request, row);
    }
  }
}

}  // namespace lpt
