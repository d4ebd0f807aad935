// The ranks of one model: so many share every layer, and so many of those groups share the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel.hpp"
#include "ranks.hpp"

namespace lm {

struct Grid {
  int64_t tensor = 1;  // ranks that share every layer
  int64_t data = 1;    // groups of them that share the batch

  int64_t ranks() const { return tensor * data; }
};

// One rank's place in the grid, and its comms. They are made, and may end, before and after its trainer's.
struct OwnRank {
  int64_t index = 0;  // in the grid: ranks that share layers are neighbours
  Context context;
  std::unique_ptr<TensorRanks> tensor;  // nullptr: no one else has a part of its layers
  std::unique_ptr<DataRanks> data;

  Parallel parallel(const Grid &grid) const;
};

// All ranks of the grid as threads of this process. Each wants a trainer on a thread of its own.
std::vector<OwnRank> make_local_ranks(const Grid &grid, int64_t width, const Synchrony &synchrony);

// This process's rank in an MPI job of as many processes. Throws Error if the job has another size.
std::vector<OwnRank> make_mpi_rank(const Grid &grid, int64_t width, const Synchrony &synchrony);

}  // namespace lm
