// Recipes and linear layers through the C interface. The reference casts operands with lpt_quantize(), decodes them and
// multiplies them in double.
#include "tests/api/linear.hpp"

#include <tuple>

namespace lpt::test {
namespace {

// The cast of one operand as the recipe describes it: format, options, and a separate scaler.
struct Emulation {
  lpt_context *context;
  lpt_format formats[6];
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  Scaler scalers[3];

  Emulation(lpt_context *given_context, const lpt_recipe *recipe, lpt_scaler_kind kind) : context(given_context) {
    for (lpt_linear_cast cast = 0; cast < 6; ++cast) {
      EXPECT_TRUE(ok(context, lpt_recipe_cast_format(context, recipe, cast, &formats[cast])));
    }
    lpt_scaler_options scaler_options = LPT_SCALER_OPTIONS_INIT;
    scaler_options.kind = kind;
    scaler_options.zero_rule = LPT_SCALER_ZERO_RULE_ONE;  // of a delayed scaler only
    for (Scaler &scaler : scalers) EXPECT_TRUE(ok(context, lpt_scaler_create(context, &scaler_options, out(scaler))));
  }

  std::vector<double> cast(lpt_linear_cast which, lpt_linear_operand operand, int64_t rows, int64_t columns,
                           const std::vector<double> &numbers) {
    if (formats[which] == LPT_FORMAT_NONE) return numbers;
    const bool is_scaled = describe(formats[which]).tensor_scale != LPT_FORMAT_NONE;
    options.scaler = is_scaled ? scalers[operand].get() : nullptr;
    const Tensor source = wrap(context, numbers, rows, columns);
    const Tensor target = make_tensor(context, formats[which], rows, columns);
    EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), &options, target.get(), nullptr)));
    return numbers_of(context, target.get());
  }

  void expect(const Batch &batch, const Results &given) {
    const auto x_forward = cast(LPT_LINEAR_CAST_FORWARD_INPUT, LPT_LINEAR_OPERAND_INPUT, kRows, kInput, batch.x);
    const auto w_forward = cast(LPT_LINEAR_CAST_FORWARD_WEIGHT, LPT_LINEAR_OPERAND_WEIGHT, kOutput, kInput, batch.w);
    const auto dy_dgrad = cast(LPT_LINEAR_CAST_DGRAD_GRADIENT, LPT_LINEAR_OPERAND_GRADIENT, kRows, kOutput, batch.dy);
    const auto w_dgrad = cast(LPT_LINEAR_CAST_DGRAD_WEIGHT, LPT_LINEAR_OPERAND_WEIGHT, kOutput, kInput, batch.w);
    const auto dy_wgrad = cast(LPT_LINEAR_CAST_WGRAD_GRADIENT, LPT_LINEAR_OPERAND_GRADIENT, kRows, kOutput, batch.dy);
    const auto x_wgrad = cast(LPT_LINEAR_CAST_WGRAD_INPUT, LPT_LINEAR_OPERAND_INPUT, kRows, kInput, batch.x);
    ExactGemm y = multiply(x_forward, transposed(w_forward, kOutput, kInput), kRows, kOutput, kInput);
    for (size_t i = 0; i < y.value.size(); ++i) {
      const double bias = batch.bias[i % kOutput];
      y.value[i] += bias;
      y.magnitude[i] += std::abs(bias);
    }
    expect_gemm(y, given.y, kInput);
    expect_gemm(multiply(dy_dgrad, w_dgrad, kRows, kInput, kOutput), given.dx, kOutput);
    expect_gemm(multiply(transposed(dy_wgrad, kRows, kOutput), x_wgrad, kOutput, kInput, kRows), given.dw, kRows);
    expect_gemm(multiply(std::vector<double>(kRows, 1.0), batch.dy, 1, kOutput, kRows), given.db, kRows);
  }

  void update() {
    lpt_scaler *const handles[] = {scalers[0].get(), scalers[1].get(), scalers[2].get()};
    EXPECT_TRUE(ok(context, lpt_scaler_update(context, handles, 3)));
  }
};

// fp8_trillion with the gradient rounded to nearest, so that lpt_quantize() computes the same cast.
Recipe nearest_trillion(lpt_context *context) {
  Recipe recipe = make_recipe(context, "fp8_trillion");
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO;
  for (const lpt_linear_cast cast : {LPT_LINEAR_CAST_DGRAD_GRADIENT, LPT_LINEAR_CAST_WGRAD_GRADIENT}) {
    EXPECT_TRUE(ok(context, lpt_recipe_set_cast(context, recipe.get(), cast, LPT_FORMAT_E5M2_TENSOR, &options)));
  }
  return recipe;
}

