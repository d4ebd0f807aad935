// LPT_GEMM_CAST_A_TO_BF16: the first operand of a GEMM as bf16, in scratch.
#pragma once

#include "src/gemm/run.hpp"

namespace lpt {

// Casts a dense `a` of f32 to nearest even where the flag is set, into the context's scratch; other operands stay. What
// exceeds the largest bf16 becomes infinity. `out_bytes` is the scratch that was taken.
Status cast_first_operand(Context &context, const lpt_gemm_options &options, MatrixView &a, size_t &out_bytes);

}  // namespace lpt
