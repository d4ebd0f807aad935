// Smoothing of the input of a linear layer, by factors of forward or of prepare.
#include <cmath>

#include "tests/api/linear.hpp"

namespace lpt::test {
namespace {

struct Smoothed {
  std::vector<double> y, dw;
};

enum class Smoothing { kNone, kForward, kPrepare };

// Scales one input channel by 2^17. The weight of this channel is zero, so that it does not contribute to y.
Smoothed run_with_outlier(lpt_context *c, const char *recipe_name, Smoothing where) {
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
  lpt_linear_options prepared = LPT_LINEAR_OPTIONS_INIT;
  if (where == Smoothing::kForward) options.input_smoothing = smoothing.get();
  if (where == Smoothing::kPrepare) prepared.input_smoothing = smoothing.get();
  EXPECT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), &prepared)));
  EXPECT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), &options, saved.get(), y.get())));
  EXPECT_TRUE(ok(c, lpt_linear_backward(c, linear.get(), saved.get(), dy.get(), &options, nullptr, dw.get(), nullptr)));
  Smoothed result{numbers_of(c, y.get()), numbers_of(c, dw.get())};
  for (int64_t r = 0; r < kOutput; ++r) result.dw[static_cast<size_t>(r * kInput + 3)] *= 0x1p-17;  // rescaled
  return result;
}

TEST(LinearSmoothing, ChangesNothingInExactArithmetic) {
  const Context context = make_context();
  const Smoothed plain = run_with_outlier(context.get(), "f32", Smoothing::kNone);
  for (const Smoothing where : {Smoothing::kForward, Smoothing::kPrepare}) {
    const Smoothed smoothed = run_with_outlier(context.get(), "f32", where);
    EXPECT_EQ(plain.y, smoothed.y);
    EXPECT_EQ(plain.dw, smoothed.dw);
  }
}

TEST(LinearSmoothing, SavesTheOtherChannelsFromOneOutlier) {
  const Context context = make_context();
  const Smoothed exact = run_with_outlier(context.get(), "f32", Smoothing::kNone);
  for (const Smoothing where : {Smoothing::kForward, Smoothing::kPrepare}) {
    const Smoothed plain = run_with_outlier(context.get(), "fp8_current", Smoothing::kNone);
    const Smoothed smoothed = run_with_outlier(context.get(), "fp8_current", where);
    EXPECT_GT(relative_error(plain.y, exact.y), 0.2);
    EXPECT_LT(relative_error(smoothed.y, exact.y), 0.06);
    EXPECT_LT(relative_error(smoothed.dw, exact.dw), 0.2);
  }
  for (const char *blocks : {"fp4_all_the_way", "quartet_v1"}) {  // block scales; and rotations
    const Smoothed plain = run_with_outlier(context.get(), blocks, Smoothing::kNone);
    const Smoothed smoothed = run_with_outlier(context.get(), blocks, Smoothing::kPrepare);
    EXPECT_GT(relative_error(plain.y, exact.y), 0.4) << blocks;
    EXPECT_LT(relative_error(smoothed.y, exact.y), 0.25) << blocks;
  }
}

struct Pass {
  std::vector<double> y, dx, dw;
};

// Runs a layer. A second backward pass adds an equal weight gradient: f32 doubles it without rounding.
Pass run_layer(lpt_context *c, const char *recipe_name, const Batch &batch, const lpt_tensor *smoothing) {
  const Recipe recipe = make_recipe(c, recipe_name);
  const Linear linear = make_linear(c, recipe.get());
  const Tensor x = tensor_of(c, LPT_FORMAT_F32, kRows, kInput, batch.x);
  const Tensor w = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, batch.w);
  const Tensor dy = tensor_of(c, LPT_FORMAT_F32, kRows, kOutput, batch.dy);
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, kRows, kOutput), dx = make_tensor(c, LPT_FORMAT_F32, kRows, kInput);
  const Tensor dw = make_tensor(c, LPT_FORMAT_F32, kOutput, kInput);
  const Tensor saved = make_saved(c, linear.get(), kRows);
  lpt_linear_options options = step_options(1, 2, 3), prepared = LPT_LINEAR_OPTIONS_INIT;
  prepared.input_smoothing = smoothing;
  EXPECT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), &prepared)));
  const auto back = [&] {
    EXPECT_TRUE(
        ok(c, lpt_linear_backward(c, linear.get(), saved.get(), dy.get(), &options, dx.get(), dw.get(), nullptr)));
    return numbers_of(c, dw.get());
  };
  EXPECT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), &options, saved.get(), y.get())));
  const std::vector<double> first = back();
  options.is_accumulated = 1;
  std::vector<double> both = back();
  for (double &number : both) number /= 2;
  if (std::string(recipe_name) == "f32") {
    EXPECT_EQ(first, both);
  }
  return {numbers_of(c, y.get()), numbers_of(c, dx.get()), first};
}

// A layer that is prepared with factors has the bits of a layer that gets w · factors and x / factors, with its gradients scaled
// back. Factors are powers of two, so that this scaling is exact.
TEST(LinearSmoothing, PrepareFoldsTheFactorsIntoTheCastsOfEveryRecipe) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Batch batch(210);
  Batch folded = batch;
  std::vector<double> factors;
  for (int64_t i = 0; i < kInput; ++i) factors.push_back(std::ldexp(1.0, static_cast<int>(i * 7 % 11) - 5));
  const auto scale = [&](std::vector<double> &matrix, bool is_inverse) {
    for (size_t i = 0; i < matrix.size(); ++i) {
      const double factor = factors[i % factors.size()];
      matrix[i] = is_inverse ? matrix[i] / factor : matrix[i] * factor;
    }
  };
  scale(folded.w, false);
  scale(folded.x, true);
  const Tensor smoothing = vector_of(c, LPT_FORMAT_E8M0FNU, factors);
  for (int64_t i = 0; i < lpt_recipe_count(); ++i) {
    const char *const name = lpt_recipe_name(i);
    if (std::string(name).starts_with("sparse24")) continue;  // masks are selected before the factors
    const Pass given = run_layer(c, name, batch, smoothing.get());
    Pass expected = run_layer(c, name, folded, nullptr);
    scale(expected.dx, true);
    scale(expected.dw, false);
    EXPECT_EQ(given.y, expected.y) << name;
    EXPECT_EQ(given.dx, expected.dx) << name;
    EXPECT_EQ(given.dw, expected.dw) << name;
  }
}

}  // namespace
}  // namespace lpt::test
