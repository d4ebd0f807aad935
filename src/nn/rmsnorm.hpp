// RMSNorm: output = input · r · weight, r = 1 / sqrt(mean(input²) + epsilon).
// LayerNorm: output = (input - m) · r · weight + bias, r = 1 / sqrt(mean((input - m)²) + epsilon), m = mean(input).
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

Status rmsnorm_forward(Context &context, const Tensor *input, const Tensor *weight, const lpt_rmsnorm_options &options,
                       Tensor *output, Tensor *inverse_rms);
// Computes sum = residual + branch, then the norm of the sum.
Status rmsnorm_forward_sum(Context &context, const Tensor *residual, const Tensor *branch, const Tensor *weight,
                           const lpt_rmsnorm_options &options, Tensor *sum, Tensor *output, Tensor *inverse_rms);
Status rmsnorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *inverse_rms,
                        const Tensor *output_gradient, const lpt_rmsnorm_options &options, Tensor *input_gradient,
                        Tensor *weight_gradient);
Status layernorm_forward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *bias,
                         const lpt_layernorm_options &options, Tensor *output, Tensor *mean, Tensor *inverse_deviation);
Status layernorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *mean,
                          const Tensor *inverse_deviation, const Tensor *output_gradient,
                          const lpt_layernorm_options &options, Tensor *input_gradient, Tensor *weight_gradient,
                          Tensor *bias_gradient);

}  // namespace lpt
