// lpt_convert(): codes of one element become those of a relative, which differs in its bias and its special values.
#pragma once

#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status convert(Context &context, const Tensor *source, const lpt_convert_options &options, Tensor *output);

}  // namespace lpt
