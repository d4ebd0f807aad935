// LPT_GEMM_CAST_A_TO_BF16: casts the first operand of a GEMM to bf16 in scratch.
#pragma once

#include "src/gemm/run.hpp"

namespace lpt {

// Casts a dense f32 `a` to bf16 in scratch of the context if the flag is set. It rounds to nearest even; overflow becomes
// infinity. Other operands do not change. `out_bytes` is the number of bytes of scratch.
Status cast_first_operand(Context &context, const lpt_gemm_options &options, MatrixView &a, size_t &out_bytes);

}  // namespace lpt
