// Linear layers through the interface. What a recipe does is emulated: operands cast by lpt_quantize, decoded, and
// multiplied in double.
#include <tuple>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows = 33;
constexpr int64_t kInput = 50;
constexpr int64_t kOutput = 41;

Recipe make_recipe(lpt_context *context, const char *name) {
  Recipe recipe;
  EXPECT_TRUE(ok(context, lpt_recipe_create(context, name, out(recipe))));
  return recipe;
}

Linear make_linear(lpt_context *context, const lpt_recipe *recipe, int64_t input = kInput, int64_t output = kOutput) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = input;
  shape.output_columns = output;
  Linear linear;
  EXPECT_TRUE(ok(context, lpt_linear_create(context, recipe, &shape, out(linear))));
  return linear;
}

Tensor make_saved(lpt_context *context, const lpt_linear *linear, int64_t rows) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(context, lpt_linear_saved_size(context, linear, rows, &bytes)));
  return make_tensor(context, LPT_FORMAT_UINT8, {static_cast<int64_t>(bytes)});
}

lpt_linear_options step_options(uint64_t random_seed, uint32_t stream, uint32_t step) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.random.seed = random_seed;
  options.random.stream = stream;
  options.random.step = step;
  return options;
}

// What a layer is given in one step.
struct Batch {
  std::vector<double> x, w, dy, bias;
  explicit Batch(uint64_t place, double deviation = 1.0)
      : x(draw_normal(place, kRows * kInput, deviation)),
        w(draw_normal(place + 1, kOutput * kInput, 0.1)),
        dy(draw_normal(place + 2, kRows * kOutput, 0.01 * deviation)),
        bias(draw_normal(place + 3, kOutput)) {}
};

// All that a layer gives back.
struct Results {
  std::vector<double> y, dx, dw, db;
};

Results run(lpt_context *context, lpt_linear *linear, const Batch &batch, lpt_linear_options options,
            lpt_format format = LPT_FORMAT_F32) {
  const Tensor x = tensor_of(context, format, kRows, kInput, batch.x);
  const Tensor w = tensor_of(context, format, kOutput, kInput, batch.w);
  const Tensor dy = tensor_of(context, format, kRows, kOutput, batch.dy);
  const Tensor bias = vector_of(context, format, batch.bias);
  const Tensor y = make_tensor(context, format, kRows, kOutput);
  const Tensor dx = make_tensor(context, format, kRows, kInput);
  const Tensor dw = make_tensor(context, format, kOutput, kInput);
  const Tensor db = make_tensor(context, format, {kOutput});
  EXPECT_TRUE(ok(context, lpt_linear_prepare(context, linear, w.get(), nullptr)));
  const Tensor saved = make_saved(context, linear, kRows);  // after prepare: an f64 weight changes the size
  options.bias = bias.get();
  EXPECT_TRUE(ok(context, lpt_linear_forward(context, linear, x.get(), &options, saved.get(), y.get())));
  options.bias = nullptr;
  EXPECT_TRUE(
      ok(context, lpt_linear_backward(context, linear, saved.get(), dy.get(), &options, dx.get(), dw.get(), db.get())));
  return {numbers_of(context, y.get()), numbers_of(context, dx.get()), numbers_of(context, dw.get()),
          numbers_of(context, db.get())};
}

// One operand's cast, as the recipe describes it: format, options, and a scaler of its own.
struct Emulation {
  lpt_context *context;
  lpt_format formats[6];
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  Scaler scalers[3];

  Emulation(lpt_context *given_context, const lpt_recipe *recipe, lpt_scaler_kind kind) : context(given_context) {
    for (lpt_cast cast = 0; cast < 6; ++cast) {
      EXPECT_TRUE(ok(context, lpt_recipe_cast_format(context, recipe, cast, &formats[cast])));
    }
    lpt_scaler_options scaler_options = LPT_SCALER_OPTIONS_INIT;
    scaler_options.kind = kind;
    for (Scaler &scaler : scalers) EXPECT_TRUE(ok(context, lpt_scaler_create(context, &scaler_options, out(scaler))));
  }

