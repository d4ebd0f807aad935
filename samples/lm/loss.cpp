#include "loss.hpp"

#include <algorithm>
#include <cmath>

namespace lm {

namespace {

// Leaves exp(x - max) in the row and gives the sum: softmax is row / sum.
template <typename T>
T exponentials(std::span<T> row) {
  const T largest = *std::max_element(row.begin(), row.end());
  T sum = 0;
  for (T &x : row) {
    x = std::exp(x - largest);
    sum += x;
  }
  return sum;
}

// log(sum of exp) - logit of the target.
template <typename T>
double row_loss(std::span<const T> row, uint8_t target) {
  const T largest = *std::max_element(row.begin(), row.end());
  T sum = 0;
  for (const T x : row) {
    sum += std::exp(x - largest);
  }
  return static_cast<double>(std::log(sum) + largest - row[target]);
}

}  // namespace

template <typename T>
double cross_entropy(const Matrix<T> &logits, std::span<const uint8_t> targets) {
  double sum = 0.0;
  for (int64_t r = 0; r < logits.rows(); ++r) {
    sum += row_loss<T>({logits.row(r), static_cast<size_t>(logits.columns())}, targets[static_cast<size_t>(r)]);
  }
  return sum / static_cast<double>(logits.rows());
}

template <typename T>
double cross_entropy_to_gradient(const Matrix<T> &logits, std::span<const uint8_t> targets, double scale) {
  const T share = static_cast<T>(scale) / static_cast<T>(logits.rows());
  double loss = 0.0;
  for (int64_t r = 0; r < logits.rows(); ++r) {
    const std::span<T> row(logits.row(r), static_cast<size_t>(logits.columns()));
    const uint8_t target = targets[static_cast<size_t>(r)];
    const T target_logit = row[target] - *std::max_element(row.begin(), row.end());
    const T sum = exponentials(row);
    loss += static_cast<double>(std::log(sum) - target_logit);
    for (T &x : row) {
      x *= share / sum;
    }
    row[target] -= share;
  }
  return loss / static_cast<double>(logits.rows());
}

template double cross_entropy(const Matrix<float> &, std::span<const uint8_t>);
template double cross_entropy(const Matrix<double> &, std::span<const uint8_t>);
template double cross_entropy_to_gradient(const Matrix<float> &, std::span<const uint8_t>, double);
template double cross_entropy_to_gradient(const Matrix<double> &, std::span<const uint8_t>, double);

}  // namespace lm
