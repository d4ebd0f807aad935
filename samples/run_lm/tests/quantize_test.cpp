// Quantized models: their files, and the effect of methods.
#include "../quantize.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../json_fields.hpp"
#include "loaded_model.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using run_lm::Decoder;
using run_lm::ModelWeights;
using run_lm::Window;

const run_lm::Report kIgnore = [](size_t) {};

TEST(Quantize, SavesWhatItLoads) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(13, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  const std::vector<int32_t> tokens = random_tokens(14, 20);
  for (const char *format : {"bf16", "e4m3fn_tensor", "e4m3fn_128x128", "mxfp8_e4m3", "nvfp4", "int8_row", "int4_1x32",
                             "uint4_1x64", "nf4_1x64", "mxfp6_e2m3"}) {
    ModelWeights fitted =
        fit_weights(loaded.context.get(), loaded.files.config(), loaded.weights, {},
                    {tool::find_format(format), LPT_FORMAT_F32, run_lm::find_method("nearest")}, kIgnore);
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
                  {tool::find_format("int4_1x32"), LPT_FORMAT_INT8_ROW, run_lm::find_method("bias-awq")}, kIgnore);
  const std::string folder = workplace.path("changed");
  run_lm::check_new_model(folder);
  save_model(context, loaded.files, fitted, folder);
  const LoadedModel saved(folder);
  for (const auto &bias : saved.weights.layers.front().biases) EXPECT_NE(nullptr, bias);
  const run_lm::json config = run_lm::parse_json("config.json", saved.files.config_text());
  EXPECT_TRUE(config.at("attention_bias").get<bool>() && config.at("mlp_bias").get<bool>());
  Decoder before(context, loaded.files.config(), fitted, kInF32, 64), after = saved.decoder();
  const std::vector<int32_t> tokens = random_tokens(18, 20);
  EXPECT_EQ(0.0, difference(logits_of(after, tokens), logits_of(before, tokens)));
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
    const ModelWeights fitted =
        fit_weights(context, loaded.files.config(), loaded.weights, statistics,
                    {tool::find_format(format), activations, run_lm::find_method(method)}, kIgnore);
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
