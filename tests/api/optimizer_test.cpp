// AdamW through the C interface, against its formula in double.
#include <algorithm>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kElements = 3 * 1111;

Optimizer make_optimizer(lpt_context *context, lpt_optimizer_underflow underflow = LPT_OPTIMIZER_UNDERFLOW_CLAMP) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.beta2 = 0.95;
  options.second_underflow = underflow;
  Optimizer optimizer;
  EXPECT_TRUE(ok(context, lpt_optimizer_create(context, &options, out(optimizer))));
  return optimizer;
}

int64_t add(lpt_context *context, lpt_optimizer *optimizer, int64_t elements, lpt_format first = LPT_FORMAT_F32,
            lpt_format second = LPT_FORMAT_F32, double weight_decay = 0.0) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = elements;
  parameter.first_moment = first;
  parameter.second_moment = second;
  parameter.weight_decay = weight_decay;
  int64_t index = -1;
  EXPECT_TRUE(ok(context, lpt_optimizer_add(context, optimizer, nullptr, &parameter, &index)));
  return index;
}

void step(lpt_context *context, lpt_optimizer *optimizer, int64_t index, const Tensor &gradient,
          const Tensor &parameter, const lpt_optimizer_step_options &options) {
  const lpt_tensor *const gradients[] = {gradient.get()};
  lpt_tensor *const parameters[] = {parameter.get()};
  EXPECT_TRUE(ok(context, lpt_optimizer_step(context, optimizer, &index, 1, gradients, &options, parameters)));
}

lpt_optimizer_step_options stochastic(uint32_t step_number) {
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 0.01;
  options.random.seed = 3;
  options.random.step = step_number;
  options.first_moment_rounding = LPT_ROUNDING_STOCHASTIC;
  options.second_moment_rounding = LPT_ROUNDING_STOCHASTIC;
  options.parameter_rounding = LPT_ROUNDING_STOCHASTIC;
  return options;
}

Tensor gradient_of(lpt_context *context, int step_number, lpt_format format = LPT_FORMAT_F32) {
  return tensor_of(context, format, 3, kElements / 3, draw_normal(401 + static_cast<uint64_t>(step_number), kElements));
}

// The formula after some steps.
struct Reference {
  std::vector<double> p = draw_normal(400, kElements), m = std::vector<double>(kElements), v = m;
  int t = 0;
  void step(const std::vector<double> &gradient, double rate, double decay, double gradient_scale) {
    ++t;
    for (size_t i = 0; i < p.size(); ++i) {
      const double g = gradient[i] * gradient_scale;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.95 * v[i] + 0.05 * g * g;
      p[i] -= rate * decay * p[i] +
              rate / (1.0 - std::pow(0.9, t)) * m[i] / (std::sqrt(v[i] / (1.0 - std::pow(0.95, t))) + 1e-8);
    }
  }
};

double worst(const std::vector<double> &a, const std::vector<double> &b) {
  double result = 0.0;
  for (size_t i = 0; i < a.size(); ++i) result = std::max(result, std::abs(a[i] - b[i]));
  return result;
}

// Checks that the first step of a new parameter equals that of the formula.
void expect_first_step(lpt_context *c, const Optimizer &optimizer, int64_t index, const Tensor &gradient) {
  Reference reference;
  const Tensor parameter = tensor_of(c, LPT_FORMAT_F32, 3, kElements / 3, reference.p);
  reference.step(numbers_of(c, gradient.get()), 1e-3, 0.0, 1.0);
  step(c, optimizer.get(), index, gradient, parameter, LPT_OPTIMIZER_STEP_OPTIONS_INIT);
  EXPECT_LT(worst(reference.p, numbers_of(c, parameter.get())), 1e-6);
}

TEST(Optimizer, StepsAsTheFormulaInF32) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t index = add(c, optimizer.get(), kElements, LPT_FORMAT_F32, LPT_FORMAT_F32, 0.1);
  Reference reference;
  const Tensor parameter = tensor_of(c, LPT_FORMAT_F32, 3, kElements / 3, reference.p);
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  for (int t = 0; t < 10; ++t) {
    options.learning_rate = 0.01 * (t + 1);
    options.gradient_scale = t % 2 == 0 ? 0.5 : 4.0;
    const Tensor gradient = gradient_of(c, t);
    reference.step(numbers_of(c, gradient.get()), options.learning_rate, 0.1, options.gradient_scale);
    step(c, optimizer.get(), index, gradient, parameter, options);
    EXPECT_LT(worst(reference.p, numbers_of(c, parameter.get())), 2e-6) << "step " << t;
  }
}

