// What the files of this family offer to the table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt {

void transposable_mask_any_ref(const TransposableMaskRequest &request);
LPT_DECLARE_SIMD(transposable_mask_2_4_exact, TransposableMaskRequest)
LPT_DECLARE_SIMD(transposable_mask_8_greedy, TransposableMaskRequest)
LPT_DECLARE_SIMD(transposable_mask_8_search, TransposableMaskRequest)

// Improves the masks of GREEDY to those of SEARCH; scalar, for kernels that compute GREEDY with vectors.
void improve_greedy_masks(const TransposableMaskRequest &request);

}  // namespace lpt
