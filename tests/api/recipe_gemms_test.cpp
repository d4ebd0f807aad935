// GEMM options of a recipe: rotations, sources, scales of results; and changes of recipes.
#include "tests/api/recipe.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr Shape3 kOdd = {70, 50, 41};

void set_gemm(Layer &layer, lpt_linear_gemm gemm, const lpt_linear_gemm_options &options) {
  ASSERT_TRUE(ok(layer.c, lpt_recipe_set_gemm(layer.c, layer.recipe.get(), gemm, &options)));
}

struct Numbers {
  std::vector<double> y, dx, dw;
};

Numbers results_of(const Layer &layer) {
  return {numbers_of(layer.c, layer.y.get()), numbers_of(layer.c, layer.dx.get()), numbers_of(layer.c, layer.dw.get())};
}

Numbers run(Layer &layer) {
  layer.make();
  layer.forward();
  layer.backward();
  return results_of(layer);
}

TEST(RecipeGemms, RotationsChangeNothingInHighPrecision) {
  const Context context = make_context();
  Layer plain(context.get(), "f32", kOdd, 4000);
  const Numbers expected = run(plain);
  for (const int32_t size : {16, 32, 64, 128, 8192, static_cast<int32_t>(LPT_HADAMARD_SIZE_DIVISOR)}) {
    for (const lpt_hadamard_signs signs :
         {LPT_HADAMARD_SIGNS_NONE, LPT_HADAMARD_SIGNS_FIXED, LPT_HADAMARD_SIGNS_RANDOM}) {
      for (const lpt_hadamard_axis axis : {LPT_HADAMARD_AXIS_INNER, LPT_HADAMARD_AXIS_ROWS}) {
        for (const lpt_linear_source source :
             {LPT_LINEAR_SOURCE_PLAIN, LPT_LINEAR_SOURCE_FORWARD, LPT_LINEAR_SOURCE_FORWARD_CLIPPED}) {
          Layer layer(context.get(), "f32", kOdd, 4000);
          set_gemm(layer, LPT_LINEAR_GEMM_FORWARD, gemm_options(size, signs));
          set_gemm(layer, LPT_LINEAR_GEMM_DGRAD, gemm_options(size, signs, axis, source));
          set_gemm(layer, LPT_LINEAR_GEMM_WGRAD, gemm_options(size, signs, LPT_HADAMARD_AXIS_INNER, source));
          const Numbers given = run(layer);
          EXPECT_LT(relative_error(given.y, expected.y), 1e-6) << size << signs << axis << source;
          EXPECT_LT(relative_error(given.dx, expected.dx), 1e-6) << size << signs << axis << source;
          EXPECT_LT(relative_error(given.dw, expected.dw), 1e-6) << size << signs << axis << source;
        }
      }
    }
  }
}

// A rotation spreads an outlier channel over its group. HALO rotates for this reason.
TEST(RecipeGemms, ARotationSavesInt8FromAnOutlierChannel) {
  const Context context = make_context();
  const auto error_of = [&](int32_t size) {
    Layer layer(context.get(), "halo_2", {64, 512, 64}, 4010);
    for (int64_t r = 0; r < layer.shape.rows; ++r) layer.x_numbers.at(r, 7) *= 100.0;
    layer.x = tensor_of(context.get(), LPT_FORMAT_F32, 64, 512, layer.x_numbers.v);
    set_gemm(layer, LPT_LINEAR_GEMM_FORWARD, gemm_options(size));
    run(layer);
    const ExactGemm exact = multiply(layer.x_numbers.v, transposed(layer.w_numbers.v, 64, 512), 64, 64, 512);
    std::vector<double> without = exact.value;  // columns that the outlier does not dominate
    std::vector<double> given = numbers_of(context.get(), layer.y.get());
    for (int64_t r = 0; r < 64; ++r) {
      for (int64_t n = 0; n < 64; ++n) {
        const double outlier = layer.x_numbers.at(r, 7) * layer.w_numbers.at(n, 7);
        without[static_cast<size_t>(r * 64 + n)] -= outlier;
        given[static_cast<size_t>(r * 64 + n)] -= outlier;
      }
    }
    return relative_error(given, without);
  };
  EXPECT_LT(error_of(128), 0.5 * error_of(0));
}

TEST(RecipeGemms, UnitScalingKeepsResultsNearOne) {
  const Context context = make_context(2);
  const int64_t kSide = kIsSanitized ? 512 : 1024;
  Layer layer(context.get(), "unit_scaling", {kSide, kSide, kSide}, 4020);
  const Numbers given = run(layer);
  for (const std::vector<double> &numbers : {given.y, given.dx, given.dw}) {
    double squares = 0.0;
    for (const double number : numbers) squares += number * number;
    EXPECT_NEAR(1.0, std::sqrt(squares / static_cast<double>(numbers.size())), 0.03);
  }
}

