// Device kernel tables.
#include <initializer_list>

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"

namespace lpt {
namespace {

const char *unsupported_views(std::initializer_list<const MatrixView *> views) {
  for (const MatrixView *view : views) {
    if (!is_float_dtype(view->format.id)) return "takes f32, bf16 and f16 only";
    if (view->column_stride != 1) return "takes adjacent columns only";
  }
  return nullptr;
}

const char *unsupported_swiglu_forward(const SwigluForwardRequest &r) {
  return unsupported_views({&r.gate, &r.up, &r.output});
}

const char *unsupported_swiglu_backward(const SwigluBackwardRequest &r) {
  return unsupported_views({&r.gate, &r.up, &r.output_gradient, &r.gate_gradient, &r.up_gradient});
}

const char *unsupported_rmsnorm_forward(const RmsnormForwardRequest &r) {
  if (r.is_f64) return "takes weights of f32 only";
  if (const char *why = unsupported_views({&r.input, &r.output})) return why;
  return r.has_residual() ? unsupported_views({&r.residual, &r.branch}) : nullptr;
}

const char *unsupported_rmsnorm_backward(const RmsnormBackwardRequest &r) {
  if (r.is_f64) return "takes weights of f32 only";
  if (r.weight_gradient_sum != nullptr) return "gives the gradient of the input only";
  const MatrixView &residual = r.residual_gradient.format.id == LPT_FORMAT_NONE ? r.input : r.residual_gradient;
  return unsupported_views({&r.input, &r.output_gradient, &r.input_gradient, &residual});
}

const char *unsupported_gradient_parts(const GradientPartsRequest &r) {
  return unsupported_views({&r.input, &r.output_gradient});
}

const char *unsupported_rotary_table(const RotaryTableRequest &r) {
  return r.is_f64 ? "gives a table of f32 only" : nullptr;
}

const char *unsupported_rotary(const RotaryRequest &r) { return unsupported_views({&r.input, &r.output}); }

const char *unsupported_softmax_forward(const SoftmaxForwardRequest &r) {
  return unsupported_views({&r.input, &r.output});
}

const char *unsupported_softmax_exaq(const SoftmaxExaqRequest &r) {
  return unsupported_views({&r.softmax.input, &r.softmax.output});
}

const char *unsupported_softmax_backward(const SoftmaxBackwardRequest &r) {
  return unsupported_views({&r.output, &r.output_gradient, &r.input_gradient});
}

const char *unsupported_cross_entropy_sums(const CrossEntropySumsRequest &r) { return unsupported_views({&r.logits}); }

const char *unsupported_cross_entropy_gradient(const CrossEntropyGradientRequest &r) {
  return unsupported_views({&r.logits, &r.gradient});
}

const char *unsupported_embedding(const EmbeddingRequest &r) { return unsupported_views({&r.weight, &r.output}); }

const char *unsupported_embedding_gradient(const EmbeddingGradientRequest &r) {
  if (r.gradient.format.id != LPT_FORMAT_F32) return "gives a gradient of f32 only";
  return unsupported_views({&r.output_gradient, &r.gradient});
}

const char *unsupported_finish(const EpilogueRequest &r) {
  const bool has_residual = r.residual.format.id != LPT_FORMAT_NONE;
  return has_residual ? unsupported_views({&r.residual, &r.out}) : unsupported_views({&r.out});
}

constexpr KernelEntry<SwigluForwardRequest> kSwigluForward[] = {
    {"swiglu_forward_cuda", 80, unsupported_swiglu_forward, swiglu_forward_cuda}};
constexpr KernelEntry<SwigluBackwardRequest> kSwigluBackward[] = {
    {"swiglu_backward_cuda", 80, unsupported_swiglu_backward, swiglu_backward_cuda}};
constexpr KernelEntry<RmsnormForwardRequest> kRmsnormForward[] = {
    {"rmsnorm_forward_cuda", 80, unsupported_rmsnorm_forward, rmsnorm_forward_cuda}};
constexpr KernelEntry<RmsnormBackwardRequest> kRmsnormBackward[] = {
    {"rmsnorm_backward_cuda", 80, unsupported_rmsnorm_backward, rmsnorm_backward_cuda}};
constexpr KernelEntry<CrossEntropySumsRequest> kCrossEntropySums[] = {
    {"cross_entropy_sums_cuda", 80, unsupported_cross_entropy_sums, cross_entropy_sums_cuda}};
constexpr KernelEntry<CrossEntropyGradientRequest> kCrossEntropyGradient[] = {
    {"cross_entropy_gradient_cuda", 80, unsupported_cross_entropy_gradient, cross_entropy_gradient_cuda}};
constexpr KernelEntry<EmbeddingRequest> kEmbedding[] = {{"embedding_cuda", 80, unsupported_embedding, embedding_cuda}};
constexpr KernelEntry<EmbeddingGradientRequest> kEmbeddingGradient[] = {
    {"embedding_gradient_cuda", 80, unsupported_embedding_gradient, embedding_gradient_cuda}};
constexpr KernelEntry<EpilogueRequest> kFinish[] = {{"finish_cuda", 80, unsupported_finish, finish_cuda}};
constexpr KernelEntry<PlacesRequest> kPlaces[] = {{"places_cuda", 80, nullptr, places_cuda}};
constexpr KernelEntry<LossesRequest> kLosses[] = {{"losses_cuda", 80, nullptr, losses_cuda}};
constexpr KernelEntry<LossFactorsRequest> kLossFactors[] = {{"loss_factors_cuda", 80, nullptr, loss_factors_cuda}};
constexpr KernelEntry<SmoothingRequest> kSmoothing[] = {{"smoothing_cuda", 80, nullptr, smoothing_cuda}};
constexpr KernelEntry<GradientPartsRequest> kGradientParts[] = {
    {"gradient_parts_cuda", 80, unsupported_gradient_parts, gradient_parts_cuda}};
constexpr KernelEntry<GradientSumRequest> kGradientSum[] = {{"gradient_sum_cuda", 80, nullptr, gradient_sum_cuda}};
constexpr KernelEntry<RotaryTableRequest> kRotaryTable[] = {
    {"rotary_table_cuda", 80, unsupported_rotary_table, rotary_table_cuda}};
constexpr KernelEntry<RotaryRequest> kRotary[] = {{"rotary_cuda", 80, unsupported_rotary, rotary_cuda}};
constexpr KernelEntry<SoftmaxForwardRequest> kSoftmaxForward[] = {
    {"softmax_forward_cuda", 80, unsupported_softmax_forward, softmax_forward_cuda}};
constexpr KernelEntry<SoftmaxExaqRequest> kSoftmaxExaq[] = {
    {"softmax_exaq_cuda", 80, unsupported_softmax_exaq, softmax_exaq_cuda}};
constexpr KernelEntry<SoftmaxBackwardRequest> kSoftmaxBackward[] = {
    {"softmax_backward_cuda", 80, unsupported_softmax_backward, softmax_backward_cuda}};

}  // namespace

std::span<const KernelEntry<SwigluForwardRequest>> swiglu_forward_device_kernels() { return kSwigluForward; }
std::span<const KernelEntry<SwigluBackwardRequest>> swiglu_backward_device_kernels() { return kSwigluBackward; }
std::span<const KernelEntry<RmsnormForwardRequest>> rmsnorm_forward_device_kernels() { return kRmsnormForward; }
std::span<const KernelEntry<RmsnormBackwardRequest>> rmsnorm_backward_device_kernels() { return kRmsnormBackward; }
std::span<const KernelEntry<SmoothingRequest>> smoothing_device_kernels() { return kSmoothing; }
std::span<const KernelEntry<GradientPartsRequest>> gradient_parts_device_kernels() { return kGradientParts; }
std::span<const KernelEntry<GradientSumRequest>> gradient_sum_device_kernels() { return kGradientSum; }
std::span<const KernelEntry<RotaryTableRequest>> rotary_table_device_kernels() { return kRotaryTable; }
std::span<const KernelEntry<RotaryRequest>> rotary_device_kernels() { return kRotary; }
std::span<const KernelEntry<SoftmaxForwardRequest>> softmax_forward_device_kernels() { return kSoftmaxForward; }
std::span<const KernelEntry<SoftmaxExaqRequest>> softmax_exaq_device_kernels() { return kSoftmaxExaq; }
std::span<const KernelEntry<SoftmaxBackwardRequest>> softmax_backward_device_kernels() { return kSoftmaxBackward; }
std::span<const KernelEntry<CrossEntropySumsRequest>> cross_entropy_sums_device_kernels() { return kCrossEntropySums; }
std::span<const KernelEntry<CrossEntropyGradientRequest>> cross_entropy_gradient_device_kernels() {
  return kCrossEntropyGradient;
}
std::span<const KernelEntry<EmbeddingRequest>> embedding_device_kernels() { return kEmbedding; }
std::span<const KernelEntry<EmbeddingGradientRequest>> embedding_gradient_device_kernels() {
  return kEmbeddingGradient;
}
std::span<const KernelEntry<EpilogueRequest>> epilogue_device_kernels() { return kFinish; }
std::span<const KernelEntry<PlacesRequest>> places_device_kernels() { return kPlaces; }
std::span<const KernelEntry<LossesRequest>> losses_device_kernels() { return kLosses; }
std::span<const KernelEntry<LossFactorsRequest>> loss_factors_device_kernels() { return kLossFactors; }

}  // namespace lpt
