// Models of run_lm against a plain forward pass in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "../json_fields.hpp"
#include "../quantize.hpp"
#include "../tokenizer.hpp"
#include "loaded_model.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using run_lm::Decoder;

constexpr double kTolerance = 2e-5;  // of f32 logits, relative to the largest one

TEST(Model, HasTheLogitsOfAPlainForwardPass) {
  const tool_tests::Workplace workplace;
  const std::vector<int32_t> tokens = random_tokens(1, 40);
  for (const bool is_tied : {false, true}) {
    TinyModel model;
    model.is_tied = is_tied;
    model.key_heads = is_tied ? 4 : 2;
    model.window = is_tied ? 7 : 0;
    if (is_tied) model.rope_scaling = {{"rope_type", "linear"}, {"factor", 4.0}};
    model.draw(2, !is_tied);
    const LoadedModel loaded(write_folder(workplace, is_tied ? "tied" : "untied", model, is_tied));
    Decoder decoder = loaded.decoder();
    EXPECT_LT(relative_difference(logits_of(decoder, tokens), model.logits(tokens)), kTolerance) << is_tied;
    Decoder bf16 = loaded.decoder({LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_BF16});
    EXPECT_LT(relative_difference(logits_of(bf16, tokens), model.logits(tokens)), 0.05) << is_tied;
  }
}

// Scalings of config.json by Transformers. The model has 64 positions and 4 frequencies.
TEST(Model, ScalesPositions) {
  const tool_tests::Workplace workplace;
  const std::vector<int32_t> tokens = random_tokens(11, 60);
  const std::vector<double> factors = {0.75, 1.5, 3.0, 64.0};
  const run_lm::json scalings[] = {
      {{"rope_type", "default"}},
      {{"rope_type", "linear"}, {"factor", 2.5}},
      {{"rope_type", "yarn"}, {"factor", 4.0}},
      {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}, {"beta_fast", 2.0}},
      {{"rope_type", "yarn"}, {"factor", 4.0}, {"attention_factor", 0.5}},
      {{"rope_type", "llama3"},
       {"factor", 8.0},
       {"low_freq_factor", 1.0},
       {"high_freq_factor", 4.0},
       {"original_max_position_embeddings", 48}},
      {{"rope_type", "longrope"},
       {"short_factor", factors},
       {"long_factor", factors},
       {"original_max_position_embeddings", 16}},
      {{"rope_type", "longrope"}, {"short_factor", factors}, {"long_factor", factors}, {"attention_factor", 1.25}}};
  std::vector<std::vector<float>> all;
  for (const run_lm::json &scaling : scalings) {
    TinyModel model;
    model.rope_scaling = scaling;
    model.draw(12, false);
    const LoadedModel loaded(write_folder(workplace, fmt::format("folder{}", all.size()), model, false));
    Decoder decoder = loaded.decoder();
    all.push_back(logits_of(decoder, tokens));
    EXPECT_LT(relative_difference(all.back(), model.logits(tokens)), kTolerance) << scaling;
    for (size_t i = 0; i + 1 < all.size(); ++i) EXPECT_GT(difference(all[i], all.back()), 0.01) << scaling;
  }
}

