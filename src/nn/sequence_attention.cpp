#include "src/nn/sequence_attention.hpp"

#include "kernels/attention/merge.hpp"
#include "src/cast/quantize.hpp"
#include "src/collective/collective.hpp"
#include "src/nn/attention_operands.hpp"
#include "src/nn/ring_pass.hpp"
#include "src/nn/sequence_exchange.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// A call after the exchange of heads: all tensors have the heads and positions that this rank computes.
struct SequenceCall {
  Context &context;
  const SequenceRanks &ranks;
  const lpt_sequence_attention_options &options;
  Heads query{}, key{}, value{};
  lpt_format sum_format = LPT_FORMAT_F32;  // of merged results and of gradients

  int32_t head_ranks() const { return ranks.heads == nullptr ? 1 : ranks.heads->engine->ranks(); }
  int32_t ring_ranks() const { return ranks.ring == nullptr ? 1 : ranks.ring->engine->ranks(); }
  int32_t ring_rank() const { return ranks.ring == nullptr ? 0 : ranks.ring->engine->rank(); }
  int64_t positions() const { return query.positions() * head_ranks(); }
};

Status check_options(const lpt_sequence_attention_options &options) {
  if (options.flags != 0) return unsupported("options->flags is %lld: expected 0", number(options.flags));
  return check_choice("options->layout", options.layout, LPT_SEQUENCE_LAYOUT_ZIGZAG);
}

Status check_comms(const SequenceRanks &ranks) {
  if (ranks.ring == nullptr && ranks.heads == nullptr) {
    return invalid("ring and heads are NULL: expected at least one comm");
  }
  if (ranks.ring == ranks.heads) return invalid("heads is ring: expected a comm of other ranks");
  for (const Comm *comm : {ranks.ring, ranks.heads}) {
    if (comm != nullptr) LPT_TRY(check_on_cpus(*comm));
  }
  return ranks.ring == nullptr ? Status() : check_has_messages(*ranks.ring);
}

// Checks that the keys can be cast to the wire format and read by attention, so that ranks reject another one before they send.
Status check_wire(const SequenceCall &call) {
  const lpt_format wire = call.options.wire;
  if (wire == LPT_FORMAT_NONE) return {};
  const auto check = [&]() -> Status {
    const int64_t row[] = {1, 1, 1, call.key.width()};
    OwnedTensor source, codes;
    Heads unused;
    LPT_TRY(make_dense(call.context, LPT_FORMAT_F32, row, source));
    LPT_TRY(make_dense(call.context, wire, row, codes));
    LPT_TRY(read_heads(codes.get(), "codes", false, true, call.context.queue.device(), unused));
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.flags = LPT_CHECK_ONLY;
    return quantize(call.context, source.get(), options, codes.get(), nullptr);
  };
  const Status status = check();
  return status.is_ok() ? Status() : Status(status.code(), text("options->wire: %s", status.message().c_str()));
}

// Checks the arguments that both passes have.
Status read_call(const AttentionInputs &inputs, SequenceCall &call) {
  LPT_TRY(check_options(call.options));
  LPT_TRY(check_comms(call.ranks));
  lpt_attention_options plain = LPT_ATTENTION_OPTIONS_INIT;
  plain.scale = call.options.scale;
  plain.is_causal = call.options.is_causal;
  Attention attention{call.context, plain};
  LPT_TRY(read_inputs(inputs.query, inputs.key, inputs.value, false, attention));
  call.query = attention.query;
  call.key = attention.key;
  call.value = attention.value;
  if (call.key.positions() != call.query.positions()) {
    return invalid("key has %lld positions: expected %lld, as query", number(call.key.positions()),
                   number(call.query.positions()));
  }
  for (const Heads *each : {&call.query, &call.key}) {
    if (each->heads() % call.head_ranks() == 0) continue;
    return invalid("%s has %lld heads: expected a multiple of %d, the ranks of heads", each->name,
                   number(each->heads()), call.head_ranks());
  }
  if (call.options.layout == LPT_SEQUENCE_LAYOUT_ZIGZAG && call.positions() % 2 != 0) {
    return invalid("query has %lld positions on all ranks of heads: expected an even number with ZIGZAG",
                   number(call.positions()));
  }
  for (const Heads *each : {&call.query, &call.key, &call.value}) {
    if (each->format() == LPT_FORMAT_F64) call.sum_format = LPT_FORMAT_F64;
  }
  return check_wire(call);
}

