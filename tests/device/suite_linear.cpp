// Linear layers on a GPU against the CPU; other tests check the CPU. Saved tensors have the same bits. GEMMs are within both
// bounds, or equal if all steps are exact.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lpt/research.h"
#include "tests/api/linear.hpp"
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

struct LayerShape {
  int64_t rows, input, output;
};
constexpr LayerShape kShapes[] = {{32, 48, 64}, {33, 50, 41}};

// Inputs of a layer in one step: the same values on CPU and GPU.
struct Given {
  Tensor x, w, dy, bias;
};

// Outputs of a layer in one step.
struct Taken {
  Tensor y, saved, dx, dw, db;
};

class DeviceLinear : public Devices {
 protected:
  // Draws 7 · 2^-j or zero, which FP8 represents exactly with any power-of-two scale, and scales from the amax are powers of
  // two. All sums are exact in f32.
  std::vector<double> exact(uint64_t place, int64_t count, double largest) {
    std::vector<double> numbers = draw_normal(place, count);
    for (double &number : numbers) {
      const double size = std::fabs(number);
      const double level = size < 0.4 ? 0.0 : size < 0.9 ? 0.25 : size < 1.5 ? 0.5 : 1.0;
      number = std::copysign(level * 7 * largest, number);
    }
    numbers[0] = 7 * largest;
    return numbers;
  }

  Given exact_batch(const LayerShape &shape, uint64_t place, lpt_format format, double largest = 1.0) {
    return {tensor_of(cpu(), format, shape.rows, shape.input, exact(place, shape.rows * shape.input, largest)),
            tensor_of(cpu(), format, shape.output, shape.input, exact(place + 1, shape.output * shape.input, 0.5)),
            tensor_of(cpu(), format, shape.rows, shape.output, exact(place + 2, shape.rows * shape.output, largest)),
            vector_of(cpu(), LPT_FORMAT_F32, exact(place + 3, shape.output, 1.0))};
  }

  Given batch(const LayerShape &shape, uint64_t place, lpt_format format) {
    return {tensor_of(cpu(), format, shape.rows, shape.input, draw_normal(place, shape.rows * shape.input)),
            tensor_of(cpu(), format, shape.output, shape.input, draw_normal(place + 1, shape.output * shape.input)),
            tensor_of(cpu(), format, shape.rows, shape.output, draw_normal(place + 2, shape.rows * shape.output)),
            vector_of(cpu(), LPT_FORMAT_F32, draw_normal(place + 3, shape.output))};
  }

  Given given_on_device(const Given &here) {
    return {there(here.x.get()), there(here.w.get()), there(here.dy.get()), there(here.bias.get())};
  }

  // Runs a step of a layer on the device of the context. The weight gradient is added to sevens.
  Taken step(lpt_context *context, lpt_linear *linear, const LayerShape &shape, const Given &given, uint32_t index,
             lpt_format format) {
    Taken taken;
    const std::vector<double> sevens(static_cast<size_t>(shape.output * shape.input), 7.0);
    const Tensor before = tensor_of(cpu(), LPT_FORMAT_F32, shape.output, shape.input, sevens);
    lpt_linear_options options = step_options(11, 3, index);
    EXPECT_TRUE(ok(context, lpt_linear_prepare(context, linear, given.w.get(), &options)));
    taken.y = make_tensor(context, format, shape.rows, shape.output);
    taken.dx = make_tensor(context, format, shape.rows, shape.input);
    taken.dw = make_tensor(context, LPT_FORMAT_F32, shape.output, shape.input);
    taken.db = make_tensor(context, LPT_FORMAT_F32, {shape.output});
    taken.saved = make_saved(context, linear, shape.rows);
    EXPECT_TRUE(ok(context, lpt_tensor_copy(context, before.get(), taken.dw.get())));
    options.bias = given.bias.get();
    EXPECT_TRUE(
        ok(context, lpt_linear_forward(context, linear, given.x.get(), &options, taken.saved.get(), taken.y.get())));
    options.bias = nullptr;
    options.is_accumulated = 1;
    EXPECT_TRUE(ok(context, lpt_linear_backward(context, linear, taken.saved.get(), given.dy.get(), &options,
                                                taken.dx.get(), taken.dw.get(), taken.db.get())));
    return taken;
  }