TEST(RecipeGemms, UnitScalesAddNoBiasFactor) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "unit_scaling", kOdd, 4030);
  layer.forward();
  const std::vector<double> before = numbers_of(c, layer.y.get());
  const std::vector<double> bias = draw_normal(4040, kOdd.output);
  const Tensor vector = vector_of(c, LPT_FORMAT_F32, bias);
  layer.call.bias = vector.get();
  layer.forward();
  const std::vector<double> after = numbers_of(c, layer.y.get());
  for (size_t i = 0; i < after.size(); ++i) ASSERT_NEAR(before[i] + bias[i % bias.size()], after[i], 1e-5);
}

TEST(RecipeGemms, RaisedAreExactAndLeaveTheOthers) {
  const Context context = make_context();
  for (const RecipeModel &model : recipe_models()) {
    if (std::string(model.name) == "unit_scaling") continue;  // the next test covers it: its scales do not change
    Layer low(context.get(), model.name, kOdd, 4050), high(context.get(), model.name, kOdd, 4050);
    const Numbers before = run(low);
    for (const lpt_linear_gemm gemm : {LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
      ASSERT_TRUE(
          ok(context.get(), lpt_recipe_set_high_precision(context.get(), high.recipe.get(), gemm, LPT_FORMAT_NONE)));
    }
    const Numbers after = run(high);
    EXPECT_EQ(before.y, after.y) << model.name;
    SCOPED_TRACE(model.name);
    expect_gemm(multiply(high.dy_numbers.v, high.w_numbers.v, kOdd.rows, kOdd.input, kOdd.output), after.dx,
                kOdd.output);
    expect_gemm(multiply(transpose(high.dy_numbers).v, high.x_numbers.v, kOdd.output, kOdd.input, kOdd.rows), after.dw,
                kOdd.rows);
  }
}

TEST(RecipeGemms, RaisedForwardIsBf16AndKeepsItsScale) {
  const Context context = make_context();
  Layer layer(context.get(), "unit_scaling", kOdd, 4060);
  ASSERT_TRUE(ok(context.get(), lpt_recipe_set_high_precision(context.get(), layer.recipe.get(),
                                                              LPT_LINEAR_GEMM_FORWARD, LPT_FORMAT_BF16)));
  const Numbers given = run(layer);
  const auto bf16 = [&](const Matrix &matrix) {
    return numbers_of(context.get(),
                      tensor_of(context.get(), LPT_FORMAT_BF16, matrix.rows, matrix.columns, matrix.v).get());
  };
  ExactGemm expected = multiply(bf16(layer.x_numbers), transposed(bf16(layer.w_numbers), kOdd.output, kOdd.input),
                                kOdd.rows, kOdd.output, kOdd.input);
  for (double &value : expected.value) value /= std::sqrt(50.0);
  for (double &value : expected.magnitude) value /= std::sqrt(50.0);
  expect_gemm(expected, given.y, kOdd.input);
}

TEST(RecipeGemms, AnotherRecipeComesWithTheNextPrepare) {
  const Context context = make_context();
  lpt_context *c = context.get();
  for (const RecipeModel &model : recipe_models()) {
    Layer layer(c, "fp8_trillion", kOdd, 4070), fresh(c, model.name, kOdd, 4070);
    layer.forward();
    layer.backward();
    const Numbers before = results_of(layer);
    ASSERT_TRUE(ok(c, lpt_linear_set_recipe(c, layer.linear.get(), fresh.recipe.get())));
    ASSERT_TRUE(
        ok(c, lpt_linear_forward(c, layer.linear.get(), layer.x.get(), &layer.call, layer.saved.get(), layer.y.get())));
    layer.backward();
    EXPECT_EQ(before.y, results_of(layer).y) << model.name;
    EXPECT_EQ(before.dw, results_of(layer).dw) << model.name;
    layer.forward();
    layer.backward();
    const Numbers expected = run(fresh), after = results_of(layer);
    EXPECT_EQ(expected.y, after.y) << model.name;
    EXPECT_EQ(expected.dx, after.dx) << model.name;
    EXPECT_EQ(expected.dw, after.dw) << model.name;
  }
}

TEST(RecipeGemms, ScalersOfTheSameOptionsKeepTheirHistory) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "fp8_trillion", kOdd, 4080);
  run(layer);
  lpt_linear *const linears[] = {layer.linear.get()};
  ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
  lpt_scaler_info before[3], after[3];
  const auto read = [&](lpt_scaler_info *values) {
    for (lpt_linear_operand operand = 0; operand < 3; ++operand) {
      values[operand] = LPT_SCALER_INFO_INIT;
      ASSERT_TRUE(ok(c, lpt_linear_scaler_read(c, layer.linear.get(), operand, &values[operand])));
    }
  };
  read(before);
  const Recipe other = make_recipe(c, "fp8_trillion");
  lpt_scaler_options longer = LPT_SCALER_OPTIONS_INIT;
  longer.kind = LPT_SCALER_KIND_DELAYED;
  longer.history_length = 7;
  ASSERT_TRUE(ok(c, lpt_recipe_set_scaler(c, other.get(), LPT_LINEAR_OPERAND_INPUT, &longer)));
  ASSERT_TRUE(ok(c, lpt_linear_set_recipe(c, layer.linear.get(), other.get())));
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, layer.linear.get(), layer.w.get(), nullptr)));
  read(after);
  EXPECT_EQ(0, after[LPT_LINEAR_OPERAND_INPUT].update_count);
  EXPECT_EQ(before[LPT_LINEAR_OPERAND_WEIGHT].update_count, after[LPT_LINEAR_OPERAND_WEIGHT].update_count);
  EXPECT_EQ(before[LPT_LINEAR_OPERAND_GRADIENT].amax, after[LPT_LINEAR_OPERAND_GRADIENT].amax);
  EXPECT_GT(after[LPT_LINEAR_OPERAND_GRADIENT].amax, 0.0);
}

