// Matrix products.
#pragma once

#include "src/ops/operation.hpp"

namespace lpt {

// One product inside an operation; views are checked. a is m × k and b is k × n, or stored transposed.
struct Product {
  MatrixView a, b, c;
  bool is_a_transposed = false;
  bool is_b_transposed = false;
  double alpha = 1.0;
  double beta = 0.0;
  const void *bias = nullptr;  // n numbers: f32, or f64 where a view is f64
};

bool is_f64_product(const Product &product);
Status multiply_matrices(Context &context, const Product &product, bool is_check_only);

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c);

}  // namespace lpt
