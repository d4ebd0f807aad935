#include "gguf_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "../../tools/lpt/gguf_stream.hpp"
#include "json_fields.hpp"
#include "tokenizer.hpp"

namespace run_lm {

namespace {

using tool::Error;

constexpr uint32_t kBool = 7, kString = 8, kArray = 9;
constexpr uint64_t kPrefixBytes = 8;  // magic and version
// Values of tokenizer.ggml.token_type. Token 5 is unused.
constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6;
constexpr int64_t kMostFactors = int64_t{1} << 16;
constexpr size_t kMostTokenBytes = 256;  // that are merged; SentencePiece permits 16 characters without other options

// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md numbers the types.
json read_value(tool::GgufStream &stream, uint32_t type) {
  constexpr const char *kWhat = "the value";
  switch (type) {
    case 0:
      return stream.number<uint8_t>(kWhat);
    case 1:
      return stream.number<int8_t>(kWhat);
    case 2:
      return stream.number<uint16_t>(kWhat);
    case 3:
      return stream.number<int16_t>(kWhat);
    case 4:
      return stream.number<uint32_t>(kWhat);
    case 5:
      return stream.number<int32_t>(kWhat);
    case 6:
      return stream.number<float>(kWhat);
    case kBool:
      return stream.number<uint8_t>(kWhat) != 0;
    case kString:
      return stream.text(kWhat, UINT64_MAX);
    case kArray: {
      json array = json::array();
      const auto element = stream.number<uint32_t>(kWhat);
      const auto count = stream.number<uint64_t>(kWhat);
      for (uint64_t i = 0; i < count; ++i) array.push_back(read_value(stream, element));
      return array;
    }
    case 10:
      return stream.number<uint64_t>(kWhat);
    case 11:
      return stream.number<int64_t>(kWhat);
    default:
      return stream.number<double>(kWhat);
  }
}

// Reads the full values, of which tool::Checkpoint has only the beginnings. Its checks of the file apply here.
json read_metadata(const std::string &path) {
  const tool::File file = tool::File::open_to_read(path);
  tool::Digest digest;
  tool::GgufStream stream(
      path, file.size(), [&](uint64_t offset, std::span<std::byte> bytes) { file.read(offset, bytes); }, digest);
  stream.skip("the magic", kPrefixBytes);
  stream.number<uint64_t>("the number of tensors");
  const auto count = stream.number<uint64_t>("the number of metadata keys");
  json metadata = json::object();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = stream.name("the key");
    metadata[key] = read_value(stream, stream.number<uint32_t>("the type"));
  }
  return metadata;
}

// Returns the factors by which llama.cpp divides the frequencies.
json factors_of(const tool::Checkpoint &file, const tool::StoredTensor &tensor) {
  const std::string where = tool::where_of(file.path(), tensor);
  if (tensor.dtype->name != "F32" || tensor.shape.size() != 1 || tensor.shape[0] > kMostFactors) {
    throw Error(fmt::format("{}: is {} of {}: expected a vector of at most {} numbers of F32", where,
                            tool::shape_text(tensor.shape), tensor.dtype->name, kMostFactors));
  }
  std::vector<float> factors(static_cast<size_t>(tensor.shape[0]));
  file.read(tensor, 0, std::as_writable_bytes(std::span(factors)));
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] > 0.0f && factors[i] <= 1e9f) continue;
    throw Error(fmt::format("{}: element {} is {}: expected a number above 0, at most 1e9", where, i, factors[i]));
  }
  return factors;
}

