// GEMMs with block-sparse weights. Each line of tiles is a packed matrix of its stored columns. It is multiplied by the same
// columns of a.
#pragma once

#include "src/gemm/call.hpp"

namespace lpt {

// Returns whether the columns of a can be gathered for block-sparse weights. The portable order does not allow it: if a has
// infinities or NaNs at omitted tiles, the result depends on the kernel.
bool can_gather_columns(const GemmRequest &request);

// Computes the scratch of all threads. b of `whole` is sparse packed weights; `planned` may be NULL.
Status plan_gathered(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole,
                     WorkQueue &out_queue);

Status run_gathered(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole);

}  // namespace lpt
