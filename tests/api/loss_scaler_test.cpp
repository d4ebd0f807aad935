// Loss scalers against the published rule of torch.amp.GradScaler, and steps that use them against gradients divided by hand.
#include <cfloat>

#include "tests/api/optimizer.hpp"

namespace lpt::test {
namespace {

LossScaler make_scaler(lpt_context *c, const lpt_loss_scaler_options &options) {
  LossScaler scaler;
  EXPECT_TRUE(ok(c, lpt_loss_scaler_create(c, &options, out(scaler))));
  return scaler;
}

LossScaler scaler_of(lpt_context *c, double scale) {
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  options.initial_scale = scale;
  return make_scaler(c, options);
}

lpt_loss_scaler_info read(lpt_context *c, const LossScaler &scaler) {
  lpt_loss_scaler_info info = LPT_LOSS_SCALER_INFO_INIT;
  EXPECT_TRUE(ok(c, lpt_loss_scaler_read(c, scaler.get(), &info)));
  return info;
}

std::vector<uint8_t> save(lpt_context *c, const LossScaler &scaler) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(c, lpt_loss_scaler_state_size(c, scaler.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  EXPECT_TRUE(ok(c, lpt_loss_scaler_state_save(c, scaler.get(), state.data(), bytes)));
  return state;
}

// Rounds to a float format as backward does: overflow gives infinity.
Tensor rounded(lpt_context *c, lpt_format format, const std::vector<double> &numbers) {
  const Tensor source = vector_of(c, LPT_FORMAT_F64, numbers);
  Tensor target = make_tensor(c, format, 1, static_cast<int64_t>(numbers.size()));
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.overflow = LPT_OVERFLOW_INFINITE;
  EXPECT_TRUE(ok(c, lpt_quantize(c, source.get(), &options, target.get(), nullptr)));
  return target;
}

// Several parameters of one optimizer with moments of one kind.
class Parameters {
 public:
  Parameters(lpt_context *c, const std::vector<int64_t> &sizes, const Option &option = {},
             lpt_optimizer_method method = LPT_OPTIMIZER_METHOD_ADAMW)
      : c_(c) {
    const lpt_optimizer_options options = test::options_of(method);
    EXPECT_TRUE(ok(c, lpt_optimizer_create(c, &options, out(optimizer_))));
    for (const int64_t size : sizes) {
      const lpt_optimizer_parameter parameter = parameter_of(option, size);
      indices_.push_back(-1);
      EXPECT_TRUE(ok(c, lpt_optimizer_add(c, optimizer_.get(), nullptr, &parameter, &indices_.back())));
      const lpt_format format = option.compensation == LPT_FORMAT_NONE ? kF32 : lpt_format{LPT_FORMAT_BF16};
      values_.push_back(vector_of(c, format, draw_normal(700 + values_.size(), size)));
    }
  }

  lpt_status try_step(const std::vector<std::vector<double>> &gradients, const lpt_optimizer_step_options &options,
                      lpt_format format = kF32) {
    std::vector<Tensor> owners;
    std::vector<const lpt_tensor *> from;
    std::vector<lpt_tensor *> to;
    for (size_t i = 0; i < gradients.size(); ++i) {
      owners.push_back(rounded(c_, format, gradients[i]));
      from.push_back(owners.back().get());
      to.push_back(values_[i].get());
    }
    return lpt_optimizer_step(c_, optimizer_.get(), indices_.data(), static_cast<int64_t>(gradients.size()),
                              from.data(), &options, to.data());
  }

  void step(const std::vector<std::vector<double>> &gradients, const lpt_optimizer_step_options &options,
            lpt_format format = kF32) {
    EXPECT_TRUE(ok(c_, try_step(gradients, options, format)));
  }

  // Returns values and saved states, which contain the step counts.
  std::vector<uint8_t> bits() const {
    std::vector<uint8_t> all;
    for (size_t i = 0; i < values_.size(); ++i) {
      const std::vector<uint8_t> value = bytes_of(c_, values_[i].get());
      all.insert(all.end(), value.begin(), value.end());
      size_t bytes = 0;
      EXPECT_TRUE(ok(c_, lpt_optimizer_state_size(c_, optimizer_.get(), indices_[i], &bytes)));
      all.resize(all.size() + bytes);
      void *const end = all.data() + all.size() - bytes;
      EXPECT_TRUE(ok(c_, lpt_optimizer_state_save(c_, optimizer_.get(), indices_[i], end, bytes)));
    }
    return all;
  }

  lpt_optimizer_info info() const {
    lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
    EXPECT_TRUE(ok(c_, lpt_optimizer_read(c_, optimizer_.get(), &values)));
    return values;
  }

  std::vector<double> value(size_t i) const { return numbers_of(c_, values_[i].get()); }

 private:
  lpt_context *c_;
  Optimizer optimizer_;
  std::vector<int64_t> indices_;
  std::vector<Tensor> values_;
};

// The rule of torch.amp.GradScaler: aten/src/ATen/native/cuda/AmpKernels.cu, amp_update_scale_cuda_kernel. The scale is f32, a
// factor f64. LPT has limits in place of infinity.
struct Rule {
  float scale, least, most;
  double growth, backoff;
  int64_t interval, tracker = 0, skipped = 0;

  void update(bool found_inf) {
    if (found_inf) {
      const double next = static_cast<double>(scale) * backoff;
      if (next >= static_cast<double>(least)) scale = static_cast<float>(next);
      tracker = 0;
      ++skipped;
      return;
    }
    if (++tracker == interval) {
      const double next = static_cast<double>(scale) * growth;
      if (next <= static_cast<double>(most)) scale = static_cast<float>(next);
      tracker = 0;
    }
  }
};

TEST(LossScaler, FollowsTheRuleOfGradScaler) {
  struct Case {
    lpt_loss_scaler_options options;
    double skipped;  // probability of a skipped step
  };
  constexpr size_t kSize = sizeof(lpt_loss_scaler_options);
  const Case cases[] = {{{kSize, 65536, 2, 0.5, 3, 0x1p-126, 0x1p126}, 0.1},
                        {{kSize, 1, 1.7, 0.3, 1, 0x1p-126, 0x1p126}, 0.4},
                        {{kSize, 1024, 2, 0.5, 2, 128, 4096}, 0.3},
                        {{kSize, 0x1p120, 16, 0.25, 2, 1, 0x1p126}, 0.05},
                        {{kSize, 0.1, 3, 0.1, 4, 1e-4, 10}, 0.3},
                        {{kSize, 512, 1, 1, 1, 0x1p-126, 0x1p126}, 0.5},
                        {{kSize, 0.1, 2, 0.5, 1, 0.1, 0.1}, 0.5},  // f32(0.1) is larger, f32(0.7) smaller
                        {{kSize, 0.7, 2, 0.5, 1, 0.7, 0.7}, 0.5},
                        {{kSize, 0x1p-120, 2, 0.01, 2, 0x1p-126, 1}, 0.5}};
  const Context context = make_context(1);
  lpt_context *c = context.get();
  Random random(701);
  for (const Case &one : cases) {
    const lpt_loss_scaler_options &options = one.options;
    const LossScaler scaler = make_scaler(c, options);
    Rule rule{static_cast<float>(options.initial_scale),
              static_cast<float>(options.min_scale),
              static_cast<float>(options.max_scale),
              options.growth_factor,
              options.backoff_factor,
              options.growth_interval};
    Parameters trained(c, {3}, {}, LPT_OPTIMIZER_METHOD_SGD);
    for (int i = 0; i < 300; ++i) {
      const bool is_bad = random.chance(one.skipped);
      lpt_optimizer_step_options step = step_at(0.01);
      step.loss_scaler = scaler.get();
      trained.step({{0.0, is_bad ? HUGE_VAL : 1e-30, 0.0}}, step);
      EXPECT_EQ(is_bad ? 1 : 0, read(c, scaler).is_skipped);
      ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, scaler.get())));
      rule.update(is_bad);
      const lpt_loss_scaler_info found = read(c, scaler);
      ASSERT_EQ(static_cast<double>(rule.scale), found.scale) << options.initial_scale << ", update " << i;
      ASSERT_EQ(rule.tracker, found.finite_count) << options.initial_scale << ", update " << i;
      ASSERT_EQ(rule.skipped, found.skipped_count);
      ASSERT_EQ(0, found.is_skipped);
    }
    const std::vector<uint8_t> state = save(c, scaler);
    EXPECT_TRUE(ok(c, lpt_loss_scaler_state_load(c, scaler.get(), state.data(), state.size())));
  }
}

