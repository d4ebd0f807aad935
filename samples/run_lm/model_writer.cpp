#include "model_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "../../tools/lpt/plan.hpp"
#include "../../tools/lpt/safetensors.hpp"
#include "../../tools/lpt/stored_rows.hpp"
#include "json_fields.hpp"

namespace run_lm {

namespace {

using tool::check;
using tool::Error;
using tool::Tensor;

constexpr const char *kFileName = "model.safetensors";

// Writes the tensors of a model into one safetensors file.
class ModelWriter {
 public:
  ModelWriter(lpt_context *context, const ModelFiles &files) : context_(context), files_(files) {}

  void add(const std::string &name, const SharedTensor &tensor, const tool::Dtype *dtype) {
    items_.push_back({tensor.get(), outputs_.size(), outputs_.size() + 1, std::nullopt});
    std::vector<int64_t> shape;
    for (int32_t axis = 0; axis < lpt_tensor_rank(tensor.get()); ++axis) {
      shape.push_back(lpt_tensor_extent(tensor.get(), axis));
    }
    outputs_.push_back({name, dtype, shape, 0, 0});
  }

  void add_bias(const std::string &name, Projection projection, const SharedTensor &tensor) {
    add(name, tensor, tool::find_dtype("F32"));
    biases_.insert(projection);
  }

  void add_matrix(const std::string &name, const SharedTensor &tensor) {
    const lpt_format format = lpt_tensor_format(tensor.get());
    tool::MatrixGroup &group = group_of(format);
    const int64_t rows = lpt_tensor_extent(tensor.get(), 0), columns = lpt_tensor_extent(tensor.get(), 1);
    const tool::MatrixShape shape{rows, columns, tool::payload_row_bytes(context_, format, columns)};
    const size_t begin = outputs_.size();
    for (tool::StoredPart &part : tool::stored_parts(group.layout, name, rows, columns, shape.row_bytes)) {
      roles_[outputs_.size()] = part.role;
      outputs_.push_back(std::move(part.tensor));
    }
    items_.push_back({tensor.get(), begin, outputs_.size(), shape});
    group.names.push_back(name);
    // compressed-tensors reads only full groups.
    const int64_t block = group.layout.description.block_rows <= 1 ? group.layout.group_columns() : 0;
    has_short_group_ = has_short_group_ || (block > 0 && columns % block != 0);
  }

  void write(const std::filesystem::path &folder, bool is_tied) {
    json config = tool::parse_json_object("config.json", files_.config_text());
    config.erase("quantization_config");
    config["tie_word_embeddings"] = is_tied;
    if (biases_.count(kDown) != 0) config["attention_bias"] = config["mlp_bias"] = true;
    std::vector<tool::MatrixGroup> quantized = groups_;
    std::erase_if(quantized, [](const tool::MatrixGroup &group) {
      return !group.layout.has_block_scales() && !group.layout.has_tensor_scale();
    });
    std::map<std::string, std::string> metadata = {{"format", "pt"}};
    if (!quantized.empty()) {
      metadata.insert(tool::conversion_entry(quantized));
      const auto quantization = tool::quantization_config(quantized);
      if (quantization && !has_short_group_) config["quantization_config"] = *quantization;
    }
    tool::place_tensors(outputs_);
    prefix_ = tool::header_bytes(outputs_, metadata);
    const std::string path = (folder / kFileName).string();
    write_file(path + ".partial");
    tool::rename_file(path + ".partial", path);
    tool::write_text((folder / "tokenizer.json").string(), files_.tokenizer_text());
    tool::write_text((folder / "config.json").string(), config.dump(2) + "\n");
  }

 private:
  tool::MatrixGroup &group_of(lpt_format format) {
    for (tool::MatrixGroup &group : groups_) {
      if (group.layout.format == format) return group;
    }
    return groups_.emplace_back(tool::MatrixGroup{tool::layout_of(format), {}});
  }

  struct Item {
    const lpt_tensor *tensor;
    size_t begin, end;  // its outputs
    std::optional<tool::MatrixShape> shape;
  };

  void write_file(const std::string &path) {
    tool::File file = tool::File::create_new(path);
    try {
      file.write(0, std::as_bytes(std::span(prefix_)));
      for (const Item &item : items_) item.shape ? write_matrix(item, file) : write_values(item, file);
      file.sync();
      file.close();
    } catch (const Error &) {
      tool::remove_file(path);
      throw;
    }
  }

  void write_values(const Item &item, tool::File &file) const {
    const tool::StoredTensor &output = outputs_[item.begin];
    std::vector<std::byte> bytes(output.bytes());
    const int64_t elements = static_cast<int64_t>(bytes.size()) * 8 / output.dtype->bits;
    const int64_t columns = output.shape.back(), rows = columns == 0 ? 0 : elements / columns;
    const Tensor target = tool::wrap_matrix(context_, tool::format_of(*output.dtype), bytes.data(), rows, columns);
    check(context_, lpt_dequantize(context_, item.tensor, nullptr, target.get()));
    file.write(prefix_.size() + output.begin, bytes);
  }

  void write_matrix(const Item &item, tool::File &file) {
    tool::put_rows(context_, group_of(lpt_tensor_format(item.tensor)).layout, *item.shape, 0, item.shape->rows,
                   item.tensor, [&](tool::Role role, uint64_t offset, std::span<const std::byte> bytes) {
                     // A shape that follows from the bytes is not stored.
                     for (size_t i = item.begin; i < item.end; ++i) {
                       if (roles_.at(i) == role) file.write(prefix_.size() + outputs_[i].begin + offset, bytes);
                     }
                   });
  }

  lpt_context *context_;
  const ModelFiles &files_;
  std::vector<tool::MatrixGroup> groups_;
  std::vector<Item> items_;
  std::vector<tool::StoredTensor> outputs_;
  std::map<size_t, tool::Role> roles_;  // of outputs of matrices
  std::set<Projection> biases_;
  std::string prefix_;
  bool has_short_group_ = false;
};

}  // namespace

void check_new_model(const std::string &folder) {
  const std::string file = (std::filesystem::path(folder) / kFileName).string();
  if (tool::file_exists(file)) {
    throw Error(fmt::format("--out is {}: it has {} already: expected a new folder", folder, kFileName));
  }
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw Error(fmt::format("--out is {}: cannot create it: {}", folder, problem.message()));
}

void save_model(lpt_context *context, const ModelFiles &files, const ModelWeights &weights, const std::string &folder) {
  const tool::Dtype *f32 = tool::find_dtype("F32");
  ModelWriter writer(context, files);
  writer.add(kEmbeddingName, weights.embedding, files.dtype(kEmbeddingName));
  const tool::Dtype *head_dtype = files.dtype(files.config().is_tied ? kEmbeddingName : kHeadName);
  if (!weights.is_tied) writer.add(kHeadName, weights.head, head_dtype);
  writer.add(kNormName, weights.norm, f32);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const LayerWeights &layer = weights.layers[i];
    const auto index = static_cast<int64_t>(i);
    writer.add(attention_norm_name(index), layer.attention_norm, f32);
    writer.add(mlp_norm_name(index), layer.mlp_norm, f32);
    for (size_t j = 0; j < kProjections; ++j) {
      const auto projection = static_cast<Projection>(j);
      writer.add_matrix(matrix_name(index, projection), layer.matrices[j]);
      if (layer.biases[j]) writer.add_bias(bias_name(index, projection), projection, layer.biases[j]);
    }
  }
  writer.write(folder, weights.is_tied);
}

}  // namespace run_lm
