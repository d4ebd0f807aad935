// f64 matrix functions of lpt_weights_fit(). Matrices are row-major. Results do not depend on the number of threads.
#pragma once

#include "src/call/operation.hpp"

namespace lpt {

// An operand whose elements are at data + r · row_stride + c · column_stride.
struct F64View {
  const double *data;
  int64_t row_stride, column_stride = 1;
};

// Computes c -= a · b with a of rows × depth, and b of depth × columns. Columns of b and c are adjacent.
void subtract_product(Context &context, int64_t rows, int64_t columns, int64_t depth, const F64View &a,
                      const F64View &b, double *c, int64_t c_stride);

// Replaces a symmetric matrix H, of which the upper triangle is read, by the upper triangular U with inverse(H) = Uᵀ · U.
// Returns false if H is not positive definite; the matrix is then undefined.
bool factor_inverse(Context &context, int64_t size, double *matrix);

}  // namespace lpt