TEST(LossScaler, HasTheDefaultsOfGradScaler) {
  const lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  EXPECT_EQ(65536.0, options.initial_scale);
  EXPECT_EQ(2.0, options.growth_factor);
  EXPECT_EQ(0.5, options.backoff_factor);
  EXPECT_EQ(2000, options.growth_interval);
  EXPECT_EQ(0x1p-126, options.min_scale);
  EXPECT_EQ(0x1p126, options.max_scale);
}

TEST(LossScaler, IsUpdatedOnceForSeveralOptimizersAndGroups) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  options.growth_interval = 2;
  const LossScaler scaler = make_scaler(c, options);
  Parameters first(c, {5}), second(c, {5});
  lpt_optimizer_step_options step = step_at(0.01);
  step.loss_scaler = scaler.get();
  const std::vector<std::vector<double>> good = {draw_normal(702, 5)}, bad = {{1, 2, std::nan(""), 4, 5}};
  for (const bool is_first_bad : {true, false}) {
    const std::vector<uint8_t> before = (is_first_bad ? first : second).bits();
    const double scale = read(c, scaler).scale;
    first.step(is_first_bad ? bad : good, step);
    second.step(is_first_bad ? good : bad, step);
    EXPECT_EQ(before, (is_first_bad ? first : second).bits());
    EXPECT_EQ(1, (is_first_bad ? first : second).info().is_skipped);
    EXPECT_EQ(0, (is_first_bad ? second : first).info().is_skipped);
    EXPECT_EQ(scale, read(c, scaler).scale) << "only an update changes it";
    ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, scaler.get())));
    EXPECT_EQ(scale / 2, read(c, scaler).scale);
  }
  for (int i = 0; i < 2; ++i) {
    first.step(good, step);
    second.step(good, step);
    ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, scaler.get())));
  }
  EXPECT_EQ(32768.0, read(c, scaler).scale);
}

