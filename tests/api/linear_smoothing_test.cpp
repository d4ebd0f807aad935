// A linear layer whose input has an outlier channel, with and without smoothing.
#include "tests/api/linear.hpp"

namespace lpt::test {
namespace {

struct Smoothed {
  std::vector<double> y, dw;
};

// Scales one input channel by 2^17. The weight of this channel is zero, so that it does not contribute to y.
Smoothed run_with_outlier(lpt_context *c, const char *recipe_name, bool is_smoothed) {
  Batch batch(200);
  std::vector<double> factors(kInput, 1.0);
  for (int64_t r = 0; r < kRows; ++r) batch.x[static_cast<size_t>(r * kInput + 3)] *= 0x1p17;
  for (int64_t r = 0; r < kOutput; ++r) batch.w[static_cast<size_t>(r * kInput + 3)] = 0.0;
  factors[3] = 0x1p17;
  const Recipe recipe = make_recipe(c, recipe_name);
  const Linear linear = make_linear(c, recipe.get());
  const Tensor x = tensor_of(c, LPT_FORMAT_F32, kRows, kInput, batch.x);
  const Tensor w = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, batch.w);
  const Tensor dy = tensor_of(c, LPT_FORMAT_F32, kRows, kOutput, batch.dy);
  const Tensor smoothing = vector_of(c, LPT_FORMAT_E8M0FNU, factors);
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, kRows, kOutput);
  const Tensor dw = make_tensor(c, LPT_FORMAT_F32, kOutput, kInput);
  const Tensor saved = make_saved(c, linear.get(), kRows);
  lpt_linear_options options = step_options(1, 2, 3);
  if (is_smoothed) options.input_smoothing = smoothing.get();
  EXPECT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), nullptr)));
  EXPECT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), &options, saved.get(), y.get())));
  EXPECT_TRUE(ok(c, lpt_linear_backward(c, linear.get(), saved.get(), dy.get(), &options, nullptr, dw.get(), nullptr)));
  Smoothed result{numbers_of(c, y.get()), numbers_of(c, dw.get())};
  for (int64_t r = 0; r < kOutput; ++r) result.dw[static_cast<size_t>(r * kInput + 3)] *= 0x1p-17;  // rescaled
  return result;
}

TEST(LinearSmoothing, ChangesNothingInExactArithmetic) {
  const Context context = make_context();
  const Smoothed plain = run_with_outlier(context.get(), "f32", false);
  const Smoothed smoothed = run_with_outlier(context.get(), "f32", true);
  EXPECT_EQ(plain.y, smoothed.y);
  EXPECT_EQ(plain.dw, smoothed.dw);
}

TEST(LinearSmoothing, SavesTheOtherChannelsFromOneOutlier) {
  const Context context = make_context();
  const Smoothed exact = run_with_outlier(context.get(), "f32", false);
  const Smoothed plain = run_with_outlier(context.get(), "fp8_current", false);
  const Smoothed smoothed = run_with_outlier(context.get(), "fp8_current", true);
  EXPECT_GT(relative_error(plain.y, exact.y), 0.2);
  EXPECT_LT(relative_error(smoothed.y, exact.y), 0.06);
  EXPECT_LT(relative_error(smoothed.dw, exact.dw), 0.2);
}

}  // namespace
}  // namespace lpt::test
