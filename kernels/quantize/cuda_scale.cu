// One thread: what follows needs one number.
#include "kernels/common/launch.hpp"
#include "kernels/quantize/cuda_scale.hpp"

namespace lpt {
namespace {

__global__ void tensor_scale(ScaleSpec spec, const float *amax, float *scale) {
  *scale = tensor_scale_value(spec, *amax);
}

__global__ void nan_scale(NanScaleRequest request) {
  if (*request.has_nan) *request.scale = bits_float(kFloatNanBits);
}

const char *refuses(const TensorScaleRequest &request) {
  const bool is_alone = request.spec.kind == LPT_FORMAT_NONE;
  switch (request.spec.rule) {
    case LPT_SCALE_RULE_LIST:
      return "takes no lists";
    case LPT_SCALE_RULE_MEAN:
    case LPT_SCALE_RULE_SAWB:
    case LPT_SCALE_RULE_MSE:
      return is_alone ? "takes rules of amax only" : nullptr;
    default:
      return nullptr;
  }
}

constexpr DeviceRow<TensorScaleRequest> kRows[] = {{"tensor_scale_cuda", 80, refuses, tensor_scale_cuda}};
constexpr DeviceRow<NanScaleRequest> kNanRows[] = {{"nan_scale_cuda", 80, nullptr, nan_scale_cuda}};

}  // namespace

void tensor_scale_cuda(const TensorScaleRequest &request, void *stream) {
  LPT_LAUNCH(tensor_scale, 1, 1, 0, stream, request.spec, request.amax, request.scale);
}

void nan_scale_cuda(const NanScaleRequest &request, void *stream) { LPT_LAUNCH(nan_scale, 1, 1, 0, stream, request); }

std::span<const DeviceRow<TensorScaleRequest>> tensor_scale_device_kernels() { return kRows; }
std::span<const DeviceRow<NanScaleRequest>> nan_scale_device_kernels() { return kNanRows; }

}  // namespace lpt
