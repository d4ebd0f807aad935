// LPT's optimizer over the parameters of a model, with its state in the precision's formats.
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
  double loss_scale = 1.0;     // gradients come multiplied by it
  int64_t rows_of_a_pass = 1;  // unit-scaled gradients come divided by the root of it
};

class ModelOptimizer {
 public:
  // `parameters` are borrowed for good.
  ModelOptimizer(lpt_context *context, std::deque<Parameter> &parameters, const Precision &precision,
                 const OptimizerSettings &settings, uint64_t seed, TensorRanks *ranks = nullptr,
                 DataRanks *sharers = nullptr);

  // One step over gradients that `passes` passes added up.
  void step(lpt_context *context, double learning_rate, int64_t passes, uint32_t step);

  // Steps that were left out, since a gradient was no number.
  int64_t skipped_steps(lpt_context *context) const;

  // Bytes of all states.
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
  TensorRanks *ranks_;  // have the shards between them; nullptr: this one has all
  DataRanks *sharers_;  // have the state between them; nullptr: this one has all
};

}  // namespace lm
