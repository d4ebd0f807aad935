// Optimizers on a GPU have the bits of the CPU, in parameters and saved state; other tests check the CPU.
#include <cmath>

#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kElements = 5003;  // odd, and more than one block of the norm

struct Kind {
  lpt_format first, second;
  lpt_optimizer_method method = LPT_OPTIMIZER_METHOD_ADAMW;
  lpt_scaler_kind scaling = LPT_SCALER_KIND_CURRENT;
  lpt_optimizer_underflow underflow = LPT_OPTIMIZER_UNDERFLOW_CLAMP;
  lpt_format value = LPT_FORMAT_F32, gradient = LPT_FORMAT_F32;
  int32_t is_expanded = 0;  // both moments
  lpt_format compensation = LPT_FORMAT_NONE;
};

constexpr Kind kKinds[] = {
    {LPT_FORMAT_F32, LPT_FORMAT_F32},
    {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_OPTIMIZER_METHOD_ADAM},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_CURRENT,
     LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_FORMAT_BF16, LPT_FORMAT_BF16},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR},
    {LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E4M3FN_TENSOR, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_DELAYED,
     LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC, LPT_FORMAT_BF16},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F32, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_CURRENT,
     LPT_OPTIMIZER_UNDERFLOW_ALLOWED},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_1X128, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_CURRENT,
     LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_FORMAT_BF16, LPT_FORMAT_BF16},
    {LPT_FORMAT_E5M2_1X128, LPT_FORMAT_BF16},
    {LPT_FORMAT_DYNAMIC_1X256, LPT_FORMAT_DYNAMIC_1X256},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F32, LPT_OPTIMIZER_METHOD_LION, LPT_SCALER_KIND_DELAYED},
    {LPT_FORMAT_DYNAMIC_1X256, LPT_FORMAT_F32, LPT_OPTIMIZER_METHOD_SGD},
    {LPT_FORMAT_F16_TENSOR, LPT_FORMAT_E4M3_TENSOR},
    {LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_F16_TENSOR, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_DELAYED},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_1X128, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_CURRENT,
     LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_FORMAT_BF16, LPT_FORMAT_BF16, 1, LPT_FORMAT_BF16},
    {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_OPTIMIZER_METHOD_ADAMW, LPT_SCALER_KIND_CURRENT, LPT_OPTIMIZER_UNDERFLOW_CLAMP,
     LPT_FORMAT_BF16, LPT_FORMAT_BF16, 0, LPT_FORMAT_BF16},
};

lpt_optimizer_parameter parameter_of(const Kind &kind, int64_t elements) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = elements;
  parameter.first_moment = kind.first;
  parameter.second_moment = kind.second;
  parameter.is_first_expanded = parameter.is_second_expanded = kind.is_expanded;
  parameter.compensation = kind.compensation;
  parameter.weight_decay = 0.1;
  const bool is_scaled = kind.scaling == LPT_SCALER_KIND_DELAYED;
  if (is_scaled) parameter.first_scaling = LPT_SCALER_KIND_DELAYED;
  if (is_scaled && kind.second != LPT_FORMAT_F32) parameter.second_scaling = LPT_SCALER_KIND_DELAYED;
  return parameter;
}

// Device and contents of one of the two optimizers.
struct Side {
  lpt_context *context;
  Optimizer optimizer;
  std::vector<Tensor> values;
};

class DeviceOptimizers : public Devices {
 protected:
  // Creates the same parameters on both sides.
  void make(const Kind &kind, const std::vector<int64_t> &elements) {
    kind_ = kind;
    for (Side *const side : {&here_, &there_}) {
      side->values.clear();
      side->context = side == &here_ ? cpu() : gpu();
      lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
      options.method = kind.method;
      options.second_underflow = kind.underflow;
      ASSERT_TRUE(ok(side->context, lpt_optimizer_create(side->context, &options, out(side->optimizer))));
      for (const int64_t count : elements) add(*side, count);
    }
  }

  void add(Side &side, int64_t count) {
    const auto number = side.values.size();
    const lpt_optimizer_parameter parameter = parameter_of(kind_, count);
    int64_t index = -1;
    ASSERT_TRUE(ok(side.context, lpt_optimizer_add(side.context, side.optimizer.get(), nullptr, &parameter, &index)));
    ASSERT_EQ(static_cast<int64_t>(number), index);
    Tensor value = tensor_of(cpu(), kind_.value, 1, count, draw_normal(100 + number, count));
    side.values.push_back(&side == &here_ ? std::move(value) : there(value.get()));
  }