  void expect_equal(const lpt_tensor *here, const lpt_tensor *there, const char *what) {
    EXPECT_EQ(bytes_of(cpu(), here), bytes_on_device(there)) << what;
  }

  // Two layers of one recipe, on CPU and GPU.
  struct Layers {
    Linear here, there;
  };
  Layers make_layers(const lpt_recipe *recipe, const LayerShape &shape) {
    return {make_linear(cpu(), recipe, shape.input, shape.output),
            make_linear(gpu(), recipe, shape.input, shape.output)};
  }

  // Checks equal bytes, except if FP8 is saved transposed: then only the size, because the weight gradient checks the contents.
  void expect_saved(const Taken &oracle, const Taken &found, const std::string &name) {
    for (const char *const transposed_copy : {"fp8_current", "halo_0", "coat", "unit_scaling"}) {
      if (name != transposed_copy) continue;
      EXPECT_EQ(bytes_of(cpu(), oracle.saved.get()).size(), bytes_on_device(found.saved.get()).size());
      return;
    }
    expect_equal(oracle.saved.get(), found.saved.get(), "saved");
  }

  void expect_same_step(const char *name, const Layers &layers, const LayerShape &shape, const Given &given,
                        uint32_t index, lpt_format format) {
    const Taken oracle = step(cpu(), layers.here.get(), shape, given, index, format);
    const Taken found = step(gpu(), layers.there.get(), shape, given_on_device(given), index, format);
    expect_saved(oracle, found, name);
    expect_equal(oracle.y.get(), found.y.get(), "output");
    expect_equal(oracle.dx.get(), found.dx.get(), "input_gradient");
    expect_equal(oracle.dw.get(), found.dw.get(), "weight_gradient");
    expect_equal(oracle.db.get(), found.db.get(), "bias_gradient");
  }

  void expect_near_step(const char *name, const Layers &layers, const LayerShape &shape, const Given &given,
                        lpt_format format) {
    const Taken oracle = step(cpu(), layers.here.get(), shape, given, 1, format);
    const Taken found = step(gpu(), layers.there.get(), shape, given_on_device(given), 1, format);
    expect_saved(oracle, found, name);
    const double x = amax(given.x.get()), w = amax(given.w.get()), dy = amax(given.dy.get());
    expect_near(oracle.y.get(), found.y.get(), shape.input, x * w, "output");
    expect_near(oracle.dx.get(), found.dx.get(), shape.output, dy * w, "input_gradient");
    expect_near(oracle.dw.get(), found.dw.get(), shape.rows, dy * x, "weight_gradient");
    expect_near(oracle.db.get(), found.db.get(), shape.rows, dy, "bias_gradient");
  }

  // Checks |difference| <= 2 · 1.6 · largest · k · (k + 8) · 2^-24: sums of k products on both sides.
  void expect_near(const lpt_tensor *oracle, const lpt_tensor *found, int64_t k, double largest, const char *what) {
    const auto terms = static_cast<double>(k);
    const double bound = 2 * 1.6 * largest * terms * (terms + 8) * 0x1p-24;
    const std::vector<double> expected = numbers_of(cpu(), oracle), given = numbers_of(cpu(), here(found).get());
    ASSERT_EQ(expected.size(), given.size());
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], given[i], bound) << what << " at " << i;
  }

  // Returns a recipe by name, or a modified one.
  Recipe recipe_of(const std::string &name) {
    const bool is_drawn = name == "four_draws", is_signed = name == "random_signs";
    const bool is_changed = is_drawn || is_signed || name == "two_parts";
    Recipe recipe = make_recipe(cpu(), !is_changed ? name.c_str() : is_signed ? "fp4_all_the_way" : "fp8_trillion");
    lpt_linear_gemm_options options = LPT_LINEAR_GEMM_OPTIONS_INIT;
    if (is_drawn) options.draws = 4;
    if (name == "two_parts") options.parts = 2;
    if (is_signed) options.hadamard_size = 32;
    if (is_signed) options.hadamard_signs = LPT_HADAMARD_SIGNS_RANDOM;
    for (const lpt_linear_gemm gemm : {LPT_LINEAR_GEMM_FORWARD, LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
      if (!is_changed || (gemm == LPT_LINEAR_GEMM_FORWARD && !is_signed)) continue;
      EXPECT_TRUE(ok(cpu(), lpt_recipe_set_gemm(cpu(), recipe.get(), gemm, &options)));
    }
    return recipe;
  }

  std::vector<uint8_t> state_of(lpt_context *context, const lpt_linear *linear) {
    size_t bytes = 0;
    EXPECT_TRUE(ok(context, lpt_linear_state_size(context, linear, &bytes)));
    std::vector<uint8_t> state(bytes);
    EXPECT_TRUE(ok(context, lpt_linear_state_save(context, linear, state.data(), bytes)));
    return state;
  }

  double amax(const lpt_tensor *tensor) {
    double largest = 0;
    for (const double number : numbers_of(cpu(), tensor)) largest = std::max(largest, std::fabs(number));
    return largest;
  }
};

