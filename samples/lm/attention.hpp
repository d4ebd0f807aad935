// Rotary positions and causal attention, in the format of the activations: low precision stays out of it.
#pragma once

#include <cstdint>
#include <vector>

#include "handles.hpp"
#include "shape.hpp"

namespace lm {

// Rotates pairs of query and key columns by an angle that grows with the position; column i pairs with i + half a head.
template <typename T>
class Rotary {
 public:
  explicit Rotary(const ModelShape &shape);

  // Rotates queries and keys in place: row r has position r mod sequence. Backward rotates gradients back.
  void forward(const Matrix<T> &qkv) const { transpose(qkv, T(1)); }
  void backward(const Matrix<T> &qkv_gradient) const { transpose(qkv_gradient, T(-1)); }

 private:
  void transpose(const Matrix<T> &qkv, T direction) const;

  ModelShape shape_;
  std::vector<T> cosines_;  // sequence × half a head
  std::vector<T> sines_;
};

// Causal attention of each sequence and head. `qkv` has the columns queries | keys | values, each heads × head width; rows are
// sequences × positions.
template <typename T>
void attend(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv, const Matrix<T> &output);
template <typename T>
void attend_backward(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv,
                     const Matrix<T> &output_gradient, const Matrix<T> &qkv_gradient);

extern template class Rotary<float>;
extern template class Rotary<double>;

}  // namespace lm
