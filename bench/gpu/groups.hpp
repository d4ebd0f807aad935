// The groups of gpu_bench, by name. A new one is a line in the table of its file.
#pragma once

#include <span>

#include "bench/gpu/cublaslt.hpp"
#include "bench/gpu/race.hpp"

namespace lpt::bench {

struct Group {
  const char *name;
  std::vector<Contender> (*make)(const Machine &machine, Cublaslt &peer);
  const char *variable = nullptr;  // that is set before
};

std::span<const Group> memory_groups();
std::span<const Group> gemm_groups();

}  // namespace lpt::bench
