// An average over ranks by signs, from checked views to bytes.
#pragma once

#include "src/ranks/wire.hpp"

namespace lpt {

struct SignsReductionPlan {
  MatrixView input, output;
  float *worker_error, *server_error;  // of all elements, and of this rank's share
  std::vector<Range> shares;
};

// The shares of a tensor's elements.
std::vector<Range> signs_shares(int64_t elements, int32_t ranks);

Status reduce_signs_to_all(Context &worker, Engine &engine, const SignsReductionPlan &reducing);

}  // namespace lpt