// YaRN with two multipliers, as in DeepSeek.
TEST(Model, ScalesYarnByMultipliers) {
  run_lm::json config = TinyModel().config();
  config["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 40.0}, {"mscale", 0.5}, {"mscale_all_dim", 0.25}};
  const double log = std::log(40.0);
  EXPECT_DOUBLE_EQ(run_lm::parse_config("c", config.dump()).rotary_scale, (0.05 * log + 1) / (0.025 * log + 1));
}

TEST(Model, IsTheSameInGguf) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(3, false);
  const LoadedModel folder(write_folder(workplace, "folder", model, false)),
      gguf(write_gguf(workplace, "m.gguf", model));
  const std::vector<int32_t> tokens = random_tokens(4, 20);
  Decoder of_folder = folder.decoder(), of_gguf = gguf.decoder();
  EXPECT_LT(relative_difference(logits_of(of_gguf, tokens), model.logits(tokens)), kTolerance);
  const run_lm::Tokenizer one("a", folder.files.tokenizer_text()), other("b", gguf.files.tokenizer_text());
  for (const char *text : {"It's 2026: naïve <s>text<|end|>", "  for (i = 0;;)\n"}) {
    EXPECT_EQ(one.encode(text), other.encode(text));
  }
  EXPECT_EQ(other.bytes_of(0), "");  // a special token
  EXPECT_EQ(gguf.files.config().end_tokens, std::vector<int32_t>{1});
  // The library tokenizers, which wrote the file of the folder, rejects a tokenizer.json with a member missing.
  const run_lm::json library = tool::parse_json_object("a", folder.files.tokenizer_text()),
                     written = tool::parse_json_object("b", gguf.files.tokenizer_text());
  const auto names = [](const run_lm::json &object) {
    std::set<std::string> found;
    for (const auto &[name, value] : object.items()) found.insert(name);
    return found;
  };
  for (const run_lm::json &token : written.at("added_tokens")) {
    EXPECT_EQ(names(library.at("added_tokens")[0]), names(token));
  }
  const run_lm::json &bytes = written.at("pre_tokenizer").at("pretokenizers")[1];
  EXPECT_EQ("ByteLevel", bytes.at("type"));
  EXPECT_EQ(names(library.at("decoder")), names(bytes));
  EXPECT_EQ(names(library.at("decoder")), names(written.at("decoder")));
}

std::string name_of(const run_lm::SharedTensor &tensor) { return tool::format_name(lpt_tensor_format(tensor.get())); }

// Codes of blocks are kept in layers, the head and the embedding, except in an embedding with offsets.
TEST(Model, KeepsBlocksOfGguf) {
  const tool_tests::Workplace workplace;
  for (const auto &[is_tied, are_formats] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    TinyModel model;
    model.width = model.hidden = 256;
    model.head_width = 64;
    model.is_tied = is_tied;
    model.draw(14, false);
    const std::map<std::string, tool_tests::GgufTensor> blocks = draw_blocks(model, are_formats);
    LoadedModel loaded(write_gguf(workplace, is_tied ? "tied.gguf" : "untied.gguf", model,
                                  {.blocks = blocks, .tensors = {}, .entries = {}}));
    const std::vector<int32_t> tokens = random_tokens(15, 20);
    Decoder decoded = loaded.decoder();
    EXPECT_LT(relative_difference(logits_of(decoded, tokens), model.logits(tokens)), kTolerance);
    loaded.weights = load_weights(loaded.context.get(), loaded.files, LPT_FORMAT_F32, true);
    std::set<std::string> formats = {name_of(loaded.weights.head)};
    size_t offsets = loaded.weights.head_offsets != nullptr ? 1 : 0;
    for (const run_lm::LayerWeights &layer : loaded.weights.layers) {
      for (const auto &matrix : layer.matrices) formats.insert(name_of(matrix));
      for (const auto &one : layer.offsets) offsets += one != nullptr ? 1 : 0;
    }
    const std::set<std::string> whole = {"int4_1x32", "int8_1x32", "mxfp4"},
                                split = {"int2/1x16/f32", "int4/1x16/f32", "int4_1x32", "int8/1x16/f32", "int8_1x32"};
    EXPECT_EQ(formats, are_formats ? whole : split);
    EXPECT_EQ(offsets > 0, !are_formats);
    EXPECT_EQ(loaded.files.dtype("model.embed_tokens.weight")->name, "F32");
    const std::string whole_embedding = is_tied ? "int4_1x32" : "int8_1x32";
    const std::string embedding = is_tied ? "f32" : "int8/1x16/f32";  // Q4_K, Q6_K
    EXPECT_EQ(name_of(loaded.weights.embedding), are_formats ? whole_embedding : embedding);
    const std::weak_ptr<lpt_tensor> stored = loaded.weights.embedding;
    Decoder kept(loaded.context.get(), loaded.files.config(), std::move(loaded.weights), kInF32, 64);
    EXPECT_EQ(stored.expired(), is_tied && are_formats);  // the head has the codes of the embedding
    EXPECT_LT(relative_difference(logits_of(kept, tokens), model.logits(tokens)), kTolerance);
  }
}

