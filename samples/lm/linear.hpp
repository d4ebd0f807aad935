// A linear layer of the model: LPT's layer, and the parameter it multiplies with.
#pragma once

#include <cstdint>

#include "parameter.hpp"
#include "ranks.hpp"

namespace lm {

class DataRanks;

// What one pass through the model is reported beside its inputs.
struct Pass {
  bool is_training = true;      // forward saves what backward needs
  bool is_accumulated = false;  // weight gradients are added to: every micro-batch of a step after the first
  uint64_t seed = 0;            // of stochastic rounding
  uint32_t step = 0;            // counts micro-batches
  int64_t first_row = 0;        // index of the first row in the batch of all ranks
  DataRanks *ranks = nullptr;   // reported of each gradient as soon as it is there; nullptr: no one is

  void tell(lpt_context *context, const Parameter &parameter) const;
};

class Linear {
 public:
  // The parameter is borrowed; its index is the layer's stream. Of ranks, if any, each has a slice, cut as `parallel` says.
  Linear(lpt_context *context, const lpt_recipe *recipe, Parameter *weight, const TensorRanks *ranks,
         lpt_linear_parallel parallel);

  // From the next prepare() on.
  void set_recipe(lpt_context *context, const lpt_recipe *recipe);

  // Casts the weight. To be called after every change of it.
  void prepare(lpt_context *context, uint64_t seed, uint32_t step);

  // A fresh buffer for what forward saves of so many rows.
  Tensor make_saved(lpt_context *context, int64_t rows) const;

  // output = input · weightᵀ. `smoothing` may be NULL; `saved` is left alone unless the pass is a training one.
  void forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *smoothing, const Pass &pass,
               lpt_tensor *saved, lpt_tensor *output);

  // Writes the input's gradient and the parameter's.
  void backward(lpt_context *context, const lpt_tensor *saved, const lpt_tensor *output_gradient, const Pass &pass,
                lpt_tensor *input_gradient);

  lpt_linear *handle() const { return handle_.get(); }
  const Parameter &weight() const { return *weight_; }
  size_t cast_bytes(lpt_context *context) const;

 private:
  lpt_linear_options options_for(const Pass &pass) const;

  LinearHandle handle_;
  Parameter *weight_;
  const TensorRanks *ranks_;
  lpt_linear_parallel parallel_;
};

}  // namespace lm
