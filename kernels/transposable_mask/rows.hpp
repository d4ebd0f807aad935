// What the files of this family offer to the table.
#pragma once

#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt {

void transposable_mask_any_ref(const TransposableMaskRequest &request);

}  // namespace lpt
