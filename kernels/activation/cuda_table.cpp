// Rows of the device.
#include <initializer_list>

#include "kernels/activation/cuda_rows.hpp"

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

const char *refuses_softmax_forward(const SoftmaxForwardRequest &r) { return refuses_views({&r.input, &r.output}); }

const char *refuses_softmax_backward(const SoftmaxBackwardRequest &r) {
  return refuses_views({&r.output, &r.output_gradient, &r.input_gradient});
}

constexpr DeviceRow<SwigluForwardRequest> kSwigluForward[] = {
    {"swiglu_forward_cuda", 80, refuses_swiglu_forward, swiglu_forward_cuda}};
constexpr DeviceRow<SwigluBackwardRequest> kSwigluBackward[] = {
    {"swiglu_backward_cuda", 80, refuses_swiglu_backward, swiglu_backward_cuda}};
constexpr DeviceRow<RmsnormForwardRequest> kRmsnormForward[] = {
    {"rmsnorm_forward_cuda", 80, refuses_rmsnorm_forward, rmsnorm_forward_cuda}};
constexpr DeviceRow<SoftmaxForwardRequest> kSoftmaxForward[] = {
    {"softmax_forward_cuda", 80, refuses_softmax_forward, softmax_forward_cuda}};
constexpr DeviceRow<SoftmaxBackwardRequest> kSoftmaxBackward[] = {
    {"softmax_backward_cuda", 80, refuses_softmax_backward, softmax_backward_cuda}};

}  // namespace

std::span<const DeviceRow<SwigluForwardRequest>> swiglu_forward_device_kernels() { return kSwigluForward; }
std::span<const DeviceRow<SwigluBackwardRequest>> swiglu_backward_device_kernels() { return kSwigluBackward; }
std::span<const DeviceRow<RmsnormForwardRequest>> rmsnorm_forward_device_kernels() { return kRmsnormForward; }
std::span<const DeviceRow<SoftmaxForwardRequest>> softmax_forward_device_kernels() { return kSoftmaxForward; }
std::span<const DeviceRow<SoftmaxBackwardRequest>> softmax_backward_device_kernels() { return kSoftmaxBackward; }

}  // namespace lpt
