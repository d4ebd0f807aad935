// GEMMs with few and many rows by a 2:4 weight, compared with the same weight dense.
#pragma once

#include "bench/sparse_cases.hpp"

namespace lpt::bench {

// int8 and bf16 weights of 128 MiB dense. Ratios are relative to the GEMM of the packed dense weight in the same run.
std::vector<SparseRate> gemm_rates();

}  // namespace lpt::bench
