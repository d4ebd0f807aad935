// Watched layers: statistics of saturation and error of each cast, without any effect on the results.
#include <numeric>

#include "tests/api/recipe.hpp"

namespace lpt::test {
namespace {

lpt_statistics_info read(lpt_context *c, const lpt_linear *linear, lpt_linear_cast cast) {
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  EXPECT_TRUE(ok(c, lpt_linear_cast_read(c, linear, cast, &values)));
  return values;
}

void watch(lpt_context *c, lpt_linear *linear, int32_t is_watched) {
  EXPECT_TRUE(ok(c, lpt_linear_watch(c, linear, is_watched)));
}

int64_t all_elements(lpt_context *c, const lpt_linear *linear) {
  int64_t count = 0;
  for (lpt_linear_cast cast = 0; cast < 6; ++cast) count += read(c, linear, cast).element_count;
  return count;
}

double squares_of(const Matrix &matrix) {
  return std::inner_product(matrix.v.begin(), matrix.v.end(), matrix.v.begin(), 0.0);
}

// The scales are those of the previous step with an amax of 1: the largest value of e4m3fn and of e5m2 is 1.75.
TEST(LinearWatch, CountsWhatAStaleScaleClips) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "fp8_trillion", {4, 8, 2}, 5000);
  const std::vector<double> ones(32, 1.0);
  layer.x = tensor_of(c, LPT_FORMAT_F32, 4, 8, ones);
  layer.forward();
  lpt_linear *const linears[] = {layer.linear.get()};
  ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
  std::vector<double> numbers = ones;
  for (const size_t i : {3u, 4u, 10u, 30u, 31u}) numbers[i] = i % 2 == 0 ? 100.0 : -100.0;
  numbers[5] = 1e-10;
  numbers[6] = 0.0;
  layer.x = tensor_of(c, LPT_FORMAT_F32, 4, 8, numbers);
  watch(c, linears[0], 1);
  layer.forward();
  for (const lpt_linear_cast cast : {LPT_LINEAR_CAST_FORWARD_INPUT, LPT_LINEAR_CAST_WGRAD_INPUT}) {
    const lpt_statistics_info values = read(c, linears[0], cast);
    EXPECT_EQ(32, values.element_count);
    EXPECT_EQ(5, values.clipped_count);
    EXPECT_EQ(1, values.underflow_count);
    EXPECT_EQ(0, values.nan_count);
    EXPECT_EQ(100.0, values.amax);
    EXPECT_NEAR(5 * 100.0 * 100.0 + 25.0, values.squared_sum, 1e-6);
    EXPECT_NEAR(5 * 98.25 * 98.25, values.squared_error, 1e-6);
  }
  EXPECT_EQ(0, read(c, linears[0], LPT_LINEAR_CAST_DGRAD_GRADIENT).element_count) << "backward has not run";
}

// Rotations preserve the sum of squares. f32 sums of 128 terms may change it by 1e-5.
TEST(LinearWatch, CountsEveryCastOfEveryRecipeOnceAndChangesNoBit) {
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    lpt_context *c = context.get();
    for (const RecipeModel &model : recipe_models()) {
      const Shape3 shape = {70, 50, 41};
      Layer plain(c, model.name, shape, 5010), layer(c, model.name, shape, 5010);
      watch(c, layer.linear.get(), 1);
      for (Layer *one : {&plain, &layer}) {
        one->forward();
        one->backward();
      }
      EXPECT_EQ(bytes_of(c, plain.y.get()), bytes_of(c, layer.y.get())) << model.name;
      EXPECT_EQ(bytes_of(c, plain.dx.get()), bytes_of(c, layer.dx.get())) << model.name;
      EXPECT_EQ(bytes_of(c, plain.dw.get()), bytes_of(c, layer.dw.get())) << model.name;
      EXPECT_EQ(0, all_elements(c, plain.linear.get())) << model.name;
      const Matrix *const sources[6] = {&layer.x_numbers, &layer.w_numbers,  &layer.dy_numbers,
                                        &layer.w_numbers, &layer.dy_numbers, &layer.x_numbers};
      for (lpt_linear_cast cast = 0; cast < 6; ++cast) {
        SCOPED_TRACE(std::string(model.name) + ", cast " + std::to_string(cast));
        const lpt_statistics_info values = read(c, layer.linear.get(), cast);
        const bool is_first = cast <= LPT_LINEAR_CAST_DGRAD_GRADIENT;  // the other three casts may reuse one of these
        const bool is_gradient = sources[cast] == &layer.dy_numbers;
        const int32_t draws = is_gradient ? model.gemms[cast / 2].draws : 1;
        const auto count = draws * static_cast<int64_t>(sources[cast]->v.size());
        if (model.casts[cast].format == nullptr) {
          EXPECT_EQ(0, values.element_count);
          continue;
        }
        if (!is_first && values.element_count == 0) continue;
        EXPECT_EQ(count, values.element_count);
        if (is_gradient || model.gemms[cast / 2].source == LPT_LINEAR_SOURCE_PLAIN) {
          const double squares = draws * squares_of(*sources[cast]);
          EXPECT_NEAR(squares, values.squared_sum, 1e-5 * squares);
        }
        EXPECT_GT(values.squared_error, 0.0);
        EXPECT_EQ(0, values.nan_count);
      }
    }
  }
}

