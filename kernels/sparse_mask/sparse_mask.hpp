// The family of N:M masks: which numbers of each group of neighbours stay, and what becomes of them.
#pragma once

#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Groups are `of` neighbours along a row of these views; those of columns come as transposed views. What each rule does with a
// group stands in group.hpp, operation by operation.
//
// Group g of row r draws the 32-bit word (two for MVUE_TWO_DRAWS: twice the index, and the next)
//   first_draw + r · row_draws + g · group_draws.
struct SparseMaskRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8, strides alike transposed or not; without data: not requested
  MatrixView masked;  // f32 or the source's format; without data: not requested; may be the source
  int32_t kept;
  int32_t of;
  lpt_sparse_rule rule;
  RandomSource random;  // offset and row_stride are not used
  uint64_t first_draw;
  uint64_t row_draws;
  uint64_t group_draws;
  const float *importance;  // NULL, or one for each column; MAGNITUDE only
  // masked may be written past the caches: it is a part of something larger than they are.
  bool is_streamed = false;
};

// target(r, c) = source(r, c) where mask(r, c) is not 0, else 0. The same format: codes as they are.
struct MaskApplyRequest {
  MatrixView source;         // f32, f64, bf16, f16
  MatrixView mask;           // uint8
  MatrixView target;         // f32 or the source's format; may be the source
  bool is_streamed = false;  // as in SparseMaskRequest, of target
};

// gradient(r, c) += rate · weight(r, c) where mask(r, c) is 0: a product and a sum, each rounded to f32.
struct MaskDecayRequest {
  MatrixView weight;    // f32, bf16, f16
  MatrixView mask;      // uint8
  MatrixView gradient;  // f32
  float rate;
};

// target(r, c) = source(r, c) + d where mask(r, c) is not 0, else 0, with d = the sum of what the group drops / how many it
// keeps, in f32 and in the order of the group; groups as in SparseMaskRequest. A group that keeps none becomes zero.
struct MaskAbsorbRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8; any strides
  MatrixView target;  // f32 or the source's format; any strides; may be the source
  int32_t of;
};

// What a selection did to one row.
struct SparseSums {
  int64_t kept = 0, special_groups = 0;
  double energy = 0.0, kept_energy = 0.0, variance = 0.0;
};

// Sums over the finite numbers of each row, in f64, from the first column to the last; groups as in SparseMaskRequest:
//   energy of x², kept_energy of x² where the mask is not 0, variance of x² · (1 / p - 1) with the p of the rule.
struct SparseMeasureRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8; any strides
  int32_t kept;
  int32_t of;
  lpt_sparse_rule rule;
  SparseSums *sums;  // one for each row; written
};

std::span<const KernelEntry<SparseMaskRequest>> sparse_mask_kernels();
std::span<const KernelEntry<MaskApplyRequest>> mask_apply_kernels();
std::span<const KernelEntry<MaskDecayRequest>> mask_decay_kernels();
std::span<const KernelEntry<MaskAbsorbRequest>> mask_absorb_kernels();
std::span<const KernelEntry<SparseMeasureRequest>> sparse_measure_kernels();

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
