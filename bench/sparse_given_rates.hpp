// How fast masks that are there already are applied, serve as decay, and are measured.
#pragma once

#include "bench/sparse_cases.hpp"

namespace lpt::bench {

// Every row that this machine has, the plain ones too, on f32 and bf16 of as many numbers as an f32 source of these
// bytes has; beside a memcpy of the source in the same run. Bytes read and written count alike, those of the mask too.
std::vector<SparseRate> given_mask_rates(int64_t f32_bytes);

}  // namespace lpt::bench
