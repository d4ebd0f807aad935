// Rotary positions and causal attention.
#pragma once

#include "handles.hpp"
#include "shape.hpp"

namespace lm {

// `qkv` has the columns queries | keys | values, each heads × head width; rows are sequences × positions. f64, f32 or bf16.

// Rotates queries and keys in-place: row r has position r mod sequence. Backward rotates their gradients back.
class Rotary {
 public:
  Rotary(lpt_context *context, const ModelShape &shape);

  void forward(lpt_context *context, const lpt_tensor *qkv) const;
  void backward(lpt_context *context, const lpt_tensor *qkv_gradient) const;

 private:
  ModelShape shape_;
  Matrix<double> frequencies_;
};

// Creates the log of the softmax sum for each query and head: f64 if activations are f64, else f32.
Tensor make_log_sums(lpt_context *context, const ModelShape &shape, lpt_format format, int64_t rows);

// Causal attention of each sequence and head. Backward reads the output and the log sums of forward.
void attend(lpt_context *context, const ModelShape &shape, const lpt_tensor *qkv, const lpt_tensor *output,
            lpt_tensor *log_sums);
void attend_backward(lpt_context *context, const ModelShape &shape, const lpt_tensor *qkv, const lpt_tensor *output,
                     lpt_tensor *log_sums, const lpt_tensor *output_gradient, const lpt_tensor *qkv_gradient);

}  // namespace lm
