#include "adamw.hpp"

#include <cmath>

namespace lm {

namespace {

constexpr uint64_t kSeedOffset = 0x0A11;  // away from the bits that the linear layers draw

Optimizer make_optimizer(lpt_context *context, const AdamWSettings &settings) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.beta1 = settings.beta1;
  options.beta2 = settings.beta2;
  lpt_optimizer *optimizer = nullptr;
  check(context, lpt_optimizer_create(context, &options, &optimizer));
  return Optimizer(optimizer);
}

}  // namespace

AdamW::AdamW(lpt_context *context, std::deque<Parameter> &parameters, const Precision &precision,
             const AdamWSettings &settings, uint64_t seed)
    : handle_(make_optimizer(context, settings)),
      parameters_(parameters),
      weight_rounding_(precision.weight_rounding),
      seed_(seed + kSeedOffset) {
  for (const Parameter &parameter : parameters_) {
    add(context, parameter, parameter.is_matrix ? precision : Precision{},
        parameter.is_matrix ? settings.weight_decay : 0.0);
  }
}

void AdamW::add(lpt_context *context, const Parameter &parameter, const Precision &precision, double weight_decay) {
  lpt_optimizer_parameter wish = LPT_OPTIMIZER_PARAMETER_INIT;
  wish.elements = parameter.elements();
  wish.first_moment = precision.first_moment;
  wish.second_moment = precision.second_moment;
  wish.weight_decay = weight_decay;
  int64_t index = 0;
  check(context, lpt_optimizer_add(context, handle_.get(), &wish, &index));
}

double AdamW::gradient_norm(lpt_context *context) const {
  double sum = 0.0;
  for (const Parameter &parameter : parameters_) {
    const auto *gradient = static_cast<const float *>(tensor_data(context, parameter.gradient.get()));
    for (int64_t i = 0; i < parameter.elements(); ++i) {
      sum += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
    }
  }
  return std::sqrt(sum);
}

void AdamW::step(lpt_context *context, double learning_rate, double gradient_scale, uint32_t step) {
  std::vector<int64_t> indices;
  std::vector<const lpt_tensor *> gradients;
  std::vector<lpt_tensor *> values;
  for (const Parameter &parameter : parameters_) {
    indices.push_back(parameter.index);
    gradients.push_back(parameter.gradient.get());
    values.push_back(parameter.value.get());
  }
  lpt_step_options options = LPT_STEP_OPTIONS_INIT;
  options.learning_rate = learning_rate;
  options.gradient_scale = gradient_scale;
  options.random.seed = seed_;
  options.random.step = step;
  options.parameter_rounding = weight_rounding_;
  check(context, lpt_optimizer_step(context, handle_.get(), indices.data(), static_cast<int64_t>(indices.size()),
                                    gradients.data(), &options, values.data()));
}

size_t AdamW::moment_bytes(lpt_context *context) const {
  size_t bytes = 0;
  check(context, lpt_optimizer_size(context, handle_.get(), &bytes));
  return bytes;
}

std::vector<uint8_t> AdamW::save_state(lpt_context *context, const Parameter &parameter) const {
  size_t bytes = 0;
  check(context, lpt_optimizer_state_size(context, handle_.get(), parameter.index, &bytes));
  std::vector<uint8_t> state(bytes);
  check(context, lpt_optimizer_state_save(context, handle_.get(), parameter.index, state.data(), state.size()));
  return state;
}

void AdamW::load_state(lpt_context *context, const Parameter &parameter, std::span<const uint8_t> state) {
  check(context, lpt_optimizer_state_load(context, handle_.get(), parameter.index, state.data(), state.size()));
}

}  // namespace lm
