// Tensor scales: one thread, because the result is one number.
#include "kernels/common/launch.hpp"
#include "kernels/quantize/cuda/cuda_list.hpp"
#include "kernels/quantize/cuda/cuda_scale.hpp"

namespace lpt {
namespace {

__global__ void tensor_scale(ScaleSpec spec, ScaleList list, const float *amax, float *scale) {
  if (spec.rule == LPT_SCALE_RULE_LIST) {
    *scale = listed_scale(list, *amax / spec.largest);
  } else {
    *scale = tensor_scale_value(spec, *amax);
  }
}

__global__ void nan_scale(NanScaleRequest request) {
  if (*request.has_nan) *request.scale = bits_float(kFloatNanBits);
}

const char *unsupported_reason(const TensorScaleRequest &request) {
  const bool is_long = request.spec.rule == LPT_SCALE_RULE_LIST && request.spec.list_count > kLongestListOnDevice;
  return is_long ? "takes lists of 64 scales at most" : nullptr;
}

constexpr KernelEntry<TensorScaleRequest> kScaleKernels[] = {
    {"tensor_scale_cuda", 80, unsupported_reason, tensor_scale_cuda}};
constexpr KernelEntry<NanScaleRequest> kNanKernels[] = {{"nan_scale_cuda", 80, nullptr, nan_scale_cuda}};

}  // namespace

void tensor_scale_cuda(const TensorScaleRequest &request, void *stream) {
  ScaleSpec spec = request.spec;
  const ScaleList list = scale_list_of(spec.rule, spec.list, spec.list_count);
  spec.list = nullptr;
  LPT_LAUNCH(tensor_scale, 1, 1, 0, stream, spec, list, request.amax, request.scale);
}

void nan_scale_cuda(const NanScaleRequest &request, void *stream) { LPT_LAUNCH(nan_scale, 1, 1, 0, stream, request); }

std::span<const KernelEntry<TensorScaleRequest>> tensor_scale_device_kernels() { return kScaleKernels; }
std::span<const KernelEntry<NanScaleRequest>> nan_scale_device_kernels() { return kNanKernels; }

}  // namespace lpt
