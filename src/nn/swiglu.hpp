// Gated activation: output = silu(gate) · up.
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

Status swiglu_forward(Context &context, const Tensor *gate, const Tensor *up, const lpt_swiglu_options &options,
                      Tensor *output, Tensor *smoothing);
Status swiglu_backward(Context &context, const Tensor *gate, const Tensor *up, const Tensor *output_gradient,
                       const lpt_swiglu_options &options, Tensor *gate_gradient, Tensor *up_gradient);

}  // namespace lpt
