// Cross entropy of the next byte.
#pragma once

#include <cstdint>
#include <span>

#include "ranks.hpp"

namespace lm {

inline constexpr double kNatsPerBit = 0.6931471805599453;

// The mean over rows of -log softmax(logits)[target], in nats; rows are summed in f64.
template <typename T>
double cross_entropy(const Matrix<T> &logits, std::span<const uint8_t> targets);

// The same; afterwards `logits` holds the gradient of `scale` times the mean: scale · (softmax - [column is target]) / rows.
template <typename T>
double cross_entropy_to_gradient(const Matrix<T> &logits, std::span<const uint8_t> targets, double scale = 1.0);

// The same of logits that ranks share by columns, a column-parallel layer's: largest and sum of every row are the ranks'
// together. All ranks give the same loss.
template <typename T>
double shared_cross_entropy(lpt_context *context, TensorRanks &ranks, const Matrix<T> &logits,
                            std::span<const uint8_t> targets);
template <typename T>
double shared_cross_entropy_to_gradient(lpt_context *context, TensorRanks &ranks, const Matrix<T> &logits,
                                        std::span<const uint8_t> targets, double scale = 1.0);

}  // namespace lm
