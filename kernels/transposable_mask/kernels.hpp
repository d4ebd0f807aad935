// What the files of this family offer to the table.
#pragma once

#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt {

void transposable_mask_any_ref(const TransposableMaskRequest &request);
void transposable_mask_2_4_exact_x86_avx2(const TransposableMaskRequest &request);
void transposable_mask_8_greedy_x86_avx2(const TransposableMaskRequest &request);
void transposable_mask_8_search_x86_avx2(const TransposableMaskRequest &request);
void transposable_mask_2_4_exact_x86_avx512(const TransposableMaskRequest &request);
void transposable_mask_8_greedy_x86_avx512(const TransposableMaskRequest &request);
void transposable_mask_8_search_x86_avx512(const TransposableMaskRequest &request);

// Makes masks of GREEDY those of SEARCH. Plain code, for rows that are fast at GREEDY.
void improve_greedy_masks(const TransposableMaskRequest &request);

}  // namespace lpt