Status read_result(const SequenceCall &call, const Tensor *tensor, const char *name, const Heads &like, int64_t width,
                   Heads &out) {
  LPT_TRY(read_heads(tensor, name, true, false, call.context.queue.device(), out));
  LPT_TRY(check_extents(out, *tensor, like.batch(), like.heads(), like.positions(), width));
  for (const Heads *input : {&call.query, &call.key, &call.value}) LPT_TRY(check_no_overlap(out, *input));
  return {};
}

// Reads the log of the sums of the heads and positions that this rank computes.
Status read_log_sums(const SequenceCall &call, Heads &out) {
  const Heads &query = call.query;
  return read_log_sums(call.options.log_sum_exp, "options->log_sum_exp", true, call.context.queue.device(),
                       {query.batch(), query.heads() / call.head_ranks(), call.positions()}, out);
}

// Keys and values in one format, or their gradients.
struct KeyValue {
  OwnedTensor key, value;
};

Status make_ring_operands(const SequenceCall &call, const Tensor &key, const Tensor &value, KeyValue &out) {
  const lpt_format wire = call.options.wire;
  const lpt_format formats[] = {wire == LPT_FORMAT_NONE ? key.format.id : wire,
                                wire == LPT_FORMAT_NONE ? value.format.id : wire};
  LPT_TRY(make_dense(call.context, formats[0], key.extents, out.key));
  return make_dense(call.context, formats[1], value.extents, out.value);
}

// Casts the keys and values of this rank to the wire format, if there is one.
Status cast_to_wire(const SequenceCall &call, KeyValue &own) {
  if (call.options.wire == LPT_FORMAT_NONE) return {};
  KeyValue codes;
  LPT_TRY(make_ring_operands(call, *own.key, *own.value, codes));
  for (const auto &[source, target] : {std::pair(&own.key, &codes.key), std::pair(&own.value, &codes.value)}) {
    const Status status = quantize(call.context, source->get(), LPT_QUANTIZE_OPTIONS_INIT, target->get(), nullptr);
    if (!status.is_ok()) return Status(status.code(), text("options->wire: %s", status.message().c_str()));
  }
  own = std::move(codes);
  return {};
}

// Keys and values of the rank that is `step` ranks behind this one, and which queries attend to which of them. With ZIGZAG, later
// parts of this rank attend to all keys of a later rank, and all queries to the earlier part of an earlier rank.
struct RingStep {
  int64_t first_query, keys;  // queries from first_query on; the first `keys` keys
  bool is_causal;

  bool is_empty() const { return keys == 0; }
};

RingStep step_of(const SequenceCall &call, int32_t step) {
  const int64_t all = call.positions();
  const bool is_zigzag = call.options.layout == LPT_SEQUENCE_LAYOUT_ZIGZAG;
  if (call.options.is_causal == 0) return {0, all, false};
  if (step == 0) return {0, all, true};
  const bool is_earlier = step <= call.ring_rank();
  if (is_earlier) return {0, is_zigzag ? all / 2 : all, false};
  return is_zigzag ? RingStep{all / 2, all, false} : RingStep{0, 0, false};
}

// The options of the attention of one step. `lengths` owns the number of keys of each batch, if these are not all keys.
Status options_of(const SequenceCall &call, const RingStep &step, OwnedTensor &lengths, lpt_attention_options &out) {
  out.scale = call.options.scale;
  out.is_causal = step.is_causal ? 1 : 0;
  if (step.keys == call.positions()) return {};
  const int64_t batch = call.query.batch();
  Tensor *raw = nullptr;
  LPT_TRY(create_tensor(call.context, LPT_FORMAT_INT64, 1, &batch, &raw));
  lengths.reset(raw);
  std::fill_n(static_cast<int64_t *>(raw->data), batch, step.keys);
  out.key_lengths = raw;
  return {};
}

// Ranks of a ring compare the call before they send.
Status agree(const SequenceCall &call, const char *operation) {
  if (call.ring_ranks() == 1) return {};
  const int64_t choice = call.options.is_causal | call.options.layout << 1 |
                         static_cast<int64_t>(call.query.format()) << 8 | static_cast<int64_t>(call.options.wire) << 24;
  const Signature signature{operation, call.key.format(), call.query.count() * call.positions(),
                            call.query.width() + call.value.width(), choice};
  return run_collective(
      call.context, *call.ranks.ring, [&](Context &, Engine &engine) { return engine.barrier(signature); }, nullptr);
}

