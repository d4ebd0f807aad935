// The loops of RMSNorm, once for all instruction sets. Included by ISA files.
#pragma once

#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <typename Isa, bool kIsF32>
void rmsnorm_forward(const RmsnormForwardRequest &request) {
  using Floats = typename Isa::Floats;
  using Columns = typename Isa::Columns;
  const int64_t width = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  auto *inverses = static_cast<float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const RowSource inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    Sum<Isa> sum;
    for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
      const Floats x = load<Isa, kIsF32>(inputs, column, columns);
      sum.add_products(x, x);
    });
    const double square = (width == 0 ? 0.0 : sum.total() / static_cast<double>(width)) + request.epsilon;
    const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / __builtin_sqrt(square));
    const Floats r = Isa::all(inverse);
    for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
      const Floats normal = load<Isa, kIsF32>(inputs, column, columns) * r;
      store<Isa, kIsF32>(outputs, column, columns, normal * Isa::load(weights + column, columns));
    });
    if (inverses != nullptr) inverses[row] = inverse;
  }
}

template <typename Isa, bool kIsF32>
void rmsnorm_backward(const RmsnormBackwardRequest &request) {
  using Floats = typename Isa::Floats;
  using Columns = typename Isa::Columns;
  const int64_t width = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  const auto *inverses = static_cast<const float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const RowSource inputs = line_of(request.input, row), gradients = line_of(request.output_gradient, row);
    const Floats r = Isa::all(inverses[row]);
    Sum<Isa> sum;
    for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
      const Floats dy = load<Isa, kIsF32>(gradients, column, columns);
      const Floats normal = load<Isa, kIsF32>(inputs, column, columns) * r;
      sum.add_products(dy * Isa::load(weights + column, columns), normal);
      if (request.weight_gradient_sum != nullptr) {
        Isa::add_products_to(request.weight_gradient_sum + column, columns, dy, normal);
      }
    });
    if (request.input_gradient.data == nullptr) continue;
    const RowSource outputs = line_of(request.input_gradient, row);
    const Floats mean = Isa::all(static_cast<float>(sum.total() / static_cast<double>(width)));
    for_columns<Isa>(0, width, [&](int64_t column, Columns columns) {
      const Floats normal = load<Isa, kIsF32>(inputs, column, columns) * r;
      const Floats weighted = load<Isa, kIsF32>(gradients, column, columns) * Isa::load(weights + column, columns);
      store<Isa, kIsF32>(outputs, column, columns, r * Isa::fused_off(normal, mean, weighted));
    });
  }
}

template <typename Isa>
void rmsnorm_forward_of(const RmsnormForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  all ? rmsnorm_forward<Isa, true>(request) : rmsnorm_forward<Isa, false>(request);
}

template <typename Isa>
void rmsnorm_backward_of(const RmsnormBackwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output_gradient) &&
                   (request.input_gradient.data == nullptr || is_f32(request.input_gradient));
  all ? rmsnorm_backward<Isa, true>(request) : rmsnorm_backward<Isa, false>(request);
}

}  // namespace
}  // namespace lpt
