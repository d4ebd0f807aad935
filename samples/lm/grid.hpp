// The grid of ranks of one model: `tensor` ranks share every layer, `sequence` such groups share the windows, and `data` groups of
// these share the batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel.hpp"
#include "ranks.hpp"

namespace lm {

struct Grid {
  int64_t tensor = 1;    // ranks that share every layer
  int64_t data = 1;      // groups of ranks that share the batch
  int64_t sequence = 1;  // groups of tensor ranks that divide each window by positions

  int64_t ranks() const { return tensor * data * sequence; }
};

// A rank of the grid, and its comms. It must be created before its trainer, and may be destroyed after it.
struct OwnRank {
  int64_t index = 0;  // in the grid: ranks that share layers are adjacent
  Context context;
  std::unique_ptr<TensorRanks> tensor;      // nullptr: the layers are not split
  std::unique_ptr<SequenceRanks> sequence;  // nullptr: the windows are not split
  std::unique_ptr<DataRanks> data;

  Parallel parallel(const Grid &grid) const;
};

// Returns all ranks of the grid as ranks of this process. Each needs a trainer in a separate thread.
std::vector<OwnRank> make_local_ranks(const Grid &grid, int64_t width, const Synchrony &synchrony);

// Returns the rank of this process in an MPI job with one process per rank. Throws Error if the job has another size.
std::vector<OwnRank> make_mpi_rank(const Grid &grid, int64_t width, const Synchrony &synchrony);

}  // namespace lm
