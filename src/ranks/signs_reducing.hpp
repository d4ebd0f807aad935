// Average over ranks with one sign bit per element: checked views and messages.
#pragma once

#include "src/ranks/wire.hpp"

namespace lpt {

struct SignsReductionPlan {
  MatrixView input, output;
  float *worker_error, *server_error;  // error feedback: of all elements, and of this rank's slice
  std::vector<Range> shares;
};

// Returns the slice of each rank, in elements of a tensor.
std::vector<Range> signs_shares(int64_t elements, int32_t ranks);

Status reduce_signs_to_all(Context &worker, Engine &engine, const SignsReductionPlan &reducing);

}  // namespace lpt