TEST(LossScaler, CountsStepsThatRanOnly) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  const LossScaler scaler = scaler_of(c, 4.0);
  Parameters trained(c, {3});
  lpt_optimizer_step_options step = step_at(0.01);
  step.loss_scaler = scaler.get();
  const std::vector<std::vector<double>> bad = {{1, 2, HUGE_VAL}};
  const std::vector<uint8_t> state = save(c, scaler);
  step.flags = LPT_CHECK_ONLY;
  trained.step(bad, step);
  step.flags = 0;
  step.learning_rate = -1.0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, trained.try_step(bad, step));
  EXPECT_EQ(state, save(c, scaler));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_loss_scaler_update(c, scaler.get()));
  step.learning_rate = 0.01;
  trained.step({}, step);  // of a rank without parameters
  EXPECT_TRUE(ok(c, lpt_loss_scaler_update(c, scaler.get())));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_loss_scaler_update(c, scaler.get()));
  EXPECT_EQ(1, read(c, scaler).finite_count);
}

// Steps that divide.

const Option kStates[] = {
    {kF32, kF32},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, false, false, 0.1, LPT_FORMAT_BF16},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, false, false, 0.1},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F16_TENSOR, false, false, 0.0, LPT_FORMAT_NONE, LPT_SCALER_KIND_DELAYED},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128, true, true},
    {LPT_FORMAT_DYNAMIC_1X256, LPT_FORMAT_DYNAMIC_1X256}};

