#include "src/nn/attention.hpp"

#include "kernels/attention/attention.hpp"
#include "src/call/launch.hpp"
#include "src/gemm/call.hpp"
#include "src/nn/attention_operands.hpp"

namespace lpt {
namespace {

// Attention by one fused kernel.

AttentionMatrix attention_matrix(const Heads &heads) {
  const int64_t *const strides = heads.tensor.strides;
  return {heads.tensor.data, heads.format(), strides[0], strides[1], strides[2]};
}

AttentionShape attention_shape(const Attention &attention) {
  const Heads &query = attention.query, &key = attention.key;
  const int64_t every = query.positions() + key.positions(), window = attention.options.window;
  return {.batch = query.batch(),
          .key_heads = key.heads(),
          .group = attention.group(),
          .queries = query.positions(),
          .keys = key.positions(),
          .width = query.width(),
          .value_width = attention.value.width(),
          .scale = attention.scale(),
          .is_causal = attention.options.is_causal != 0,
          .window = window == 0 ? every : std::min(window, every)};
}

AttentionMatrix cut_batches(AttentionMatrix matrix, int64_t first) {
  if (matrix.data != nullptr) {
    matrix.data = static_cast<std::byte *>(matrix.data) + row_bytes(matrix.format, first * matrix.batch_stride);
  }
  return matrix;
}

AttentionForwardRequest cut_part(AttentionForwardRequest request, const AttentionPart &part) {
  request.shape.batch = part.batches;
  request.shape.keys = part.keys;
  for (AttentionMatrix *matrix :
       {&request.query, &request.key, &request.value, &request.output, &request.mask, &request.log_sums}) {
    *matrix = cut_batches(*matrix, part.first);
  }
  return request;
}

AttentionBackwardRequest cut_part(AttentionBackwardRequest request, const AttentionPart &part) {
  request.forward = cut_part(request.forward, part);
  for (AttentionMatrix *matrix :
       {&request.output_gradient, &request.query_gradient, &request.key_gradient, &request.value_gradient}) {
    *matrix = cut_batches(*matrix, part.first);
  }
  return request;
}

// Returns the number of query-key pairs, without pairs that the causal mask or the window excludes.
double pairs_of(const AttentionShape &shape) {
  const auto queries = static_cast<double>(shape.queries), keys = static_cast<double>(shape.keys);
  const double seen = shape.is_causal ? std::max(keys - queries / 2, keys / 2) : keys;
  const auto heads = static_cast<double>(shape.batch * shape.key_heads * shape.group);
  return heads * queries * std::min(seen, static_cast<double>(shape.window));
}

constexpr size_t aligned_bytes(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Runs run(item, scratch) for `count` items of a kernel.
template <typename Run>
Status run_items(Context &context, const AttentionShape &shape, int64_t count, double multiply_adds,
                 size_t scratch_bytes, const Run &run) {
  const int64_t threads = std::min(count, threads_worth(context, multiply_adds));
  const int64_t outputs = shape.batch * shape.key_heads * shape.group * shape.queries * shape.value_width;
  return run_dynamic(context, {count, threads, aligned_bytes(scratch_bytes)}, outputs, run);
}

Status run_part(Context &context, const KernelEntry<AttentionForwardRequest> &kernel,
                const AttentionForwardRequest &whole) {
  const AttentionShape &shape = whole.shape;
  const int64_t heads = shape.batch * shape.key_heads, blocks = attention_blocks(shape);
  if (heads * blocks == 0) return {};
  // Each part of a head packs the keys of that head, so a head has only as many parts as keep the threads busy.
  const int64_t most = width_of(context) == 1 ? 1 : (4 * width_of(context) + heads - 1) / heads;
  const int64_t length = (blocks + most - 1) / most, parts = (blocks + length - 1) / length;
  const double multiply_adds = pairs_of(shape) * static_cast<double>(shape.width + shape.value_width);
  const ProfileScope measure(context, "attention_forward", kernel.name, 0.0, 2 * multiply_adds);
  return run_items(context, shape, heads * parts, multiply_adds, kernel.scratch_bytes(whole),
                   [&](int64_t item, std::byte *scratch) {
                     AttentionForwardRequest part = whole;
                     const int64_t first = item % parts * length;
                     part.first_unit = item / parts * blocks + first;
                     part.units = std::min(length, blocks - first);
                     part.scratch = scratch;
                     kernel.run(part);
                   });
}

Status run_part(Context &context, const KernelEntry<AttentionBackwardRequest> &kernel,
                const AttentionBackwardRequest &whole) {
  const AttentionShape &shape = whole.forward.shape;
  const double multiply_adds = pairs_of(shape) * static_cast<double>(3 * shape.width + 2 * shape.value_width);
  const ProfileScope measure(context, "attention_backward", kernel.name, 0.0, 2 * multiply_adds);
  return run_items(context, shape, shape.batch * shape.key_heads, multiply_adds, kernel.scratch_bytes(whole),
                   [&](int64_t item, std::byte *scratch) {
                     AttentionBackwardRequest part = whole;
                     part.first_head = item;
                     part.heads = 1;
                     part.scratch = scratch;
                     kernel.run(part);
                   });
}

template <typename Request>
Status run_parts(const Attention &attention, const KernelEntry<Request> &kernel, const Request &whole) {
  Arena &arena = *attention.context.host_scratch;
  for (const AttentionPart &part : attention.parts) {
    const Arena::Mark mark = arena.mark();
    LPT_TRY(run_part(attention.context, kernel, cut_part(whole, part)));
    arena.give_back(mark);
  }
  return {};
}

template <typename Request>
const KernelEntry<Request> *find_attention_kernel(Context &context, const KernelFamily<Request> &family,
                                                  const Request &request) {
  return find_kernel(context, family.name, kernels_of(context, family), request);
}

AttentionForwardRequest forward_request(const Attention &attention, const Heads &output) {
  AttentionForwardRequest request{};
  request.shape = attention_shape(attention);
  request.has_slow_dots = attention.context.machine.options.has_slow_dots;
  request.query = attention_matrix(attention.query);
  request.key = attention_matrix(attention.key);
  request.value = attention_matrix(attention.value);
  if (output.name != nullptr) request.output = attention_matrix(output);
  if (attention.has_mask()) request.mask = attention_matrix(attention.mask);
  if (attention.has_log_sums()) request.log_sums = attention_matrix(attention.log_sums);
  return request;
}

// Recomputes the results of the forward pass that the backward pass needs, as dense f32 in scratch.
Status recompute_forward(const Attention &attention, AttentionForwardRequest &request) {
  Context &context = attention.context;
  const AttentionShape &shape = request.shape;
  const int64_t heads = shape.key_heads * shape.group, rows = shape.batch * heads * shape.queries;
  const KernelFamily<AttentionForwardRequest> family("attention_forward", attention_forward_kernels);
  std::byte *outputs = nullptr, *log_sums = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(rows * shape.value_width) * sizeof(float), &outputs));
  LPT_TRY(take_scratch(context, static_cast<size_t>(rows) * sizeof(float), &log_sums));
  const auto dense = [&](std::byte *data, int64_t width) {
    const int64_t head = shape.queries * width;
    return AttentionMatrix{data, LPT_FORMAT_F32, heads * head, head, width};
  };
  request.output = dense(outputs, shape.value_width);
  request.log_sums = dense(log_sums, 1);
  const KernelEntry<AttentionForwardRequest> *const kernel = find_attention_kernel(context, family, request);
  if (kernel == nullptr) return no_kernel(context, family.name, {request.query.format});
  return run_parts(attention, *kernel, request);
}

// Writes zeros to the gradient of keys or values that no query attends to.
Status clear_unused(const Attention &attention, const Heads &gradient) {
  const Queue &queue = attention.context.queue;
  for (const AttentionPart &part : attention.parts) {
    if (part.keys == gradient.positions()) continue;
    const int64_t end = (part.first + part.batches) * gradient.heads();
    for (int64_t head = part.first * gradient.heads(); head < end; ++head) {
      MatrixView rest;
      LPT_TRY(gradient.view(head, part.keys, gradient.positions() - part.keys, rest));
      const int64_t rows_at_once = rest.row_stride == rest.columns ? rest.rows : 1;
      const auto bytes = static_cast<size_t>(row_bytes(rest.format.id, rows_at_once * rest.columns));
      for (int64_t r = 0; r < rest.rows; r += rows_at_once) {
        LPT_TRY(queue.fill(cut_rows(rest, r, rows_at_once).data, 0, bytes));
      }
    }
  }
  return {};
}

}  // namespace

