// Hadamard rotations, with which a cast prepares its source.
#pragma once

#include <span>

#include "kernels/common/hadamard_factor.hpp"
#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

constexpr int32_t kSmallestRotation = 16, kLargestRotation = 8192;

constexpr bool is_rotation_size(int64_t size) {
  return size >= kSmallestRotation && size <= kLargestRotation && (size & (size - 1)) == 0;
}

// target(r, ·) = ((source(r, ·) · row_factors(r)) ⊙ factors ⊙ signs) · H / sqrt(size)  in each group of `size` columns,
// H(i, j) = (-1)^(ones in i & j): the matrix of Sylvester. If size is 0, H is omitted. Inverse: the signs are applied last.
//
// Arithmetic is in f32: value · factor, · sign, then steps of stride 1, 2, 4 … size/2. Each step computes (a, b) → (a + b, a -
// b). The last operation is one product with 1 / sqrt(size) rounded to f32. A short last group is cut into powers of two,
// largest first. Each of them is a group of its size; a single column is not changed.
struct HadamardRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  MatrixView target;  // f32, on devices also bf16, f16; column_stride 1; may be an f32 source with adjacent columns
  int32_t size = 0;   // see is_rotation_size(); 0: no rotation
  bool is_inverse = false;
  const float *factors = nullptr;      // NULL, or one per column
  const float *row_factors = nullptr;  // NULL, or one per row
  const float *signs = nullptr;        // NULL, or 1 or -1 per column
};

std::span<const KernelEntry<HadamardRequest>> hadamard_kernels();

// Kernels of the table.
void hadamard_any_ref(const HadamardRequest &request);
LPT_DECLARE_SIMD(hadamard_floats, HadamardRequest)

// Returns the size of a group that begins with `left` columns left: `size`, or the largest power of two that fits.
static inline int64_t hadamard_group(int64_t size, int64_t left) {
  while (size > left) size /= 2;
  return size;
}

}  // namespace lpt