  std::vector<double> cast(lpt_cast which, lpt_operand operand, int64_t rows, int64_t columns,
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
    const auto x_forward = cast(LPT_CAST_FORWARD_INPUT, LPT_OPERAND_INPUT, kRows, kInput, batch.x);
    const auto w_forward = cast(LPT_CAST_FORWARD_WEIGHT, LPT_OPERAND_WEIGHT, kOutput, kInput, batch.w);
    const auto dy_dgrad = cast(LPT_CAST_DGRAD_GRADIENT, LPT_OPERAND_GRADIENT, kRows, kOutput, batch.dy);
    const auto w_dgrad = cast(LPT_CAST_DGRAD_WEIGHT, LPT_OPERAND_WEIGHT, kOutput, kInput, batch.w);
    const auto dy_wgrad = cast(LPT_CAST_WGRAD_GRADIENT, LPT_OPERAND_GRADIENT, kRows, kOutput, batch.dy);
    const auto x_wgrad = cast(LPT_CAST_WGRAD_INPUT, LPT_OPERAND_INPUT, kRows, kInput, batch.x);
    ExactProduct y = multiply(x_forward, transposed(w_forward, kOutput, kInput), kRows, kOutput, kInput);
    for (size_t i = 0; i < y.value.size(); ++i) {
      const double bias = batch.bias[i % kOutput];
      y.value[i] += bias;
      y.magnitude[i] += std::abs(bias);
    }
    expect_product(y, given.y, kInput);
    expect_product(multiply(dy_dgrad, w_dgrad, kRows, kInput, kOutput), given.dx, kOutput);
    expect_product(multiply(transposed(dy_wgrad, kRows, kOutput), x_wgrad, kOutput, kInput, kRows), given.dw, kRows);
    expect_product(multiply(std::vector<double>(kRows, 1.0), batch.dy, 1, kOutput, kRows), given.db, kRows);
  }

  void update() {
    lpt_scaler *const handles[] = {scalers[0].get(), scalers[1].get(), scalers[2].get()};
    EXPECT_TRUE(ok(context, lpt_scaler_update(context, handles, 3)));
  }
};

// fp8_trillion with the gradient rounded to nearest, so that lpt_quantize can make the same cast.
Recipe nearest_trillion(lpt_context *context) {
  Recipe recipe = make_recipe(context, "fp8_trillion");
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO;
  for (const lpt_cast cast : {LPT_CAST_DGRAD_GRADIENT, LPT_CAST_WGRAD_GRADIENT}) {
    EXPECT_TRUE(ok(context, lpt_recipe_set_cast(context, recipe.get(), cast, LPT_FORMAT_E5M2_TENSOR, &options)));
  }
  return recipe;
}

TEST(Recipe, Fp8TrillionIsE4m3ForwardAndE5m2Backward) {
  const Context context = make_context();
  const Recipe recipe = make_recipe(context.get(), "fp8_trillion");
  const Emulation emulation(context.get(), recipe.get(), LPT_SCALER_CURRENT);
  EXPECT_EQ(LPT_FORMAT_E4M3FN_TENSOR, emulation.formats[LPT_CAST_FORWARD_INPUT]);
  EXPECT_EQ(LPT_FORMAT_E4M3FN_TENSOR, emulation.formats[LPT_CAST_FORWARD_WEIGHT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_CAST_DGRAD_GRADIENT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_CAST_DGRAD_WEIGHT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_CAST_WGRAD_GRADIENT]);
  EXPECT_EQ(LPT_FORMAT_E5M2_TENSOR, emulation.formats[LPT_CAST_WGRAD_INPUT]);
}

TEST(Recipe, ChangesDoNotReachLayersThatWereMadeBefore) {
  const Context context = make_context();
  Recipe recipe = make_recipe(context.get(), "f32");
  const Linear linear = make_linear(context.get(), recipe.get());
  ASSERT_TRUE(ok(context.get(),
                 lpt_recipe_set_cast(context.get(), recipe.get(), LPT_CAST_FORWARD_INPUT, LPT_FORMAT_E2M1FN, nullptr)));
  const Recipe untouched = make_recipe(context.get(), "f32");
  recipe.reset();
  const Batch batch(100);
  Emulation emulation(context.get(), untouched.get(), LPT_SCALER_CURRENT);
  emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
}

TEST(Linear, InF32EqualsPlainProducts) {
  const Context context = make_context(2);
  const Recipe recipe = make_recipe(context.get(), "f32");
  const Linear linear = make_linear(context.get(), recipe.get());
  Emulation emulation(context.get(), recipe.get(), LPT_SCALER_CURRENT);
  const Batch batch(110);
  emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
}

