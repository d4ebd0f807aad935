// Tensor-parallel ranks that share only the first columns of their activations (CAAT-Net, arXiv 2506.19645).
#pragma once

#include "lpt/research/cost.h"
#include "src/collective/collective.hpp"
#include "src/collective/wire.hpp"
#include "src/gemm/run.hpp"

// All that is known of shared columns is known here, so that no two places round a fraction in two ways.
struct lpt_partial_plan {
  lpt::HandleKind kind = lpt::HandleKind::kPartialPlan;
  int64_t hidden = 0, shared = 0;  // columns
  int32_t ranks = 1;
  double scale = 1.0;
  lpt_format wires[2] = {LPT_FORMAT_NONE, LPT_FORMAT_NONE};  // by lpt_partial_pass
  int64_t chunk_rows = 0;                                    // 0: as many as are best for the link, if it is known
  lpt_cost_link link = LPT_COST_LINK_INIT;
};

namespace lpt {

using PartialPlan = lpt_partial_plan;

// ---- partial_plan.cpp

Status find_shared_columns(int64_t hidden, double fraction, int64_t &out_columns);
Status create_partial_plan(const lpt_partial_plan_options &options, PartialPlan **out_plan);
Status read_partial_plan(const PartialPlan &plan, lpt_format format, lpt_partial_plan_info &out_info);

// ---- partial.cpp

Status check_partial_comm(const PartialPlan &plan, const Comm &comm);

// The reduction of the shared columns of checked views, and the row that scales the private ones.
struct Partial {
  MatrixView input, output;  // all columns
  SelectedReduction reducing;
  const KernelEntry<ReduceRequest> *scale_kernel;  // NULL: there is nothing to multiply by
  Device device;                                   // where they lie
};
Status prepare_partial(Context &context, const PartialPlan &plan, lpt_partial_pass pass, const MatrixView &input,
                       const MatrixView &output, Partial &out_partial, const Device &device = {});

// Rows of a GEMM of so many that are reduced while the next ones are multiplied.
Status find_chunk_rows(const PartialPlan &plan, int64_t rows, lpt_format format, int64_t &out_rows);

// Writes the private columns. On the CPU it neither fails nor throws: others may be at the shared ones.
Status scale_private(Context &context, const PartialPlan &plan, const Partial &partial);

Status partial_all_reduce(Context &context, Comm &comm, const PartialPlan &plan, lpt_partial_pass pass,
                          const Tensor *input, Tensor *output, Future **out_future);
Status partial_scale_weight(Context &context, const PartialPlan &plan, Tensor *weight);

// ---- partial_gemm.cpp

// A GEMM whose c is then reduced: the private columns are computed while the shared ones are on their way. Returns
// when all is done.
Status multiply_partially(Context &context, Comm &comm, const PartialPlan &plan, const GemmCall &call);

Status partial_gemm(Context &context, Comm &comm, const PartialPlan &plan, const Tensor *a, const Tensor *b,
                    const lpt_gemm_options &options, Tensor *c);

}  // namespace lpt
