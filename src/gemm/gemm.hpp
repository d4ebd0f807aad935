// lpt_gemm() and lpt_gemm_grouped(): check tensors and options, run GEMMs, and apply epilogues.
#pragma once

#include "src/gemm/run.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c);
Status gemm_grouped(Context &context, const Tensor *a, const Tensor *b, const Tensor *group_ends,
                    const lpt_gemm_options &options, Tensor *c);

// Runs a GEMM with a kernel that was selected by a plan.
Status gemm_planned(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                    const KernelEntry<GemmRequest> *kernel, Tensor *c);

// Runs all checks of gemm() and reports its kernel and scratch.
Status plan_gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                 GemmDispatch &out_dispatch);

}  // namespace lpt
