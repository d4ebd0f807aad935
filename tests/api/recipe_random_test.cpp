// Stochastic operations of recipes: means and variances.
#include "tests/api/recipe.hpp"

namespace lpt::test {
namespace {

constexpr Shape3 kSmall = {40, 24, 28};

// Mean and variance of each element over many results, and of their sum along a direction.
struct Spread {
  std::vector<double> direction, sum, squares;
  double along = 0.0, along_squares = 0.0;
  int count = 0;

  explicit Spread(const std::vector<double> &given) : direction(given), sum(given.size()), squares(given.size()) {}

  void add(const std::vector<double> &numbers) {
    double dot = 0.0;
    ++count;
    for (size_t i = 0; i < numbers.size(); ++i) {
      sum[i] += numbers[i];
      squares[i] += numbers[i] * numbers[i];
      dot += direction[i] * numbers[i];
    }
    along += dot;
    along_squares += dot * dot;
  }
  double mean(size_t i) const { return sum[i] / count; }
  double variance(size_t i) const { return std::max(0.0, squares[i] / count - mean(i) * mean(i)); }
  double mean_variance() const {
    double total = 0.0;
    for (size_t i = 0; i < sum.size(); ++i) total += variance(i);
    return total / static_cast<double>(sum.size());
  }
};

// The mean of many results equals the model without randomness, which is the direction. Along it, where a bias toward zero
// is detected, the bound is four sigma. For each element it is five sigma, because a thousand means are compared.
void expect_mean(const Spread &spread, const std::string &what) {
  double oracle = 0.0;
  for (size_t i = 0; i < spread.direction.size(); ++i) {
    const double expected = spread.direction[i];
    oracle += expected * expected;
    EXPECT_NEAR(expected, spread.mean(i), 5.0 * std::sqrt(spread.variance(i) / spread.count) + 1e-5)
        << what << " " << i;
  }
  const double along = spread.along / spread.count;
  const double variance = spread.along_squares / spread.count - along * along;
  EXPECT_NEAR(oracle, along, 4.0 * std::sqrt(variance / spread.count) + 1e-6 * oracle) << what;
}

// Gives the stochastic NVFP4 casts headroom: as published they clip, which is a bias.
void add_headroom(RecipeModel &model, Layer &layer) {
  for (lpt_linear_cast which = 0; which < 6; ++which) {
    CastModel &cast = model.casts[which];
    if (!cast.is_stochastic || std::string(cast.format) != "nvfp4") continue;
    cast.rule = LPT_SCALE_RULE_HEADROOM;
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.rounding = LPT_ROUNDING_STOCHASTIC;
    options.scale_rule = LPT_SCALE_RULE_HEADROOM;
    EXPECT_TRUE(ok(layer.c, lpt_recipe_set_cast(layer.c, layer.recipe.get(), which, LPT_FORMAT_NVFP4, &options)));
  }
  layer.make();
}

TEST(RecipeRandom, GradientsAreRightInTheMean) {
  const Context context = make_context();
  for (RecipeModel &model : recipe_models()) {
    const bool is_random = model.casts[LPT_LINEAR_CAST_DGRAD_GRADIENT].is_stochastic;
    if (!is_random) continue;
    Layer layer(context.get(), model.name, kSmall, 3000);
    add_headroom(model, layer);
    LayerModel exact = layer.model(model);
    exact.leave_stochastic();
    const Modelled expected = exact.run(layer.x_numbers, layer.w_numbers, layer.dy_numbers);
    Spread dx(expected.dx.value), dw(expected.dw.value);
    layer.forward();
    for (uint32_t step = 0; step < 1000; ++step) {
      // The weight and the values that forward saves may be stochastic too. Otherwise signs are those of the first step, because
      // codes to nearest depend on them.
      if (model.casts[LPT_LINEAR_CAST_DGRAD_WEIGHT].is_stochastic) layer.prepare.random.step = 1000 + step;
      if (model.casts[LPT_LINEAR_CAST_WGRAD_INPUT].is_stochastic) {
        layer.call.random.step = 1000 + step;
        layer.forward();
      }
      layer.call.random.step = 1000 + step;
      layer.backward(true, true, false);
      dx.add(numbers_of(context.get(), layer.dx.get()));
      dw.add(numbers_of(context.get(), layer.dw.get()));
    }
    EXPECT_GT(dx.mean_variance(), 0.0) << model.name;
    expect_mean(dx, std::string(model.name) + " dx");
    expect_mean(dw, std::string(model.name) + " dw");
  }
}

double variance_with_draws(lpt_context *c, const char *name, lpt_linear_gemm gemm, int32_t draws) {
  Layer layer(c, name, kSmall, 3010);
  lpt_linear_gemm_options options = LPT_LINEAR_GEMM_OPTIONS_INIT;
  options.draws = draws;
  EXPECT_TRUE(ok(c, lpt_recipe_set_gemm(c, layer.recipe.get(), gemm, &options)));
  layer.make();
  layer.forward();
  const Matrix &shape = gemm == LPT_LINEAR_GEMM_DGRAD ? layer.x_numbers : layer.w_numbers;
  Spread spread(shape.v);
  for (uint32_t step = 0; step < 400; ++step) {
    layer.call.random.step = step;
    layer.backward(gemm == LPT_LINEAR_GEMM_DGRAD, gemm == LPT_LINEAR_GEMM_WGRAD, false);
    spread.add(numbers_of(c, gemm == LPT_LINEAR_GEMM_DGRAD ? layer.dx.get() : layer.dw.get()));
  }
  return spread.mean_variance();
}

TEST(RecipeRandom, DrawsDivideTheVariance) {
  const Context context = make_context();
  for (const lpt_linear_gemm gemm : {LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
    const double one = variance_with_draws(context.get(), "luq", gemm, 1);
    for (const int32_t draws : {2, 4, 16}) {
      EXPECT_NEAR(1.0, draws * variance_with_draws(context.get(), "luq", gemm, draws) / one, 0.05) << draws;
    }
  }
}

TEST(RecipeRandom, DrawsEqualTheirModel) {
  const Context context = make_context();
  for (RecipeModel &model : recipe_models()) {
    if (!model.casts[LPT_LINEAR_CAST_DGRAD_GRADIENT].is_stochastic) continue;
    Layer layer(context.get(), model.name, kSmall, 3020);
    for (const lpt_linear_gemm gemm : {LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
      model.gemms[gemm].draws = gemm == LPT_LINEAR_GEMM_DGRAD ? 3 : 11;
      ASSERT_TRUE(ok(context.get(), lpt_recipe_set_gemm(context.get(), layer.recipe.get(), gemm, &model.gemms[gemm])));
    }
    layer.make();
    layer.forward();
    layer.backward();
    const Modelled expected = layer.model(model).run(layer.x_numbers, layer.w_numbers, layer.dy_numbers);
    SCOPED_TRACE(model.name);
    expect_gemm(expected.dx, numbers_of(context.get(), layer.dx.get()), 3 * kSmall.output);
    expect_gemm(expected.dw, numbers_of(context.get(), layer.dw.get()), 11 * kSmall.rows);
  }
}

TEST(RecipeRandom, SignsFollowThePairOfOperands) {
  const Context context = make_context();
  const auto results = [&](auto &&change) {
    Layer layer(context.get(), "quartet_v1", {64, 64, 64}, 3030);
    for (lpt_linear_cast cast = 2; cast < 6; ++cast) {  // to nearest: only the signs are random
      lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
      EXPECT_TRUE(
          ok(context.get(), lpt_recipe_set_cast(context.get(), layer.recipe.get(), cast, LPT_FORMAT_MXFP4, &options)));
    }
    layer.make();
    layer.forward();
    change(layer);
    layer.forward();
    layer.backward();
    return std::pair(bytes_of(context.get(), layer.dx.get()), bytes_of(context.get(), layer.dw.get()));
  };
  const auto base = results([](Layer &) {});
  const auto prepared = results([](Layer &layer) { layer.prepare.random.step = 99; });
  EXPECT_NE(base.first, prepared.first);
  EXPECT_EQ(base.second, prepared.second);
  const auto called = results([](Layer &layer) { layer.call.random.step = 99; });
  EXPECT_EQ(base.first, called.first);
  EXPECT_NE(base.second, called.second);
}

}  // namespace
}  // namespace lpt::test