  // Runs one step on both sides with the same gradients; `sigma` 0 makes them zero.
  void step(const lpt_optimizer_step_options &options, double sigma = 1e-2, uint64_t place = 0) {
    std::vector<Tensor> gradients;
    for (size_t i = 0; i < here_.values.size(); ++i) {
      const int64_t count = shape_of(cpu(), here_.values[i].get()).columns;
      std::vector<double> numbers = draw_normal(1000 * (place + options.random.step) + i, count, sigma);
      if (corrupts_ && i == 0) numbers[static_cast<size_t>(count - 1)] = HUGE_VAL;
      gradients.push_back(tensor_of(cpu(), kind_.gradient, 1, count, numbers));
    }
    step_side(here_, options, gradients);
    std::vector<Tensor> sent;
    for (const Tensor &gradient : gradients) sent.push_back(there(gradient.get()));
    step_side(there_, options, sent);
  }

  void step_side(Side &side, const lpt_optimizer_step_options &options, const std::vector<Tensor> &gradients) {
    std::vector<int64_t> indices;
    std::vector<const lpt_tensor *> from;
    std::vector<lpt_tensor *> to;
    for (size_t i = 0; i < gradients.size(); ++i) {
      indices.push_back(static_cast<int64_t>(i));
      from.push_back(gradients[i].get());
      to.push_back(side.values[i].get());
    }
    ASSERT_TRUE(
        ok(side.context, lpt_optimizer_step(side.context, side.optimizer.get(), indices.data(),
                                            static_cast<int64_t>(indices.size()), from.data(), &options, to.data())));
  }

  std::vector<uint8_t> saved(const Side &side, int64_t index = 0) {
    size_t bytes = 0;
    EXPECT_TRUE(ok(side.context, lpt_optimizer_state_size(side.context, side.optimizer.get(), index, &bytes)));
    std::vector<uint8_t> state(bytes);
    EXPECT_TRUE(
        ok(side.context, lpt_optimizer_state_save(side.context, side.optimizer.get(), index, state.data(), bytes)));
    return state;
  }

  lpt_optimizer_info values_of(const Side &side) {
    lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
    EXPECT_TRUE(ok(side.context, lpt_optimizer_read(side.context, side.optimizer.get(), &values)));
    return values;
  }

  void expect_equal(const std::string &what) {
    for (size_t i = 0; i < here_.values.size(); ++i) {
      EXPECT_EQ(bytes_of(cpu(), here_.values[i].get()), bytes_on_device(there_.values[i].get()))
          << what << ", value " << i;
      EXPECT_EQ(saved(here_, static_cast<int64_t>(i)), saved(there_, static_cast<int64_t>(i)))
          << what << ", state " << i;
    }
    const lpt_optimizer_info expected = values_of(here_), found = values_of(there_);
    EXPECT_EQ(expected.gradient_norm, found.gradient_norm) << what;
    EXPECT_EQ(expected.clip_factor, found.clip_factor) << what;
    EXPECT_EQ(expected.skipped_count, found.skipped_count) << what;
    EXPECT_EQ(expected.is_skipped, found.is_skipped) << what;
  }

  static std::string name_of(const Kind &kind) {
    return "moments " + std::to_string(kind.first) + " and " + std::to_string(kind.second) + ", method " +
           std::to_string(kind.method);
  }

  Side here_, there_;
  Kind kind_{};
  bool corrupts_ = false;
};

lpt_optimizer_step_options options_of(uint32_t number, lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN) {
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.gradient_scale = 0.25;
  options.random.seed = 11;
  options.random.step = number;
  options.first_moment_rounding = options.second_moment_rounding = options.parameter_rounding = rounding;
  return options;
}

TEST_F(DeviceOptimizers, StepToTheBitsOfTheCpu) {
  for (const Kind &kind : kKinds) {
    make(kind, {kElements, 17});
    expect_equal(name_of(kind) + " before a step");
    for (uint32_t i = 1; i <= 3; ++i) step(options_of(i));
    expect_equal(name_of(kind));
  }
}

TEST_F(DeviceOptimizers, DrawTheSameBits) {
  for (const Kind &kind : kKinds) {
    make(kind, {kElements});
    for (uint32_t i = 1; i <= 3; ++i) step(options_of(i, LPT_ROUNDING_STOCHASTIC));
    expect_equal(name_of(kind));
  }
}

