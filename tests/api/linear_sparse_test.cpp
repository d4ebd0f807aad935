// Layers with N:M weights and gradients equal a dense layer with the masked matrices.
#include <cmath>

#include "tests/api/linear.hpp"
#include "tests/api/sparse.hpp"
#include "tests/api/states.hpp"

namespace lpt::test {
namespace {

// Dimensions of the weights and gradients, multiples of a group.
constexpr int64_t kTokens = 36;
constexpr int64_t kIn = 48;
constexpr int64_t kOut = 40;

struct SparseLayer {
  lpt_context *c;
  Linear linear;
  Tensor x, w, dy, y, dx, dw, saved;

  SparseLayer(lpt_context *context, const lpt_recipe *recipe)
      : c(context),
        linear(make_linear(context, recipe, kIn, kOut)),
        x(tensor_of(c, LPT_FORMAT_F32, kTokens, kIn, draw_normal(561, kTokens * kIn))),
        w(tensor_of(c, LPT_FORMAT_F32, kOut, kIn, draw_normal(562, kOut * kIn))),
        dy(tensor_of(c, LPT_FORMAT_F32, kTokens, kOut, draw_normal(563, kTokens * kOut))),
        y(make_tensor(c, LPT_FORMAT_F32, kTokens, kOut)),
        dx(make_tensor(c, LPT_FORMAT_F32, kTokens, kIn)),
        dw(make_tensor(c, LPT_FORMAT_F32, kOut, kIn)) {}

  void prepare(uint32_t step = 0) {
    const lpt_linear_options options = step_options(1, 2, step);
    ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), &options)));
  }
  void pass(uint32_t step = 0) {
    const lpt_linear_options options = step_options(1, 2, step);
    saved = make_saved(c, linear.get(), kTokens);
    ASSERT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), &options, saved.get(), y.get())));
    ASSERT_TRUE(
        ok(c, lpt_linear_backward(c, linear.get(), saved.get(), dy.get(), &options, dx.get(), dw.get(), nullptr)));
  }
  std::vector<uint8_t> mask() {
    const Tensor bytes = make_tensor(c, LPT_FORMAT_UINT8, kOut, kIn);
    EXPECT_TRUE(ok(c, lpt_linear_mask_read(c, linear.get(), bytes.get())));
    return bytes_of(c, bytes.get());
  }
  void change_weight(uint64_t place) { w = tensor_of(c, LPT_FORMAT_F32, kOut, kIn, draw_normal(place, kOut * kIn)); }
};

// Runs the same step with a dense layer whose weight is masked first.
struct Dense {
  std::vector<double> y, dx, dw;
};

Dense dense_step(lpt_context *context, const SparseLayer &sparse, const lpt_tensor *weight) {
  const Recipe recipe = make_recipe(context, "f32");
  SparseLayer dense(context, recipe.get());
  dense.w = tensor_of(context, LPT_FORMAT_F32, kOut, kIn, numbers_of(context, weight));
  dense.dy = tensor_of(context, LPT_FORMAT_F32, kTokens, kOut, numbers_of(context, sparse.dy.get()));
  dense.prepare();
  dense.pass();
  return {numbers_of(context, dense.y.get()), numbers_of(context, dense.dx.get()), numbers_of(context, dense.dw.get())};
}

Tensor masked(lpt_context *context, const lpt_tensor *source, const lpt_sparse_options &options) {
  const Shape shape = shape_of(context, source);
  Tensor result = make_tensor(context, LPT_FORMAT_F32, shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_sparse_mask_select(context, source, &options, nullptr, result.get(), nullptr)));
  return result;
}

TEST(SparseLinear, MultipliesTheMaskedWeightAndKeepsItsWholeGradient) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  for (const char *name : {"sparse24", "sparse24_transposable"}) {
    const Recipe recipe = make_recipe(c, name);
    SparseLayer layer(c, recipe.get());
    layer.prepare();
    layer.pass();
    const bool is_both = std::string(name) == "sparse24_transposable";
    const lpt_sparse_options options = selection(2, 4, is_both ? LPT_SPARSE_DIRECTION_BOTH : LPT_SPARSE_DIRECTION_ROW);
    const Dense expected = dense_step(c, layer, masked(c, layer.w.get(), options).get());
    EXPECT_EQ(expected.y, numbers_of(c, layer.y.get())) << name;
    EXPECT_EQ(expected.dx, numbers_of(c, layer.dx.get())) << name;
    EXPECT_EQ(expected.dw, numbers_of(c, layer.dw.get())) << name;
    EXPECT_EQ(selected(c, layer.w.get(), options), layer.mask()) << name;
  }
}