// Powers of two are exact: every product with them is, unless it is subnormal, which these gradients are not.
TEST(LossScalerStep, HasTheBitsOfGradientsDividedByHand) {
  constexpr lpt_optimizer_method kMethods[] = {LPT_OPTIMIZER_METHOD_ADAMW, LPT_OPTIMIZER_METHOD_ADAM,
                                               LPT_OPTIMIZER_METHOD_SGD, LPT_OPTIMIZER_METHOD_LION};
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const std::vector<int64_t> sizes = {5000, 130};
  uint64_t place = 710;
  for (const lpt_optimizer_method method : kMethods) {
    for (const Option &state : kStates) {
      for (const int exponent : {-20, 0, 16, 40}) {
        const lpt_format format = exponent == 16 ? lpt_format{LPT_FORMAT_BF16} : kF32;
        const LossScaler scaler = scaler_of(c, std::ldexp(1.0, exponent));
        Parameters ours(c, sizes, state, method), expected(c, sizes, state, method);
        for (uint32_t t = 0; t < 3; ++t) {
          lpt_optimizer_step_options options = stochastic_at(0.01, t);
          options.gradient_scale = t == 2 ? -0.3 : 1.0;
          options.largest_norm = t == 1 ? 2.0 : 0.0;
          std::vector<std::vector<double>> scaled, divided;
          for (const int64_t size : sizes) {
            Tensor stored = vector_of(c, format, draw_normal(++place, size, std::ldexp(1.0, exponent)));
            scaled.push_back(numbers_of(c, stored.get()));
            divided.push_back(scaled.back());
            for (double &number : divided.back()) number = std::ldexp(number, -exponent);
          }
          expected.step(divided, options, format);
          options.loss_scaler = scaler.get();
          ours.step(scaled, options, format);
          ASSERT_EQ(expected.bits(), ours.bits()) << method << ", 2^" << exponent << ", step " << t;
          if (t == 1) {
            EXPECT_LT(ours.info().clip_factor, 1.0);
            EXPECT_EQ(expected.info().gradient_norm, ours.info().gradient_norm);
            EXPECT_EQ(expected.info().clip_factor, ours.info().clip_factor);
          }
          EXPECT_EQ(0, ours.info().is_skipped);
        }
      }
    }
  }
}

// Of other scales the inverse is rounded to f32, and then each product: SGD without momentum shows both.
TEST(LossScalerStep, RoundsTheInverseOfOtherScales) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  for (const double scale : {3.0, 1000.0, 0.1}) {
    const LossScaler scaler = scaler_of(c, scale);
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(static_cast<float>(scale)));
    lpt_optimizer_options method = LPT_OPTIMIZER_OPTIONS_INIT;
    method.method = LPT_OPTIMIZER_METHOD_SGD;
    Trainee trainee(c, method, {}, std::vector<double>(999, 0.0));
    const std::vector<float> gradient = floats(draw_normal(703, 999, scale));
    lpt_optimizer_step_options options = step_at(1.0);
    options.loss_scaler = scaler.get();
    trainee.step(gradient, options);
    const std::vector<double> found = trainee.values();
    for (size_t i = 0; i < gradient.size(); ++i) ASSERT_EQ(static_cast<double>(-(gradient[i] * inverse)), found[i]);
  }
}

TEST(LossScalerStep, WithASpecialGradientAnywhereChangesNoByte) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const std::vector<int64_t> sizes = {4096 + 77, 1, 300};
  const LossScaler scaler = scaler_of(c, 256.0);
  lpt_optimizer_step_options options = stochastic_at(0.01, 1);
  options.loss_scaler = scaler.get();
  int64_t updates = 0;
  for (const Option &state : kStates) {
    for (const lpt_format format : {kF32, lpt_format{LPT_FORMAT_BF16}}) {
      Parameters trained(c, sizes, state), undisturbed(c, sizes, state);
      const auto step = [&](Parameters &which, uint64_t place, size_t parameter, size_t element, double special) {
        std::vector<std::vector<double>> gradients;
        for (size_t i = 0; i < sizes.size(); ++i) gradients.push_back(draw_normal(place + i, sizes[i], 256.0));
        if (special != 0.0) gradients[parameter][element] = special;
        which.step(gradients, options, format);
      };
      step(trained, 730, 0, 0, 0.0);
      step(undisturbed, 730, 0, 0, 0.0);
      const std::vector<uint8_t> before = trained.bits();
      for (size_t i = 0; i < sizes.size(); ++i) {
        const auto size = static_cast<size_t>(sizes[i]);
        for (const size_t element : {size_t{0}, size / 2, size - 1}) {
          for (const double special : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
            options.largest_norm = element == 0 ? 1.0 : 0.0;
            step(trained, 740, i, element, special);
            ASSERT_EQ(before, trained.bits()) << i << ", " << element << ", " << special;
            ASSERT_EQ(1, trained.info().is_skipped);
            ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, scaler.get())));
            ASSERT_EQ(++updates, read(c, scaler).skipped_count);
          }
        }
      }
      options.largest_norm = 0.0;
      EXPECT_TRUE(ok(c, lpt_loss_scaler_state_load(c, scaler.get(), save(c, scaler_of(c, 256.0)).data(), 60)));
      updates = 0;
      step(trained, 750, 0, 0, 0.0);
      step(undisturbed, 750, 0, 0, 0.0);
      EXPECT_EQ(undisturbed.bits(), trained.bits()) << "it goes on";
    }
  }
}

