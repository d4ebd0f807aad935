// A linear layer of the model: the layer of LPT, and its weight parameter.
#pragma once

#include <cstdint>

#include "parameter.hpp"
#include "ranks.hpp"

namespace lm {

class DataRanks;

// Options of one pass through the model.
struct Pass {
  bool is_training = true;      // forward saves the data for backward
  bool is_accumulated = false;  // weight gradients are accumulated: every micro-batch of a step after the first
  uint64_t seed = 0;            // of stochastic rounding
  uint32_t step = 0;            // counts micro-batches
  int64_t first_row = 0;        // index of the first row in the batch of all ranks
  DataRanks *ranks = nullptr;   // notified of each completed gradient; nullptr: no notification

  void tell(lpt_context *context, const Parameter &parameter) const;
};

class Linear {
 public:
  // The parameter must outlive the layer; its index is the random stream. With ranks each has a slice along the axis of
  // `parallel`.
  Linear(lpt_context *context, const lpt_recipe *recipe, Parameter *weight, const TensorRanks *ranks,
         lpt_linear_parallel parallel);

  // Takes effect at the next prepare().
  void set_recipe(lpt_context *context, const lpt_recipe *recipe);

  // Casts the weight. Must be called after every change of the weight.
  void prepare(lpt_context *context, uint64_t seed, uint32_t step);

  // Creates a buffer in which forward saves its data for this number of rows.
  Tensor make_saved(lpt_context *context, int64_t rows) const;

  // output = input · weightᵀ. `smoothing` may be NULL. `saved` is only written in a training pass.
  void forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *smoothing, const Pass &pass,
               lpt_tensor *saved, lpt_tensor *output);

  // Writes the gradients of the input and of the parameter.
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
