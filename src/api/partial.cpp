#include "src/parallel/partial.hpp"

#include "src/api/gemm_options.hpp"
#include "src/nn/sequence_attention.hpp"
#include "src/parallel/sequence.hpp"

using namespace lpt;

namespace {

Status check_plan(const PartialPlan *plan) { return check_handle(plan, HandleKind::kPartialPlan, "plan"); }

}  // namespace

lpt_status lpt_partial_shared_columns(lpt_context *context, int64_t hidden_columns, double fraction,
                                      int64_t *out_shared_columns) {
  return guard_optional(context, [&]() -> Status {
    LPT_TRY(check_out(out_shared_columns, "out_shared_columns"));
    return find_shared_columns(hidden_columns, fraction, *out_shared_columns);
  });
}

lpt_status lpt_partial_plan_create(lpt_context *context, const lpt_partial_plan_options *options,
                                   lpt_partial_plan **out_plan) {
  return guard(context, [&](Context &) -> Status {
    lpt_partial_plan_options known = LPT_PARTIAL_PLAN_OPTIONS_INIT;
    if (options == nullptr) return invalid("options is NULL: expected columns and ranks");
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_plan, "out_plan"));
    return create_partial_plan(known, out_plan);
  });
}

void lpt_partial_plan_destroy(lpt_partial_plan *plan) { destroy(plan, HandleKind::kPartialPlan); }

lpt_status lpt_partial_plan_read(lpt_context *context, const lpt_partial_plan *plan, lpt_format format,
                                 lpt_partial_plan_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_plan(plan));
    lpt_partial_plan_info values = LPT_PARTIAL_PLAN_INFO_INIT;
    LPT_TRY(read_partial_plan(*plan, format, values));
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_partial_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                  lpt_partial_pass pass, const lpt_tensor *input, lpt_tensor *output,
                                  lpt_future **out_future) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_plan(plan));
    return partial_all_reduce(self, *comm, *plan, pass, input, output, out_future);
  });
}

lpt_status lpt_partial_gemm(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan, const lpt_tensor *a,
                            const lpt_tensor *b, const lpt_gemm_options *options, lpt_tensor *c) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(c, "c"));
    KnownGemmOptions known;
    LPT_TRY(known.read(options));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_plan(plan));
    return partial_gemm(self, *comm, *plan, a, b, known.gemm, c);
  });
}

lpt_status lpt_sequence_gather(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                               const lpt_tensor *input, const int64_t *row_counts, lpt_tensor *output,
                               lpt_future **out_future) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    if (plan != nullptr) LPT_TRY(check_plan(plan));
    return sequence_gather(self, *comm, plan, input, row_counts, output, out_future);
  });
}

lpt_status lpt_sequence_scatter(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                lpt_partial_pass pass, const lpt_tensor *input, const int64_t *row_counts,
                                lpt_tensor *output, lpt_future **out_future) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    if (plan != nullptr) LPT_TRY(check_plan(plan));
    return sequence_scatter(self, *comm, plan, pass, input, row_counts, output, out_future);
  });
}

lpt_status lpt_partial_scale_weight(lpt_context *context, const lpt_partial_plan *plan, lpt_tensor *weight) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(weight, "weight"));
    LPT_TRY(check_plan(plan));
    return partial_scale_weight(self, *plan, weight);
  });
}

namespace {

// Reads the options and the comms, and runs body(context, ranks, options).
template <typename Body>
lpt_status attend(lpt_context *context, lpt_comm *ring, lpt_comm *heads, const lpt_sequence_attention_options *options,
                  const Body &body) {
  return guard(context, [&](Context &self) -> Status {
    lpt_sequence_attention_options known = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    if (ring != nullptr) LPT_TRY(check_handle(ring, HandleKind::kComm, "ring"));
    if (heads != nullptr) LPT_TRY(check_handle(heads, HandleKind::kComm, "heads"));
    return body(self, SequenceRanks{ring, heads}, known);
  });
}

}  // namespace

lpt_status lpt_sequence_attention_forward(lpt_context *context, lpt_comm *ring, lpt_comm *heads,
                                          const lpt_tensor *query, const lpt_tensor *key, const lpt_tensor *value,
                                          const lpt_sequence_attention_options *options, lpt_tensor *output) {
  return attend(context, ring, heads, options,
                [&](Context &self, const SequenceRanks &ranks, const lpt_sequence_attention_options &known) -> Status {
                  LPT_TRY(check_writable(output, "output"));
                  LPT_TRY(check_writable(known.log_sum_exp, "options->log_sum_exp"));
                  return sequence_attention_forward(self, ranks, {query, key, value}, known, output);
                });
}

lpt_status lpt_sequence_attention_backward(lpt_context *context, lpt_comm *ring, lpt_comm *heads,
                                           const lpt_tensor *query, const lpt_tensor *key, const lpt_tensor *value,
                                           const lpt_tensor *output_gradient,
                                           const lpt_sequence_attention_options *options, lpt_tensor *query_gradient,
                                           lpt_tensor *key_gradient, lpt_tensor *value_gradient) {
  return attend(context, ring, heads, options,
                [&](Context &self, const SequenceRanks &ranks, const lpt_sequence_attention_options &known) -> Status {
                  LPT_TRY(check_writable(query_gradient, "query_gradient"));
                  LPT_TRY(check_writable(key_gradient, "key_gradient"));
                  LPT_TRY(check_writable(value_gradient, "value_gradient"));
                  return sequence_attention_backward(self, ranks, {query, key, value}, output_gradient, known,
                                                     {query_gradient, key_gradient, value_gradient});
                });
}
