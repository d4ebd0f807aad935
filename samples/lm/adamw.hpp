// AdamW over the parameters of a model, with moments in the precision's formats.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "parameter.hpp"

namespace lm {

struct AdamWSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double weight_decay = 0.1;  // of matrices; norms have none
};

class AdamW {
 public:
  // `parameters` are borrowed for good.
  AdamW(lpt_context *context, std::deque<Parameter> &parameters, const Precision &precision,
        const AdamWSettings &settings, uint64_t seed);

  // The root of the sum of all squared gradients, added in f64.
  double gradient_norm(lpt_context *context) const;

  // One step; gradients are multiplied by `gradient_scale` first.
  void step(lpt_context *context, double learning_rate, double gradient_scale, uint32_t step);

  // Bytes of all moments.
  size_t moment_bytes(lpt_context *context) const;

  std::vector<uint8_t> save_state(lpt_context *context, const Parameter &parameter) const;
  void load_state(lpt_context *context, const Parameter &parameter, std::span<const uint8_t> state);

 private:
  void add(lpt_context *context, const Parameter &parameter, const Precision &precision, double weight_decay);

  Optimizer handle_;
  std::deque<Parameter> &parameters_;
  lpt_rounding weight_rounding_;
  uint64_t seed_;
};

}  // namespace lm
