// SIMD kernels of RMSNorm and LayerNorm.
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

// Returns the weights; LayerNorm may have none: ones.
template <bool kIsCentered>
[[gnu::always_inline]] inline F32 weight_at(const float *weights, int64_t column, ActiveLanes columns) {
  return kIsCentered && weights == nullptr ? broadcast(1.0f) : load(weights + column, columns);
}

// Mean and variance of a row from the differences d to its first element k: k + mean(d) and mean(d²) - mean(d)². The
// subtraction cancels a factor of at most n, the number of elements: d is 0 for the first, so that the variance is at least
// mean(d²) / n.
struct Moments {
  double mean, variance;
};

template <bool kIsF32>
[[gnu::always_inline]] inline Moments moments_of(const RowSource &inputs, int64_t width) {
  if (width == 0) return {0.0, 0.0};
  float lanes[kLanes];
  store(lanes, load_row<kIsF32>(inputs, 0, first_lanes(1)));
  const F32 first = broadcast(lanes[0]);
  const F64 pivot = broadcast(static_cast<double>(lanes[0]));
  Sum sum, squares;
  for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
    const F32 x = select_active(columns, load_row<kIsF32>(inputs, column, columns), first);
    const F64 low = lower_f64(x) - pivot, high = upper_f64(x) - pivot;
    sum.low += low;
    sum.high += high;
    squares.low = mul_add(low, low, squares.low);
    squares.high = mul_add(high, high, squares.high);
  });
  const double share = 1.0 / static_cast<double>(width), mean = sum.total() * share;
  const double variance = squares.total() * share - mean * mean;
  return {static_cast<double>(lanes[0]) + mean, variance < 0.0 ? 0.0 : variance};
}

template <bool kIsF32>
[[gnu::always_inline]] inline Moments squares_of(const RowSource &inputs, int64_t width) {
  Sum sum;
  for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
    const F32 x = load_row<kIsF32>(inputs, column, columns);
    sum.add_products(x, x);
  });
  return {0.0, width == 0 ? 0.0 : sum.total() / static_cast<double>(width)};
}

// Writes a row of the sum, which the norm then reads from the nearest cache.
template <bool kIsF32>
void add_rows(const RmsnormForwardRequest &request, int64_t row) {
  const RowSource residual = line_of(request.residual, row), branch = line_of(request.branch, row);
  const RowSource sum = line_of(request.input, row);
  for_columns(0, request.input.columns, [&](int64_t column, ActiveLanes columns) {
    store_row<kIsF32>(sum, column, columns,
                      load_row<kIsF32>(residual, column, columns) + load_row<kIsF32>(branch, column, columns));
  });
}

template <bool kIsF32, bool kIsCentered>
void rmsnorm_forward(const RmsnormForwardRequest &request) {
  const int64_t width = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight), *biases = static_cast<const float *>(request.bias);
  auto *inverses = static_cast<float *>(request.inverse_rms), *means = static_cast<float *>(request.mean);
  const bool is_added_f32 = is_f32(request.input) && is_f32(request.residual) && is_f32(request.branch);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const RowSource inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    if (request.has_residual()) is_added_f32 ? add_rows<true>(request, row) : add_rows<false>(request, row);
    const Moments moments = kIsCentered ? moments_of<kIsF32>(inputs, width) : squares_of<kIsF32>(inputs, width);
    const double square = moments.variance + request.epsilon;
    const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / __builtin_sqrt(square));
    const float mean = static_cast<float>(moments.mean);
    const F32 r = broadcast(inverse), m = broadcast(mean);
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 x = load_row<kIsF32>(inputs, column, columns);
      F32 y = ((kIsCentered ? x - m : x) * r) * weight_at<kIsCentered>(weights, column, columns);
      if (kIsCentered && biases != nullptr) y = y + load(biases + column, columns);
      store_row<kIsF32>(outputs, column, columns, y);
    });
    if (inverses != nullptr) inverses[row] = inverse;
    if (kIsCentered && means != nullptr) means[row] = mean;
  }
}

template <bool kIsF32, bool kIsCentered>
void rmsnorm_backward(const RmsnormBackwardRequest &request) {
  const int64_t width = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  const auto *inverses = static_cast<const float *>(request.inverse_rms),
             *means = static_cast<const float *>(request.mean);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const RowSource inputs = line_of(request.input, row), gradients = line_of(request.output_gradient, row);
    const F32 r = broadcast(inverses[row]), m = broadcast(kIsCentered ? means[row] : 0.0f);
    const auto normal_at = [&](int64_t column, ActiveLanes columns) {
      const F32 x = load_row<kIsF32>(inputs, column, columns);
      return (kIsCentered ? x - m : x) * r;
    };
    Sum sum, weighted_sum;
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 dy = load_row<kIsF32>(gradients, column, columns);
      const F32 normal = normal_at(column, columns);
      const F32 weighted = dy * weight_at<kIsCentered>(weights, column, columns);
      sum.add_products(weighted, normal);
      if (kIsCentered) weighted_sum.add(weighted);
      if (request.weight_gradient_sum != nullptr) {
        add_products_to(request.weight_gradient_sum + column, columns, dy, normal);
      }
      if (kIsCentered && request.bias_gradient_sum != nullptr) {
        add_products_to(request.bias_gradient_sum + column, columns, dy, broadcast(1.0f));
      }
    });
    if (request.input_gradient.data == nullptr) continue;
    const RowSource outputs = line_of(request.input_gradient, row), others = line_of(request.residual_gradient, row);
    const F32 mean = broadcast(static_cast<float>(sum.total() / static_cast<double>(width)));
    const F32 weighted_mean = broadcast(static_cast<float>(weighted_sum.total() / static_cast<double>(width)));
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      F32 weighted = load_row<kIsF32>(gradients, column, columns) * weight_at<kIsCentered>(weights, column, columns);
      if (kIsCentered) weighted = weighted - weighted_mean;
      F32 gradient = r * neg_mul_add(normal_at(column, columns), mean, weighted);
      if (others.data != nullptr) gradient = gradient + load_row<kIsF32>(others, column, columns);
      store_row<kIsF32>(outputs, column, columns, gradient);
    });
  }
}

}  // namespace

void LPT_KERNEL(rmsnorm_forward)(const RmsnormForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  if (request.is_centered) return all ? rmsnorm_forward<true, true>(request) : rmsnorm_forward<false, true>(request);
  all ? rmsnorm_forward<true, false>(request) : rmsnorm_forward<false, false>(request);
}

void LPT_KERNEL(rmsnorm_backward)(const RmsnormBackwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output_gradient) &&
                   (request.input_gradient.data == nullptr || is_f32(request.input_gradient)) &&
                   (request.residual_gradient.data == nullptr || is_f32(request.residual_gradient));
  if (request.is_centered) return all ? rmsnorm_backward<true, true>(request) : rmsnorm_backward<false, true>(request);
  all ? rmsnorm_backward<true, false>(request) : rmsnorm_backward<false, false>(request);
}

}  // namespace lpt
