// The work of a step: what a caller gave, checked and converted to requests for kernels.
#pragma once

#include <vector>

#include "kernels/optimizer/optimizer.hpp"
#include "src/optimizer/optimizer.hpp"

namespace lpt {

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

// A tensor of any shape without gaps, as one row.
Status check_dense(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                   const Device &device = {});
Status check_elements(const Tensor *tensor, const std::string &name, int64_t found, int64_t expected);

// No value overlaps another one, or a gradient.
Status check_memory_apart(const std::vector<MatrixView> &gradients, const std::vector<MatrixView> &values);

// The same, f32 or bf16.
Status check_gradient(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                      const Device &device = {});

}  // namespace lpt
