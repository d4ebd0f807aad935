// Gradient clipping, skipped steps, and the sums that ranks reduce.
#include "tests/api/optimizer.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kElements = 3 * 4096 + 77;

lpt_gradients_info measure(lpt_context *c, const std::vector<const lpt_tensor *> &gradients) {
  lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
  EXPECT_TRUE(ok(c, lpt_gradients_measure(c, gradients.data(), static_cast<int64_t>(gradients.size()), &values)));
  return values;
}

TEST(Gradients, AreAddedUpInF64) {
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    const Context context = make_context(2);
    lpt_context *c = context.get();
    std::vector<double> numbers = draw_normal(540, kElements);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::ldexp(numbers[i], static_cast<int>(i % 60) - 30);
    const Tensor a = vector_of(c, format, numbers), b = vector_of(c, format, draw_normal(541, 5));
    long double exact = 0;
    for (const Tensor *tensor : {&a, &b}) {
      for (const double number : numbers_of(c, tensor->get())) exact += static_cast<long double>(number) * number;
    }
    const lpt_gradients_info found = measure(c, {a.get(), b.get()});
    EXPECT_NEAR(found.sum_of_squares / static_cast<double>(exact), 1.0, 1e-12);
    EXPECT_EQ(0, found.nonfinite_count);
  }
}

TEST(Gradients, GiveTheSameSumWithAnyNumberOfThreads) {
  double expected = 0;
  for (const int32_t threads : {1, 2, 3, 7}) {
    const Context context = make_context(threads);
    const Tensor gradient = vector_of(context.get(), kF32, draw_normal(542, 1 << 20));
    const double found = measure(context.get(), {gradient.get()}).sum_of_squares;
    if (threads == 1) expected = found;
    EXPECT_EQ(expected, found) << threads;
  }
}

TEST(Gradients, CountWhatIsNotFiniteAndLeaveItOut) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  std::vector<float> numbers(kElements, 0.5f);
  const size_t places[] = {0, 15, 16, 4095, 4096, kElements - 1};
  for (size_t i = 0; i < std::size(places); ++i)
    numbers[places[i]] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
  const Tensor gradient = wrap(c, numbers, 1, kElements);
  const lpt_gradients_info found = measure(c, {gradient.get()});
  EXPECT_EQ(static_cast<int64_t>(std::size(places)), found.nonfinite_count);
  EXPECT_EQ(0.25 * (kElements - static_cast<double>(std::size(places))), found.sum_of_squares);
}

TEST(Gradients, OfNothingAreZero) {
  const Context context = make_context();
  lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
  EXPECT_TRUE(ok(context.get(), lpt_gradients_measure(context.get(), nullptr, 0, &values)));
  EXPECT_EQ(0.0, values.sum_of_squares);
}

// Result of several steps. One gradient may contain a special value.
struct Stepped {
  std::vector<uint8_t> bits;
  lpt_optimizer_info values;
};

Stepped stepped(float special, const lpt_optimizer_step_options &options, int steps = 3, size_t special_step = 1) {
  const Context context = make_context(2);
  Option option;
  option.first = LPT_FORMAT_E4M3FN_TENSOR;
  option.second = LPT_FORMAT_E5M2_1X128;
  Trainee trainee(context.get(), LPT_OPTIMIZER_OPTIONS_INIT, option, draw_normal(543, kElements));
  for (size_t t = 0; t < static_cast<size_t>(steps); ++t) {
    std::vector<float> gradient = floats(draw_normal(544 + t, kElements));
    if (t == special_step) gradient[1234] = special;
    trainee.step(gradient, options);
  }
  return {trainee.bits(), trainee.read()};
}

TEST(OptimizerSkip, OfAStepThatIsNotFiniteChangesNothing) {
  lpt_optimizer_step_options options = step_at(0.01);
  options.is_nonfinite_skipped = 1;
  const Stepped one = stepped(1.0f, options, 1);
  for (const float special : {INFINITY, -INFINITY, NAN}) {
    const Stepped two = stepped(special, options, 2);
    EXPECT_EQ(one.bits, two.bits);
    EXPECT_EQ(1, two.values.skipped_count);
    EXPECT_EQ(1, two.values.is_skipped);
    EXPECT_TRUE(std::isinf(two.values.gradient_norm));
    const Stepped three = stepped(special, options, 3);
    EXPECT_NE(one.bits, three.bits) << "it goes on";
    EXPECT_EQ(1, three.values.skipped_count);
    EXPECT_EQ(0, three.values.is_skipped);
  }
  EXPECT_EQ(0, one.values.skipped_count);
}

TEST(OptimizerSkip, IsReportedByANormOfAllRanks) {
  lpt_optimizer_step_options options = step_at(0.01);
  options.is_nonfinite_skipped = 1;
  options.gradient_norm = INFINITY;
  EXPECT_EQ(3, stepped(1.0f, options).values.skipped_count);
}

TEST(OptimizerSkip, IsAnOption) {
  const Stepped found = stepped(NAN, step_at(0.01));
  EXPECT_EQ(0, found.values.skipped_count);
  EXPECT_EQ(0.0, found.values.gradient_norm) << "no one requested";
}

TEST(OptimizerClip, IsAGradientScale) {
  lpt_optimizer_step_options clipped = step_at(0.01), scaled = step_at(0.01);
  clipped.gradient_scale = 0.25;
  clipped.largest_norm = 2.0;
  const Stepped found = stepped(1.0f, clipped, 1, 9);
  double squares = 0;
  for (const double number : draw_normal(544, kElements)) squares += 0.0625 * number * number;
  const double norm = std::sqrt(squares), factor = 2.0 / (norm + 1e-6);
  EXPECT_NEAR(found.values.gradient_norm / norm, 1.0, 1e-12);
  EXPECT_NEAR(found.values.clip_factor / factor, 1.0, 1e-12);
  scaled.gradient_scale = 0.25 * found.values.clip_factor;
  EXPECT_EQ(stepped(1.0f, scaled, 1, 9).bits, found.bits);
}

TEST(OptimizerClip, LeavesASmallNormAlone) {
  lpt_optimizer_step_options options = step_at(0.01);
  const std::vector<uint8_t> plain = stepped(1.0f, options).bits;
  options.largest_norm = 1e6;
  const Stepped found = stepped(1.0f, options);
  EXPECT_EQ(plain, found.bits);
  EXPECT_EQ(1.0, found.values.clip_factor);
}

TEST(OptimizerClip, TakesTheNormOfAllRanks) {
  lpt_optimizer_step_options options = step_at(0.01);
  options.largest_norm = 1.0;
  options.gradient_norm = 8.0;
  const Stepped found = stepped(1.0f, options);
  EXPECT_EQ(8.0, found.values.gradient_norm);
  EXPECT_NEAR(found.values.clip_factor, 0.125, 1e-7);
}

}  // namespace
}  // namespace lpt::test