TEST(LossScalerStep, UsesTheNormThatTheCallerPasses) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  const LossScaler scaler = scaler_of(c, 8.0);
  Parameters trained(c, {4}), expected(c, {4});
  lpt_optimizer_step_options options = step_at(0.01);
  options.loss_scaler = scaler.get();
  options.gradient_norm = HUGE_VAL;  // of another rank
  const std::vector<uint8_t> before = trained.bits();
  trained.step({{8, 8, 8, 8}}, options);
  EXPECT_EQ(before, trained.bits());
  EXPECT_EQ(1, read(c, scaler).is_skipped);
  options.gradient_norm = 4.0;  // of all ranks, after the division
  options.largest_norm = 2.0;
  trained.step({{8, 8, 8, 8}}, options);
  EXPECT_EQ(2.0 / (4.0 + 1e-6), trained.info().clip_factor);
  options.loss_scaler = nullptr;
  expected.step({{1, 1, 1, 1}}, options);
  EXPECT_EQ(expected.bits(), trained.bits());
}

// A scale below 1 may divide a finite gradient to infinity.
TEST(LossScalerStep, IsSkippedIfItsDividedGradientsOverflow) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  const LossScaler scaler = scaler_of(c, 0x1p-100);
  Parameters trained(c, {3});
  lpt_optimizer_step_options options = step_at(0.01);
  options.loss_scaler = scaler.get();
  const std::vector<uint8_t> before = trained.bits();
  trained.step({{0.0, 0x1p28, 0.0}}, options);
  EXPECT_EQ(before, trained.bits());
  EXPECT_EQ(1, trained.info().is_skipped);
  options.largest_norm = 1.0;  // clipping brings the gradient back to the range of f32
  trained.step({{0.0, 0x1p28, 0.0}}, options);
  EXPECT_EQ(0, trained.info().is_skipped);
  for (const double value : trained.value(0)) EXPECT_TRUE(std::isfinite(value));
}

// Least squares: f(p) = c/2 · (p − q)ᵀ H (p − q), where H has eigenvalues of 1/2 to 1, and SGD with learning rate 1 / c. In
// exact arithmetic each step at least halves |p − q|. Rounding a gradient to f16 adds at most 2^-11 of its norm, which is at
// most c |p − q|; below 2^-14 it adds at most 2^-25 · sqrt(n) instead, divided by c and by the scale.
class LeastSquares {
 public:
  static constexpr size_t kSize = 40;
  static constexpr double kFactor = 0x1p-40;

  LeastSquares() : goal_(draw_normal(760, kSize)), mirror_(draw_normal(761, kSize)) {
    double squares = 0;
    for (const double number : mirror_) squares += number * number;
    for (double &number : mirror_) number /= std::sqrt(squares);
  }

  // Returns c · H (p − q), where H is diagonal between two reflections.
  std::vector<double> gradient(const std::vector<double> &p) const {
    std::vector<double> g(kSize);
    for (size_t i = 0; i < kSize; ++i) g[i] = p[i] - goal_[i];
    reflect(g);
    for (size_t i = 0; i < kSize; ++i) g[i] *= kFactor * (1.0 - 0.5 * static_cast<double>(i) / (kSize - 1));
    reflect(g);
    return g;
  }

