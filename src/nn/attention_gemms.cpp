// For each block of queries: scores = query · key^T, probabilities = softmax(scores), output = probabilities · value. The
// matrices of a few heads are in scratch at once, so that they fit in a cache.
#include <vector>

#include "kernels/attention/merge.hpp"
#include "src/cast/cast.hpp"
#include "src/gemm/run.hpp"
#include "src/nn/attention_operands.hpp"
#include "src/nn/softmax.hpp"

namespace lpt {
namespace {

// Queries of a block, and bytes of the scores of all heads of a block: for each thread of the CPU, and for a device.
constexpr int64_t kBlock = 128, kDeviceBlock = 2048;
constexpr int64_t kScoreBytes = int64_t{1} << 20, kDeviceScoreBytes = int64_t{1} << 28;

// Returns the number of queries of a block.
int64_t block_of(const Attention &attention) { return is_on_cpu(attention.context) ? kBlock : kDeviceBlock; }

// Returns the number of keys that the last of `count` queries attends to, which is the number of columns of their scores.
int64_t keys_of(const Attention &attention, const AttentionPart &part, int64_t first, int64_t count) {
  if (attention.options.is_causal == 0) return part.keys;
  return std::clamp<int64_t>(first + count + part.keys - attention.query.positions(), 0, part.keys);
}

// Returns the number of key heads whose scores are in scratch at once.
int64_t heads_at_once(const Attention &attention) {
  Context &context = attention.context;
  const int64_t bytes = is_on_cpu(context) ? kScoreBytes * width_of(context) : kDeviceScoreBytes;
  const int64_t queries = std::min(block_of(attention), attention.query.positions());
  const int64_t each = queries * attention.group() * attention.key.positions() * 4;
  return std::clamp<int64_t>(bytes / std::max<int64_t>(each, 1), 1, std::max<int64_t>(attention.key.count(), 1));
}

// One block of queries of some key heads.

struct Block {
  int64_t first_head, heads;   // of the keys
  int64_t first, count, keys;  // queries, and the keys that they attend to

