#include "weights.hpp"

#include <fmt/format.h>

namespace run_lm {

namespace {

using tool::check;
using tool::Tensor;

constexpr const char *kPartNames[kProjections] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                                  "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                                  "mlp.down_proj"};

std::string layer_name(int64_t layer, const char *part, const char *kind) {
  return fmt::format("model.layers.{}.{}.{}", layer, part, kind);
}

}  // namespace

double ModelWeights::bytes_per_weight(lpt_context *context, lpt_format floats) const {
  double bytes = 0.0, elements = 0.0;
  const auto size_of = [&](const SharedTensor &tensor) {
    size_t size = 0;
    check(context, lpt_tensor_size(context, tensor.get(), &size));
    return static_cast<double>(size);
  };
  for (const LayerWeights &layer : layers) {
    for (size_t i = 0; i < kProjections; ++i) {
      const SharedTensor &matrix = layer.matrices[i];
      const bool is_halved = lpt_tensor_format(matrix.get()) == LPT_FORMAT_F32 && floats != LPT_FORMAT_F32;
      bytes += is_halved ? size_of(matrix) / 2.0 : size_of(matrix);
      if (layer.offsets[i]) bytes += size_of(layer.offsets[i]);
      elements += static_cast<double>(lpt_tensor_extent(matrix.get(), 0) * lpt_tensor_extent(matrix.get(), 1));
    }
  }
  return bytes / elements;
}

std::array<int64_t, 2> shape_of(const ModelConfig &config, Projection projection) {
  switch (projection) {
    case kQuery:
      return {config.heads * config.head_width, config.width};
    case kKey:
    case kValue:
      return {config.key_heads * config.head_width, config.width};
    case kAttentionOutput:
      return {config.width, config.heads * config.head_width};
    case kGate:
    case kUp:
      return {config.hidden, config.width};
    case kDown:
      break;
  }
  return {config.width, config.hidden};
}

std::string matrix_name(int64_t layer, Projection projection) {
  return layer_name(layer, kPartNames[projection], "weight");
}
std::string bias_name(int64_t layer, Projection projection) {
  return layer_name(layer, kPartNames[projection], "bias");
}
std::string attention_norm_name(int64_t layer) { return layer_name(layer, "input_layernorm", "weight"); }
std::string mlp_norm_name(int64_t layer) { return layer_name(layer, "post_attention_layernorm", "weight"); }

ModelWeights load_weights(lpt_context *context, const ModelFiles &files, lpt_format floats, bool keeps_codes) {
  const ModelConfig &config = files.config();
  // Without `offsets` a matrix that has them is decoded.
  const auto matrix = [&](const std::string &name, int64_t rows, int64_t columns, SharedTensor *offsets) {
    StoredMatrix stored = files.matrix(name, rows, columns, keeps_codes);
    if (offsets != nullptr) {
      *offsets = std::move(stored.offsets);
    } else if (stored.offsets) {
      stored = files.matrix(name, rows, columns, false);
    }
    const SharedTensor read = std::move(stored.values);
    return lpt_tensor_format(read.get()) == LPT_FORMAT_F32 ? cast_to(context, read, floats) : read;
  };
  ModelWeights weights;
  weights.is_tied = config.is_tied;
  const char *head_name = config.is_tied ? kEmbeddingName : kHeadName;
  weights.head = matrix(head_name, config.vocabulary, config.width, &weights.head_offsets);
  const bool is_shared = config.is_tied && weights.head_offsets == nullptr;
  weights.embedding = is_shared ? weights.head : matrix(kEmbeddingName, config.vocabulary, config.width, nullptr);
  weights.norm = files.vector(kNormName, config.width);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    LayerWeights &one = weights.layers.emplace_back();
    for (size_t i = 0; i < kProjections; ++i) {
      const auto projection = static_cast<Projection>(i);
      const auto [rows, columns] = shape_of(config, projection);
      one.matrices[i] = matrix(matrix_name(layer, projection), rows, columns, &one.offsets[i]);
      const std::string bias = bias_name(layer, projection);
      if (files.has(bias)) one.biases[i] = files.vector(bias, rows);
    }
    one.attention_norm = files.vector(attention_norm_name(layer), config.width);
    one.mlp_norm = files.vector(mlp_norm_name(layer), config.width);
  }
  // A row of the embedding is decoded for each token, which requires blocks of one row.
  const lpt_format format = lpt_tensor_format(weights.embedding.get());
  const bool is_decoded_by_rows = has_scales(format) && tool::describe(format).block_rows == 1;
  if (!keeps_codes || !is_decoded_by_rows) weights.embedding = cast_to(context, weights.embedding, floats);
  return weights;
}

bool has_scales(lpt_format format) {
  const lpt_format_description description = tool::describe(format);
  return description.block_scale != LPT_FORMAT_NONE || description.tensor_scale != LPT_FORMAT_NONE;
}

SharedTensor cast_to(lpt_context *context, const SharedTensor &tensor, lpt_format format) {
  if (lpt_tensor_format(tensor.get()) == format) return tensor;
  SharedTensor cast =
      tool::make_matrix(context, format, lpt_tensor_extent(tensor.get(), 0), lpt_tensor_extent(tensor.get(), 1));
  check(context, has_scales(format) ? lpt_quantize(context, tensor.get(), nullptr, cast.get(), nullptr)
                                    : lpt_dequantize(context, tensor.get(), nullptr, cast.get()));
  return cast;
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

std::span<float> values_of(lpt_tensor *tensor) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < lpt_tensor_rank(tensor); ++axis) elements *= lpt_tensor_extent(tensor, axis);
  return {static_cast<float *>(lpt_tensor_data(tensor)), static_cast<size_t>(elements)};
}

Tensor view_of(lpt_context *context, const lpt_tensor *tensor, std::array<int64_t, 2> begins,
               std::array<int64_t, 2> extents) {
  lpt_tensor *view = nullptr;
  check(context, lpt_tensor_view(context, tensor, begins.data(), extents.data(), &view));
  return Tensor(view);
}

}  // namespace run_lm
