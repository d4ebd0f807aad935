// The loops of RMSNorm for each instruction set.
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <bool kIsF32>
void rmsnorm_forward(const RmsnormForwardRequest &request) {
  const int64_t width = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  auto *inverses = static_cast<float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const RowSource inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    Sum sum;
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 x = load_row<kIsF32>(inputs, column, columns);
      sum.add_products(x, x);
    });
    const double square = (width == 0 ? 0.0 : sum.total() / static_cast<double>(width)) + request.epsilon;
    const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / __builtin_sqrt(square));
    const F32 r = broadcast(inverse);
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 normal = load_row<kIsF32>(inputs, column, columns) * r;
      store_row<kIsF32>(outputs, column, columns, normal * load(weights + column, columns));
    });
    if (inverses != nullptr) inverses[row] = inverse;
  }
}

template <bool kIsF32>
void rmsnorm_backward(const RmsnormBackwardRequest &request) {
  const int64_t width = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  const auto *inverses = static_cast<const float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const RowSource inputs = line_of(request.input, row), gradients = line_of(request.output_gradient, row);
    const F32 r = broadcast(inverses[row]);
    Sum sum;
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 dy = load_row<kIsF32>(gradients, column, columns);
      const F32 normal = load_row<kIsF32>(inputs, column, columns) * r;
      sum.add_products(dy * load(weights + column, columns), normal);
      if (request.weight_gradient_sum != nullptr) {
        add_products_to(request.weight_gradient_sum + column, columns, dy, normal);
      }
    });
    if (request.input_gradient.data == nullptr) continue;
    const RowSource outputs = line_of(request.input_gradient, row);
    const F32 mean = broadcast(static_cast<float>(sum.total() / static_cast<double>(width)));
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 normal = load_row<kIsF32>(inputs, column, columns) * r;
      const F32 weighted = load_row<kIsF32>(gradients, column, columns) * load(weights + column, columns);
      store_row<kIsF32>(outputs, column, columns, r * neg_mul_add(normal, mean, weighted));
    });
  }
}

}  // namespace

void LPT_KERNEL(rmsnorm_forward)(const RmsnormForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  all ? rmsnorm_forward<true>(request) : rmsnorm_forward<false>(request);
}

void LPT_KERNEL(rmsnorm_backward)(const RmsnormBackwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output_gradient) &&
                   (request.input_gradient.data == nullptr || is_f32(request.input_gradient));
  all ? rmsnorm_backward<true>(request) : rmsnorm_backward<false>(request);
}

}  // namespace lpt
