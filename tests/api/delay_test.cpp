// lpt_delay_compensate() against its definition, and training whose all-reduce overlaps with the next gradient.
#include <algorithm>
#include <cmath>

#include "tests/comm/local.hpp"

namespace lpt::test {
namespace {

lpt_delay_options options_of(double strength, lpt_delay_norm norm = LPT_DELAY_NORM_TENSOR) {
  lpt_delay_options options = LPT_DELAY_OPTIONS_INIT;
  options.strength = strength;
  options.norm = norm;
  return options;
}

// The three tensors of a call as matrices, and their values in f64.
struct Operands {
  Tensor own, mean, gradient;
  std::vector<double> own_values, mean_values, gradient_values;

  Operands(lpt_context *context, lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    const auto make = [&](uint64_t which, double deviation) {
      return tensor_of(context, format, rows, columns, draw_normal(10 * place + which, rows * columns, deviation));
    };
    own = make(0, 1.0);
    mean = make(1, 1.0);
    gradient = make(2, 1e-3);
    own_values = numbers_of(context, own.get());
    mean_values = numbers_of(context, mean.get());
    gradient_values = numbers_of(context, gradient.get());
  }

  double correction(size_t i) const {
    return gradient_values[i] * gradient_values[i] * (mean_values[i] - own_values[i]);
  }
};

void compensate(lpt_context *context, const std::vector<Operands> &all, const lpt_delay_options *options) {
  std::vector<const lpt_tensor *> own, mean;
  std::vector<lpt_tensor *> gradients;
  for (const Operands &one : all) {
    own.push_back(one.own.get());
    mean.push_back(one.mean.get());
    gradients.push_back(one.gradient.get());
  }
  ASSERT_TRUE(ok(context, lpt_delay_compensate(context, own.data(), mean.data(), static_cast<int64_t>(all.size()),
                                               options, gradients.data())));
}

// Returns strength · |g| / |g · g · D| over some of the tensors.
double factor_of(const std::vector<Operands> &all, size_t first, size_t count, double strength) {
  double gradients = 0.0, corrections = 0.0;
  for (size_t k = first; k < first + count; ++k) {
    for (size_t i = 0; i < all[k].gradient_values.size(); ++i) {
      gradients += all[k].gradient_values[i] * all[k].gradient_values[i];
      corrections += all[k].correction(i) * all[k].correction(i);
    }
  }
  return strength * std::sqrt(gradients / corrections);
}

TEST(Delay, CorrectsByItsDefinition) {
  const Context context = make_context(2);
  struct {
    lpt_format format;
    double rounding;  // relative, of the result
  } constexpr kFormats[] = {
      {LPT_FORMAT_F32, 0x1p-23}, {LPT_FORMAT_BF16, 0x1p-7}, {LPT_FORMAT_F16, 0x1p-10}, {LPT_FORMAT_F64, 1e-11}};
  for (const auto &[format, rounding] : kFormats) {
    for (const lpt_delay_norm norm : {LPT_DELAY_NORM_TENSOR, LPT_DELAY_NORM_GLOBAL}) {
      std::vector<Operands> all;
      all.emplace_back(context.get(), format, 1, 1, 1);
      all.emplace_back(context.get(), format, 3, 5000, 2);  // rows of two runs
      all.emplace_back(context.get(), format, 0, 4, 3);
      all.emplace_back(context.get(), format, 37, 13, 4);
      const lpt_delay_options options = options_of(0.35, norm);
      compensate(context.get(), all, &options);
      for (size_t k = 0; k < all.size(); ++k) {
        const bool is_global = norm == LPT_DELAY_NORM_GLOBAL;
        const double factor = factor_of(all, is_global ? 0 : k, is_global ? all.size() : 1, 0.35);
        const std::vector<double> found = numbers_of(context.get(), all[k].gradient.get());
        double worst = 0.0;
        for (size_t i = 0; i < found.size(); ++i) {
          const double gradient = all[k].gradient_values[i], expected = gradient + factor * all[k].correction(i);
          const double least = format == LPT_FORMAT_F16 ? 0x1p-24 : 0.0;  // the distance of subnormals
          const double size = std::abs(gradient) + std::abs(factor * all[k].correction(i));
          worst = std::max(worst, std::abs(found[i] - expected) / (rounding * size + least));
        }
        EXPECT_LE(worst, 1.0) << name_of(format) << ", tensor " << k << ", norm " << norm;
      }
    }
  }
}

// The default strength is 0.2. The rounding error of f64 is far below the tolerance.
TEST(Delay, CorrectionHasAFifthOfTheNormOfTheGradient) {
  const Context context = make_context();
  for (const double distance : {1.0, 1e-12}) {
    std::vector<Operands> all;
    all.emplace_back(context.get(), LPT_FORMAT_F64, 20, 30, 5);
    Operands &one = all[0];
    for (size_t i = 0; i < one.own_values.size(); ++i) {
      one.mean_values[i] = one.own_values[i] + distance * one.mean_values[i];
    }
    one.mean = tensor_of(context.get(), LPT_FORMAT_F64, 20, 30, one.mean_values);
    compensate(context.get(), all, nullptr);
    const std::vector<double> found = numbers_of(context.get(), one.gradient.get());
    double change = 0.0, gradient = 0.0;
    for (size_t i = 0; i < found.size(); ++i) {
      change += (found[i] - one.gradient_values[i]) * (found[i] - one.gradient_values[i]);
      gradient += one.gradient_values[i] * one.gradient_values[i];
    }
    EXPECT_NEAR(0.2, std::sqrt(change / gradient), 1e-9) << distance;
  }
}

TEST(Delay, LeavesGradientsWithoutDistance) {
  const Context context = make_context();
  for (const double strength : {0.2, 0.0}) {
    std::vector<Operands> all;
    all.emplace_back(context.get(), LPT_FORMAT_F32, 4, 6, 6);
    if (strength != 0.0) all[0].own = tensor_of(context.get(), LPT_FORMAT_F32, 4, 6, all[0].mean_values);
    const std::vector<uint8_t> before = bytes_of(context.get(), all[0].gradient.get());
    const lpt_delay_options options = options_of(strength);
    compensate(context.get(), all, &options);
    EXPECT_EQ(before, bytes_of(context.get(), all[0].gradient.get()));
  }
}

TEST(Delay, MakesGradientsThatAreNotFiniteNan) {
  const Context context = make_context();
  for (const float bad : {INFINITY, NAN}) {
    std::vector<float> gradient = {1.0f, bad, 2.0f};
    const std::vector<float> own = {0.0f, 0.0f, 0.0f}, mean = {1.0f, 1.0f, 1.0f};
    const Tensor tensors[] = {wrap(context.get(), own, 1, 3), wrap(context.get(), mean, 1, 3),
                              wrap(context.get(), gradient, 1, 3)};
    const lpt_tensor *const own_list[] = {tensors[0].get()}, *const mean_list[] = {tensors[1].get()};
    lpt_tensor *const gradients[] = {tensors[2].get()};
    ASSERT_TRUE(ok(context.get(), lpt_delay_compensate(context.get(), own_list, mean_list, 1, nullptr, gradients)));
    for (const float one : gradient) EXPECT_TRUE(std::isnan(one));
  }
}

TEST(Delay, HasTheSameBitsForAnyNumberOfThreads) {
  std::vector<uint8_t> expected;
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    std::vector<Operands> all;
    all.emplace_back(context.get(), LPT_FORMAT_F32, 33, 9000, 7);
    compensate(context.get(), all, nullptr);
    const std::vector<uint8_t> found = bytes_of(context.get(), all[0].gradient.get());
    if (expected.empty()) expected = found;
    EXPECT_TRUE(expected == found);
  }
}

// Training. Loss of a rank: the sum over i of h[i] / 2 · (w[i] - target[i])².

constexpr int64_t kWeights = 700;

struct Quadratic {
  std::vector<double> curvatures, targets, start;