// Weights that are read as bf16 give the logits of weights in f32 that a decoder casts. The decoder releases them.
TEST(Model, HoldsTheWeightsOnce) {
  const tool_tests::Workplace workplace;
  for (const bool is_tied : {false, true}) {
    TinyModel model;
    model.is_tied = is_tied;
    model.draw(9, false);
    const LoadedModel loaded(write_gguf(workplace, is_tied ? "tied.gguf" : "untied.gguf", model));
    const run_lm::Precision bf16{LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_BF16};
    const std::vector<int32_t> tokens = random_tokens(10, 20);
    Decoder cast = loaded.decoder(bf16);
    run_lm::ModelWeights weights = load_weights(loaded.context.get(), loaded.files, LPT_FORMAT_BF16);
    const std::weak_ptr<lpt_tensor> head = weights.head, matrix = weights.layers[1].matrices[run_lm::kDown];
    EXPECT_EQ(lpt_tensor_format(weights.embedding.get()), LPT_FORMAT_BF16);
    EXPECT_EQ(lpt_tensor_format(matrix.lock().get()), LPT_FORMAT_BF16);
    Decoder taken(loaded.context.get(), loaded.files.config(), std::move(weights), bf16, 64);
    EXPECT_EQ(head.expired(), !is_tied);  // a tied head is also the embedding
    EXPECT_TRUE(matrix.expired());
    EXPECT_EQ(logits_of(taken, tokens), logits_of(cast, tokens));
  }
}

