// The loops of softmax, once for all instruction sets. Included by ISA files.
#pragma once

#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <typename Isa, bool kIsF32>
void softmax_forward(const SoftmaxForwardRequest &request) {
  using Floats = typename Isa::Floats;
  using Columns = typename Isa::Columns;
  const float scale = static_cast<float>(request.scale);
  const Floats scales = Isa::all(scale);
  // A negative scale looks for the smallest: the largest of -x.
  const Floats flip = Isa::all(scale < 0.0f ? -0.0f : 0.0f);
  const Floats lowest = Isa::all(-__builtin_inff());
  for (int64_t row = 0; row < request.input.rows; ++row) {
    int64_t seen = seen_columns(request, row);
    const RowSource inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    // Exponentials wait in the output, unless it would round them.
    const bool is_kept = kIsF32 || outputs.format == LPT_FORMAT_F32;

    // max() gives its second operand when one is NaN: the peak is over numbers.
    Floats peaks = lowest;
    typename Isa::Flags nans = {};
    for_columns<Isa>(0, seen, [&](int64_t column, Columns columns) {
      const Floats x = Isa::flipped(load<Isa, kIsF32>(inputs, column, columns), flip);
      peaks = Isa::max(Isa::where(columns, x, lowest), peaks);
      nans = static_cast<typename Isa::Flags>(nans | Isa::is_nan(x));
    });
    const float peak = Isa::largest_of(peaks);
    const bool is_empty = !Isa::has_any(nans) && peak == -__builtin_inff();
    if (is_empty) seen = 0;
    const Floats top = Isa::flipped(Isa::all(peak), flip);

    const auto exponential_of = [&](int64_t column, Columns columns) {
      return exponential<Isa>(scales * (load<Isa, kIsF32>(inputs, column, columns) - top));
    };
    Sum<Isa> sum;
    for_columns<Isa>(0, seen, [&](int64_t column, Columns columns) {
      const Floats e = exponential_of(column, columns);
      sum.add(Isa::where(columns, e, Isa::all(0.0f)));
      if (is_kept) Isa::store(floats_at(outputs, column), columns, e);
    });
    const Floats inverse = Isa::all(static_cast<float>(1.0 / sum.total()));
    for_columns<Isa>(0, seen, [&](int64_t column, Columns columns) {
      const Floats e = is_kept ? Isa::load(floats_at(outputs, column), columns) : exponential_of(column, columns);
      store<Isa, kIsF32>(outputs, column, columns, e * inverse);
    });
    for_columns<Isa>(seen, request.input.columns, [&](int64_t column, Columns columns) {
      store<Isa, kIsF32>(outputs, column, columns, Isa::all(0.0f));
    });
  }
}

template <typename Isa, bool kIsF32>
void softmax_backward(const SoftmaxBackwardRequest &request) {
  using Floats = typename Isa::Floats;
  using Columns = typename Isa::Columns;
  const int64_t width = request.output.columns;
  const Floats scale = Isa::all(static_cast<float>(request.scale));
  for (int64_t row = 0; row < request.output.rows; ++row) {
    const RowSource ys = line_of(request.output, row), gradients = line_of(request.output_gradient, row);
    const RowSource targets = line_of(request.input_gradient, row);
    Sum<Isa> sum;
    for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
      sum.add_products(load<Isa, kIsF32>(ys, column, columns), load<Isa, kIsF32>(gradients, column, columns));
    });
    const Floats mean = Isa::all(static_cast<float>(sum.total()));
    for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
      const Floats y = load<Isa, kIsF32>(ys, column, columns);
      const Floats dy = load<Isa, kIsF32>(gradients, column, columns);
      store<Isa, kIsF32>(targets, column, columns, (scale * y) * (dy - mean));
    });
  }
}

template <typename Isa>
void softmax_forward_of(const SoftmaxForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  all ? softmax_forward<Isa, true>(request) : softmax_forward<Isa, false>(request);
}

template <typename Isa>
void softmax_backward_of(const SoftmaxBackwardRequest &request) {
  const bool all = is_f32(request.output) && is_f32(request.output_gradient) && is_f32(request.input_gradient);
  all ? softmax_backward<Isa, true>(request) : softmax_backward<Isa, false>(request);
}

}  // namespace
}  // namespace lpt
