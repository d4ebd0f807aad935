#include "attention.hpp"

namespace lm {

namespace {

lpt_attention_options causal() {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  return options;
}

// `heads` heads of columns from `column` on, as sequences × heads × positions × head width.
template <typename T>
Tensor heads_of(lpt_context *context, const ModelShape &shape, const Matrix<T> &matrix, int64_t column, int64_t heads) {
  const int64_t stride = matrix.columns(), length = shape.sequence;
  const int64_t extents[] = {matrix.rows() / length, heads, length, shape.head_width()};
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

// Queries, keys and values, or their gradients.
template <typename T>
struct Heads {
  Tensor query, key, value;

  Heads(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv)
      : query(heads_of(context, shape, qkv, 0, shape.heads)),
        key(heads_of(context, shape, qkv, shape.width, shape.heads)),
        value(heads_of(context, shape, qkv, 2 * shape.width, shape.heads)) {}
};

// The heads of queries and keys are adjacent.
template <typename T>
void rotate(lpt_context *context, const ModelShape &shape, const Matrix<double> &frequencies, const Matrix<T> &qkv,
            bool is_inverse) {
  lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
  options.is_inverse = is_inverse ? 1 : 0;
  const Tensor heads = heads_of(context, shape, qkv, 0, 2 * shape.heads);
  check(context, lpt_rotary(context, heads.get(), frequencies.tensor(), &options, heads.get()));
}

}  // namespace

Rotary::Rotary(lpt_context *context, const ModelShape &shape)
    : shape_(shape), frequencies_(context, 1, shape.head_width() / 2) {
  check(context, lpt_rotary_frequencies(context, nullptr, frequencies_.tensor()));
}

template <typename T>
void Rotary::forward(lpt_context *context, const Matrix<T> &qkv) const {
  rotate(context, shape_, frequencies_, qkv, false);
}

template <typename T>
void Rotary::backward(lpt_context *context, const Matrix<T> &qkv_gradient) const {
  rotate(context, shape_, frequencies_, qkv_gradient, true);
}

template <typename T>
void attend(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv, const Matrix<T> &output) {
  const lpt_attention_options options = causal();
  const Heads<T> heads(context, shape, qkv);
  check(context, lpt_attention_forward(context, heads.query.get(), heads.key.get(), heads.value.get(), &options,
                                       heads_of(context, shape, output, 0, shape.heads).get()));
}

template <typename T>
void attend_backward(lpt_context *context, const ModelShape &shape, const Matrix<T> &qkv,
                     const Matrix<T> &output_gradient, const Matrix<T> &qkv_gradient) {
  const lpt_attention_options options = causal();
  const Heads<T> heads(context, shape, qkv), gradients(context, shape, qkv_gradient);
  check(context, lpt_attention_backward(context, heads.query.get(), heads.key.get(), heads.value.get(),
                                        heads_of(context, shape, output_gradient, 0, shape.heads).get(), &options,
                                        gradients.query.get(), gradients.key.get(), gradients.value.get()));
}

template void Rotary::forward(lpt_context *, const Matrix<float> &) const;
template void Rotary::forward(lpt_context *, const Matrix<double> &) const;
template void Rotary::backward(lpt_context *, const Matrix<float> &) const;
template void Rotary::backward(lpt_context *, const Matrix<double> &) const;
template void attend(lpt_context *, const ModelShape &, const Matrix<float> &, const Matrix<float> &);
template void attend(lpt_context *, const ModelShape &, const Matrix<double> &, const Matrix<double> &);
template void attend_backward(lpt_context *, const ModelShape &, const Matrix<float> &, const Matrix<float> &,
                              const Matrix<float> &);
template void attend_backward(lpt_context *, const ModelShape &, const Matrix<double> &, const Matrix<double> &,
                              const Matrix<double> &);

}  // namespace lm
