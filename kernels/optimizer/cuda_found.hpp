// What only devices have of this family: there the host does not know what a pass over the gradients or the moments has found,
// so the numbers that follow from it are rows of their own.
#pragma once

#include <span>

#include "kernels/optimizer/optimizer.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Of the moments of a parameter that have one scale, the first one first.
struct StepScales {
  float scale[2];    // decodes what is stored
  float inverse[2];  // encoded it
  float amax[3];     // as StepRequest has it
};

// What a step has to know of all its gradients.
struct GradientFacts {
  double sum_of_squares;
  int64_t nonfinite_count;
  double norm, clip_factor;
  float gradient_scale;  // the caller's and the clip factor in one number
};

// The sum of all blocks in their order, and what follows from it. The count of what is not finite is there already, or it is the
// sum of those of ranks.
struct ClipRequest {
  const double *sums;
  int64_t count;
  double gradient_scale, largest_norm;        // 0: no clipping
  GradientFacts *facts;                       // written
  const int64_t *nonfinite_counts = nullptr;  // NULL: facts has it
  int32_t rank_count = 0;                     // of nonfinite_counts
};

// The new scales: of a delayed moment from twice the amax that is stored, of another, or where that one is 0, from the one that
// `next` has.
struct StepScalesRequest {
  float largest[2];  // of the element; 0: the moment has no such scale, and gets 1
  bool is_delayed[2];
  const StepScales *stored;
  StepScales *next;  // scale and inverse are written
};

void clip_cuda(const ClipRequest &request, void *stream);
void step_scales_cuda(const StepScalesRequest &request, void *stream);

std::span<const KernelEntry<ClipRequest>> clip_device_kernels();
std::span<const KernelEntry<StepScalesRequest>> step_scales_device_kernels();

}  // namespace lpt
