#include "optimizer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace lm {

namespace {

constexpr uint64_t kSeedOffset = 0x0A11;  // distinct from the random bits of the linear layers

Optimizer make_optimizer(lpt_context *context, lpt_optimizer_method method, const OptimizerSettings &settings) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.method = method;
  options.beta1 = settings.beta1;
  options.beta2 = settings.beta2;
  lpt_optimizer *optimizer = nullptr;
  check(context, lpt_optimizer_create(context, &options, &optimizer));
  return Optimizer(optimizer);
}

// Returns the ratio of the values of a unit-scaled weight to those of the effective weight.
double gain_of(const Parameter &parameter) {
  return parameter.is_unit_scaled ? std::sqrt(static_cast<double>(parameter.whole_columns)) : 1.0;
}

}  // namespace

LossScaler make_loss_scaler(lpt_context *context, const std::string &scale) {
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  lpt_loss_scaler *scaler = nullptr;
  if (scale.empty()) {
    return nullptr;
  }
  if (scale != "dynamic") {
    char *end = nullptr;
    options.initial_scale = std::strtod(scale.c_str(), &end);
    options.growth_factor = options.backoff_factor = 1.0;
    if (*end != '\0' || !(options.initial_scale >= options.min_scale && options.initial_scale <= options.max_scale)) {
      throw Error(fmt::format("--loss-scale is {}, expected dynamic or a number from 2^-126 to 2^126", scale));
    }
  }
  check(context, lpt_loss_scaler_create(context, &options, &scaler));
  return LossScaler(scaler);
}

ModelOptimizer::ModelOptimizer(lpt_context *context, std::deque<Parameter> &parameters, const Precision &precision,
                               const OptimizerSettings &settings, uint64_t seed, const OptimizerRanks &ranks)
    : handle_(make_optimizer(context, precision.method, settings)),
      scaler_(make_loss_scaler(context, settings.loss_scale)),
      parameters_(parameters),
      weight_rounding_(precision.state.weight_rounding),
      settings_(settings),
      seed_(seed + kSeedOffset),
      ranks_(ranks) {
  std::vector<lpt_optimizer_parameter> requests;
  for (const Parameter &parameter : parameters_) {
    requests.push_back(setting_of(parameter, precision));
  }
  add(context, requests);
}

lpt_optimizer_parameter ModelOptimizer::setting_of(const Parameter &parameter, const Precision &precision) const {
  const StateFormats state = parameter.is_matrix ? precision.state : StateFormats{};
  lpt_optimizer_parameter option = LPT_OPTIMIZER_PARAMETER_INIT;
  option.elements = parameter.elements();
  option.first_moment = state.first_moment;
  option.second_moment = state.second_moment;
  option.is_first_expanded = state.is_expanded ? 1 : 0;
  option.is_second_expanded = state.is_expanded ? 1 : 0;
  option.compensation = state.compensation;
  // A step of a unit-scaled weight is larger by its gain; weight decay is not.
  option.weight_decay = parameter.is_matrix ? settings_.weight_decay / gain_of(parameter) : 0.0;
  return option;
}

void ModelOptimizer::add(lpt_context *context, const std::vector<lpt_optimizer_parameter> &requests) {
  std::vector<const lpt_optimizer_parameter *> pointers;
  for (const lpt_optimizer_parameter &option : requests) {
    pointers.push_back(&option);
  }
  std::vector<int64_t> indices(requests.size());
  if (ranks_.sharers != nullptr) {
    check(context, lpt_optimizer_add_shards(context, ranks_.sharers->handle(), handle_.get(), nullptr, pointers.data(),
                                            static_cast<int64_t>(pointers.size()), indices.data()));
    return;
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    check(context, lpt_optimizer_add(context, handle_.get(), nullptr, pointers[i], &indices[i]));
  }
}

// Returns the factor that converts the stored gradient to that of the loss for the effective weight.
double ModelOptimizer::gradient_scale(const Parameter &parameter) const {
  const double root = parameter.is_unit_scaled ? std::sqrt(static_cast<double>(settings_.rows_of_a_pass)) : 1.0;
  return root / settings_.unit_scale;
}

double ModelOptimizer::squares_of(lpt_context *context, const Parameter &parameter) const {
  const lpt_tensor *const gradient = parameter.gradient.get();
  lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
  check(context, lpt_gradients_measure(context, &gradient, 1, &values));
  return values.nonfinite_count > 0 ? std::numeric_limits<double>::infinity()
                                    : values.sum_of_squares * gradient_scale(parameter) * gradient_scale(parameter);
}

