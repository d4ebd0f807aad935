// GEMM requests and the tables of the CPU kernels.
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
// a and b may have any format. Each scale is applied exactly once. An operand may be stored transposed: its view is then k × m
// (a) or n × k (b). If b is in panels, it is stored transposed. If beta is 0, c is not read. The order of the sum over p
// depends only on the row and k, not on the requested part of c. An operation may therefore split m and n among threads, at
// multiples of kGemmRowUnit and kGemmColumnUnit (whole panels), and the bits do not change.
struct GemmRequest {
  MatrixView a;
  MatrixView b;
  MatrixView c;  // f32, bf16, f16, f64
  bool is_a_transposed;
  bool is_b_transposed;
  int64_t m, n, k;                  // of this part
  int64_t first_row, first_column;  // of this part in c; a, b, c and bias are those of the full GEMM
  double alpha, beta;
  const void *bias;          // NULL, or n elements of the full GEMM: f32, or f64 if is_f64
  bool is_f64;               // computes in f64: at least one view is f64
  bool is_portable;          // f32 fused multiply-adds in the order of k, on every CPU
  bool may_accumulate_fast;  // permits FP8 sums with fewer bits on a device
  KernelOptions options;
  lpt_gemm_arithmetic arithmetic;
  int32_t arithmetic_bits;
  std::byte *scratch;  // aligned to 64 bytes
};

// A span of k: all of it, or full blocks of scales that are shorter than k.
struct Depth {
  int64_t first, count;
};

constexpr int64_t kGemmRowUnit = 64;
constexpr int64_t kGemmColumnUnit = 64;

// Each CPU kernel has scratch_bytes().
std::span<const KernelEntry<GemmRequest>> gemm_kernels();

// Kernels that multiply few rows of a by a 2:4 matrix that is stored transposed; see sparse.hpp. The kernels of gemm_kernels()
// do not support sparse operands.
std::span<const KernelEntry<GemmRequest>> sparse_gemm_kernels();
constexpr int64_t kMaxSparseRows = 8;

// Rows that gemm_rows_x86_avx2 multiplies by a panel in registers: with four vectors of b they have 12 sums.
constexpr int64_t kRowsInRegisters = 3;

}  // namespace lpt
