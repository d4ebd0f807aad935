// What a bench of GEMMs found, as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/gemm_rates.hpp"

namespace lpt::bench {

// Machine, limits, load, what is missing: lines before and after the figures.
std::string gemm_head(const GemmRateOptions &options);
std::string gemm_foot(const GemmReport &report);

// The figures of one shape; `is_judged` as in the report.
std::string gemm_table(const std::vector<GemmRate> &rates, bool is_judged);

std::string gemm_json(const GemmReport &report);

}  // namespace lpt::bench
