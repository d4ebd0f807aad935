#include "tiny_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "../../../tools/lpt/dtype.hpp"
#include "tests/support/random.hpp"

namespace run_lm_tests {

namespace {

using nlohmann::json;
using Vector = std::vector<double>;

Vector multiply(const Values &matrix, const Vector &input) {
  Vector output(static_cast<size_t>(matrix.rows));
  for (size_t row = 0; row < output.size(); ++row) {
    for (size_t i = 0; i < input.size(); ++i) output[row] += matrix.numbers[row * input.size() + i] * input[i];
  }
  return output;
}

Vector normalize(const Values &weight, const Vector &input, double epsilon) {
  double sum = 0.0;
  for (const double value : input) sum += value * value;
  const double factor = 1.0 / std::sqrt(sum / static_cast<double>(input.size()) + epsilon);
  Vector output(input.size());
  for (size_t i = 0; i < input.size(); ++i) output[i] = input[i] * factor * weight.numbers[i];
  return output;
}

void add(Vector &target, const Vector &addend) {
  for (size_t i = 0; i < target.size(); ++i) target[i] += addend[i];
}

// Rotates columns i and i + half of each head.
void rotate(Vector &heads, const Vector &frequencies, double scale, double position) {
  const size_t half = frequencies.size(), width = 2 * half;
  for (size_t begin = 0; begin < heads.size(); begin += width) {
    for (size_t i = 0; i < half; ++i) {
      const double angle = position * frequencies[i];
      const double x = scale * heads[begin + i], y = scale * heads[begin + i + half];
      heads[begin + i] = x * std::cos(angle) - y * std::sin(angle);
      heads[begin + i + half] = y * std::cos(angle) + x * std::sin(angle);
    }
  }
}

// Rounds an argument of exp to the levels of EXAQ.
double rounded(double argument, int32_t bits, double clip) {
  const double step = -clip / static_cast<double>((1 << bits) - 1);
  return clip + step * std::nearbyint((std::max(argument, clip) - clip) / step);
}

Vector attend(const Vector &query, const std::vector<Vector> &keys, const std::vector<Vector> &values,
              const TinyModel &model, size_t layer, Vector *arguments) {
  Vector output(query.size());
  const auto width = static_cast<size_t>(model.head_width);
  const size_t seen = model.window == 0 ? keys.size() : std::min(keys.size(), static_cast<size_t>(model.window));
  const size_t first = keys.size() - seen;
  for (size_t head = 0; head < static_cast<size_t>(model.heads); ++head) {
    const size_t shared = head / static_cast<size_t>(model.heads / model.key_heads);
    Vector scores;
    for (size_t t = first; t < keys.size(); ++t) {
      double score = 0.0;
      for (size_t i = 0; i < width; ++i) score += query[head * width + i] * keys[t][shared * width + i];
      scores.push_back(score / std::sqrt(static_cast<double>(width)));
    }
    const double top = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (double &score : scores) {
      score -= top;
      if (arguments != nullptr) arguments->push_back(score);
      if (model.softmax_bits != 0) score = rounded(score, model.softmax_bits, model.clips.at(layer));
      sum += score = std::exp(score);
    }
    for (size_t t = 0; t < scores.size(); ++t) {
      for (size_t i = 0; i < width; ++i) {
        output[head * width + i] += scores[t] / sum * values[first + t][shared * width + i];
      }
    }
  }
  return output;
}

std::string bytes_of(const Values &values) { return tool_tests::bytes_of(values.numbers); }

// Returns the rows of heads in the order for rotations of columns 2i and 2i + 1.
Values interleaved(const Values &values, int64_t head_width) {
  Values ordered = values;
  const int64_t half = head_width / 2, columns = values.rows == 1 ? 1 : values.columns;
  const int64_t rows = std::ssize(values.numbers) / columns;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t i = row % head_width, target = row - i + (i < half ? 2 * i : 2 * (i - half) + 1);
    std::copy_n(values.numbers.begin() + row * columns, columns, ordered.numbers.begin() + target * columns);
  }
  return ordered;
}

bool is_rotated(const std::string &name) {
  return name.find("q_proj.weight") != std::string::npos || name.find("k_proj.weight") != std::string::npos;
}

std::string safetensors(const std::map<std::string, Values> &tensors) {
  json header = json::object();
  std::string data;
  for (const auto &[name, values] : tensors) {
    const json shape = values.rows == 1 ? json{values.columns} : json{values.rows, values.columns};
    header[name] = {{"dtype", "F32"}, {"shape", shape}};
    header[name]["data_offsets"] = {data.size(), data.size() + values.numbers.size() * sizeof(float)};
    data += bytes_of(values);
  }
  const std::string text = header.dump();
  return tool_tests::u64_bytes(text.size()) + text + data;
}

void write(const std::string &path, const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace

void TinyModel::draw(uint64_t place, bool has_biases) {
  lpt::test::Random random(place);
  const auto make = [&](const std::string &name, int64_t rows, int64_t columns, double deviation, double mean) {
    Values values{rows, columns, {}};
    for (int64_t i = 0; i < rows * columns; ++i) {
      values.numbers.push_back(static_cast<float>(mean + deviation * random.normal()));
    }
    tensors[name] = std::move(values);
  };
  const auto linear = [&](const std::string &name, int64_t rows, int64_t columns) {
    make(name + ".weight", rows, columns, 1.0 / std::sqrt(static_cast<double>(columns)), 0.0);
    if (has_biases && name != "lm_head") make(name + ".bias", 1, rows, 0.3, 0.0);
  };
  make("model.embed_tokens.weight", vocabulary, width, 1.0, 0.0);
  make("model.norm.weight", 1, width, 0.3, 1.0);
  if (!is_tied) linear("lm_head", vocabulary, width);
  for (int64_t i = 0; i < layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    make(layer + "input_layernorm.weight", 1, width, 0.3, 1.0);
    make(layer + "post_attention_layernorm.weight", 1, width, 0.3, 1.0);
    linear(layer + "self_attn.q_proj", heads * head_width, width);
    linear(layer + "self_attn.k_proj", key_heads * head_width, width);
    linear(layer + "self_attn.v_proj", key_heads * head_width, width);
    linear(layer + "self_attn.o_proj", width, heads * head_width);
    linear(layer + "mlp.gate_proj", hidden, width);
    linear(layer + "mlp.up_proj", hidden, width);
    linear(layer + "mlp.down_proj", width, hidden);
  }
}

json TinyModel::config() const {
  json config = {{"model_type", "llama"},
                 {"hidden_size", width},
                 {"intermediate_size", hidden},
                 {"num_hidden_layers", layers},
                 {"num_attention_heads", heads},
                 {"num_key_value_heads", key_heads},
                 {"head_dim", head_width},
                 {"vocab_size", vocabulary},
                 {"max_position_embeddings", 64},
                 {"rms_norm_eps", epsilon},
                 {"rope_theta", base},
                 {"tie_word_embeddings", is_tied},
                 {"eos_token_id", 1}};
  if (!rope_scaling.is_null()) config["rope_scaling"] = rope_scaling;
  if (window > 0) config.update({{"model_type", "mistral"}, {"sliding_window", window}});
  return config;
}

// As modeling_rope_utils.py of Transformers 4.57.
Vector TinyModel::frequencies(double &scale) const {
  const auto width = static_cast<double>(head_width);
  Vector frequencies;
  for (double i = 0; i < width / 2; ++i) frequencies.push_back(1.0 / std::pow(base, 2.0 * i / width));
  scale = 1.0;
  if (rope_scaling.is_null()) return frequencies;
  const std::string kind = rope_scaling.at("rope_type");
  const double pi = 3.14159265358979323846, factor = rope_scaling.value("factor", 1.0);
  const double original = rope_scaling.value("original_max_position_embeddings", 64.0);
  const auto dimension = [&](const char *name, double otherwise) {
    return width * std::log(original / (rope_scaling.value(name, otherwise) * 2 * pi)) / (2 * std::log(base));
  };
  for (size_t i = 0; i < frequencies.size(); ++i) {
    double &frequency = frequencies[i];
    if (kind == "linear") frequency /= factor;
    if (kind == "longrope") frequency /= rope_scaling.at("long_factor")[i].get<double>();
    if (kind == "yarn") {
      const double low = std::max(std::floor(dimension("beta_fast", 32.0)), 0.0);
      const double high = std::min(std::ceil(dimension("beta_slow", 1.0)), width - 1.0);
      const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      frequency = frequency / factor * ramp + frequency * (1.0 - ramp);
    }
    if (kind == "llama3") {
      const double low = rope_scaling.at("low_freq_factor"), high = rope_scaling.at("high_freq_factor");
      const double wavelength = 2 * pi / frequency, smooth = (original / wavelength - low) / (high - low);
      if (wavelength > original / low) {
        frequency /= factor;
      } else if (wavelength >= original / high) {
        frequency = (1 - smooth) * frequency / factor + smooth * frequency;
      }
    }
  }
  const double extension = 64.0 / original;
  const double otherwise = kind == "yarn" ? 0.1 * std::log(factor) + 1.0
                           : kind == "longrope" && extension > 1.0
                               ? std::sqrt(1.0 + std::log(extension) / std::log(original))
                               : 1.0;
  scale = rope_scaling.value("attention_factor", otherwise);
  return frequencies;
}

std::vector<Vector> TinyModel::logits(const std::vector<int32_t> &tokens, std::vector<Vector> *arguments) const {
  if (arguments != nullptr) arguments->assign(static_cast<size_t>(layers), {});
  std::vector<std::vector<Vector>> keys(static_cast<size_t>(layers)), values(static_cast<size_t>(layers));
  std::vector<Vector> result;
  double scale = 1.0;
  const Vector rotations = frequencies(scale);
  for (size_t position = 0; position < tokens.size(); ++position) {
    const Values &table = tensors.at("model.embed_tokens.weight");
    const float *row = table.numbers.data() + tokens[position] * width;
    Vector stream(row, row + width);
    for (size_t i = 0; i < static_cast<size_t>(layers); ++i) {
      const std::string layer = fmt::format("model.layers.{}.", i);
      const auto linear = [&](const char *name, const Vector &input) {
        Vector output = multiply(tensors.at(layer + name + ".weight"), input);
        const auto bias = tensors.find(layer + name + ".bias");
        if (bias != tensors.end()) add(output, Vector(bias->second.numbers.begin(), bias->second.numbers.end()));
        return output;
      };
      Vector normed = normalize(tensors.at(layer + "input_layernorm.weight"), stream, epsilon);
      Vector query = linear("self_attn.q_proj", normed), key = linear("self_attn.k_proj", normed);
      rotate(query, rotations, scale, static_cast<double>(position));
      rotate(key, rotations, scale, static_cast<double>(position));
      Vector value = linear("self_attn.v_proj", normed);
      for (Vector *stored : {&key, &value}) {
        if (cast_cache) cast_cache(*stored);
      }
      keys[i].push_back(key);
      values[i].push_back(value);
      add(stream, linear("self_attn.o_proj", attend(query, keys[i], values[i], *this, i,
                                                    arguments == nullptr ? nullptr : &arguments->at(i))));
      normed = normalize(tensors.at(layer + "post_attention_layernorm.weight"), stream, epsilon);
      Vector gate = linear("mlp.gate_proj", normed);
      const Vector up = linear("mlp.up_proj", normed);
      for (size_t j = 0; j < gate.size(); ++j) gate[j] *= up[j] / (1.0 + std::exp(-gate[j]));
      add(stream, linear("mlp.down_proj", gate));
    }
    const Vector state = normalize(tensors.at("model.norm.weight"), stream, epsilon);
    result.push_back(multiply(tensors.at(is_tied ? "model.embed_tokens.weight" : "lm_head.weight"), state));
  }
  return result;
}

std::string tokenizer_text(const std::string &name) {
  std::ifstream file(LPT_GOLDEN "/tokenizers.json");
  const json golden = json::parse(file);
  for (const json &entry : golden.at("tokenizers")) {
    if (entry.at("name") == name) return entry.at("tokenizer").dump();
  }
  return "";
}

std::string write_folder(const tool_tests::Workplace &workplace, const std::string &name, const TinyModel &model,
                         bool is_sharded) {
  const std::string folder = workplace.path(name);
  std::filesystem::create_directory(folder);
  write(folder + "/config.json", model.config().dump());
  write(folder + "/tokenizer.json", tokenizer_text("bytes"));
  if (!is_sharded) {
    write(folder + "/model.safetensors", safetensors(model.tensors));
    return folder;
  }
  std::map<std::string, Values> shards[2];
  json index = {{"metadata", json::object()}, {"weight_map", json::object()}};
  size_t count = 0;
  for (const auto &[tensor, values] : model.tensors) {
    const size_t shard = count++ % 2;
    shards[shard][tensor] = values;
    index["weight_map"][tensor] = fmt::format("model-0000{}-of-00002.safetensors", shard + 1);
  }
  for (size_t i = 0; i < 2; ++i) {
    write(fmt::format("{}/model-0000{}-of-00002.safetensors", folder, i + 1), safetensors(shards[i]));
  }
  write(folder + "/model.safetensors.index.json", index.dump());
  return folder;
}

namespace {

// Blocks that are a format of LPT, with the scales that draw_blocks() sets.
void decode_q4_0_of_scale(const uint8_t *block, float *values) {
  for (size_t i = 0; i < 16; ++i) {
    values[i] = 0x1p-5f * static_cast<float>((block[2 + i] & 15) - 8);
    values[i + 16] = 0x1p-5f * static_cast<float>((block[2 + i] >> 4) - 8);
  }
}
void decode_q8_0_of_scale(const uint8_t *block, float *values) {
  for (size_t i = 0; i < 32; ++i) values[i] = 0x1p-11f * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}
void decode_mxfp4_of_scale(const uint8_t *block, float *values) {
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const auto value = [&](int code) { return (code < 8 ? 0x1p-5f : -0x1p-5f) * kMagnitudes[code % 8]; };
  for (size_t i = 0; i < 16; ++i) {
    values[i] = value(block[1 + i] & 15);
    values[i + 16] = value(block[1 + i] >> 4);
  }
}

}  // namespace

std::map<std::string, tool_tests::GgufTensor> draw_blocks(TinyModel &model, bool are_formats) {
  // f16 scales and minima by their byte offset, so that values have a deviation near 1/16 and a mean near 0.
  struct Type {
    uint32_t number;
    std::vector<std::pair<size_t, uint16_t>> halves;
    void (*decode)(const uint8_t *block, float *values) = nullptr;  // null: by the tool
  };
  const std::vector<Type> decoded = {{12, {{0, 0x0D00}, {2, 0x18B0}}},
                                     {14, {{208, 0x0400}}},
                                     {6, {{0, 0x1EF6}}},
                                     {13, {{0, 0x08EB}, {2, 0x18B0}}},
                                     {10, {{80, 0x1D20}, {82, 0x2000}}},
                                     {11, {{108, 0x1620}}},
                                     {3, {{0, 0x22F1}, {2, 0xAE82}}},
                                     {7, {{0, 0x1EEF}, {2, 0xAEB8}}},
                                     {20, {{0, 0x1336}}},
                                     {23, {{0, 0x031E}}}};
  const std::vector<Type> formats = {{2, {{0, 0x2800}}, decode_q4_0_of_scale},
                                     {8, {{0, 0x1000}}, decode_q8_0_of_scale},
                                     {39, {{0, 0x3A7A}}, decode_mxfp4_of_scale}};
  const std::vector<Type> &types = are_formats ? formats : decoded;
  lpt::test::Random random(99);
  std::map<std::string, tool_tests::GgufTensor> blocks;
  for (auto &[name, values] : model.tensors) {
    if (values.rows == 1) continue;
    const Type &type = types[blocks.size() % types.size()];
    const tool::Dtype &dtype = *tool::find_ggml_dtype(type.number);
    const size_t elements = values.numbers.size(), size = static_cast<size_t>(dtype.bits) / 8;
    std::string bytes(dtype.bytes_of(elements), '\0');
    for (char &byte : bytes) byte = static_cast<char>(random.below(256));
    std::vector<float> stored(elements);
    for (size_t i = 0; i < bytes.size() / size; ++i) {
      for (const auto &[offset, half] : type.halves) {
        bytes[i * size + offset] = static_cast<char>(half & 255);
        bytes[i * size + offset + 1] = static_cast<char>(half >> 8);
      }
      const auto *block = reinterpret_cast<const uint8_t *>(&bytes[i * size]);
      const auto out =
          std::span(stored).subspan(i * static_cast<size_t>(dtype.block), static_cast<size_t>(dtype.block));
      type.decode != nullptr ? type.decode(block, out.data()) : dtype.coding->decode(block, out);
    }
    Values indices = values;
    std::iota(indices.numbers.begin(), indices.numbers.end(), 0.0f);
    if (is_rotated(name)) indices = interleaved(indices, model.head_width);
    for (size_t i = 0; i < elements; ++i) values.numbers[static_cast<size_t>(indices.numbers[i])] = stored[i];
    blocks[name] = {"", {}, type.number, std::move(bytes)};
  }
  return blocks;
}

std::string write_gguf(const tool_tests::Workplace &workplace, const std::string &name, const TinyModel &model,
                       const GgufParts &parts) {
  using namespace tool_tests;
  const std::map<std::string, std::string> short_names = {{"self_attn.q_proj", "attn_q"},
                                                          {"self_attn.k_proj", "attn_k"},
                                                          {"self_attn.v_proj", "attn_v"},
                                                          {"self_attn.o_proj", "attn_output"},
                                                          {"mlp.gate_proj", "ffn_gate"},
                                                          {"mlp.up_proj", "ffn_up"},
                                                          {"mlp.down_proj", "ffn_down"},
                                                          {"input_layernorm", "attn_norm"},
                                                          {"post_attention_layernorm", "ffn_norm"},
                                                          {"model.embed_tokens", "token_embd"},
                                                          {"model.norm", "output_norm"},
                                                          {"lm_head", "output"},
                                                          {"model.layers.", "blk."}};
  std::vector<GgufTensor> tensors;
  for (const auto &[tensor, values] : model.tensors) {
    std::string short_name = tensor;
    for (const auto &[from, to] : short_names) {
      if (const size_t at = short_name.find(from); at != std::string::npos) short_name.replace(at, from.size(), to);
    }
    std::vector<uint64_t> extents = {static_cast<uint64_t>(values.columns)};
    if (values.rows > 1) extents.push_back(static_cast<uint64_t>(values.rows));
    const auto blocks = parts.blocks.find(tensor);
    if (blocks != parts.blocks.end()) {
      tensors.push_back({short_name, extents, blocks->second.type, blocks->second.bytes});
      continue;
    }
    tensors.push_back(
        {short_name, extents, kF32, bytes_of(is_rotated(tensor) ? interleaved(values, model.head_width) : values)});
  }
  tensors.insert(tensors.end(), parts.tensors.begin(), parts.tensors.end());
  GgufImage image = gguf_image(tensors);
  image.entries = parts.entries;
  const auto entry = [&](const std::string &key, int64_t value) {
    image.entries.push_back(gguf_entry(key, kGgufUint32, u32_bytes(static_cast<uint32_t>(value))));
  };
  const auto real = [&](const std::string &key, double value) {
    const std::vector<float> number = {static_cast<float>(value)};
    image.entries.push_back(gguf_entry(key, 6, tool_tests::bytes_of(number)));
  };
  const auto text = [&](const std::string &key, const std::string &value) {
    image.entries.push_back(gguf_entry(key, kGgufString, gguf_text(value)));
  };
  text("general.architecture", "llama");
  entry("llama.embedding_length", model.width);
  entry("llama.feed_forward_length", model.hidden);
  entry("llama.block_count", model.layers);
  entry("llama.attention.head_count", model.heads);
  entry("llama.attention.head_count_kv", model.key_heads);
  entry("llama.attention.key_length", model.head_width);
  entry("llama.context_length", 64);
  real("llama.attention.layer_norm_rms_epsilon", model.epsilon);
  real("llama.rope.freq_base", model.base);
  if (!parts.has_tokenizer) return workplace.write(name, image.bytes());
  text("tokenizer.ggml.model", "gpt2");
  text("tokenizer.ggml.pre", "smollm");
  entry("tokenizer.ggml.eos_token_id", 1);
  const json tokenizer = json::parse(tokenizer_text("bytes")).at("model");
  std::vector<std::string> tokens(tokenizer.at("vocab").size());
  for (const auto &[token, number] : tokenizer.at("vocab").items()) tokens[number.get<size_t>()] = token;
  std::string token_texts, types, merges;
  for (size_t i = 0; i < tokens.size(); ++i) {
    token_texts += gguf_text(tokens[i]);
    types += u32_bytes(i < 2 ? 3 : 1);
  }
  for (const json &merge : tokenizer.at("merges")) {
    merges += gguf_text(merge.is_string() ? merge.get<std::string>()
                                          : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  }
  const auto array = [&](const char *key, uint32_t type, size_t count, const std::string &elements) {
    image.entries.push_back(gguf_entry(key, kGgufArray, gguf_array(type, count, elements)));
  };
  array("tokenizer.ggml.tokens", kGgufString, tokens.size(), token_texts);
  array("tokenizer.ggml.token_type", 5, tokens.size(), types);
  array("tokenizer.ggml.merges", kGgufString, tokenizer.at("merges").size(), merges);
  return workplace.write(name, image.bytes());
}

}  // namespace run_lm_tests
