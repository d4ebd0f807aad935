#include "noise.hpp"

#include "loss.hpp"

namespace lm {

NoiseMeter::NoiseMeter(lpt_context *context, const ModelShape &shape, const Precision &precision, int64_t sequences)
    : exact_(context, shape, exact(precision), 0, Parallel{}),
      activations_(exact_.make_activations(context, sequences)) {}

lpt_noise_info NoiseMeter::measure(lpt_context *context, Model<float> &model, const Batch &batch, double loss_scale) {
  std::vector<const lpt_tensor *> gradients;
  std::vector<const lpt_tensor *> noisy;
  for (size_t i = 0; i < model.parameters().size(); ++i) {
    const Parameter &own = model.parameters()[i];
    const Parameter &twin = exact_.parameters()[i];
    check(context, lpt_dequantize(context, own.value.get(), nullptr, twin.value.get()));
    gradients.push_back(twin.gradient.get());
    noisy.push_back(own.gradient.get());
  }
  exact_.prepare(context, 0);
  exact_.forward(context, batch.inputs, Pass{}, activations_);
  cross_entropy_to_gradient(context, nullptr, activations_.logits, batch.targets, loss_scale);
  exact_.backward(context, batch.inputs, Pass{}, activations_);
  lpt_noise_info values = LPT_NOISE_INFO_INIT;
  check(context, lpt_noise_measure(context, gradients.data(), noisy.data(), static_cast<int64_t>(gradients.size()),
                                   nullptr, &values));
  return values;
}

}  // namespace lm
