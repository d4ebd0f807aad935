// The single calls of a linear layer: prepare, forward and backward, mostly with fp8_trillion.
#include "tests/api/linear.hpp"

namespace lpt::test {
namespace {

// One batch with fp8_trillion, and all of its handles.
struct Trillion {
  Context context;
  Recipe recipe;
  Linear linear;
  Batch batch{170};
  Tensor x, w, dy, saved, y;
  lpt_linear_options options = step_options(5, 6, 7);

  explicit Trillion(int32_t threads = 1) : context(make_context(threads)) {
    lpt_context *c = context.get();
    recipe = make_recipe(c, "fp8_trillion");
    linear = make_linear(c, recipe.get());
    x = tensor_of(c, LPT_FORMAT_F32, kRows, kInput, batch.x);
    w = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, batch.w);
    dy = tensor_of(c, LPT_FORMAT_F32, kRows, kOutput, batch.dy);
    y = make_tensor(c, LPT_FORMAT_F32, kRows, kOutput);
    EXPECT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), nullptr)));
    saved = make_saved(c, linear.get(), kRows);
    EXPECT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), &options, saved.get(), y.get())));
  }

  // Gradients of one call. Gradients that are not requested are unchanged.
  struct Gradients {
    Tensor dx, dw, db;
  };
  Gradients backward(bool wants_dx, bool wants_dw, bool wants_db) {
    lpt_context *c = context.get();
    Gradients g{make_tensor(c, LPT_FORMAT_F32, kRows, kInput), make_tensor(c, LPT_FORMAT_F32, kOutput, kInput),
                make_tensor(c, LPT_FORMAT_F32, {kOutput})};
    EXPECT_TRUE(ok(c, lpt_linear_backward(c, linear.get(), wants_dw ? saved.get() : nullptr, dy.get(), &options,
                                          wants_dx ? g.dx.get() : nullptr, wants_dw ? g.dw.get() : nullptr,
                                          wants_db ? g.db.get() : nullptr)));
    return g;
  }
};

TEST(LinearBackward, GivesTheSameBitsForAnyChoiceOfOutputs) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const auto all = layer.backward(true, true, true);
  for (int choice = 1; choice < 8; ++choice) {
    const bool wants_dx = (choice & 1) != 0, wants_dw = (choice & 2) != 0, wants_db = (choice & 4) != 0;
    const auto some = layer.backward(wants_dx, wants_dw, wants_db);
    if (wants_dx) {
      EXPECT_EQ(bytes_of(c, all.dx.get()), bytes_of(c, some.dx.get())) << choice;
    }
    if (wants_dw) {
      EXPECT_EQ(bytes_of(c, all.dw.get()), bytes_of(c, some.dw.get())) << choice;
    }
    if (wants_db) {
      EXPECT_EQ(bytes_of(c, all.db.get()), bytes_of(c, some.db.get())) << choice;
    }
  }
}

TEST(LinearBackward, GivesTheSameBitsWithAnyNumberOfThreads) {
  Trillion one(1);
  const auto expected = one.backward(true, true, true);
  for (const int32_t threads : {2, 3, 7}) {
    Trillion other(threads);
    lpt_context *c = other.context.get();
    EXPECT_EQ(bytes_of(c, one.y.get()), bytes_of(c, other.y.get()));
    const auto given = other.backward(true, true, true);
    EXPECT_EQ(bytes_of(c, expected.dx.get()), bytes_of(c, given.dx.get()));
    EXPECT_EQ(bytes_of(c, expected.dw.get()), bytes_of(c, given.dw.get()));
    EXPECT_EQ(bytes_of(c, expected.db.get()), bytes_of(c, given.db.get()));
  }
}

TEST(LinearBackward, DrawsOtherBitsForEveryLayerAndStep) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const std::vector<uint8_t> base = bytes_of(c, layer.backward(true, false, false).dx.get());
  EXPECT_EQ(base, bytes_of(c, layer.backward(true, false, false).dx.get()));
  const lpt_linear_options before = layer.options;
  layer.options.random.stream = 8;
  EXPECT_NE(base, bytes_of(c, layer.backward(true, false, false).dx.get())) << "stream";
  layer.options = before;
  layer.options.random.step = 8;
  EXPECT_NE(base, bytes_of(c, layer.backward(true, false, false).dx.get())) << "step";
  layer.options = before;
  layer.options.random.seed = 8;
  EXPECT_NE(base, bytes_of(c, layer.backward(true, false, false).dx.get())) << "seed";
  layer.options = before;
  layer.options.first_row = 1000;
  EXPECT_NE(base, bytes_of(c, layer.backward(true, false, false).dx.get())) << "first row";
}

