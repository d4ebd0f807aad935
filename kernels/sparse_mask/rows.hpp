// What the files of this family offer to the table.
#pragma once

#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {

void sparse_mask_any_ref(const SparseMaskRequest &request);
void mask_apply_any_ref(const MaskApplyRequest &request);
void mask_decay_any_ref(const MaskDecayRequest &request);
void sparse_measure_any_ref(const SparseMeasureRequest &request);

}  // namespace lpt
