// GEMMs of other installed libraries: oneDNN (Debian: libdnnl-dev, at build time), OpenBLAS (Debian: libopenblas0-pthread, at
// run time).
#pragma once

#include <string>
#include <vector>

#include "bench/gemm_rates.hpp"

namespace lpt::bench {

// Returns the available peers. `missing` receives the names of the others with the reason.
std::vector<GemmPeer> gemm_peers(std::vector<std::string> &missing);

}  // namespace lpt::bench
