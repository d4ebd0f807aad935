// Sums over gradients: what clipping and skipping look at.
#pragma once

#include <vector>

#include "src/optimizer/work.hpp"

namespace lpt {

// Sums of squares and counts over all gradients, in their order.
struct GradientSums {
  double sum_of_squares;
  int64_t nonfinite_count;
};

Status measure_gradients(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums);
Status measure_gradient_tensors(Context &context, const Tensor *const *gradients, int64_t count,
                                lpt_gradients_info &out_info);

// What a step of shards exchanges with the ranks of the others. All ranks exchange the same, in the same order.
class StepRanks {
 public:
  virtual ~StepRanks() = default;

  // The largest of all ranks, in place. Numbers are where the state is; on a device this is queued.
  virtual Status find_largest(float *numbers, int64_t count) = 0;

  // `sums` holds every block of the whole gradients, one after the other, and what this rank has of them; `nonfinite_counts`
  // for a count of each rank, and its own. Both get those of the others.
  virtual Status share_sums(const std::vector<StepWork> &works, double *sums, int64_t *nonfinite_counts) = 0;

  virtual int32_t rank() const = 0;
  virtual int32_t ranks() const = 0;
};

// Of whole gradients, or of shards. On a device the call waits for them.
Status measure_works(Context &context, const std::vector<StepWork> &works, StepRanks *ranks, GradientSums &out_sums);

// Queues the norm of all gradients, and what follows from it, which the steps then look at.
Status queue_norm(Context &context, const Optimizer &optimizer, const lpt_optimizer_step_options &options,
                  std::vector<StepWork> &works, StepRanks *ranks);

}  // namespace lpt
