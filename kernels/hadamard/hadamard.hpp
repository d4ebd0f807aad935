// The family of rotations: what a cast does to its source first.
#pragma once

#include <span>

#include "kernels/common/hadamard_factor.hpp"
#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// target(r, ·) = ((source(r, ·) · row_factors(r)) ⊙ factors ⊙ signs) · H / sqrt(size)  in each group of `size` columns,
// H(i, j) = (-1)^(ones in i & j): Sylvester's matrix. Without a size there is no H. Inverse: the signs come last.
//
// In f32: value · factor, · sign, then steps of stride 1, 2, 4 … size/2, each of them (a, b) → (a + b, a - b), then one product
// with 1 / sqrt(size) rounded to f32. A last group that is short is cut in powers of two, largest first; each of them is a
// group of its own size, a single column stays as it is.
struct HadamardRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  MatrixView target;  // f32; column_stride 1; may lie where an f32 source with adjacent columns does
  int32_t size = 0;   // 16, 32, 64, 128; 0: none
  bool is_inverse = false;
  const float *factors = nullptr;      // NULL, or one for each column
  const float *row_factors = nullptr;  // NULL, or one for each row
  const float *signs = nullptr;        // NULL, or 1 or -1 for each column
};

std::span<const KernelEntry<HadamardRequest>> hadamard_kernels();

// Kernels of the table.
void hadamard_any_ref(const HadamardRequest &request);
LPT_DECLARE_SIMD(hadamard_floats, HadamardRequest)

// The group that begins with `left` columns left: the size, or the largest power of two that still fits.
static inline int64_t hadamard_group(int64_t size, int64_t left) {
  while (size > left) size /= 2;
  return size;
}

}  // namespace lpt
