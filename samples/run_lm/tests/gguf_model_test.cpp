// The metadata of GGUF files: SentencePiece tokenizers, against tokens of the library sentencepiece, and scaled positions.
#include "../gguf_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "../tokenizer.hpp"
#include "loaded_model.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using namespace tool_tests;
using nlohmann::json;

constexpr uint32_t kGgufInt32 = 5, kGgufFloat = 6;

// A tokenizer as a GGUF file has it.
struct Pieces {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;
  bool has_prefix = true;  // a space before a text

  std::vector<std::string> entries() const {
    std::string texts;
    for (const std::string &token : tokens) texts += gguf_text(token);
    const auto array = [](const char *key, uint32_t type, size_t count, const std::string &elements) {
      return gguf_entry(key, kGgufArray, gguf_array(type, count, elements));
    };
    std::vector<std::string> entries = {
        gguf_entry("tokenizer.ggml.model", kGgufString, gguf_text("llama")),
        array("tokenizer.ggml.tokens", kGgufString, tokens.size(), texts),
        array("tokenizer.ggml.scores", kGgufFloat, scores.size(), tool_tests::bytes_of(scores)),
        array("tokenizer.ggml.token_type", kGgufInt32, types.size(), tool_tests::bytes_of(types)),
        gguf_entry("tokenizer.ggml.bos_token_id", kGgufUint32, u32_bytes(1)),
    };
    if (!has_prefix) entries.push_back(gguf_entry("tokenizer.ggml.add_space_prefix", kGgufBool, std::string(1, '\0')));
    return entries;
  }
};

json sentencepiece_golden() {
  std::ifstream file(LPT_GOLDEN "/sentencepiece.json");
  return json::parse(file);
}

Pieces pieces_of(const json &entry) {
  return {entry.at("pieces"), entry.at("scores"), entry.at("types"), entry.at("name") == "space"};
}

std::string write_pieces(const Workplace &workplace, const std::vector<std::string> &entries) {
  TinyModel model;
  model.draw(30, false);
  return write_gguf(workplace, "m.gguf", model,
                    {.blocks = {}, .tensors = {}, .entries = entries, .has_tokenizer = false});
}

TEST(GgufModel, HasTheTokensOfSentencePiece) {
  const Workplace workplace;
  ASSERT_EQ(sentencepiece_golden().size(), 2u);
  for (const json &entry : sentencepiece_golden()) {
    const LoadedModel loaded(write_pieces(workplace, pieces_of(entry).entries()));
    const run_lm::Tokenizer tokenizer("t", loaded.files.tokenizer_text());
    EXPECT_EQ(tokenizer.size(), 600);
    EXPECT_EQ(tokenizer.prefix(), std::vector<int32_t>{1});
    for (size_t i = 0; i < entry.at("texts").size(); ++i) {
      const auto text = entry.at("texts")[i].get<std::string>();
      const std::vector<int32_t> tokens = tokenizer.encode(text);
      EXPECT_EQ(json(tokens), entry.at("tokens")[i]) << entry.at("name") << ": " << entry.at("texts")[i];
      std::string decoded, expected = (entry.at("name") == "space" && !text.empty() ? " " : "") + text;
      for (const int32_t token : tokens) decoded += tokenizer.bytes_of(token);
      for (size_t at = expected.find("\u2581"); at != std::string::npos; at = expected.find("\u2581")) {
        expected.replace(at, 3, " ");
      }
      EXPECT_EQ(decoded, expected);
    }
    EXPECT_EQ(tokenizer.bytes_of(0) + tokenizer.bytes_of(1), "");  // <unk> and <s>
    EXPECT_EQ(tokenizer.encode("<s>"), std::vector<int32_t>{1});
    // A space before the text after a token of the text, as in llama.cpp.
    const int32_t first = tokenizer.encode("a").front();
    EXPECT_EQ(tokenizer.encode("a<|end|>a"), (std::vector<int32_t>{first, 3, first}));
    EXPECT_EQ(tokenizer.bytes_of(3), "<|end|>");
  }
}

