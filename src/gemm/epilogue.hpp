// What happens to the results of GEMMs on their way to c: activation, residual, encoding.
#pragma once

#include "src/gemm/run.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Rows of all GEMMs together, one after the other.
struct GemmEpilogue {
  Tensor *c;
  MatrixView c_view;    // folded into rows
  int64_t columns;      // of the GEMMs: twice those of c for SwiGLU
  bool is_direct;       // GEMMs write c themselves, and nothing is left to do
  MatrixView target;    // f32: where GEMMs write otherwise
  size_t target_bytes;  // of scratch; 0: it is c
  MatrixView residual;  // data NULL: none
  lpt_activation activation;
  const lpt_quantize_options *quantize;
};

// Rejects options that c's format does not take. `needs_f32` requests sums in f32 even if c could hold them.
Status check_finish(const lpt_gemm_options &options, const Tensor &c, bool needs_f32, bool &out_is_direct);

// Checks c against the options and takes memory. `rows` and `columns` are those of the GEMMs.
Status begin_epilogue(Context &context, const lpt_gemm_options &options, Tensor *c, int64_t rows, int64_t columns,
                      bool needs_f32, GemmEpilogue &out_finish);

// Writes c of what the GEMMs left in `target`.
Status end_epilogue(Context &context, const GemmEpilogue &epilogue, bool is_check_only);

}  // namespace lpt