TEST(SparseLinear, MaskedWeightsAreCastAsTheRecipeSays) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "fp8_current");
  const Recipe dense_recipe = make_recipe(c, "fp8_current");
  const lpt_sparse_options options = selection(2, 4);
  ASSERT_TRUE(ok(c, lpt_recipe_set_sparsity(c, recipe.get(), LPT_LINEAR_OPERAND_WEIGHT, 1, &options)));
  SparseLayer sparse(c, recipe.get());
  SparseLayer dense(c, dense_recipe.get());
  dense.w = masked(c, dense.w.get(), options);
  for (SparseLayer *layer : {&sparse, &dense}) {
    layer->prepare();
    layer->pass();
  }
  EXPECT_EQ(numbers_of(c, dense.y.get()), numbers_of(c, sparse.y.get()));
  EXPECT_EQ(numbers_of(c, dense.dx.get()), numbers_of(c, sparse.dx.get()));
}

// The forward and the wgrad GEMM use the masked input in full precision, and its casts in low precision. dx is dense.
TEST(SparseLinear, MasksTheInputOfForwardAndWgrad) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const lpt_sparse_options options = selection(2, 4);
  for (const char *name : {"f32", "fp8_current", "nvfp4_pretrain"}) {
    const Recipe recipe = make_recipe(c, name), dense_recipe = make_recipe(c, name);
    ASSERT_TRUE(ok(c, lpt_recipe_set_sparsity(c, recipe.get(), LPT_LINEAR_OPERAND_INPUT, 1, &options)));
    SparseLayer sparse(c, recipe.get()), dense(c, dense_recipe.get());
    const std::vector<double> whole = numbers_of(c, dense.x.get());
    dense.x = masked(c, dense.x.get(), options);
    ASSERT_NE(whole, numbers_of(c, dense.x.get()));
    for (SparseLayer *layer : {&sparse, &dense}) {
      layer->prepare();
      layer->pass();
    }
    EXPECT_EQ(numbers_of(c, dense.y.get()), numbers_of(c, sparse.y.get())) << name;
    EXPECT_EQ(numbers_of(c, dense.dx.get()), numbers_of(c, sparse.dx.get())) << name;
    EXPECT_EQ(numbers_of(c, dense.dw.get()), numbers_of(c, sparse.dw.get())) << name;
  }
}

TEST(SparseLinear, MasksTheGradientOfTheWeightGemmOnly) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "mvue24_gradients");
  SparseLayer layer(c, recipe.get());
  layer.prepare();
  layer.pass(5);
  const Dense whole = dense_step(c, layer, layer.w.get());
  EXPECT_EQ(whole.y, numbers_of(c, layer.y.get()));
  EXPECT_EQ(whole.dx, numbers_of(c, layer.dx.get()));
  EXPECT_NE(whole.dw, numbers_of(c, layer.dw.get()));
  lpt_sparse_options options = selection(2, 4, LPT_SPARSE_DIRECTION_COLUMN, LPT_SPARSE_RULE_MVUE);
  options.random = step_options(1, 2, 5).random;
  layer.dy = masked(c, layer.dy.get(), options);
  EXPECT_EQ(dense_step(c, layer, layer.w.get()).dw, numbers_of(c, layer.dw.get()));
}

