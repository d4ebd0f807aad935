// Kernel functions of this family in CUDA files, and their tables. All support f32, bf16 and f16 with adjacent columns.
#pragma once

#include <span>

#include "kernels/activation/activation.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

void swiglu_forward_cuda(const SwigluForwardRequest &request, void *stream);
void swiglu_backward_cuda(const SwigluBackwardRequest &request, void *stream);
void rmsnorm_forward_cuda(const RmsnormForwardRequest &request, void *stream);
void rmsnorm_backward_cuda(const RmsnormBackwardRequest &request, void *stream);
void rotary_table_cuda(const RotaryTableRequest &request, void *stream);
void rotary_cuda(const RotaryRequest &request, void *stream);
void softmax_forward_cuda(const SoftmaxForwardRequest &request, void *stream);
void softmax_exaq_cuda(const SoftmaxExaqRequest &request, void *stream);
void softmax_backward_cuda(const SoftmaxBackwardRequest &request, void *stream);
void cross_entropy_sums_cuda(const CrossEntropySumsRequest &request, void *stream);
void cross_entropy_gradient_cuda(const CrossEntropyGradientRequest &request, void *stream);
void embedding_gradient_cuda(const EmbeddingGradientRequest &request, void *stream);
void finish_cuda(const EpilogueRequest &request, void *stream);

std::span<const KernelEntry<SwigluForwardRequest>> swiglu_forward_device_kernels();
std::span<const KernelEntry<SwigluBackwardRequest>> swiglu_backward_device_kernels();
std::span<const KernelEntry<RmsnormForwardRequest>> rmsnorm_forward_device_kernels();
std::span<const KernelEntry<RmsnormBackwardRequest>> rmsnorm_backward_device_kernels();
std::span<const KernelEntry<RotaryTableRequest>> rotary_table_device_kernels();
std::span<const KernelEntry<RotaryRequest>> rotary_device_kernels();
std::span<const KernelEntry<SoftmaxForwardRequest>> softmax_forward_device_kernels();
std::span<const KernelEntry<SoftmaxExaqRequest>> softmax_exaq_device_kernels();
std::span<const KernelEntry<SoftmaxBackwardRequest>> softmax_backward_device_kernels();
std::span<const KernelEntry<CrossEntropySumsRequest>> cross_entropy_sums_device_kernels();
std::span<const KernelEntry<CrossEntropyGradientRequest>> cross_entropy_gradient_device_kernels();
std::span<const KernelEntry<EmbeddingGradientRequest>> embedding_gradient_device_kernels();
std::span<const KernelEntry<EpilogueRequest>> epilogue_device_kernels();

}  // namespace lpt