TEST(Recipe, Fp8TrillionIsE4m3ForwardAndE5m2Backward) {
  const Context context = make_context();
  const Recipe recipe = make_recipe(context.get(), "fp8_trillion");
  const Emulation emulation(context.get(), recipe.get(), LPT_SCALER_KIND_CURRENT);
  EXPECT_EQ(LPT_FORMAT_E4M3FN_TENSOR, emulation.formats[LPT_LINEAR_CAST_FORWARD_INPUT]);
  EXPECT_EQ(LPT_FORMAT_E4M3FN_TENSOR, emulation.formats[LPT_LINEAR_CAST_FORWARD_WEIGHT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_LINEAR_CAST_DGRAD_GRADIENT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_LINEAR_CAST_DGRAD_WEIGHT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_LINEAR_CAST_WGRAD_GRADIENT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_LINEAR_CAST_WGRAD_INPUT]);
}

TEST(Recipe, ChangesDoNotReachLayersThatWereMadeBefore) {
  const Context context = make_context();
  Recipe recipe = make_recipe(context.get(), "f32");
  const Linear linear = make_linear(context.get(), recipe.get());
  ASSERT_TRUE(ok(context.get(), lpt_recipe_set_cast(context.get(), recipe.get(), LPT_LINEAR_CAST_FORWARD_INPUT,
                                                    LPT_FORMAT_E2M1FN, nullptr)));
  const Recipe untouched = make_recipe(context.get(), "f32");
  recipe.reset();
  const Batch batch(100);
  Emulation emulation(context.get(), untouched.get(), LPT_SCALER_KIND_CURRENT);
  emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
}

TEST(Linear, InF32EqualsPlainGemms) {
  const Context context = make_context(2);
  const Recipe recipe = make_recipe(context.get(), "f32");
  const Linear linear = make_linear(context.get(), recipe.get());
  Emulation emulation(context.get(), recipe.get(), LPT_SCALER_KIND_CURRENT);
  const Batch batch(110);
  emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
}

TEST(Linear, InBf16EqualsItsEmulation) {
  const Context context = make_context(2);
  const Recipe recipe = make_recipe(context.get(), "bf16");
  const Linear linear = make_linear(context.get(), recipe.get());
  Emulation emulation(context.get(), recipe.get(), LPT_SCALER_KIND_CURRENT);
  const Batch batch(120);
  emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
}

TEST(Linear, InFp8WithDelayedScalesEqualsItsEmulationOverSteps) {
  const Context context = make_context(2);
  const Recipe recipe = nearest_trillion(context.get());
  const Linear linear = make_linear(context.get(), recipe.get());
  lpt_linear *const linears[] = {linear.get()};
  Emulation emulation(context.get(), recipe.get(), LPT_SCALER_KIND_DELAYED);
  emulation.options.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO;
  for (const double deviation : {1.0, 9.0, 0.1, 0.1}) {  // growing amax saturates, shrinking amax wastes range
    const Batch batch(130 + static_cast<uint64_t>(deviation * 100), deviation);
    SCOPED_TRACE(deviation);
    emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
    emulation.update();
    ASSERT_TRUE(ok(context.get(), lpt_linear_update_scalers(context.get(), linears, 1)));
    for (lpt_linear_operand operand = 0; operand < 3; ++operand) {
      lpt_scaler_info layer = LPT_SCALER_INFO_INIT;
      lpt_scaler_info own = LPT_SCALER_INFO_INIT;
      ASSERT_TRUE(ok(context.get(), lpt_linear_scaler_read(context.get(), linear.get(), operand, &layer)));
      ASSERT_TRUE(ok(context.get(), lpt_scaler_read(context.get(), emulation.scalers[operand].get(), &own)));
      EXPECT_EQ(own.amax, layer.amax) << operand;
      EXPECT_EQ(own.update_count, layer.update_count) << operand;
    }
  }
}

