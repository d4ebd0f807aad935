// SIMD kernels of softmax.
#include "kernels/activation/softmax_rows.hpp"

namespace lpt {
namespace {

template <bool kIsF32>
void softmax_forward(const SoftmaxForwardRequest &request) {
  const float scale = static_cast<float>(request.scale);
  const F32 scales = broadcast(scale);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    VisibleColumns seen = visible_columns(request, row);
    const RowSource inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    // The output buffer stores the exponentials if its format is f32.
    const bool is_kept = kIsF32 || outputs.format == LPT_FORMAT_F32;
    const RowTop found = find_top<kIsF32>(inputs, seen, scale);
    if (found.is_empty) seen = {};
    const F32 top = broadcast(found.x);

    const auto exponential_of = [&](int64_t column, ActiveLanes columns) {
      return exponential(scales * (load_row<kIsF32>(inputs, column, columns) - top));
    };
    Sum sum;
    for_columns(seen.begin, seen.end, [&](int64_t column, ActiveLanes columns) {
      const F32 e = exponential_of(column, columns);
      sum.add(select_active(columns, e, broadcast(0.0f)));
      if (is_kept) store(floats_at(outputs, column), columns, e);
    });
    const F32 inverse = broadcast(static_cast<float>(1.0 / sum.total()));
    for_columns(seen.begin, seen.end, [&](int64_t column, ActiveLanes columns) {
      const F32 e = is_kept ? load(floats_at(outputs, column), columns) : exponential_of(column, columns);
      store_row<kIsF32>(outputs, column, columns, e * inverse);
    });
    clear_hidden<kIsF32>(outputs, seen, request.input.columns);
    write_log_sum(request, row, found, sum.total());
  }
}

template <bool kIsF32>
void softmax_backward(const SoftmaxBackwardRequest &request) {
  const int64_t width = request.output.columns;
  const F32 scale = broadcast(static_cast<float>(request.scale));
  for (int64_t row = 0; row < request.output.rows; ++row) {
    const RowSource ys = line_of(request.output, row), gradients = line_of(request.output_gradient, row);
    const RowSource targets = line_of(request.input_gradient, row);
    Sum sum;
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      sum.add_products(load_row<kIsF32>(ys, column, columns), load_row<kIsF32>(gradients, column, columns));
    });
    const F32 mean = broadcast(static_cast<float>(sum.total()));
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const F32 y = load_row<kIsF32>(ys, column, columns);
      const F32 dy = load_row<kIsF32>(gradients, column, columns);
      store_row<kIsF32>(targets, column, columns, (scale * y) * (dy - mean));
    });
  }
}

}  // namespace

void LPT_KERNEL(softmax_forward)(const SoftmaxForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  all ? softmax_forward<true>(request) : softmax_forward<false>(request);
}

void LPT_KERNEL(softmax_backward)(const SoftmaxBackwardRequest &request) {
  const bool all = is_f32(request.output) && is_f32(request.output_gradient) && is_f32(request.input_gradient);
  all ? softmax_backward<true>(request) : softmax_backward<false>(request);
}

}  // namespace lpt
