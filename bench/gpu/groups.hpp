// The named groups of gpu_bench. A new group is a row in the table of its file.
#pragma once

#include <span>

#include "bench/gpu/cublaslt.hpp"
#include "bench/gpu/race.hpp"

namespace lpt::bench {

struct Group {
  const char *name;
  std::vector<Contender> (*make)(const Machine &machine, Cublaslt &peer);
  const char *variable = nullptr;  // environment variable to set first
};

std::span<const Group> memory_groups();
std::span<const Group> gemm_groups();

}  // namespace lpt::bench