// The gradient of a shard of the batch draws the same random numbers as the whole batch.
TEST(SparseLinear, TokensDrawByTheirPlaceInTheBatch) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "mvue24_gradients");
  SparseLayer layer(c, recipe.get());
  layer.prepare();
  layer.pass();
  const std::vector<double> whole = numbers_of(c, layer.dw.get());
  lpt_linear_options options = step_options(1, 2, 0);
  for (const int64_t first : {0, 20}) {
    const int64_t rows = first == 0 ? 20 : kTokens - 20;
    options.first_row = first;
    options.is_accumulated = first == 0 ? 0 : 1;
    const Tensor x = view(c, layer.x.get(), {first, 0}, {rows, kIn});
    const Tensor dy = view(c, layer.dy.get(), {first, 0}, {rows, kOut});
    const Tensor y = make_tensor(c, LPT_FORMAT_F32, rows, kOut);
    const Tensor saved = make_saved(c, layer.linear.get(), rows);
    ASSERT_TRUE(ok(c, lpt_linear_forward(c, layer.linear.get(), x.get(), &options, saved.get(), y.get())));
    ASSERT_TRUE(ok(c, lpt_linear_backward(c, layer.linear.get(), saved.get(), dy.get(), &options, nullptr,
                                          layer.dw.get(), nullptr)));
  }
  const std::vector<double> parts = numbers_of(c, layer.dw.get());
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], parts[i], 1e-4) << i;
  options.first_row = 2;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_backward(c, layer.linear.get(), layer.saved.get(), layer.dy.get(),
                                                      &options, nullptr, layer.dw.get(), nullptr));
  expect_words({"first_row is 2", "multiple of 4"}, lpt_context_error(c));
}

TEST(SparseLinear, AMaskServesUntilItsInterval) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "sparse24_transposable");
  SparseLayer layer(c, recipe.get());
  layer.prepare(3);
  const std::vector<uint8_t> first = layer.mask();
  layer.change_weight(571);
  layer.prepare(42);
  EXPECT_EQ(first, layer.mask());
  layer.pass();
  Tensor kept = tensor_of(c, LPT_FORMAT_F32, kOut, kIn, numbers_of(c, layer.w.get()));
  ASSERT_TRUE(ok(c, lpt_sparse_mask_apply(c, kept.get(), mask_of(c, kOut, kIn, first).get(), kept.get())));
  EXPECT_EQ(dense_step(c, layer, kept.get()).y, numbers_of(c, layer.y.get()));
  layer.prepare(43);
  EXPECT_EQ(selected(c, layer.w.get(), selection(2, 4, LPT_SPARSE_DIRECTION_BOTH)), layer.mask());
}

TEST(SparseLinear, SavedStatesKeepTheMask) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "sparse24_transposable");
  SparseLayer layer(c, recipe.get());
  SparseLayer resumed(c, recipe.get());
  layer.prepare(0);
  size_t bytes = 0;
  ASSERT_TRUE(ok(c, lpt_linear_state_size(c, layer.linear.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(c, lpt_linear_state_save(c, layer.linear.get(), state.data(), state.size())));
  ASSERT_TRUE(ok(c, lpt_linear_state_load(c, resumed.linear.get(), state.data(), state.size())));
  for (SparseLayer *one : {&layer, &resumed}) {
    one->change_weight(572);
    one->prepare(7);
  }
  EXPECT_EQ(layer.mask(), resumed.mask());
  EXPECT_NE(selected(c, layer.w.get(), selection(2, 4, LPT_SPARSE_DIRECTION_BOTH)), resumed.mask());
  const Recipe dense = make_recipe(c, "f32");
  SparseLayer other(c, dense.get());
  EXPECT_NE(LPT_OK, lpt_linear_state_load(c, other.linear.get(), state.data(), state.size()));
}

TEST(SparseLinear, ADamagedFactorIsAnInvalidState) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "sparse24_transposable");
  SparseLayer layer(c, recipe.get());
  layer.prepare(0);
  size_t bytes = 0;
  ASSERT_TRUE(ok(c, lpt_linear_state_size(c, layer.linear.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(c, lpt_linear_state_save(c, layer.linear.get(), state.data(), state.size())));
  const size_t mask_bytes = kOut * kIn / 8;
  const float factor = -1.0f;
  std::memcpy(&state[state.size() - mask_bytes - sizeof factor], &factor, sizeof factor);
  state = states::resealed(state);
  EXPECT_EQ(LPT_INVALID_STATE, lpt_linear_state_load(c, layer.linear.get(), state.data(), state.size()));
  expect_words({"the factor of a sparse weight is -1"}, lpt_context_error(c));
}

TEST(SparseLinear, SoftThresholdsAreFittedOnce) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "f32");
  const lpt_sparse_options options = selection(2, 4, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_RULE_SOFT_THRESHOLD);
  ASSERT_TRUE(ok(c, lpt_recipe_set_sparsity(c, recipe.get(), LPT_LINEAR_OPERAND_WEIGHT, 1, &options)));
  SparseLayer layer(c, recipe.get());
  const std::vector<double> weight = numbers_of(c, layer.w.get());
  const std::vector<double> soft = numbers_of(c, masked(c, layer.w.get(), options).get());
  double gemms = 0.0;
  double squares = 0.0;
  for (size_t i = 0; i < soft.size(); ++i) gemms += weight[i] * soft[i], squares += soft[i] * soft[i];
  const auto factor = static_cast<float>(gemms / squares);
  const auto scaled = [&](const lpt_tensor *source) {
    std::vector<double> numbers = numbers_of(c, masked(c, source, options).get());
    for (double &number : numbers) number = static_cast<double>(static_cast<float>(number) * factor);
    return tensor_of(c, LPT_FORMAT_F32, kOut, kIn, numbers);
  };
  layer.prepare();
  layer.pass();
  EXPECT_EQ(dense_step(c, layer, scaled(layer.w.get()).get()).y, numbers_of(c, layer.y.get()));
  layer.change_weight(573);
  layer.prepare();
  layer.pass();
  EXPECT_EQ(dense_step(c, layer, scaled(layer.w.get()).get()).y, numbers_of(c, layer.y.get()));
}

