#include "src/nn/attention_operands.hpp"

#include <cfloat>

#include "src/nn/softmax.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_exaq(const lpt_exaq_options &options) {
  LPT_TRY(check_levels(options));
  if (options.flags != 0) return unsupported("exaq.flags is %lld: expected 0", number(options.flags));
  if (options.scale != 1.0) return invalid("exaq.scale is %g: expected 1", options.scale);
  return options.is_causal == 0 ? Status() : invalid("exaq.is_causal is %d: expected 0", options.is_causal);
}

Status check_options(const lpt_attention_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("scale", options.scale, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
  LPT_TRY(check_choice("is_causal", options.is_causal, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  if (options.window < 0) return invalid("window is %lld: expected 0 or more", number(options.window));
  if (options.window != 0 && options.is_causal == 0) {
    return invalid("window is %lld and is_causal is 0: expected 1", number(options.window));
  }
  return options.exaq == nullptr ? Status() : check_exaq(*options.exaq);
}

// Reads the mask, which is added to the scores. Missing axes and axes of extent 1 are broadcast.
Status read_mask(Attention &attention) {
  const Tensor *const tensor = attention.options.mask;
  if (tensor == nullptr) return {};
  Heads &mask = attention.mask;
  const Device &device = attention.context.queue.device();
  LPT_TRY(read_heads(tensor, "mask", !attention.is_check(), false, device, mask));
  const Heads &query = attention.query;
  const int64_t extents[] = {query.batch(), query.heads(), query.positions(), attention.key.positions()};
  for (int32_t i = 0; i < 3; ++i) {
    if (mask.tensor.extents[i] != 1) continue;
    mask.tensor.extents[i] = extents[i];
    mask.tensor.strides[i] = 0;
  }
  return check_extents(mask, *tensor, extents[0], extents[1], extents[2], extents[3]);
}

// Splits the batches where their key lengths differ.
Status read_parts(Attention &attention) {
  const int64_t batch = attention.query.batch(), keys = attention.key.positions();
  const Tensor *const tensor = attention.options.key_lengths;
  MatrixView lengths;
  if (tensor != nullptr) {
    LPT_TRY(check_indices(tensor, "key_lengths", !attention.is_check(), lengths, Device()));
    if (lengths.columns != batch) {
      return invalid("key_lengths is %s: expected %lld elements", tensor_text(*tensor).c_str(), number(batch));
    }
  }
  if (tensor == nullptr || attention.is_check()) {
    attention.parts = {{0, batch, keys}};
    return {};
  }
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = index_at(lengths, b);
    if (length < 0 || length > keys) {
      return invalid("%s is %lld: expected 0 to %lld", item("key_lengths", b).c_str(), number(length), number(keys));
    }
    if (!attention.parts.empty() && attention.parts.back().keys == length) {
      ++attention.parts.back().batches;
    } else {
      attention.parts.push_back({b, 1, length});
    }
  }
  return {};
}

}  // namespace

Status read_heads(const Tensor *tensor, const char *name, bool needs_data, bool is_stored, const Device &device,
                  Heads &out) {
  LPT_TRY(check_tensor(tensor, name, device));
  if (tensor->rank < 2 || tensor->rank > 4) {
    return invalid("%s is %s: expected 2 to 4 axes", name, tensor_text(*tensor).c_str());
  }
  const Format &format = tensor->format;
  if (is_packed(tensor->layout) || format.is_sparse || (!is_stored && !is_wide_float(format.id))) {
    return unsupported("%s is %s: expected f64, f32, bf16 or f16%s", name, tensor_text(*tensor).c_str(),
                       is_stored ? ", or codes of dense rows" : "");
  }
  LPT_TRY(check_holds_numbers(format.id, name));
  if (format.block_rows > 1) {
    return unsupported("%s is %s: expected blocks one row high", name, format_name(format.id).c_str());
  }
  if (needs_data) LPT_TRY(check_data(*tensor, name));
  const int32_t missing = 4 - tensor->rank;
  out = {name, *tensor};
  out.tensor.rank = 4;
  for (int32_t i = 3; i >= 0; --i) {
    out.tensor.extents[i] = i < missing ? 1 : tensor->extents[i - missing];
    out.tensor.strides[i] = i < missing ? 0 : tensor->strides[i - missing];
  }
  if (out.tensor.strides[3] == 1 || out.width() <= 1) return {};
  return unsupported("%s has stride %lld along its rows: expected 1", name, number(out.tensor.strides[3]));
}

Status read_log_sums(const Tensor *tensor, const char *name, bool needs_data, const Device &device,
                     const LogSumsShape &shape, Heads &out) {
  if (tensor == nullptr) return {};
  LPT_TRY(check_tensor(tensor, name, device));
  if (tensor->rank > 3 || (tensor->format.id != LPT_FORMAT_F32 && tensor->format.id != LPT_FORMAT_F64)) {
    return invalid("%s is %s: expected up to 3 axes, f32 or f64", name, tensor_text(*tensor).c_str());
  }
  Tensor column = *tensor;  // one column per head
  column.extents[column.rank] = column.strides[column.rank] = 1;
  ++column.rank;
  LPT_TRY(read_heads(&column, name, needs_data, false, device, out));
  return check_extents(out, *tensor, shape.batch, shape.heads, shape.positions, 1);
}

Status check_extents(const Heads &heads, const Tensor &given, int64_t batch, int64_t count, int64_t positions,
                     int64_t width) {
  if (heads.batch() == batch && heads.heads() == count && heads.positions() == positions && heads.width() == width) {
    return {};
  }
  return invalid("%s is %s: expected %lld x %lld x %lld x %lld", heads.name, tensor_text(given).c_str(), number(batch),
                 number(count), number(positions), number(width));
}

Status check_no_overlap(const Heads &output, const Heads &input) {
  const auto end_of = [](const Heads &heads) {
    int64_t last = 0;
    for (int32_t i = 0; i < 4; ++i) last += (heads.tensor.extents[i] - 1) * heads.tensor.strides[i];
    return static_cast<const std::byte *>(heads.tensor.data) + row_bytes(heads.tensor.format.element, last + 1);
  };
  const bool is_empty = std::min(output.count() * output.positions() * output.width(),
                                 input.count() * input.positions() * input.width()) == 0;
  if (is_empty || output.tensor.data == nullptr || input.tensor.data == nullptr) return {};
  if (output.tensor.data >= end_of(input) || input.tensor.data >= end_of(output)) return {};
  return invalid("%s overlaps %s", output.name, input.name);
}

Status read_inputs(const Tensor *given_query, const Tensor *given_key, const Tensor *given_value, bool is_stored,
                   Attention &attention) {
  const Device &device = attention.context.queue.device();
  const bool needs_data = !attention.is_check();
  LPT_TRY(check_options(attention.options));
  Heads &query = attention.query, &key = attention.key, &value = attention.value;
  LPT_TRY(read_heads(given_query, "query", needs_data, false, device, query));
  LPT_TRY(read_heads(given_key, "key", needs_data, is_stored, device, key));
  LPT_TRY(read_heads(given_value, "value", needs_data, is_stored, device, value));
  const bool is_divisor = key.heads() != 0 ? query.heads() % key.heads() == 0 : query.heads() == 0;
  if (!is_divisor) {
    return invalid("key is %s: expected a number of heads that divides %lld, those of query",
                   tensor_text(*given_key).c_str(), number(query.heads()));
  }
  LPT_TRY(check_extents(key, *given_key, query.batch(), key.heads(), key.positions(), query.width()));
  LPT_TRY(check_extents(value, *given_value, query.batch(), key.heads(), key.positions(), value.width()));
  LPT_TRY(read_mask(attention));
  LPT_TRY(read_log_sums(attention.options.log_sum_exp, "log_sum_exp", needs_data, device,
                        {query.batch(), query.heads(), query.positions()}, attention.log_sums));
  return read_parts(attention);
}

}  // namespace lpt