Status attention_forward(Context &context, const AttentionInputs &inputs, const lpt_attention_options &options,
                         Tensor *output) {
  Attention attention{context, options};
  Heads result{};
  LPT_TRY(read_inputs(inputs.query, inputs.key, inputs.value, true, attention));
  const Heads &query = attention.query, &key = attention.key, &value = attention.value, &log_sums = attention.log_sums;
  if (options.output != nullptr) return invalid("options.output is set: expected NULL in a forward pass");
  LPT_TRY(read_heads(output, "output", !attention.is_check(), false, context.queue.device(), result));
  LPT_TRY(check_extents(result, *output, query.batch(), query.heads(), query.positions(), value.width()));
  for (const Heads *input : {&query, &key, &value, static_cast<const Heads *>(&attention.mask)}) {
    if (input->name == nullptr) continue;
    LPT_TRY(check_no_overlap(result, *input));
    if (attention.has_log_sums()) LPT_TRY(check_no_overlap(log_sums, *input));
  }
  if (attention.has_log_sums()) LPT_TRY(check_no_overlap(log_sums, result));
  const AttentionForwardRequest request = forward_request(attention, result);
  const KernelFamily<AttentionForwardRequest> family("attention_forward", attention_forward_kernels);
  const KernelEntry<AttentionForwardRequest> *const kernel =
      options.exaq == nullptr ? find_attention_kernel(context, family, request) : nullptr;
  if (kernel == nullptr) return attention_forward_by_gemms(attention, result);
  return attention.is_check() ? Status() : run_parts(attention, *kernel, request);
}