  Quadratic(uint64_t place, uint64_t target_place)
      : curvatures(draw_normal(place, kWeights)),
        targets(draw_normal(target_place, kWeights)),
        start(draw_normal(place + 1, kWeights)) {
    for (double &one : curvatures) one = 0.1 + std::abs(one);
  }
};

// After the wait, all ranks have the same parameters, and these change by the mean of the updates of the ranks.
TEST(DelayedRanks, HaveTheSameParametersAfterEachWait) {
  constexpr int32_t kRanks = 3;
  constexpr int kSteps = 25;
  std::vector<std::vector<std::vector<double>>> bases(kRanks), updates(kRanks);  // [rank][step]
  run_ranks(kRanks, LPT_COMM_OPTIONS_INIT, [&](const Rank &self, Comm &) {
    const Quadratic problem(0x200, 0x210 + static_cast<uint64_t>(self.rank));
    std::vector<double> parameters = problem.start, mean = problem.start, gradient(kWeights), momentum(kWeights, 0.0);
    const Tensor own = wrap(self.context, parameters, 1, kWeights), all = wrap(self.context, mean, 1, kWeights),
                 slope = wrap(self.context, gradient, 1, kWeights);
    lpt_reduce_options average = LPT_REDUCE_OPTIONS_INIT;
    average.reduction = LPT_REDUCTION_AVERAGE;
    lpt_future *future = nullptr;
    for (int step = 0; step < kSteps; ++step) {
      for (size_t i = 0; i < kWeights; ++i) {
        gradient[i] = problem.curvatures[i] * (parameters[i] - problem.targets[i]);
      }
      if (future != nullptr) {
        ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future)));
        lpt_future_destroy(future);
      }
      const lpt_tensor *const own_list[] = {own.get()}, *const mean_list[] = {all.get()};
      lpt_tensor *const gradients[] = {slope.get()};
      ASSERT_TRUE(self.ok(lpt_delay_compensate(self.context, own_list, mean_list, 1, nullptr, gradients)));
      parameters = mean;
      for (size_t i = 0; i < kWeights; ++i) {
        momentum[i] = 0.9 * momentum[i] + gradient[i];
        parameters[i] -= 0.02 * momentum[i];
      }
      bases[static_cast<size_t>(self.rank)].push_back(mean);
      updates[static_cast<size_t>(self.rank)].push_back(parameters);
      mean = parameters;
      ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, all.get(), &average, all.get(), &future)));
    }
    ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future)));
    lpt_future_destroy(future);
  });
  for (size_t step = 0; step < kSteps; ++step) {
    for (size_t rank = 1; rank < kRanks; ++rank) EXPECT_EQ(bases[0][step], bases[rank][step]) << "step " << step;
    for (size_t i = 0; step + 1 < kSteps && i < kWeights; ++i) {
      double update = 0.0;
      for (size_t rank = 0; rank < kRanks; ++rank) update += (updates[rank][step][i] - bases[rank][step][i]) / kRanks;
      ASSERT_NEAR(bases[0][step][i] + update, bases[0][step + 1][i], 1e-12) << "step " << step;
    }
  }
  EXPECT_NE(updates[0][5], updates[1][5]);
}

