// What the files of this family offer to its table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/optimizer/optimizer.hpp"

namespace lpt {

void step_any_ref(const StepRequest &request);
void norm_any_ref(const NormRequest &request);

LPT_DECLARE_SIMD(step, StepRequest)
LPT_DECLARE_SIMD(norm, NormRequest)

}  // namespace lpt