TEST(LinearBackward, AddsToWhatItHolds) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const auto plain = layer.backward(false, true, true);
  const Tensor dw = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, std::vector<double>(kOutput * kInput, 0.25));
  const Tensor db = make_tensor(c, LPT_FORMAT_F32, {kOutput});
  layer.options.is_accumulated = 1;
  ASSERT_TRUE(ok(c, lpt_linear_backward(c, layer.linear.get(), layer.saved.get(), layer.dy.get(), &layer.options,
                                        nullptr, dw.get(), db.get())));
  const std::vector<double> sum = numbers_of(c, dw.get());
  const std::vector<double> alone = numbers_of(c, plain.dw.get());
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(0.25 + alone[i], sum[i], 1e-6 * (0.25 + std::abs(alone[i])));
  EXPECT_EQ(bytes_of(c, plain.db.get()), bytes_of(c, db.get())) << "onto zero";
}

TEST(LinearBackward, OverwritesWhatItHolds) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const auto plain = layer.backward(false, true, false);
  const Tensor dw = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, std::vector<double>(kOutput * kInput, std::nan("")));
  ASSERT_TRUE(ok(c, lpt_linear_backward(c, layer.linear.get(), layer.saved.get(), layer.dy.get(), &layer.options,
                                        nullptr, dw.get(), nullptr)));
  EXPECT_EQ(bytes_of(c, plain.dw.get()), bytes_of(c, dw.get()));
}

constexpr int64_t kSide = 32;

Tensor unit_matrix(lpt_context *context) {
  std::vector<double> unit(kSide * kSide, 0.0);
  for (int64_t i = 0; i < kSide; ++i) unit[static_cast<size_t>(i * kSide + i)] = 1.0;
  return tensor_of(context, LPT_FORMAT_F32, kSide, kSide, unit);
}

TEST(LinearBackward, RoundsTheGradientStochasticallyAndAlikeInBothGemms) {
  // With a unit weight dx contains the codes of dy. With a unit input dw contains them too.
  const Context context = make_context();
  lpt_context *c = context.get();
  const std::vector<double> gradient = draw_normal(180, kSide * kSide);
  const Recipe recipe = make_recipe(c, "fp8_trillion");
  const Linear linear = make_linear(c, recipe.get(), kSide, kSide);
  const Tensor eye = unit_matrix(c);
  const Tensor dy = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, gradient);
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
  const Tensor dx = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
  const Tensor dw = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), eye.get(), nullptr)));
  const Tensor saved = make_saved(c, linear.get(), kSide);
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), eye.get(), nullptr, saved.get(), y.get())));
  std::vector<double> mean(gradient.size(), 0.0);
  constexpr int kSteps = 400;
  int64_t ups = 0;
  for (int step = 0; step < kSteps; ++step) {
    const lpt_linear_options options = step_options(1, 2, static_cast<uint32_t>(step));
    ASSERT_TRUE(
        ok(c, lpt_linear_backward(c, linear.get(), saved.get(), dy.get(), &options, dx.get(), dw.get(), nullptr)));
    const std::vector<double> codes = numbers_of(c, dx.get());
    ASSERT_EQ(codes, transposed(numbers_of(c, dw.get()), kSide, kSide));
    for (size_t i = 0; i < codes.size(); ++i) {
      ASSERT_LE(std::abs(codes[i] - gradient[i]), 0.2501 * std::abs(gradient[i]) + 1e-6) << i;  // one step of e5m2
      ups += std::abs(codes[i]) > std::abs(gradient[i]) ? 1 : 0;
      mean[i] += codes[i] / kSteps;
    }
  }
  for (size_t i = 0; i < mean.size(); ++i) {
    // A step is at most a quarter of the value, and half a step bounds sigma of one draw. The bound is five sigma for a
    // thousand means.
    EXPECT_NEAR(gradient[i], mean[i], 5.0 * 0.125 * std::abs(gradient[i]) / std::sqrt(kSteps) + 1e-6) << i;
  }
  EXPECT_GT(ups, 0);
}

