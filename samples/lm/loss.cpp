#include "loss.hpp"

#include <algorithm>
#include <cmath>

namespace lm {

namespace {

// Leaves exp(x - largest) in the row and gives the sum: softmax is row / sum.
template <typename T>
T exponentials(std::span<T> row, T largest) {
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

// What ranks tell each other about every row of logits that they share.
template <typename T>
class SharedRows {
 public:
  // Leaves exp(x - largest) in the logits.
  SharedRows(lpt_context *context, TensorRanks &ranks, const Matrix<T> &logits, std::span<const uint8_t> targets)
      : first_(ranks.rank() * logits.columns()), largest_(context, 1, logits.rows()), sums_(context, 2, logits.rows()) {
    for (int64_t r = 0; r < logits.rows(); ++r) {
      const std::span<T> row = row_of(logits, r);
      largest_.row(0)[r] = *std::max_element(row.begin(), row.end());
      const int64_t place = place_of(targets[static_cast<size_t>(r)]);
      sums_.row(1)[r] = is_here(place, logits) ? row[static_cast<size_t>(place)] : T(0);
    }
    ranks.reduce(context, largest_.tensor(), LPT_REDUCTION_MAXIMUM);
    for (int64_t r = 0; r < logits.rows(); ++r) {
      sums_.row(0)[r] = exponentials(row_of(logits, r), largest_.row(0)[r]);
    }
    ranks.reduce(context, sums_.tensor());
  }

  T largest(int64_t row) const { return largest_.row(0)[row]; }
  T sum(int64_t row) const { return sums_.row(0)[row]; }
  T target(int64_t row) const { return sums_.row(1)[row]; }
  int64_t place_of(uint8_t target) const { return target - first_; }
  bool is_here(int64_t place, const Matrix<T> &logits) const { return place >= 0 && place < logits.columns(); }
  static std::span<T> row_of(const Matrix<T> &logits, int64_t row) {
    return {logits.row(row), static_cast<size_t>(logits.columns())};
  }

 private:
  int64_t first_;  // byte of this rank
  Matrix<T> largest_, sums_;
};

}  // namespace

template <typename T>
double shared_cross_entropy(lpt_context *context, TensorRanks &ranks, const Matrix<T> &logits,
                            std::span<const uint8_t> targets) {
  const SharedRows<T> rows(context, ranks, logits, targets);
  double sum = 0.0;
  for (int64_t r = 0; r < logits.rows(); ++r) {
    sum += static_cast<double>(std::log(rows.sum(r)) + rows.largest(r) - rows.target(r));
  }
  return sum / static_cast<double>(logits.rows());
}

template <typename T>
double shared_cross_entropy_to_gradient(lpt_context *context, TensorRanks &ranks, const Matrix<T> &logits,
                                        std::span<const uint8_t> targets, double scale) {
  const T share = static_cast<T>(scale) / static_cast<T>(logits.rows());
  const SharedRows<T> rows(context, ranks, logits, targets);
  double loss = 0.0;
  for (int64_t r = 0; r < logits.rows(); ++r) {
    const T target_logit = rows.target(r) - rows.largest(r);
    loss += static_cast<double>(std::log(rows.sum(r)) - target_logit);
    for (T &x : rows.row_of(logits, r)) {
      x *= share / rows.sum(r);
    }
    const int64_t place = rows.place_of(targets[static_cast<size_t>(r)]);
    if (rows.is_here(place, logits)) {
      logits.row(r)[place] -= share;
    }
  }
  return loss / static_cast<double>(logits.rows());
}

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
    const T largest = *std::max_element(row.begin(), row.end());
    const T target_logit = row[target] - largest;
    const T sum = exponentials(row, largest);
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

template double shared_cross_entropy(lpt_context *, TensorRanks &, const Matrix<float> &, std::span<const uint8_t>);
template double shared_cross_entropy(lpt_context *, TensorRanks &, const Matrix<double> &, std::span<const uint8_t>);
template double shared_cross_entropy_to_gradient(lpt_context *, TensorRanks &, const Matrix<float> &,
                                                 std::span<const uint8_t>, double);
template double shared_cross_entropy_to_gradient(lpt_context *, TensorRanks &, const Matrix<double> &,
                                                 std::span<const uint8_t>, double);

}  // namespace lm
