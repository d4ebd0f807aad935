// One decoder layer: attention and a gated unit, each after an RMS norm and with a residual connection.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attention.hpp"
#include "linear.hpp"
#include "parallel.hpp"
#include "ranks.hpp"
#include "shape.hpp"

namespace lm {

// Activations of one block that backward needs.
template <typename T>
struct BlockActivations {
  Tensor qkv;               // rotated by the rotary positions
  Tensor attended;          // rows × width: the output of attention
  Tensor log_sums;          // of its softmax
  Matrix<T> attention_rms;  // 1 × rows
  Matrix<T> gated_rms;      // 1 × rows
  Tensor qkv_saved, output_saved, gate_up_saved, down_saved;

  // Inputs of norms and of the gated unit for backward: the stream before and in the middle of the block, gate and up columns.
  // With a storage format they have it, and forward computes with the values before this rounding. Without one, forward writes
  // them directly: the stream in type T, and gate and up as views of `gate_up`, in the format of activations.
  Tensor input, middle;
  Tensor gate_up;  // rows × two hidden: gate columns, then up columns; empty with a storage format
  Tensor gate, up;

  size_t bytes(lpt_context *context) const;
};

// Returns the format of the activations that backward needs.
template <typename T>
lpt_format stored_format(const Precision &precision) {
  return precision.stored == LPT_FORMAT_NONE ? kFormatOf<T> : precision.stored;
}

// Returns the format of the inputs and outputs of layers inside a block, and of their gradients.
template <typename T>
lpt_format activation_format(const Precision &precision) {
  return precision.activations == LPT_FORMAT_NONE ? kFormatOf<T> : precision.activations;
}

// Buffers shared by all blocks. Their contents are valid only within forward or backward of one block.
template <typename T>
struct BlockScratch {
  // `part` is the slice of the layers of this rank.
  BlockScratch(lpt_context *context, const ModelShape &shape, const ModelShape &part, const Precision &precision,
               int64_t rows);

  Tensor normed;            // rows × width; in backward its gradient
  Matrix<T> projected;      // rows × width: the last addend of the stream
  Matrix<T> input, middle;  // with a storage format: the stream before and in the middle of a block
  Tensor gate_up;           // with a storage format: gate columns, then up columns
  Tensor gated;             // rows × hidden; in backward its gradient
  Tensor attended_gradient, qkv_gradient, gate_up_gradient;
  Tensor smoothing;  // 1 × hidden
};

template <typename T>
class Block {
 public:
  // Adds the parameters of the block to `parameters`, which must outlive the block.
  Block(lpt_context *context, const ModelShape &shape, const Precision &precision, const lpt_recipe *recipe,
        int64_t index, ParameterList &parameters, const Parallel &parallel);

  BlockActivations<T> make_activations(lpt_context *context, int64_t rows) const;

  // Returns the tensor for the stream before the block. Before the first block the caller writes it.
  lpt_tensor *input(const BlockActivations<T> &kept, const BlockScratch<T> &scratch) const;

  // Returns the stream in the middle of the block; after the block it is the sum of this and scratch.projected. `residual` is the
  // result of the previous block, and nullptr for the first one.
  const lpt_tensor *forward(lpt_context *context, const lpt_tensor *residual, const Pass &pass,
                            BlockActivations<T> &kept, BlockScratch<T> &scratch);

  // `gradient` is the gradient of the output of the block. Backward replaces it by that of the input.
  void backward(lpt_context *context, const Pass &pass, BlockActivations<T> &kept, BlockScratch<T> &scratch,
                const Matrix<T> &gradient);

  std::vector<Linear *> linears() { return {&qkv_, &output_, &gate_up_, &down_}; }
  const Linear &down() const { return down_; }
  const std::string &gate_up_name() const { return gate_up_.weight().name; }

  // Returns the cosines between gate and up weights.
  lpt_swiglu_alignment_info alignment(lpt_context *context) const;

 private:
  Parameter *matrix(lpt_context *context, ParameterList &parameters, const char *name, int64_t rows, int64_t columns,
                    double gain, const Slice &slice) const;
  Slice rows_slice(int64_t sections) const;
  Slice columns_slice() const;
  void norm_backward(lpt_context *context, const lpt_tensor *input, const Parameter &weight, const Matrix<T> &rms,
                     const Pass &pass, BlockScratch<T> &scratch, const Matrix<T> &gradient);

  ModelShape shape_;
  TensorRanks *ranks_;  // nullptr: this rank has the full layers
  ModelShape part_;     // the slice of this rank
  int64_t index_;
  bool is_unit_scaled_;
  lpt_format stored_, activation_format_;
  lpt_swiglu_smoothing smoothing_;
  Parameter *attention_norm_;
  Parameter *gated_norm_;
  Linear qkv_, output_, gate_up_, down_;
  Attention attention_;
};

extern template class Block<float>;
extern template class Block<double>;

}  // namespace lm
