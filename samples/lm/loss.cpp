#include "loss.hpp"

#include "indices.hpp"

namespace lm {

namespace {

lpt_cross_entropy_options options_of(const TensorRanks *ranks) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.comm = ranks == nullptr ? nullptr : ranks->comm();
  return options;
}

}  // namespace

template <typename T>
double cross_entropy(lpt_context *context, const TensorRanks *ranks, const Matrix<T> &logits,
                     std::span<const uint8_t> targets) {
  const lpt_cross_entropy_options options = options_of(ranks);
  const Indices classes(context, targets);
  const Matrix<double> loss(context, 1, 1);
  check(context,
        lpt_cross_entropy_forward(context, logits.tensor(), classes.tensor(), &options, loss.tensor(), nullptr));
  return *loss.row(0);
}

template <typename T>
double cross_entropy_to_gradient(lpt_context *context, const TensorRanks *ranks, const Matrix<T> &logits,
                                 std::span<const uint8_t> targets, double scale) {
  const lpt_cross_entropy_options options = options_of(ranks);
  const Indices classes(context, targets);
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