TEST(RecipeGemms, WhatAnotherRecipeSavedIsRejected) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "fp8_trillion", kOdd, 4090);
  layer.forward();
  const Recipe other = make_recipe(c, "halo_0");  // has as many bytes
  ASSERT_TRUE(ok(c, lpt_linear_set_recipe(c, layer.linear.get(), other.get())));
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, layer.linear.get(), layer.w.get(), nullptr)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_backward(c, layer.linear.get(), layer.saved.get(), layer.dy.get(),
                                                      &layer.call, nullptr, layer.dw.get(), nullptr));
  expect_words({"saved was not written"}, lpt_context_error(c));
}

TEST(RecipeGemms, WhatAStoppedForwardSavedIsRejected) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "nvfp4_pretrain", kOdd, 4095);
  layer.forward();
  Stop stop{0, 1};
  ASSERT_TRUE(ok(c, lpt_context_set_progress(c, Stop::request, &stop)));
  EXPECT_EQ(LPT_CANCELLED,
            lpt_linear_forward(c, layer.linear.get(), layer.x.get(), &layer.call, layer.saved.get(), layer.y.get()));
  ASSERT_TRUE(ok(c, lpt_context_set_progress(c, nullptr, nullptr)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_backward(c, layer.linear.get(), layer.saved.get(), layer.dy.get(),
                                                      &layer.call, nullptr, layer.dw.get(), nullptr));
  expect_words({"saved was not written"}, lpt_context_error(c));
}

// A prepare that is cancelled at any point leaves the layer unchanged, recipe and history included.
TEST(RecipeGemms, APrepareThatIsStoppedChangesNothing) {
  const Context context = make_context();
  lpt_context *c = context.get();
  for (const RecipeModel &model : recipe_models()) {
    Layer layer(c, "fp8_trillion", kOdd, 4100), other(c, model.name, kOdd, 4110);
    const Numbers before = run(layer);
    ASSERT_TRUE(ok(c, lpt_linear_set_recipe(c, layer.linear.get(), other.recipe.get())));
    lpt_scaler_info weight = LPT_SCALER_INFO_INIT, now = LPT_SCALER_INFO_INIT;
    ASSERT_TRUE(ok(c, lpt_linear_scaler_read(c, layer.linear.get(), LPT_LINEAR_OPERAND_WEIGHT, &weight)));
    bool is_done = false;
    int stops = 0;
    for (; !is_done; ++stops) {
      Stop stop{0, stops};
      ASSERT_TRUE(ok(c, lpt_context_set_progress(c, Stop::request, &stop)));
      const lpt_status status = lpt_linear_prepare(c, layer.linear.get(), other.w.get(), &layer.prepare);
      ASSERT_TRUE(ok(c, lpt_context_set_progress(c, nullptr, nullptr)));
      is_done = status == LPT_OK;
      if (is_done) break;
      ASSERT_EQ(LPT_CANCELLED, status);
      ASSERT_TRUE(ok(
          c, lpt_linear_forward(c, layer.linear.get(), layer.x.get(), &layer.call, layer.saved.get(), layer.y.get())));
      layer.backward();
      EXPECT_EQ(before.y, results_of(layer).y) << model.name;
      EXPECT_EQ(before.dx, results_of(layer).dx) << model.name;
      EXPECT_EQ(before.dw, results_of(layer).dw) << model.name;
      ASSERT_TRUE(ok(c, lpt_linear_scaler_read(c, layer.linear.get(), LPT_LINEAR_OPERAND_WEIGHT, &now)));
      EXPECT_EQ(weight.running_amax, now.running_amax) << model.name;
    }
    if (model.casts[LPT_LINEAR_CAST_FORWARD_WEIGHT].format != nullptr) {
      EXPECT_GE(stops, 1) << model.name;
    }
  }
}

