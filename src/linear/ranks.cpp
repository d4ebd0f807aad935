// Layers that are divided over ranks: sums over ranks and their order.
#include "src/linear/parts.hpp"

namespace lpt {
namespace {

constexpr int kRankShift = 54;  // bits 54 to 63 of the seed: at most 1024 ranks

bool is_row_parallel(const lpt_linear_options &options) { return options.parallel == LPT_LINEAR_PARALLEL_ROWS; }

// Returns the plan of the options, or a plan that sums all columns.
PartialPlan plan_of(const lpt_linear_options &options, int64_t columns) {
  if (options.plan != nullptr) return *options.plan;
  PartialPlan plan;
  plan.hidden = plan.shared = columns;
  plan.ranks = options.comm->engine->ranks();
  return plan;
}

// Returns whether a plan changes nothing: one rank, and no scaled private columns.
bool is_identity(const PartialPlan &plan) { return plan.ranks == 1 && (plan.shared == plan.hidden || plan.scale == 1); }

// Adds the bias to every row of the output by a GEMM with an inner size of 0.
Status add_bias(const Call &call, const GemmCall &gemm) {
  GemmCall sum;
  const Format format = format_of(is_f64_gemm(gemm) ? LPT_FORMAT_F64 : LPT_FORMAT_F32);
  LPT_TRY(take_matrix(call.context, format, gemm.c.rows, 0, false, sum.a));
  LPT_TRY(take_matrix(call.context, format, 0, gemm.c.columns, false, sum.b));
  sum.c = gemm.c;
  sum.beta = 1.0;
  sum.bias = gemm.bias;
  return run_gemm(call.context, sum, call.is_check_only);
}

Status check_plan_columns(const Linear &linear, const lpt_linear_options &options) {
  const bool is_rows = is_row_parallel(options);
  const int64_t columns = is_rows ? linear.output_columns : linear.input_columns;
  LPT_TRY(check_partial_comm(*options.plan, *options.comm));
  if (options.plan->hidden == columns) return {};
  return invalid("plan has %lld columns: expected %lld, the layer's %s", number(options.plan->hidden), number(columns),
                 is_rows ? "output_columns" : "input_columns");
}

}  // namespace

Status check_ranks(const Linear &linear, const lpt_linear_options &options) {
  LPT_TRY(check_choice("parallel", options.parallel, LPT_LINEAR_PARALLEL_ROWS));
  const bool is_parallel = options.parallel != LPT_LINEAR_PARALLEL_NONE;
  if (options.comm != nullptr) LPT_TRY(check_on_cpus(*options.comm));
  if (options.comm != nullptr && !is_parallel) {
    return invalid("parallel is 0 and comm is given: expected LPT_LINEAR_PARALLEL_COLUMNS or LPT_LINEAR_PARALLEL_ROWS");
  }
  if (options.comm == nullptr && is_parallel) {
    return invalid("comm is NULL and parallel is %d: expected the ranks that share the layer", options.parallel);
  }
  if (options.plan == nullptr) return {};
  if (options.comm == nullptr) return invalid("comm is NULL and plan is given: expected the ranks of the plan");
  return check_plan_columns(linear, options);
}

lpt_random random_of(const lpt_linear_options &options, lpt_linear_operand operand) {
  lpt_random random = options.random;
  if (options.comm == nullptr) return random;
  const lpt_linear_operand whole = is_row_parallel(options) ? LPT_LINEAR_OPERAND_GRADIENT : LPT_LINEAR_OPERAND_INPUT;
  const bool is_own = options.plan != nullptr || operand != whole;
  if (is_own) random.seed ^= static_cast<uint64_t>(options.comm->engine->rank()) << kRankShift;
  return random;
}

double inner_columns(const Call &call, const Linear &linear) {
  const auto columns = static_cast<double>(linear.input_columns);
  const bool is_cut = call.options.comm != nullptr && is_row_parallel(call.options);
  return is_cut ? columns * call.options.comm->engine->ranks() : columns;
}

Status multiply_over_ranks(const Call &call, const GemmCall &gemm) {
  const bool is_cut = call.options.comm != nullptr && is_row_parallel(call.options);
  if (!is_cut) return multiply_views(call, gemm);
  const PartialPlan plan = plan_of(call.options, gemm.c.columns);
  if (is_identity(plan)) return run_gemm(call.context, gemm, call.is_check_only);
  GemmCall part = gemm;
  part.bias = nullptr;
  if (call.is_check_only) {
    Partial unused{};
    LPT_TRY(prepare_partial(call.context, plan, LPT_PARTIAL_PASS_FORWARD, gemm.c, gemm.c, unused));
    LPT_TRY(run_gemm(call.context, part, true));
  } else {
    LPT_TRY(multiply_partially(call.context, *call.options.comm, plan, part));
  }
  return gemm.bias == nullptr ? Status() : add_bias(call, gemm);
}

Status join_gradient(const Call &call, const MatrixView &gradient, MatrixView &out_view) {
  out_view = gradient;
  if (!is_row_parallel(call.options) || call.options.plan == nullptr || is_identity(*call.options.plan)) return {};
  const PartialPlan &plan = *call.options.plan;
  Partial partial{};
  LPT_TRY(take_matrix(call.context, gradient.format, gradient.rows, gradient.columns, false, out_view));
  LPT_TRY(prepare_partial(call.context, plan, LPT_PARTIAL_PASS_BACKWARD, gradient, out_view, partial));
  if (call.is_check_only) return {};
  if (plan.shared == 0) return scale_private(call.context, plan, partial);
  PendingReductions pending(call.context, *call.options.comm);
  LPT_TRY(pending.begin(partial.reducing));
  LPT_TRY(scale_private(call.context, plan, partial));
  return pending.end();
}

Status begin_sum(const Call &call, const MatrixView &gradient, std::unique_ptr<PendingReductions> &out_flight) {
  const bool is_requested = call.options.parallel == LPT_LINEAR_PARALLEL_COLUMNS && call.options.plan == nullptr;
  if (!is_requested || call.is_check_only) return {};
  const PartialPlan plan = plan_of(call.options, gradient.columns);
  if (is_identity(plan)) return {};
  Partial partial{};
  LPT_TRY(prepare_partial(call.context, plan, LPT_PARTIAL_PASS_BACKWARD, gradient, gradient, partial));
  out_flight = std::make_unique<PendingReductions>(call.context, *call.options.comm);
  return out_flight->begin(partial.reducing);
}

Status share_amax(Context &context, Comm &comm, Linear *const *linears, int64_t count) {
  for (int64_t i = 0; i < count; ++i) LPT_TRY(check_place(context, *linears[i]));
  // Each scaler sends two numbers: whether it recorded an amax, and the amax.
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    for (const Scaler &scaler : linears[i]->scalers) {
      numbers.insert(numbers.end(), {scaler.is_recorded ? 1.0f : 0.0f, scaler.running_amax});
    }
  }
  ReductionPlan reducing{};
  reducing.operation = "linear_share_amax";
  reducing.input = reducing.output = vector_view(LPT_FORMAT_F32, numbers.data(), static_cast<int64_t>(numbers.size()));
  reducing.reduction = Reduction::kMaximum;
  reducing.factor = 1.0;
  reducing.shares = equal_shares(reducing.input.columns, comm.engine->ranks());
  SelectedReduction chosen{};
  LPT_TRY(select_reduction(context, LPT_REDUCE_OPTIONS_INIT, reducing, comm.engine->ranks(), true, chosen));
  const auto reduce = [&](Context &worker, Engine &engine) { return run_to_all(worker, engine, chosen); };
  LPT_TRY(run_collective(context, comm, reduce, nullptr));
  const float *next = numbers.data();
  for (int64_t i = 0; i < count; ++i) {
    for (Scaler &scaler : linears[i]->scalers) {
      if (next[0] != 0.0f) record_amax(scaler, next[1]);
      next += 2;
    }
  }
  return {};
}

}  // namespace lpt