// The tokenizer.json has the members that the library tokenizers writes for the same kind of tokenizer.
TEST(GgufModel, WritesTheTokenizerAsTheLibraryTokenizers) {
  const Workplace workplace;
  const LoadedModel loaded(write_pieces(workplace, pieces_of(sentencepiece_golden()[0]).entries()));
  const json written = json::parse(loaded.files.tokenizer_text()), library = json::parse(tokenizer_text("pieces"));
  EXPECT_EQ(written.at("normalizer"), library.at("normalizer"));
  for (const char *name : {"type", "unk_token", "fuse_unk", "byte_fallback"}) {
    EXPECT_EQ(written.at("model").at(name), library.at("model").at(name)) << name;
  }
  EXPECT_EQ(written.at("added_tokens").size(), 4u);
  // Of a token of four characters with tokens for all its parts, three pairs form it.
  const json &vocabulary = written.at("model").at("vocab");
  std::map<std::string, int> splits, expected;
  for (const json &pair : written.at("model").at("merges"))
    ++splits[pair[0].get<std::string>() + pair[1].get<std::string>()];
  for (const auto &[text, token] : vocabulary.items()) {
    if (sentencepiece_golden()[0].at("types")[token.get<size_t>()] != 1) continue;
    for (size_t at = 1; at < text.size(); ++at) {
      if (vocabulary.contains(text.substr(0, at)) && vocabulary.contains(text.substr(at))) ++expected[text];
    }
  }
  EXPECT_EQ(splits, expected);
}

// Unused tokens, and those of other types, are no result of a merge.
TEST(GgufModel, MergesOnlyToNormalTokens) {
  const Workplace workplace;
  Pieces pieces = pieces_of(sentencepiece_golden()[1]);
  const auto index = std::find(pieces.tokens.begin(), pieces.tokens.end(), "in") - pieces.tokens.begin();
  for (const int32_t type : {1, 5}) {
    pieces.types[static_cast<size_t>(index)] = type;
    const LoadedModel loaded(write_pieces(workplace, pieces.entries()));
    const std::vector<int32_t> tokens = run_lm::Tokenizer("t", loaded.files.tokenizer_text()).encode("in");
    EXPECT_EQ(tokens.size(), type == 1 ? 1u : 2u);
    EXPECT_EQ(tokens.front() == index, type == 1);
  }
}

TEST(GgufModel, OmitsTheFirstToken) {
  const Workplace workplace;
  std::vector<std::string> entries = pieces_of(sentencepiece_golden()[1]).entries();
  entries.push_back(gguf_entry("tokenizer.ggml.add_bos_token", kGgufBool, std::string(1, '\0')));
  const LoadedModel loaded(write_pieces(workplace, entries));
  EXPECT_TRUE(run_lm::Tokenizer("t", loaded.files.tokenizer_text()).prefix().empty());
}

// Scaled positions.

std::string real(const std::string &key, float value) {
  return gguf_entry("llama.rope." + key, kGgufFloat, tool_tests::bytes_of<float>({value}));
}

std::string scaling_type(const std::string &kind) {
  return gguf_entry("llama.rope.scaling.type", kGgufString, gguf_text(kind));
}

GgufTensor rope_factors(const std::vector<float> &factors) {
  return {"rope_freqs.weight", {factors.size()}, kF32, tool_tests::bytes_of(factors)};
}

