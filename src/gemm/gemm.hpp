// lpt_gemm() and lpt_gemm_grouped(): tensors and options become GEMMs, and what is done to their results.
#pragma once

#include "src/gemm/run.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c);
Status gemm_grouped(Context &context, const Tensor *a, const Tensor *b, const Tensor *group_ends,
                    const lpt_gemm_options &options, Tensor *c);

// A GEMM whose row was picked before.
Status gemm_planned(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                    const KernelEntry<GemmRequest> *kernel, Tensor *c);

// All checks of gemm(), and what it would do.
Status decide_gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                   GemmDispatch &out_dispatch);

}  // namespace lpt
