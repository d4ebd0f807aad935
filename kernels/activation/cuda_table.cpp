// Rows of the device.
#include <initializer_list>

#include "kernels/activation/cuda_rows.hpp"
#include "kernels/activation/cuda_steps.hpp"

namespace lpt {
namespace {

bool is_number(lpt_format format) {
  return format == LPT_FORMAT_F32 || format == LPT_FORMAT_BF16 || format == LPT_FORMAT_F16;
}

const char *refuses_views(std::initializer_list<const MatrixView *> views) {
  for (const MatrixView *view : views) {
    if (!is_number(view->format.id)) return "takes f32, bf16 and f16 only";
    if (view->column_stride != 1) return "takes adjacent columns only";
  }
  return nullptr;
}

const char *refuses_swiglu_forward(const SwigluForwardRequest &r) { return refuses_views({&r.gate, &r.up, &r.output}); }

const char *refuses_swiglu_backward(const SwigluBackwardRequest &r) {
  return refuses_views({&r.gate, &r.up, &r.output_gradient, &r.gate_gradient, &r.up_gradient});
}

const char *refuses_rmsnorm_forward(const RmsnormForwardRequest &r) {
  return r.is_f64 ? "takes weights of f32 only" : refuses_views({&r.input, &r.output});
}

const char *refuses_rmsnorm_sum(const RmsnormSumRequest &r) {
  if (const char *why = refuses_rmsnorm_forward(r.norm)) return why;
  return refuses_views({&r.residual, &r.branch});
}

const char *refuses_rmsnorm_backward(const RmsnormBackwardRequest &r) {
  if (r.is_f64) return "takes weights of f32 only";
  if (r.weight_gradient_sum != nullptr) return "gives the gradient of the input only";
  return refuses_views({&r.input, &r.output_gradient, &r.input_gradient});
}

const char *refuses_gradient_parts(const GradientPartsRequest &r) {
  return refuses_views({&r.input, &r.output_gradient});
}

const char *refuses_softmax_forward(const SoftmaxForwardRequest &r) { return refuses_views({&r.input, &r.output}); }

const char *refuses_softmax_exaq(const SoftmaxExaqRequest &r) {
  return refuses_views({&r.softmax.input, &r.softmax.output});
}

const char *refuses_softmax_backward(const SoftmaxBackwardRequest &r) {
  return refuses_views({&r.output, &r.output_gradient, &r.input_gradient});
}

const char *refuses_cross_entropy_sums(const CrossEntropySumsRequest &r) { return refuses_views({&r.logits}); }

const char *refuses_cross_entropy_gradient(const CrossEntropyGradientRequest &r) {
  return refuses_views({&r.logits, &r.gradient});
}

const char *refuses_finish(const FinishRequest &r) {
  const bool has_residual = r.residual.format.id != LPT_FORMAT_NONE;
  return has_residual ? refuses_views({&r.residual, &r.out}) : refuses_views({&r.out});
}

constexpr DeviceRow<SwigluForwardRequest> kSwigluForward[] = {
    {"swiglu_forward_cuda", 80, refuses_swiglu_forward, swiglu_forward_cuda}};
constexpr DeviceRow<SwigluBackwardRequest> kSwigluBackward[] = {
    {"swiglu_backward_cuda", 80, refuses_swiglu_backward, swiglu_backward_cuda}};
constexpr DeviceRow<RmsnormForwardRequest> kRmsnormForward[] = {
    {"rmsnorm_forward_cuda", 80, refuses_rmsnorm_forward, rmsnorm_forward_cuda}};
constexpr DeviceRow<RmsnormBackwardRequest> kRmsnormBackward[] = {
    {"rmsnorm_backward_cuda", 80, refuses_rmsnorm_backward, rmsnorm_backward_cuda}};
constexpr DeviceRow<RmsnormSumRequest> kRmsnormSum[] = {
    {"rmsnorm_sum_cuda", 80, refuses_rmsnorm_sum, rmsnorm_sum_cuda}};
constexpr DeviceRow<CrossEntropySumsRequest> kCrossEntropySums[] = {
    {"cross_entropy_sums_cuda", 80, refuses_cross_entropy_sums, cross_entropy_sums_cuda}};
constexpr DeviceRow<CrossEntropyGradientRequest> kCrossEntropyGradient[] = {
    {"cross_entropy_gradient_cuda", 80, refuses_cross_entropy_gradient, cross_entropy_gradient_cuda}};
constexpr DeviceRow<FinishRequest> kFinish[] = {{"finish_cuda", 80, refuses_finish, finish_cuda}};
constexpr DeviceRow<LossesRequest> kLosses[] = {{"losses_cuda", 80, nullptr, losses_cuda}};
constexpr DeviceRow<LossFactorsRequest> kLossFactors[] = {{"loss_factors_cuda", 80, nullptr, loss_factors_cuda}};
constexpr DeviceRow<SmoothingRequest> kSmoothing[] = {{"smoothing_cuda", 80, nullptr, smoothing_cuda}};
constexpr DeviceRow<GradientPartsRequest> kGradientParts[] = {
    {"gradient_parts_cuda", 80, refuses_gradient_parts, gradient_parts_cuda}};
constexpr DeviceRow<GradientSumRequest> kGradientSum[] = {{"gradient_sum_cuda", 80, nullptr, gradient_sum_cuda}};
constexpr DeviceRow<SoftmaxForwardRequest> kSoftmaxForward[] = {
    {"softmax_forward_cuda", 80, refuses_softmax_forward, softmax_forward_cuda}};
constexpr DeviceRow<SoftmaxExaqRequest> kSoftmaxExaq[] = {
    {"softmax_exaq_cuda", 80, refuses_softmax_exaq, softmax_exaq_cuda}};
constexpr DeviceRow<SoftmaxBackwardRequest> kSoftmaxBackward[] = {
    {"softmax_backward_cuda", 80, refuses_softmax_backward, softmax_backward_cuda}};

}  // namespace

std::span<const DeviceRow<SwigluForwardRequest>> swiglu_forward_device_kernels() { return kSwigluForward; }
std::span<const DeviceRow<SwigluBackwardRequest>> swiglu_backward_device_kernels() { return kSwigluBackward; }
std::span<const DeviceRow<RmsnormForwardRequest>> rmsnorm_forward_device_kernels() { return kRmsnormForward; }
std::span<const DeviceRow<RmsnormBackwardRequest>> rmsnorm_backward_device_kernels() { return kRmsnormBackward; }
std::span<const DeviceRow<RmsnormSumRequest>> rmsnorm_sum_device_kernels() { return kRmsnormSum; }
std::span<const DeviceRow<SmoothingRequest>> smoothing_device_kernels() { return kSmoothing; }
std::span<const DeviceRow<GradientPartsRequest>> gradient_parts_device_kernels() { return kGradientParts; }
std::span<const DeviceRow<GradientSumRequest>> gradient_sum_device_kernels() { return kGradientSum; }
std::span<const DeviceRow<SoftmaxForwardRequest>> softmax_forward_device_kernels() { return kSoftmaxForward; }
std::span<const DeviceRow<SoftmaxExaqRequest>> softmax_exaq_device_kernels() { return kSoftmaxExaq; }
std::span<const DeviceRow<SoftmaxBackwardRequest>> softmax_backward_device_kernels() { return kSoftmaxBackward; }
std::span<const DeviceRow<CrossEntropySumsRequest>> cross_entropy_sums_device_kernels() { return kCrossEntropySums; }
std::span<const DeviceRow<CrossEntropyGradientRequest>> cross_entropy_gradient_device_kernels() {
  return kCrossEntropyGradient;
}
std::span<const DeviceRow<FinishRequest>> finish_device_kernels() { return kFinish; }
std::span<const DeviceRow<LossesRequest>> losses_device_kernels() { return kLosses; }
std::span<const DeviceRow<LossFactorsRequest>> loss_factors_device_kernels() { return kLossFactors; }

}  // namespace lpt
