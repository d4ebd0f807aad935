// What the files of this family offer to its table.
#pragma once

#include "kernels/optimizer/optimizer.hpp"

namespace lpt {

void adamw_any_ref(const AdamwRequest &request);

void adamw_x86_avx2(const AdamwRequest &request);
void adamw_x86_avx512(const AdamwRequest &request);

}  // namespace lpt
