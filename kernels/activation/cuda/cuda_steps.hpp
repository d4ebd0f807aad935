// Requests that only devices support. On a device, the host cannot read values between kernels. Therefore the scalar steps
// between the kernels of an operation are kernels too, and steps that need another pass over memory are fused.
#pragma once

#include <span>

#include "kernels/activation/activation.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Computes factors[c] = smoothing_factor(column_amax[c]).
struct SmoothingRequest {
  const float *column_amax;
  int64_t columns;
  uint8_t *factors;  // output
};

// Computes sums[p · columns + c] = Σ dy · (x · r) over the rows of part p, for parts of `part_rows` rows. Bounded: the product
// with r is rounded to f32, the sum is computed in f64. With a mean m, x - m replaces x; with is_of_bias: Σ dy.
struct GradientPartsRequest {
  MatrixView input, output_gradient;
  const float *inverse_rms;
  int64_t part_rows;
  double *sums;  // output
  const float *mean = nullptr;
  bool is_of_bias = false;
};

// Computes gradient[c] = Σ of all parts, rounded once; with is_accumulated, adds it to the gradient. Without parts the sum is
// 0.
struct GradientSumRequest {
  const double *sums;
  int64_t parts, columns;
  float *gradient;
  bool is_accumulated;
};

// Computes the place of each target among the columns of this rank: kUncounted for an ignored target, kNoClass for an invalid
// class.
struct PlacesRequest {
  const void *targets;
  bool is_wide;  // int64, else int32
  int64_t rows, ignored_target;
  int64_t first, classes;  // the first class of this rank, the classes of all ranks
  int64_t *counted;        // output: the number of rows that are not ignored
  int64_t *places;         // output
};

// Computes output(r, c) = weight(places[r], c), rounded to the format of the output; NaN if the place is not a row of the
// weight. Codes of the same format are copied.
struct EmbeddingRequest {
  MatrixView weight;
  const int64_t *places;
  MatrixView output;
};

// Computes the losses of rows, or their sum. Exact. A row without a valid class yields NaN.
struct LossesRequest {
  const RowSums *sums;    // in rank order
  const int64_t *places;  // from PlacesRequest
  int64_t ranks, rows, classes;
  double label_smoothing;
  double *log_sums;  // NULL, or output: log Σ exp(x) of each row
  double *losses;    // output: scratch of `rows` values
  void *out;         // output: with is_for_rows the loss of each row, else the sum
  bool is_f64;       // type of `out`, else f32
  bool is_for_rows;
  const int64_t *divisor;  // of the sum; NULL or a value of 0: no division
};

// Computes factors[r], the factor of the gradient of row r: 0 for ignored rows, NaN for rows without a valid class.
struct LossFactorsRequest {
  const void *gradient;  // gradient of `out` above; NULL: ones
  bool is_f64;
  bool is_for_rows;
  const int64_t *divisor;  // NULL or a value of 0: none
  const int64_t *places;
  int64_t rows;
  double *factors;  // output
};

std::span<const KernelEntry<SmoothingRequest>> smoothing_device_kernels();
std::span<const KernelEntry<GradientPartsRequest>> gradient_parts_device_kernels();
std::span<const KernelEntry<GradientSumRequest>> gradient_sum_device_kernels();
std::span<const KernelEntry<PlacesRequest>> places_device_kernels();
std::span<const KernelEntry<EmbeddingRequest>> embedding_device_kernels();
std::span<const KernelEntry<LossesRequest>> losses_device_kernels();
std::span<const KernelEntry<LossFactorsRequest>> loss_factors_device_kernels();

void smoothing_cuda(const SmoothingRequest &request, void *stream);
void gradient_parts_cuda(const GradientPartsRequest &request, void *stream);
void gradient_sum_cuda(const GradientSumRequest &request, void *stream);
void places_cuda(const PlacesRequest &request, void *stream);
void embedding_cuda(const EmbeddingRequest &request, void *stream);
void losses_cuda(const LossesRequest &request, void *stream);
void loss_factors_cuda(const LossFactorsRequest &request, void *stream);

}  // namespace lpt
