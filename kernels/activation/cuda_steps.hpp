// What only devices have of this family: there the host sees no number, so the steps that an operation of the CPU takes
// between its kernels are rows too, and what would need another walk over memory is one row.
#pragma once

#include <span>

#include "kernels/activation/activation.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// factors[c] = smoothing_factor(column_amax[c]).
struct SmoothingRequest {
  const float *column_amax;
  int64_t columns;
  uint8_t *factors;  // written
};

// norm.input = residual + branch, added in f32 and rounded once to its format, then the norm of it: the bits of two calls. The
// sum may be residual or branch.
struct RmsnormSumRequest {
  MatrixView residual, branch;
  RmsnormForwardRequest norm;
};

// sums[p · columns + c] = sum over the rows of part p of dy · (x · r), for parts of `part_rows` rows. Bounded: the product with
// r is rounded to f32, the sum runs in f64.
struct GradientPartsRequest {
  MatrixView input, output_gradient;
  const float *inverse_rms;
  int64_t part_rows;
  double *sums;  // written
};

// gradient[c] = the sum of all parts, rounded once; added to what was there with is_accumulated. Without parts 0.
struct GradientSumRequest {
  const double *sums;
  int64_t parts, columns;
  float *gradient;
  bool is_accumulated;
};

// What cross entropy makes of its rows' sums. Exact: the bits of the CPU.
struct LossesRequest {
  const RowSums *sums;    // of rank after rank
  const int64_t *places;  // kUncounted: the row does not count
  int64_t ranks, rows, classes;
  double label_smoothing;
  double *log_sums;  // NULL, or written: log sum exp(x) of each row
  double *losses;    // written: scratch of `rows` numbers
  void *out;    // written: with is_for_rows each row's loss, else their sum, which is divided by a divisor other than 0
  bool is_f64;  // out, which is f32 else
  bool is_for_rows;
  double divisor;
};

// factors[r] = what the gradient of row r is multiplied by: 0 in rows that do not count.
struct LossFactorsRequest {
  const void *gradient;  // of out above; NULL: ones
  bool is_f64;
  bool is_for_rows;
  double divisor;  // 0: none
  const int64_t *places;
  int64_t rows;
  double *factors;  // written
};

std::span<const KernelEntry<SmoothingRequest>> smoothing_device_kernels();
std::span<const KernelEntry<RmsnormSumRequest>> rmsnorm_sum_device_kernels();
std::span<const KernelEntry<GradientPartsRequest>> gradient_parts_device_kernels();
std::span<const KernelEntry<GradientSumRequest>> gradient_sum_device_kernels();
std::span<const KernelEntry<LossesRequest>> losses_device_kernels();
std::span<const KernelEntry<LossFactorsRequest>> loss_factors_device_kernels();

void smoothing_cuda(const SmoothingRequest &request, void *stream);
void rmsnorm_sum_cuda(const RmsnormSumRequest &request, void *stream);
void gradient_parts_cuda(const GradientPartsRequest &request, void *stream);
void gradient_sum_cuda(const GradientSumRequest &request, void *stream);
void losses_cuda(const LossesRequest &request, void *stream);
void loss_factors_cuda(const LossFactorsRequest &request, void *stream);

}  // namespace lpt