// All elements of these casts are exact, including stochastic ones.
TEST_F(DeviceLinear, IsThatOfTheCpuWhereSumsAreExact) {
  for (const char *name : {"f32", "bf16", "fp8_trillion", "fp8_current", "mxfp8", "fp8_block", "halo_0", "coat"}) {
    for (const LayerShape &shape : kShapes) {
      for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(shape.rows) + " rows of " + name_of(format));
        const Recipe recipe = make_recipe(cpu(), name);
        const Layers layers = make_layers(recipe.get(), shape);
        expect_same_step(name, layers, shape, exact_batch(shape, 100, format), 0, format);
      }
    }
  }
}

// If values grow, the amax of the preceding step clips.
TEST_F(DeviceLinear, TakesScalesOfTheStepBefore) {
  const Recipe recipe = make_recipe(cpu(), "fp8_trillion");
  const Layers layers = make_layers(recipe.get(), kShapes[0]);
  lpt_linear *const here[] = {layers.here.get()}, *const there[] = {layers.there.get()};
  uint32_t index = 0;
  for (const double largest : {1.0, 4.0, 0.25, 0.25}) {
    SCOPED_TRACE(index);
    expect_same_step("fp8_trillion", layers, kShapes[0], exact_batch(kShapes[0], 200 + index, LPT_FORMAT_F32, largest),
                     index, LPT_FORMAT_F32);
    ASSERT_TRUE(ok(cpu(), lpt_linear_update_scalers(cpu(), here, 1)));
    ASSERT_TRUE(ok(gpu(), lpt_linear_update_scalers(gpu(), there, 1)));
    EXPECT_EQ(state_of(cpu(), layers.here.get()), state_of(gpu(), layers.there.get()));
    ++index;
  }
}

TEST_F(DeviceLinear, GoesOnFromASavedState) {
  const Recipe recipe = make_recipe(cpu(), "fp8_trillion");
  const Layers layers = make_layers(recipe.get(), kShapes[1]);
  lpt_linear *const here[] = {layers.here.get()};
  step(cpu(), layers.here.get(), kShapes[1], exact_batch(kShapes[1], 300, LPT_FORMAT_F32, 16.0), 0, LPT_FORMAT_F32);
  ASSERT_TRUE(ok(cpu(), lpt_linear_update_scalers(cpu(), here, 1)));
  const std::vector<uint8_t> state = state_of(cpu(), layers.here.get());
  ASSERT_TRUE(ok(gpu(), lpt_linear_state_load(gpu(), layers.there.get(), state.data(), state.size())));
  expect_same_step("fp8_trillion", layers, kShapes[1], exact_batch(kShapes[1], 301, LPT_FORMAT_F32), 1, LPT_FORMAT_F32);
  lpt_scaler_info values = LPT_SCALER_INFO_INIT;
  ASSERT_TRUE(ok(gpu(), lpt_linear_scaler_read(gpu(), layers.there.get(), LPT_LINEAR_OPERAND_INPUT, &values)));
  EXPECT_EQ(7 * 16.0f, values.amax);
}

