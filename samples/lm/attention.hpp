// Causal attention with rotary positions.
#pragma once

#include <vector>

#include "handles.hpp"
#include "ranks.hpp"
#include "shape.hpp"

namespace lm {

// `qkv` has the columns queries | keys | values, each heads × head width; rows are sequences × positions. f64, f32 or bf16.

// Causal attention of each sequence and head, with rotary positions.
class Attention {
 public:
  // `ranks` divide each sequence, and `shape` has the positions of this rank. nullptr: rows have all positions.
  Attention(lpt_context *context, const ModelShape &shape, SequenceRanks *ranks);

  // Creates the log of the softmax sum for each query and head: f64 if activations are f64, else f32.
  Tensor make_log_sums(lpt_context *context, lpt_format format, int64_t rows) const;

  // Rotates queries and keys in place. Backward reads the output and the log sums of forward, and writes the gradient of `qkv` before
  // the rotation.
  void forward(lpt_context *context, const lpt_tensor *qkv, const lpt_tensor *output, lpt_tensor *log_sums) const;
  void backward(lpt_context *context, const lpt_tensor *qkv, const lpt_tensor *output, lpt_tensor *log_sums,
                const lpt_tensor *output_gradient, const lpt_tensor *qkv_gradient) const;

 private:
  void rotate(lpt_context *context, const lpt_tensor *qkv, bool is_inverse) const;
  lpt_sequence_attention_options divided_options(lpt_tensor *log_sums) const;

  ModelShape shape_;
  SequenceRanks *ranks_;
  Matrix<double> frequencies_;
  std::vector<int64_t> positions_;
  Tensor positions_tensor_;  // of positions_; nullptr: rows have all positions
};

}  // namespace lm