TEST(Optimizer, TakesBf16Gradients) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t index = add(c, optimizer.get(), kElements);
  expect_first_step(c, optimizer, index, gradient_of(c, 0, LPT_FORMAT_BF16));
}

TEST(Optimizer, WithSmallMomentsStaysNearTheFormula) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const struct {
    lpt_format first, second;
    double bound;
  } cases[] = {{LPT_FORMAT_BF16, LPT_FORMAT_BF16, 0.002},
               {LPT_FORMAT_F16_TENSOR, LPT_FORMAT_F16_TENSOR, 0.002},
               {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, 0.06},
               {LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_E5M2_TENSOR, 0.06}};
  for (const auto &[first, second, bound] : cases) {
    const Optimizer optimizer = make_optimizer(c);
    const int64_t index = add(c, optimizer.get(), kElements, first, second);
    Reference reference;
    const Tensor parameter = tensor_of(c, LPT_FORMAT_F32, 3, kElements / 3, reference.p);
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.learning_rate = 0.01;
    const std::vector<double> start = reference.p;
    for (int t = 0; t < 5; ++t) {
      const Tensor gradient = gradient_of(c, t);
      reference.step(numbers_of(c, gradient.get()), 0.01, 0.0, 1.0);
      step(c, optimizer.get(), index, gradient, parameter, options);
    }
    // Error of the total update since the start.
    std::vector<double> given = numbers_of(c, parameter.get());
    std::vector<double> oracle = reference.p;
    for (size_t i = 0; i < start.size(); ++i) {
      given[i] -= start[i];
      oracle[i] -= start[i];
    }
    EXPECT_LT(relative_error(given, oracle), bound) << name_of(first);
  }
}

TEST(Optimizer, WithAScaledF16MasterStaysNearTheFormula) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t index = add(c, optimizer.get(), kElements);
  Reference reference;
  const Tensor parameter = tensor_of(c, LPT_FORMAT_F16_TENSOR, 3, kElements / 3, reference.p);
  for (int t = 0; t < 5; ++t) {
    const Tensor gradient = gradient_of(c, t);
    reference.step(numbers_of(c, gradient.get()), 1e-3, 0.0, 1.0);
    step(c, optimizer.get(), index, gradient, parameter, LPT_OPTIMIZER_STEP_OPTIONS_INIT);
  }
  EXPECT_LT(relative_error(numbers_of(c, parameter.get()), reference.p), 6 * 0x1p-11);
}

TEST(Optimizer, MovesTinyUpdatesOfBf16ParametersByStochasticRounding) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t index = add(c, optimizer.get(), kElements);
  // An update of 2^-11 is an eighth of half a bf16 step below 2, so rounding to nearest discards it.
  const Tensor parameter = tensor_of(c, LPT_FORMAT_BF16, 1, kElements, std::vector<double>(kElements, 1.5));
  const Tensor gradient = tensor_of(c, LPT_FORMAT_F32, 1, kElements, std::vector<double>(kElements, 1.0));
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 0x1p-11;
  step(c, optimizer.get(), index, gradient, parameter, options);
  EXPECT_EQ(std::vector<double>(kElements, 1.5), numbers_of(c, parameter.get()));
  options.parameter_rounding = LPT_ROUNDING_STOCHASTIC;
  step(c, optimizer.get(), index, gradient, parameter, options);
  double mean = 0.0;
  for (const double number : numbers_of(c, parameter.get())) mean += number / kElements;
  EXPECT_NEAR(1.5 - 0x1p-11, mean, 4.0 * 0x1p-7 * std::sqrt(1.0 / 16 * 15.0 / 16 / kElements));
}

