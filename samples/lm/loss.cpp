#include "loss.hpp"

#include <vector>

namespace lm {

namespace {

lpt_cross_entropy_options options_of(const TensorRanks *ranks) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.comm = ranks == nullptr ? nullptr : ranks->comm();
  return options;
}

// The targets as a tensor.
class Classes {
 public:
  Classes(lpt_context *context, std::span<const uint8_t> targets) : classes_(targets.begin(), targets.end()) {
    check(context, lpt_tensor_wrap_const_matrix(context, LPT_FORMAT_INT64, classes_.data(), 1,
                                                static_cast<int64_t>(classes_.size()), 0, &tensor_));
  }
  ~Classes() { lpt_tensor_destroy(tensor_); }
  Classes(const Classes &) = delete;
  Classes &operator=(const Classes &) = delete;
  const lpt_tensor *tensor() const { return tensor_; }

 private:
  std::vector<int64_t> classes_;
  lpt_tensor *tensor_ = nullptr;
};

}  // namespace

template <typename T>
double cross_entropy(lpt_context *context, const TensorRanks *ranks, const Matrix<T> &logits,
                     std::span<const uint8_t> targets) {
  const lpt_cross_entropy_options options = options_of(ranks);
  const Classes classes(context, targets);
  const Matrix<double> loss(context, 1, 1);
  check(context,
        lpt_cross_entropy_forward(context, logits.tensor(), classes.tensor(), &options, loss.tensor(), nullptr));
  return *loss.row(0);
}

template <typename T>
double cross_entropy_to_gradient(lpt_context *context, const TensorRanks *ranks, const Matrix<T> &logits,
                                 std::span<const uint8_t> targets, double scale) {
  const lpt_cross_entropy_options options = options_of(ranks);
  const Classes classes(context, targets);
  const Matrix<double> loss(context, 1, 1), factor(context, 1, 1), log_sums(context, 1, logits.rows());
  *factor.row(0) = scale;
  check(context, lpt_cross_entropy_forward(context, logits.tensor(), classes.tensor(), &options, loss.tensor(),
                                           log_sums.tensor()));
  check(context, lpt_cross_entropy_backward(context, logits.tensor(), classes.tensor(), log_sums.tensor(),
                                            factor.tensor(), &options, logits.tensor()));
  return *loss.row(0);
}

template double cross_entropy(lpt_context *, const TensorRanks *, const Matrix<float> &, std::span<const uint8_t>);
template double cross_entropy(lpt_context *, const TensorRanks *, const Matrix<double> &, std::span<const uint8_t>);
template double cross_entropy_to_gradient(lpt_context *, const TensorRanks *, const Matrix<float> &,
                                          std::span<const uint8_t>, double);
template double cross_entropy_to_gradient(lpt_context *, const TensorRanks *, const Matrix<double> &,
                                          std::span<const uint8_t>, double);

}  // namespace lm