TEST(Linear, InBf16EqualsItsEmulation) {
  const Context context = make_context(2);
  const Recipe recipe = make_recipe(context.get(), "bf16");
  const Linear linear = make_linear(context.get(), recipe.get());
  Emulation emulation(context.get(), recipe.get(), LPT_SCALER_CURRENT);
  const Batch batch(120);
  emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
}

TEST(Linear, InFp8WithDelayedScalesEqualsItsEmulationOverSteps) {
  const Context context = make_context(2);
  const Recipe recipe = nearest_trillion(context.get());
  const Linear linear = make_linear(context.get(), recipe.get());
  lpt_linear *const linears[] = {linear.get()};
  Emulation emulation(context.get(), recipe.get(), LPT_SCALER_DELAYED);
  emulation.options.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO;
  for (const double deviation : {1.0, 9.0, 0.1, 0.1}) {  // growing clips, shrinking wastes
    const Batch batch(130 + static_cast<uint64_t>(deviation * 100), deviation);
    SCOPED_TRACE(deviation);
    emulation.expect(batch, run(context.get(), linear.get(), batch, LPT_LINEAR_OPTIONS_INIT));
    emulation.update();
    ASSERT_TRUE(ok(context.get(), lpt_linear_update(context.get(), linears, 1)));
    for (lpt_operand operand = 0; operand < 3; ++operand) {
      lpt_scaler_values layer = LPT_SCALER_VALUES_INIT;
      lpt_scaler_values own = LPT_SCALER_VALUES_INIT;
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
    for (lpt_cast cast = 0; cast < 6; ++cast) {
      // Without a scale a gradient of one hundredth would sink below e4m3: it keeps f32 there.
      const bool is_gradient = cast == LPT_CAST_DGRAD_GRADIENT || cast == LPT_CAST_WGRAD_GRADIENT;
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

// Blocks run along each product's inner size, so a composed recipe's dgrad and wgrad equal transposed casts.
TEST(Linear, WithBlocksCastsAlongEachInnerSize) {
  const Context context = make_context();
  Recipe recipe = make_recipe(context.get(), "f32");
  for (lpt_cast cast = 0; cast < 6; ++cast) {
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
  expect_product(
      multiply(cast(kRows, kOutput, batch.dy), transposed(w_by_output, kInput, kOutput), kRows, kInput, kOutput),
      given.dx, kOutput);
  expect_product(multiply(dy_by_rows, transposed(x_by_rows, kInput, kRows), kOutput, kInput, kRows), given.dw, kRows);
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

// ---- one batch under fp8_trillion, with all its handles

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

  // Gradients by one call; the ones that are not wanted stay as they were.
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

TEST(LinearBackward, AccumulatesOntoWhatIsThere) {
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

TEST(LinearBackward, OverwritesWhatIsThere) {
  Trillion layer;
  lpt_context *c = layer.context.get();
  const auto plain = layer.backward(false, true, false);
  const Tensor dw = tensor_of(c, LPT_FORMAT_F32, kOutput, kInput, std::vector<double>(kOutput * kInput, std::nan("")));
  ASSERT_TRUE(ok(c, lpt_linear_backward(c, layer.linear.get(), layer.saved.get(), layer.dy.get(), &layer.options,
                                        nullptr, dw.get(), nullptr)));
  EXPECT_EQ(bytes_of(c, plain.dw.get()), bytes_of(c, dw.get()));
}

TEST(LinearBackward, RoundsTheGradientStochasticallyAndAlikeInBothProducts) {
  // With a unit weight dx shows the codes of dy; with a unit input dw shows them too.
  const Context context = make_context();
  lpt_context *c = context.get();
  constexpr int64_t kSide = 32;
  std::vector<double> unit(kSide * kSide, 0.0);
  for (int64_t i = 0; i < kSide; ++i) unit[static_cast<size_t>(i * kSide + i)] = 1.0;
  const std::vector<double> gradient = draw_normal(180, kSide * kSide);
  const Recipe recipe = make_recipe(c, "fp8_trillion");
  const Linear linear = make_linear(c, recipe.get(), kSide, kSide);
  const Tensor eye = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, unit);
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
    // A step is at most a quarter; half of it bounds sigma of one draw. Five sigma, since these are a thousand means.
    EXPECT_NEAR(gradient[i], mean[i], 5.0 * 0.125 * std::abs(gradient[i]) / std::sqrt(kSteps) + 1e-6) << i;
  }
  EXPECT_GT(ups, 0);
}

TEST(LinearBackward, OfRanksThatKnowTheirFirstRowDrawsTheBitsOfTheWholeBatch) {
  const Context context = make_context();
  lpt_context *c = context.get();
  constexpr int64_t kSide = 32;
  std::vector<double> unit(kSide * kSide, 0.0);
  for (int64_t i = 0; i < kSide; ++i) unit[static_cast<size_t>(i * kSide + i)] = 1.0;
  const Recipe recipe = make_recipe(c, "fp8_trillion");
  const Linear linear = make_linear(c, recipe.get(), kSide, kSide);
  lpt_linear *const linears[] = {linear.get()};
  const Tensor eye = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, unit);
  const Tensor dy = tensor_of(c, LPT_FORMAT_F32, kSide, kSide, draw_normal(181, kSide * kSide));
  const Tensor dx = make_tensor(c, LPT_FORMAT_F32, kSide, kSide);
  ASSERT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), eye.get(), nullptr)));
  lpt_linear_options options = step_options(1, 2, 3);
  for (int i = 0; i < 2; ++i) {  // the second time with the scale of the history, which all ranks share
    ASSERT_TRUE(ok(c, lpt_linear_backward(c, linear.get(), nullptr, dy.get(), &options, dx.get(), nullptr, nullptr)));
    if (i == 0) {
      ASSERT_TRUE(ok(c, lpt_linear_update(c, linears, 1)));
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
  expect_product(multiply(batch.x, transposed(weight, kOutput, kInput), kRows, kOutput, kInput), numbers_of(c, y.get()),
                 kInput);
}

// ---- smoothing

struct Smoothed {
  std::vector<double> y, dw;
};

// One channel of the input is 2^17 times larger than the others; its weight is zero, so that it adds nothing to y.
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
  for (int64_t r = 0; r < kOutput; ++r) result.dw[static_cast<size_t>(r * kInput + 3)] *= 0x1p-17;  // as the others
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
  const Smoothed plain = run_with_outlier(context.get(), "fp8_trillion", false);
  const Smoothed smoothed = run_with_outlier(context.get(), "fp8_trillion", true);
  EXPECT_GT(relative_error(plain.y, exact.y), 0.2);
  EXPECT_LT(relative_error(smoothed.y, exact.y), 0.06);
  EXPECT_LT(relative_error(smoothed.dw, exact.dw), 0.2);
}

// ---- state

TEST(LinearState, GoesOnAfterALoadAsIfNeverSaved) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Recipe recipe = make_recipe(c, "fp8_trillion");
  const Linear linear = make_linear(c, recipe.get());
  const Linear loaded = make_linear(c, recipe.get());
  lpt_linear *const linears[] = {linear.get(), loaded.get()};
  run(c, linear.get(), Batch(210, 30.0), step_options(1, 2, 0));
  ASSERT_TRUE(ok(c, lpt_linear_update(c, linears, 1)));
  size_t bytes = 0;
  ASSERT_TRUE(ok(c, lpt_linear_state_size(c, linear.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(c, lpt_linear_state_save(c, linear.get(), state.data(), state.size())));
  ASSERT_TRUE(ok(c, lpt_linear_state_load(c, loaded.get(), state.data(), state.size())));
  const Linear fresh = make_linear(c, recipe.get());
  for (uint32_t step = 1; step < 4; ++step) {
    const Batch batch(220 + step);
    const Results expected = run(c, linear.get(), batch, step_options(1, 2, step));
    const Results given = run(c, loaded.get(), batch, step_options(1, 2, step));
    EXPECT_EQ(expected.y, given.y);
    EXPECT_EQ(expected.dx, given.dx);
    EXPECT_EQ(expected.dw, given.dw);
    if (step == 1) {
      EXPECT_NE(expected.y, run(c, fresh.get(), batch, step_options(1, 2, step)).y) << "history counts";
    }
    ASSERT_TRUE(ok(c, lpt_linear_update(c, linears, 2)));
  }
}

TEST(LinearCastSize, CountsBothCastsOfTheWeight) {
  const Context context = make_context();
  const Recipe recipe = make_recipe(context.get(), "fp8_trillion");
  const Linear linear = make_linear(context.get(), recipe.get(), 256, 512);
  size_t bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_linear_cast_size(context.get(), linear.get(), &bytes)));
  EXPECT_GE(bytes, 2u * 256 * 512);
  EXPECT_LE(bytes, 2u * 256 * 512 + 512);
}

}  // namespace
}  // namespace lpt::test
