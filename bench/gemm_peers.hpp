// Other libraries' GEMMs, where they are installed: oneDNN (Debian: libdnnl-dev, at build time), OpenBLAS (Debian:
// libopenblas0-pthread, found when the bench runs).
#pragma once

#include <string>
#include <vector>

#include "bench/gemm_rates.hpp"

namespace lpt::bench {

// Those that are here; `missing` names the others, and why.
std::vector<GemmPeer> gemm_peers(std::vector<std::string> &missing);

}  // namespace lpt::bench