TEST(GgufModel, ScalesPositions) {
  const json llama3 = {{"rope_type", "llama3"},
                       {"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 48}};
  // llama.cpp converts Llama 3.1 to the ratios of its frequencies.
  TinyModel plain, scaled;
  scaled.rope_scaling = llama3;
  double scale = 1.0;
  const std::vector<double> before = plain.frequencies(scale), after = scaled.frequencies(scale);
  std::vector<float> factors;
  for (size_t i = 0; i < before.size(); ++i) factors.push_back(static_cast<float>(before[i] / after[i]));
  const json linear = {{"rope_type", "linear"}, {"factor", 2.5}};
  const json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}};
  json changed = yarn;
  changed.update({{"beta_fast", 2.0}, {"beta_slow", 0.5}, {"attention_factor", 0.5 * (0.1 * std::log(4.0) + 1.0)}});
  const std::string original = gguf_entry("llama.rope.scaling.original_context_length", kGgufUint32, u32_bytes(16));
  struct Case {
    json expected;
    GgufParts parts;
  };
  const std::vector<Case> cases = {
      {llama3, {.blocks = {}, .tensors = {rope_factors(factors)}, .entries = {}}},
      {llama3, {.blocks = {}, .tensors = {rope_factors(factors)}, .entries = {scaling_type("none")}}},
      {linear, {.blocks = {}, .tensors = {}, .entries = {scaling_type("linear"), real("scaling.factor", 2.5f)}}},
      {linear, {.blocks = {}, .tensors = {}, .entries = {real("scaling.factor", 2.5f)}}},
      {linear, {.blocks = {}, .tensors = {}, .entries = {real("scale_linear", 2.5f)}}},
      {nullptr, {.blocks = {}, .tensors = {}, .entries = {scaling_type("none"), real("scaling.factor", 2.5f)}}},
      {nullptr, {.blocks = {}, .tensors = {}, .entries = {scaling_type("linear"), real("scaling.factor", 1.0f)}}},
      {yarn, {.blocks = {}, .tensors = {}, .entries = {scaling_type("yarn"), real("scaling.factor", 4.0f), original}}},
      {changed,
       {.blocks = {},
        .tensors = {},
        .entries = {scaling_type("yarn"), real("scaling.factor", 4.0f), original, real("scaling.yarn_beta_fast", 2.0f),
                    real("scaling.yarn_beta_slow", 0.5f), real("scaling.attn_factor", 0.5f)}}}};
  const Workplace workplace;
  const std::vector<int32_t> tokens = random_tokens(31, 60);
  for (size_t i = 0; i < cases.size(); ++i) {
    TinyModel model;
    model.rope_scaling = cases[i].expected;
    model.draw(32, false);
    const LoadedModel loaded(write_gguf(workplace, "m.gguf", model, cases[i].parts));
    run_lm::Decoder decoder = loaded.decoder();
    EXPECT_LT(relative_difference(logits_of(decoder, tokens), model.logits(tokens)), 2e-5) << i;
    EXPECT_FALSE(loaded.files.has("rope_freqs.weight"));  // not a tensor of Transformers
  }
}

void expect_metadata_rejected(const std::vector<std::string> &entries, const std::string &part) {
  const Workplace workplace;
  try {
    const LoadedModel loaded(write_pieces(workplace, entries));
    const run_lm::Tokenizer tokenizer("t", loaded.files.tokenizer_text());
    ADD_FAILURE() << "no error with " << part;
  } catch (const tool::Error &error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("m.gguf"), std::string::npos) << error.what();
  }
}

