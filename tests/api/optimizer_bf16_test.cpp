// Updates that round to zero in bf16 parameters: 1.0 and a thousand steps of 0.001 (arXiv 2010.06192).
#include "tests/api/optimizer.hpp"

namespace lpt::test {
namespace {

constexpr int kSteps = 1000;
constexpr int64_t kRuns = 4096;

// Runs gradient descent with an update of +0.001 per step.
std::vector<double> climbed(lpt_rounding rounding, lpt_format compensation) {
  const Context context = make_context();
  lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_SGD);
  options.beta1 = 0.0;
  Option option;
  option.compensation = compensation;
  Trainee trainee(context.get(), options, option, std::vector<double>(kRuns, 1.0), LPT_FORMAT_BF16);
  const std::vector<float> gradient(kRuns, -1.0f);
  for (int t = 0; t < kSteps; ++t) {
    lpt_optimizer_step_options step = step_at(1e-3, static_cast<uint32_t>(t));
    step.parameter_rounding = rounding;
    trainee.step(gradient, step);
  }
  return trainee.values();
}

TEST(OptimizerBf16, SwallowsSmallStepsToNearest) {
  EXPECT_EQ(std::vector<double>(kRuns, 1.0), climbed(LPT_ROUNDING_NEAREST_EVEN, LPT_FORMAT_NONE));
}

TEST(OptimizerBf16, AddsThemUpWithACompensation) {
  EXPECT_EQ(std::vector<double>(kRuns, 2.0), climbed(LPT_ROUNDING_NEAREST_EVEN, LPT_FORMAT_BF16));
}

// Each step adds 2^-7 with probability 0.128. At 2 the steps of bf16 double. One run has a deviation of 0.082.
TEST(OptimizerBf16, AddsThemUpOnAverageWithStochasticRounding) {
  const std::vector<double> values = climbed(LPT_ROUNDING_STOCHASTIC, LPT_FORMAT_NONE);
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / kRuns;
  for (const double value : values) squares += (value - mean) * (value - mean) / (kRuns - 1);
  const double deviation = std::sqrt(squares);
  std::printf("mean %.5f, deviation of one run %.4f\n", mean, deviation);
  EXPECT_NEAR(deviation, 0.083, 0.01);
  EXPECT_NEAR(mean, 1.9995, 4.0 * deviation / std::sqrt(kRuns));
}

}  // namespace
}  // namespace lpt::test
