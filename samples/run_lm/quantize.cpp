#include "quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "../../tools/lpt/safetensors.hpp"
#include "../../tools/lpt/stored_rows.hpp"
#include "json_fields.hpp"

namespace run_lm {

namespace {

using tool::check;
using tool::Error;
using tool::make_matrix;
using tool::Tensor;

constexpr std::array<Method, 4> kMethods = {
    {{"nearest", false, false}, {"gptq", true, false}, {"awq", false, true}, {"awq-gptq", true, true}}};
constexpr const char *kFileName = "model.safetensors";

constexpr Input input_of(Projection projection) {
  constexpr Input kInputOf[kProjections] = {kAttentionInput, kAttentionInput, kAttentionInput, kOutputInput,
                                            kMlpInput,       kMlpInput,       kDownInput};
  return kInputOf[projection];
}

std::span<float> values_of(lpt_tensor *tensor) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < lpt_tensor_rank(tensor); ++axis) elements *= lpt_tensor_extent(tensor, axis);
  return {static_cast<float *>(lpt_tensor_data(tensor)), static_cast<size_t>(elements)};
}

SharedTensor copy_of(lpt_context *context, const SharedTensor &tensor) {
  const int64_t extents[] = {lpt_tensor_extent(tensor.get(), 0), lpt_tensor_extent(tensor.get(), 1)};
  lpt_tensor *made = nullptr;
  check(context,
        lpt_tensor_create(context, lpt_tensor_format(tensor.get()), lpt_tensor_rank(tensor.get()), extents, &made));
  SharedTensor copy = Tensor(made);
  check(context, lpt_tensor_copy(context, tensor.get(), made));
  return copy;
}

// Fits the matrices of one layer.
class LayerFit {
 public:
  LayerFit(lpt_context *context, const ModelConfig &config, const LayerWeights &layer,
           const std::array<SharedTensor, kInputs> *grams, lpt_format format, const Method &method)
      : context_(context), config_(config), layer_(layer), format_(format), method_(method) {
    if (grams != nullptr) grams_ = *grams;
  }

  LayerWeights run() {
    if (method_.has_factors) {
      // Factors of down and of the output change rows of up and of the values, so that they come first.
      divide_rows(kUp, apply_factors({kDown}));
      divide_rows(kValue, apply_output_factors());
      divide(layer_.mlp_norm, apply_factors({kGate, kUp}));
      divide(layer_.attention_norm, apply_factors({kQuery, kKey, kValue}));
    }
    for (size_t i = 0; i < kProjections; ++i) quantize(static_cast<Projection>(i));
    return layer_;
  }

 private:
  // Divides elements of a vector, or rows of a matrix.
  void divide(SharedTensor &tensor, const std::vector<float> &factors) {
    tensor = copy_of(context_, tensor);
    const std::span<float> values = values_of(tensor.get());
    const size_t columns = values.size() / factors.size();
    for (size_t i = 0; i < values.size(); ++i) values[i] /= factors[i / columns];
  }

  void divide_rows(Projection projection, const std::vector<float> &factors) {
    divide(layer_.matrices[projection], factors);
    if (layer_.biases[projection]) divide(layer_.biases[projection], factors);
  }

  // Multiplies the columns of matrices with one input by factors, and divides the input.
  std::vector<float> apply_factors(std::initializer_list<Projection> projections) {
    const SharedTensor &gram = grams_[input_of(*projections.begin())];
    std::vector<float> stacked;
    for (const Projection projection : projections) {
      const std::span<float> values = values_of(layer_.matrices[projection].get());
      stacked.insert(stacked.end(), values.begin(), values.end());
    }
    const std::vector<float> factors = choose_factors(stacked, gram);
    multiply_columns(projections, factors);
    return factors;
  }

