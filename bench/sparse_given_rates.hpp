// Speed of operations with given masks: application, decay, and measurement.
#pragma once

#include "bench/sparse_cases.hpp"

namespace lpt::bench {

// Measures every kernel that this machine supports, on f32 and bf16, compared with a memcpy of the source in the same run.
// Reference kernels are included. The number of elements is that of an f32 source of these bytes. Bytes include reads, writes
// and the mask.
std::vector<SparseRate> given_mask_rates(int64_t f32_bytes);

}  // namespace lpt::bench
