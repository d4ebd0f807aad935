// The LPT optimizer for the parameters of a model, with its state in the formats of the precision.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "lossy.hpp"
#include "parameter.hpp"
#include "ranks.hpp"

namespace lm {

struct OptimizerSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double weight_decay = 0.1;   // of matrices; norms have none
  double largest_norm = 1.0;   // gradients are clipped to it
  double unit_scale = 1.0;     // gradients are multiplied by it
  std::string loss_scale;      // as TrainSettings::loss_scale
  int64_t rows_of_a_pass = 1;  // unit-scaled gradients are divided by its square root
};

// Creates a loss scaler: "dynamic", or a constant scale as text. Empty: none. Throws Error for another text.
LossScaler make_loss_scaler(lpt_context *context, const std::string &scale);

// Other ranks that train the model, each nullptr without them.
struct OptimizerRanks {
  TensorRanks *tensor = nullptr;  // share every layer
  DataRanks *sharers = nullptr;   // share the state
  LossyRanks *owners = nullptr;   // step only their own parameters
};

class ModelOptimizer {
 public:
  // `parameters` must outlive the optimizer.
  ModelOptimizer(lpt_context *context, std::deque<Parameter> &parameters, const Precision &precision,
                 const OptimizerSettings &settings, uint64_t seed, const OptimizerRanks &ranks = {});

  // Runs one step with gradients that are the sum of `passes` passes; a fraction is a mean over ranks.
  void step(lpt_context *context, double learning_rate, double passes, uint32_t step);

  // Returns the factor of the loss until the next step.
  double loss_scale(lpt_context *context) const;

  // Returns the number of steps skipped because a gradient was not finite.
  int64_t skipped_steps(lpt_context *context) const;

  // Returns the bytes of all states.
  size_t state_bytes(lpt_context *context) const;

  std::vector<uint8_t> save_state(lpt_context *context, const Parameter &parameter) const;
  void load_state(lpt_context *context, const Parameter &parameter, std::span<const uint8_t> state);

  // State of the loss scaler; empty without one.
  std::vector<uint8_t> save_loss_scale(lpt_context *context) const;
  void load_loss_scale(lpt_context *context, std::span<const uint8_t> state);

 private:
  lpt_optimizer_parameter setting_of(const Parameter &parameter, const Precision &precision) const;
  void add(lpt_context *context, const std::vector<lpt_optimizer_parameter> &requests);
  double gradient_scale(const Parameter &parameter) const;
  double gradient_norm(lpt_context *context) const;
  double squares_of(lpt_context *context, const Parameter &parameter) const;
  bool steps(const Parameter &parameter) const { return ranks_.owners == nullptr || ranks_.owners->owns(parameter); }
  std::vector<const Parameter *> like(const Parameter &parameter) const;

  Optimizer handle_;
  LossScaler scaler_;  // nullptr: none
  std::deque<Parameter> &parameters_;
  lpt_rounding weight_rounding_;
  OptimizerSettings settings_;
  uint64_t seed_;
  OptimizerRanks ranks_;
};

}  // namespace lm