TEST(SparseLinear, SaysWhatARecipeDoesNotTake) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "f32");
  const auto reject = [&](lpt_linear_operand operand, lpt_sparse_options options, int32_t interval,
                          const std::vector<const char *> &words) {
    EXPECT_NE(LPT_OK, lpt_recipe_set_sparsity(c, recipe.get(), operand, interval, &options));
    expect_words(words, lpt_context_error(c));
  };
  const lpt_sparse_options rows = selection(2, 4);
  reject(LPT_LINEAR_OPERAND_INPUT, rows, 2, {"interval is 2"});
  reject(LPT_LINEAR_OPERAND_INPUT, selection(2, 4, LPT_SPARSE_DIRECTION_COLUMN), 1, {"direction is 1", "input", "ROW"});
  reject(LPT_LINEAR_OPERAND_INPUT, selection(2, 4, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_RULE_MVUE), 1,
         {"rule is 1", "input", "MAGNITUDE"});
  reject(LPT_LINEAR_OPERAND_WEIGHT, rows, 0, {"interval is 0"});
  reject(LPT_LINEAR_OPERAND_WEIGHT, selection(4, 4), 1, {"kept is 4 of 4"});
  reject(LPT_LINEAR_OPERAND_WEIGHT, selection(2, 4, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_RULE_MVUE), 1, {"rule is 1"});
  reject(LPT_LINEAR_OPERAND_GRADIENT, rows, 1, {"direction is 0", "COLUMN"});
  reject(LPT_LINEAR_OPERAND_GRADIENT, selection(2, 4, LPT_SPARSE_DIRECTION_COLUMN), 2, {"interval is 2"});
  lpt_sparse_options drawn = rows;
  drawn.random.seed = 1;
  reject(LPT_LINEAR_OPERAND_WEIGHT, drawn, 1, {"random is set"});

  SparseLayer dense(c, recipe.get());
  dense.prepare();
  const Tensor mask = make_tensor(c, LPT_FORMAT_UINT8, kOut, kIn);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_mask_read(c, dense.linear.get(), mask.get()));
  expect_words({"dense weights"}, lpt_context_error(c));
  const Recipe sparse_recipe = make_recipe(c, "sparse24");
  SparseLayer sparse(c, sparse_recipe.get());
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_mask_read(c, sparse.linear.get(), mask.get()));
  expect_words({"lpt_linear_prepare()"}, lpt_context_error(c));
  sparse.w = make_tensor(c, LPT_FORMAT_F64, kOut, kIn);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_linear_prepare(c, sparse.linear.get(), sparse.w.get(), nullptr));
  expect_words({"weight is f64"}, lpt_context_error(c));
  lpt_format format = LPT_FORMAT_NONE;
  ASSERT_EQ(LPT_OK, lpt_format_from_name(nullptr, "e4m3fn/2:4", &format));
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_recipe_set_cast(c, recipe.get(), LPT_LINEAR_CAST_FORWARD_WEIGHT, format, nullptr));
  expect_words({"e4m3fn/2:4", "dense"}, lpt_context_error(c));
}

}  // namespace
}  // namespace lpt::test
