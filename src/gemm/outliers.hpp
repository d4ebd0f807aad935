// GEMMs of int8 with the columns of a that do not fit it multiplied aside: LLM.int8 (arXiv 2208.07339).
#pragma once

#include "src/gemm/run.hpp"

namespace lpt {

// a is f32, bf16 or f16, m × k; c is f32. Columns of a with a magnitude of `threshold` or more are multiplied in f32 by
// what b decodes to; the others are cast to int8, each row by its own largest magnitude.
Status multiply_with_outliers(Context &context, const GemmCall &call, float threshold, bool is_check_only);

}  // namespace lpt
