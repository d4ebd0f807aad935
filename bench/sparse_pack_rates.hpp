// Speed of compressing and expanding 2:4 matrices, and of finding nonzero elements.
#pragma once

#include "bench/sparse_cases.hpp"

namespace lpt::bench {

// Measures every kernel that this machine supports, compared with a memcpy of the source in the same run. The formats are f32,
// bf16, int8 and e2m1fn with equal bytes. Bytes include reads, writes, masks and indices.
std::vector<SparseRate> pack_rates(int64_t dense_bytes);

}  // namespace lpt::bench
