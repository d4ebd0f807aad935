// A byte-level decoder: embedding, blocks, norm, head. T is float to train, double to check gradients.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "block.hpp"
#include "parallel.hpp"

namespace lm {

// What one batch of so many sequences keeps from forward to backward; one per batch in flight.
template <typename T>
struct Activations {
  std::vector<Matrix<T>> stream;  // the residual stream before each block, and after the last
  std::vector<BlockActivations<T>> blocks;
  BlockScratch<T> scratch;
  Matrix<T> rms;       // 1 × rows, of the last norm
  Matrix<T> logits;    // rows × 256; the loss turns them into their gradient
  Matrix<T> gradient;  // of the stream
  Tensor head_saved;
};

template <typename T>
class Model {
 public:
  Model(lpt_context *context, const ModelShape &shape, const Precision &precision, uint64_t seed, Parallel parallel);

  Activations<T> make_activations(lpt_context *context, int64_t sequences) const;

  // Casts all weights. To be called before the first pass and after every optimizer step.
  void prepare(lpt_context *context, uint32_t step);

  // Writes the logits of every position; `inputs` are whole sequences, one after the other.
  void forward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass, Activations<T> &kept);

  // Takes the gradient that the loss left in the logits back to every parameter.
  void backward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass, Activations<T> &kept);

  const ModelShape &shape() const { return shape_; }
  std::deque<Parameter> &parameters() { return parameters_.items(); }
  const std::deque<Parameter> &parameters() const { return parameters_.items(); }
  std::vector<Linear *> linears();

  // Bytes of what prepare() makes of the weights.
  size_t cast_bytes(lpt_context *context);

 private:
  Pass located(const Pass &pass, int64_t rows) const;
  void embed(lpt_context *context, std::span<const uint8_t> inputs, const Matrix<T> &stream) const;
  void embed_backward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass,
                      const Matrix<T> &gradient);

  ModelShape shape_;
  uint64_t seed_;
  Parallel parallel_;
  ParameterList parameters_;
  Parameter *embedding_;
  std::deque<Block<T>> blocks_;
  Parameter *norm_;
  Linear head_;
  Matrix<T> table_;  // the embedding as rows of T; empty while the parameter itself is that
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace lm