  double distance(const std::vector<double> &p) const {
    double squares = 0;
    for (size_t i = 0; i < kSize; ++i) squares += (p[i] - goal_[i]) * (p[i] - goal_[i]);
    return std::sqrt(squares);
  }

 private:
  void reflect(std::vector<double> &v) const {
    double dot = 0;
    for (size_t i = 0; i < kSize; ++i) dot += mirror_[i] * v[i];
    for (size_t i = 0; i < kSize; ++i) v[i] -= 2 * dot * mirror_[i];
  }

  std::vector<double> goal_, mirror_;
};

TEST(LossScalerTraining, InF16ReachesWhatUnderflowsWithoutAScale) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  const LeastSquares problem;
  lpt_optimizer_options sgd = LPT_OPTIMIZER_OPTIONS_INIT;
  sgd.method = LPT_OPTIMIZER_METHOD_SGD;
  const auto in_f16 = [&](const std::vector<double> &numbers) {
    return floats(numbers_of(c, rounded(c, LPT_FORMAT_F16, numbers).get()));
  };
  const std::vector<double> start(LeastSquares::kSize, 0.0);
  Trainee without(c, sgd, {}, start), with(c, sgd, {}, start);
  lpt_optimizer_step_options options = step_at(1.0 / LeastSquares::kFactor);
  const std::vector<uint8_t> before = bytes_of(c, without.value());
  without.step(in_f16(problem.gradient(start)), options);
  EXPECT_EQ(before, bytes_of(c, without.value())) << "every gradient rounds to zero";

  const LossScaler scaler = scaler_of(c, 0x1p64);  // the first gradients overflow
  options.loss_scaler = scaler.get();
  constexpr int kUpdates = 20;
  int64_t updates = 0;
  for (int i = 0; i < 100 && updates < kUpdates; ++i) {
    std::vector<double> gradient = problem.gradient(with.values());
    for (double &number : gradient) number *= read(c, scaler).scale;
    with.step(in_f16(gradient), options);
    updates += with.read().is_skipped == 0 ? 1 : 0;
    ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, scaler.get())));
  }
  EXPECT_EQ(kUpdates, updates);
  EXPECT_GE(read(c, scaler).skipped_count, 5) << "|g| is about 2^-40, and f16 ends at 2^16";
  const double n = LeastSquares::kSize, scale = read(c, scaler).scale, begin = problem.distance(start);
  // In f32: the parameter, its product with the rate, and the quotient; |p| stays below twice |q|.
  const double rounding = 0x1p-25 * std::sqrt(n) / (LeastSquares::kFactor * scale) + 3 * 0x1p-24 * 2 * begin;
  EXPECT_LE(problem.distance(with.values()), std::pow(0.5 + 0x1p-11 + 0x1p-24, kUpdates) * begin + 2.01 * rounding);
}

TEST(LossScaler, ContinuesFromASavedState) {
  const Context context = make_context(1);
  lpt_context *c = context.get();
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  options.growth_interval = 3;
  const LossScaler first = make_scaler(c, options);
  options.initial_scale = 7.0;  // replaced by the state
  const LossScaler second = make_scaler(c, options);
  Parameters trained(c, {2});
  Random random(704);
  for (int i = 0; i < 60; ++i) {
    const bool is_bad = random.chance(0.2);
    for (lpt_loss_scaler *scaler : {first.get(), second.get()}) {
      lpt_optimizer_step_options step = step_at(0.01);
      step.loss_scaler = scaler;
      trained.step({{1.0, is_bad ? HUGE_VAL : 1.0}}, step);
    }
    if (i == 29) {  // between a step and its update
      const std::vector<uint8_t> state = save(c, first);
      ASSERT_TRUE(ok(c, lpt_loss_scaler_state_load(c, second.get(), state.data(), state.size())));
      EXPECT_EQ(is_bad ? 1 : 0, read(c, second).is_skipped);
    }
    ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, first.get())));
    ASSERT_TRUE(ok(c, lpt_loss_scaler_update(c, second.get())));
    ASSERT_EQ(i >= 29, save(c, first) == save(c, second)) << i;
  }
}

}  // namespace
}  // namespace lpt::test