// Returns what record(monitor) records, as CSV.
template <typename Record>
std::string csv_of(lpt_context *context, const Record &record) {
  const std::string path = (std::filesystem::temp_directory_path() / "lpt_device_monitor_test.csv").string();
  lpt_monitor *monitor = nullptr;
  EXPECT_TRUE(ok(context, lpt_monitor_create(context, &monitor)));
  EXPECT_TRUE(ok(context, record(monitor)));
  EXPECT_TRUE(ok(context, lpt_monitor_save(context, monitor, path.c_str())));
  lpt_monitor_destroy(monitor);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

std::string record_of(lpt_context *context, const lpt_linear *linear) {
  return csv_of(context,
                [&](lpt_monitor *monitor) { return lpt_monitor_record_linear(context, monitor, 1, "up", linear); });
}

TEST_F(DeviceLinear, StatisticsAreRecordedAsThoseOfTheCpu) {
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 33, 128, draw_normal(221, 33 * 128));
  std::string records[2];
  for (lpt_context *const context : {cpu(), gpu()}) {
    const Tensor copy = context == cpu() ? Tensor() : there(source.get());
    const Tensor target = make_tensor(context, LPT_FORMAT_E4M3FN, 33, 128);
    lpt_statistics *statistics = nullptr;
    ASSERT_TRUE(ok(context, lpt_statistics_create(context, &statistics)));
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.statistics = statistics;
    EXPECT_TRUE(ok(
        context, lpt_quantize(context, context == cpu() ? source.get() : copy.get(), &options, target.get(), nullptr)));
    records[context == gpu()] = csv_of(context, [&](lpt_monitor *monitor) {
      return lpt_monitor_record_statistics(context, monitor, 1, "x", statistics);
    });
    if (context == gpu()) {
      EXPECT_EQ("", csv_of(cpu(), [&](lpt_monitor *monitor) {
                      EXPECT_EQ(LPT_INVALID_ARGUMENT,
                                lpt_monitor_record_statistics(cpu(), monitor, 1, "x", statistics));
                      return LPT_OK;
                    }).substr(std::string("step,name,value\n").size()));
    }
    lpt_statistics_destroy(statistics);
  }
  EXPECT_EQ(records[0], records[1]);
}

TEST_F(DeviceLinear, IsRecordedAsThatOfTheCpu) {
  const Recipe recipe = make_recipe(cpu(), "fp8_trillion");
  const Layers layers = make_layers(recipe.get(), kShapes[0]);
  lpt_linear *const here[] = {layers.here.get()}, *const there[] = {layers.there.get()};
  expect_same_step("fp8_trillion", layers, kShapes[0], exact_batch(kShapes[0], 220, LPT_FORMAT_F32, 4.0), 0,
                   LPT_FORMAT_F32);
  ASSERT_TRUE(ok(cpu(), lpt_linear_update_scalers(cpu(), here, 1)));
  ASSERT_TRUE(ok(gpu(), lpt_linear_update_scalers(gpu(), there, 1)));
  const std::string record = record_of(cpu(), layers.here.get());
  EXPECT_NE(std::string::npos, record.find("up/input/amax,28"));
  EXPECT_EQ(record, record_of(gpu(), layers.there.get()));
  lpt_monitor *monitor = nullptr;
  ASSERT_TRUE(ok(cpu(), lpt_monitor_create(cpu(), &monitor)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_monitor_record_linear(cpu(), monitor, 1, "up", layers.there.get()));
  lpt_monitor_destroy(monitor);
}

// Bound of a GEMM of k terms: k roundings of sums of at most k · amax · amax, plus a few of factors, on both sides. A
// dequantized value may exceed the amax of its cast by a quarter.
TEST_F(DeviceLinear, IsNearThatOfTheCpu) {
  for (const char *name : {"bf16", "fp8_trillion", "fp8_current", "mxfp8", "fp8_block", "fp4_all_the_way", "quartet_v1",
                           "halo_0", "coat", "unit_scaling", "random_signs", "two_parts", "four_draws"}) {
    for (const LayerShape &shape : kShapes) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(shape.rows) + " rows");
      const Recipe recipe = recipe_of(name);
      const Layers layers = make_layers(recipe.get(), shape);
      expect_near_step(name, layers, shape, batch(shape, 400, LPT_FORMAT_F32), LPT_FORMAT_F32);
    }
  }
}

TEST_F(DeviceLinear, RejectsSparsity) {
  const Given given = given_on_device(batch(kShapes[0], 500, LPT_FORMAT_F32));
  for (const char *name : {"sparse24", "sparse24_transposable", "mvue24_gradients"}) {
    const Linear linear = make_linear(gpu(), make_recipe(gpu(), name).get(), 48, 64);
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_linear_prepare(gpu(), linear.get(), given.w.get(), nullptr)) << name;
    expect_words({"the recipe has sparsity: layers on cuda:0 have none"}, lpt_context_error(gpu()), name);
  }
}