// Returns rope_scaling of config.json, as llama.cpp scales positions; null: not at all.
json scaling_of(const tool::Checkpoint &file, const json &metadata, const json &positions) {
  const std::string &path = file.path();
  const auto number = [&](const char *key, double otherwise) {
    const double value = number_of(path, metadata, key, otherwise);
    if (!std::isfinite(value)) reject(path, key, value, "a finite number");
    return value;
  };
  // Old files have scale_linear. A factor without a type is linear.
  const double factor = number("llama.rope.scaling.factor", number("llama.rope.scale_linear", 0.0));
  const bool has_factor = factor != 0.0 && factor != 1.0;
  const std::string kind = text_of(path, metadata, "llama.rope.scaling.type", has_factor ? "linear" : "none");
  const double attention = number("llama.rope.scaling.attn_factor", 1.0);
  const tool::StoredTensor *factors = file.find("rope_freqs.weight");
  if (kind != "yarn" && attention != 1.0) reject(path, "llama.rope.scaling.attn_factor", attention, "1");
  if (kind == "none" || (kind == "linear" && !has_factor)) {
    if (factors == nullptr) return nullptr;
    const json values = factors_of(file, *factors);
    return {{"rope_type", "longrope"}, {"short_factor", values},
            {"long_factor", values},   {"original_max_position_embeddings", positions},
            {"factor", 1.0},           {"attention_factor", 1.0}};
  }
  if (factors != nullptr) reject(path, "llama.rope.scaling.type", kind, "none, next to rope_freqs.weight");
  if (kind == "linear") return {{"rope_type", "linear"}, {"factor", factor}};
  if (kind != "yarn") reject(path, "llama.rope.scaling.type", kind, "none, linear or yarn");
  if (factor < 1.0) reject(path, "llama.rope.scaling.factor", factor, "a number, 1 to 1e9");
  const double extrapolation = number("llama.rope.scaling.yarn_ext_factor", 1.0);
  const double multiplier = number("llama.rope.scaling.yarn_log_multiplier", 0.0);
  if (extrapolation != 1.0) reject(path, "llama.rope.scaling.yarn_ext_factor", extrapolation, "1");
  if (multiplier != 0.0) reject(path, "llama.rope.scaling.yarn_log_multiplier", multiplier, "0");
  const json &original = member_of(metadata, "llama.rope.scaling.original_context_length");
  return {{"rope_type", "yarn"},
          {"factor", factor},
          {"original_max_position_embeddings", original.is_null() ? positions : original},
          {"beta_fast", number("llama.rope.scaling.yarn_beta_fast", 32.0)},
          {"beta_slow", number("llama.rope.scaling.yarn_beta_slow", 1.0)},
          {"attention_factor", attention * (0.1 * std::log(factor) + 1.0)}};
}

json config_of(const tool::Checkpoint &file, const json &metadata) {
  const std::string &path = file.path();
  const std::string architecture = text_of(path, metadata, "general.architecture", "");
  if (architecture != "llama") reject(path, "general.architecture", architecture, "llama");
  json config = {{"architectures", json::array({"LlamaForCausalLM"})}, {"model_type", "llama"}};
  constexpr std::array<std::pair<const char *, const char *>, 11> kKeys = {{
      {"hidden_size", "llama.embedding_length"},
      {"intermediate_size", "llama.feed_forward_length"},
      {"num_hidden_layers", "llama.block_count"},
      {"num_attention_heads", "llama.attention.head_count"},
      {"num_key_value_heads", "llama.attention.head_count_kv"},
      {"head_dim", "llama.attention.key_length"},
      {"max_position_embeddings", "llama.context_length"},
      {"rms_norm_eps", "llama.attention.layer_norm_rms_epsilon"},
      {"rope_theta", "llama.rope.freq_base"},
      {"bos_token_id", "tokenizer.ggml.bos_token_id"},
      {"eos_token_id", "tokenizer.ggml.eos_token_id"},
  }};
  for (const auto &[name, key] : kKeys) {
    const json &value = member_of(metadata, key);
    if (value.is_number_float() && !std::isfinite(value.get<double>())) reject(path, key, value, "a finite number");
    if (!value.is_null()) config[name] = value;
  }
  config["vocab_size"] = member_of(metadata, "tokenizer.ggml.tokens").size();
  config["tie_word_embeddings"] = file.find("output.weight") == nullptr;
  const json scaling = scaling_of(file, metadata, member_of(config, "max_position_embeddings"));
  if (!scaling.is_null()) config["rope_scaling"] = scaling;
  return config;
}

// The library tokenizers requires every member.
json byte_level() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
}

json pretokenizer_of(const std::string &path, const json &metadata) {
  const json bytes = byte_level();
  const std::string name = text_of(path, metadata, "tokenizer.ggml.pre", "gpt-2");
  if (name == "gpt-2" || name == "default") return bytes;
  if (name == "smollm") {
    return {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, bytes}}};
  }
  if (name == "llama-bpe") {
    // Of tokenizer.json of Llama 3.
    constexpr const char *kPattern =
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*"
        "[\\r\\n]+|\\s+(?!\\S)|\\s+";
    json plain = bytes;
    plain["use_regex"] = false;
    return {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"}, {"pattern", {{"Regex", kPattern}}}, {"behavior", "Isolated"}, {"invert", false}},
              plain}}};
  }
  reject(path, "tokenizer.ggml.pre", name, "gpt-2, smollm or llama-bpe");
}