  // Heads of queries share values, and their columns of the output layer share factors. Products of different heads have no part
  // in the choice.
  std::vector<float> apply_output_factors() {
    const auto width = static_cast<size_t>(config_.head_width), heads = static_cast<size_t>(config_.heads);
    const size_t group = heads / static_cast<size_t>(config_.key_heads), columns = heads * width;
    const size_t shared = columns / group;
    const auto column_of = [&](size_t member, size_t value) {
      return (value / width * group + member) * width + value % width;
    };
    const std::span<float> weights = values_of(layer_.matrices[kAttentionOutput].get());
    const std::span<float> products = values_of(grams_[kOutputInput].get());
    const SharedTensor gram = make_matrix(context_, LPT_FORMAT_F32, lpt_tensor_extent(layer_.matrices[kValue].get(), 0),
                                          lpt_tensor_extent(layer_.matrices[kValue].get(), 0));
    const std::span<float> sums = values_of(gram.get());
    std::vector<float> stacked;
    for (size_t member = 0; member < group; ++member) {
      for (size_t row = 0; row < weights.size() / columns; ++row) {
        for (size_t i = 0; i < shared; ++i) stacked.push_back(weights[row * columns + column_of(member, i)]);
      }
      for (size_t i = 0; i < sums.size(); ++i) {
        sums[i] += products[column_of(member, i / shared) * columns + column_of(member, i % shared)];
      }
    }
    const std::vector<float> factors = choose_factors(stacked, gram);
    std::vector<float> repeated(columns);
    for (size_t member = 0; member < group; ++member) {
      for (size_t i = 0; i < shared; ++i) repeated[column_of(member, i)] = factors[i];
    }
    multiply_columns({kAttentionOutput}, repeated);
    return factors;
  }

  // Returns factors for rows of weights with one input.
  std::vector<float> choose_factors(std::vector<float> &weights, const SharedTensor &gram) const {
    const int64_t columns = lpt_tensor_extent(gram.get(), 0), rows = std::ssize(weights) / columns;
    std::vector<float> factors(static_cast<size_t>(columns));
    const Tensor weight = tool::wrap_matrix(context_, LPT_FORMAT_F32, weights.data(), rows, columns);
    const Tensor output = make_matrix(context_, format_, rows, columns);
    const Tensor factor_row = tool::wrap_matrix(context_, LPT_FORMAT_F32, factors.data(), 1, columns);
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
    check(context_,
          lpt_weights_fit(context_, weight.get(), gram.get(), &options, output.get(), factor_row.get(), nullptr));
    return factors;
  }

  void multiply_columns(std::initializer_list<Projection> projections, const std::vector<float> &factors) {
    const size_t columns = factors.size();
    for (const Projection projection : projections) {
      SharedTensor &matrix = layer_.matrices[projection];
      matrix = copy_of(context_, matrix);
      const std::span<float> values = values_of(matrix.get());
      for (size_t i = 0; i < values.size(); ++i) values[i] *= factors[i % columns];
    }
    SharedTensor &gram = grams_[input_of(*projections.begin())];
    gram = copy_of(context_, gram);
    const std::span<float> values = values_of(gram.get());
    for (size_t i = 0; i < values.size(); ++i) values[i] /= factors[i / columns] * factors[i % columns];
  }

  void quantize(Projection projection) {
    SharedTensor &matrix = layer_.matrices[projection];
    const SharedTensor weight = matrix;
    matrix = make_matrix(context_, format_, lpt_tensor_extent(weight.get(), 0), lpt_tensor_extent(weight.get(), 1));
    if (!method_.is_gptq) return check(context_, lpt_quantize(context_, weight.get(), nullptr, matrix.get(), nullptr));
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.order = LPT_WEIGHTS_FIT_ORDER_DIAGONAL;
    check(context_, lpt_weights_fit(context_, weight.get(), grams_[input_of(projection)].get(), &options, matrix.get(),
                                    nullptr, nullptr));
  }