// The device does not support the cast of the gradient: the bytes of the output are unchanged.
TEST_F(DeviceLinear, WritesNothingWhereALaterCastIsRejected) {
  Recipe recipe = make_recipe(gpu(), "fp8_current");
  lpt_quantize_options searched = LPT_QUANTIZE_OPTIONS_INIT;
  searched.scale_rule = LPT_SCALE_RULE_MSE;
  ASSERT_TRUE(ok(gpu(), lpt_recipe_set_cast(gpu(), recipe.get(), LPT_LINEAR_CAST_WGRAD_GRADIENT, LPT_FORMAT_E5M2_TENSOR,
                                            &searched)));
  const Linear linear = make_linear(gpu(), recipe.get(), 48, 64);
  const Given given = given_on_device(batch(kShapes[0], 510, LPT_FORMAT_F32));
  const Tensor saved = make_saved(gpu(), linear.get(), 32), y = make_tensor(gpu(), LPT_FORMAT_F32, 32, 64);
  const Tensor dx = make_tensor(gpu(), LPT_FORMAT_F32, 32, 48), dw = make_tensor(gpu(), LPT_FORMAT_F32, 64, 48);
  ASSERT_TRUE(ok(gpu(), lpt_linear_prepare(gpu(), linear.get(), given.w.get(), nullptr)));
  ASSERT_TRUE(ok(gpu(), lpt_linear_forward(gpu(), linear.get(), given.x.get(), nullptr, saved.get(), y.get())));
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_linear_backward(gpu(), linear.get(), saved.get(), given.dy.get(), nullptr, dx.get(),
                                                 dw.get(), nullptr));
  expect_words({"LPT_SCALE_RULE_MSE", "transposed"}, lpt_context_error(gpu()));
  EXPECT_EQ(std::vector<uint8_t>(32 * 48 * 4, 0), bytes_on_device(dx.get()));
}

TEST_F(DeviceLinear, WorksWithContextsAndTensorsOfItsDeviceAlone) {
  const Recipe recipe = make_recipe(cpu(), "f32");
  const Layers layers = make_layers(recipe.get(), kShapes[0]);
  const Given given = batch(kShapes[0], 520, LPT_FORMAT_F32);
  const Tensor w = there(given.w.get());
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_prepare(gpu(), layers.here.get(), w.get(), nullptr));
  expect_words({"linear works on cpu", "cuda:0"}, lpt_context_error(gpu()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_prepare(cpu(), layers.there.get(), given.w.get(), nullptr));
  expect_words({"linear works on cuda:0", "cpu"}, lpt_context_error(cpu()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_prepare(gpu(), layers.there.get(), given.w.get(), nullptr));
  expect_words({"weight is 64 x 48 f32 on cpu", "expected cuda:0"}, lpt_context_error(gpu()));
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_linear_watch(gpu(), layers.there.get(), 1));
  expect_words({"linear works on cuda:0", "counted"}, lpt_context_error(gpu()));
  lpt_linear *const mixed[] = {layers.there.get(), layers.here.get()};
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_update_scalers(gpu(), mixed, 2));
}

TEST_F(DeviceLinear, TellsTheRowsOfACheckAndQueuesNothing) {
  const Linear linear = make_linear(gpu(), make_recipe(gpu(), "fp8_current").get(), 48, 64);
  const Given given = given_on_device(batch(kShapes[0], 530, LPT_FORMAT_F32));
  const Tensor y = make_tensor(gpu(), LPT_FORMAT_F32, 32, 64);
  ASSERT_TRUE(ok(gpu(), lpt_linear_prepare(gpu(), linear.get(), given.w.get(), nullptr)));
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  ASSERT_TRUE(ok(gpu(), lpt_linear_forward(gpu(), linear.get(), given.x.get(), &options, nullptr, y.get())));
  expect_words({"quantize: quantize_fragments_cuda", "gemm: cublaslt_fp8"}, lpt_context_explanation(gpu()));
  EXPECT_EQ(std::vector<uint8_t>(32 * 64 * 4, 0), bytes_on_device(y.get()));
}

