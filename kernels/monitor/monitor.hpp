// Sums over pairs of elements of two arrays, for norms of gradients and of their noise.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Sums over pairs of two finite elements. Other pairs are counted.
struct PairSums {
  double first_squares = 0.0;
  double second_squares = 0.0;
  double dots = 0.0;
  double squared_differences = 0.0;
  int64_t nonfinite_count = 0;
};

// Exact: all kernels return the same bits. Element i is added to lane i mod 8 of each sum in f64, with one rounding per
// operation and without contraction. Then lane i + width is added to lane i for widths 4, 2, 1.
struct PairSumsRequest {
  int64_t count;
  const void *first;
  lpt_format first_format;  // f32, bf16, f16, f64
  const void *second;
  lpt_format second_format;
  PairSums *sums;  // written
};

std::span<const KernelEntry<PairSumsRequest>> pair_sums_kernels();

// Kernels of the table.
void pair_sums_f32_ref(const PairSumsRequest &request);
void pair_sums_any_ref(const PairSumsRequest &request);

LPT_DECLARE_SIMD(pair_sums, PairSumsRequest)

}  // namespace lpt
