// Tensor scales of the rules that read more of a matrix than its amax: sums of magnitudes, or the errors of trials.
#pragma once

#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// *scale by MEAN or SAWB, where the rule gives one other than it holds: sums[r] and squares[r] of `rows` rows as
// MagnitudeSumRequest gives them, added up in turn in f64.
struct FittedScaleRequest {
  ScaleSpec spec;
  int64_t rows, count;  // of rows, of all elements
  const float *sums, *squares, *amax;
  float *scale;
};

// What a search of scales keeps on the device: its trial, the sums of that, the least error so far.
struct ScaleSearch {
  CastStatistics sums;
  float trial;
  double least;
};

// The trial becomes candidate number `candidate` of a rule; the sums are cleared.
struct TrialScaleRequest {
  ScaleSpec spec;
  int32_t candidate;
  const float *amax;
  ScaleSearch *search;
};

// *scale becomes the trial where its error is less than all before, or it is the first one.
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