// Returns the norm over the full model, without the loss scale: shards of all ranks, and replicated parameters once.
double ModelOptimizer::gradient_norm(lpt_context *context) const {
  const Matrix<double> squares(context, 1, static_cast<int64_t>(parameters_.size()));
  for (const Parameter &parameter : parameters_) {
    const bool is_counted =
        steps(parameter) && (ranks_.tensor == nullptr || ranks_.tensor->rank() == 0 || parameter.is_sharded);
    squares.row(0)[parameter.index] = is_counted ? squares_of(context, parameter) : 0.0;
  }
  if (ranks_.tensor != nullptr) {
    ranks_.tensor->reduce(context, squares.tensor());
  }
  if (ranks_.owners != nullptr) {
    ranks_.owners->sum(context, squares.tensor());
  }
  double sum = 0.0;
  for (const double square : squares.values()) {
    sum += square;
  }
  return std::sqrt(sum) / loss_scale(context);
}

// Returns the parameters of this rank that one call can step together with `parameter`: those with equal gains.
std::vector<const Parameter *> ModelOptimizer::like(const Parameter &parameter) const {
  std::vector<const Parameter *> found;
  for (const Parameter &other : parameters_) {
    if (steps(other) && gain_of(other) == gain_of(parameter) && gradient_scale(other) == gradient_scale(parameter)) {
      found.push_back(&other);
    }
  }
  return found;
}

void ModelOptimizer::step(lpt_context *context, double learning_rate, double passes, uint32_t step) {
  const double norm = gradient_norm(context) / passes;
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.largest_norm = settings_.largest_norm;
  options.gradient_norm = norm;
  options.is_nonfinite_skipped = 1;
  options.loss_scaler = scaler_.get();
  options.random.seed = seed_;
  options.random.step = step;
  options.parameter_rounding = weight_rounding_;
  for (const Parameter &parameter : parameters_) {
    const std::vector<const Parameter *> alike = like(parameter);
    if (alike.empty() || alike.front() != &parameter) {
      continue;
    }
    std::vector<int64_t> indices;
    std::vector<const lpt_tensor *> gradients;
    std::vector<lpt_tensor *> values;
    for (const Parameter *one : alike) {
      indices.push_back(one->index);
      gradients.push_back(one->gradient.get());
      values.push_back(one->value.get());
    }
    options.learning_rate = learning_rate * gain_of(parameter);
    options.gradient_scale = gradient_scale(parameter) / passes;
    const auto count = static_cast<int64_t>(indices.size());
    check(context, ranks_.sharers == nullptr
                       ? lpt_optimizer_step(context, handle_.get(), indices.data(), count, gradients.data(), &options,
                                            values.data())
                       : lpt_optimizer_step_shards(context, ranks_.sharers->handle(), handle_.get(), indices.data(),
                                                   count, gradients.data(), &options, nullptr, values.data()));
  }
  if (scaler_ != nullptr) {
    check(context, lpt_loss_scaler_update(context, scaler_.get()));
  }
}

double ModelOptimizer::loss_scale(lpt_context *context) const {
  lpt_loss_scaler_info info = LPT_LOSS_SCALER_INFO_INIT;
  if (scaler_ == nullptr) {
    return 1.0;
  }
  check(context, lpt_loss_scaler_read(context, scaler_.get(), &info));
  return info.scale;
}

int64_t ModelOptimizer::skipped_steps(lpt_context *context) const {
  lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
  check(context, lpt_optimizer_read(context, handle_.get(), &values));
  return values.skipped_count;
}

size_t ModelOptimizer::state_bytes(lpt_context *context) const {
  size_t bytes = 0;
  check(context, lpt_optimizer_size(context, handle_.get(), &bytes));
  return bytes;
}

std::vector<uint8_t> ModelOptimizer::save_state(lpt_context *context, const Parameter &parameter) const {
  size_t bytes = 0;
  check(context, lpt_optimizer_state_size(context, handle_.get(), parameter.index, &bytes));
  std::vector<uint8_t> state(bytes);
  check(context, lpt_optimizer_state_save(context, handle_.get(), parameter.index, state.data(), state.size()));
  return state;
}

void ModelOptimizer::load_state(lpt_context *context, const Parameter &parameter, std::span<const uint8_t> state) {
  check(context, lpt_optimizer_state_load(context, handle_.get(), parameter.index, state.data(), state.size()));
}

std::vector<uint8_t> ModelOptimizer::save_loss_scale(lpt_context *context) const {
  if (scaler_ == nullptr) {
    return {};
  }
  size_t bytes = 0;
  check(context, lpt_loss_scaler_state_size(context, scaler_.get(), &bytes));
  std::vector<uint8_t> state(bytes);
  check(context, lpt_loss_scaler_state_save(context, scaler_.get(), state.data(), state.size()));
  return state;
}

void ModelOptimizer::load_loss_scale(lpt_context *context, std::span<const uint8_t> state) {
  if (scaler_ != nullptr) {
    check(context, lpt_loss_scaler_state_load(context, scaler_.get(), state.data(), state.size()));
  }
}

}  // namespace lm
