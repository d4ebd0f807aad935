// Transposable masks: keep N elements of every row and of every column of each M × M tile.
#pragma once

#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Computes the mask of all tiles. Tiles begin at the first row and column of the source; incomplete tiles are padded with
// zeros. The weights of a tile are its magnitudes times `importance`, in f32. NaN ranks above infinity, and both far above all
// other weights.
struct TransposableMaskRequest {
  MatrixView source;  // f32, f64, bf16, f16
  MatrixView mask;    // uint8: 1 for a kept element, else 0
  int32_t kept;
  int32_t of;
  lpt_sparse_solver solver;  // not AUTO
  int32_t iterations;        // ENTROPY only
  float sharpness;           // ENTROPY only
  const float *importance;   // NULL, or one value per column
};

std::span<const KernelEntry<TransposableMaskRequest>> transposable_mask_kernels();

// Kernels of the table.
void transposable_mask_any_ref(const TransposableMaskRequest &request);
LPT_DECLARE_SIMD(transposable_mask_2_4_exact, TransposableMaskRequest)
LPT_DECLARE_SIMD(transposable_mask_8_greedy, TransposableMaskRequest)
LPT_DECLARE_SIMD(transposable_mask_8_search, TransposableMaskRequest)

// Improves the masks of GREEDY to those of SEARCH. Scalar, for kernels that compute GREEDY with vectors.
void improve_greedy_masks(const TransposableMaskRequest &request);

}  // namespace lpt
