// Requests that only devices have: the host does not read the results of a pass over the gradients or the moments. Kernels
// compute the values that depend on these results.
#pragma once

#include <span>

#include "kernels/optimizer/optimizer.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Tensor scales of the moments of a parameter, the first moment first.
struct StepScales {
  float scale[2];    // multiplies stored elements when decoding
  float inverse[2];  // multiplies values when encoding
  float amax[3];     // as in StepRequest
};

// Values of a step that depend on all gradients.
struct GradientStats {
  double sum_of_squares;
  int64_t nonfinite_count;
  double norm, clip_factor;
  float gradient_scale;  // the scale of the caller · the clip factor
};

// Adds the sums of all blocks in their order, and computes the norm and the clip factor. The count of nonfinite elements is
// already in `facts`, or is the sum of the counts of all ranks.
struct ClipRequest {
  const double *sums;
  int64_t count;
  double gradient_scale, largest_norm;        // largest_norm 0: no clipping
  GradientStats *facts;                       // output
  const int64_t *nonfinite_counts = nullptr;  // one per rank; NULL: facts has the count
  int32_t rank_count = 0;                     // length of nonfinite_counts
};

// Computes new scales. A delayed moment with a nonzero stored amax uses twice that amax. Other moments use the amax in `next`.
struct StepScalesRequest {
  float largest[2];  // largest value of the element; 0: the moment has no such scale, and its scale is set to 1
  bool is_delayed[2];
  const StepScales *stored;
  StepScales *next;  // scale and inverse are outputs
};

void clip_cuda(const ClipRequest &request, void *stream);
void step_scales_cuda(const StepScalesRequest &request, void *stream);

std::span<const KernelEntry<ClipRequest>> clip_device_kernels();
std::span<const KernelEntry<StepScalesRequest>> step_scales_device_kernels();

}  // namespace lpt
