// An autopilot that moves GEMMs of the blocks to bf16 and back during a run, within a budget.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"
#include "model.hpp"

namespace lm {

// Throws Error if a precision has nothing that can rise to bf16, or changes its recipe itself. A budget of 0: no autopilot.
void check_pilot(const Precision &precision, double budget);

class Pilot {
 public:
  // `budget` is the share of the work of the GEMMs of the blocks over all steps that may be in bf16. All GEMMs start with the
  // recipe of the precision, also those of a last block that has a higher precision otherwise.
  Pilot(lpt_context *context, Model<float> &model, const Precision &precision, int64_t steps, double budget);

  // Whether casts and noise are measured in a step, since decisions follow.
  bool is_measured(int64_t step) const { return (step + 1) % interval_ == 0; }

  void observe_noise(lpt_context *context, double ratio);
  // Reports the casts of all layers, and the alignment of the weights before each layer that reads a gated unit.
  void observe_layers(lpt_context *context);

  // Ends a step. Returns whether recipes have changed: weights must be prepared, and activations created a second time.
  bool end_step(lpt_context *context, int64_t step, double loss);

  // Returns the share of the work that was in bf16 so far.
  double high_share(lpt_context *context) const;
  // Returns the decisions as CSV.
  std::string csv(lpt_context *context) const;

  std::vector<uint8_t> save(lpt_context *context) const;
  void load(lpt_context *context, std::span<const uint8_t> state);

 private:
  void set_recipes(lpt_context *context);
  lpt_autopilot_info info(lpt_context *context) const;

  int64_t interval_;
  std::deque<Block<float>> &blocks_;
  std::vector<Linear *> linears_;
  Autopilot handle_;
};

}  // namespace lm
