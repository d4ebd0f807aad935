// The epilogue of GEMMs: activation, residual and encoding of the results.
#pragma once

#include "src/gemm/run.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// The epilogue of one or more GEMMs. The rows of all GEMMs are adjacent.
struct GemmEpilogue {
  Tensor *c;
  MatrixView c_view;    // c with leading axes folded into rows
  int64_t columns;      // of the GEMMs; twice those of c for SwiGLU
  bool is_direct;       // GEMMs write c; no epilogue runs
  MatrixView target;    // f32 output of the GEMMs if not is_direct
  size_t target_bytes;  // of scratch; 0 if the target is c
  MatrixView residual;  // data is NULL without a residual
  lpt_activation activation;
  const lpt_quantize_options *quantize;
};

// Rejects options that the format of c does not support. `needs_f32` requests f32 sums even if c can store the sums in its
// format.
Status check_finish(const lpt_gemm_options &options, const Tensor &c, bool needs_f32, bool &out_is_direct);

// Checks c and the options, and takes memory. `rows` and `columns` are those of the GEMMs.
Status begin_epilogue(Context &context, const lpt_gemm_options &options, Tensor *c, int64_t rows, int64_t columns,
                      bool needs_f32, GemmEpilogue &out_finish);

// Computes c from the results of the GEMMs in `target`.
Status end_epilogue(Context &context, const GemmEpilogue &epilogue, bool is_check_only);

}  // namespace lpt