// All three GEMMs of an 8-bit element use FP8 tensor cores: no operand is converted to more bits.
TEST_F(DeviceLinear, MultipliesBytesAlongTheirRows) {
  for (const char *name : {"fp8_current", "halo_0", "coat", "unit_scaling"}) {
    const Linear linear = make_linear(gpu(), make_recipe(gpu(), name).get(), 48, 64);
    const Given given = given_on_device(batch(kShapes[0], 540, LPT_FORMAT_BF16));
    const Tensor saved = make_saved(gpu(), linear.get(), 32), y = make_tensor(gpu(), LPT_FORMAT_BF16, 32, 64);
    const Tensor dx = make_tensor(gpu(), LPT_FORMAT_BF16, 32, 48), dw = make_tensor(gpu(), LPT_FORMAT_F32, 64, 48);
    ASSERT_TRUE(ok(gpu(), lpt_linear_prepare(gpu(), linear.get(), given.w.get(), nullptr)));
    ASSERT_TRUE(ok(gpu(), lpt_linear_forward(gpu(), linear.get(), given.x.get(), nullptr, saved.get(), y.get())));
    ASSERT_TRUE(ok(gpu(), lpt_linear_backward(gpu(), linear.get(), saved.get(), given.dy.get(), nullptr, dx.get(),
                                              dw.get(), nullptr)));
    const std::string reported = lpt_context_explanation(gpu());
    size_t count = 0;
    for (size_t at = reported.find("gemm: "); at != std::string::npos; at = reported.find("gemm: ", at + 1)) {
      EXPECT_EQ(at, reported.find("gemm: cublaslt_fp8", at)) << name;
      ++count;
    }
    EXPECT_EQ(2u, count) << name;
  }
}

// Training.

// Two layers with SwiGLU between them, their optimizer, and the buffers of a step, on the device of the context.
class Mlp {
 public:
  static constexpr int64_t kBatch = 16, kInputs = 16, kHidden = 32;  // columns of the output: kInputs

  Mlp(lpt_context *context, lpt_context *cpu, const lpt_recipe *recipe) : context_(context), cpu_(cpu) {
    EXPECT_TRUE(ok(context, lpt_optimizer_create(context, nullptr, out(optimizer_))));
    const int64_t outputs[] = {2 * kHidden, kInputs}, inputs[] = {kInputs, kHidden};
    for (const int i : {0, 1}) {
      layers_[i] = make_linear(context, recipe, inputs[i], outputs[i]);
      weights_[i] = there({outputs[i], inputs[i]}, draw_normal(600 + i, outputs[i] * inputs[i], 0.2));
      gradients_[i] = make_tensor(context, LPT_FORMAT_F32, outputs[i], inputs[i]);
      lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
      int64_t index = 0;
      parameter.elements = outputs[i] * inputs[i];
      EXPECT_TRUE(ok(context, lpt_optimizer_add(context, optimizer_.get(), nullptr, &parameter, &index)));
    }
  }

  // Runs one step on a batch. Returns its loss, the cross entropy of the columns.
  double step(uint32_t index) {
    const Tensor x = there({kBatch, kInputs}, draw_normal(700 + index % 4, kBatch * kInputs));
    std::vector<int64_t> classes(kBatch);
    for (int64_t i = 0; i < kBatch; ++i) classes[static_cast<size_t>(i)] = (i + index % 4) % kInputs;
    const Tensor targets = indices_of(cpu_, classes);
    const Tensor gate_up = activations(2 * kHidden), s = activations(kHidden), y = activations(kInputs);
    const Tensor dy = activations(kInputs), ds = activations(kHidden), d_gate_up = activations(2 * kHidden);
    const Tensor loss = make_tensor(context_, LPT_FORMAT_F64, {1}),
                 logs = make_tensor(context_, LPT_FORMAT_F64, {kBatch});
    const lpt_linear_options options = step_options(5, 0, index);
    Tensor saved[2];
    forward(0, x, options, saved[0], gate_up);
    const Tensor gate = half(gate_up, 0), up = half(gate_up, kHidden);
    must(lpt_swiglu_forward(context_, gate.get(), up.get(), nullptr, s.get(), nullptr));
    forward(1, s, options, saved[1], y);
    must(lpt_cross_entropy_forward(context_, y.get(), targets.get(), nullptr, loss.get(), logs.get()));
    must(lpt_cross_entropy_backward(context_, y.get(), targets.get(), logs.get(), nullptr, nullptr, dy.get()));
    backward(1, saved[1], dy, options, ds.get());
    const Tensor d_gate = half(d_gate_up, 0), d_up = half(d_gate_up, kHidden);
    must(lpt_swiglu_backward(context_, gate.get(), up.get(), ds.get(), nullptr, d_gate.get(), d_up.get()));
    backward(0, saved[0], d_gate_up, options, nullptr);
    update();
    return number_of(loss);
  }

