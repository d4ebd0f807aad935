// The LPT optimizer for the parameters of a model, with its state in the formats of the precision.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "parameter.hpp"
#include "ranks.hpp"

namespace lm {

struct OptimizerSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double weight_decay = 0.1;   // of matrices; norms have none
  double largest_norm = 1.0;   // gradients are clipped to it
  double loss_scale = 1.0;     // gradients are multiplied by it
  int64_t rows_of_a_pass = 1;  // unit-scaled gradients are divided by its square root
};

class ModelOptimizer {
 public:
  // `parameters` must outlive the optimizer.
  ModelOptimizer(lpt_context *context, std::deque<Parameter> &parameters, const Precision &precision,
                 const OptimizerSettings &settings, uint64_t seed, TensorRanks *ranks = nullptr,
                 DataRanks *sharers = nullptr);

  // Runs one step with gradients that are the sum of `passes` passes; a fraction is a mean over ranks.
  void step(lpt_context *context, double learning_rate, double passes, uint32_t step);

  // Returns the number of steps skipped because a gradient was not finite.
  int64_t skipped_steps(lpt_context *context) const;

  // Returns the bytes of all states.
  size_t state_bytes(lpt_context *context) const;

  std::vector<uint8_t> save_state(lpt_context *context, const Parameter &parameter) const;
  void load_state(lpt_context *context, const Parameter &parameter, std::span<const uint8_t> state);

 private:
  lpt_optimizer_parameter setting_of(const Parameter &parameter, const Precision &precision) const;
  void add(lpt_context *context, const std::vector<lpt_optimizer_parameter> &requests);
  double gradient_scale(const Parameter &parameter) const;
  double gradient_norm(lpt_context *context) const;
  double squares_of(lpt_context *context, const Parameter &parameter) const;
  std::vector<const Parameter *> like(const Parameter &parameter) const;

  Optimizer handle_;
  std::deque<Parameter> &parameters_;
  lpt_rounding weight_rounding_;
  OptimizerSettings settings_;
  uint64_t seed_;
  TensorRanks *ranks_;  // share the shards; nullptr: this rank has all parameters
  DataRanks *sharers_;  // share the state; nullptr: this rank has the full state
};

}  // namespace lm
