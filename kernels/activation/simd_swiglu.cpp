// SIMD kernels of SwiGLU: the operations of ref.cpp in the same order.
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <bool kIsF32>
void swiglu_forward(const SwigluForwardRequest &request) {
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const RowSource gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const RowSource outputs = line_of(request.output, row);
    for_columns(0, request.gate.columns, [&](int64_t column, ActiveLanes columns) {
      const F32 gate = load_row<kIsF32>(gates, column, columns);
      const F32 up = load_row<kIsF32>(ups, column, columns);
      const F32 silu = gate * logistic(gate).value;
      store_row<kIsF32>(outputs, column, columns, silu * up);
      if (request.column_amax != nullptr) {
        float *place = request.column_amax + column;
        store(place, columns, max(load(place, columns), finite_abs(up)));
      }
    });
  }
}

template <bool kIsF32>
void swiglu_backward(const SwigluBackwardRequest &request) {
  const F32 one = broadcast(1.0f);
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const RowSource gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const RowSource gradients = line_of(request.output_gradient, row);
    const RowSource gate_gradients = line_of(request.gate_gradient, row),
                    up_gradients = line_of(request.up_gradient, row);
    for_columns(0, request.gate.columns, [&](int64_t column, ActiveLanes columns) {
      const F32 gate = load_row<kIsF32>(gates, column, columns);
      const F32 up = load_row<kIsF32>(ups, column, columns);
      const F32 dy = load_row<kIsF32>(gradients, column, columns);
      const Logistic s = logistic(gate);
      const F32 derivative = s.value * mul_add(gate, s.complement, one);
      store_row<kIsF32>(gate_gradients, column, columns, (dy * up) * derivative);
      store_row<kIsF32>(up_gradients, column, columns, dy * (gate * s.value));
    });
  }
}

}  // namespace

void LPT_KERNEL(swiglu_forward)(const SwigluForwardRequest &request) {
  const bool all = is_f32(request.gate) && is_f32(request.up) && is_f32(request.output);
  all ? swiglu_forward<true>(request) : swiglu_forward<false>(request);
}

void LPT_KERNEL(swiglu_backward)(const SwigluBackwardRequest &request) {
  const bool all = is_f32(request.gate) && is_f32(request.up) && is_f32(request.output_gradient) &&
                   is_f32(request.gate_gradient) && is_f32(request.up_gradient);
  all ? swiglu_backward<true>(request) : swiglu_backward<false>(request);
}

}  // namespace lpt
