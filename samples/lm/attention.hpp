// Rotary positions and causal attention, in the format of the activations: low precision stays out of it.
#pragma once

#include "handles.hpp"
#include "shape.hpp"

namespace lm {

// `qkv` has the columns queries | keys | values, each heads × head width; rows are sequences × positions.

// Rotates queries and keys in place: row r has position r mod sequence. Backward rotates their gradients back.
class Rotary {
 public:
  Rotary(lpt_context *context, const ModelShape &shape);

  template <typename T>
  void forward(lpt_context *context, const Matrix<T> &qkv) const;
  template <typename T>
  void backward(lpt_context *context, const Matrix<T> &qkv_gradient) const;

 private:
  ModelShape shape_;
  Matrix<double> frequencies_;
};

// Causal attention of each sequence and head.
template <typename T>
void attend(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv, const Matrix<T> &output);
template <typename T>
void attend_backward(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv,
                     const Matrix<T> &output_gradient, const Matrix<T> &qkv_gradient);

}  // namespace lm