TEST(LinearWatch, CountsEachDrawOfAGradient) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "luq", {40, 24, 28}, 5020);
  lpt_linear_gemm_options options = LPT_LINEAR_GEMM_OPTIONS_INIT;
  options.draws = 3;
  ASSERT_TRUE(ok(c, lpt_recipe_set_gemm(c, layer.recipe.get(), LPT_LINEAR_GEMM_WGRAD, &options)));
  layer.make();
  watch(c, layer.linear.get(), 1);
  layer.forward();
  layer.backward();
  EXPECT_EQ(40 * 28, read(c, layer.linear.get(), LPT_LINEAR_CAST_DGRAD_GRADIENT).element_count);
  EXPECT_EQ(3 * 40 * 28, read(c, layer.linear.get(), LPT_LINEAR_CAST_WGRAD_GRADIENT).element_count);
}

TEST(LinearWatch, BeginsAgainAndEnds) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "fp8_current", {4, 8, 2}, 5030);
  lpt_linear *linear = layer.linear.get();
  watch(c, linear, 1);
  layer.forward();
  layer.forward();
  EXPECT_EQ(2 * 4 * 8, read(c, linear, LPT_LINEAR_CAST_FORWARD_INPUT).element_count);
  watch(c, linear, 1);
  EXPECT_EQ(0, all_elements(c, linear));
  layer.forward();
  EXPECT_EQ(4 * 8, read(c, linear, LPT_LINEAR_CAST_FORWARD_INPUT).element_count);
  watch(c, linear, 0);
  EXPECT_EQ(0, all_elements(c, linear));
  layer.forward();
  EXPECT_EQ(0, all_elements(c, linear));
}

TEST(LinearWatch, CountsNothingOfAStoppedPrepareOrACheck) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "nvfp4_pretrain", {70, 50, 41}, 5040);
  lpt_linear *linear = layer.linear.get();
  layer.forward();
  watch(c, linear, 1);
  lpt_linear_options options = layer.call;
  options.flags = LPT_CHECK_ONLY;
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear, layer.w.get(), &options)));
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, linear, layer.x.get(), &options, layer.saved.get(), layer.y.get())));
  ASSERT_TRUE(ok(c, lpt_linear_backward(c, linear, layer.saved.get(), layer.dy.get(), &options, layer.dx.get(),
                                        layer.dw.get(), nullptr)));
  EXPECT_EQ(0, all_elements(c, linear));
  int stops = 0;
  for (bool is_done = false; !is_done; ++stops) {
    Stop stop{0, stops};
    EXPECT_EQ(0, all_elements(c, linear)) << "stopped at " << stops;
    ASSERT_TRUE(ok(c, lpt_context_set_progress(c, Stop::request, &stop)));
    is_done = lpt_linear_prepare(c, linear, layer.w.get(), &layer.prepare) == LPT_OK;
    ASSERT_TRUE(ok(c, lpt_context_set_progress(c, nullptr, nullptr)));
  }
  EXPECT_GT(stops, 2);
  EXPECT_EQ(2 * 50 * 41, all_elements(c, linear)) << "the weight for forward and for dgrad";
}

}  // namespace
}  // namespace lpt::test
