// For each block of queries: scores = query · key^T, probabilities = softmax(scores), output = probabilities · value. The
// matrices of some heads are in scratch at once, few enough for a cache.
#include "src/nn/attention.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "src/call/launch.hpp"
#include "src/cast/cast.hpp"
#include "src/gemm/checks.hpp"
#include "src/gemm/run.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Queries of a block, and bytes of the scores of the heads of a block: those of a thread, or of a device.
constexpr int64_t kBlock = 128, kDeviceBlock = 2048;
constexpr int64_t kScoreBytes = int64_t{1} << 20, kDeviceScoreBytes = int64_t{1} << 28;

Status check_options(const lpt_attention_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("scale", options.scale, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
  LPT_TRY(check_choice("is_causal", options.is_causal, 1));
  return options.reserved == 0 ? Status() : unsupported("reserved is %d: expected 0", options.reserved);
}

// An operand as batch × heads × positions × width.
struct Heads {
  const char *name;
  Tensor tensor;  // of rank 4

  int64_t batch() const { return tensor.extents[0]; }
  int64_t heads() const { return tensor.extents[1]; }
  int64_t positions() const { return tensor.extents[2]; }
  int64_t width() const { return tensor.extents[3]; }
  int64_t count() const { return batch() * heads(); }
  lpt_format format() const { return tensor.format.id; }

  // Some positions of one head.
  Status view(int64_t head, int64_t first, int64_t positions, MatrixView &out_view) const {
    Tensor matrix;
    LPT_TRY(matrix_at(tensor, name, head, matrix));
    LPT_TRY(matrix_of(matrix, name, out_view));
    out_view = cut_rows(out_view, first, positions);
    return {};
  }
};

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

Status check_extents(const Heads &heads, const Tensor &given, int64_t batch, int64_t count, int64_t positions,
                     int64_t width) {
  if (heads.batch() == batch && heads.heads() == count && heads.positions() == positions && heads.width() == width) {
    return {};
  }
  return invalid("%s is %s: expected %lld x %lld x %lld x %lld", heads.name, tensor_text(given).c_str(), number(batch),
                 number(count), number(positions), number(width));
}

// Both tensors between their first and their last element: views of one buffer are taken to overlap.
Status check_apart(const Heads &output, const Heads &input) {
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

struct Attention {
  Context &context;
  const lpt_attention_options &options;
  Heads query{}, key{}, value{};

  bool is_check() const { return is_check_only(options.flags); }
  int64_t group() const { return key.heads() == 0 ? 1 : query.heads() / key.heads(); }  // heads that share a key head
  double scale() const {
    return options.scale != 0.0 ? options.scale
                                : 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(query.width(), 1)));
  }
  int64_t block() const { return is_on_cpu(context) ? kBlock : kDeviceBlock; }
  int64_t head_of(int64_t key_head, int64_t i) const { return key_head * group() + i; }

  // Keys that the last of some queries sees; the matrix of their scores has so many columns.
  int64_t keys_of(int64_t first, int64_t count) const {
    const int64_t all = key.positions();
    return options.is_causal == 0 ? all : std::clamp<int64_t>(first + count + all - query.positions(), 0, all);
  }
  // Key heads whose scores are in scratch at once.
  int64_t heads_at_once() const {
    const int64_t bytes = is_on_cpu(context) ? kScoreBytes * width_of(context) : kDeviceScoreBytes;
    const int64_t each = std::min(block(), query.positions()) * group() * key.positions() * 4;
    return std::clamp<int64_t>(bytes / std::max<int64_t>(each, 1), 1, std::max<int64_t>(key.count(), 1));
  }
};

Status read_inputs(const AttentionInputs &inputs, bool is_stored, Attention &attention) {
  const Device &device = attention.context.queue.device();
  const bool needs_data = !attention.is_check();
  LPT_TRY(check_options(attention.options));
  Heads &query = attention.query, &key = attention.key, &value = attention.value;
  LPT_TRY(read_heads(inputs.query, "query", needs_data, false, device, query));
  LPT_TRY(read_heads(inputs.key, "key", needs_data, is_stored, device, key));
  LPT_TRY(read_heads(inputs.value, "value", needs_data, is_stored, device, value));
  const bool is_divisor = key.heads() != 0 ? query.heads() % key.heads() == 0 : query.heads() == 0;
  if (!is_divisor) {
    return invalid("key is %s: expected a number of heads that divides %lld, those of query",
                   tensor_text(*inputs.key).c_str(), number(query.heads()));
  }
  LPT_TRY(check_extents(key, *inputs.key, query.batch(), key.heads(), key.positions(), query.width()));
  return check_extents(value, *inputs.value, query.batch(), key.heads(), key.positions(), value.width());
}

