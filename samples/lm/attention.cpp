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

}  // namespace

Attention::Attention(lpt_context *context, const ModelShape &shape, SequenceRanks *ranks)
    : shape_(shape), ranks_(ranks), frequencies_(context, 1, shape.head_width() / 2) {
  check(context, lpt_rotary_frequencies(context, nullptr, frequencies_.tensor()));
  if (ranks == nullptr) {
    return;
  }
  positions_ = ranks->positions(shape.sequence * ranks->ranks());
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_wrap_const_matrix(context, LPT_FORMAT_INT64, positions_.data(), 1,
                                              static_cast<int64_t>(positions_.size()), 0, &tensor));
  positions_tensor_.reset(tensor);
}

Tensor Attention::make_log_sums(lpt_context *context, lpt_format format, int64_t rows) const {
  const int64_t extents[] = {rows / shape_.sequence, shape_.heads, shape_.sequence};
  lpt_tensor *tensor = nullptr;
  const lpt_format sums = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  check(context, lpt_tensor_create(context, sums, 3, extents, &tensor));
  return Tensor(tensor);
}

// Rotates queries and keys in one call, because their heads are adjacent.
void Attention::rotate(lpt_context *context, const lpt_tensor *qkv, bool is_inverse) const {
  lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
  options.is_inverse = is_inverse ? 1 : 0;
  options.positions = positions_tensor_.get();
  const Tensor heads = heads_of(context, shape_, qkv, 0, 2 * shape_.heads);
  check(context, lpt_rotary(context, heads.get(), frequencies_.tensor(), &options, heads.get()));
}

lpt_sequence_attention_options Attention::divided_options(lpt_tensor *log_sums) const {
  lpt_sequence_attention_options options = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  options.layout = LPT_SEQUENCE_LAYOUT_ZIGZAG;
  options.wire = ranks_->wire();
  options.log_sum_exp = log_sums;
  return options;
}

void Attention::forward(lpt_context *context, const lpt_tensor *qkv, const lpt_tensor *output,
                        lpt_tensor *log_sums) const {
  rotate(context, qkv, false);
  const Heads heads(context, shape_, qkv);
  const Tensor result = heads_of(context, shape_, output, 0, shape_.heads);
  if (ranks_ != nullptr) {
    const lpt_sequence_attention_options options = divided_options(log_sums);
    check(context, lpt_sequence_attention_forward(context, ranks_->comm(), nullptr, heads.query.get(), heads.key.get(),
                                                  heads.value.get(), &options, result.get()));
    return;
  }
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  options.log_sum_exp = log_sums;
  check(context,
        lpt_attention_forward(context, heads.query.get(), heads.key.get(), heads.value.get(), &options, result.get()));
}

void Attention::backward(lpt_context *context, const lpt_tensor *qkv, const lpt_tensor *output, lpt_tensor *log_sums,
                         const lpt_tensor *output_gradient, const lpt_tensor *qkv_gradient) const {
  const Tensor kept = heads_of(context, shape_, output, 0, shape_.heads);
  const Tensor given = heads_of(context, shape_, output_gradient, 0, shape_.heads);
  const Heads heads(context, shape_, qkv), gradients(context, shape_, qkv_gradient);
  if (ranks_ != nullptr) {
    lpt_sequence_attention_options options = divided_options(log_sums);
    options.output = kept.get();
    check(context, lpt_sequence_attention_backward(context, ranks_->comm(), nullptr, heads.query.get(), heads.key.get(),
                                                   heads.value.get(), given.get(), &options, gradients.query.get(),
                                                   gradients.key.get(), gradients.value.get()));
  } else {
    lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
    options.is_causal = 1;
    options.output = kept.get();
    options.log_sum_exp = log_sums;
    check(context, lpt_attention_backward(context, heads.query.get(), heads.key.get(), heads.value.get(), given.get(),
                                          &options, gradients.query.get(), gradients.key.get(), gradients.value.get()));
  }
  rotate(context, qkv_gradient, true);
}

}  // namespace lm