TEST(LinearBackward, OfRanksThatKnowTheirFirstRowDrawsTheBitsOfTheWholeBatch) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "fp8_trillion");
  const Linear linear = make_linear(c, recipe.get(), kSide, kSide);
  lpt_linear *const linears[] = {linear.get()};
  const Tensor eye = unit_matrix(c);
  const Tensor dy = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(181, kSide * kSide));
  const Tensor dx = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), eye.get(), nullptr)));
  lpt_linear_options options = step_options(1, 2, 3);
  for (int i = 0; i < 2; ++i) {  // the second pass uses the scale of the history, which all ranks share
    ASSERT_TRUE(ok(c, lpt_linear_backward(c, linear.get(), nullptr, dy.get(), &options, dx.get(), nullptr, nullptr)));
    if (i == 0) {
      ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
    }
  }
  for (const int64_t first : {int64_t{0}, int64_t{10}}) {
    const int64_t rows = first == 0 ? 10 : kSide - 10;
    const Tensor dy_part = view(c, dy.get(), {first, 0}, {rows, kSide});
    const Tensor expected = view(c, dx.get(), {first, 0}, {rows, kSide});
    const Tensor dx_part = make_tensor(c, LPT_FORMAT_F32, rows, kSide);
    options.first_row = first;
    ASSERT_TRUE(
        ok(c, lpt_linear_backward(c, linear.get(), nullptr, dy_part.get(), &options, dx_part.get(), nullptr, nullptr)));
    EXPECT_EQ(numbers_of(c, expected.get()), numbers_of(c, dx_part.get())) << first;
  }
}

TEST(LinearForward, GivesTheSameOutputWithoutSaving) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, kRows, kOutput);
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, layer.linear.get(), layer.x.get(), &layer.options, nullptr, y.get())));
  EXPECT_EQ(bytes_of(c, layer.y.get()), bytes_of(c, y.get()));
}

TEST(LinearForward, SavesAboutAByteForEachElementInFp8) {
  const Trillion layer;
  size_t bytes = 0;
  ASSERT_TRUE(ok(layer.context.get(), lpt_linear_saved_size(layer.context.get(), layer.linear.get(), 4096, &bytes)));
  EXPECT_GE(bytes, 4096u * kInput);
  EXPECT_LE(bytes, 4096u * kInput + kInput + 512);
}

TEST(LinearForward, OfNoRowsDoesNothing) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const Tensor x = make_tensor(c, LPT_FORMAT_F32, 0, kInput);
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, 0, kOutput);
  const Tensor saved = make_saved(c, layer.linear.get(), 0);
  const Tensor dw = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, std::vector<double>(kOutput * kInput, 3.0));
  EXPECT_TRUE(ok(c, lpt_linear_forward(c, layer.linear.get(), x.get(), nullptr, saved.get(), y.get())));
  EXPECT_TRUE(
      ok(c, lpt_linear_backward(c, layer.linear.get(), saved.get(), y.get(), nullptr, x.get(), dw.get(), nullptr)));
  EXPECT_EQ(std::vector<double>(kOutput * kInput, 0.0), numbers_of(c, dw.get()));
}

TEST(LinearPrepare, FollowsAChangedWeight) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const Tensor zero = make_tensor(c, LPT_FORMAT_F32, kOutput, kInput);
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, layer.linear.get(), zero.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, layer.linear.get(), layer.x.get(), nullptr, nullptr, layer.y.get())));
  EXPECT_EQ(std::vector<double>(kRows * kOutput, 0.0), numbers_of(c, layer.y.get()));
}

TEST(LinearPrepare, TakesAWeightWithScales) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "f32");
  const Linear linear = make_linear(c, recipe.get());
  const Batch batch(190);
  const Tensor w = tensor_of(c, LPT_FORMAT_NVFP4, kOutput, kInput, batch.w);
  const Tensor x = tensor_of(c, LPT_FORMAT_F32, kRows, kInput, batch.x);
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, kRows, kOutput);
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), nullptr, nullptr, y.get())));
  const std::vector<double> weight = numbers_of(c, w.get());
  expect_gemm(multiply(batch.x, transposed(weight, kOutput, kInput), kRows, kOutput, kInput), numbers_of(c, y.get()),
              kInput);
}

}  // namespace
}  // namespace lpt::test
