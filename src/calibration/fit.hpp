// Weights fitted to calibration data: sparse, or quantized.
#pragma once

#include "lpt/calibration.h"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status fit_sparse(Context &context, const Tensor *weight, const Tensor *mask, const Tensor *inputs,
                  const lpt_sparse_fit_options &options, Tensor *output, Tensor *bias_change,
                  lpt_sparse_fit_info &out_info);
Status fit_weights(Context &context, const Tensor *weight, const Tensor *gram, const lpt_weights_fit_options &options,
                   Tensor *output, Tensor *input_factors, Tensor *bias_change, lpt_weights_fit_info &out_info);

// Candidates of tensors, as lpt_format_choose() takes them.
struct FormatCandidates {
  const double *errors;
  const int64_t *bytes;
  int64_t tensors, candidates;
};
Status choose_formats(const FormatCandidates &given, int64_t budget, int64_t *out_choices,
                      lpt_format_choose_info &out_info);

enum class TransposedOperand { kNone, kA, kB };

// Computes c = a · b for f32 matrices. It keeps no scratch, as many steps would exhaust memory.
Status multiply(Context &context, const MatrixView &a, const MatrixView &b, const MatrixView &c,
                TransposedOperand transposed = TransposedOperand::kNone);

// Computes image = numbers · gram, and the sum over rows of numbers · gram · numbersᵀ. All matrices are f32. Rows are added in
// order, in f64.
Status quadratic_form(Context &context, const MatrixView &numbers, const MatrixView &gram, const MatrixView &image,
                      double &out_sum);

}  // namespace lpt
