// Reductions: the local arithmetic of collectives. Reduces the arrays of several ranks to one array, which is written to one or
// more targets.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/simd_entries.hpp"
#include "lpt.h"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// t(i) is computed in f32, or in f64 if the format is f64, with one rounding per operation and without contraction. All kernels
// add the sources in their order.
//
//   sum               t(i) = factor · (((s0(i) + s1(i)) + s2(i)) + …)
//   average           t(i) = factor · (sum / source_count)
//   maximum, minimum  t(i) = factor · the largest, or the smallest, of s0(i), s1(i), …
//
// In a maximum or minimum, -0 is less than +0, and a NaN in any source results in NaN. A factor of 1 has no effect. t(i) is
// rounded to nearest even in the target format, with overflow to infinity and with subnormals. A NaN is stored as the positive
// quiet NaN. Exact: all kernels return the same bits.
enum class Reduction : int32_t { kSum = 0, kAverage = 1, kMaximum = 2, kMinimum = 3 };

struct ReduceRequest {
  lpt_format format;         // of the sources: f64, f32, bf16 or f16
  lpt_format target_format;  // f64 for f64 sources; otherwise f32, bf16 or f16
  Reduction reduction;
  int32_t source_count;        // at least 1
  int32_t target_count;        // at least 1
  double factor;               // rounded to f32, except for f64
  int64_t elements;            // adjacent
  const void *const *sources;  // of any alignment
  // All targets are written with the same values, and may have any alignment. A target may be a source at the same address with
  // elements of the same size. No other overlap is permitted.
  void *const *targets;
  bool is_streamed;  // targets are large and not read soon: kernels may bypass the caches
};

std::span<const KernelEntry<ReduceRequest>> reduce_kernels();

// Kernels of the table.
void reduce_ref(const ReduceRequest &request);
LPT_DECLARE_SIMD(reduce, ReduceRequest)

}  // namespace lpt
