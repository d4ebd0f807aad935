// Every named recipe against an independent model.
#include "tests/api/recipe.hpp"

namespace lpt::test {
namespace {

constexpr Shape3 kShapes[] = {{33, 50, 41}, {1, 3, 17}, {17, 130, 1}, {130, 33, 64}, {3, 128, 130}};

TEST(Recipe, NamesAreThoseThatAreModelled) {
  std::vector<std::string> expected, found;
  for (const RecipeModel &model : recipe_models()) expected.push_back(model.name);
  // Based on f32: linear_sparse_test.cpp tests them.
  for (const char *sparse : {"sparse24", "sparse24_transposable", "mvue12_gradients", "mvue24_gradients"})
    expected.push_back(sparse);
  for (int64_t i = 0; i < lpt_recipe_count(); ++i) found.push_back(lpt_recipe_name(i));
  EXPECT_EQ(expected, found);
  EXPECT_EQ(nullptr, lpt_recipe_name(-1));
  EXPECT_EQ(nullptr, lpt_recipe_name(lpt_recipe_count()));
}

TEST(Recipe, CastsToTheFormatsOfItsPaper) {
  const Context context = make_context();
  for (const RecipeModel &model : recipe_models()) {
    const Recipe recipe = make_recipe(context.get(), model.name);
    for (lpt_linear_cast cast = 0; cast < 6; ++cast) {
      lpt_format format = LPT_FORMAT_NONE;
      ASSERT_TRUE(ok(context.get(), lpt_recipe_cast_format(context.get(), recipe.get(), cast, &format)));
      const char *expected = model.casts[cast].format;
      EXPECT_EQ(expected == nullptr ? lpt_format{LPT_FORMAT_NONE} : format_named(expected), format)
          << model.name << " " << cast;
    }
  }
}

void expect_modelled(const RecipeModel &model, const Shape3 &shape, int32_t threads, uint64_t place) {
  SCOPED_TRACE(std::string(model.name) + " of " + std::to_string(shape.rows) + " rows, " + std::to_string(shape.input) +
               " by " + std::to_string(shape.output));
  const Context context = make_context(threads);
  Layer layer(context.get(), model.name, shape, place);
  layer.forward();
  layer.backward();
  const Modelled expected = layer.model(model).run(layer.x_numbers, layer.w_numbers, layer.dy_numbers);
  expect_gemm(expected.y, numbers_of(context.get(), layer.y.get()), shape.input);
  expect_gemm(expected.dx, numbers_of(context.get(), layer.dx.get()), shape.output);
  expect_gemm(expected.dw, numbers_of(context.get(), layer.dw.get()), shape.rows);
  expect_gemm(expected.db, numbers_of(context.get(), layer.db.get()), shape.rows);
}

TEST(Recipe, EqualsItsModelForAnyShape) {
  uint64_t place = 1000;
  for (const RecipeModel &model : recipe_models()) {
    for (const Shape3 &shape : kShapes) {
      expect_modelled(model, shape, 1, place += 10);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Recipe, TakesAnySourceInEachBackwardGemm) {
  const Context context = make_context();
  for (const char *name : {"quartet_v1", "int4_hadamard_sawb", "bf16"}) {
    for (RecipeModel &model : recipe_models()) {
      if (std::string(name) != model.name) continue;
      for (int combination = 0; combination < 9; ++combination) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(combination));
        Layer layer(context.get(), name, {70, 50, 41}, 1900);
        model.gemms[1].source = combination % 3;
        model.gemms[2].source = combination / 3;
        for (lpt_linear_gemm gemm = 1; gemm < 3; ++gemm) {
          ASSERT_TRUE(
              ok(context.get(), lpt_recipe_set_gemm(context.get(), layer.recipe.get(), gemm, &model.gemms[gemm])));
        }
        layer.make();
        layer.forward();
        layer.backward();
        const Modelled expected = layer.model(model).run(layer.x_numbers, layer.w_numbers, layer.dy_numbers);
        expect_gemm(expected.dx, numbers_of(context.get(), layer.dx.get()), 41);
        expect_gemm(expected.dw, numbers_of(context.get(), layer.dw.get()), 70);
      }
    }
  }
}

std::vector<std::vector<uint8_t>> results_of(const Layer &layer) {
  return {bytes_of(layer.c, layer.y.get()), bytes_of(layer.c, layer.dx.get()), bytes_of(layer.c, layer.dw.get()),
          bytes_of(layer.c, layer.db.get())};
}

TEST(Recipe, GivesTheSameBitsWithAnyNumberOfThreads) {
  for (const RecipeModel &model : recipe_models()) {
    std::vector<std::vector<uint8_t>> expected;
    for (const int32_t threads : {1, 2, 3}) {
      const Context context = make_context(threads);
      Layer layer(context.get(), model.name, {257, 160, 300}, 2000);
      layer.forward();
      layer.backward();
      if (threads == 1) expected = results_of(layer);
      EXPECT_EQ(expected, results_of(layer)) << model.name << " with " << threads;
    }
  }
}

TEST(Recipe, GivesTheSameBitsInOneCallOrInThree) {
  const Context context = make_context(2);
  for (const RecipeModel &model : recipe_models()) {
    Layer one(context.get(), model.name, {70, 64, 48}, 2010), three(context.get(), model.name, {70, 64, 48}, 2010);
    one.forward();
    one.backward();
    three.forward();
    three.backward(false, false, true);
    three.backward(false, true, false);
    three.backward(true, false, false);
    EXPECT_EQ(results_of(one), results_of(three)) << model.name;
  }
}

TEST(Recipe, AddsToTheWeightGradientOnRequest) {
  const Context context = make_context();
  for (const RecipeModel &model : recipe_models()) {
    Layer layer(context.get(), model.name, {33, 50, 41}, 2020);
    layer.forward();
    layer.backward();
    const std::vector<double> alone = numbers_of(context.get(), layer.dw.get());
    const Tensor f64 = tensor_of(context.get(), LPT_FORMAT_F64, 41, 50, std::vector<double>(41 * 50, 0.25));
    layer.dw = tensor_of(context.get(), LPT_FORMAT_F32, 41, 50, std::vector<double>(41 * 50, 0.25));
    layer.call.is_accumulated = 1;
    layer.backward(false, true, false);
    const std::vector<double> sum = numbers_of(context.get(), layer.dw.get());
    layer.dw.reset();
    ASSERT_TRUE(ok(context.get(), lpt_linear_backward(context.get(), layer.linear.get(), layer.saved.get(),
                                                      layer.dy.get(), &layer.call, nullptr, f64.get(), nullptr)));
    const std::vector<double> wide = numbers_of(context.get(), f64.get());
    for (size_t i = 0; i < sum.size(); ++i) {
      ASSERT_NEAR(0.25 + alone[i], sum[i], 1e-5) << model.name << " " << i;
      ASSERT_NEAR(0.25 + alone[i], wide[i], 1e-5) << model.name << " " << i;
    }
  }
}

TEST(Recipe, ChecksWithoutWriting) {
  const Context context = make_context();
  for (const RecipeModel &model : recipe_models()) {
    Layer layer(context.get(), model.name, {33, 50, 41}, 2030);
    layer.forward();
    layer.backward();
    const auto before = results_of(layer);
    const std::vector<uint8_t> saved = bytes_of(context.get(), layer.saved.get());
    layer.prepare.flags = layer.call.flags = LPT_CHECK_ONLY;
    layer.prepare.random.seed = layer.call.random.seed = 99;
    ASSERT_TRUE(
        ok(context.get(), lpt_linear_prepare(context.get(), layer.linear.get(), layer.w.get(), &layer.prepare)));
    ASSERT_TRUE(ok(context.get(), lpt_linear_forward(context.get(), layer.linear.get(), layer.dx.get(), &layer.call,
                                                     layer.saved.get(), layer.y.get())));
    layer.backward();
    EXPECT_EQ(saved, bytes_of(context.get(), layer.saved.get())) << model.name;
    EXPECT_EQ(before, results_of(layer)) << model.name;
    layer.call.flags = 0;
    layer.call.random.seed = 6;
    layer.backward();
    EXPECT_EQ(before, results_of(layer)) << model.name << ": the weight's casts changed";
  }
}

TEST(Recipe, TakesNumbersOfEveryWidth) {
  const Context context = make_context();
  for (const RecipeModel &model : recipe_models()) {
    const Recipe recipe = make_recipe(context.get(), model.name);
    const Batch batch(2040);
    const Linear plain = make_linear(context.get(), recipe.get());
    const Results expected = run(context.get(), plain.get(), batch, step_options(1, 2, 3));
    for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
      const Context other = make_context();
      const Linear linear = make_linear(other.get(), recipe.get());
      lpt_linear_options options = step_options(1, 2, 3);
      const Tensor x = tensor_of(other.get(), format, kRows, kInput, batch.x);
      const Tensor w = tensor_of(other.get(), format, kOutput, kInput, batch.w);
      const Tensor dy = tensor_of(other.get(), format, kRows, kOutput, batch.dy);
      const Tensor y = make_tensor(other.get(), format, kRows, kOutput);
      const Tensor dx = make_tensor(other.get(), format, kRows, kInput);
      const Tensor dw = make_tensor(other.get(), LPT_FORMAT_F32, kOutput, kInput);
      ASSERT_TRUE(ok(other.get(), lpt_linear_prepare(other.get(), linear.get(), w.get(), nullptr)));
      const Tensor saved = make_saved(other.get(), linear.get(), kRows);
      ASSERT_TRUE(
          ok(other.get(), lpt_linear_forward(other.get(), linear.get(), x.get(), &options, saved.get(), y.get())));
      ASSERT_TRUE(ok(other.get(), lpt_linear_backward(other.get(), linear.get(), saved.get(), dy.get(), &options,
                                                      dx.get(), dw.get(), nullptr)));
      std::vector<double> y_expected = expected.y;
      for (size_t i = 0; i < y_expected.size(); ++i) y_expected[i] -= batch.bias[i % kOutput];
      // f16 and bf16 round the source first, and coarse codes amplify the difference.
      const bool is_exact = format == LPT_FORMAT_F64;
      EXPECT_LT(relative_error(numbers_of(other.get(), y.get()), y_expected), is_exact ? 1e-6 : 0.25) << model.name;
      EXPECT_LT(relative_error(numbers_of(other.get(), dx.get()), expected.dx), is_exact ? 1e-6 : 0.7) << model.name;
      EXPECT_LT(relative_error(numbers_of(other.get(), dw.get()), expected.dw), is_exact ? 1e-6 : 0.7) << model.name;
    }
  }
}

// Bits per element of x, w and dy that prepare keeps and forward saves, for a size where other memory is small.
TEST(Recipe, TakesTheBytesThatItsPageTells) {
  const Context context = make_context();
  constexpr double kMxfp4 = 4.25, kNvfp4 = 4.5;
  const struct {
    const char *name;
    double weight_bits, saved_bits;
  } cases[] = {{"f32", 32, 32},
               {"bf16", 16, 16},
               {"fp8_trillion", 16, 8},
               {"fp8_current", 8, 8},
               {"mxfp8", 16.5, 8.25},
               {"fp8_block", 16, 8.25},
               {"fp4_all_the_way", 2 * kNvfp4, kNvfp4},
               {"nvfp4_pretrain", 8 + 16.0 / 256, kNvfp4},
               {"quartet_v1", 2 * kMxfp4 + 1, kMxfp4 + 1},
               {"quartet_neurips", 2 * kMxfp4 + 1, kMxfp4 + 1},
               {"luq", 4, 4},
               {"halo_0", 8, 8},
               {"halo_1", 12, 6},
               {"halo_2", 16, 8},
               {"coat", 8, 8},
               {"int4_hadamard_sawb", 5, 5},
               {"unit_scaling", 8, 8}};
  for (const auto &[name, weight_bits, saved_bits] : cases) {
    const Recipe recipe = make_recipe(context.get(), name);
    const Linear linear = make_linear(context.get(), recipe.get(), 1024, 1024);
    size_t weight = 0, saved = 0;
    ASSERT_TRUE(ok(context.get(), lpt_linear_cast_size(context.get(), linear.get(), &weight)));
    ASSERT_TRUE(ok(context.get(), lpt_linear_saved_size(context.get(), linear.get(), 4096, &saved)));
    EXPECT_NEAR(weight_bits, 8.0 * static_cast<double>(weight) / (1024 * 1024), 0.01) << name;
    EXPECT_NEAR(saved_bits, 8.0 * static_cast<double>(saved) / (4096 * 1024), 0.01) << name;
  }
}

}  // namespace
}  // namespace lpt::test
