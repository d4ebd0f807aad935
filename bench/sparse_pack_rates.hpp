// How fast 2:4 matrices are compressed and written out, and numbers that are not zero are found.
#pragma once

#include "bench/sparse_cases.hpp"

namespace lpt::bench {

// Every row that this machine has, on f32, bf16, int8 and e2m1fn of as many bytes; beside a memcpy of them in the same
// run. Bytes read and written count alike, those of the mask and the places too.
std::vector<SparseRate> pack_rates(int64_t dense_bytes);

}  // namespace lpt::bench
