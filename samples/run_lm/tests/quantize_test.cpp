// Quantized models: their files, and the effect of methods.
#include "../quantize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "../json_fields.hpp"
#include "../model_writer.hpp"
#include "../rotate.hpp"
#include "loaded_model.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using run_lm::Decoder;
using run_lm::ModelWeights;
using run_lm::Window;

TEST(Quantize, SavesWhatItLoads) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(13, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  const std::vector<int32_t> tokens = random_tokens(14, 20);
  for (const char *format : {"bf16", "e4m3fn_tensor", "e4m3fn_128x128", "mxfp8_e4m3", "nvfp4", "int8_row", "int4_1x32",
                             "uint4_1x64", "nf4_1x64", "mxfp6_e2m3"}) {
    ModelWeights fitted = fit_weights(loaded.context.get(), loaded.files.config(), loaded.weights, {},
                                      {equal_formats(loaded.files.config(), tool::find_format(format)), LPT_FORMAT_F32,
                                       run_lm::find_method("nearest")},
                                      kIgnore);
    const std::string folder = workplace.path(format);
    run_lm::check_new_model(folder);
    save_model(loaded.context.get(), loaded.files, fitted, folder);
    const LoadedModel saved(folder);
    Decoder before(loaded.context.get(), loaded.files.config(), fitted, kInF32, 64), after = saved.decoder();
    const double change = difference(logits_of(after, tokens), logits_of(before, tokens));
    // The file of nvfp4 has the reciprocal of the tensor scale, which is rounded.
    EXPECT_LE(change, format == std::string("nvfp4") ? 2e-5 : 0.0) << format;
    EXPECT_THROW(run_lm::check_new_model(folder), tool::Error);
  }
}

TEST(Quantize, SavesChangedBiases) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(16, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  lpt_context *context = loaded.context.get();
  const std::vector<Window> calibration = {random_tokens(17, 64)};
  const ModelWeights fitted =
      fit_weights(context, loaded.files.config(), loaded.weights,
                  calibrate(context, loaded.files.config(), loaded.weights, calibration, kIgnore),
                  {equal_formats(loaded.files.config(), tool::find_format("int4_1x32")), LPT_FORMAT_INT8_ROW,
                   run_lm::find_method("bias-awq")},
                  kIgnore);
  const std::string folder = workplace.path("changed");
  run_lm::check_new_model(folder);
  save_model(context, loaded.files, fitted, folder);
  const LoadedModel saved(folder);
  for (const auto &bias : saved.weights.layers.front().biases) EXPECT_NE(nullptr, bias);
  const run_lm::json config = tool::parse_json_object("config.json", saved.files.config_text());
  EXPECT_TRUE(config.at("attention_bias").get<bool>() && config.at("mlp_bias").get<bool>());
  Decoder before(context, loaded.files.config(), fitted, kInF32, 64), after = saved.decoder();
  const std::vector<int32_t> tokens = random_tokens(18, 20);
  EXPECT_EQ(0.0, difference(logits_of(after, tokens), logits_of(before, tokens)));
}

