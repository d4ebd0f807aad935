// The family of reductions: the local arithmetic of collectives. What several ranks hold becomes one array, written to
// one place or more.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// t(i) is computed in f32, or in f64 where the format is f64, one rounding for each sign and nothing contracted. The order
// of the sum is the order of the sources, whatever the row.
//
//   sum               t(i) = factor · (((s0(i) + s1(i)) + s2(i)) + …)
//   average           t(i) = factor · (sum / source_count)
//   maximum, minimum  t(i) = factor · the largest, or the smallest, of s0(i), s1(i), …
//
// Among extremes -0 is below +0, and a NaN in any source gives NaN. A factor of 1 changes nothing. t(i) is then rounded
// to the target's format to nearest even, overflow to infinity, subnormals kept. A NaN is written as the positive quiet
// one. Exact: every row gives the same bits.
enum class Reduction : int32_t { kSum = 0, kAverage = 1, kMaximum = 2, kMinimum = 3 };

struct ReduceRequest {
  lpt_format format;         // of the sources: f64, f32, bf16 or f16
  lpt_format target_format;  // f64 with f64 sources; else f32, bf16 or f16
  Reduction reduction;
  int32_t source_count;        // at least 1
  int32_t target_count;        // at least 1
  double factor;               // rounded to f32 save in f64
  int64_t elements;            // adjacent
  const void *const *sources;  // of any alignment
  // Written, all alike, of any alignment. Each may be a source in the same place with elements of the same size; nothing
  // else overlaps.
  void *const *targets;
  bool is_streamed;  // targets are large and not read soon: rows may write past the caches
};

std::span<const KernelEntry<ReduceRequest>> reduce_kernels();

// Kernels of the table.
void reduce_ref(const ReduceRequest &request);
LPT_DECLARE_SIMD(reduce, ReduceRequest)

}  // namespace lpt
