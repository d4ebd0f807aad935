// The loops of cross entropy, once for all instruction sets. Included by ISA files.
#pragma once

#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <typename Isa, bool kIsF32>
RowSums sums_of_row(const RowSource &logits, int64_t width, int64_t place) {
  using Floats = typename Isa::Floats;
  using Columns = typename Isa::Columns;
  const Floats lowest = Isa::all(-__builtin_inff());
  // max() gives its second operand when one is NaN: the peak is over numbers.
  Floats peaks = lowest;
  typename Isa::Flags nans = {};
  Sum<Isa> all;
  for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
    const Floats x = load<Isa, kIsF32>(logits, column, columns);
    peaks = Isa::max(Isa::where(columns, x, lowest), peaks);
    nans = static_cast<typename Isa::Flags>(nans | Isa::is_nan(x));
    all.add(x);
  });
  const float peak = Isa::has_any(nans) ? __builtin_nanf("") : Isa::largest_of(peaks);
  RowSums sums{static_cast<double>(peak), 0.0, 0.0, all.total()};
  if (place >= 0 && place < width) {
    const Columns one = Isa::first_columns(1);
    sums.target = static_cast<double>(Isa::largest_of(Isa::where(one, load<Isa, kIsF32>(logits, place, one), lowest)));
  }
  if (peak == -__builtin_inff()) return sums;
  Sum<Isa> exponentials;
  const Floats top = Isa::all(peak);
  for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
    const Floats e = exponential<Isa>(load<Isa, kIsF32>(logits, column, columns) - top);
    exponentials.add(Isa::where(columns, e, Isa::all(0.0f)));
  });
  sums.exponentials = exponentials.total();
  return sums;
}

template <typename Isa>
void cross_entropy_sums_of(const CrossEntropySumsRequest &request) {
  const int64_t width = request.logits.columns;
  for (int64_t row = 0; row < request.logits.rows; ++row) {
    const RowSource logits = line_of(request.logits, row);
    const int64_t place = request.places[row];
    request.sums[row] = is_f32(request.logits) ? sums_of_row<Isa, true>(logits, width, place)
                                               : sums_of_row<Isa, false>(logits, width, place);
  }
}

template <typename Isa, bool kIsF32>
void write_gradient_row(const CrossEntropyGradientRequest &request, int64_t row) {
  using Floats = typename Isa::Floats;
  using Columns = typename Isa::Columns;
  const RowSource from = line_of(request.logits, row), to = line_of(request.gradient, row);
  const int64_t width = request.logits.columns, place = request.places[row];
  const auto factor = static_cast<float>(request.factors[row]);
  if (request.factors[row] == 0.0) {
    for_columns<Isa>(0, width,
                     [&](int64_t column, Columns columns) { store<Isa, kIsF32>(to, column, columns, Isa::all(0.0f)); });
    return;
  }
  // The logarithm in two f32, so that what is left of it after the subtraction has all its bits.
  const auto high = static_cast<float>(request.log_sums[row]);
  const float rest = static_cast<float>(request.log_sums[row] - static_cast<double>(high));
  const Floats highs = Isa::all(high), lows = Isa::all(rest == rest ? rest : 0.0f), factors = Isa::all(factor);
  const Floats off = Isa::all(static_cast<float>(request.off));
  const auto value_of = [&](int64_t column, Columns columns, Floats taken) {
    const Floats x = load<Isa, kIsF32>(from, column, columns);
    return factors * (exponential<Isa>((x - highs) - lows) - taken);
  };
  // The target's first: the gradient may lie where the logits do.
  const bool is_here = place >= 0 && place < width;
  const Columns one = Isa::first_columns(1);
  const Floats of_target =
      is_here ? value_of(place, one, Isa::all(static_cast<float>(request.off + request.on))) : factors;
  for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
    store<Isa, kIsF32>(to, column, columns, value_of(column, columns, off));
  });
  if (is_here) store<Isa, kIsF32>(to, place, one, of_target);
}

template <typename Isa>
void cross_entropy_gradient_of(const CrossEntropyGradientRequest &request) {
  const bool is_plain = is_f32(request.logits) && is_f32(request.gradient);
  for (int64_t row = 0; row < request.logits.rows; ++row) {
    if (is_plain) {
      write_gradient_row<Isa, true>(request, row);
    } else {
      write_gradient_row<Isa, false>(request, row);
    }
  }
}

}  // namespace
}  // namespace lpt