// Returns the elements of an array that has one for each token.
const json &array_of(const std::string &path, const json &metadata, const char *key, size_t tokens) {
  const json &array = member_of(metadata, key);
  if (!array.is_array()) reject(path, key, array, fmt::format("an array of {} elements", tokens).c_str());
  if (array.size() != tokens) {
    throw Error(
        fmt::format("{}: {} has {} elements: expected {}, one for each token", path, key, array.size(), tokens));
  }
  return array;
}

json vocabulary_of(const std::string &path, const json &tokens) {
  json vocabulary = json::object();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_string() || !vocabulary.emplace(tokens[i].get<std::string>(), i).second) {
      reject(path, fmt::format("tokenizer.ggml.tokens, element {},", i), tokens[i], "texts that differ");
    }
  }
  return vocabulary;
}

// Returns the tokens that a text is searched for before all others.
json added_of(const json &tokens, const json &types) {
  json added = json::array();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const json type = types.is_array() && i < types.size() ? types[i] : json(kNormal);
    if (type != kUnknown && type != kControl && type != kUserDefined) continue;
    added.push_back({{"id", i},
                     {"content", tokens[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", type != kUserDefined}});
  }
  return added;
}

// Returns the step that puts a token before each text.
json first_token(const json &token, int64_t id) {
  return {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", token}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
      {"pair", json::array()},
      {"special_tokens", {{token, {{"id", token}, {"ids", json::array({id})}, {"tokens", json::array({token})}}}}}};
}

// Returns all pairs of tokens that form a third one, that of the highest score first. SentencePiece merges two adjacent tokens if
// their text is a token, in the order of its score. Of equal scores, the token with the smaller number is first here.
json merges_of(const std::string &path, const json &tokens, const json &scores, const json &types) {
  std::unordered_set<std::string_view> normal;
  std::vector<size_t> order;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!scores[i].is_number() || !std::isfinite(scores[i].get<double>())) {
      reject(path, fmt::format("tokenizer.ggml.scores, element {},", i), scores[i], "a finite number");
    }
    const auto &text = tokens[i].get_ref<const std::string &>();
    if (types[i] != kNormal) continue;
    if (text.size() > kMostTokenBytes) {
      throw Error(fmt::format("{}: tokenizer.ggml.tokens, element {}, has {} bytes: expected at most {}", path, i,
                              text.size(), kMostTokenBytes));
    }
    normal.insert(text);
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a].get<double>() > scores[b].get<double>(); });
  json merges = json::array();
  for (const size_t i : order) {
    const std::string_view text = tokens[i].get_ref<const std::string &>();
    for (size_t at = 1; at < text.size(); ++at) {
      const std::string_view left = text.substr(0, at), right = text.substr(at);
      if (normal.count(left) != 0 && normal.count(right) != 0) merges.push_back(json::array({left, right}));
    }
  }
  return merges;
}

// A SentencePiece model of the kind BPE, as Llama 2 and Mistral have it.
json sentencepiece_of(const std::string &path, const json &metadata, const json &tokens) {
  const json &types = array_of(path, metadata, "tokenizer.ggml.token_type", tokens.size());
  const json &scores = array_of(path, metadata, "tokenizer.ggml.scores", tokens.size());
  const json vocabulary = vocabulary_of(path, tokens);
  json unknown = nullptr;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto where = [&](const char *key) { return fmt::format("tokenizer.ggml.{}, element {},", key, i); };
    if (!types[i].is_number_integer() || types[i] < kNormal || types[i] > kByte) {
      reject(path, where("token_type"), types[i], "a whole number, 1 to 6");
    }
    if (types[i] == kUnknown && unknown.is_null()) unknown = tokens[i];
    if (types[i] == kByte && !is_byte_token(tokens[i].get_ref<const std::string &>())) {
      reject(path, where("tokens"), tokens[i], "a byte, as <0x0A>");
    }
  }
  if (bool_of(path, metadata, "tokenizer.ggml.remove_extra_whitespaces", false)) {
    reject(path, "tokenizer.ggml.remove_extra_whitespaces", true, "false");
  }
  const bool has_prefix = bool_of(path, metadata, "tokenizer.ggml.add_space_prefix", true);
  json normalizers = json::array(), decoders = json::array();
  if (has_prefix) normalizers.push_back({{"type", "Prepend"}, {"prepend", kSpaceMark}});
  normalizers.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpaceMark}});
  decoders.push_back({{"type", "Replace"}, {"pattern", {{"String", kSpaceMark}}}, {"content", " "}});
  decoders.push_back({{"type", "ByteFallback"}});
  decoders.push_back({{"type", "Fuse"}});
  if (has_prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"version", "1.0"},
          {"added_tokens", added_of(tokens, types)},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
          {"pre_tokenizer", nullptr},
          {"post_processor", nullptr},
          {"decoder", {{"type", "Sequence"}, {"decoders", decoders}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", unknown},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", vocabulary},
            {"merges", merges_of(path, tokens, scores, types)}}}};
}