TEST(Model, CastsTheHead) {
  const tool_tests::Workplace workplace;
  const std::vector<int32_t> tokens = random_tokens(12, 20);
  TinyModel model;
  model.draw(13, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  const auto exact = model.logits(tokens);
  // Bounds of the errors of the formats: half a unit of the last place of a weight, and of a state if it is cast.
  const std::pair<const char *, double> formats[] = {
      {"bf16", 0x1p-8}, {"int8_1x32", 0.01}, {"int8_row", 0.01}, {"e4m3fn_row", 0x1p-4}, {"nvfp4", 0.25}};
  for (const lpt_format activations : {tool::find_format("f32"), tool::find_format("int8_1x32")}) {
    for (const auto &[format, bound] : formats) {
      run_lm::Precision precision{activations, LPT_FORMAT_F32, tool::find_format(format)};
      Decoder decoder = loaded.decoder(precision);
      const double found = relative_difference(logits_of(decoder, tokens), exact);
      EXPECT_LT(found, bound + (activations == LPT_FORMAT_F32 ? 0 : 0.03)) << format;
      EXPECT_GT(found, kTolerance) << format;
    }
  }
  EXPECT_THROW(run_lm::check_precision({LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_INT8}), tool::Error);
}

// Casts of inputs are kept for their number of rows, which a call with other rows replaces.
TEST(Model, CastsInputsAndQueries) {
  const tool_tests::Workplace workplace;
  const std::vector<int32_t> tokens = random_tokens(14, 20), others = random_tokens(15, 7);
  TinyModel model;
  model.draw(16, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  const std::pair<const char *, lpt_format> formats[] = {
      {"f32", LPT_FORMAT_F32}, {"bf16", LPT_FORMAT_BF16}, {"int8_1x32", LPT_FORMAT_BF16}, {"nvfp4", LPT_FORMAT_BF16}};
  for (const auto &[activations, queries] : formats) {
    Decoder decoder = loaded.decoder({tool::find_format(activations), LPT_FORMAT_F32, LPT_FORMAT_F32});
    std::set<lpt_format> found;
    decoder.observe_attention = [&](size_t, const lpt_tensor *rotated, const lpt_tensor *) {
      found.insert(lpt_tensor_format(rotated));
    };
    const auto expected = logits_of(decoder, tokens);
    EXPECT_EQ(found, std::set{queries}) << activations;
    decoder.clear();
    logits_of(decoder, others);
    decoder.clear();
    EXPECT_EQ(logits_of(decoder, tokens), expected) << activations;
  }
}

// An input in nvfp4 has the better of two scales per block.
TEST(Model, CastsTheInputOfTheHead) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(17, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  lpt_context *context = loaded.context.get();
  struct Case {
    const char *activations, *head, *input;
  };
  for (const auto &[activations, head, input] :
       {Case{"nvfp4", "int8_row", "int8_1x32"}, Case{"nvfp4", "nvfp4", "nvfp4"}, Case{"nvfp4", "f32", "f32"},
        Case{"bf16", "int8_row", "bf16"}}) {
    SCOPED_TRACE(std::string(activations) + " " + head);
    Decoder decoder = loaded.decoder({tool::find_format(activations), LPT_FORMAT_F32, tool::find_format(head)});
    const lpt_tensor *const states = decoder.forward(random_tokens(18, 9));
    const int64_t rows = lpt_tensor_extent(states, 0), width = lpt_tensor_extent(states, 1);
    const tool::Tensor operand = tool::make_matrix(context, tool::find_format(input), rows, width),
                       weight = tool::make_matrix(context, tool::find_format(head), model.vocabulary, width),
                       expected = tool::make_matrix(context, LPT_FORMAT_F32, rows, model.vocabulary);
    lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
    if (std::string_view(input) == "nvfp4") cast.scale_rule = LPT_SCALE_RULE_FOUR_OVER_SIX;
    tool::check(context, lpt_quantize(context, states, &cast, operand.get(), nullptr));
    tool::check(context, lpt_quantize(context, loaded.weights.head.get(), nullptr, weight.get(), nullptr));
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    tool::check(context, lpt_gemm(context, operand.get(), weight.get(), &options, expected.get()));
    const auto *of_expected = static_cast<const float *>(lpt_tensor_const_data(expected.get())),
               *found = static_cast<const float *>(lpt_tensor_const_data(decoder.logits(states)));
    EXPECT_TRUE(std::equal(of_expected, of_expected + rows * model.vocabulary, found));
  }
}

// Keys and values in nvfp4 have the better of two scales per block, and a tensor scale of 1. A number near the middle of two codes
// may have the other code than in f64.
TEST(Model, CastsTheCache) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.head_width = 16;
  model.draw(19, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  lpt_context *context = loaded.context.get();
  const std::vector<int32_t> tokens = random_tokens(20, 40);
  const auto expected_by = [&](lpt_scale_rule rule) {
    TinyModel cast = model;
    cast.cast_cache = [&](std::vector<double> &row) {
      std::vector<float> numbers(row.begin(), row.end());
      const auto count = static_cast<int64_t>(row.size());
      const tool::Tensor values = tool::wrap_matrix(context, LPT_FORMAT_F32, numbers.data(), 1, count);
      lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
      options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;  // 1
      options.scale_rule = rule;
      tool::check(context, lpt_fake_quantize(context, values.get(), LPT_FORMAT_NVFP4, &options, values.get()));
      row.assign(numbers.begin(), numbers.end());
    };
    return cast.logits(tokens);
  };
  Decoder decoder = loaded.decoder({LPT_FORMAT_F32, LPT_FORMAT_NVFP4, LPT_FORMAT_F32});
  const std::vector<float> found = logits_of(decoder, tokens);
  EXPECT_LT(relative_difference(found, expected_by(LPT_SCALE_RULE_FOUR_OVER_SIX)),
            relative_difference(found, expected_by(LPT_SCALE_RULE_DEFAULT)) / 4);
}

// Returns the divergence of the probabilities with rounded arguments of exp from those without, over the rows of scores that
// measure_clips() reads. `arguments` has the rows of each query, head by head.
double divergence(const TinyModel &model, const std::vector<double> &arguments, int32_t bits, double clip) {
  const double last = (1 << bits) - 1, step = -clip / last;
  double all = 0.0;
  auto from = arguments.begin();
  for (int64_t query = 0; from != arguments.end(); ++query) {
    const int64_t keys = model.window == 0 ? query + 1 : std::min(query + 1, model.window);
    for (int64_t head = 0; head < model.heads; ++head, from += keys) {
      if (query % 16 != head + 1) continue;
      const std::vector<double> row(from, from + keys);
      std::vector<double> rounded = row;
      for (double &argument : rounded) argument = -step * std::min(std::nearbyint(-argument / step), last);
      const auto total = [](const std::vector<double> &numbers) {
        return std::accumulate(numbers.begin(), numbers.end(), 0.0,
                               [](double sum, double x) { return sum + std::exp(x); });
      };
      const double exact_total = total(row), rounded_total = total(rounded);
      for (size_t i = 0; i < row.size(); ++i) {
        const double p = std::exp(row[i]) / exact_total;
        all += p * std::log(p / (std::exp(rounded[i]) / rounded_total));
      }
    }
  }
  return all;
}

// EXAQ with the clips of the smallest divergence, against the model in f64. A score near the middle of two levels may have the
// other level.
TEST(Model, RoundsTheSoftmax) {
  const tool_tests::Workplace workplace;
  const std::vector<run_lm::Window> windows = {random_tokens(16, 30), random_tokens(17, 20)};
  for (const int64_t window : {0, 7}) {
    TinyModel model;
    model.window = window;
    model.draw(18, true);
    for (auto &[name, values] : model.tensors) {
      const bool is_key = name.find("k_proj.weight") != std::string::npos;
      for (float &number : values.numbers) number *= is_key ? 4.0f : 1.0f;  // weights that differ
    }
    const LoadedModel loaded(write_folder(workplace, "window" + std::to_string(window), model, false));
    std::vector<std::vector<double>> arguments[2];
    for (size_t i = 0; i < 2; ++i) model.logits(windows[i], &arguments[i]);
    const std::vector<int32_t> tokens = random_tokens(19, 40);
    const auto exact = model.logits(tokens);
    for (int32_t bits = 2; bits <= 4; ++bits) {
      const std::vector<double> clips =
          measure_clips(loaded.context.get(), loaded.files.config(), loaded.weights, windows, bits, kIgnore);
      ASSERT_EQ(clips.size(), 2u);
      for (size_t layer = 0; layer < 2; ++layer) {
        const auto divergence_of = [&](double clip) {
          return divergence(model, arguments[0][layer], bits, clip) +
                 divergence(model, arguments[1][layer], bits, clip);
        };
        double least = divergence_of(-0.25);
        for (int i = 2; i <= 64; ++i) least = std::min(least, divergence_of(-0.25 * i));
        EXPECT_LT(divergence_of(clips[layer]), least * (1 + 1e-3)) << bits << " " << layer;
        EXPECT_LT(least, 0.9 * divergence_of(1.5 * clips[layer])) << bits << " " << layer;
      }
      TinyModel rounded = model;
      rounded.softmax_bits = bits;
      rounded.clips = clips;
      const auto expected = rounded.logits(tokens);
      Decoder decoder = loaded.decoder();
      const double effect = relative_difference(logits_of(decoder, tokens), expected);
      decoder.set_levels(bits, clips);
      EXPECT_LT(relative_difference(logits_of(decoder, tokens), expected), effect / 4) << bits;
      EXPECT_LT(relative_difference(logits_of(decoder, tokens), exact), 2 * effect) << bits;
      EXPECT_GT(effect, 100 * kTolerance) << bits;
    }
  }
}

TEST(Model, StepsOverACacheEqualOnePass) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(5, true);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  const std::vector<int32_t> tokens = random_tokens(6, 30);
  const auto exact = model.logits(tokens);
  // Bounds of the errors of the formats; a step and a pass add in another order.
  const std::pair<const char *, double> formats[] = {{"f32", kTolerance}, {"bf16", 0.02}, {"e4m3fn", 0.2},
                                                     {"int8_row", 0.05},  {"nvfp4", 0.4}, {"uint4_1x32", 0.4}};
  for (const auto &[format, bound] : formats) {
    Decoder decoder = loaded.decoder({LPT_FORMAT_F32, tool::find_format(format), LPT_FORMAT_F32});
    const std::vector<float> full = logits_of(decoder, tokens);
    EXPECT_LT(relative_difference(full, exact), bound) << format;
    decoder.clear();
    std::vector<float> steps = values_of(decoder.logits(decoder.forward(std::span(tokens).first(17))));
    for (size_t i = 17; i < tokens.size(); ++i) {
      const std::vector<float> step = values_of(decoder.last_logits(decoder.forward(std::span(tokens).subspan(i, 1))));
      steps.insert(steps.end(), step.begin(), step.end());
    }
    EXPECT_LT(difference(steps, full), 0.02) << format;
  }
}

}  // namespace
}  // namespace run_lm_tests