// ---- one block of queries of some key heads

struct Block {
  int64_t first_head, heads;   // of the keys
  int64_t first, count, keys;  // queries, and the keys that they see

  int64_t rows(const Attention &attention) const { return heads * attention.group() * count; }
};

// The rows of a head in a matrix of all heads of a block.
MatrixView rows_of(const Attention &attention, const Block &block, const MatrixView &matrix, int64_t head, int64_t i) {
  return cut_rows(matrix, (head * attention.group() + i) * block.count, block.count);
}

// make(key head, i, call) sets the operands of head i of those that share a key head.
template <typename Make>
Status multiply(const Attention &attention, const Block &block, int64_t first, int64_t count, const Make &make) {
  std::vector<GemmCall> calls;
  for (int64_t head = 0; head < block.heads; ++head) {
    for (int64_t i = first; i < first + count; ++i) {
      GemmCall call;
      LPT_TRY(make(head, i, call));
      calls.push_back(call);
    }
  }
  return run_gemms(attention.context, calls, attention.is_check());
}

template <typename Make>
Status multiply(const Attention &attention, const Block &block, const Make &make) {
  return multiply(attention, block, 0, attention.group(), make);
}

// left · right^T, of queries and keys.
Status multiply_by_keys(const Attention &attention, const Block &block, const Heads &left, const Heads &right,
                        const MatrixView &scores) {
  return multiply(attention, block, [&](int64_t head, int64_t i, GemmCall &call) -> Status {
    LPT_TRY(left.view(attention.head_of(block.first_head + head, i), block.first, block.count, call.a));
    LPT_TRY(right.view(block.first_head + head, 0, block.keys, call.b));
    call.is_b_transposed = true;
    call.c = rows_of(attention, block, scores, head, i);
    return {};
  });
}

// weights · right, with a row of weights for each query.
Status multiply_by_values(const Attention &attention, const Block &block, const MatrixView &weights, const Heads &right,
                          const Heads &output) {
  return multiply(attention, block, [&](int64_t head, int64_t i, GemmCall &call) -> Status {
    call.a = rows_of(attention, block, weights, head, i);
    LPT_TRY(right.view(block.first_head + head, 0, block.keys, call.b));
    return output.view(attention.head_of(block.first_head + head, i), block.first, block.count, call.c);
  });
}

Status compute_probabilities(const Attention &attention, const Block &block, const MatrixView &scores,
                             const MatrixView &probabilities) {
  SoftmaxForwardRequest whole{
      scores, probabilities, attention.scale(), attention.options.is_causal != 0, 0, std::max<int64_t>(block.count, 1)};
  return launch(attention.context, {"softmax_forward", softmax_forward_kernels}, whole,
                {scores.format.id, probabilities.format.id}, attention.is_check(),
                {scores.rows, scores.columns, view_bytes(scores) + view_bytes(probabilities)},
                [](const SoftmaxForwardRequest &request, int64_t begin, int64_t count) {
                  SoftmaxForwardRequest rows = request;
                  rows.input = cut_rows(request.input, begin, count);
                  rows.output = cut_rows(request.output, begin, count);
                  rows.first_row = begin;
                  return rows;
                });
}

// gradient of the scores = scale · p · (dp - sum(p · dp)).
Status compute_score_gradient(const Attention &attention, const MatrixView &probabilities, const MatrixView &gradient,
                              const MatrixView &scores) {
  const SoftmaxBackwardRequest whole{probabilities, gradient, scores, attention.scale()};
  return launch(attention.context, {"softmax_backward", softmax_backward_kernels}, whole,
                {probabilities.format.id, gradient.format.id, scores.format.id}, attention.is_check(),
                {scores.rows, scores.columns, 2 * view_bytes(scores) + view_bytes(gradient)},
                [](const SoftmaxBackwardRequest &request, int64_t begin, int64_t count) {
                  return SoftmaxBackwardRequest{cut_rows(request.output, begin, count),
                                                cut_rows(request.output_gradient, begin, count),
                                                cut_rows(request.input_gradient, begin, count), request.scale};
                });
}