TEST_F(DeviceOptimizers, TellTheRowsThatRan) {
  make(kKinds[3], {64});
  step(options_of(1));
  expect_words({"step: step_cuda", "step_scales: step_scales_cuda"}, lpt_context_explanation(gpu()));
}

// Delayed moments of zeros have no amax for the next step.
TEST_F(DeviceOptimizers, LookAgainAfterZeros) {
  make(kKinds[4], {300});
  const double sigmas[] = {0.0, 0.0, 1e-2, 1.0, 0.0};
  for (uint32_t i = 0; i < 5; ++i) {
    step(options_of(i + 1), sigmas[i]);
    expect_equal("step " + std::to_string(i));
  }
}

TEST_F(DeviceOptimizers, ClipByTheNormOfAllGradients) {
  make(kKinds[0], {kElements, 4096, 1, 2, 9000});
  for (uint32_t i = 1; i <= 3; ++i) {
    lpt_optimizer_step_options options = options_of(i);
    options.largest_norm = i == 3 ? 100.0 : 0.05;
    step(options);
    expect_equal("step " + std::to_string(i));
    EXPECT_EQ(i != 3, values_of(there_).clip_factor < 1.0);
  }
}

TEST_F(DeviceOptimizers, ClipGradientsThatAreNotFinite) {
  make(kKinds[3], {100, 40});
  corrupts_ = true;
  lpt_optimizer_step_options options = options_of(1);
  options.largest_norm = 1.0;
  step(options);
  expect_equal("an infinity");
  EXPECT_TRUE(std::isinf(values_of(there_).gradient_norm));
}

TEST_F(DeviceOptimizers, SkipStepsThatAreNotFinite) {
  make(kKinds[3], {kElements});
  for (uint32_t i = 1; i <= 3; ++i) {
    corrupts_ = i == 2;
    lpt_optimizer_step_options options = options_of(i);
    options.is_nonfinite_skipped = 1;
    options.largest_norm = 0.05;
    step(options);
    expect_equal("step " + std::to_string(i));
    EXPECT_EQ(corrupts_ ? 1 : 0, values_of(there_).is_skipped);
  }
}

TEST_F(DeviceOptimizers, DivideByALossScale) {
  lpt_loss_scaler *scaler = nullptr;
  ASSERT_TRUE(ok(gpu(), lpt_loss_scaler_create(gpu(), nullptr, &scaler)));
  make(kKinds[3], {kElements, 17});
  for (uint32_t i = 1; i <= 3; ++i) {
    corrupts_ = i == 2;
    lpt_optimizer_step_options options = options_of(i);
    options.loss_scaler = scaler;
    options.largest_norm = i == 3 ? 0.05 : 0.0;
    step(options, 655.36);
    expect_equal("step " + std::to_string(i));
    lpt_loss_scaler_info info = LPT_LOSS_SCALER_INFO_INIT;
    ASSERT_TRUE(ok(gpu(), lpt_loss_scaler_read(gpu(), scaler, &info)));
    EXPECT_EQ(corrupts_ ? 1 : 0, info.is_skipped);
    EXPECT_EQ(i == 3 ? 0x1p15 : 0x1p16, info.scale);
    ASSERT_TRUE(ok(gpu(), lpt_loss_scaler_update(gpu(), scaler)));
  }
  lpt_loss_scaler_destroy(scaler);
}

TEST_F(DeviceOptimizers, TakeANormThatIsGiven) {
  make(kKinds[2], {kElements});
  lpt_optimizer_step_options options = options_of(1);
  options.largest_norm = 1.0;
  options.gradient_norm = 8.0;
  step(options);
  expect_equal("a norm that is given");
}

TEST_F(DeviceOptimizers, StateMovesBetweenDevices) {
  for (const Kind &kind : kKinds) {
    make(kind, {kElements});
    for (uint32_t i = 1; i <= 2; ++i) step(options_of(i));
    const std::vector<uint8_t> state = saved(there_), other = saved(here_);
    make(kind, {kElements});
    ASSERT_TRUE(ok(cpu(), lpt_optimizer_state_load(cpu(), here_.optimizer.get(), 0, state.data(), state.size())));
    ASSERT_TRUE(ok(gpu(), lpt_optimizer_state_load(gpu(), there_.optimizer.get(), 0, other.data(), other.size())));
    for (uint32_t i = 3; i <= 4; ++i) step(options_of(i));
    expect_equal(name_of(kind));
  }
}