// One channel of the stream is large. The rotation distributes it, and the logits stay the same.
TEST(Quantize, RotatesOutliersAway) {
  const tool_tests::Workplace workplace;
  const std::vector<int32_t> tokens = random_tokens(19, 30);
  for (const bool is_tied : {false, true}) {
    TinyModel model;
    model.is_tied = is_tied;
    model.width = 48;  // three groups of 16
    model.head_width = is_tied ? 16 : 12;
    model.draw(20, !is_tied);
    Values &embedding = model.tensors.at(run_lm::kEmbeddingName);
    for (int64_t row = 0; row < embedding.rows; ++row) embedding.numbers[static_cast<size_t>(row * 48 + 5)] += 30.0f;
    const LoadedModel loaded(write_folder(workplace, is_tied ? "tied" : "untied", model, false));
    lpt_context *context = loaded.context.get();
    const run_lm::ModelConfig &config = loaded.files.config();
    const ModelWeights rotated = rotate_weights(context, config, loaded.weights);
    const auto measure = [&](const ModelWeights &weights, double &peak) {
      Decoder decoder(context, config, weights, kInF32, 64);
      peak = 0.0;  // the largest ratio of an input of attention to the deviation of its row
      decoder.observe = [&](size_t, run_lm::Input input, const lpt_tensor *values) {
        if (input != run_lm::kAttentionInput) return;
        for (int64_t row = 0; row < lpt_tensor_extent(values, 0); ++row) {
          double square = 0.0, top = 0.0;
          for (const float value : values_of(run_lm::view_of(context, values, {row, 0}, {1, 48}).get())) {
            square += double{value} * double{value} / 48.0;
            top = std::max(top, std::fabs(double{value}));
          }
          peak = std::max(peak, top / std::sqrt(square));
        }
      };
      return logits_of(decoder, tokens);
    };
    double before = 0.0, after = 0.0;
    const std::vector<float> plain = measure(loaded.weights, before), found = measure(rotated, after);
    EXPECT_LT(relative_difference(found, model.logits(tokens)), 2e-5) << is_tied;
    EXPECT_GT(before, 5.0) << is_tied;
    EXPECT_LT(after, 0.6 * before) << is_tied;
    const std::string folder = workplace.path(is_tied ? "rotated_tied" : "rotated");
    run_lm::check_new_model(folder);
    save_model(context, loaded.files, rotated, folder);
    const LoadedModel saved(folder);
    EXPECT_FALSE(saved.files.config().is_tied);
    Decoder decoder = saved.decoder();
    EXPECT_EQ(0.0, difference(logits_of(decoder, tokens), found)) << is_tied;
  }
}

// A row-major matrix.
struct Rows {
  int64_t columns = 0;
  std::vector<float> numbers;

  int64_t count() const { return std::ssize(numbers) / columns; }
  float &at(int64_t row, int64_t column) { return numbers[static_cast<size_t>(row * columns + column)]; }
  float at(int64_t row, int64_t column) const { return numbers[static_cast<size_t>(row * columns + column)]; }
  Rows with(const Rows &below) const {
    Rows both = *this;
    both.numbers.insert(both.numbers.end(), below.numbers.begin(), below.numbers.end());
    return both;
  }
};

Rows rows_of(lpt_context *context, const lpt_tensor *tensor) {
  Rows rows{lpt_tensor_extent(tensor, 1), {}};
  rows.numbers.resize(static_cast<size_t>(lpt_tensor_extent(tensor, 0) * rows.columns));
  const auto target = tool::wrap_matrix(context, LPT_FORMAT_F32, rows.numbers.data(), rows.count(), rows.columns);
  tool::check(context, lpt_dequantize(context, tensor, nullptr, target.get()));
  return rows;
}

Rows divided(Rows rows, const std::vector<float> &factors, bool is_by_row) {
  for (int64_t r = 0; r < rows.count(); ++r) {
    for (int64_t c = 0; c < rows.columns; ++c) rows.at(r, c) /= factors[static_cast<size_t>(is_by_row ? r : c)];
  }
  return rows;
}

// Returns left · rightᵀ.
std::vector<double> product_of(const Rows &left, const Rows &right) {
  std::vector<double> product;
  for (int64_t i = 0; i < left.count(); ++i) {
    for (int64_t j = 0; j < right.count(); ++j) {
      double sum = 0.0;
      for (int64_t k = 0; k < left.columns; ++k) sum += double{left.at(i, k)} * right.at(j, k);
      product.push_back(sum);
    }
  }
  return product;
}

constexpr lpt_format kWeights = LPT_FORMAT_INT4_1X32, kActivations = LPT_FORMAT_INT8_ROW;

// The factors of one weight, whose inputs are cast.
std::vector<float> factors_of(lpt_context *context, Rows weight, Rows inputs) {
  Rows transposed{inputs.count(), {}};
  for (int64_t c = 0; c < inputs.columns; ++c) {
    for (int64_t r = 0; r < inputs.count(); ++r) transposed.numbers.push_back(inputs.at(r, c));
  }
  std::vector<double> products = product_of(transposed, transposed);
  std::vector<float> factors(static_cast<size_t>(inputs.columns));
  const auto gram = tool::wrap_matrix(context, LPT_FORMAT_F64, products.data(), inputs.columns, inputs.columns),
             source = tool::wrap_matrix(context, LPT_FORMAT_F32, weight.numbers.data(), weight.count(), weight.columns),
             sample = tool::wrap_matrix(context, LPT_FORMAT_F32, inputs.numbers.data(), inputs.count(), inputs.columns),
             codes = tool::make_matrix(context, kWeights, weight.count(), weight.columns),
             vector = tool::wrap_matrix(context, LPT_FORMAT_F32, factors.data(), 1, inputs.columns);
  lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
  options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
  options.inputs = sample.get();
  options.input_format = kActivations;
  tool::check(context, lpt_weights_fit(context, source.get(), gram.get(), &options, codes.get(), vector.get(), nullptr,
                                       nullptr));
  return factors;
}

