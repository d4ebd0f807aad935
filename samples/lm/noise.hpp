// Gradient noise: difference from the gradients of the same weights in f32 on the same batch.
#pragma once

#include "data.hpp"
#include "model.hpp"

namespace lm {

class NoiseMeter {
 public:
  NoiseMeter(lpt_context *context, const ModelShape &shape, const Precision &precision, int64_t sequences);

  // The parameters of `model` must have the gradients of `batch`, multiplied by `loss_scale`.
  lpt_noise_info measure(lpt_context *context, Model<float> &model, const Batch &batch, double loss_scale);

 private:
  Model<float> exact_;
  Activations<float> activations_;
};

}  // namespace lm