TEST(Optimizer, KeepsTinySecondMomentsFromVanishing) {
  const Context context = make_context();
  lpt_context *c = context.get();
  // One large gradient determines the scale. The square of the small ones is far below half the smallest code.
  std::vector<double> numbers(kElements, 1e-6);
  numbers[0] = 1.0;
  for (const lpt_optimizer_underflow underflow : {LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_OPTIMIZER_UNDERFLOW_ALLOWED}) {
    const Optimizer optimizer = make_optimizer(c, underflow);
    const int64_t index = add(c, optimizer.get(), kElements, LPT_FORMAT_F32, LPT_FORMAT_E4M3FN_TENSOR);
    const Tensor parameter = make_tensor(c, LPT_FORMAT_F32, 1, kElements);
    const Tensor gradient = tensor_of(c, LPT_FORMAT_F32, 1, kElements, numbers);
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    step(c, optimizer.get(), index, gradient, parameter, options);
    // A second step with a zero gradient uses only the stored moment.
    const Tensor none = make_tensor(c, LPT_FORMAT_F32, 1, kElements);
    const Tensor moved = make_tensor(c, LPT_FORMAT_F32, 1, kElements);
    step(c, optimizer.get(), index, none, moved, options);
    const double update = std::abs(numbers_of(c, moved.get())[1]);
    if (underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP) {
      EXPECT_LT(update, 1e-3) << "no more than a usual step";
    } else {
      EXPECT_GT(update, 1e-3) << "the root is gone, epsilon alone divides";
    }
  }
}

struct Trained {
  std::vector<uint8_t> bits;  // of the parameter and the state
};

// Runs three stochastic steps of a parameter with FP8 moments. If `is_split`, a new optimizer loads the state after two steps.
Trained train(int32_t threads, bool is_split) {
  const Context context = make_context(threads);
  lpt_context *c = context.get();
  Optimizer optimizer = make_optimizer(c);
  int64_t index = add(c, optimizer.get(), kElements, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, 0.1);
  const Tensor parameter = tensor_of(c, LPT_FORMAT_F16_TENSOR, 3, kElements / 3, draw_normal(400, kElements));
  size_t bytes = 0;
  std::vector<uint8_t> state;
  for (int t = 0; t < 4; ++t) {
    if (t == 2) {
      EXPECT_TRUE(ok(c, lpt_optimizer_state_size(c, optimizer.get(), index, &bytes)));
      state.resize(bytes);
      EXPECT_TRUE(ok(c, lpt_optimizer_state_save(c, optimizer.get(), index, state.data(), state.size())));
      if (is_split) {
        optimizer = make_optimizer(c);
        index = add(c, optimizer.get(), kElements, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, 0.1);
        EXPECT_TRUE(ok(c, lpt_optimizer_state_load(c, optimizer.get(), index, state.data(), state.size())));
      }
    }
    step(c, optimizer.get(), index, gradient_of(c, t), parameter, stochastic(static_cast<uint32_t>(t)));
  }
  state.resize(bytes);
  EXPECT_TRUE(ok(c, lpt_optimizer_state_save(c, optimizer.get(), index, state.data(), state.size())));
  Trained result{bytes_of(c, parameter.get())};
  result.bits.insert(result.bits.end(), state.begin(), state.end());
  return result;
}

TEST(Optimizer, GivesTheSameBitsWithAnyNumberOfThreads) {
  const Trained expected = train(1, false);
  for (const int32_t threads : {2, 3, 5}) EXPECT_EQ(expected.bits, train(threads, false).bits) << threads;
}

TEST(OptimizerState, GoesOnAfterALoadAsIfNeverSaved) { EXPECT_EQ(train(1, false).bits, train(2, true).bits); }

TEST(OptimizerState, IsRejectedWhenTruncatedAnywhere) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t index = add(c, optimizer.get(), 5, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_BF16);
  size_t bytes = 0;
  ASSERT_TRUE(ok(c, lpt_optimizer_state_size(c, optimizer.get(), index, &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(c, lpt_optimizer_state_save(c, optimizer.get(), index, state.data(), state.size())));
  for (size_t length = 0; length < bytes; ++length) {
    const std::vector<uint8_t> cut(state.begin(),
                                   state.begin() + static_cast<std::ptrdiff_t>(length));  // ASan detects overreads
    EXPECT_EQ(LPT_INVALID_STATE, lpt_optimizer_state_load(c, optimizer.get(), index,
                                                          cut.data() == nullptr ? state.data() : cut.data(), length));
  }
}

TEST(OptimizerSize, OfFp8MomentsIsAboutAQuarterOfF32) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const auto size_with = [&](lpt_format first, lpt_format second) {
    const Optimizer optimizer = make_optimizer(c);
    for (const int64_t elements : {int64_t{1024}, int64_t{65536}, int64_t{1000}})
      add(c, optimizer.get(), elements, first, second);
    size_t bytes = 0;
    EXPECT_TRUE(ok(c, lpt_optimizer_size(c, optimizer.get(), &bytes)));
    return static_cast<double>(bytes);
  };
  const double wide = size_with(LPT_FORMAT_F32, LPT_FORMAT_F32);
  EXPECT_EQ(8.0 * (1024 + 65536 + 1000), wide);
  EXPECT_LE(size_with(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR), 0.27 * wide);
}

