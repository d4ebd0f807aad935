// Correction of gradients for parameters of the previous step (DC-S3GD, arXiv 1911.02516).
#pragma once

#include "lpt/research/delay.h"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status compensate_delay(Context &context, const Tensor *const *own, const Tensor *const *mean, int64_t count,
                        const lpt_delay_options &options, Tensor *const *gradients);

}  // namespace lpt
