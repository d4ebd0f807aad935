#include "attention.hpp"

#include <cmath>

namespace lm {

namespace {

constexpr double kRotaryBase = 10000.0;

void multiply(lpt_context *context, const lpt_tensor *a, bool is_a_transposed, const lpt_tensor *b,
              bool is_b_transposed, lpt_tensor *c) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = is_a_transposed ? 1 : 0;
  options.is_b_transposed = is_b_transposed ? 1 : 0;
  check(context, lpt_gemm(context, a, b, &options, c));
}

lpt_softmax_options causal_softmax(const ModelShape &shape) {
  lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
  options.scale = 1.0 / std::sqrt(static_cast<double>(shape.head_width()));
  options.is_causal = 1;
  return options;
}

}  // namespace

template <typename T>
Rotary<T>::Rotary(const ModelShape &shape) : shape_(shape) {
  const int64_t half = shape.head_width() / 2;
  for (int64_t position = 0; position < shape.sequence; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(position) * std::pow(kRotaryBase, -static_cast<double>(i) / static_cast<double>(half));
      cosines_.push_back(static_cast<T>(std::cos(angle)));
      sines_.push_back(static_cast<T>(std::sin(angle)));
    }
  }
}

template <typename T>
void Rotary<T>::transpose(const Matrix<T> &qkv, T direction) const {
  const int64_t half = shape_.head_width() / 2;
  for (int64_t r = 0; r < qkv.rows(); ++r) {
    const T *cosine = &cosines_[static_cast<size_t>(r % shape_.sequence * half)];
    const T *sine = &sines_[static_cast<size_t>(r % shape_.sequence * half)];
    for (int64_t head = 0; head < 2 * shape_.heads; ++head) {  // queries, then keys
      T *low = qkv.row(r) + head * 2 * half;
      T *high = low + half;
      for (int64_t i = 0; i < half; ++i) {
        const T x = low[i];
        const T y = high[i];
        low[i] = x * cosine[i] - direction * y * sine[i];
        high[i] = y * cosine[i] + direction * x * sine[i];
      }
    }
  }
}

// Views of one head's matrices, positions × head width, and of its probabilities, positions × positions.
template <typename T>
struct Attention<T>::Head {
  Tensor query, key, value, output, probabilities;
};

template <typename T>
Attention<T>::Attention(lpt_context *context, const ModelShape &shape)
    : shape_(shape),
      scores_(context, shape.sequence, shape.sequence),
      scores_gradient_(context, shape.sequence, shape.sequence) {}

template <typename T>
typename Attention<T>::Head Attention<T>::head(lpt_context *context, const Matrix<T> &qkv,
                                               const Matrix<T> &probabilities, const Matrix<T> &output,
                                               int64_t sequence, int64_t index) const {
  const int64_t length = shape_.sequence;
  const int64_t width = shape_.width;
  const int64_t head_width = shape_.head_width();
  const int64_t row = sequence * length;
  const int64_t column = index * head_width;
  return {.query = qkv.view(context, row, column, length, head_width),
          .key = qkv.view(context, row, width + column, length, head_width),
          .value = qkv.view(context, row, 2 * width + column, length, head_width),
          .output = output.view(context, row, column, length, head_width),
          .probabilities = probabilities.view(context, (sequence * shape_.heads + index) * length, 0, length, length)};
}

template <typename T>
void Attention<T>::forward(lpt_context *context, const Matrix<T> &qkv, const Matrix<T> &probabilities,
                           const Matrix<T> &output) {
  const lpt_softmax_options softmax = causal_softmax(shape_);
  for (int64_t sequence = 0; sequence < qkv.rows() / shape_.sequence; ++sequence) {
    for (int64_t index = 0; index < shape_.heads; ++index) {
      const Head one = head(context, qkv, probabilities, output, sequence, index);
      multiply(context, one.query.get(), false, one.key.get(), true, scores_.tensor());
      check(context, lpt_softmax_forward(context, scores_.tensor(), &softmax, one.probabilities.get()));
      multiply(context, one.probabilities.get(), false, one.value.get(), false, one.output.get());
    }
  }
}

template <typename T>
void Attention<T>::backward(lpt_context *context, const Matrix<T> &qkv, const Matrix<T> &probabilities,
                            const Matrix<T> &output_gradient, const Matrix<T> &qkv_gradient) {
  const lpt_softmax_options softmax = causal_softmax(shape_);
  for (int64_t sequence = 0; sequence < qkv.rows() / shape_.sequence; ++sequence) {
    for (int64_t index = 0; index < shape_.heads; ++index) {
      const Head one = head(context, qkv, probabilities, output_gradient, sequence, index);
      const Head out = head(context, qkv_gradient, probabilities, output_gradient, sequence, index);
      multiply(context, one.output.get(), false, one.value.get(), true, scores_.tensor());
      multiply(context, one.probabilities.get(), true, one.output.get(), false, out.value.get());
      check(context, lpt_softmax_backward(context, one.probabilities.get(), scores_.tensor(), &softmax,
                                          scores_gradient_.tensor()));
      multiply(context, scores_gradient_.tensor(), false, one.key.get(), false, out.query.get());
      multiply(context, scores_gradient_.tensor(), true, one.query.get(), false, out.key.get());
    }
  }
}

template class Rotary<float>;
template class Rotary<double>;
template class Attention<float>;
template class Attention<double>;

}  // namespace lm