// Calls use(step, keys, values) for the keys and values of each rank of the ring. Those of the next rank arrive meanwhile.
template <typename Use>
Status pass_around(const SequenceCall &call, KeyValue here, const Use &use) {
  KeyValue next;
  const int32_t ranks = call.ring_ranks();
  if (ranks > 1) LPT_TRY(make_ring_operands(call, *here.key, *here.value, next));
  LPT_TRY(cast_to_wire(call, here));
  RingPass passing(call.context, call.ranks.ring);
  for (int32_t step = 0; step < ranks; ++step) {
    if (step + 1 < ranks) {
      LPT_TRY(passing.start({here.key.get(), here.value.get()}, {next.key.get(), next.value.get()}, 0));
    }
    LPT_TRY(use(step, *here.key, *here.value));
    LPT_TRY(passing.wait());
    std::swap(here, next);
  }
  return {};
}

Status cast_result(Context &context, const Tensor &source, Tensor &target) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.overflow = LPT_OVERFLOW_INFINITE;
  if (source.format.id == target.format.id) return copy_heads(context, source, target);
  OwnedTensor dense;
  LPT_TRY(make_dense(context, target.format.id, source.extents, dense));
  LPT_TRY(quantize(context, &source, options, dense.get(), nullptr));
  return copy_heads(context, *dense, target);
}

// Rounds a result to the format of the caller's tensor, and returns it to the heads and positions of this rank.
Status write_result(Context &context, const HeadExchange &exchange, const Tensor &source, Tensor &target) {
  if (exchange.ranks() == 1) return cast_result(context, source, target);
  if (source.format.id == target.format.id) return exchange.to_heads(source, target);
  OwnedTensor rounded;
  LPT_TRY(make_dense(context, target.format.id, source.extents, rounded));
  LPT_TRY(cast_result(context, source, *rounded));
  return exchange.to_heads(*rounded, target);
}

// Merges the results of the steps of a ring.
class ForwardSteps {
 public:
  ForwardSteps(const SequenceCall &call, const Tensor &query) : call_(call), query_(query) {}

  Status prepare(int64_t value_width) {
    const int64_t outputs[] = {query_.extents[0], query_.extents[1], query_.extents[2], value_width};
    const int64_t sums[] = {query_.extents[0], query_.extents[1], query_.extents[2], 1};
    LPT_TRY(make_dense(call_.context, call_.sum_format, outputs, output_));
    LPT_TRY(make_dense(call_.context, call_.sum_format, sums, log_sums_));
    if (call_.ring_ranks() == 1) return {};
    LPT_TRY(make_dense(call_.context, call_.sum_format, outputs, part_));
    return make_dense(call_.context, call_.sum_format, sums, part_sums_);
  }

  Status run(int32_t index, const Tensor &key, const Tensor &value) {
    const RingStep step = step_of(call_, index);
    if (step.is_empty()) return {};
    const int64_t queries = query_.extents[2] - step.first_query;
    const Tensor query = cut_axis(query_, 2, step.first_query, queries);
    Tensor output = cut_axis(index == 0 ? *output_ : *part_, 2, step.first_query, queries);
    Tensor log_sums = cut_axis(index == 0 ? *log_sums_ : *part_sums_, 2, step.first_query, queries);
    drop_last_axis(log_sums);
    lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
    OwnedTensor lengths;
    LPT_TRY(options_of(call_, step, lengths, options));
    options.log_sum_exp = &log_sums;
    const ArenaRestore scratch(call_.context);
    LPT_TRY(attention_forward(call_.context, {&query, &key, &value}, options, &output));
    return index == 0 ? Status() : merge(step.first_query, queries);
  }

  const Tensor &output() const { return *output_; }
  const Tensor &log_sums() const { return *log_sums_; }

 private:
  Status merge(int64_t first, int64_t queries) {
    const int64_t heads = query_.extents[0] * query_.extents[1], positions = query_.extents[2];
    const int64_t width = output_->extents[3];
    parallel_parts(call_.context, heads, queries * width, [&](int64_t begin, int64_t count) {
      for (int64_t head = begin; head < begin + count; ++head) {
        const int64_t row = head * positions + first;
        merge_attention({call_.sum_format, queries, width, element_at(*part_, row * width),
                         element_at(*part_sums_, row), element_at(*output_, row * width), element_at(*log_sums_, row)});
      }
    });
    return {};
  }

  const SequenceCall &call_;
  const Tensor &query_;
  OwnedTensor output_, log_sums_, part_, part_sums_;
};

// Adds the gradients of the steps of a ring; those of keys and values are sent after them.
class BackwardSteps {
 public:
  struct Inputs {
    const Tensor &query, &output, &output_gradient, &log_sums;
  };

  BackwardSteps(const SequenceCall &call, const Inputs &inputs) : call_(call), inputs_(inputs) {}

