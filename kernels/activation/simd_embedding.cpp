// SIMD kernel of the gradient of an embedding.
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <bool kIsF32>
void add_row(const RowSource &from, const RowSource &to, int64_t width) {
  for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
    const F32 sum = load(floats_at(to, column), columns) + load_row<kIsF32>(from, column, columns);
    store_row<true>(to, column, columns, sum);
  });
}

}  // namespace

void LPT_KERNEL(embedding_gradient)(const EmbeddingGradientRequest &request) {
  const MatrixView &from = request.output_gradient, &gradient = request.gradient;
  for (int64_t i = request.part; i < gradient.rows && !request.is_accumulated; i += request.parts) {
    const RowSource to = line_of(gradient, i);
    for_columns(0, gradient.columns,
                [&](int64_t column, ActiveLanes columns) { store_row<true>(to, column, columns, broadcast(0.0f)); });
  }
  for (int64_t r = 0; r < from.rows; ++r) {
    const int64_t i = request.places[r];
    if (i < 0 || i >= gradient.rows || i % request.parts != request.part) continue;
    if (is_f32(from)) {
      add_row<true>(line_of(from, r), line_of(gradient, i), gradient.columns);
    } else {
      add_row<false>(line_of(from, r), line_of(gradient, i), gradient.columns);
    }
  }
}

}  // namespace lpt