std::vector<float> ratio_of(const run_lm::SharedTensor &before, const run_lm::SharedTensor &after) {
  const auto *a = static_cast<const float *>(lpt_tensor_const_data(before.get()));
  const auto *b = static_cast<const float *>(lpt_tensor_const_data(after.get()));
  std::vector<float> ratios;
  for (int64_t i = 0; i < lpt_tensor_extent(before.get(), 0); ++i) ratios.push_back(a[i] / b[i]);
  return ratios;
}

void expect_ratios(const std::vector<float> &expected, const std::vector<float> &found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(expected[i], found[i], 1e-5f * expected[i]) << i;
}

// Norms, and biases of values and of up, are divided by the factors. One window is the whole sample.
TEST(Quantize, FitsToCastInputs) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(19, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  lpt_context *context = loaded.context.get();
  const std::vector<Window> windows = {random_tokens(20, 64)};
  const run_lm::LayerWeights &layer = loaded.weights.layers.front();
  std::array<Rows, run_lm::kInputs> inputs;
  Decoder decoder = loaded.decoder();
  decoder.observe = [&](size_t index, run_lm::Input input, const lpt_tensor *values) {
    if (index == 0) inputs[input] = rows_of(context, values);
  };
  decoder.forward(windows.front());
  std::array<Rows, run_lm::kProjections> weights;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = rows_of(context, layer.matrices[i].get());
  const auto statistics = calibrate(context, loaded.files.config(), loaded.weights, windows, kIgnore);
  const auto fitted_by = [&](const char *method) {
    const run_lm::FitOptions options{equal_formats(loaded.files.config(), kWeights), kActivations,
                                     run_lm::find_method(method)};
    return fit_weights(context, loaded.files.config(), loaded.weights, statistics, options, kIgnore).layers.front();
  };

  const run_lm::LayerWeights scaled = fitted_by("awq");
  const std::vector<float> of_down = factors_of(context, weights[run_lm::kDown], inputs[run_lm::kDownInput]);
  expect_ratios(of_down, ratio_of(layer.biases[run_lm::kUp], scaled.biases[run_lm::kUp]));
  // Heads of queries with the same values are rows of one weight.
  const int64_t width = model.head_width, group = model.heads / model.key_heads, shared = model.key_heads * width;
  const auto by_member = [&](const Rows &rows) {
    Rows result{shared, {}};
    for (int64_t member = 0; member < group; ++member) {
      for (int64_t r = 0; r < rows.count(); ++r) {
        for (int64_t i = 0; i < shared; ++i)
          result.numbers.push_back(rows.at(r, (i / width * group + member) * width + i % width));
      }
    }
    return result;
  };
  const std::vector<float> of_output =
      factors_of(context, by_member(weights[run_lm::kAttentionOutput]), by_member(inputs[run_lm::kOutputInput]));
  expect_ratios(of_output, ratio_of(layer.biases[run_lm::kValue], scaled.biases[run_lm::kValue]));
  const Rows values = divided(weights[run_lm::kValue], of_output, true),
             up = divided(weights[run_lm::kUp], of_down, true);
  const std::vector<float> of_mlp = factors_of(context, weights[run_lm::kGate].with(up), inputs[run_lm::kMlpInput]);
  expect_ratios(of_mlp, ratio_of(layer.mlp_norm, scaled.mlp_norm));
  const std::vector<float> of_attention = factors_of(
      context, weights[run_lm::kQuery].with(weights[run_lm::kKey]).with(values), inputs[run_lm::kAttentionInput]);
  expect_ratios(of_attention, ratio_of(layer.attention_norm, scaled.attention_norm));

  // The change of a bias is the mean difference of the outputs.
  const run_lm::LayerWeights changed = fitted_by("awq-bias");
  const std::tuple<run_lm::Projection, run_lm::Input, std::vector<float>> cases[] = {
      {run_lm::kQuery, run_lm::kAttentionInput, of_attention},
      {run_lm::kGate, run_lm::kMlpInput, of_mlp},
      {run_lm::kDown, run_lm::kDownInput, of_down}};
  for (const auto &[projection, input, factors] : cases) {
    Rows cast = divided(inputs[input], factors, false);
    const auto rows = tool::wrap_matrix(context, LPT_FORMAT_F32, cast.numbers.data(), cast.count(), cast.columns);
    tool::check(context, lpt_fake_quantize(context, rows.get(), kActivations, nullptr, rows.get()));
    const std::vector<double> exact = product_of(inputs[input], weights[projection]),
                              found = product_of(cast, rows_of(context, changed.matrices[projection].get()));
    const size_t outputs = exact.size() / static_cast<size_t>(cast.count());
    const auto *before = static_cast<const float *>(lpt_tensor_const_data(layer.biases[projection].get()));
    const auto *after = static_cast<const float *>(lpt_tensor_const_data(changed.biases[projection].get()));
    for (size_t i = 0; i < outputs; ++i) {
      double mean = 0.0;
      for (size_t at = i; at < exact.size(); at += outputs)
        mean += (exact[at] - found[at]) / static_cast<double>(cast.count());
      EXPECT_NEAR(before[i] + mean, after[i], 1e-5) << projection << " " << i;
    }
  }
}

