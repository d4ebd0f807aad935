#include "attention.hpp"

#include <cmath>

namespace lm {

namespace {

constexpr double kRotaryBase = 10000.0;

lpt_attention_options causal() {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  return options;
}

// Columns of a matrix from `column` on, as sequences × heads × positions × head width.
template <typename T>
Tensor heads_of(lpt_context *context, const ModelShape &shape, const Matrix<T> &matrix, int64_t column) {
  const int64_t stride = matrix.columns(), length = shape.sequence;
  const int64_t extents[] = {matrix.rows() / length, shape.heads, length, shape.head_width()};
  const int64_t strides[] = {length * stride, shape.head_width(), stride, 1};
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = kFormatOf<T>;
  description.data = matrix.row(0) + column;
  description.rank = 4;
  description.extents = extents;
  description.strides = strides;
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_wrap(context, &description, &tensor));
  return Tensor(tensor);
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

template <typename T>
void attend(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv, const Matrix<T> &output) {
  const lpt_attention_options options = causal();
  const int64_t width = shape.heads * shape.head_width();
  check(context, lpt_attention_forward(context, heads_of(context, shape, qkv, 0).get(),
                                       heads_of(context, shape, qkv, width).get(),
                                       heads_of(context, shape, qkv, 2 * width).get(), &options,
                                       heads_of(context, shape, output, 0).get()));
}

template <typename T>
void attend_backward(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv,
                     const Matrix<T> &output_gradient, const Matrix<T> &qkv_gradient) {
  const lpt_attention_options options = causal();
  const int64_t width = shape.heads * shape.head_width();
  check(context, lpt_attention_backward(
                     context, heads_of(context, shape, qkv, 0).get(), heads_of(context, shape, qkv, width).get(),
                     heads_of(context, shape, qkv, 2 * width).get(), heads_of(context, shape, output_gradient, 0).get(),
                     &options, heads_of(context, shape, qkv_gradient, 0).get(),
                     heads_of(context, shape, qkv_gradient, width).get(),
                     heads_of(context, shape, qkv_gradient, 2 * width).get()));
}

template class Rotary<float>;
template class Rotary<double>;
template void attend(lpt_context *, const ModelShape &, const Matrix<float> &, const Matrix<float> &);
template void attend(lpt_context *, const ModelShape &, const Matrix<double> &, const Matrix<double> &);
template void attend_backward(lpt_context *, const ModelShape &, const Matrix<float> &, const Matrix<float> &,
                              const Matrix<float> &);
template void attend_backward(lpt_context *, const ModelShape &, const Matrix<double> &, const Matrix<double> &,
                              const Matrix<double> &);

}  // namespace lm
