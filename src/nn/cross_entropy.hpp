// Cross entropy. The classes may be divided over ranks.
#pragma once

#include "src/ranks/comm.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// `targets` has one class for each row of logits.
Status cross_entropy_forward(Context &context, const Tensor *logits, const Tensor *targets,
                             const lpt_cross_entropy_options &options, Tensor *loss, Tensor *log_sums);
Status cross_entropy_backward(Context &context, const Tensor *logits, const Tensor *targets, const Tensor *log_sums,
                              const Tensor *loss_gradient, const lpt_cross_entropy_options &options,
                              Tensor *logits_gradient);

}  // namespace lpt
