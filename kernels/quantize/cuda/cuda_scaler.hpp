// Scalers on a device: the amax of a cast is kept in device memory, and kernels derive the scale of a later cast from it.
#pragma once

#include <cmath>
#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

struct ScalerNumbers {
  float amax;       // of the history, by the history rule
  float kept_amax;  // the last nonzero amax
  float running_amax;
};

// Returns amax · 2^margin, or the largest finite number if the result overflows.
LPT_HOST_DEVICE static inline float amax_with_margin(float amax, int32_t margin) {
  const double wide = std::ldexp(static_cast<double>(amax), margin);
  return wide > static_cast<double>(kLargestFloat) ? kLargestFloat : static_cast<float>(wide);
}

// Returns decay · latest + (1 - decay) · amax, rounded to f32 from f64. Both products are exact, so that the result does not
// depend on fused multiply-adds.
LPT_HOST_DEVICE static inline float averaged_amax(float decay, float latest, float amax) {
  const float weight = 1.0f - decay;
  return static_cast<float>(static_cast<double>(decay) * static_cast<double>(latest) +
                            static_cast<double>(weight) * static_cast<double>(amax));
}

// Computes AmaxRequest if *unless is 0. Otherwise it does not read the source, and the amax is 0.
struct ConditionalAmaxRequest {
  AmaxRequest amax;
  const float *unless;
};

// Selects the amax of a cast: that of the history, the amax found in the source, or 0. A scaler that is not delayed records the
// amax found.
struct ScalerAmaxRequest {
  ScalerNumbers *scaler;
  const float *found;
  bool is_delayed;
  lpt_scaler_zero_rule zero_rule;
  int32_t margin;
  float *amax;  // output
};

// Ends a step: stores the running amax in the history at `place`, and updates the amax of the scaler.
struct ScalerUpdateRequest {
  ScalerNumbers *scaler;
  float *history;
  int32_t length, place;
  lpt_scaler_history_rule rule;
  float decay;  // of the previous entry, in the entry that is stored; 0 at the first update
};

void conditional_amax_cuda(const ConditionalAmaxRequest &request, void *stream);
void scaler_amax_cuda(const ScalerAmaxRequest &request, void *stream);
void scaler_update_cuda(const ScalerUpdateRequest &request, void *stream);

std::span<const KernelEntry<ConditionalAmaxRequest>> conditional_amax_device_kernels();
std::span<const KernelEntry<ScalerAmaxRequest>> scaler_amax_device_kernels();
std::span<const KernelEntry<ScalerUpdateRequest>> scaler_update_device_kernels();

}  // namespace lpt
