// Common parts of the tests of linear layers: a small layer, its inputs of one step, and all of its outputs.
#pragma once

#include "tests/api/support.hpp"

namespace lpt::test {

constexpr int64_t kRows = 33;
constexpr int64_t kInput = 50;
constexpr int64_t kOutput = 41;

inline Recipe make_recipe(lpt_context *context, const char *name) {
  Recipe recipe;
  EXPECT_TRUE(ok(context, lpt_recipe_create(context, name, out(recipe))));
  return recipe;
}

inline Linear make_linear(lpt_context *context, const lpt_recipe *recipe, int64_t input = kInput,
                          int64_t output = kOutput) {
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = input;
  shape.output_columns = output;
  Linear linear;
  EXPECT_TRUE(ok(context, lpt_linear_create(context, recipe, &shape, out(linear))));
  return linear;
}

inline Tensor make_saved(lpt_context *context, const lpt_linear *linear, int64_t rows) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(context, lpt_linear_saved_size(context, linear, rows, &bytes)));
  return make_tensor(context, LPT_FORMAT_UINT8, {static_cast<int64_t>(bytes)});
}

inline lpt_linear_options step_options(uint64_t random_seed, uint32_t stream, uint32_t step) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.random.seed = random_seed;
  options.random.stream = stream;
  options.random.step = step;
  return options;
}

// Inputs of a layer in one step.
struct Batch {
  std::vector<double> x, w, dy, bias;
  explicit Batch(uint64_t place, double deviation = 1.0)
      : x(draw_normal(place, kRows * kInput, deviation)),
        w(draw_normal(place + 1, kOutput * kInput, 0.1)),
        dy(draw_normal(place + 2, kRows * kOutput, 0.01 * deviation)),
        bias(draw_normal(place + 3, kOutput)) {}
};

// All outputs of a layer.
struct Results {
  std::vector<double> y, dx, dw, db;
};

inline Results run(lpt_context *context, lpt_linear *linear, const Batch &batch, lpt_linear_options options,
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

}  // namespace lpt::test