  int64_t rows(const Attention &attention) const { return heads * attention.group() * count; }
};

// Returns the rows of one head in a matrix of all heads of a block.
MatrixView rows_of(const Attention &attention, const Block &block, const MatrixView &matrix, int64_t head, int64_t i) {
  return cut_rows(matrix, (head * attention.group() + i) * block.count, block.count);
}

// Runs one GEMM per head. make(key head, i, call) sets the operands of query head i of those that share a key head.
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

// Computes scores = alpha · left · right^T + beta · scores for the queries and keys of a block.
Status multiply_by_keys(const Attention &attention, const Block &block, const Heads &left, const Heads &right,
                        const MatrixView &scores, double alpha = 1.0, double beta = 0.0) {
  return multiply(attention, block, [&](int64_t head, int64_t i, GemmCall &call) -> Status {
    LPT_TRY(left.view(attention.head_of(block.first_head + head, i), block.first, block.count, call.a));
    LPT_TRY(right.view(block.first_head + head, 0, block.keys, call.b));
    call.is_b_transposed = true;
    call.c = rows_of(attention, block, scores, head, i);
    call.alpha = alpha;
    call.beta = beta;
    return {};
  });
}

// Computes weights · right, with a row of weights for each query.
Status multiply_by_values(const Attention &attention, const Block &block, const MatrixView &weights, const Heads &right,
                          const Heads &output) {
  return multiply(attention, block, [&](int64_t head, int64_t i, GemmCall &call) -> Status {
    call.a = rows_of(attention, block, weights, head, i);
    LPT_TRY(right.view(block.first_head + head, 0, block.keys, call.b));
    return output.view(attention.head_of(block.first_head + head, i), block.first, block.count, call.c);
  });
}

// Copies the mask to the scores. The GEMM then adds the scores to the mask with beta = 1. Without a mask beta is 0.
Status write_mask(const Attention &attention, const Block &block, const MatrixView &scores) {
  if (!attention.has_mask()) return {};
  for (int64_t head = 0; head < block.heads; ++head) {
    for (int64_t i = 0; i < attention.group(); ++i) {
      MatrixView mask;
      LPT_TRY(attention.mask.view(attention.head_of(block.first_head + head, i), block.first, block.count, mask));
      LPT_TRY(widen_matrix(attention.context, cut_columns(mask, 0, block.keys),
                           rows_of(attention, block, scores, head, i), attention.is_check()));
    }
  }
  return {};
}

Status write_log_sums(const Attention &attention, const Block &block, const MatrixView &log_sums) {
  for (int64_t head = 0; head < block.heads; ++head) {
    for (int64_t i = 0; i < attention.group(); ++i) {
      MatrixView target;
      LPT_TRY(attention.log_sums.view(attention.head_of(block.first_head + head, i), block.first, block.count, target));
      LPT_TRY(
          widen_matrix(attention.context, rows_of(attention, block, log_sums, head, i), target, attention.is_check()));
    }
  }
  return {};
}

// Computes the softmax. Scores with a mask are already scaled.
Status compute_probabilities(const Attention &attention, const Block &block, const MatrixView &scores,
                             const MatrixView &probabilities, void *log_sums) {
  const lpt_attention_options &options = attention.options;
  const SoftmaxForwardRequest whole{.input = scores,
                                    .output = probabilities,
                                    .scale = attention.has_mask() ? 1.0 : attention.scale(),
                                    .is_causal = options.is_causal != 0,
                                    .first_row = 0,
                                    .period = std::max<int64_t>(block.count, 1),
                                    .window = options.window,
                                    .log_sums = log_sums};
  if (options.exaq == nullptr) return run_softmax_forward(attention.context, whole, attention.is_check());
  return run_softmax_exaq(attention.context, {whole, options.exaq->bits, options.exaq->clip}, attention.is_check());
}

// Computes the gradient of the scores: scale · p · (dp - sum(p · dp)).
Status compute_score_gradient(const Attention &attention, const MatrixView &probabilities, const MatrixView &gradient,
                              const MatrixView &scores) {
  return run_softmax_backward(attention.context, {probabilities, gradient, scores, attention.scale()},
                              attention.is_check());
}

Status compute_scores(const Attention &attention, const Block &block, const MatrixView &scores) {
  LPT_TRY(write_mask(attention, block, scores));
  const bool has_mask = attention.has_mask();
  return multiply_by_keys(attention, block, attention.query, attention.key, scores, has_mask ? attention.scale() : 1.0,
                          has_mask ? 1.0 : 0.0);
}

// Runs run(block) for all blocks of queries of some key heads of a part. The last queries are first because they attend to all
// keys.
template <typename Run>
Status run_blocks(const Attention &attention, const AttentionPart &part, int64_t first_head, int64_t heads,
                  const Run &run) {
  Context &context = attention.context;
  Arena &arena = *context.scratch;
  const int64_t queries = attention.query.positions(), step = block_of(attention);
  const int64_t blocks = std::max<int64_t>((queries + step - 1) / step, 1);
  for (int64_t i = blocks - 1; i >= 0; --i) {
    const int64_t first = i * step, count = std::min(step, queries - first);
    const Arena::Mark mark = arena.mark();
    const size_t reported = context.choices.size();
    LPT_TRY(run(Block{first_head, heads, first, count, keys_of(attention, part, first, count)}));
    arena.give_back(mark);  // later work in the queue runs after this block
    const bool is_reported = first_head == 0 && i == blocks - 1;
    if (!is_reported) context.choices.resize(reported);
  }
  return {};
}

// Runs run(part, first, count) for groups of key heads of each part; once under LPT_CHECK_ONLY.
template <typename Run>
Status run_heads(const Attention &attention, const Run &run) {
  const int64_t step = heads_at_once(attention), heads = attention.key.heads();
  for (const AttentionPart &part : attention.parts) {
    const int64_t end = (part.first + part.batches) * heads;
    for (int64_t first = part.first * heads; first < end; first += step) {
      LPT_TRY(run(part, first, std::min(step, end - first)));
      if (attention.is_check()) return {};
    }
  }
  return {};
}

// Returns the format of sums.
lpt_format sum_format(std::initializer_list<const Heads *> operands) {
  const bool is_f64 = std::any_of(operands.begin(), operands.end(),
                                  [](const Heads *heads) { return heads->format() == LPT_FORMAT_F64; });
  return is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
}

// Returns the format of the weights that multiply `other`: its format, or the format of `wide` if `other` is quantized.
lpt_format weight_format(lpt_format sums, const Heads &other, const Heads &wide) {
  if (sums == LPT_FORMAT_F64) return sums;
  return is_wide_float(other.format()) ? other.format() : wide.format();
}

// Backward pass.

// The gradient of keys or values: the tensor of the caller, and f32 or f64 sums of some heads.
struct SharedGradient {
  const Heads &heads;
  MatrixView sums;  // of the current key heads, one below the other; no rows if the tensor has the format of sums

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

Status write_sums(const Attention &attention, const AttentionPart &part, const SharedGradient &gradient,
                  int64_t first_head, int64_t key_heads) {
  const Heads &heads = gradient.heads;
  for (int64_t head = 0; gradient.sums.rows != 0 && head < key_heads; ++head) {
    MatrixView target;
    LPT_TRY(heads.view(first_head + head, 0, part.keys, target));
    LPT_TRY(widen_matrix(attention.context, cut_rows(gradient.sums, head * heads.positions(), part.keys), target,
                         attention.is_check()));
  }
  return {};
}

// Copies rows of all heads of a block to a dense matrix in the format of sums.
Status gather_rows(const Attention &attention, const Block &block, const Heads &heads, lpt_format sums,
                   MatrixView &out) {
  LPT_TRY(take_matrix(attention.context, sums, block.rows(attention), heads.width(), attention.is_check(), out));
  for (int64_t head = 0; head < block.heads; ++head) {
    for (int64_t i = 0; i < attention.group(); ++i) {
      MatrixView rows;
      LPT_TRY(heads.view(attention.head_of(block.first_head + head, i), block.first, block.count, rows));
      LPT_TRY(widen_matrix(attention.context, rows, rows_of(attention, block, out, head, i), attention.is_check()));
    }
  }
  return {};
}

// Makes probabilities over the keys of this call probabilities over all keys. `log_sums` are those of this call.
Status rescale(const Attention &attention, const Block &block, const MatrixView &probabilities,
               const MatrixView &log_sums) {
  MatrixView whole;
  const lpt_format sums = log_sums.format.id;
  LPT_TRY(gather_rows(attention, block, attention.log_sums, sums, whole));
  if (attention.is_check()) return {};
  rescale_probabilities(
      {sums, probabilities.rows, probabilities.columns, log_sums.data, whole.data, probabilities.data});
  return {};
}

// Replaces the gradient of the probabilities by that of the scores, over all keys.
Status replace_score_gradient(const Attention &attention, const Block &block, const Heads &given,
                              const MatrixView &probabilities, const MatrixView &gradient) {
  MatrixView output, output_gradient;
  const lpt_format sums = gradient.format.id;
  LPT_TRY(gather_rows(attention, block, attention.whole_output, sums, output));
  LPT_TRY(gather_rows(attention, block, given, sums, output_gradient));
  if (attention.is_check()) return {};
  apply_score_gradient({sums, gradient.rows, gradient.columns, output.columns, attention.scale(), probabilities.data,
                        output.data, output_gradient.data, gradient.data});
  return {};
}

// Computes gradient += weights^T · right. The query heads that share a key head are added in order.
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

Status attention_forward_by_gemms(const Attention &attention, const Heads &output) {
  Context &context = attention.context;
  const Heads &query = attention.query, &key = attention.key, &value = attention.value;
  const lpt_format sums = sum_format({&query, &key, &value, &output});
  const lpt_format weights = weight_format(sums, value, query);
  return run_heads(attention, [&](const AttentionPart &part, int64_t first_head, int64_t heads) {
    return run_blocks(attention, part, first_head, heads, [&](const Block &block) -> Status {
      MatrixView scores, probabilities;
      const int64_t rows = block.rows(attention);
      LPT_TRY(take_matrix(context, sums, rows, block.keys, attention.is_check(), scores));
      LPT_TRY(take_matrix(context, weights, rows, block.keys, attention.is_check(), probabilities));
      MatrixView log_sums{};
      if (attention.has_log_sums()) LPT_TRY(take_matrix(context, sums, rows, 1, attention.is_check(), log_sums));
      LPT_TRY(compute_scores(attention, block, scores));
      LPT_TRY(compute_probabilities(attention, block, scores, probabilities, log_sums.data));
      if (attention.has_log_sums()) LPT_TRY(write_log_sums(attention, block, log_sums));
      return multiply_by_values(attention, block, probabilities, value, output);
    });
  });
}

Status attention_backward_by_gemms(const Attention &attention, const Heads &given,
                                   const AttentionGradientHeads &gradients) {
  Context &context = attention.context;
  const Heads &query = attention.query, &key = attention.key, &value = attention.value;
  const lpt_format sums =
      sum_format({&query, &key, &value, &given, &gradients.query, &gradients.key, &gradients.value});
  const bool is_part = attention.has_other_keys(), is_in_sums = sums == LPT_FORMAT_F64 || is_part;
  const lpt_format weights = is_in_sums ? sums : value.format();
  const lpt_format score_weights = is_in_sums ? sums : key.format();
  return run_heads(attention, [&](const AttentionPart &part, int64_t first_head, int64_t heads) -> Status {
    Arena &arena = *context.scratch;
    const Arena::Mark mark = arena.mark();
    SharedGradient to_key{gradients.key, {}}, to_value{gradients.value, {}};
    LPT_TRY(take_sums(attention, sums, heads, to_key));
    LPT_TRY(take_sums(attention, sums, heads, to_value));
    LPT_TRY(run_blocks(attention, part, first_head, heads, [&](const Block &block) -> Status {
      MatrixView scores, probabilities, gradient, score_gradient, log_sums{};
      const int64_t rows = block.rows(attention);
      const bool is_check = attention.is_check();
      LPT_TRY(take_matrix(context, sums, rows, block.keys, is_check, scores));
      LPT_TRY(take_matrix(context, weights, rows, block.keys, is_check, probabilities));
      LPT_TRY(take_matrix(context, sums, rows, block.keys, is_check, gradient));
      if (!is_part) LPT_TRY(take_matrix(context, score_weights, rows, block.keys, is_check, score_gradient));
      if (is_part) LPT_TRY(take_matrix(context, sums, rows, 1, is_check, log_sums));
      LPT_TRY(compute_scores(attention, block, scores));
      LPT_TRY(compute_probabilities(attention, block, scores, probabilities, log_sums.data));
      if (is_part) LPT_TRY(rescale(attention, block, probabilities, log_sums));
      LPT_TRY(add_over_queries(attention, block, probabilities, given, to_value));
      LPT_TRY(multiply_by_keys(attention, block, given, value, gradient));
      if (is_part) {
        LPT_TRY(replace_score_gradient(attention, block, given, probabilities, gradient));
        score_gradient = gradient;
      } else {
        LPT_TRY(compute_score_gradient(attention, probabilities, gradient, score_gradient));
      }
      LPT_TRY(multiply_by_values(attention, block, score_gradient, key, gradients.query));
      return add_over_queries(attention, block, score_gradient, query, to_key);
    }));
    LPT_TRY(write_sums(attention, part, to_key, first_head, heads));
    LPT_TRY(write_sums(attention, part, to_value, first_head, heads));
    arena.give_back(mark);
    return {};
  });
}

}  // namespace lpt