TEST(Optimizer, StepsManyAsOneByOne) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  std::vector<std::vector<uint8_t>> results[2];
  for (const bool is_together : {false, true}) {
    const Optimizer optimizer = make_optimizer(c);
    std::vector<Tensor> parameters, gradients;
    std::vector<int64_t> indices;
    std::vector<const lpt_tensor *> gradient_handles;
    std::vector<lpt_tensor *> parameter_handles;
    for (int i = 0; i < 3; ++i) {
      indices.push_back(add(c, optimizer.get(), kElements, i == 1 ? LPT_FORMAT_E4M3FN_TENSOR : LPT_FORMAT_F32));
      parameters.push_back(tensor_of(c, LPT_FORMAT_F32, 3, kElements / 3, draw_normal(450, kElements)));
      gradients.push_back(gradient_of(c, i));
      gradient_handles.push_back(gradients.back().get());
      parameter_handles.push_back(parameters.back().get());
    }
    const lpt_optimizer_step_options options = stochastic(0);
    if (is_together) {
      ASSERT_TRUE(ok(c, lpt_optimizer_step(c, optimizer.get(), indices.data(), 3, gradient_handles.data(), &options,
                                           parameter_handles.data())));
    } else {
      for (size_t i : {2u, 0u, 1u}) step(c, optimizer.get(), indices[i], gradients[i], parameters[i], options);
    }
    for (const Tensor &parameter : parameters) results[is_together ? 1 : 0].push_back(bytes_of(c, parameter.get()));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Optimizer, DrawsOtherBitsForEachParameter) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  std::vector<uint8_t> bits[2];
  for (std::vector<uint8_t> &own : bits) {
    const int64_t index = add(c, optimizer.get(), kElements);
    const Tensor parameter = tensor_of(c, LPT_FORMAT_BF16, 3, kElements / 3, draw_normal(400, kElements));
    step(c, optimizer.get(), index, gradient_of(c, 0), parameter, stochastic(0));
    own = bytes_of(c, parameter.get());
  }
  EXPECT_NE(bits[0], bits[1]);
}

TEST(Optimizer, CountsTheStepsOfEachParameterAlone) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t busy = add(c, optimizer.get(), kElements);
  const int64_t late = add(c, optimizer.get(), kElements);
  const Tensor ignored = make_tensor(c, LPT_FORMAT_F32, 3, kElements / 3);
  for (int t = 0; t < 4; ++t)
    step(c, optimizer.get(), busy, gradient_of(c, t), ignored, LPT_OPTIMIZER_STEP_OPTIONS_INIT);
  expect_first_step(c, optimizer, late, gradient_of(c, 9));
}

TEST(Optimizer, CheckOnlyRunsNothing) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  const int64_t index = add(c, optimizer.get(), kElements);
  const Tensor parameter = tensor_of(c, LPT_FORMAT_F32, 3, kElements / 3, draw_normal(400, kElements));
  const std::vector<uint8_t> before = bytes_of(c, parameter.get());
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  step(c, optimizer.get(), index, gradient_of(c, 0), parameter, options);
  EXPECT_EQ(before, bytes_of(c, parameter.get()));
}

TEST(Optimizer, TakesAShardWithoutElements) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = make_optimizer(c);
  lpt_optimizer_parameter option = LPT_OPTIMIZER_PARAMETER_INIT;
  option.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
  option.second_moment = LPT_FORMAT_E5M2_TENSOR;
  option.whole_elements = 5;
  int64_t index = 0;
  ASSERT_TRUE(ok(c, lpt_optimizer_add(c, optimizer.get(), nullptr, &option, &index)));
  const Tensor none = make_tensor(c, LPT_FORMAT_F32, 0, 5);
  const Tensor parameter = make_tensor(c, LPT_FORMAT_F32, 0, 5);
  step(c, optimizer.get(), index, none, parameter, LPT_OPTIMIZER_STEP_OPTIONS_INIT);
}

}  // namespace
}  // namespace lpt::test
