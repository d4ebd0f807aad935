// Names of parameters, their random streams, and the defaults of a method.
#include <algorithm>
#include <ctime>

#include "tests/api/optimizer.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kElements = 300;

Optimizer optimizer_with(lpt_context *c, const lpt_optimizer_options &options) {
  Optimizer optimizer;
  EXPECT_TRUE(ok(c, lpt_optimizer_create(c, &options, out(optimizer))));
  return optimizer;
}

lpt_status add(lpt_context *c, const Optimizer &optimizer, const char *name, int64_t random_stream = -1,
               int64_t *out_index = nullptr) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = kElements;
  parameter.random_stream = random_stream;
  parameter.first_moment = LPT_FORMAT_E4M3FN_1X128;
  int64_t index = -1;
  return lpt_optimizer_add(c, optimizer.get(), name, &parameter, out_index == nullptr ? &index : out_index);
}

std::vector<uint8_t> state_of(lpt_context *c, const Optimizer &optimizer, int64_t index) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(c, lpt_optimizer_state_size(c, optimizer.get(), index, &bytes)));
  std::vector<uint8_t> state(bytes);
  EXPECT_TRUE(ok(c, lpt_optimizer_state_save(c, optimizer.get(), index, state.data(), bytes)));
  return state;
}

// Returns the parameter after two steps with stochastic rounding.
std::vector<float> stepped(lpt_context *c, const Optimizer &optimizer, int64_t index) {
  const Tensor value = tensor_of(c, LPT_FORMAT_F32, 1, kElements, draw_normal(7, kElements));
  for (uint32_t t = 0; t < 2; ++t) {
    const Tensor gradient = tensor_of(c, LPT_FORMAT_F32, 1, kElements, draw_normal(8 + t, kElements));
    const lpt_tensor *const gradients[] = {gradient.get()};
    lpt_tensor *const values[] = {value.get()};
    const lpt_optimizer_step_options options = stochastic_at(0.01, t);
    EXPECT_TRUE(ok(c, lpt_optimizer_step(c, optimizer.get(), &index, 1, gradients, &options, values)));
  }
  const auto *data = static_cast<const float *>(lpt_tensor_const_data(value.get()));
  return {data, data + kElements};
}

TEST(OptimizerDefaults, AreThoseOfTheMethod) {
  const struct {
    lpt_optimizer_method method;
    double beta1, beta2;
  } kinds[] = {{LPT_OPTIMIZER_METHOD_ADAMW, 0.9, 0.999},
               {LPT_OPTIMIZER_METHOD_ADAM, 0.9, 0.999},
               {LPT_OPTIMIZER_METHOD_SGD, 0.0, 0.5},
               {LPT_OPTIMIZER_METHOD_LION, 0.9, 0.99}};
  const Context context = make_context();
  lpt_context *c = context.get();
  for (const auto &kind : kinds) {
    lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
    options.method = kind.method;
    const Optimizer defaults = optimizer_with(c, options);
    options.beta1 = kind.beta1;
    options.beta2 = kind.beta2;
    const Optimizer expected = optimizer_with(c, options);
    EXPECT_TRUE(ok(c, add(c, defaults, nullptr)));
    EXPECT_TRUE(ok(c, add(c, expected, nullptr)));
    EXPECT_EQ(stepped(c, expected, 0), stepped(c, defaults, 0)) << kind.method;
  }
}

TEST(OptimizerNames, AreFoundAndUnique) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = optimizer_with(c, options_of(LPT_OPTIMIZER_METHOD_ADAMW));
  int64_t index = -1;
  EXPECT_TRUE(ok(c, add(c, optimizer, "layers.0.weight")));
  EXPECT_TRUE(ok(c, add(c, optimizer, nullptr)));
  EXPECT_TRUE(ok(c, add(c, optimizer, nullptr)));
  EXPECT_TRUE(ok(c, add(c, optimizer, "layers.0.bias")));
  EXPECT_TRUE(ok(c, lpt_optimizer_find(c, optimizer.get(), "layers.0.bias", &index)));
  EXPECT_EQ(3, index);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, add(c, optimizer, "layers.0.weight", -1, &index));
  expect_words({"name is \"layers.0.weight\"", "parameter 0 has it"}, lpt_context_error(c));
  EXPECT_EQ(3, index);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_optimizer_find(c, optimizer.get(), "bias", &index));
  expect_words({"name is \"bias\"", "one of 2 parameters"}, lpt_context_error(c));
  EXPECT_TRUE(ok(c, add(c, optimizer, "bias", -1, &index)));
  EXPECT_EQ(4, index) << "the rejected parameter was added";
}

// Returns the minimum CPU time in seconds of several runs that add `count` named parameters.
double seconds_to_add(lpt_context *c, int count) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const Optimizer optimizer = optimizer_with(c, options_of(LPT_OPTIMIZER_METHOD_ADAMW));
    const std::clock_t start = std::clock();
    for (int i = 0; i < count; ++i) EXPECT_EQ(LPT_OK, add(c, optimizer, ("layers." + std::to_string(i)).c_str()));
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

TEST(OptimizerNames, AreAddedInLinearTime) {
  const Context context = make_context();
  // Linear time gives a ratio of 8, quadratic time one of 64.
  EXPECT_LT(seconds_to_add(context.get(), 8000), 24 * seconds_to_add(context.get(), 1000));
}

TEST(OptimizerNames, AreSavedAndCompared) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer optimizer = optimizer_with(c, options_of(LPT_OPTIMIZER_METHOD_ADAMW));
  for (const char *const name : {"weight", "window", static_cast<const char *>(nullptr)}) {
    EXPECT_TRUE(ok(c, add(c, optimizer, name)));
  }
  stepped(c, optimizer, 0);
  const std::vector<uint8_t> saved = state_of(c, optimizer, 0), other = state_of(c, optimizer, 1);
  const auto load = [&](int64_t index) {
    return lpt_optimizer_state_load(c, optimizer.get(), index, saved.data(), saved.size());
  };
  EXPECT_TRUE(ok(c, load(0)));
  EXPECT_EQ(LPT_INVALID_STATE, load(1));
  expect_words({"the name is \"weight\"", "expected \"window\""}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_STATE, load(2));
  EXPECT_EQ(saved, state_of(c, optimizer, 0));
  EXPECT_EQ(other, state_of(c, optimizer, 1));
}

TEST(OptimizerStreams, DoNotDependOnTheOrderOfParameters) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Optimizer one = optimizer_with(c, options_of(LPT_OPTIMIZER_METHOD_ADAMW));
  const Optimizer other = optimizer_with(c, options_of(LPT_OPTIMIZER_METHOD_ADAMW));
  EXPECT_TRUE(ok(c, add(c, one, nullptr, 5)));
  EXPECT_TRUE(ok(c, add(c, one, nullptr)));
  EXPECT_TRUE(ok(c, add(c, other, nullptr, 1)));
  EXPECT_TRUE(ok(c, add(c, other, nullptr, 5)));
  const std::vector<float> fifth = stepped(c, one, 0), first = stepped(c, one, 1);
  EXPECT_NE(fifth, first);
  EXPECT_EQ(fifth, stepped(c, other, 1));
  EXPECT_EQ(first, stepped(c, other, 0)) << "the index is the default stream";
}

}  // namespace
}  // namespace lpt::test