 private:
  void must(lpt_status status) { ASSERT_TRUE(ok(context_, status)); }

  Tensor there(const std::vector<int64_t> &extents, const std::vector<double> &numbers) {
    const Tensor here = tensor_of(cpu_, LPT_FORMAT_F32, extents[0], extents[1], numbers);
    Tensor copy = make_tensor(context_, LPT_FORMAT_F32, extents);
    must(lpt_tensor_copy(context_, here.get(), copy.get()));
    return copy;
  }

  Tensor activations(int64_t columns) { return make_tensor(context_, LPT_FORMAT_BF16, kBatch, columns); }

  Tensor half(const Tensor &whole, int64_t begin) {
    const int64_t begins[] = {0, begin}, extents[] = {kBatch, kHidden};
    Tensor part;
    must(lpt_tensor_view(context_, whole.get(), begins, extents, out(part)));
    return part;
  }

  void forward(int i, const Tensor &input, const lpt_linear_options &options, Tensor &saved, const Tensor &output) {
    lpt_linear *const layer = layers_[i].get();
    must(lpt_linear_prepare(context_, layer, weights_[i].get(), &options));
    saved = make_saved(context_, layer, kBatch);
    must(lpt_linear_forward(context_, layer, input.get(), &options, saved.get(), output.get()));
  }

  void backward(int i, const Tensor &saved, const Tensor &gradient, const lpt_linear_options &options,
                lpt_tensor *input_gradient) {
    must(lpt_linear_backward(context_, layers_[i].get(), saved.get(), gradient.get(), &options, input_gradient,
                             gradients_[i].get(), nullptr));
  }

  void update() {
    const int64_t indices[] = {0, 1};
    const lpt_tensor *const gradients[] = {gradients_[0].get(), gradients_[1].get()};
    lpt_tensor *const weights[] = {weights_[0].get(), weights_[1].get()};
    lpt_linear *const layers[] = {layers_[0].get(), layers_[1].get()};
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.learning_rate = 2e-2;
    must(lpt_optimizer_step(context_, optimizer_.get(), indices, 2, gradients, &options, weights));
    must(lpt_linear_update_scalers(context_, layers, 2));
  }

  double number_of(const Tensor &scalar) {
    const Tensor here = make_tensor(cpu_, LPT_FORMAT_F64, {1});
    must(lpt_tensor_copy(context_, scalar.get(), here.get()));
    must(lpt_context_synchronize(context_));
    return numbers_of(cpu_, here.get())[0];
  }

  lpt_context *context_, *cpu_;
  Linear layers_[2];
  Tensor weights_[2], gradients_[2];
  Optimizer optimizer_;
};

// Sums have another order, so that a code may become the next one; losses of the steps differ by less than one percent. The
// first step begins with equal values: its bound is that of the sums, after rounding to bf16.
TEST_F(DeviceLinear, TrainsAsTheCpu) {
  for (const char *name : {"bf16", "fp8_trillion", "fp8_block"}) {
    const Recipe recipe = make_recipe(cpu(), name);
    Mlp here(cpu(), cpu(), recipe.get()), there(gpu(), cpu(), recipe.get());
    double first = 0, last = 0;
    for (uint32_t index = 0; index < 12; ++index) {
      const double oracle = here.step(index), found = there.step(index);
      EXPECT_NEAR(oracle, found, (index == 0 ? 0x1p-8 : 0.01) * oracle) << name << ", step " << index;
      (index == 0 ? first : last) = found;
    }
    EXPECT_LT(last, 0.8 * first) << name;
  }
}

}  // namespace
}  // namespace lpt::test
