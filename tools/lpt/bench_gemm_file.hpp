// Figures of a bench of GEMMs, as gemm_bench, peers.py and `lpt bench gemm --json` write them.
#pragma once

#include <string>

#include "bench/gemm_rates.hpp"

namespace tool {

// Throws Error when the file holds something else.
lpt::bench::GemmReport read_gemm_report(const std::string &path);

// SVG: a panel for each shape, shares of the limit as bars, peers in grey.
std::string gemm_picture(const lpt::bench::GemmReport &report);

}  // namespace tool
