#include "src/gemm/gemm.hpp"

#include "src/api/gemm_options.hpp"
#include "src/gemm/plan.hpp"

using namespace lpt;

lpt_status lpt_gemm(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options *options,
                    lpt_tensor *c) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(c, "c"));
    KnownGemmOptions known;
    LPT_TRY(known.read(options));
    return gemm(self, a, b, known.gemm, c);
  });
}

lpt_status lpt_gemm_grouped(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                            const lpt_tensor *group_ends, const lpt_gemm_options *options, lpt_tensor *c) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(c, "c"));
    KnownGemmOptions known;
    LPT_TRY(known.read(options));
    return gemm_grouped(self, a, b, group_ends, known.gemm, c);
  });
}

lpt_status lpt_gemm_plan_create(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                                const lpt_gemm_options *options, const lpt_tensor *c, lpt_gemm_plan **out_plan) {
  return guard(context, [&](Context &self) -> Status {
    KnownGemmOptions known;
    LPT_TRY(known.read(options));
    LPT_TRY(check_out(out_plan, "out_plan"));
    return create_plan(self, a, b, known.gemm, c, out_plan);
  });
}

lpt_status lpt_gemm_plan_run(lpt_context *context, const lpt_gemm_plan *plan, const lpt_tensor *a, const lpt_tensor *b,
                             const lpt_gemm_operands *operands, lpt_tensor *c) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(c, "c"));
    LPT_TRY(check_handle(plan, HandleKind::kGemmPlan, "plan"));
    lpt_gemm_operands known = LPT_GEMM_OPERANDS_INIT;
    lpt_quantize_options quantize = LPT_QUANTIZE_OPTIONS_INIT;
    LPT_TRY(read_options(operands, "operands", known));
    if (known.quantize != nullptr) {
      LPT_TRY(read_options(known.quantize, "quantize", quantize));
      known.quantize = &quantize;
    }
    return run_plan(self, *plan, a, b, known, c);
  });
}

lpt_status lpt_gemm_plan_read(lpt_context *context, const lpt_gemm_plan *plan, lpt_gemm_plan_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(plan, HandleKind::kGemmPlan, "plan"));
    return write_values(plan_values(*plan), "out_info", out_info);
  });
}

void lpt_gemm_plan_destroy(lpt_gemm_plan *plan) { destroy(plan, HandleKind::kGemmPlan); }
