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
// r is rounded to f32, the sum runs in f64. With a mean m, x - m takes the place of x; is_of_bias: the sum of dy.
struct GradientPartsRequest {
  MatrixView input, output_gradient;
  const float *inverse_rms;
  int64_t part_rows;
  double *sums;  // written
  const float *mean = nullptr;
  bool is_of_bias = false;
};

// gradient[c] = the sum of all parts, rounded once; added to what was there with is_accumulated. Without parts 0.
struct GradientSumRequest {
  const double *sums;
  int64_t parts, columns;
  float *gradient;
  bool is_accumulated;
};

// The place of each target among the columns of this rank: kUncounted of an ignored target, kNoClass of one that is no class.
struct PlacesRequest {
  const void *targets;
  bool is_wide;  // int64, which are int32 else
  int64_t rows, ignored_target;
  int64_t first, classes;  // the first class of this rank, the classes of all ranks
  int64_t *counted;        // written: the number of rows that are not ignored
  int64_t *places;         // written
};

// output(r, c) = weight(places[r], c), rounded to the format of the output; NaN where the place is no row of the weight. Codes of
// the same format are copied.
struct EmbeddingRequest {
  MatrixView weight;
  const int64_t *places;
  MatrixView output;
};

// The losses of rows, or their sum. Exact: the bits of the CPU. A row without a class gives NaN.
struct LossesRequest {
  const RowSums *sums;    // of rank after rank
  const int64_t *places;  // of PlacesRequest
  int64_t ranks, rows, classes;
  double label_smoothing;
  double *log_sums;  // NULL, or written: log sum exp(x) of each row
  double *losses;    // written: scratch of `rows` numbers
  void *out;         // written: with is_for_rows each row's loss, else their sum
  bool is_f64;       // out, which is f32 else
  bool is_for_rows;
  const int64_t *divisor;  // of the sum; NULL, or 0: it is not divided
};

// factors[r] = what the gradient of row r is multiplied by: 0 in ignored rows, NaN in rows without a class.
struct LossFactorsRequest {
  const void *gradient;  // of out above; NULL: ones
  bool is_f64;
  bool is_for_rows;
  const int64_t *divisor;  // NULL, or 0: none
  const int64_t *places;
  int64_t rows;
  double *factors;  // written
};

std::span<const KernelEntry<SmoothingRequest>> smoothing_device_kernels();
std::span<const KernelEntry<RmsnormSumRequest>> rmsnorm_sum_device_kernels();
std::span<const KernelEntry<GradientPartsRequest>> gradient_parts_device_kernels();
std::span<const KernelEntry<GradientSumRequest>> gradient_sum_device_kernels();
std::span<const KernelEntry<PlacesRequest>> places_device_kernels();
std::span<const KernelEntry<EmbeddingRequest>> embedding_device_kernels();
std::span<const KernelEntry<LossesRequest>> losses_device_kernels();
std::span<const KernelEntry<LossFactorsRequest>> loss_factors_device_kernels();

void smoothing_cuda(const SmoothingRequest &request, void *stream);
void rmsnorm_sum_cuda(const RmsnormSumRequest &request, void *stream);
void gradient_parts_cuda(const GradientPartsRequest &request, void *stream);
void gradient_sum_cuda(const GradientSumRequest &request, void *stream);
void places_cuda(const PlacesRequest &request, void *stream);
void embedding_cuda(const EmbeddingRequest &request, void *stream);
void losses_cuda(const LossesRequest &request, void *stream);
void loss_factors_cuda(const LossFactorsRequest &request, void *stream);

}  // namespace lpt
