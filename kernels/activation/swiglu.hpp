// The loops of SwiGLU, once for all instruction sets: the operations of ref.cpp in the same order. Included by ISA files.
#pragma once

#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <typename Isa, bool kIsF32>
void swiglu_forward(const SwigluForwardRequest &request) {
  using Floats = typename Isa::Floats;
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const RowSource gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const RowSource outputs = line_of(request.output, row);
    for_columns<Isa>(0, request.gate.columns, [&](int64_t column, typename Isa::Columns columns) {
      const Floats gate = load<Isa, kIsF32>(gates, column, columns);
      const Floats up = load<Isa, kIsF32>(ups, column, columns);
      const Floats silu = gate * logistic<Isa>(gate).value;
      store<Isa, kIsF32>(outputs, column, columns, silu * up);
      if (request.column_amax != nullptr) {
        float *place = request.column_amax + column;
        Isa::store(place, columns, Isa::max(Isa::load(place, columns), Isa::finite_magnitude(up)));
      }
    });
  }
}

template <typename Isa, bool kIsF32>
void swiglu_backward(const SwigluBackwardRequest &request) {
  using Floats = typename Isa::Floats;
  const Floats one = Isa::all(1.0f);
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const RowSource gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const RowSource gradients = line_of(request.output_gradient, row);
    const RowSource gate_gradients = line_of(request.gate_gradient, row),
                    up_gradients = line_of(request.up_gradient, row);
    for_columns<Isa>(0, request.gate.columns, [&](int64_t column, typename Isa::Columns columns) {
      const Floats gate = load<Isa, kIsF32>(gates, column, columns);
      const Floats up = load<Isa, kIsF32>(ups, column, columns);
      const Floats dy = load<Isa, kIsF32>(gradients, column, columns);
      const Logistic<Isa> s = logistic<Isa>(gate);
      const Floats derivative = s.value * Isa::fused(gate, s.complement, one);
      store<Isa, kIsF32>(gate_gradients, column, columns, (dy * up) * derivative);
      store<Isa, kIsF32>(up_gradients, column, columns, dy * (gate * s.value));
    });
  }
}

template <typename Isa>
void swiglu_forward_of(const SwigluForwardRequest &request) {
  const bool all = is_f32(request.gate) && is_f32(request.up) && is_f32(request.output);
  all ? swiglu_forward<Isa, true>(request) : swiglu_forward<Isa, false>(request);
}

template <typename Isa>
void swiglu_backward_of(const SwigluBackwardRequest &request) {
  const bool all = is_f32(request.gate) && is_f32(request.up) && is_f32(request.output_gradient) &&
                   is_f32(request.gate_gradient) && is_f32(request.up_gradient);
  all ? swiglu_backward<Isa, true>(request) : swiglu_backward<Isa, false>(request);
}

}  // namespace
}  // namespace lpt