// run(block) for all blocks of queries of some key heads, the last queries first: they see all keys.
template <typename Run>
Status run_blocks(const Attention &attention, int64_t first_head, int64_t heads, const Run &run) {
  Context &context = attention.context;
  Arena &arena = is_on_cpu(context) ? *context.arena : *context.device_arena;
  const int64_t queries = attention.query.positions(), step = attention.block();
  const int64_t blocks = std::max<int64_t>((queries + step - 1) / step, 1);
  for (int64_t i = blocks - 1; i >= 0; --i) {
    const int64_t first = i * step, count = std::min(step, queries - first);
    const Arena::Mark mark = arena.mark();
    const size_t reported = context.choices.size();
    LPT_TRY(run(Block{first_head, heads, first, count, attention.keys_of(first, count)}));
    arena.give_back(mark);  // what comes next is queued behind it
    const bool is_reported = first_head == 0 && i == blocks - 1;
    if (!is_reported) context.choices.resize(reported);
  }
  return {};
}

// run(first, count) for parts of the key heads; once under LPT_CHECK_ONLY.
template <typename Run>
Status run_heads(const Attention &attention, const Run &run) {
  const int64_t step = attention.heads_at_once();
  for (int64_t first = 0; first < attention.key.count(); first += step) {
    LPT_TRY(run(first, std::min(step, attention.key.count() - first)));
    if (attention.is_check()) return {};
  }
  return {};
}

// The format of sums.
lpt_format sum_format(std::initializer_list<const Heads *> operands) {
  const bool is_f64 = std::any_of(operands.begin(), operands.end(),
                                  [](const Heads *heads) { return heads->format() == LPT_FORMAT_F64; });
  return is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
}

// Of what multiplies `other`: its own format, or `wide` where that is quantized.
lpt_format weight_format(lpt_format sums, const Heads &other, const Heads &wide) {
  if (sums == LPT_FORMAT_F64) return sums;
  return is_wide_float(other.format()) ? other.format() : wide.format();
}

// ---- the backward pass

// The gradient of keys or values: f32 or f64 sums of some heads, then that of the caller.
struct SharedGradient {
  const Heads &heads;
  MatrixView sums;  // of the key heads at once, one below the other; without rows where the gradient takes them itself

  Status view(const Block &block, int64_t head, MatrixView &out_view) const {
    if (sums.rows == 0) return heads.view(block.first_head + head, 0, block.keys, out_view);
    out_view = cut_rows(sums, head * heads.positions(), block.keys);
    return {};
  }
};

Status take_sums(const Attention &attention, lpt_format sums, int64_t key_heads, SharedGradient &gradient) {
  const Heads &heads = gradient.heads;
  if (heads.format() == sums) return {};
  return take_matrix(attention.context, sums, key_heads * heads.positions(), heads.width(), attention.is_check(),
                     gradient.sums);
}

Status write_sums(const Attention &attention, const SharedGradient &gradient, int64_t first_head, int64_t key_heads) {
  const Heads &heads = gradient.heads;
  for (int64_t head = 0; gradient.sums.rows != 0 && head < key_heads; ++head) {
    MatrixView target;
    LPT_TRY(heads.view(first_head + head, 0, heads.positions(), target));
    LPT_TRY(widen_matrix(attention.context, cut_rows(gradient.sums, head * heads.positions(), heads.positions()),
                         target, attention.is_check()));
  }
  return {};
}

// gradient += weights^T · right, over the heads that share a key head, one after the other.
Status add_over_queries(const Attention &attention, const Block &block, const MatrixView &weights, const Heads &right,
                        const SharedGradient &gradient) {
  const bool is_last_block = block.first + block.count >= attention.query.positions();
  for (int64_t i = 0; i < attention.group(); ++i) {
    LPT_TRY(multiply(attention, block, i, 1, [&](int64_t head, int64_t, GemmCall &call) -> Status {
      call.a = rows_of(attention, block, weights, head, i);
      call.is_a_transposed = true;
      LPT_TRY(right.view(attention.head_of(block.first_head + head, i), block.first, block.count, call.b));
      call.beta = is_last_block && i == 0 ? 0.0 : 1.0;
      return gradient.view(block, head, call.c);
    }));
  }
  return {};
}

}  // namespace

