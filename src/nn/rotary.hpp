// Rotary position embedding.
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

Status rotary_frequencies(Context &context, const lpt_rotary_scaling &scaling, Tensor *frequencies);
Status rotary(Context &context, const Tensor *input, const Tensor *frequencies, const lpt_rotary_options &options,
              Tensor *output);

}  // namespace lpt
