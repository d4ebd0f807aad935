// lpt_quantize(), lpt_fake_quantize(), lpt_dequantize(), lpt_hadamard() and lpt_random_signs(): check arguments and call
// casts.
#pragma once

#include "src/cast/cast.hpp"
#include "src/cast/statistics.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Rejects numbers of lpt_quantize_options that are out of range.
Status check_cast_options(const lpt_quantize_options &options);

Status quantize(Context &context, const Tensor *source, const lpt_quantize_options &options, Tensor *quantized,
                Tensor *transposed, const ShareAmax *share_amax = nullptr);
Status fake_quantize(Context &context, const Tensor *source, lpt_format format, const lpt_quantize_options &options,
                     Tensor *output);
Status dequantize(Context &context, const Tensor *source, const lpt_dequantize_options &options, Tensor *output);
Status hadamard(Context &context, const Tensor *source, const lpt_hadamard_options &options, Tensor *output);
Status random_signs(Context &context, const lpt_random &random, Tensor *signs);

}  // namespace lpt
