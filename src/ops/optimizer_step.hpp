// A step in three parts: what the caller gave becomes work (optimizer_work.cpp), the gradients' norm decides what becomes
// of it (optimizer_gradients.cpp), and the work is run (optimizer_step.cpp).
#pragma once

#include <vector>

#include "kernels/optimizer/optimizer.hpp"
#include "src/ops/optimizer.hpp"

namespace lpt {

constexpr int64_t kStepUnit = 1024;  // elements: parts end on cache lines of every array, and on blocks

// One parameter's part of a step.
struct StepWork {
  OptimizerParameter *parameter;
  MatrixView gradient, value;
  const Row<StepRequest> *row;
  StepRequest request;
  bool is_looking;    // a scale waits for its new amax: two passes
  bool is_recording;  // a delayed scale's amax is kept for the next step
};

struct StepCall {
  const int64_t *indices;
  int64_t count;
  const Tensor *const *gradients;
  const lpt_step_options *options;
  Tensor *const *parameters;
};

// Checks all that the caller gave, and chooses rows. Constants that depend on the norm are left for set_constants().
Status make_works(Context &context, Optimizer &optimizer, const StepCall &call, std::vector<StepWork> &out_works);

// What gradients are multiplied by beside gradient_scale goes into `clip_factor`.
Status set_constants(const Optimizer &optimizer, const lpt_step_options &options, double clip_factor, StepWork &work);

// A tensor of any shape without gaps, f32 or bf16, as one row.
Status check_gradient(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view);

// Sums of squares and counts over all gradients, in their order.
struct GradientSums {
  double sum_of_squares;
  int64_t nonfinite_count;
};
Status measure_gradients(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums);
Status measure_gradient_tensors(Context &context, const Tensor *const *gradients, int64_t count,
                                lpt_gradient_values &out_values);

}  // namespace lpt
