// Files that no model has: each is an error that names the member, its value and what is expected.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "../model_files.hpp"
#include "../quantize.hpp"
#include "../tokenizer.hpp"
#include "tests/support/random.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using nlohmann::json;

void expect_error(const std::function<void()> &act, const std::string &part) {
  try {
    act();
    ADD_FAILURE() << "no error with " << part;
  } catch (const tool::Error &error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Hostile, ConfigsAreRejected) {
  const json good = TinyModel().config();
  EXPECT_EQ(run_lm::parse_config("c", good.dump()).key_heads, 2);
  const auto longrope = [](const json &long_factor, const json &short_factor) {
    const json scaling = {{"rope_type", "longrope"}, {"long_factor", long_factor}, {"short_factor", short_factor}};
    return json{{"rope_scaling", scaling}};
  };
  const std::pair<json, const char *> cases[] = {
      {{{"model_type", "gpt2"}}, "c: model_type is \"gpt2\": expected llama or mistral"},
      {{{"hidden_act", "gelu"}}, "hidden_act is \"gelu\": expected silu"},
      {{{"hidden_size", 0}}, "hidden_size is 0: expected a whole number, 1 to"},
      {{{"hidden_size", 1.5}}, "hidden_size is 1.5"},
      {{{"num_hidden_layers", 18446744073709551615u}}, "num_hidden_layers is 18446744073709551615"},
      {{{"num_hidden_layers", nullptr}}, "num_hidden_layers is missing"},
      {{{"num_key_value_heads", 3}}, "num_key_value_heads is 3: expected a divisor of 4"},
      {{{"head_dim", 7}}, "head_dim is 7: expected an even number"},
      {{{"rms_norm_eps", "x"}}, "rms_norm_eps is \"x\": expected a number"},
      {{{"tie_word_embeddings", 1}}, "tie_word_embeddings is 1: expected true or false"},
      {{{"eos_token_id", {1, -2}}}, "eos_token_id is [1,-2]: expected a token"},
      {{{"rope_scaling", {{"rope_type", "dynamic"}}}}, "rope_type is \"dynamic\""},
      {{{"rope_scaling", {{"rope_type", "linear"}}}}, "rope_scaling: factor is missing"},
      {{{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}, {"truncate", false}}}},
       "truncate is false: expected true"},
      {{{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 1}}}},
       "original_max_position_embeddings is 1: expected a whole number, 2 to"},
      {longrope(nullptr, nullptr), "long_factor is null: expected an array of 4 numbers"},
      {longrope({1, 2, 3}, {1, 2, 3}), "long_factor is [1,2,3]: expected an array of 4 numbers"},
      {longrope({1, 2, 3, 4}, {1, 2, 3, 5}), "short_factor is [1,2,3,5]: expected the numbers of long_factor"},
      {longrope({1, 2, 0, 4}, {1, 2, 0, 4}), "long_factor is 0: expected a number above 0"},
      {longrope({1, 2, "3", 4}, {1, 2, "3", 4}), "long_factor is \"3\": expected a number above 0"},
      {longrope({1, 2, 2e9, 4}, {1, 2, 2e9, 4}),
       "long_factor is 2000000000.0: expected a number above 0, at most 1e9"}};
  for (const auto &[change, part] : cases) {
    json config = good;
    config.update(change);
    if (change.contains("num_hidden_layers") && change["num_hidden_layers"].is_null())
      config.erase("num_hidden_layers");
    expect_error([&] { run_lm::parse_config("c", config.dump()); }, part);
  }
  expect_error([] { run_lm::parse_config("c", "[1"); }, "c: is no JSON: expected a JSON object");
  expect_error([] { run_lm::parse_config("c", std::string(100000, '[')); }, "expected a JSON object");
}