lpt_optimizer *make_momentum(lpt_context *context) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.method = LPT_OPTIMIZER_METHOD_SGD;
  options.beta1 = 0.9;
  lpt_optimizer *optimizer = nullptr;
  EXPECT_TRUE(ok(context, lpt_optimizer_create(context, &options, &optimizer)));
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = kWeights;
  parameter.weight_decay = 0.01;
  int64_t index = -1;
  EXPECT_TRUE(ok(context, lpt_optimizer_add(context, optimizer, nullptr, &parameter, &index)));
  return optimizer;
}

void step_momentum(const Rank &self, lpt_optimizer *optimizer, const Tensor &gradient, const Tensor &parameters) {
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 0.02;
  const int64_t indices[] = {0};
  const lpt_tensor *const gradients[] = {gradient.get()};
  lpt_tensor *const values[] = {parameters.get()};
  ASSERT_TRUE(self.ok(lpt_optimizer_step(self.context, optimizer, indices, 1, gradients, &options, values)));
}

// Trains in f32 with lpt_optimizer. `is_delayed` overlaps the mean of the ranks with the next gradient; otherwise there is one
// rank.
std::vector<float> train(const Rank &self, const Quadratic &problem, bool is_delayed) {
  std::vector<float> parameters(problem.start.begin(), problem.start.end()), mean = parameters, gradient(kWeights);
  const Tensor own = wrap(self.context, parameters, 1, kWeights), all = wrap(self.context, mean, 1, kWeights),
               slope = wrap(self.context, gradient, 1, kWeights);
  lpt_optimizer *optimizer = make_momentum(self.context);
  lpt_reduce_options average = LPT_REDUCE_OPTIONS_INIT;
  average.reduction = LPT_REDUCTION_AVERAGE;
  lpt_future *future = nullptr;
  for (int step = 0; step < 30; ++step) {
    for (size_t i = 0; i < kWeights; ++i) {
      gradient[i] =
          static_cast<float>(problem.curvatures[i]) * (parameters[i] - static_cast<float>(problem.targets[i]));
    }
    if (future != nullptr) {
      EXPECT_TRUE(self.ok(lpt_future_wait(self.context, future)));
      lpt_future_destroy(future);
      const lpt_tensor *const own_list[] = {own.get()}, *const mean_list[] = {all.get()};
      lpt_tensor *const gradients[] = {slope.get()};
      EXPECT_TRUE(self.ok(lpt_delay_compensate(self.context, own_list, mean_list, 1, nullptr, gradients)));
      parameters = mean;
    }
    step_momentum(self, optimizer, slope, own);
    if (is_delayed) {
      mean = parameters;
      EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, all.get(), &average, all.get(), &future)));
    }
  }
  lpt_optimizer_destroy(optimizer);
  if (!is_delayed) return parameters;
  EXPECT_TRUE(self.ok(lpt_future_wait(self.context, future)));
  lpt_future_destroy(future);
  return mean;
}

