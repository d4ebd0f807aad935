// Common parts of the optimizer tests: one parameter and its optimizer, stepped with f32 vectors.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {

constexpr lpt_format kF32 = LPT_FORMAT_F32;

inline lpt_format e4m3_groups() { return format_named("e4m3/1x128/f32"); }

// Options of a parameter as an aggregate.
struct Option {
  lpt_format first = kF32;
  lpt_format second = kF32;
  bool is_first_expanded = false;
  bool is_second_expanded = false;
  double weight_decay = 0.0;
  lpt_format compensation = LPT_FORMAT_NONE;
  lpt_scaler_kind scaling = LPT_SCALER_KIND_CURRENT;  // of both moments
  int64_t whole_elements = 0;
  int64_t begin = 0;
};

inline lpt_optimizer_parameter parameter_of(const Option &option, int64_t elements) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = elements;
  parameter.first_moment = option.first;
  parameter.second_moment = option.second;
  parameter.weight_decay = option.weight_decay;
  parameter.is_first_expanded = option.is_first_expanded ? 1 : 0;
  parameter.is_second_expanded = option.is_second_expanded ? 1 : 0;
  parameter.compensation = option.compensation;
  parameter.first_scaling = parameter.second_scaling = option.scaling;
  parameter.whole_elements = option.whole_elements;
  parameter.begin = option.begin;
  return parameter;
}

constexpr size_t kLeastResidentBytes = size_t{4} << 20;

// An optimizer with one parameter and its values.
class Trainee {
 public:
  // If `directory` is not null, its files store the state, with at most 4 MiB of it in memory.
  Trainee(lpt_context *context, const lpt_optimizer_options &options, const Option &option,
          const std::vector<double> &values, lpt_format value_format = kF32, const char *directory = nullptr)
      : context_(context), elements_(static_cast<int64_t>(values.size())) {
    EXPECT_TRUE(ok(context_, lpt_optimizer_create(context_, &options, out(optimizer_))));
    if (directory != nullptr) {
      EXPECT_TRUE(
          ok(context_, lpt_optimizer_set_directory(context_, optimizer_.get(), directory, kLeastResidentBytes)));
    }
    const lpt_optimizer_parameter parameter = parameter_of(option, elements_);
    int64_t index = -1;
    EXPECT_TRUE(ok(context_, lpt_optimizer_add(context_, optimizer_.get(), nullptr, &parameter, &index)));
    EXPECT_EQ(0, index);
    value_ = vector_of(context_, value_format, values);
  }

  lpt_status try_step(const std::vector<float> &gradient, const lpt_optimizer_step_options &options) {
    const Tensor tensor = wrap(context_, gradient, 1, elements_);
    const lpt_tensor *const gradients[] = {tensor.get()};
    lpt_tensor *const values[] = {value_.get()};
    const int64_t index = 0;
    return lpt_optimizer_step(context_, optimizer_.get(), &index, 1, gradients, &options, values);
  }

  void step(const std::vector<float> &gradient, const lpt_optimizer_step_options &options) {
    EXPECT_TRUE(ok(context_, try_step(gradient, options)));
  }

  std::vector<double> values() const { return numbers_of(context_, value_.get()); }

  std::vector<uint8_t> state() const {
    size_t bytes = 0;
    EXPECT_TRUE(ok(context_, lpt_optimizer_state_size(context_, optimizer_.get(), 0, &bytes)));
    std::vector<uint8_t> state(bytes);
    EXPECT_TRUE(ok(context_, lpt_optimizer_state_save(context_, optimizer_.get(), 0, state.data(), bytes)));
    return state;
  }

  lpt_status load(const std::vector<uint8_t> &state) {
    return lpt_optimizer_state_load(context_, optimizer_.get(), 0, state.data(), state.size());
  }

  // Returns everything that a step changes: values, then state.
  std::vector<uint8_t> bits() const {
    std::vector<uint8_t> all = bytes_of(context_, value_.get());
    const std::vector<uint8_t> more = state();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  lpt_optimizer_info read() const {
    lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
    EXPECT_TRUE(ok(context_, lpt_optimizer_read(context_, optimizer_.get(), &values)));
    return values;
  }

  lpt_optimizer *handle() const { return optimizer_.get(); }
  lpt_tensor *value() const { return value_.get(); }

 private:
  lpt_context *context_;
  int64_t elements_;
  Optimizer optimizer_;
  Tensor value_;
};

inline lpt_optimizer_options options_of(lpt_optimizer_method method) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.method = method;
  options.beta1 = 0.9;
  options.beta2 = 0.95;
  return options;
}

inline lpt_optimizer_step_options step_at(double learning_rate, uint32_t number = 0) {
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = learning_rate;
  options.random.seed = 3;
  options.random.step = number;
  return options;
}

inline lpt_optimizer_step_options stochastic_at(double learning_rate, uint32_t number) {
  lpt_optimizer_step_options options = step_at(learning_rate, number);
  options.first_moment_rounding = LPT_ROUNDING_STOCHASTIC;
  options.second_moment_rounding = LPT_ROUNDING_STOCHASTIC;
  options.parameter_rounding = LPT_ROUNDING_STOCHASTIC;
  return options;
}

inline std::vector<float> floats(const std::vector<double> &numbers) {
  return std::vector<float>(numbers.begin(), numbers.end());
}

// Returns the last `count` values of a state before the `skipped` bytes at its end.
template <typename Number>
std::vector<Number> tail_of(const std::vector<uint8_t> &state, size_t count, size_t skipped = 0) {
  std::vector<Number> numbers(count);
  const size_t bytes = count * sizeof(Number);
  std::memcpy(numbers.data(), state.data() + state.size() - skipped - bytes, bytes);
  return numbers;
}

}  // namespace lpt::test
