// What happens to the results of products on their way to c: activation, residual, encoding.
#pragma once

#include "src/ops/gemm_run.hpp"
#include "src/ops/tensor.hpp"

namespace lpt {

// Rows of all products together, one after the other.
struct Finish {
  Tensor *c;
  MatrixView c_view;    // folded into rows
  int64_t columns;      // of the products: twice those of c for SwiGLU
  bool is_direct;       // products write c themselves, and nothing is left to do
  MatrixView target;    // f32: where products write otherwise
  MatrixView residual;  // data NULL: none
  lpt_activation activation;
  const lpt_quantize_options *quantize;
};

// Checks c against the options and takes memory. `rows` and `columns` are those of the products; `needs_f32` asks for sums
// in f32 even if c could hold them.
Status begin_finish(Context &context, const lpt_gemm_options &options, Tensor *c, int64_t rows, int64_t columns,
                    bool needs_f32, Finish &out_finish);

// Writes c of what the products left in `target`.
Status end_finish(Context &context, const Finish &finish, bool is_check_only);

}  // namespace lpt