json byte_level_of(const std::string &path, const json &metadata, const json &tokens) {
  const bool is_llama3 = text_of(path, metadata, "tokenizer.ggml.pre", "") == "llama-bpe";
  const json vocabulary = vocabulary_of(path, tokens);
  return {{"version", "1.0"},
          {"added_tokens", added_of(tokens, member_of(metadata, "tokenizer.ggml.token_type"))},
          {"normalizer", nullptr},
          {"pre_tokenizer", pretokenizer_of(path, metadata)},
          {"post_processor", nullptr},
          {"decoder", byte_level()},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"merges", member_of(metadata, "tokenizer.ggml.merges")},
            {"ignore_merges", is_llama3}}}};
}

json tokenizer_of(const std::string &path, const json &metadata) {
  const std::string kind = text_of(path, metadata, "tokenizer.ggml.model", "");
  const bool is_sentencepiece = kind == "llama";
  if (!is_sentencepiece && kind != "gpt2") {
    reject(path, "tokenizer.ggml.model", kind, "gpt2 or llama, or the Hugging Face folder of this model");
  }
  const json &tokens = member_of(metadata, "tokenizer.ggml.tokens");
  if (!tokens.is_array() || tokens.empty()) reject(path, "tokenizer.ggml.tokens", tokens, "an array of texts");
  json result = is_sentencepiece ? sentencepiece_of(path, metadata, tokens) : byte_level_of(path, metadata, tokens);
  const bool is_llama3 = text_of(path, metadata, "tokenizer.ggml.pre", "") == "llama-bpe";
  if (bool_of(path, metadata, "tokenizer.ggml.add_bos_token", is_sentencepiece || is_llama3)) {
    const auto last = static_cast<int64_t>(tokens.size()) - 1;
    const int64_t first = integer_of(path, metadata, "tokenizer.ggml.bos_token_id", 0, last);
    result["post_processor"] = first_token(tokens[static_cast<size_t>(first)], first);
  }
  return result;
}

}  // namespace

ModelTexts gguf_texts(const tool::Checkpoint &file) {
  const json metadata = read_metadata(file.path());
  try {
    return {config_of(file, metadata).dump(2), tokenizer_of(file.path(), metadata).dump()};
  } catch (const json::exception &) {
    throw Error(fmt::format("{}: the metadata has text that is not UTF-8: expected UTF-8", file.path()));
  }
}

std::string gguf_name(const std::string &name) {
  if (name == "model.embed_tokens.weight") return "token_embd.weight";
  if (name == "model.norm.weight") return "output_norm.weight";
  if (name == "lm_head.weight") return "output.weight";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kParts = {{
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
      {"input_layernorm", "attn_norm"},
      {"post_attention_layernorm", "ffn_norm"},
  }};
  constexpr std::string_view kLayers = "model.layers.";
  if (!name.starts_with(kLayers)) return "";
  const size_t dot = name.find('.', kLayers.size());
  for (const auto &[part, short_part] : kParts) {
    if (std::string_view(name).substr(dot + 1).starts_with(part)) {
      return fmt::format("blk.{}.{}{}", name.substr(kLayers.size(), dot - kLayers.size()), short_part,
                         name.substr(dot + 1 + part.size()));
    }
  }
  return "";
}

}  // namespace run_lm
