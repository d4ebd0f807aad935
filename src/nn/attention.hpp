// Scaled dot-product attention: by a fused kernel if one supports the request, otherwise by GEMMs and softmax.
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

struct AttentionInputs {
  const Tensor *query, *key, *value;
};
struct AttentionGradients {
  Tensor *query, *key, *value;
};

Status attention_forward(Context &context, const AttentionInputs &inputs, const lpt_attention_options &options,
                         Tensor *output);
Status attention_backward(Context &context, const AttentionInputs &inputs, const Tensor *output_gradient,
                          const lpt_attention_options &options, const AttentionGradients &gradients);

// The same for some of the keys. The output and the log of the sums in the options are those over all keys.
Status attention_backward_of_keys(Context &context, const AttentionInputs &inputs, const Tensor *output_gradient,
                                  const lpt_attention_options &options, const AttentionGradients &gradients);

}  // namespace lpt
