// Reductions and gathers by packets of a lossy link.
#pragma once

#include "src/collective/lossy_link.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

struct LossyReduceArguments {
  const Tensor *input;
  const int64_t *counts;
  lpt_lossy_mode mode;
  const double *loss;
  int64_t arrival_count;
  Tensor *output;
  uint8_t *out_arrivals;
};
Status lossy_reduce_scatter(Context &context, LossyLink &link, const LossyReduceArguments &arguments);

struct LossyGatherArguments {
  const Tensor *input;
  const int64_t *counts;
  int64_t age_count;
  Tensor *output;
  int32_t *ages;
};
Status lossy_all_gather(Context &context, LossyLink &link, const LossyGatherArguments &arguments);

Status estimate_lossy(double loss, int32_t rank_count, lpt_lossy_info &out_info);

}  // namespace lpt
