// What the files of this family offer to the table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt {

void transposable_mask_any_ref(const TransposableMaskRequest &request);
LPT_DECLARE_SIMD(transposable_mask_2_4_exact, TransposableMaskRequest)
LPT_DECLARE_SIMD(transposable_mask_8_greedy, TransposableMaskRequest)
LPT_DECLARE_SIMD(transposable_mask_8_search, TransposableMaskRequest)

// Makes masks of GREEDY those of SEARCH. Plain code, for kernels that are fast at GREEDY.
void improve_greedy_masks(const TransposableMaskRequest &request);

}  // namespace lpt
