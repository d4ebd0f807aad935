// What the files of this family offer to its table.
#pragma once

#include "kernels/reduce/reduce.hpp"

namespace lpt {

void reduce_ref(const ReduceRequest &request);
void reduce_x86_avx2(const ReduceRequest &request);
void reduce_x86_avx512(const ReduceRequest &request);

}  // namespace lpt
