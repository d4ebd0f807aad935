// A decoder of the Llama family: RMSNorm, rotary positions, grouped queries, SwiGLU, and a cache of keys and values.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "weights.hpp"

namespace run_lm {

struct Precision {
  // Inputs of linear layers: f32, bf16, or a format with scales, to which they are cast from f32.
  lpt_format activations = LPT_FORMAT_BF16;
  // Keys and values. A tensor scale is 1.
  lpt_format cache = LPT_FORMAT_BF16;
  // The matrix of the logits, if it is not quantized already: f32, bf16, or a format with scales.
  lpt_format head = LPT_FORMAT_BF16;

  // The format of weights that are not quantized, and of queries in attention: bf16 or f32.
  lpt_format floats() const { return activations == LPT_FORMAT_F32 ? LPT_FORMAT_F32 : LPT_FORMAT_BF16; }
  // The format of activations before they are cast: bf16 or f32.
  lpt_format wide() const { return activations == LPT_FORMAT_BF16 ? LPT_FORMAT_BF16 : LPT_FORMAT_F32; }
  bool casts_activations() const { return activations != wide(); }
  bool operator==(const Precision &) const = default;
};

constexpr Precision kInF32{LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32};

// Throws tool::Error if a format cannot hold activations or a cache.
void check_precision(const Precision &precision);

// An input of linear layers. Query, key and value have one input, and so have gate and up.
enum Input { kAttentionInput, kOutputInput, kMlpInput, kDownInput };
constexpr size_t kInputs = 4;

constexpr Input input_of(size_t projection) {
  constexpr Input kInputOf[kProjections] = {kAttentionInput, kAttentionInput, kAttentionInput, kOutputInput,
                                            kMlpInput,       kMlpInput,       kDownInput};
  return kInputOf[projection];
}

using KvCache = std::unique_ptr<lpt_kv_cache, tool::Destroy<lpt_kv_cache_destroy>>;

class Decoder {
 public:
  // Packs the weights, and releases each matrix after it. The cache holds `capacity` tokens.
  Decoder(lpt_context *context, const ModelConfig &config, ModelWeights weights, const Precision &precision,
          int64_t capacity);

  int64_t capacity() const { return capacity_; }
  size_t cache_bytes() const;

  void clear();  // the cache

  // Packs another matrix of the same shape.
  void replace(size_t layer, size_t projection, const SharedTensor &matrix) {
    layers_.at(layer).matrices.at(projection) = make_operand(matrix, nullptr, precision_.floats());
  }

  // Appends tokens to the cache. Returns the states before the head, tokens × width, which are valid until the next call.
  const lpt_tensor *forward(std::span<const int32_t> tokens);
  // Computes the f32 logits of some states. The result is valid until the next call.
  const lpt_tensor *logits(const lpt_tensor *states);
  const lpt_tensor *last_logits(const lpt_tensor *states);  // of the last row

  // Rounds the arguments of exp in attention to 2^bits levels (EXAQ), from the clip of each layer to 0.
  void set_levels(int32_t bits, const std::vector<double> &clips);

  // Receives the input of linear layers as f32 or bf16, rows × columns. Empty: none.
  std::function<void(size_t layer, Input input, const lpt_tensor *values)> observe;
  // Receives rotated queries and keys, rows × columns of all heads. Empty: none.
  std::function<void(size_t layer, const lpt_tensor *queries, const lpt_tensor *keys)> observe_attention;

 private:
  // A matrix of linear layers. The output is input · valuesᵀ, plus sums · offsetsᵀ for the sums of groups of adjacent columns of
  // the input.
  struct Operand {
    tool::Tensor values;   // packed
    tool::Tensor offsets;  // packed; null: none
    SharedTensor ones;     // 1 × columns of a group
  };
  // The input of linear layers.
  struct LinearInput {
    const lpt_tensor *values;   // f32 or bf16
    const lpt_tensor *operand;  // as the linear layers read it: the values, or their cast
    tool::Tensor sums;          // sums of groups, rows × groups; null: none yet
  };
  struct Layer {
    std::array<Operand, kProjections> matrices;
    std::array<SharedTensor, kProjections> biases;
    SharedTensor attention_norm, mlp_norm;
    KvCache cache;
    tool::Tensor keys, values, lengths;  // of the cache
    double clip = 0.0;                   // of EXAQ
  };
  // Tensors of one number of rows.
  struct Buffers {
    int64_t rows = 0;
    tool::Tensor stream, branch, normed, query, rotated, key, value, attended, gate, up, gated;
  };

  void make_cache(Layer &layer);
  void embed(std::span<const int32_t> tokens);
  void embed_row(const lpt_tensor *rows, int64_t row, int64_t target) const;
  void embed_from_head(int64_t token, int64_t target) const;
  void prepare(int64_t rows);
  tool::Tensor pack(const SharedTensor &matrix) const;
  // A matrix that is not quantized is cast to `format`.
  Operand make_operand(const SharedTensor &matrix, const SharedTensor &offsets, lpt_format format) const;
  // The cast is valid until the next call with its format and extents.
  LinearInput make_input(const lpt_tensor *values, lpt_format format);
  tool::Tensor heads_of(const lpt_tensor *matrix, int64_t heads) const;
  void rotate(const lpt_tensor *input, int64_t heads, lpt_tensor *output) const;
  void attend(const Layer &layer);
  void add_group_sums(const Operand &operand, LinearInput &input) const;
  void multiply(LinearInput &input, const Operand &operand, const lpt_tensor *bias, lpt_tensor *output) const;
  void project(const lpt_tensor *input, const Layer &layer, std::initializer_list<Projection> projections,
               std::initializer_list<lpt_tensor *> outputs);
  void normalize(bool is_sum, const lpt_tensor *weight);
  void run_layer(size_t index);

  lpt_context *context_;
  ModelConfig config_;
  Precision precision_;
  lpt_format wide_;  // Precision::wide()
  int64_t capacity_;
  int64_t position_ = 0;
  int32_t level_bits_ = 0;        // of EXAQ; 0: the softmax is not rounded
  SharedTensor embedding_;        // null: the rows of the head
  tool::Tensor embedding_block_;  // rows of the head that are unpacked together
  SharedTensor norm_;
  Operand head_;
  lpt_format head_input_;
  tool::Tensor frequencies_, logits_;
  std::vector<Layer> layers_;
  Buffers buffers_;
  std::map<std::tuple<lpt_format, int64_t, int64_t>, tool::Tensor> casts_;  // of inputs, by format, rows and columns
};

}  // namespace run_lm