TEST(Linear, InComposedRecipesStaysNearF32) {
  const Context context = make_context(2);
  const Recipe plain = make_recipe(context.get(), "f32");
  const Linear exact = make_linear(context.get(), plain.get());
  const Batch batch(140);
  const Results expected = run(context.get(), exact.get(), batch, LPT_LINEAR_OPTIONS_INIT);
  const struct {
    lpt_format format;
    double bound;
  } cases[] = {{LPT_FORMAT_MXFP8_E4M3, 0.06},  {LPT_FORMAT_MXFP8_E5M2, 0.1},    {LPT_FORMAT_MXFP4, 0.25},
               {LPT_FORMAT_NVFP4, 0.2},        {LPT_FORMAT_E4M3FN_1X128, 0.06}, {LPT_FORMAT_E4M3FN_128X128, 0.06},
               {LPT_FORMAT_E4M3FN_ROW, 0.06},  {LPT_FORMAT_E5M2_ROW, 0.1},      {LPT_FORMAT_INT8_ROW, 0.03},
               {LPT_FORMAT_INT8_TENSOR, 0.03}, {LPT_FORMAT_E4M3, 0.06},         {LPT_FORMAT_F16, 0.001}};
  for (const auto &[format, bound] : cases) {
    Recipe recipe = make_recipe(context.get(), "f32");
    for (lpt_linear_cast cast = 0; cast < 6; ++cast) {
      // Without a scale a gradient of one hundredth underflows in e4m3, so it is f32.
      const bool is_gradient = cast == LPT_LINEAR_CAST_DGRAD_GRADIENT || cast == LPT_LINEAR_CAST_WGRAD_GRADIENT;
      if (format == LPT_FORMAT_E4M3 && is_gradient) continue;
      ASSERT_TRUE(ok(context.get(), lpt_recipe_set_cast(context.get(), recipe.get(), cast, format, nullptr)));
    }
    const Linear linear = make_linear(context.get(), recipe.get());
    const Results given = run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT);
    for (const auto &[got, want, what] : {std::tuple(given.y, expected.y, "y"), std::tuple(given.dx, expected.dx, "dx"),
                                          std::tuple(given.dw, expected.dw, "dw")}) {
      EXPECT_LT(relative_error(got, want), bound) << name_of(format) << " " << what;
      EXPECT_GT(relative_error(got, want), 0.0) << name_of(format) << " " << what;
    }
    EXPECT_EQ(expected.db, given.db) << name_of(format);
  }
}

// Blocks run along k of each GEMM, so the dgrad and wgrad of a composed recipe equal transposed casts.
TEST(Linear, WithBlocksCastsAlongEachInnerSize) {
  const Context context = make_context();
  Recipe recipe = make_recipe(context.get(), "f32");
  for (lpt_linear_cast cast = 0; cast < 6; ++cast) {
    ASSERT_TRUE(ok(context.get(), lpt_recipe_set_cast(context.get(), recipe.get(), cast, LPT_FORMAT_MXFP4, nullptr)));
  }
  const Linear linear = make_linear(context.get(), recipe.get());
  const Batch batch(150);
  const Results given = run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT);
  const auto cast = [&](int64_t rows, int64_t columns, const std::vector<double> &numbers) {
    const Tensor target = tensor_of(context.get(), LPT_FORMAT_MXFP4, rows, columns, numbers);
    return numbers_of(context.get(), target.get());
  };
  const auto w_by_output = cast(kInput, kOutput, transposed(batch.w, kOutput, kInput));  // wᵀ, blocks along output
  const auto dy_by_rows = cast(kOutput, kRows, transposed(batch.dy, kRows, kOutput));
  const auto x_by_rows = cast(kInput, kRows, transposed(batch.x, kRows, kInput));
  expect_gemm(
      multiply(cast(kRows, kOutput, batch.dy), transposed(w_by_output, kInput, kOutput), kRows, kInput, kOutput),
      given.dx, kOutput);
  expect_gemm(multiply(dy_by_rows, transposed(x_by_rows, kInput, kRows), kOutput, kInput, kRows), given.dw, kRows);
}

TEST(Linear, GradientsInF64EqualFiniteDifferences) {
  const Context context = make_context();
  const Recipe recipe = make_recipe(context.get(), "f32");
  const Linear linear = make_linear(context.get(), recipe.get());
  Batch batch(160);
  const auto loss = [&] {
    const Results results = run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT, LPT_FORMAT_F64);
    double sum = 0.0;
    for (size_t i = 0; i < results.y.size(); ++i) sum += results.y[i] * batch.dy[i];
    return sum;
  };
  const Results results = run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT, LPT_FORMAT_F64);
  const struct {
    std::vector<double> &numbers;
    const std::vector<double> &gradient;
  } cases[] = {{batch.x, results.dx}, {batch.w, results.dw}, {batch.bias, results.db}};
  constexpr double kStep = 0x1p-10;
  Random random(161);
  for (const auto &[numbers, gradient] : cases) {
    for (int i = 0; i < 6; ++i) {
      double &number = numbers[static_cast<size_t>(random.below(static_cast<int64_t>(numbers.size())))];
      const auto place = static_cast<size_t>(&number - numbers.data());
      const double before = number;
      number = before + kStep;
      const double above = loss();
      number = before - kStep;
      const double below = loss();
      number = before;
      EXPECT_NEAR((above - below) / (2 * kStep), gradient[place], 1e-9);
    }
  }
}

}  // namespace
}  // namespace lpt::test