TEST(Quantize, MethodsReduceTheDivergence) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(15, true);
  // Columns of the embedding are correlated, so that GPTQ can compensate for errors.
  std::vector<float> &embedding = model.tensors["model.embed_tokens.weight"].numbers;
  for (size_t i = 0; i < embedding.size(); ++i) {
    if (i % 32 >= 4) embedding[i] = embedding[i - i % 32 + i % 4] + 0.2f * embedding[i];
    if (i % 32 == 9) embedding[i] = 4.0f;  // the mean of the inputs is not 0
  }
  // Inputs of the layers behind values and up have channels of different size.
  for (const char *name : {"self_attn.v_proj", "mlp.up_proj"}) {
    Values &values = model.tensors[std::string("model.layers.0.") + name + ".weight"];
    for (size_t i = 0; i < values.numbers.size(); ++i) values.numbers[i] *= std::exp2(float(i / 32 % 5) - 2.0f);
  }
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  lpt_context *context = loaded.context.get();
  std::vector<Window> windows, calibration;
  for (uint64_t i = 0; i < 4; ++i) windows.push_back(random_tokens(100 + i, 64));
  for (uint64_t i = 0; i < 16; ++i) calibration.push_back(random_tokens(200 + i, 64));
  const run_lm::Calibration statistics =
      calibrate(context, loaded.files.config(), loaded.weights, calibration, kIgnore);
  Decoder baseline = loaded.decoder();
  const run_lm::Evaluation evaluation(context, windows, &baseline, kIgnore);
  const auto divergence = [&](const char *format, const char *method, lpt_format activations = LPT_FORMAT_F32) {
    const ModelWeights fitted = fit_weights(
        context, loaded.files.config(), loaded.weights, statistics,
        {equal_formats(loaded.files.config(), tool::find_format(format)), activations, run_lm::find_method(method)},
        kIgnore);
    Decoder decoder(context, loaded.files.config(), fitted, {activations, LPT_FORMAT_F32}, 64);
    return evaluation.run(decoder, kIgnore).divergence;
  };
  const double nearest = divergence("int4_1x32", "nearest"), gptq = divergence("int4_1x32", "gptq");
  EXPECT_LT(gptq, 0.75 * nearest);
  EXPECT_LT(divergence("int4_1x32", "awq-gptq"), 0.5 * nearest);
  // Factors change nothing in exact arithmetic.
  EXPECT_LT(divergence("int8_1x32", "awq"), 0.02 * nearest);
  EXPECT_LT(divergence("int8_1x32", "awq-gptq"), 0.02 * nearest);
  // Biases, and factors for inputs that are cast.
  EXPECT_LT(divergence("int4_1x32", "bias"), nearest);
  const lpt_format int8_row = LPT_FORMAT_INT8_ROW;
  EXPECT_LT(divergence("int8_row", "awq", int8_row), divergence("int8_row", "nearest", int8_row));
}

}  // namespace
}  // namespace run_lm_tests