TEST(Hostile, TokenizersAreRejected) {
  const json good = json::parse(tokenizer_text("bytes"));
  const auto change = [&](const char *pointer, json value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = std::move(value);
    return changed;
  };
  const std::pair<json, const char *> cases[] = {
      {change("/model/type", "Unigram"), "model.type is \"Unigram\": expected BPE"},
      {change("/model/vocab", json::object()), "model.vocab is {}"},
      {change("/model/vocab/a", -1), "is -1: expected a whole number, 0 to"},
      {change("/model/vocab/a", 4000000000u), "is 4000000000: expected a whole number"},
      {change("/model/merges/3", "ab"), "model.merges: element 3 is \"ab\": expected two tokens"},
      {change("/model/merges/3", 7), "element 3 is 7"},
      {change("/model/end_of_word_suffix", "</w>"), "end_of_word_suffix is \"</w>\""},
      {change("/normalizer", {{"type", "NFC"}}), "normalizer is {\"type\":\"NFC\"}"},
      {change("/pre_tokenizer", {{"type", "Whitespace"}}), "pre_tokenizer is"},
      {change("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}}),
       "at byte 2: expected a regular expression"},
      {change("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "MergedWithNext"}}),
       "pre_tokenizer.behavior is"},
      {change("/added_tokens/0/content", ""), "added_tokens: content is"},
      {change("/added_tokens/0/lstrip", true), "added_tokens: lstrip is"},
      {change("/added_tokens/0/id", "x"), "added_tokens: id is \"x\""}};
  for (const auto &[tokenizer, part] : cases) {
    const std::string text = tokenizer.dump();
    expect_error([&] { run_lm::Tokenizer("t", text); }, part);
  }
  const json slow =
      change("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "(x+x+)+[yz]"}}}, {"behavior", "Isolated"}});
  const run_lm::Tokenizer tokenizer("t", slow.dump());
  expect_error([&] { tokenizer.encode(std::string(200, 'x')); }, "cannot match from byte 0");
  expect_error([&] { tokenizer.encode("a\xff"); }, "byte 1 of the text is 0xff: expected UTF-8");
}

// Files with a changed byte give an error or a tokenizer, and nothing else.
TEST(Hostile, DamagedTokenizersDoNotCrash) {
  lpt::test::Random random(20);
  const std::string good = tokenizer_text("pieces");
  for (int i = 0; i < 100; ++i) {
    std::string text = good;
    text[static_cast<size_t>(random.below(std::ssize(text)))] = static_cast<char>(random.below(128));
    try {
      const run_lm::Tokenizer tokenizer("t", text);
      tokenizer.encode("It is 12 \u2581 <s>");
    } catch (const tool::Error &) {
    }
  }
}

TEST(Hostile, ModelsAreRejected) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(21, false);
  const auto load = [&](const std::string &path) {
    const tool::Context context = tool::make_context(1);
    const run_lm::ModelFiles files(context.get(), path);
    load_weights(context.get(), files);
  };
  TinyModel changed = model;
  changed.tensors.erase("model.layers.1.mlp.up_proj.weight");
  expect_error([&] { load(write_folder(workplace, "missing", changed, false)); },
               "tensor \"model.layers.1.mlp.up_proj.weight\" is missing");
  changed = model;
  changed.tensors["model.norm.weight"].columns = 31;
  changed.tensors["model.norm.weight"].numbers.pop_back();
  expect_error([&] { load(write_folder(workplace, "short", changed, false)); }, "shape is [31]: expected [32]");
  expect_error([&] { load(workplace.path("nothing")); }, "nothing");
  const std::string gguf = write_gguf(workplace, "m.gguf", model);
  for (const auto &[from, to, part] : std::initializer_list<std::array<std::string, 3>>{
           {"llama", "mamba", "general.architecture is \"mamba\": expected llama"},
           {"smollm", "deepse", "tokenizer.ggml.pre is \"deepse\""},
           {"gpt2", "bert", "tokenizer.ggml.model is \"bert\""}}) {
    std::string bytes = workplace.read("m.gguf");
    bytes.replace(bytes.find(from), from.size(), to);
    expect_error([&] { load(workplace.write("bad.gguf", bytes)); }, part);
  }
  expect_error([] { run_lm::find_method("best"); }, "--method is \"best\": expected nearest");
  for (const char *name : {"", "awq-", "gptq-gptq", "nearest-awq"}) {
    expect_error([=] { run_lm::find_method(name); }, "expected nearest, or a list of rotate, awq, gptq and bias");
  }
}

}  // namespace
}  // namespace run_lm_tests
