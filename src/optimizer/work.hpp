// The work of a step: checked arguments, converted to requests for kernels.
#pragma once

#include <vector>

#include "kernels/optimizer/optimizer.hpp"
#include "src/optimizer/optimizer.hpp"

namespace lpt {

// The work of one parameter in a step.
struct StepWork {
  OptimizerParameter *parameter;
  MatrixView gradient, value;
  const KernelEntry<StepRequest> *kernel;
  StepRequest request;
  bool needs_amax;    // a scale needs the new amax: two passes
  bool is_recording;  // the amax of a delayed scale is kept for the next step
};

struct StepCall {
  const int64_t *indices;
  int64_t count;
  const Tensor *const *gradients;
  const lpt_optimizer_step_options *options;
  Tensor *const *parameters;
};

// Checks all arguments and selects kernels. set_constants() sets the constants that depend on the norm.
Status make_works(Context &context, Optimizer &optimizer, const StepCall &call, std::vector<StepWork> &out_works);

// Sets the constants. `clip_factor` is the factor of gradients in addition to gradient_scale.
Status set_constants(const Optimizer &optimizer, const lpt_optimizer_step_options &options, double clip_factor,
                     StepWork &work);

// Checks a tensor of any shape without gaps and returns it as one row.
Status check_dense(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                   const Device &device = {});
Status check_elements(const Tensor *tensor, const std::string &name, int64_t found, int64_t expected);

// Rejects values that overlap another value or a gradient.
Status check_memory_apart(const std::vector<MatrixView> &gradients, const std::vector<MatrixView> &values);

// check_dense() for gradients: f32 or bf16.
Status check_gradient(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                      const Device &device = {});

}  // namespace lpt
