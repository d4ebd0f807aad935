// The checked operands of gathers.
#pragma once

#include <vector>

#include "src/ranks/comm.hpp"
#include "src/ranks/segments.hpp"

namespace lpt {

struct GatherOperands {
  MatrixView from, to;
  FirstAxis axis;                // of the output
  std::vector<int64_t> extents;  // of the parts along it
};

Status check_gather(const Comm &comm, const Tensor *input, const int64_t *counts, const Tensor *output,
                    GatherOperands &out_parts);

}  // namespace lpt
