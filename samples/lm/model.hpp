// A byte-level decoder: embedding, blocks, norm, head. T is float for training, double to check gradients.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "block.hpp"
#include "parallel.hpp"

namespace lm {

// Activations of one batch that backward needs; one per batch in flight.
template <typename T>
struct Activations {
  Matrix<T> stream;  // the residual stream after the last block
  std::vector<BlockActivations<T>> blocks;
  BlockScratch<T> scratch;
  Matrix<T> rms;       // 1 × rows, of the last norm
  Matrix<T> logits;    // rows × 256; the loss replaces them by their gradient
  Matrix<T> gradient;  // of the stream
  Tensor head_saved;

  // Returns the bytes that are in use from forward to backward.
  size_t bytes(lpt_context *context) const;
};

template <typename T>
class Model {
 public:
  Model(lpt_context *context, const ModelShape &shape, const Precision &precision, uint64_t seed, Parallel parallel);

  Activations<T> make_activations(lpt_context *context, int64_t sequences) const;

  // Casts all weights. Must be called before the first pass and after every optimizer step.
  void prepare(lpt_context *context, uint32_t step);

  // Writes the logits of every position. `inputs` are consecutive full sequences.
  void forward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass, Activations<T> &kept);

  // Propagates the gradient in the logits to every parameter.
  void backward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass, Activations<T> &kept);

  const ModelShape &shape() const { return shape_; }
  std::deque<Parameter> &parameters() { return parameters_.items(); }
  const std::deque<Parameter> &parameters() const { return parameters_.items(); }
  std::vector<Linear *> linears();
  std::deque<Block<T>> &blocks() { return blocks_; }

  // Sets the recipe of the blocks to that of the precision with the GEMMs of `raised` in high precision, and casts the weights.
  // Activations must be created a second time by the caller.
  void raise(lpt_context *context, Raised raised, uint32_t step);

  // Sets another recipe of the blocks in the same way.
  void set_recipe(lpt_context *context, const std::string &recipe, uint32_t step);

  // Returns the bytes of the weights as cast by prepare().
  size_t cast_bytes(lpt_context *context);

 private:
  void renew_recipes(lpt_context *context, uint32_t step);
  int64_t tensor_ranks() const;
  Pass located(const Pass &pass, int64_t rows) const;

  ModelShape shape_;
  Precision precision_;
  uint64_t seed_;
  Parallel parallel_;
  ParameterList parameters_;
  Parameter *embedding_;
  std::deque<Block<T>> blocks_;
  Parameter *norm_;
  Linear head_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace lm
