// What the files of this family offer to the table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {

// MAGNITUDE of f32, bf16, f16, any N:M: groups along lines of memory, or groups side by side in lanes.
LPT_DECLARE_SIMD(sparse_mask_largest, SparseMaskRequest)

// MVUE of f32, 1:2 and 2:4.
LPT_DECLARE_SIMD(sparse_mask_drawn, SparseMaskRequest)

// Codes of f32, bf16, f16 as they are.
LPT_DECLARE_SIMD(mask_apply, MaskApplyRequest)

// Weights of f32 and bf16.
LPT_DECLARE_SIMD(mask_decay, MaskDecayRequest)

// f32 and bf16 under rules without chance: rows in lanes.
LPT_DECLARE_SIMD(sparse_measure, SparseMeasureRequest)

void sparse_mask_any_ref(const SparseMaskRequest &request);
void mask_apply_any_ref(const MaskApplyRequest &request);
void mask_decay_any_ref(const MaskDecayRequest &request);
void mask_absorb_any_ref(const MaskAbsorbRequest &request);
void sparse_measure_any_ref(const SparseMeasureRequest &request);

}  // namespace lpt
