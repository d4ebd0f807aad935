// GEMMs whose checks and kernel selection run once.
#pragma once

#include "lpt/research/emulation.h"
#include "src/gemm/gemm.hpp"

namespace lpt {

// The properties of an operand of a plan.
struct OperandShape {
  lpt_format format;
  int64_t extents[2];
  int64_t column_stride;
  Layout layout;
  int32_t tile_rows, tile_columns;  // for kBlockSparse
};

}  // namespace lpt

struct lpt_gemm_plan {
  lpt::HandleKind kind = lpt::HandleKind::kGemmPlan;
  lpt_gemm_options options;        // without handles
  lpt_gemm_emulation emulation{};  // target of options.emulation
  lpt::GemmDispatch dispatch;
  lpt::OperandShape a, b, c;
};

namespace lpt {

using GemmPlan = lpt_gemm_plan;

Status create_plan(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                   GemmPlan **out_plan);
Status run_plan(Context &context, const GemmPlan &plan, const Tensor *a, const Tensor *b,
                const lpt_gemm_operands &operands, Tensor *c);
lpt_gemm_plan_info plan_values(const GemmPlan &plan);

}  // namespace lpt
