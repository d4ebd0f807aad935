#include "rotate.hpp"

#include <algorithm>
#include <utility>

#include "../../tools/lpt/handles.hpp"

namespace run_lm {

namespace {

using tool::check;
using tool::make_matrix;
using tool::Tensor;

// Groups of lpt_hadamard().
constexpr int64_t kLeastGroup = 16;
constexpr int64_t kLargestGroup = 8192;

class Rotation {
 public:
  Rotation(lpt_context *context, const ModelConfig &config) : context_(context), config_(config) {}

  void rotate_inputs(SharedTensor &matrix) const { matrix = rotated(matrix, config_.width); }

  void rotate_outputs(LayerWeights &layer, Projection projection) const {
    rotate_rows(layer, projection, config_.width);
  }

  // Rotates the values of each head, and inverts it in the layer that reads them.
  void rotate_heads(LayerWeights &layer) const {
    rotate_rows(layer, kValue, config_.head_width);
    SharedTensor &output = layer.matrices[kAttentionOutput];
    output = rotated(output, config_.head_width);
  }

  // Multiplies the columns of a matrix by the gains of the norm before it.
  void apply_gains(SharedTensor &matrix, const lpt_tensor *norm) const {
    const auto *gains = static_cast<const float *>(lpt_tensor_const_data(norm));
    matrix = copy_of(context_, matrix);
    const std::span<float> values = values_of(matrix.get());
    const auto columns = static_cast<size_t>(config_.width);
    for (size_t i = 0; i < values.size(); ++i) values[i] *= gains[i % columns];
  }

  void set_gains_to_one(SharedTensor &norm) const {
    norm = copy_of(context_, norm);
    std::ranges::fill(values_of(norm.get()), 1.0f);
  }

 private:
  // Rotates each part of `width` columns.
  SharedTensor rotated(const SharedTensor &matrix, int64_t width) const {
    const int64_t rows = lpt_tensor_extent(matrix.get(), 0), columns = lpt_tensor_extent(matrix.get(), 1);
    SharedTensor result = make_matrix(context_, LPT_FORMAT_F32, rows, columns);
    lpt_hadamard_options options = LPT_HADAMARD_OPTIONS_INIT;
    options.size = static_cast<int32_t>(std::clamp(width & -width, kLeastGroup, kLargestGroup));
    for (int64_t begin = 0; begin < columns; begin += width) {
      const Tensor from = view_of(context_, matrix.get(), {0, begin}, {rows, width});
      const Tensor to = view_of(context_, result.get(), {0, begin}, {rows, width});
      check(context_, lpt_hadamard(context_, from.get(), &options, to.get()));
    }
    return result;
  }

  // Rotates each part of `width` outputs of a layer.
  void rotate_rows(LayerWeights &layer, Projection projection, int64_t width) const {
    SharedTensor &matrix = layer.matrices[projection];
    matrix = transposed(rotated(transposed(matrix), width));
    SharedTensor &bias = layer.biases[projection];
    if (bias == nullptr) return;
    bias = copy_of(context_, bias);
    const std::span<float> values = values_of(bias.get());
    const SharedTensor row =
        tool::wrap_matrix(context_, LPT_FORMAT_F32, values.data(), 1, static_cast<int64_t>(values.size()));
    check(context_, lpt_tensor_copy(context_, rotated(row, width).get(), row.get()));
  }

  SharedTensor transposed(const SharedTensor &matrix) const {
    SharedTensor result =
        make_matrix(context_, LPT_FORMAT_F32, lpt_tensor_extent(matrix.get(), 1), lpt_tensor_extent(matrix.get(), 0));
    check(context_, lpt_quantize(context_, matrix.get(), nullptr, nullptr, result.get()));
    return result;
  }

  lpt_context *context_;
  const ModelConfig &config_;
};

}  // namespace

ModelWeights rotate_weights(lpt_context *context, const ModelConfig &config, ModelWeights weights) {
  const Rotation rotation(context, config);
  weights.embedding = cast_to(context, weights.embedding, LPT_FORMAT_F32);
  weights.head = cast_to(context, weights.head, LPT_FORMAT_F32);
  weights.is_tied = false;
  rotation.apply_gains(weights.head, weights.norm.get());
  rotation.set_gains_to_one(weights.norm);
  rotation.rotate_inputs(weights.head);
  rotation.rotate_inputs(weights.embedding);
  for (LayerWeights &layer : weights.layers) {
    for (const Projection projection : {kQuery, kKey, kValue, kGate, kUp}) {
      SharedTensor &matrix = layer.matrices[projection];
      const bool is_mlp = projection == kGate || projection == kUp;
      rotation.apply_gains(matrix, is_mlp ? layer.mlp_norm.get() : layer.attention_norm.get());
      rotation.rotate_inputs(matrix);
    }
    rotation.set_gains_to_one(layer.attention_norm);
    rotation.set_gains_to_one(layer.mlp_norm);
    rotation.rotate_outputs(layer, kAttentionOutput);
    rotation.rotate_outputs(layer, kDown);
    rotation.rotate_heads(layer);
  }
  return weights;
}

}  // namespace run_lm
