// Embedding: gathers rows of a table by index, and computes the gradient of the table.
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

Status embedding_forward(Context &context, const Tensor *weight, const Tensor *indices,
                         const lpt_embedding_options &options, Tensor *output);
Status embedding_backward(Context &context, const Tensor *indices, const Tensor *output_gradient,
                          const lpt_embedding_options &options, Tensor *weight_gradient);

}  // namespace lpt
