// What the files of this family offer to its table.
#pragma once

#include "kernels/optimizer/optimizer.hpp"

namespace lpt {

void step_any_ref(const StepRequest &request);
void norm_any_ref(const NormRequest &request);

void norm_x86_avx2(const NormRequest &request);
void norm_x86_avx512(const NormRequest &request);

void step_x86_avx2(const StepRequest &request);
void step_x86_avx512(const StepRequest &request);

}  // namespace lpt
