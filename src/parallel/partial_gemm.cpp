// A GEMM and the reduction of its shared columns, which are computed first and reduced while the private ones are computed.
#include "src/gemm/checks.hpp"
#include "src/gemm/run.hpp"
#include "src/parallel/partial.hpp"
#include "src/parallel/pending_reductions.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Runs all checks of the GEMM before other ranks depend on it.
Status check_gemm(Context &context, const GemmCall &call) {
  const size_t reported = context.choices.size();
  LPT_TRY(run_gemm(context, call, true));
  context.choices.resize(reported);
  return {};
}

constexpr lpt_flags kSharedFlags = LPT_GEMM_PORTABLE_ORDER | LPT_GEMM_FAST_ACCUMULATE;

// Rejects options that every rank would apply to its addend.
Status check_addends(const lpt_gemm_options &options) {
  const char *const name = options.bias != nullptr                     ? "bias"
                           : options.residual != nullptr               ? "residual"
                           : options.beta != 0                         ? "beta"
                           : options.activation != LPT_ACTIVATION_NONE ? "activation"
                           : options.quantize != nullptr               ? "quantize"
                           : options.outlier_threshold != 0            ? "outlier_threshold"
                           : (options.flags & ~kSharedFlags) != 0      ? "flags"
                                                                       : nullptr;
  if (name == nullptr) return {};
  return unsupported(
      "%s is set: GEMMs that ranks add up take alpha, transposes, arithmetic, LPT_GEMM_PORTABLE_ORDER and "
      "LPT_GEMM_FAST_ACCUMULATE",
      name);
}

Status make_gemm(const Device &device, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c,
                 GemmCall &call) {
  LPT_TRY(check_gemm_options(options, call));
  LPT_TRY(check_addends(options));
  call.is_a_transposed = options.is_a_transposed != 0;
  call.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand(a, "a", true, call.is_a_transposed, call.a, device));
  LPT_TRY(check_second_operand(b, true, call.is_b_transposed, call.b, device));
  LPT_TRY(check_wide_matrix(c, "c", true, call.c, device));
  GemmShape shape;
  LPT_TRY(check_inner_sizes(call, shape));
  LPT_TRY(check_shape(call.c, "c", shape.m, shape.n, "the GEMM of a and b"));
  LPT_TRY(check_no_overlap(call.c, "c", call.a, "a"));
  return check_no_overlap(call.c, "c", call.b, "b");
}

// Prepares the reduction of some rows, whose slices it uses.
Status prepare_rows(Context &context, const PartialPlan &plan, const Device &device, const MatrixView &c, int64_t begin,
                    int64_t count, SelectedReduction &out_reducing) {
  const MatrixView rows = cut_rows(c, begin, count);
  const size_t reported = context.choices.size();
  Partial part{};
  LPT_TRY(prepare_partial(context, plan, LPT_PARTIAL_PASS_FORWARD, rows, rows, part, device));
  context.choices.resize(reported);
  out_reducing = part.reducing;
  return {};
}

// Slices of chunks are cast in other spans than those of the full tensor, so payloads that are cast are reduced at once.
Status run_chunked(Context &context, Comm &comm, const PartialPlan &plan, const GemmCall &call,
                   const Partial &partial) {
  int64_t rows = call.c.rows;
  if (partial.reducing.path == ReductionPath::kPlain) {
    LPT_TRY(find_chunk_rows(plan, call.c.rows, call.c.format.id, rows));
  }
  PendingReductions pending(context, comm);
  LPT_TRY(run_gemm_in_steps(context, call, plan.shared, rows, [&](int64_t begin, int64_t count) -> Status {
    SelectedReduction reducing = partial.reducing;
    if (count < call.c.rows) {
      LPT_TRY(prepare_rows(context, plan, partial.device, call.c, begin, count, reducing));
    }
    return pending.begin(reducing, begin + count >= call.c.rows);
  }));
  LPT_TRY(scale_private(context, plan, partial));
  return pending.end();
}

// Returns true if `column` of c begins at a scale block of b and at a byte of its codes.
bool can_begin(const GemmCall &call, int64_t column) {
  const MatrixView &b = call.b;
  const int64_t block = call.is_b_transposed ? b.format.block_rows : b.format.block_columns;
  const int64_t offset = column * (call.is_b_transposed ? b.row_stride : b.column_stride);
  const bool has_blocks = b.format.has_block_scale() && block != LPT_BLOCK_EXTENT_FULL;
  return offset % 8 == 0 && (!has_blocks || column % block == 0);
}

GemmCall cut_gemm(const GemmCall &whole, int64_t begin, int64_t count) {
  GemmCall part = whole;
  part.b = whole.is_b_transposed ? cut_rows(whole.b, begin, count) : cut_columns(whole.b, begin, count);
  part.c = cut_columns(whole.c, begin, count);
  return part;
}

// Returns the GEMM of the shared columns and that of the private ones, or one GEMM if the device cannot split them.
std::vector<GemmCall> parts_of(Context &context, const GemmCall &call, int64_t shared) {
  if (shared == call.c.columns || !can_begin(call, shared)) return {call};
  const std::vector<GemmCall> parts = {cut_gemm(call, 0, shared), cut_gemm(call, shared, call.c.columns - shared)};
  for (const GemmCall &part : parts) {
    if (!check_gemm(context, part).is_ok()) return {call};
  }
  return parts;
}

// The comm's stream reduces the shared columns after their GEMM, while the context's stream computes the private ones.
Status multiply_on_two_streams(Context &context, Comm &comm, const PartialPlan &plan, const GemmCall &call,
                               const Partial &partial) {
  const std::vector<GemmCall> parts = parts_of(context, call, plan.shared);
  PendingReductions pending(context, comm);
  LPT_TRY(run_gemm(context, parts.front(), false));
  LPT_TRY(pending.begin(partial.reducing));
  if (parts.size() > 1) LPT_TRY(run_gemm(context, parts.back(), false));
  LPT_TRY(scale_private(context, plan, partial));
  return pending.end();
}

}  // namespace

Status multiply_partially(Context &context, Comm &comm, const PartialPlan &plan, const GemmCall &call) {
  LPT_TRY(check_works_on(context, device_of(comm)));
  LPT_TRY(check_partial_comm(plan, comm));
  if (call.c.columns != plan.hidden) {
    return invalid("c has %lld columns: expected %lld, as the plan", number(call.c.columns), number(plan.hidden));
  }
  Partial partial{};
  LPT_TRY(prepare_partial(context, plan, LPT_PARTIAL_PASS_FORWARD, call.c, call.c, partial, device_of(comm)));
  LPT_TRY(check_gemm(context, call));
  const SuppressProgress silence(context);
  if (plan.shared == 0) {
    LPT_TRY(run_gemm(context, call, false));
    return scale_private(context, plan, partial);
  }
  if (!is_on_cpu(context)) return multiply_on_two_streams(context, comm, plan, call, partial);
  return run_chunked(context, comm, plan, call, partial);
}

Status partial_gemm(Context &context, Comm &comm, const PartialPlan &plan, const Tensor *a, const Tensor *b,
                    const lpt_gemm_options &options, Tensor *c) {
  GemmCall call;
  LPT_TRY(make_gemm(device_of(comm), a, b, options, c, call));
  return multiply_partially(context, comm, plan, call);
}

}  // namespace lpt