TEST(DelayedRanks, WithOneBatchTrainAsOneRank) {
  const Quadratic problem(0x220, 0x230);
  const Context context = make_context();
  const std::vector<float> expected = train(Rank{context.get(), nullptr, 0, 1}, problem, false);
  for (const int32_t ranks : {1, 2, 4}) {
    run_ranks(ranks, LPT_COMM_OPTIONS_INIT, [&](const Rank &self, Comm &) {
      EXPECT_TRUE(expected == train(self, problem, true)) << self.rank << " of " << ranks;
    });
  }
}

// The mean of the ranks' losses has its minimum at the mean of their targets.
TEST(DelayedRanks, FindTheMinimumOfAllRanks) {
  constexpr int32_t kRanks = 4;
  std::vector<Quadratic> problems;
  for (uint64_t rank = 0; rank < kRanks; ++rank) problems.emplace_back(0x240, 0x250 + rank);
  std::vector<std::vector<float>> found(kRanks);
  run_ranks(kRanks, LPT_COMM_OPTIONS_INIT, [&](const Rank &self, Comm &) {
    const auto rank = static_cast<size_t>(self.rank);
    found[rank] = train(self, problems[rank], true);
  });
  double before = 0.0, after = 0.0;
  for (size_t i = 0; i < kWeights; ++i) {
    double target = 0.0;
    for (const Quadratic &one : problems) target += one.targets[i] / kRanks;
    before += problems[0].curvatures[i] * (problems[0].start[i] - target) * (problems[0].start[i] - target);
    after += problems[0].curvatures[i] * (found[0][i] - target) * (found[0][i] - target);
    for (const std::vector<float> &one : found) ASSERT_EQ(found[0][i], one[i]);
  }
  EXPECT_LT(after, 0.2 * before);
}

}  // namespace
}  // namespace lpt::test
