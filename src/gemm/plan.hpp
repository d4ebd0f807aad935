// GEMMs that are checked and decided once.
#pragma once

#include "lpt/research/emulation.h"
#include "src/gemm/gemm.hpp"

namespace lpt {

// What an operand of a plan looks like.
struct OperandShape {
  lpt_format format;
  int64_t extents[2];
  int64_t column_stride;
  Layout layout;
  int32_t tile_rows, tile_columns;  // of weights in tiles
};

}  // namespace lpt

struct lpt_gemm_plan {
  lpt::HandleKind kind = lpt::HandleKind::kGemmPlan;
  lpt_gemm_options options;        // without handles
  lpt_gemm_emulation emulation{};  // what options.emulation points to
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
