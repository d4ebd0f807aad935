// Speed of compressing and expanding 2:4 matrices, and of finding nonzero elements.
#pragma once

#include "bench/sparse_cases.hpp"

namespace lpt::bench {

// Measures every kernel that this machine supports, on f32, bf16, int8 and e2m1fn of as many bytes, compared with a memcpy of
// them in the same run. Bytes include reads, writes, masks and indices.
std::vector<SparseRate> pack_rates(int64_t dense_bytes);

}  // namespace lpt::bench
