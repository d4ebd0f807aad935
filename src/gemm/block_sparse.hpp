// GEMMs by weights in tiles: each line of tiles is a packed matrix of the columns that it has, multiplied by the same
// columns of a.
#pragma once

#include "src/gemm/call.hpp"

namespace lpt {

// Whether a's columns can be gathered for such weights. Not in the portable order: where an infinity or a NaN is multiplied by what
// is left out, bits would be those of the kernel that runs.
bool takes_tiles(const GemmRequest &request);

// Room for all threads. `whole` has sparse packed weights as its b; `planned` may be NULL.
Status measure_tiles(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole,
                     WorkQueue &out_queue);

Status run_in_tiles(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole);

}  // namespace lpt
