// A step in three parts: arguments become work (work.cpp), the norm of the gradients scales it or skips it (gradients.cpp), and
// the work runs (step.cpp).
#pragma once

#include <vector>

#include "kernels/optimizer/optimizer.hpp"
#include "src/optimizer/optimizer.hpp"

namespace lpt {

constexpr int64_t kStepUnit = 1024;  // elements: parts end on cache lines of every array, and on blocks

// One parameter's part of a step.
struct StepWork {
  OptimizerParameter *parameter;
  MatrixView gradient, value;
  const KernelEntry<StepRequest> *kernel;
  StepRequest request;
  bool is_looking;    // a scale waits for its new amax: two passes
  bool is_recording;  // a delayed scale's amax is kept for the next step
};

struct StepCall {
  const int64_t *indices;
  int64_t count;
  const Tensor *const *gradients;
  const lpt_optimizer_step_options *options;
  Tensor *const *parameters;
};

// Checks all that the caller gave, and selects kernels. Constants that depend on the norm are left for set_constants().
Status make_works(Context &context, Optimizer &optimizer, const StepCall &call, std::vector<StepWork> &out_works);

// What gradients are multiplied by beside gradient_scale goes into `clip_factor`.
Status set_constants(const Optimizer &optimizer, const lpt_optimizer_step_options &options, double clip_factor,
                     StepWork &work);

// Whether a kernel takes the moments of a parameter on the context's device, beside gradients and parameters of f32.
Status check_moments_on_device(Context &context, const Optimizer &optimizer, const OptimizerParameter &parameter);

// A tensor of any shape without gaps, as one row.
Status check_dense(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                   const Device &device = {});
Status check_elements(const Tensor *tensor, const std::string &name, int64_t found, int64_t expected);

// No value overlaps another one, or a gradient.
Status check_memory_apart(const std::vector<MatrixView> &gradients, const std::vector<MatrixView> &values);

// The same, f32 or bf16.
Status check_gradient(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                      const Device &device = {});

// Sums of squares and counts over all gradients, in their order.
struct GradientSums {
  double sum_of_squares;
  int64_t nonfinite_count;
};

// Of one gradient a sum for each kNormBlock elements; raises the count.
Status measure_blocks(Context &context, const MatrixView &gradient, double *out_sums, int64_t &nonfinite_count);

Status measure_gradients(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums);
Status measure_gradient_tensors(Context &context, const Tensor *const *gradients, int64_t count,
                                lpt_gradients_info &out_info);

// What a step of shards exchanges with the ranks of the others. All ranks exchange the same, in the same order.
class StepRanks {
 public:
  virtual ~StepRanks() = default;

  // The largest of all ranks, in place.
  virtual Status find_largest(std::vector<float> &numbers) = 0;

  // The sums of whole gradients, as one rank that has all of them adds them.
  virtual Status find_sums(const std::vector<StepWork> &works, GradientSums &out_sums) = 0;

  // The same where numbers lie on a device: this is queued.
  virtual Status find_largest_on_device(float *numbers, int64_t count) = 0;

  // `sums` holds every block of the whole gradients, one after the other, and what this rank has of them; `nonfinite_counts`
  // for a count of each rank, and its own. Both get those of the others.
  virtual Status share_sums(const std::vector<StepWork> &works, double *sums, int64_t *nonfinite_counts) = 0;

  virtual int32_t rank() const = 0;
  virtual int32_t ranks() const = 0;
};

// step_optimizer() of shards; `ranks` is NULL where there are no others.
Status step_parameters(Context &context, Optimizer &optimizer, const StepCall &call, StepRanks *ranks);

}  // namespace lpt
