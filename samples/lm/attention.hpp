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

// Per sequence and head: probabilities = softmax(q · kᵀ / sqrt(head width)), output = probabilities · v.
// `qkv` has the columns queries | keys | values, each heads × head width; rows are sequences × positions.
template <typename T>
class Attention {
 public:
  Attention(lpt_context *context, const ModelShape &shape);

  // `probabilities` is written: sequences · heads · positions rows, kept for backward.
  void forward(lpt_context *context, const Matrix<T> &qkv, const Matrix<T> &probabilities, const Matrix<T> &output);
  void backward(lpt_context *context, const Matrix<T> &qkv, const Matrix<T> &probabilities,
                const Matrix<T> &output_gradient, const Matrix<T> &qkv_gradient);

 private:
  struct Head;
  Head head(lpt_context *context, const Matrix<T> &qkv, const Matrix<T> &probabilities, const Matrix<T> &output,
            int64_t sequence, int64_t index) const;

  ModelShape shape_;
  Matrix<T> scores_;           // positions × positions, of one head at a time
  Matrix<T> scores_gradient_;  // the same
};

extern template class Rotary<float>;
extern template class Rotary<double>;
extern template class Attention<float>;
extern template class Attention<double>;

}  // namespace lm
