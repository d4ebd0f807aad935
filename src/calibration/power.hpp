// The power of multiply-adds, and weights for a budget of additions (PANN, arXiv 2202.02783).
#pragma once

#include "lpt/research/power.h"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status estimate_power(const lpt_power_options &options, double &out_flips);
Status quantize_for_power(Context &context, const Tensor *weight, double additions, Tensor *output,
                          lpt_power_info &out_info);

}  // namespace lpt
