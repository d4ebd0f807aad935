// The weights of a model as tensors.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model_files.hpp"

namespace run_lm {

using SharedTensor = std::shared_ptr<lpt_tensor>;

enum Projection { kQuery, kKey, kValue, kAttentionOutput, kGate, kUp, kDown };
constexpr size_t kProjections = 7;

struct LayerWeights {
  std::array<SharedTensor, kProjections> matrices;  // output columns × input columns
  std::array<SharedTensor, kProjections> offsets;   // of StoredMatrix; null: none
  std::array<SharedTensor, kProjections> biases;    // null: none
  SharedTensor attention_norm, mlp_norm;
};

// Copies share tensors, so that another version of a model replaces only some of them.
struct ModelWeights {
  SharedTensor embedding;
  SharedTensor head;          // the embedding if both are tied
  SharedTensor head_offsets;  // of StoredMatrix; null: none
  bool is_tied = false;       // files have one matrix for both
  SharedTensor norm;
  std::vector<LayerWeights> layers;

  // Returns the mean over the matrices of all layers, with scales. Matrices of f32 are used in the format `floats`.
  double bytes_per_weight(lpt_context *context, lpt_format floats) const;
};

// Returns the rows and columns of a matrix of a layer.
std::array<int64_t, 2> shape_of(const ModelConfig &config, Projection projection);

// Returns the Hugging Face names of the tensors of a layer.
std::string matrix_name(int64_t layer, Projection projection);
std::string bias_name(int64_t layer, Projection projection);
std::string attention_norm_name(int64_t layer);
std::string mlp_norm_name(int64_t layer);
constexpr const char *kEmbeddingName = "model.embed_tokens.weight";
constexpr const char *kNormName = "model.norm.weight";
constexpr const char *kHeadName = "lm_head.weight";

// Reads one tensor after the other. Matrices that are not quantized, and the embedding, are cast to `floats` at once, so that only
// one of them is in f32.
// With `keeps_codes`, GGUF blocks and a quantized embedding keep their codes. An embedding with offsets is decoded.
ModelWeights load_weights(lpt_context *context, const ModelFiles &files, lpt_format floats = LPT_FORMAT_F32,
                          bool keeps_codes = false);

// Returns whether elements of the format have scales.
bool has_scales(lpt_format format);

// Returns a copy of a dense tensor in another format. A tensor with scales is cast to floats only. The same format is no copy.
SharedTensor cast_to(lpt_context *context, const SharedTensor &tensor, lpt_format format);

// Returns a dense tensor of the same format and elements.
SharedTensor copy_of(lpt_context *context, const SharedTensor &tensor);

// Returns the elements of an f32 tensor.
std::span<float> values_of(lpt_tensor *tensor);

// Returns a part of a tensor that shares its memory.
tool::Tensor view_of(lpt_context *context, const lpt_tensor *tensor, std::array<int64_t, 2> begins,
                     std::array<int64_t, 2> extents);

}  // namespace run_lm
