#include "attention.hpp"

namespace lm {

namespace {

int64_t element_bytes(lpt_format format) { return format == LPT_FORMAT_F64 ? 8 : format == LPT_FORMAT_F32 ? 4 : 2; }

// Returns `heads` heads of columns from `column`, as sequences × heads × positions × head width.
Tensor heads_of(lpt_context *context, const ModelShape &shape, const lpt_tensor *matrix, int64_t column,
                int64_t heads) {
  lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, matrix, &facts));
  const int64_t stride = facts.strides[0], length = shape.sequence;
  const int64_t extents[] = {facts.extents[0] / length, heads, length, shape.head_width()};
  const int64_t strides[] = {length * stride, shape.head_width(), stride, 1};
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = facts.format;
  description.data = static_cast<char *>(facts.data) + column * element_bytes(facts.format);
  description.rank = 4;
  description.extents = extents;
  description.strides = strides;
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_wrap(context, &description, &tensor));
  return Tensor(tensor);
}

// Queries, keys and values, or their gradients.
struct Heads {
  Tensor query, key, value;

  Heads(lpt_context *context, const ModelShape &shape, const lpt_tensor *qkv)
      : query(heads_of(context, shape, qkv, 0, shape.heads)),
        key(heads_of(context, shape, qkv, shape.width, shape.heads)),
        value(heads_of(context, shape, qkv, 2 * shape.width, shape.heads)) {}
};

// Rotates queries and keys in one call, because their heads are adjacent.
void rotate(lpt_context *context, const ModelShape &shape, const Matrix<double> &frequencies, const lpt_tensor *qkv,
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

void Rotary::forward(lpt_context *context, const lpt_tensor *qkv) const {
  rotate(context, shape_, frequencies_, qkv, false);
}

void Rotary::backward(lpt_context *context, const lpt_tensor *qkv_gradient) const {
  rotate(context, shape_, frequencies_, qkv_gradient, true);
}

Tensor make_log_sums(lpt_context *context, const ModelShape &shape, lpt_format format, int64_t rows) {
  const int64_t extents[] = {rows / shape.sequence, shape.heads, shape.sequence};
  lpt_tensor *tensor = nullptr;
  const lpt_format sums = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  check(context, lpt_tensor_create(context, sums, 3, extents, &tensor));
  return Tensor(tensor);
}

void attend(lpt_context *context, const ModelShape &shape, const lpt_tensor *qkv, const lpt_tensor *output,
            lpt_tensor *log_sums) {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  options.log_sum_exp = log_sums;
  const Heads heads(context, shape, qkv);
  check(context, lpt_attention_forward(context, heads.query.get(), heads.key.get(), heads.value.get(), &options,
                                       heads_of(context, shape, output, 0, shape.heads).get()));
}

void attend_backward(lpt_context *context, const ModelShape &shape, const lpt_tensor *qkv, const lpt_tensor *output,
                     lpt_tensor *log_sums, const lpt_tensor *output_gradient, const lpt_tensor *qkv_gradient) {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  const Tensor kept = heads_of(context, shape, output, 0, shape.heads);
  options.output = kept.get();
  options.log_sum_exp = log_sums;
  const Heads heads(context, shape, qkv), gradients(context, shape, qkv_gradient);
  check(context, lpt_attention_backward(context, heads.query.get(), heads.key.get(), heads.value.get(),
                                        heads_of(context, shape, output_gradient, 0, shape.heads).get(), &options,
                                        gradients.query.get(), gradients.key.get(), gradients.value.get()));
}

}  // namespace lm
