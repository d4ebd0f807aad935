// Thresholds at which slow ranks stop a step, and the speed that they give (DropCompute, arXiv 2306.10598).
#pragma once

#include "lpt/research/drop_compute.h"
#include "src/call/context.hpp"

namespace lpt {

// Times of micro-batches, [ranks][steps][micro_batches].
struct MicroBatchTimes {
  const double *seconds;
  int64_t ranks, steps, micro_batches;
};
Status fit_threshold(const MicroBatchTimes &times, double serial_seconds, double threshold_seconds,
                     lpt_drop_compute_info &out_info);

// Independent normal times of micro-batches.
struct MicroBatchModel {
  int64_t ranks, micro_batches;
  double mean_seconds, deviation_seconds;
};
Status estimate_threshold(const MicroBatchModel &model, double serial_seconds, double threshold_seconds,
                          lpt_drop_compute_info &out_info);

}  // namespace lpt