TEST(HostileGgufModel, TokenizersAreRejected) {
  const Pieces good = pieces_of(sentencepiece_golden()[0]);
  const auto changed = [&](const std::function<void(Pieces &)> &change) {
    Pieces pieces = good;
    change(pieces);
    return pieces.entries();
  };
  const auto with = [&](size_t index, const std::string &entry) {
    std::vector<std::string> entries = good.entries();
    if (index < entries.size()) entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(index));
    if (!entry.empty()) entries.push_back(entry);
    return entries;
  };
  const auto array = [](const char *key, uint32_t type, size_t count, const std::string &elements) {
    return gguf_entry(key, kGgufArray, gguf_array(type, count, elements));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {with(0, gguf_entry("tokenizer.ggml.model", kGgufString, gguf_text("t5"))),
       "tokenizer.ggml.model is \"t5\": expected gpt2 or"},
      {with(0, gguf_entry("tokenizer.ggml.model", kGgufUint32, u32_bytes(1))),
       "tokenizer.ggml.model is 1: expected a text"},
      {with(1, ""), "tokenizer.ggml.tokens is null: expected an array of texts"},
      {with(1, array("tokenizer.ggml.tokens", kGgufString, 0, "")),
       "tokenizer.ggml.tokens is []: expected an array of texts"},
      {with(1, array("tokenizer.ggml.tokens", kGgufInt32, 600, std::string(2400, '\0'))),
       "tokenizer.ggml.tokens, element 0, is 0"},
      {changed([](Pieces &pieces) { pieces.tokens[300] = pieces.tokens[299]; }),
       "tokenizer.ggml.tokens, element 300, is"},
      {changed([](Pieces &pieces) { pieces.tokens[4] = "<0x0>"; }),
       "tokenizer.ggml.tokens, element 4, is \"<0x0>\": expected a byte"},
      {changed([](Pieces &pieces) { pieces.tokens[400] = std::string(257, 'a'); }),
       "element 400, has 257 bytes: expected at most 256"},
      {changed([](Pieces &pieces) { pieces.tokens[400] = "\xFF"; }), "text that is not UTF-8"},
      {with(2, ""), "tokenizer.ggml.scores is null: expected an array of 600 elements"},
      {with(2, gguf_entry("tokenizer.ggml.scores", kGgufFloat, "1234")), "tokenizer.ggml.scores is"},
      {changed([](Pieces &pieces) { pieces.scores.pop_back(); }),
       "tokenizer.ggml.scores has 599 elements: expected 600"},
      {changed([](Pieces &pieces) { pieces.scores.push_back(0); }), "tokenizer.ggml.scores has 601 elements"},
      {changed([&](Pieces &pieces) { pieces.scores[7] = nan; }),
       "tokenizer.ggml.scores, element 7, is nan: expected a finite number"},
      {changed([&](Pieces &pieces) { pieces.scores[8] = -INFINITY; }), "tokenizer.ggml.scores, element 8, is -inf"},
      {with(2, array("tokenizer.ggml.scores", kGgufBool, 600, std::string(600, '\1'))),
       "tokenizer.ggml.scores, element 0, is true"},
      {with(3, ""), "tokenizer.ggml.token_type is null: expected an array of 600 elements"},
      {changed([](Pieces &pieces) { pieces.types.pop_back(); }), "tokenizer.ggml.token_type has 599 elements"},
      {changed([](Pieces &pieces) { pieces.types[9] = 0; }),
       "tokenizer.ggml.token_type, element 9, is 0: expected a whole number, 1 to 6"},
      {changed([](Pieces &pieces) { pieces.types[9] = 7; }), "tokenizer.ggml.token_type, element 9, is 7"},
      {with(3, array("tokenizer.ggml.token_type", kGgufFloat, 600, std::string(2400, '\0'))),
       "token_type, element 0, is 0.0"},
      {with(4, ""), "tokenizer.ggml.bos_token_id is missing"},
      {with(4, gguf_entry("tokenizer.ggml.bos_token_id", kGgufUint32, u32_bytes(600))),
       "tokenizer.ggml.bos_token_id is 600"},
      {with(9, gguf_entry("tokenizer.ggml.add_space_prefix", kGgufUint32, u32_bytes(1))),
       "add_space_prefix is 1: expected true or false"},
      {with(9, gguf_entry("tokenizer.ggml.remove_extra_whitespaces", kGgufBool, "\1")),
       "remove_extra_whitespaces is true: expected false"},
  };
  for (const auto &[entries, part] : cases) expect_metadata_rejected(entries, part);
}

