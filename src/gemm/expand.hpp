// GEMMs by a sparse matrix, or by bitmask panels, that no kernel reads as they are: some of their rows at a time are written
// out where the caches hold them, and multiplied at once.
#pragma once

#include "src/gemm/call.hpp"

namespace lpt {

// How b, stored n × k, is cut; and a, where there are fewer slabs than threads: then each writes its slab for itself.
struct ExpandPlan {
  int64_t length, count;          // rows of b in each, the last one may have fewer; slabs
  int64_t row_length, row_count;  // the same of a, for each slab
  int64_t threads;
  size_t dense_bytes;    // one slab written out
  size_t scratch_bytes;  // one slab's GEMM

  int64_t items() const { return count * row_count; }
  WorkQueue queue() const { return {items(), threads, dense_bytes + scratch_bytes}; }
};

// Whether a request with a 2:4 b is one of these. Its row is chosen with the dense shape of b in the request.
bool is_in_slabs(const GemmRequest &request);

// `whole` has the dense shape of b, without data: rows, or panels.
ExpandPlan plan_expansion(const Context &context, const KernelEntry<GemmRequest> &kernel, const GemmRequest &whole);

Status run_expanded(Context &context, const MatrixView &b, const KernelEntry<GemmRequest> &kernel,
                    const GemmRequest &whole);

}  // namespace lpt