  lpt_context *context_;
  const ModelConfig &config_;
  LayerWeights layer_;
  std::array<SharedTensor, kInputs> grams_;
  lpt_format format_;
  const Method &method_;
};

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

  void add_matrix(const std::string &name, const SharedTensor &tensor) {
    const lpt_format format = lpt_tensor_format(tensor.get());
    if (layout_.format != format) layout_ = tool::layout_of(format);
    const int64_t rows = lpt_tensor_extent(tensor.get(), 0), columns = lpt_tensor_extent(tensor.get(), 1);
    const tool::MatrixShape shape{rows, columns, tool::payload_row_bytes(context_, format, columns)};
    const size_t begin = outputs_.size();
    for (tool::StoredPart &part : tool::stored_parts(layout_, name, rows, columns, shape.row_bytes)) {
      roles_[outputs_.size()] = part.role;
      outputs_.push_back(std::move(part.tensor));
    }
    items_.push_back({tensor.get(), begin, outputs_.size(), shape});
    names_.push_back(name);
    // compressed-tensors reads only full groups.
    const int64_t group = layout_.description.block_rows <= 1 ? layout_.group_columns() : 0;
    has_short_group_ = has_short_group_ || (group > 0 && columns % group != 0);
  }

  void write(const std::filesystem::path &folder) {
    json config = parse_json("config.json", files_.config_text());
    config.erase("quantization_config");
    const bool is_quantized = layout_.has_block_scales() || layout_.has_tensor_scale();
    std::map<std::string, std::string> metadata = {{"format", "pt"}};
    if (is_quantized) {
      metadata["lpt_conversion"] = json{{"format", tool::format_name(layout_.format)}, {"tensors", names_}}.dump();
      std::vector<std::string> modules;
      for (const std::string &name : names_) modules.push_back(name.substr(0, name.rfind('.')));
      const auto quantization = tool::quantization_config(layout_, modules);
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
  struct Item {
    const lpt_tensor *tensor;
    size_t begin, end;  // its outputs
    std::optional<tool::MatrixShape> shape;
  };

  void write_file(const std::string &path) const {
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

  void write_matrix(const Item &item, tool::File &file) const {
    tool::put_rows(context_, layout_, *item.shape, 0, item.shape->rows, item.tensor,
                   [&](tool::Role role, uint64_t offset, std::span<const std::byte> bytes) {
                     // A shape that follows from the bytes is not stored.
                     for (size_t i = item.begin; i < item.end; ++i) {
                       if (roles_.at(i) == role) file.write(prefix_.size() + outputs_[i].begin + offset, bytes);
                     }
                   });
  }

  lpt_context *context_;
  const ModelFiles &files_;
  tool::Layout layout_;
  std::vector<Item> items_;
  std::vector<tool::StoredTensor> outputs_;
  std::map<size_t, tool::Role> roles_;  // of outputs of matrices
  std::vector<std::string> names_;
  std::string prefix_;
  bool has_short_group_ = false;
};

}  // namespace

std::span<const Method> methods() { return kMethods; }

const Method &find_method(const std::string &name) {
  for (const Method &method : kMethods) {
    if (name == method.name) return method;
  }
  throw Error(fmt::format("--method is {}: expected nearest, gptq, awq or awq-gptq", tool::in_quotes(name)));
}

void check_not_quantized(const ModelWeights &weights) {
  for (const LayerWeights &layer : weights.layers) {
    for (const SharedTensor &matrix : layer.matrices) {
      if (lpt_tensor_format(matrix.get()) == LPT_FORMAT_F32) continue;
      throw Error(fmt::format("--model has weights in {}: expected a model that is not quantized",
                              tool::format_name(lpt_tensor_format(matrix.get()))));
    }
  }
}

Grams collect_grams(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                    const std::vector<Window> &windows, const Report &report) {
  Grams grams(weights.layers.size());
  Decoder decoder(context, config, weights, {LPT_FORMAT_F32, LPT_FORMAT_F32}, std::ssize(windows.front()));
  decoder.observe = [&](size_t layer, Input input, const lpt_tensor *values) {
    SharedTensor &gram = grams[layer][input];
    const int64_t columns = lpt_tensor_extent(values, 1);
    if (gram == nullptr) gram = make_matrix(context, LPT_FORMAT_F32, columns, columns);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_a_transposed = 1;
    options.beta = 1.0;
    check(context, lpt_gemm(context, values, values, &options, gram.get()));
  };
  for (size_t i = 0; i < windows.size(); ++i) {
    decoder.clear();
    decoder.forward(windows[i]);
    report(i + 1);
  }
  return grams;
}

ModelWeights fit_weights(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                         const Grams &grams, lpt_format format, const Method &method, const Report &report) {
  ModelWeights fitted = weights;
  for (size_t i = 0; i < fitted.layers.size(); ++i) {
    const auto *layer_grams = method.needs_inputs() ? &grams.at(i) : nullptr;
    fitted.layers[i] = LayerFit(context, config, weights.layers[i], layer_grams, format, method).run();
    report(i + 1);
  }
  return fitted;
}

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
  if (!files.config().is_tied) writer.add(kHeadName, weights.head, files.dtype(kHeadName));
  writer.add(kNormName, weights.norm, f32);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const LayerWeights &layer = weights.layers[i];
    const auto index = static_cast<int64_t>(i);
    writer.add(attention_norm_name(index), layer.attention_norm, f32);
    writer.add(mlp_norm_name(index), layer.mlp_norm, f32);
    for (size_t j = 0; j < kProjections; ++j) {
      const auto projection = static_cast<Projection>(j);
      writer.add_matrix(matrix_name(index, projection), layer.matrices[j]);
      if (layer.biases[j]) writer.add(bias_name(index, projection), layer.biases[j], f32);
    }
  }
  writer.write(folder);
}

}  // namespace run_lm
