// What the files of this family offer to its table.
#pragma once

#include "kernels/activation/activation.hpp"

namespace lpt {

void swiglu_forward_any_ref(const SwigluForwardRequest &request);
void swiglu_backward_any_ref(const SwigluBackwardRequest &request);
void rmsnorm_forward_any_ref(const RmsnormForwardRequest &request);
void rmsnorm_backward_any_ref(const RmsnormBackwardRequest &request);
void softmax_forward_any_ref(const SoftmaxForwardRequest &request);
void softmax_backward_any_ref(const SoftmaxBackwardRequest &request);
void cross_entropy_sums_any_ref(const CrossEntropySumsRequest &request);
void cross_entropy_gradient_any_ref(const CrossEntropyGradientRequest &request);
void finish_any_ref(const FinishRequest &request);

void swiglu_forward_x86_avx2(const SwigluForwardRequest &request);
void swiglu_backward_x86_avx2(const SwigluBackwardRequest &request);
void rmsnorm_forward_x86_avx2(const RmsnormForwardRequest &request);
void rmsnorm_backward_x86_avx2(const RmsnormBackwardRequest &request);
void softmax_forward_x86_avx2(const SoftmaxForwardRequest &request);
void softmax_backward_x86_avx2(const SoftmaxBackwardRequest &request);
void cross_entropy_sums_x86_avx2(const CrossEntropySumsRequest &request);
void cross_entropy_gradient_x86_avx2(const CrossEntropyGradientRequest &request);
void finish_x86_avx2(const FinishRequest &request);

void swiglu_forward_x86_avx512(const SwigluForwardRequest &request);
void swiglu_backward_x86_avx512(const SwigluBackwardRequest &request);
void rmsnorm_forward_x86_avx512(const RmsnormForwardRequest &request);
void rmsnorm_backward_x86_avx512(const RmsnormBackwardRequest &request);
void softmax_forward_x86_avx512(const SoftmaxForwardRequest &request);
void softmax_backward_x86_avx512(const SoftmaxBackwardRequest &request);
void cross_entropy_sums_x86_avx512(const CrossEntropySumsRequest &request);
void cross_entropy_gradient_x86_avx512(const CrossEntropyGradientRequest &request);
void finish_x86_avx512(const FinishRequest &request);

}  // namespace lpt