namespace {

Status run_backward(Context &context, const AttentionInputs &inputs, const Tensor *output_gradient,
                    const lpt_attention_options &options, const AttentionGradients &gradients, bool has_other_keys) {
  Attention attention{context, options};
  Heads given{}, kept{};
  AttentionGradientHeads results{};
  LPT_TRY(read_inputs(inputs.query, inputs.key, inputs.value, false, attention));
  const Heads &query = attention.query, &key = attention.key, &value = attention.value;
  const Device &device = context.queue.device();
  const bool needs_data = !attention.is_check();
  if (options.exaq != nullptr) return unsupported("options.exaq is set: expected NULL in a backward pass");
  if ((options.output == nullptr) != (options.log_sum_exp == nullptr)) {
    return invalid("options have %s alone: expected output and log_sum_exp, or neither",
                   options.output == nullptr ? "log_sum_exp" : "output");
  }
  LPT_TRY(read_heads(output_gradient, "output_gradient", needs_data, false, device, given));
  LPT_TRY(check_extents(given, *output_gradient, query.batch(), query.heads(), query.positions(), value.width()));
  if (options.output != nullptr) {
    LPT_TRY(read_heads(options.output, "options.output", needs_data, false, device, kept));
    LPT_TRY(check_extents(kept, *options.output, query.batch(), query.heads(), query.positions(), value.width()));
  }
  const struct {
    const Tensor *tensor;
    const char *name;
    const Heads &like;
    Heads &heads;
  } outputs[] = {{gradients.query, "query_gradient", query, results.query},
                 {gradients.key, "key_gradient", key, results.key},
                 {gradients.value, "value_gradient", value, results.value}};
  for (const auto &[tensor, name, like, heads] : outputs) {
    LPT_TRY(read_heads(tensor, name, needs_data, false, device, heads));
    LPT_TRY(check_extents(heads, *tensor, like.batch(), like.heads(), like.positions(), like.width()));
    for (const Heads *input :
         {&query, &key, &value, static_cast<const Heads *>(&given), static_cast<const Heads *>(&attention.mask),
          static_cast<const Heads *>(&kept), static_cast<const Heads *>(&attention.log_sums)}) {
      if (input->name != nullptr) LPT_TRY(check_no_overlap(heads, *input));
    }
  }
  AttentionBackwardRequest request{};
  request.forward = forward_request(attention, kept);
  if (kept.name == nullptr) request.forward.output.format = request.forward.log_sums.format = LPT_FORMAT_F32;
  request.output_gradient = attention_matrix(given);
  request.query_gradient = attention_matrix(results.query);
  request.key_gradient = attention_matrix(results.key);
  request.value_gradient = attention_matrix(results.value);
  const KernelFamily<AttentionBackwardRequest> family("attention_backward", attention_backward_kernels);
  const KernelEntry<AttentionBackwardRequest> *const kernel = find_attention_kernel(context, family, request);
  if (has_other_keys) attention.whole_output = kept;
  if (kernel == nullptr) LPT_TRY(attention_backward_by_gemms(attention, given, results));
  if (attention.is_check()) return {};
  if (kernel != nullptr) {
    if (kept.name == nullptr) LPT_TRY(recompute_forward(attention, request.forward));
    LPT_TRY(run_parts(attention, *kernel, request));
  }
  LPT_TRY(clear_unused(attention, results.key));
  return clear_unused(attention, results.value);
}

}  // namespace

Status attention_backward(Context &context, const AttentionInputs &inputs, const Tensor *output_gradient,
                          const lpt_attention_options &options, const AttentionGradients &gradients) {
  return run_backward(context, inputs, output_gradient, options, gradients, false);
}

Status attention_backward_of_keys(Context &context, const AttentionInputs &inputs, const Tensor *output_gradient,
                                  const lpt_attention_options &options, const AttentionGradients &gradients) {
  return run_backward(context, inputs, output_gradient, options, gradients, true);
}

}  // namespace lpt
