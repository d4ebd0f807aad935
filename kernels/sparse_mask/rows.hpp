// What the files of this family offer to the table.
#pragma once

#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {

void sparse_mask_any_ref(const SparseMaskRequest &request);

}  // namespace lpt
