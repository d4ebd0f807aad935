// Scalers: one thread, or one warp for a history, because the values are few.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/quantize/cuda/cuda_scaler.hpp"

namespace lpt {
namespace {

__global__ void scaler_amax(ScalerAmaxRequest request) {
  ScalerNumbers &scaler = *request.scaler;
  const float found = *request.found;
  float past = request.is_delayed ? scaler.amax : 0.0f;
  if (request.is_delayed && past == 0.0f && request.zero_rule == LPT_SCALER_ZERO_RULE_USE_LAST) past = scaler.kept_amax;
  const bool is_looking =
      !request.is_delayed || (past == 0.0f && request.zero_rule == LPT_SCALER_ZERO_RULE_USE_CURRENT);
  if (!request.is_delayed && found > scaler.running_amax) scaler.running_amax = found;
  *request.amax = amax_with_margin(is_looking ? found : past, request.margin);
}

__device__ __forceinline__ float largest_of_history(const ScalerUpdateRequest &request) {
  float amax = 0.0f;
  for (auto i = static_cast<int32_t>(threadIdx.x); i < request.length; i += 32) {
    const float number = i == request.place ? request.scaler->running_amax : request.history[i];
    amax = number > amax ? number : amax;
  }
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, amax, distance);
    amax = other > amax ? other : amax;
  }
  return amax;
}

// Launched with one warp.
__global__ void scaler_update(ScalerUpdateRequest request) {
  const float largest = largest_of_history(request);
  if (threadIdx.x != 0) return;
  ScalerNumbers &scaler = *request.scaler;
  const int32_t latest = (request.place + request.length - 1) % request.length;
  const float entry = averaged_amax(request.decay, request.history[latest], scaler.running_amax);
  request.history[request.place] = entry;
  scaler.amax = request.rule == LPT_SCALER_HISTORY_RULE_MAX ? largest : entry;
  if (scaler.amax > 0.0f) scaler.kept_amax = scaler.amax;
  scaler.running_amax = 0.0f;
}

constexpr KernelEntry<ScalerAmaxRequest> kAmaxKernels[] = {{"scaler_amax_cuda", 80, nullptr, scaler_amax_cuda}};
constexpr KernelEntry<ScalerUpdateRequest> kUpdate[] = {{"scaler_update_cuda", 80, nullptr, scaler_update_cuda}};

}  // namespace

void scaler_amax_cuda(const ScalerAmaxRequest &request, void *stream) {
  LPT_LAUNCH(scaler_amax, 1, 1, 0, stream, request);
}

void scaler_update_cuda(const ScalerUpdateRequest &request, void *stream) {
  LPT_LAUNCH(scaler_update, 1, 32, 0, stream, request);
}

std::span<const KernelEntry<ScalerAmaxRequest>> scaler_amax_device_kernels() { return kAmaxKernels; }
std::span<const KernelEntry<ScalerUpdateRequest>> scaler_update_device_kernels() { return kUpdate; }

}  // namespace lpt
