// What the CUDA files of this family offer, and their tables. All take f32, bf16 and f16 with adjacent columns.
#pragma once

#include <span>

#include "kernels/activation/activation.hpp"
#include "kernels/common/device_row.hpp"

namespace lpt {

void swiglu_forward_cuda(const SwigluForwardRequest &request, void *stream);
void swiglu_backward_cuda(const SwigluBackwardRequest &request, void *stream);
void rmsnorm_forward_cuda(const RmsnormForwardRequest &request, void *stream);
void rmsnorm_backward_cuda(const RmsnormBackwardRequest &request, void *stream);
void softmax_forward_cuda(const SoftmaxForwardRequest &request, void *stream);
void softmax_exaq_cuda(const SoftmaxExaqRequest &request, void *stream);
void softmax_backward_cuda(const SoftmaxBackwardRequest &request, void *stream);
void cross_entropy_sums_cuda(const CrossEntropySumsRequest &request, void *stream);
void cross_entropy_gradient_cuda(const CrossEntropyGradientRequest &request, void *stream);
void finish_cuda(const FinishRequest &request, void *stream);

std::span<const DeviceRow<SwigluForwardRequest>> swiglu_forward_device_kernels();
std::span<const DeviceRow<SwigluBackwardRequest>> swiglu_backward_device_kernels();
std::span<const DeviceRow<RmsnormForwardRequest>> rmsnorm_forward_device_kernels();
std::span<const DeviceRow<RmsnormBackwardRequest>> rmsnorm_backward_device_kernels();
std::span<const DeviceRow<SoftmaxForwardRequest>> softmax_forward_device_kernels();
std::span<const DeviceRow<SoftmaxExaqRequest>> softmax_exaq_device_kernels();
std::span<const DeviceRow<SoftmaxBackwardRequest>> softmax_backward_device_kernels();
std::span<const DeviceRow<CrossEntropySumsRequest>> cross_entropy_sums_device_kernels();
std::span<const DeviceRow<CrossEntropyGradientRequest>> cross_entropy_gradient_device_kernels();
std::span<const DeviceRow<FinishRequest>> finish_device_kernels();

}  // namespace lpt