TEST(HostileGgufModel, ScalingsAreRejected) {
  struct Case {
    std::vector<std::string> entries;
    std::vector<GgufTensor> tensors;
    const char *part;
  };
  const std::vector<float> good = {1, 1, 2, 8};
  const auto changed = [&](size_t index, float value) {
    std::vector<float> factors = good;
    factors[index] = value;
    return std::vector<GgufTensor>{rope_factors(factors)};
  };
  GgufTensor halves = rope_factors(good), matrix = halves;
  halves.type = kF16;
  halves.bytes.resize(8);
  matrix.extents = {2, 2};
  const GgufTensor many = {"rope_freqs.weight", {65537}, kF32, std::string(4 * 65537, '\0')};
  const std::string yarn = scaling_type("yarn"), factor = real("scaling.factor", 4.0f);
  const Case cases[] = {
      {{scaling_type("ntk"), factor}, {}, "llama.rope.scaling.type is \"ntk\": expected none, linear or yarn"},
      {{scaling_type("longrope")}, {}, "llama.rope.scaling.type is \"longrope\""},
      {{yarn}, {}, "llama.rope.scaling.factor is 0.0: expected a number, 1 to 1e9"},
      {{yarn, real("scaling.factor", NAN)}, {}, "llama.rope.scaling.factor is nan: expected a finite number"},
      {{yarn, real("scaling.factor", 0.5f)}, {}, "llama.rope.scaling.factor is 0.5"},
      {{yarn, real("scaling.factor", INFINITY)}, {}, "llama.rope.scaling.factor is inf: expected a finite number"},
      {{scaling_type("linear"), real("scaling.factor", -2.0f)}, {}, "factor is -2"},
      {{gguf_entry("llama.rope.scaling.factor", kGgufString, gguf_text("2"))},
       {},
       "factor is \"2\": expected a number"},
      {{yarn, factor, real("scaling.yarn_ext_factor", 0.0f)}, {}, "yarn_ext_factor is 0.0: expected 1"},
      {{yarn, factor, real("scaling.yarn_log_multiplier", 0.1f)}, {}, "yarn_log_multiplier is 0.1"},
      {{yarn, factor, gguf_entry("llama.rope.scaling.original_context_length", kGgufUint32, u32_bytes(0))},
       {},
       "original_max_position_embeddings is 0: expected a whole number, 2 to"},
      {{real("scaling.attn_factor", 2.0f)}, {}, "llama.rope.scaling.attn_factor is 2.0: expected 1"},
      {{yarn, factor},
       {rope_factors(good)},
       "llama.rope.scaling.type is \"yarn\": expected none, next to rope_freqs.weight"},
      {{}, {rope_factors({1, 2, 8})}, "long_factor is [1.0,2.0,8.0]: expected an array of 4 numbers"},
      {{}, changed(2, 0.0f), "tensor \"rope_freqs.weight\": element 2 is 0: expected a number above 0"},
      {{}, changed(3, -1.0f), "element 3 is -1"},
      {{}, changed(0, NAN), "element 0 is nan"},
      {{}, changed(1, INFINITY), "element 1 is inf: expected a number above 0, at most 1e9"},
      {{}, {halves}, "is [4] of F16: expected a vector of at most 65536 numbers of F32"},
      {{}, {matrix}, "is [2, 2] of F32: expected a vector"},
      {{}, {many}, "is [65537] of F32: expected a vector"}};
  const auto expect = [](const TinyModel &model, const GgufParts &parts, const char *part) {
    const Workplace workplace;
    try {
      const LoadedModel loaded(write_gguf(workplace, "m.gguf", model, parts));
      loaded.decoder();
      ADD_FAILURE() << "no error with " << part;
    } catch (const tool::Error &error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  TinyModel model;
  model.draw(33, false);
  for (const Case &one : cases) expect(model, {.blocks = {}, .tensors = one.tensors, .entries = one.entries}, one.part);
  model.base = NAN;
  expect(model, {}, "llama.rope.freq_base is nan: expected a finite number");
}

}  // namespace
}  // namespace run_lm_tests
