// N:M masks: selection of the elements of each group, and their output values.
#pragma once

#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Selects elements in groups of `of` adjacent columns of these views; groups of columns are passed as transposed views.
// group.hpp defines each rule.
//
// Group g of row r draws the 32-bit word with this index (MVUE_TWO_DRAWS: the two words at twice the index and the next one):
//   first_draw + r · row_draws + g · group_draws.
struct SparseMaskRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8; transposed like the source; no data: not requested
  MatrixView masked;  // f32 or the format of the source; no data: not requested; may be the source
  int32_t kept;
  int32_t of;
  lpt_sparse_rule rule;
  RandomSource random;  // offset and row_stride are not used
  uint64_t first_draw;
  uint64_t row_draws;
  uint64_t group_draws;
  const float *importance;  // NULL, or one value per column; MAGNITUDE only
  // Permits streaming stores to `masked`, because it is part of a tensor larger than the caches.
  bool is_streamed = false;
};

// Computes target(r, c) = source(r, c) if mask(r, c) is not 0, else 0. If the formats are equal, codes are copied unchanged.
struct MaskApplyRequest {
  MatrixView source;         // f32, f64, bf16, f16
  MatrixView mask;           // uint8
  MatrixView target;         // f32 or the format of the source; may be the source
  bool is_streamed = false;  // as in SparseMaskRequest, for target
};

// Adds rate · weight(r, c) to gradient(r, c) if mask(r, c) is 0; product and sum are each rounded to f32.
struct MaskDecayRequest {
  MatrixView weight;    // f32, bf16, f16
  MatrixView mask;      // uint8
  MatrixView gradient;  // f32
  float rate;
};

// Computes target(r, c) = source(r, c) + d if mask(r, c) is not 0, else 0. d = sum of the pruned elements of the group / number
// of kept elements, in f32 and in the order of the group. Groups as in SparseMaskRequest. A group without kept elements becomes
// zero.
struct MaskAbsorbRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8; any strides
  MatrixView target;  // f32 or the format of the source; any strides; may be the source
  int32_t of;
};

// Statistics of a selection in one row.
struct SparseSums {
  int64_t kept = 0, special_groups = 0;
  double energy = 0.0, kept_energy = 0.0, variance = 0.0;
};

// Computes sums over the finite elements of each row, in f64, from the first to the last column; groups as in
// SparseMaskRequest:
//   energy: Σ x²; kept_energy: Σ x² where the mask is not 0; variance: Σ x² · (1 / p - 1) with the probability p of the rule.
struct SparseMeasureRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8; any strides
  int32_t kept;
  int32_t of;
  lpt_sparse_rule rule;
  SparseSums *sums;  // output, one per row
};

std::span<const KernelEntry<SparseMaskRequest>> sparse_mask_kernels();
std::span<const KernelEntry<MaskApplyRequest>> mask_apply_kernels();
std::span<const KernelEntry<MaskDecayRequest>> mask_decay_kernels();
std::span<const KernelEntry<MaskAbsorbRequest>> mask_absorb_kernels();
std::span<const KernelEntry<SparseMeasureRequest>> sparse_measure_kernels();

// MAGNITUDE of f32, bf16, f16, any N:M: groups along lines of memory, or across lines with one group per lane.
LPT_DECLARE_SIMD(sparse_mask_largest, SparseMaskRequest)

// MVUE of f32, 1:2 and 2:4.
LPT_DECLARE_SIMD(sparse_mask_drawn, SparseMaskRequest)

// Copies codes of f32, bf16, f16.
LPT_DECLARE_SIMD(mask_apply, MaskApplyRequest)

// Weights of f32 and bf16.
LPT_DECLARE_SIMD(mask_decay, MaskDecayRequest)

// f32 and bf16, rules that are not random: one row per lane.
LPT_DECLARE_SIMD(sparse_measure, SparseMeasureRequest)

void sparse_mask_any_ref(const SparseMaskRequest &request);
void mask_apply_any_ref(const MaskApplyRequest &request);
void mask_decay_any_ref(const MaskDecayRequest &request);
void mask_absorb_any_ref(const MaskAbsorbRequest &request);
void sparse_measure_any_ref(const SparseMeasureRequest &request);

}  // namespace lpt