Status attention_forward(Context &context, const AttentionInputs &inputs, const lpt_attention_options &options,
                         Tensor *output) {
  Attention attention{context, options};
  Heads result{};
  LPT_TRY(read_inputs(inputs, true, attention));
  const Heads &query = attention.query, &key = attention.key, &value = attention.value;
  LPT_TRY(read_heads(output, "output", !attention.is_check(), false, context.queue.device(), result));
  LPT_TRY(check_extents(result, *output, query.batch(), query.heads(), query.positions(), value.width()));
  for (const Heads *input : {&query, &key, &value}) LPT_TRY(check_apart(result, *input));
  const lpt_format sums = sum_format({&query, &key, &value, &result});
  const lpt_format weights = weight_format(sums, value, query);
  return run_heads(attention, [&](int64_t first_head, int64_t heads) {
    return run_blocks(attention, first_head, heads, [&](const Block &block) -> Status {
      MatrixView scores, probabilities;
      const int64_t rows = block.rows(attention);
      LPT_TRY(take_matrix(context, sums, rows, block.keys, attention.is_check(), scores));
      LPT_TRY(take_matrix(context, weights, rows, block.keys, attention.is_check(), probabilities));
      LPT_TRY(multiply_by_keys(attention, block, query, key, scores));
      LPT_TRY(compute_probabilities(attention, block, scores, probabilities));
      return multiply_by_values(attention, block, probabilities, value, result);
    });
  });
}

Status attention_backward(Context &context, const AttentionInputs &inputs, const Tensor *output_gradient,
                          const lpt_attention_options &options, const AttentionGradients &gradients) {
  Attention attention{context, options};
  Heads given{}, of_query{}, of_key{}, of_value{};
  LPT_TRY(read_inputs(inputs, false, attention));
  const Heads &query = attention.query, &key = attention.key, &value = attention.value;
  const Device &device = context.queue.device();
  const bool needs_data = !attention.is_check();
  LPT_TRY(read_heads(output_gradient, "output_gradient", needs_data, false, device, given));
  LPT_TRY(check_extents(given, *output_gradient, query.batch(), query.heads(), query.positions(), value.width()));
  const struct {
    const Tensor *tensor;
    const char *name;
    const Heads &like;
    Heads &heads;
  } outputs[] = {{gradients.query, "query_gradient", query, of_query},
                 {gradients.key, "key_gradient", key, of_key},
                 {gradients.value, "value_gradient", value, of_value}};
  for (const auto &[tensor, name, like, heads] : outputs) {
    LPT_TRY(read_heads(tensor, name, needs_data, false, device, heads));
    LPT_TRY(check_extents(heads, *tensor, like.batch(), like.heads(), like.positions(), like.width()));
    for (const Heads *input : {&query, &key, &value, static_cast<const Heads *>(&given)}) {
      LPT_TRY(check_apart(heads, *input));
    }
  }
  const lpt_format sums = sum_format({&query, &key, &value, &given, &of_query, &of_key, &of_value});
  const lpt_format weights = sums == LPT_FORMAT_F64 ? sums : value.format();
  const lpt_format score_weights = sums == LPT_FORMAT_F64 ? sums : key.format();
  return run_heads(attention, [&](int64_t first_head, int64_t heads) -> Status {
    Arena &arena = is_on_cpu(context) ? *context.arena : *context.device_arena;
    const Arena::Mark mark = arena.mark();
    SharedGradient to_key{of_key, {}}, to_value{of_value, {}};
    LPT_TRY(take_sums(attention, sums, heads, to_key));
    LPT_TRY(take_sums(attention, sums, heads, to_value));
    LPT_TRY(run_blocks(attention, first_head, heads, [&](const Block &block) -> Status {
      MatrixView scores, probabilities, gradient, score_gradient;
      const int64_t rows = block.rows(attention);
      const bool is_check = attention.is_check();
      LPT_TRY(take_matrix(context, sums, rows, block.keys, is_check, scores));
      LPT_TRY(take_matrix(context, weights, rows, block.keys, is_check, probabilities));
      LPT_TRY(take_matrix(context, sums, rows, block.keys, is_check, gradient));
      LPT_TRY(take_matrix(context, score_weights, rows, block.keys, is_check, score_gradient));
      LPT_TRY(multiply_by_keys(attention, block, query, key, scores));
      LPT_TRY(compute_probabilities(attention, block, scores, probabilities));
      LPT_TRY(add_over_queries(attention, block, probabilities, given, to_value));
      LPT_TRY(multiply_by_keys(attention, block, given, value, gradient));
      LPT_TRY(compute_score_gradient(attention, probabilities, gradient, score_gradient));
      LPT_TRY(multiply_by_values(attention, block, score_gradient, key, of_query));
      return add_over_queries(attention, block, score_gradient, query, to_key);
    }));
    LPT_TRY(write_sums(attention, to_key, first_head, heads));
    LPT_TRY(write_sums(attention, to_value, first_head, heads));
    arena.give_back(mark);
    return {};
  });
}

}  // namespace lpt
