// Tensor scales of rules that read more of a matrix than its amax: sums of magnitudes, or the errors of trials.
#pragma once

#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Sets *scale to that of MEAN or SAWB, if it differs from that of the amax, which *scale holds. sums[r] and squares[r] of
// `rows` rows are outputs of MagnitudeSumRequest. They are added in ascending order in f64.
struct FittedScaleRequest {
  ScaleSpec spec;
  int64_t rows, count;  // number of rows, number of elements
  const float *sums, *squares, *amax;
  float *scale;
};

// State of a scale search, in device memory: the trial scale, its statistics, and the smallest error of earlier trials.
struct ScaleSearch {
  CastStatistics sums;
  float trial;
  double least;
};

// Sets the trial to candidate number `candidate` of a rule, and clears the statistics.
struct TrialScaleRequest {
  ScaleSpec spec;
  int32_t candidate;
  const float *amax;
  ScaleSearch *search;
};

// Sets *scale to the trial if its error is less than that of all earlier trials, or if it is the first trial.
struct KeepScaleRequest {
  int32_t candidate;
  ScaleSearch *search;
  float *scale;
};

void magnitude_sum_cuda(const MagnitudeSumRequest &request, void *stream);
void fitted_scale_cuda(const FittedScaleRequest &request, void *stream);
void trial_scale_cuda(const TrialScaleRequest &request, void *stream);
void keep_scale_cuda(const KeepScaleRequest &request, void *stream);

std::span<const KernelEntry<MagnitudeSumRequest>> magnitude_sum_device_kernels();
std::span<const KernelEntry<FittedScaleRequest>> fitted_scale_device_kernels();
std::span<const KernelEntry<TrialScaleRequest>> trial_scale_device_kernels();
std::span<const KernelEntry<KeepScaleRequest>> keep_scale_device_kernels();

}  // namespace lpt
