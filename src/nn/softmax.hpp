// Softmax along the last axis.
#pragma once

#include "kernels/activation/activation.hpp"
#include "lpt/research/exaq.h"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status softmax_forward(Context &context, const Tensor *input, const lpt_softmax_options &options, Tensor *output);
Status exaq_softmax_forward(Context &context, const Tensor *input, const lpt_exaq_options &options, Tensor *output);
Status softmax_backward(Context &context, const Tensor *output, const Tensor *output_gradient,
                        const lpt_softmax_options &options, Tensor *input_gradient);

// Checks the members of EXAQ alone: the bits and the clip.
Status check_levels(const lpt_exaq_options &options);

// Run softmax on checked matrices.
Status run_softmax_forward(Context &context, const SoftmaxForwardRequest &whole, bool is_check);
Status run_softmax_exaq(Context &context, const SoftmaxExaqRequest &whole, bool is_check);
Status run_softmax_backward(Context &context, const SoftmaxBackwardRequest &whole, bool is_check);

}  // namespace lpt
