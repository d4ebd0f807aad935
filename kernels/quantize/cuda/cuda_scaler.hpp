// What a scaler is on a device: an amax that a cast finds stays there, and the scale of a later one follows from it.
#pragma once

#include <cmath>
#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

struct ScalerNumbers {
  float amax;       // of the history, by its rule
  float kept_amax;  // the last of these that was not zero
  float running_amax;
};

// amax · 2^margin, kept finite.
LPT_HOST_DEVICE static inline float amax_with_margin(float amax, int32_t margin) {
  const double wide = std::ldexp(static_cast<double>(amax), margin);
  return wide > static_cast<double>(kLargestFloat) ? kLargestFloat : static_cast<float>(wide);
}

// As AmaxRequest; where `*unless` is not 0 nothing is read, and the amax is 0.
struct LookRequest {
  AmaxRequest amax;
  const float *unless;
};

// The amax that a cast takes: of the past, of what was found, or none. What a scaler that is not delayed found is recorded.
struct ScalerAmaxRequest {
  ScalerNumbers *scaler;
  const float *found;
  bool is_delayed;
  lpt_scaler_zero_rule zero_rule;
  int32_t margin;
  float *amax;  // written
};

// The end of a step: the running amax goes to its place in the history.
struct ScalerUpdateRequest {
  ScalerNumbers *scaler;
  float *history;
  int32_t length, place;
  lpt_scaler_history_rule rule;
};

void look_cuda(const LookRequest &request, void *stream);
void scaler_amax_cuda(const ScalerAmaxRequest &request, void *stream);
void scaler_update_cuda(const ScalerUpdateRequest &request, void *stream);

std::span<const KernelEntry<LookRequest>> look_device_kernels();
std::span<const KernelEntry<ScalerAmaxRequest>> scaler_amax_device_kernels();
std::span<const KernelEntry<ScalerUpdateRequest>> scaler_update_device_kernels();

}  // namespace lpt