  Status prepare(const Tensor &key, const Tensor &value) {
    key_format_ = key.format.id;
    value_format_ = value.format.id;
    LPT_TRY(make_dense(call_.context, call_.sum_format, inputs_.query.extents, query_));
    LPT_TRY(make_pair(key, value, sum_));
    if (call_.ring_ranks() == 1) return {};
    LPT_TRY(make_dense(call_.context, call_.sum_format, inputs_.query.extents, query_part_));
    LPT_TRY(make_pair(key, value, part_));
    return make_pair(key, value, next_);
  }

  Status run(int32_t index, const Tensor &key, const Tensor &value) {
    const RingStep step = step_of(call_, index);
    if (!step.is_empty()) LPT_TRY(add_step(index, step, key, value));
    if (call_.ring_ranks() == 1) return {};
    RingPass passing(call_.context, call_.ranks.ring);
    LPT_TRY(passing.start({sum_.key.get(), sum_.value.get()}, {next_.key.get(), next_.value.get()}, 2));
    LPT_TRY(passing.wait());
    std::swap(sum_, next_);
    return {};
  }

  const Tensor &query() const { return *query_; }
  const Tensor &key() const { return *sum_.key; }
  const Tensor &value() const { return *sum_.value; }

 private:
  Status make_pair(const Tensor &key, const Tensor &value, KeyValue &out) {
    LPT_TRY(make_dense(call_.context, call_.sum_format, key.extents, out.key));
    return make_dense(call_.context, call_.sum_format, value.extents, out.value);
  }

  Status add_step(int32_t index, const RingStep &step, const Tensor &key, const Tensor &value) {
    const int64_t first = step.first_query, queries = inputs_.query.extents[2] - first;
    const auto cut = [&](const Tensor &tensor) { return cut_axis(tensor, 2, first, queries); };
    const Tensor query = cut(inputs_.query), output = cut(inputs_.output), given = cut(inputs_.output_gradient);
    Tensor log_sums = cut(inputs_.log_sums), query_gradient = cut(index == 0 ? *query_ : *query_part_);
    drop_last_axis(log_sums);
    lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
    OwnedTensor lengths, wide_key, wide_value;
    LPT_TRY(options_of(call_, step, lengths, options));
    options.output = &output;
    options.log_sum_exp = &log_sums;
    if (key.format.id != key_format_) LPT_TRY(widen(key, key_format_, wide_key));
    if (value.format.id != value_format_) LPT_TRY(widen(value, value_format_, wide_value));
    const AttentionInputs operands{&query, wide_key == nullptr ? &key : wide_key.get(),
                                   wide_value == nullptr ? &value : wide_value.get()};
    const ArenaRestore scratch(call_.context);
    KeyValue &results = index == 0 ? sum_ : part_;
    LPT_TRY(attention_backward_of_keys(call_.context, operands, &given, options,
                                       {&query_gradient, results.key.get(), results.value.get()}));
    if (index == 0) return {};
    add(*part_.key, *sum_.key, 0, key.extents[2]);
    add(*part_.value, *sum_.value, 0, value.extents[2]);
    add(*query_part_, *query_, first, queries);
    return {};
  }

  // Returns codes as the numbers that they stand for.
  Status widen(const Tensor &source, lpt_format format, OwnedTensor &out) const {
    LPT_TRY(make_dense(call_.context, format, source.extents, out));
    return dequantize(call_.context, &source, LPT_DEQUANTIZE_OPTIONS_INIT, out.get());
  }

  // Adds some positions of all heads of `more` to `sum`.
  void add(const Tensor &more, const Tensor &sum, int64_t first, int64_t positions) const {
    const int64_t heads = sum.extents[0] * sum.extents[1], width = sum.extents[3], all = sum.extents[2];
    parallel_parts(call_.context, heads, positions * width, [&](int64_t begin, int64_t count) {
      for (int64_t head = begin; head < begin + count; ++head) {
        const int64_t at = (head * all + first) * width;
        add_gradients(call_.sum_format, positions * width, element_at(more, at), element_at(sum, at));
      }
    });
  }

  const SequenceCall &call_;
  const Inputs inputs_;
  lpt_format key_format_ = LPT_FORMAT_NONE, value_format_ = LPT_FORMAT_NONE;
  OwnedTensor query_, query_part_;
  KeyValue sum_, part_, next_;  // gradients of keys and values
};

}  // namespace

