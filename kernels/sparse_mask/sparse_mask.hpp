// The family of N:M masks: which numbers of each group of neighbours stay, and what becomes of them.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/philox.hpp"
#include "src/base/row.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Groups are `of` neighbours along a row of these views; those of columns come as turned views. What each rule does with a
// group stands in group.hpp, operation by operation.
//
// Group g of row r draws the 32-bit word (two for MVUE_TWO_DRAWS: twice the index, and the next)
//   first_draw + r · row_draws + g · group_draws.
struct SparseMaskRequest {
  MatrixView source;  // f32, f64, bf16, f16; any strides
  MatrixView mask;    // uint8, strides alike turned or not; without data: not wanted
  MatrixView masked;  // f32 or the source's format; without data: not wanted; may be the source
  int32_t kept;
  int32_t of;
  lpt_sparse_rule rule;
  RandomSource random;  // offset and row_stride are not used
  uint64_t first_draw;
  uint64_t row_draws;
  uint64_t group_draws;
  const float *importance;  // NULL, or one for each column; MAGNITUDE only
};

std::span<const Row<SparseMaskRequest>> sparse_mask_kernels();

}  // namespace lpt
