// Results of a GEMM benchmark as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/gemm_rates.hpp"

namespace lpt::bench {

// Returns the lines before and after the results: machine, limits, load, missing peers.
std::string gemm_head(const GemmRateOptions &options);
std::string gemm_foot(const GemmReport &report);

// Returns the results of one shape. `is_judged` has the meaning of the report.
std::string gemm_table(const std::vector<GemmRate> &rates, bool is_judged);

std::string gemm_json(const GemmReport &report);

}  // namespace lpt::bench
