// GEMMs with a 2:4 matrix or bitmask panels that no kernel reads directly. Some rows at a time are expanded in scratch that
// fits in the caches, and then multiplied.
#pragma once

#include "src/gemm/call.hpp"

namespace lpt {

// The partition of b, stored n × k, into slabs. If b has fewer slabs than threads, a is divided, too; then each thread
// expands its slab.
struct ExpandPlan {
  int64_t length, count;          // rows of b per slab, except the last one; number of slabs
  int64_t row_length, row_count;  // the same for a, within each slab
  int64_t threads;
  size_t dense_bytes;    // of one expanded slab
  size_t scratch_bytes;  // of the GEMM of one slab

  int64_t items() const { return count * row_count; }
  WorkQueue queue() const { return {items(), threads, dense_bytes + scratch_bytes}; }
};

// Returns whether a request with a 2:4 b runs in slabs. Its kernel is selected with the dense shape of b.
bool is_in_slabs(const GemmRequest &request);

// Plans the slabs. b of `whole` has the dense shape, rows or panels, without data.
ExpandPlan plan_expansion(const Context &context, const KernelEntry<GemmRequest> &kernel, const GemmRequest &whole);

Status run_expanded(Context &context, const MatrixView &b, const KernelEntry<GemmRequest> &kernel,
                    const GemmRequest &whole);

}  // namespace lpt
