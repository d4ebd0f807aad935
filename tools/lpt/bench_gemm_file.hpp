// Results of a GEMM benchmark, as written by gemm_bench, peers.py and `lpt bench gemm --json`.
#pragma once

#include <string>

#include "bench/gemm_rates.hpp"

namespace tool {

// Throws Error if the file has other contents.
lpt::bench::GemmReport read_gemm_report(const std::string &path);

// Returns an SVG with a panel for each shape, shares of the limit as bars, peers in gray.
std::string gemm_picture(const lpt::bench::GemmReport &report);

}  // namespace tool