Status sequence_attention_forward(Context &context, const SequenceRanks &ranks, const AttentionInputs &inputs,
                                  const lpt_sequence_attention_options &options, Tensor *output) {
  SequenceCall call{context, ranks, options};
  Heads result{}, sums{};
  LPT_TRY(read_call(inputs, call));
  LPT_TRY(read_result(call, output, "output", call.query, call.value.width(), result));
  if (result.format() == LPT_FORMAT_F64) call.sum_format = LPT_FORMAT_F64;
  if (options.output != nullptr) return invalid("options->output is set: expected NULL in a forward pass");
  LPT_TRY(read_log_sums(call, sums));
  const HeadExchange exchange(context, ranks.heads);
  InterruptOnFailure failure(ranks.ring, ranks.heads);
  OwnedTensor query;
  KeyValue own;
  LPT_TRY(agree(call, "sequence_attention, forward"));
  LPT_TRY(exchange.to_positions(call.query.tensor, query));
  LPT_TRY(exchange.to_positions(call.key.tensor, own.key));
  LPT_TRY(exchange.to_positions(call.value.tensor, own.value));
  ForwardSteps steps(call, *query);
  LPT_TRY(steps.prepare(call.value.width()));
  LPT_TRY(pass_around(call, std::move(own), [&](int32_t step, const Tensor &keys, const Tensor &values) {
    return steps.run(step, keys, values);
  }));
  if (options.log_sum_exp != nullptr) LPT_TRY(cast_result(context, steps.log_sums(), sums.tensor));
  LPT_TRY(write_result(context, exchange, steps.output(), result.tensor));
  return failure.succeed();
}

Status sequence_attention_backward(Context &context, const SequenceRanks &ranks, const AttentionInputs &inputs,
                                   const Tensor *output_gradient, const lpt_sequence_attention_options &options,
                                   const AttentionGradients &gradients) {
  SequenceCall call{context, ranks, options};
  LPT_TRY(read_call(inputs, call));
  if (options.output == nullptr) return invalid("options->output is NULL: expected that of the forward pass");
  if (options.log_sum_exp == nullptr) return invalid("options->log_sum_exp is NULL: expected that of the forward pass");
  Heads given{}, kept{}, sums{}, results[3]{};
  LPT_TRY(read_log_sums(call, sums));
  const Device device = context.queue.device();
  LPT_TRY(read_heads(output_gradient, "output_gradient", true, false, device, given));
  LPT_TRY(read_heads(options.output, "options->output", true, false, device, kept));
  for (const auto &[tensor, heads] : {std::pair(output_gradient, &given), std::pair(options.output, &kept)}) {
    LPT_TRY(check_extents(*heads, *tensor, call.query.batch(), call.query.heads(), call.query.positions(),
                          call.value.width()));
    if (heads->format() == LPT_FORMAT_F64) call.sum_format = LPT_FORMAT_F64;
  }
  LPT_TRY(read_result(call, gradients.query, "query_gradient", call.query, call.query.width(), results[0]));
  LPT_TRY(read_result(call, gradients.key, "key_gradient", call.key, call.key.width(), results[1]));
  LPT_TRY(read_result(call, gradients.value, "value_gradient", call.value, call.value.width(), results[2]));
  for (const Heads &result : results) {
    LPT_TRY(check_no_overlap(result, given));
    LPT_TRY(check_no_overlap(result, kept));
    if (result.format() == LPT_FORMAT_F64) call.sum_format = LPT_FORMAT_F64;
  }
  const HeadExchange exchange(context, ranks.heads);
  InterruptOnFailure failure(ranks.ring, ranks.heads);
  OwnedTensor query, gathered_output, gathered_gradient;
  KeyValue own;
  LPT_TRY(agree(call, "sequence_attention, backward"));
  LPT_TRY(exchange.to_positions(call.query.tensor, query));
  LPT_TRY(exchange.to_positions(call.key.tensor, own.key));
  LPT_TRY(exchange.to_positions(call.value.tensor, own.value));
  LPT_TRY(exchange.to_positions(kept.tensor, gathered_output));
  LPT_TRY(exchange.to_positions(given.tensor, gathered_gradient));
  BackwardSteps steps(call, {*query, *gathered_output, *gathered_gradient, sums.tensor});
  LPT_TRY(steps.prepare(*own.key, *own.value));
  LPT_TRY(pass_around(call, std::move(own), [&](int32_t step, const Tensor &keys, const Tensor &values) {
    return steps.run(step, keys, values);
  }));
  const Tensor *const sources[] = {&steps.query(), &steps.key(), &steps.value()};
  for (size_t i = 0; i < std::size(results); ++i) {
    LPT_TRY(write_result(context, exchange, *sources[i], results[i].tensor));
  }
  return failure.succeed();
}

}  // namespace lpt
