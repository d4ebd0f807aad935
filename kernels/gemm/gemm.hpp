// The family of GEMMs.
#pragma once

#include <cstddef>
#include <span>

#include "lpt.h"
#include "lpt/research/emulation.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// c(i, j) = alpha · sum over p of a(i, p) · b(p, j) + beta · c(i, j) + bias(j),   i < m, j < n, p < k.
//
// a and b may be any format, scales are applied exactly once. Either may be stored transposed: then the view is k × m, or
// n × k. b may be in panels: then it is stored transposed. beta 0 does not read c. The sum over p is in one order for a
// given row and k, whatever part of c is requested: an operation may cut m and n among threads, at multiples of
// kGemmRowUnit and kGemmColumnUnit (whole panels), without a change of bits.
struct GemmRequest {
  MatrixView a;
  MatrixView b;
  MatrixView c;  // f32, bf16, f16, f64
  bool is_a_transposed;
  bool is_b_transposed;
  int64_t m, n, k;                  // of this part
  int64_t first_row, first_column;  // where this part begins in c; a, b, c and bias are those of the whole GEMM
  double alpha, beta;
  const void *bias;          // NULL, or n numbers of the whole GEMM: f32, or f64 with is_f64
  bool is_f64;               // compute in f64: some view is f64
  bool is_portable;          // fused multiply-adds of f32 in the order of k, on every CPU
  bool may_accumulate_fast;  // a permission: sums of FP8 in fewer bits, on a device
  KernelOptions options;
  lpt_gemm_arithmetic arithmetic;
  int32_t arithmetic_bits;
  std::byte *scratch;  // aligned to 64 bytes
};

constexpr int64_t kGemmRowUnit = 64;
constexpr int64_t kGemmColumnUnit = 64;

// Every kernel of the CPU has scratch_bytes().
std::span<const KernelEntry<GemmRequest>> gemm_kernels();

// For few rows of a by a 2:4 matrix, which is stored transposed: sparse.hpp describes them. gemm_kernels() support no
// sparse operand.
std::span<const KernelEntry<GemmRequest>> sparse_gemm_kernels();
constexpr int64_t kMostSparseRows = 8;

}  // namespace lpt
