// Root mean square norm: output = input · r · weight,  r = 1 / sqrt(mean(input²) + epsilon).
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

Status rmsnorm_forward(Context &context, const Tensor *input, const Tensor *weight, const lpt_rmsnorm_options &options,
                       Tensor *output, Tensor *inverse_rms);
// sum = residual + branch, then the norm of the sum.
Status rmsnorm_forward_sum(Context &context, const Tensor *residual, const Tensor *branch, const Tensor *weight,
                           const lpt_rmsnorm_options &options, Tensor *sum, Tensor *output, Tensor *inverse_rms);
Status rmsnorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *inverse_rms,
                        const Tensor *output_gradient, const lpt_rmsnorm_options &options, Tensor *input_gradient,
                        Tensor *weight_gradient);

}  // namespace lpt
