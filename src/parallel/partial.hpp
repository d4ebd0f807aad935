// Tensor-parallel ranks that share only the first columns of their activations (CAAT-Net, arXiv 2506.19645).
#pragma once

#include "lpt/research/cost.h"
#include "src/collective/collective.hpp"
#include "src/collective/wire.hpp"
#include "src/gemm/run.hpp"

// The only definition of shared columns, so that a fraction is rounded in one place.
struct lpt_partial_plan {
  lpt::HandleKind kind = lpt::HandleKind::kPartialPlan;
  int64_t hidden = 0, shared = 0;  // columns
  int32_t ranks = 1;
  double scale = 1.0;
  lpt_format wires[2] = {LPT_FORMAT_NONE, LPT_FORMAT_NONE};  // by lpt_partial_pass
  int64_t chunk_rows = 0;                                    // 0: the best number for the link, if the link is known
  lpt_cost_link link = LPT_COST_LINK_INIT;
};

namespace lpt {

using PartialPlan = lpt_partial_plan;

// Defined in partial_plan.cpp.

Status find_shared_columns(int64_t hidden, double fraction, int64_t &out_columns);
Status create_partial_plan(const lpt_partial_plan_options &options, PartialPlan **out_plan);
Status read_partial_plan(const PartialPlan &plan, lpt_format format, lpt_partial_plan_info &out_info);

// Defined in partial.cpp.

Status check_partial_comm(const PartialPlan &plan, const Comm &comm);

// The reduction of the shared columns of checked views, and the kernel that scales the private ones.
struct Partial {
  MatrixView input, output;  // all columns
  SelectedReduction reducing;
  const KernelEntry<ReduceRequest> *scale_kernel;  // CPU only; NULL: columns are copied
  Device device;                                   // of the views
};
Status prepare_partial(Context &context, const PartialPlan &plan, lpt_partial_pass pass, const MatrixView &input,
                       const MatrixView &output, Partial &out_partial, const Device &device = {});

// Computes the rows of a chunk of a GEMM with `rows` rows: a chunk is reduced while the next one is multiplied.
Status find_chunk_rows(const PartialPlan &plan, int64_t rows, lpt_format format, int64_t &out_rows);

// Writes the private columns. On the CPU it neither fails nor throws, as other ranks may access the shared columns.
Status scale_private(Context &context, const PartialPlan &plan, const Partial &partial);

Status partial_all_reduce(Context &context, Comm &comm, const PartialPlan &plan, lpt_partial_pass pass,
                          const Tensor *input, Tensor *output, Future **out_future);
Status partial_scale_weight(Context &context, const PartialPlan &plan, Tensor *weight);

// Defined in partial_gemm.cpp.

// Runs a GEMM and reduces c: the private columns are computed while the shared ones are reduced. Returns when c is complete; on
// a device, when all work is queued.
Status multiply_partially(Context &context, Comm &comm, const PartialPlan &plan, const GemmCall &call);

Status partial_gemm(Context &context, Comm &comm, const PartialPlan &plan, const Tensor *a, const Tensor *b,
                    const lpt_gemm_options &options, Tensor *c);

}  // namespace lpt
