// What the files of this family offer to the table.
#pragma once

#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {

// MAGNITUDE of f32, bf16, f16, any N:M: groups along lines of memory, or groups side by side in lanes.
void sparse_mask_largest_x86_avx512(const SparseMaskRequest &request);
void sparse_mask_largest_x86_avx2(const SparseMaskRequest &request);

// MVUE of f32, 1:2 and 2:4.
void sparse_mask_drawn_x86_avx512(const SparseMaskRequest &request);
void sparse_mask_drawn_x86_avx2(const SparseMaskRequest &request);

// Codes of f32, bf16, f16 as they are.
void mask_apply_x86_avx512(const MaskApplyRequest &request);
void mask_apply_x86_avx2(const MaskApplyRequest &request);

// Weights of f32 and bf16.
void mask_decay_x86_avx512(const MaskDecayRequest &request);
void mask_decay_x86_avx2(const MaskDecayRequest &request);

// f32 and bf16 under rules without chance: rows in lanes.
void sparse_measure_x86_avx512(const SparseMeasureRequest &request);
void sparse_measure_x86_avx2(const SparseMeasureRequest &request);

void sparse_mask_any_ref(const SparseMaskRequest &request);
void mask_apply_any_ref(const MaskApplyRequest &request);
void mask_decay_any_ref(const MaskDecayRequest &request);
void mask_absorb_any_ref(const MaskAbsorbRequest &request);
void sparse_measure_any_ref(const SparseMeasureRequest &request);

}  // namespace lpt
