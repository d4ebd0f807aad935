#include "src/parallel/sequence.hpp"

#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Rejects plans with private columns: they belong to one rank for all rows.
Status check_sequence_plan(const PartialPlan *plan, const Comm &comm, const MatrixView &input) {
  if (plan == nullptr) return {};
  LPT_TRY(check_partial_comm(*plan, comm));
  if (plan->shared != plan->hidden) {
    return unsupported(
        "plan shares %lld of %lld columns: private columns stay with their rank for the whole sequence, a split one "
        "would lose them",
        number(plan->shared), number(plan->hidden));
  }
  if (input.columns == plan->hidden) return {};
  return invalid("input has %lld columns: expected %lld, as the plan", number(input.columns), number(plan->hidden));
}

Status check_rows(const Tensor *input, const PartialPlan *plan, const Comm &comm) {
  MatrixView view;
  LPT_TRY(check_wide_matrix(input, "input", true, view, device_of(comm)));
  if (input->rank < 2) {
    return invalid("input is %s: expected rank 2 or more, whose first axis are rows", tensor_text(*input).c_str());
  }
  return check_sequence_plan(plan, comm, view);
}

}  // namespace

Status sequence_gather(Context &context, Comm &comm, const PartialPlan *plan, const Tensor *input,
                       const int64_t *row_counts, Tensor *output, Future **out_future) {
  LPT_TRY(check_rows(input, plan, comm));
  return all_gather(context, comm, input, row_counts, output, out_future);
}

Status sequence_scatter(Context &context, Comm &comm, const PartialPlan *plan, lpt_partial_pass pass,
                        const Tensor *input, const int64_t *row_counts, Tensor *output, Future **out_future) {
  LPT_TRY(check_choice("pass", pass, LPT_PARTIAL_PASS_BACKWARD));
  LPT_TRY(check_rows(input, plan, comm));
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  if (plan != nullptr) options.wire = plan->wires[pass];
  return reduce_scatter(context, comm, input, row_counts, options, output, out_future);
}

}  // namespace lpt
