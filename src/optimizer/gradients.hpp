// Sums over gradients, for clipping and for skipping a step.
#pragma once

#include <vector>

#include "src/optimizer/work.hpp"

namespace lpt {

// Sums over all gradients, in their order.
struct GradientSums {
  double sum_of_squares;
  int64_t nonfinite_count;
};

Status measure_gradients(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums);
Status measure_gradient_tensors(Context &context, const Tensor *const *gradients, int64_t count,
                                lpt_gradients_info &out_info);

// The exchange of a step of shards with the other ranks. All ranks make the same calls in the same order.
class StepRanks {
 public:
  virtual ~StepRanks() = default;

  // Computes the max over all ranks in place. `numbers` is in the memory of the state; on a device the operation is queued.
  virtual Status max_over_ranks(float *numbers, int64_t count) = 0;

  // All-gathers the sums. `sums` has one entry for each block of the full gradients; this rank sets those of its shards.
  // `nonfinite_counts` has one entry per rank; this rank sets its own.
  virtual Status all_gather_sums(const std::vector<StepWork> &works, double *sums, int64_t *nonfinite_counts) = 0;

  virtual int32_t rank() const = 0;
  virtual int32_t ranks() const = 0;
};

// Computes the sums of full gradients or of shards. On a device the call waits for them.
Status measure_works(Context &context, const std::vector<StepWork> &works, StepRanks *ranks, GradientSums &out_sums);

// Queues the norm of all gradients and the clip factor, which the queued steps read.
Status queue_norm(Context &context, const Optimizer &optimizer, const lpt_optimizer_step_options &options,
                  std::vector<StepWork> &works, StepRanks *ranks);

}  // namespace lpt
