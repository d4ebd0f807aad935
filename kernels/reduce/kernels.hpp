// What the files of this family offer to its table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/reduce/reduce.hpp"

namespace lpt {

void reduce_ref(const ReduceRequest &request);
LPT_DECLARE_SIMD(reduce, ReduceRequest)

}  // namespace lpt
