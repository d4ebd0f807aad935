// lpt_convert(): converts codes to another 8-bit float with the same mantissa width and other bias or special values.
#pragma once

#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status convert(Context &context, const Tensor *source, const lpt_convert_options &options, Tensor *output);

}  // namespace lpt
