// One layer of the decoder: attention and a gated unit, each behind an RMS norm and beside the residual stream.
#pragma once

#include <cstddef>
#include <vector>

#include "attention.hpp"
#include "linear.hpp"
#include "ranks.hpp"
#include "shape.hpp"

namespace lm {

// What one block keeps from forward to backward.
template <typename T>
struct BlockActivations {
  Tensor qkv;               // rotated by the rotary positions
  Tensor attended;          // rows × width: the output of attention
  Tensor log_sums;          // of its softmax
  Matrix<T> attention_rms;  // 1 × rows
  Matrix<T> gated_rms;      // 1 × rows
  Tensor qkv_saved, output_saved, gate_up_saved, down_saved;

  // What norms and the gated unit read again: the stream before the block and in its middle, gate and up columns. In T, or
  // in the format that they are stored in; then the stream and the scratch hold the numbers of forward.
  Tensor input, middle, gate, up;

  size_t bytes(lpt_context *context) const;
};

// Of queries, keys and values, and of their gradients.
template <typename T>
lpt_format attention_format(const Precision &precision) {
  return precision.attention == LPT_FORMAT_NONE ? kFormatOf<T> : precision.attention;
}

// What all blocks share, as nothing of it outlives a block's forward or backward.
template <typename T>
struct BlockScratch {
  // `part` is what this rank has of the layers.
  BlockScratch(lpt_context *context, const ModelShape &shape, const ModelShape &part, lpt_format attention,
               int64_t rows);

  Matrix<T> normed;     // rows × width; in backward its gradient
  Matrix<T> projected;  // rows × width: what joins the stream; in backward the part of its gradient
  Matrix<T> middle;     // rows × width: the stream between attention and gated unit
  Matrix<T> gate_up;    // rows × two hidden: gate columns, then up columns
  Matrix<T> gated;      // rows × hidden; in backward its gradient
  Tensor attended_gradient, qkv_gradient;
  Matrix<T> gate_up_gradient;
  Tensor smoothing;  // 1 × hidden
};

template <typename T>
class Block {
 public:
  // Adds the block's parameters to `parameters`, which outlives the block.
  Block(lpt_context *context, const ModelShape &shape, const Precision &precision, const lpt_recipe *recipe,
        int64_t index, ParameterList &parameters, TensorRanks *ranks);

  BlockActivations<T> make_activations(lpt_context *context, int64_t rows) const;

  // Reads the stream's `input` and writes its `output`; neither is needed for backward.
  void forward(lpt_context *context, const Matrix<T> &input, const Pass &pass, BlockActivations<T> &kept,
               BlockScratch<T> &scratch, const Matrix<T> &output);

  // `gradient` comes as the gradient of the block's output and leaves as that of its input.
  void backward(lpt_context *context, const Pass &pass, BlockActivations<T> &kept, BlockScratch<T> &scratch,
                const Matrix<T> &gradient);

  std::vector<Linear *> linears() { return {&qkv_, &output_, &gate_up_, &down_}; }

 private:
  Parameter *matrix(lpt_context *context, ParameterList &parameters, const char *name, int64_t rows, int64_t columns,
                    double gain, const Slice &slice) const;
  Slice rows_slice(int64_t sections) const;
  Slice columns_slice() const;
  void norm_backward(lpt_context *context, const lpt_tensor *input, const Parameter &weight, const Matrix<T> &rms,
                     const Pass &pass, BlockScratch<T> &scratch, const Matrix<T> &gradient);

  ModelShape shape_;
  TensorRanks *ranks_;  // nullptr: this one has all of it
  ModelShape part_;     // what this rank has
  int64_t index_;
  bool is_unit_scaled_;
  lpt_format stored_, attention_;
  lpt_swiglu_smoothing smoothing_;
  Parameter *attention_norm_;
  Parameter *gated_norm_;
  Linear qkv_, output_, gate_up_, down_;
  Rotary rotary_;
};

// sum = a + b, element by element; sum may be a or b.
template <typename T>
void add(const Matrix<T> &a, const Matrix<T> &b, const Matrix<T> &sum);

extern template class Block<float>;
extern template class Block<double>;

}  // namespace lm
