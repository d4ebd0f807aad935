// int8 GEMMs that multiply the outlier columns of a separately: LLM.int8 (arXiv 2208.07339).
#pragma once

#include "src/gemm/run.hpp"

namespace lpt {

// a is m × k in f32, bf16 or f16; c is f32. Columns of a with a magnitude of at least `threshold` are multiplied in f32 by
// the decoded b. The other columns are cast to int8 with one scale per row from its amax.
Status multiply_with_outliers(Context &context, const GemmCall &call, float threshold, bool is_check_only);

}  // namespace lpt