TEST_F(DeviceOptimizers, StateComesTogetherFromShards) {
  make(kKinds[6], {kElements});
  step(options_of(1));
  const std::vector<uint8_t> state = saved(here_);
  make(kKinds[6], {kElements});
  const void *const buffers[] = {state.data()};
  const size_t bytes[] = {state.size()};
  ASSERT_TRUE(ok(gpu(), lpt_optimizer_state_load_many(gpu(), there_.optimizer.get(), 0, buffers, bytes, 1)));
  EXPECT_EQ(state, saved(there_));
}

TEST_F(DeviceOptimizers, DamagedStateChangesNothing) {
  make(kKinds[3], {kElements});
  step(options_of(1));
  const std::vector<uint8_t> before = saved(there_);
  std::vector<uint8_t> damaged = before;
  damaged[before.size() / 2] ^= 1;
  EXPECT_EQ(LPT_INVALID_STATE,
            lpt_optimizer_state_load(gpu(), there_.optimizer.get(), 0, damaged.data(), damaged.size()));
  EXPECT_EQ(before, saved(there_));
}

TEST_F(DeviceOptimizers, MeasureTheSameSums) {
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    std::vector<Tensor> here, there;
    std::vector<const lpt_tensor *> expected_from, found_from;
    for (const int64_t count : {int64_t{1}, kElements, int64_t{4096}, int64_t{70000}}) {
      std::vector<double> numbers = draw_normal(static_cast<uint64_t>(count), count, 3.0);
      if (count == kElements) numbers[5] = NAN, numbers[4999] = -HUGE_VAL;
      here.push_back(tensor_of(cpu(), format, 1, count, numbers));
      there.push_back(this->there(here.back().get()));
    }
    for (const Tensor &tensor : here) expected_from.push_back(tensor.get());
    for (const Tensor &tensor : there) found_from.push_back(tensor.get());
    lpt_gradients_info expected = LPT_GRADIENTS_INFO_INIT, found = LPT_GRADIENTS_INFO_INIT;
    ASSERT_TRUE(ok(cpu(), lpt_gradients_measure(cpu(), expected_from.data(), 4, &expected)));
    ASSERT_TRUE(ok(gpu(), lpt_gradients_measure(gpu(), found_from.data(), 4, &found)));
    EXPECT_EQ(expected.sum_of_squares, found.sum_of_squares);
    EXPECT_EQ(expected.nonfinite_count, found.nonfinite_count);
    EXPECT_GE(found.nonfinite_count, 1);
  }
}

TEST_F(DeviceOptimizers, KeepNoStateInFiles) {
  make(kKinds[0], {});
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_optimizer_set_directory(gpu(), there_.optimizer.get(), "/tmp", 0));
  expect_words({"optimizer keeps its state on cuda:0"}, lpt_context_error(gpu()));
}

TEST_F(DeviceOptimizers, RejectWhatLiesElsewhere) {
  make(kKinds[0], {64});
  const Tensor value = make_tensor(cpu(), LPT_FORMAT_F32, 1, 64), gradient = make_tensor(cpu(), LPT_FORMAT_F32, 1, 64);
  const Tensor scaled = make_tensor(gpu(), LPT_FORMAT_F16_TENSOR, 1, 64), right = there(gradient.get());
  const auto step = [&](lpt_context *context, const Side &side, const Tensor &from, const Tensor &to) {
    const int64_t index = 0;
    const lpt_tensor *const gradients[] = {from.get()};
    lpt_tensor *const values[] = {to.get()};
    const lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    return lpt_optimizer_step(context, side.optimizer.get(), &index, 1, gradients, &options, values);
  };
  EXPECT_EQ(LPT_INVALID_ARGUMENT, step(gpu(), there_, gradient, value));
  expect_words({"gradients[0]", "on cpu", "expected cuda:0"}, lpt_context_error(gpu()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, step(cpu(), there_, gradient, value));
  expect_words({"optimizer keeps its state on cuda:0", "not on cpu"}, lpt_context_error(cpu()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, step(gpu(), here_, right, there_.values[0]));
  expect_words({"optimizer keeps its state on cpu", "not on cuda:0"}, lpt_context_error(gpu()));
  EXPECT_EQ(LPT_UNSUPPORTED, step(gpu(), there_, right, scaled));
  expect_words({"step_cuda: the parameter is neither f32 nor bf16"}, lpt_context_error(gpu()));
}

}  // namespace
}  // namespace lpt::test
