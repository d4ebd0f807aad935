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
  size_t target_bytes;  // of scratch; 0: it is c
  MatrixView residual;  // data NULL: none
  lpt_activation activation;
  const lpt_quantize_options *quantize;
};

// Refuses options that c's format does not take. `needs_f32` asks for sums in f32 even if c could hold them.
Status check_finish(const lpt_gemm_options &options, const Tensor &c, bool needs_f32, bool &out_is_direct);

// Checks c against the options and takes memory. `rows` and `columns` are those of the products.
Status begin_finish(Context &context, const lpt_gemm_options &options, Tensor *c, int64_t rows, int64_t columns,
                    bool needs_f32, Finish &out_finish);

// Writes c of what the products left in `target`.
Status end_finish(Context &context, const Finish &finish, bool is_check_only);

}  // namespace lpt
