// Cross entropy of the next byte.
#pragma once

#include <cstdint>
#include <span>

#include "ranks.hpp"

namespace lm {

inline constexpr double kNatsPerBit = 0.6931471805599453;

// Returns the mean over rows of -log softmax(logits)[target], in nats. With `ranks` each rank has the logits of some bytes,
// from a column-parallel layer, and all return the same loss. `ranks` may be nullptr.
template <typename T>
double cross_entropy(lpt_context *context, const TensorRanks *ranks, const Matrix<T> &logits,
                     std::span<const uint8_t> targets);

// Also replaces `logits` by the gradient of `scale` times the mean: scale · (softmax - [column is target]) / rows.
template <typename T>
double cross_entropy_to_gradient(lpt_context *context, const TensorRanks *ranks, const Matrix<T> &logits,
                                 std::span<const uint8_t> targets, double scale = 1.0);

}  // namespace lm