TEST(RecipeGemms, APrepareThatIsRejectedChangesNothing) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer layer(c, "f32", kOdd, 4120);
  for (const lpt_linear_cast cast : {LPT_LINEAR_CAST_FORWARD_WEIGHT, LPT_LINEAR_CAST_DGRAD_WEIGHT}) {
    ASSERT_TRUE(ok(c, lpt_recipe_set_cast(c, layer.recipe.get(), cast, LPT_FORMAT_INT8, nullptr)));
  }
  const Numbers before = run(layer);
  layer.w_numbers.v[5] = std::nan("");  // int8 without a scale cannot represent it
  const Tensor bad = tensor_of(c, LPT_FORMAT_F32, kOdd.output, kOdd.input, layer.w_numbers.v);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_prepare(c, layer.linear.get(), bad.get(), nullptr));
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, layer.linear.get(), layer.x.get(), &layer.call, nullptr, layer.y.get())));
  EXPECT_EQ(before.y, numbers_of(c, layer.y.get()));
}

TEST(RecipeGemms, FixedScalesAreOne) {
  const Context context = make_context();
  lpt_context *c = context.get();
  Layer fixed(c, "f32", kOdd, 4130), plain(c, "f32", kOdd, 4130);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  for (lpt_linear_cast cast = 0; cast < 6; ++cast) {
    const lpt_format format = cast == LPT_LINEAR_CAST_WGRAD_INPUT ? LPT_FORMAT_E4M3FN_1X128 : LPT_FORMAT_E4M3FN_TENSOR;
    ASSERT_TRUE(ok(c, lpt_recipe_set_cast(c, fixed.recipe.get(), cast, format, &options)));
    ASSERT_TRUE(ok(c, lpt_recipe_set_cast(c, plain.recipe.get(), cast, LPT_FORMAT_E4M3FN, nullptr)));
  }
  const Numbers expected = run(plain), given = run(fixed);
  EXPECT_LT(relative_error(given.y, expected.y), 1e-6);
  EXPECT_LT(relative_error(given.dx, expected.dx), 1e-6);
  EXPECT_LT(relative_error(given.dw, expected.dw), 1e-6);
}

// Returns the error with `parts` parts. The step of the second of two parts is smaller by a factor of at least 14.
double error_with_parts(lpt_context *c, const char *format, int32_t parts, lpt_scaler_kind kind,
                        lpt_linear_gemm_options options) {
  Layer layer(c, "f32", {64, 64, 64}, 4140);
  options.parts = parts;
  set_gemm(layer, LPT_LINEAR_GEMM_DGRAD, options);
  const lpt_linear_cast cast = LPT_LINEAR_CAST_DGRAD_GRADIENT;
  EXPECT_TRUE(ok(c, lpt_recipe_set_cast(c, layer.recipe.get(), cast, format_named(format), nullptr)));
  lpt_scaler_options scaler = LPT_SCALER_OPTIONS_INIT;
  scaler.kind = kind;
  EXPECT_TRUE(ok(c, lpt_recipe_set_scaler(c, layer.recipe.get(), LPT_LINEAR_OPERAND_GRADIENT, &scaler)));
  run(layer);
  lpt_linear *const linears[] = {layer.linear.get()};
  EXPECT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
  layer.backward();
  const ExactGemm exact = multiply(layer.dy_numbers.v, layer.w_numbers.v, 64, 64, 64);
  return relative_error(numbers_of(c, layer.dx.get()), exact.value);
}

TEST(RecipeGemms, TwoPartsAreFinerThanOne) {
  const Context context = make_context();
  for (const lpt_linear_gemm_options &options : {gemm_options(0), gemm_options(32, LPT_HADAMARD_SIGNS_RANDOM),
                                                 gemm_options(64, LPT_HADAMARD_SIGNS_FIXED, LPT_HADAMARD_AXIS_ROWS)}) {
    for (const char *format : {"int4/1x32/f32", "int4/tensor/f32"}) {
      for (const lpt_scaler_kind kind : {LPT_SCALER_KIND_CURRENT, LPT_SCALER_KIND_DELAYED}) {
        const double one = error_with_parts(context.get(), format, 1, kind, options);
        EXPECT_LT(error_with_parts(context.get(), format, 2, kind, options), one / 12.0)
            << format << " " << kind << " " << options.hadamard_size;
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
