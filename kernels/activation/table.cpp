// Kernel tables of the layers without weight matrices, in order of preference.
#include <initializer_list>

#include "kernels/activation/kernels.hpp"

namespace lpt {
namespace {

bool is_wide(const MatrixView &view) { return view.format.id == LPT_FORMAT_F64 || is_float_dtype(view.format.id); }

const char *unsupported_any(std::initializer_list<const MatrixView *> views) {
  for (const MatrixView *view : views) {
    if (!is_wide(*view)) return "a format is none of f64, f32, f16, bf16";
  }
  return nullptr;
}

#if defined(LPT_HAVE_SIMD)
const char *unsupported_vectors(std::initializer_list<const MatrixView *> views) {
  for (const MatrixView *view : views) {
    if (view->format.id == LPT_FORMAT_F64 || !is_wide(*view)) return "a format is none of f32, f16, bf16";
    if (view->column_stride != 1) return "columns are not adjacent";
  }
  return nullptr;
}
#endif

const char *unsupported_swiglu_forward_any(const SwigluForwardRequest &request) {
  return unsupported_any({&request.gate, &request.up, &request.output});
}

const char *unsupported_swiglu_backward_any(const SwigluBackwardRequest &request) {
  return unsupported_any(
      {&request.gate, &request.up, &request.output_gradient, &request.gate_gradient, &request.up_gradient});
}

// Returns the view, or the input for a view without a format, so that no condition applies to the view.
template <typename Request>
const MatrixView &view_or_input(const Request &request, const MatrixView &view) {
  return view.format.id == LPT_FORMAT_NONE ? request.input : view;
}

const char *unsupported_rmsnorm_forward_any(const RmsnormForwardRequest &request) {
  return unsupported_any({&request.input, &request.output, &view_or_input(request, request.residual),
                          &view_or_input(request, request.branch)});
}

const char *unsupported_rmsnorm_backward_any(const RmsnormBackwardRequest &request) {
  return unsupported_any({&request.input, &request.output_gradient, &view_or_input(request, request.input_gradient),
                          &view_or_input(request, request.residual_gradient)});
}

const char *unsupported_rotary_any(const RotaryRequest &request) {
  return unsupported_any({&request.input, &request.output});
}

const char *unsupported_softmax_forward_any(const SoftmaxForwardRequest &request) {
  return unsupported_any({&request.input, &request.output});
}

const char *unsupported_softmax_exaq(const SoftmaxExaqRequest &request) {
  const MatrixView &input = request.softmax.input, &output = request.softmax.output;
  const bool is_f64 = input.format.id == LPT_FORMAT_F64 || output.format.id == LPT_FORMAT_F64;
  return is_f64 ? "levels are of f32, f16 and bf16" : unsupported_any({&input, &output});
}

const char *unsupported_softmax_backward_any(const SoftmaxBackwardRequest &request) {
  return unsupported_any({&request.output, &request.output_gradient, &request.input_gradient});
}

const char *unsupported_cross_entropy_sums_any(const CrossEntropySumsRequest &request) {
  return unsupported_any({&request.logits});
}

const char *unsupported_cross_entropy_gradient_any(const CrossEntropyGradientRequest &request) {
  return unsupported_any({&request.logits, &request.gradient});
}

const char *unsupported_embedding_gradient_any(const EmbeddingGradientRequest &request) {
  return unsupported_any({&request.output_gradient, &request.gradient});
}

// Returns `out` if the request has no residual, so that no condition applies to the residual.
const MatrixView &residual_or_out(const EpilogueRequest &request) {
  return request.residual.data == nullptr ? request.out : request.residual;
}

const char *unsupported_finish_any(const EpilogueRequest &request) {
  if (request.activation < LPT_ACTIVATION_NONE || request.activation > LPT_ACTIVATION_SWIGLU) {
    return "the activation is none of lpt_activation";
  }
  const MatrixView &residual = residual_or_out(request);
  if (request.out.format.id == LPT_FORMAT_F64 || residual.format.id == LPT_FORMAT_F64) return "a format is f64";
  return unsupported_any({&request.out, &residual});
}

#if defined(LPT_HAVE_SIMD)
const char *unsupported_finish_vectors(const EpilogueRequest &request) {
  if (const char *reason = unsupported_finish_any(request); reason != nullptr) return reason;
  return unsupported_vectors({&request.out, &residual_or_out(request)});
}

const char *unsupported_swiglu_forward_vectors(const SwigluForwardRequest &request) {
  return unsupported_vectors({&request.gate, &request.up, &request.output});
}

const char *unsupported_swiglu_backward_vectors(const SwigluBackwardRequest &request) {
  return unsupported_vectors(
      {&request.gate, &request.up, &request.output_gradient, &request.gate_gradient, &request.up_gradient});
}

const char *unsupported_rmsnorm_forward_vectors(const RmsnormForwardRequest &request) {
  if (request.is_f64) return "the weight is f64";
  return unsupported_vectors({&request.input, &request.output, &view_or_input(request, request.residual),
                              &view_or_input(request, request.branch)});
}

const char *unsupported_rmsnorm_backward_vectors(const RmsnormBackwardRequest &request) {
  if (request.is_f64) return "the weight is f64";
  return unsupported_vectors({&request.input, &request.output_gradient, &view_or_input(request, request.input_gradient),
                              &view_or_input(request, request.residual_gradient)});
}

const char *unsupported_rotary_table_vectors(const RotaryTableRequest &request) {
  return request.is_f64 ? "the table is f64" : nullptr;
}

const char *unsupported_rotary_vectors(const RotaryRequest &request) {
  return unsupported_vectors({&request.input, &request.output});
}

const char *unsupported_softmax_forward_vectors(const SoftmaxForwardRequest &request) {
  return unsupported_vectors({&request.input, &request.output});
}

const char *unsupported_softmax_exaq_vectors(const SoftmaxExaqRequest &request) {
  if (static_cast<float>(request.softmax.scale) == 0.0f) return "the scale is 0";
  return unsupported_vectors({&request.softmax.input, &request.softmax.output});
}

const char *unsupported_softmax_backward_vectors(const SoftmaxBackwardRequest &request) {
  return unsupported_vectors({&request.output, &request.output_gradient, &request.input_gradient});
}

const char *unsupported_embedding_gradient_vectors(const EmbeddingGradientRequest &request) {
  if (request.gradient.format.id != LPT_FORMAT_F32) return "the gradient is not f32";
  return unsupported_vectors({&request.output_gradient, &request.gradient});
}

const char *unsupported_cross_entropy_sums_vectors(const CrossEntropySumsRequest &request) {
  return unsupported_vectors({&request.logits});
}

const char *unsupported_cross_entropy_gradient_vectors(const CrossEntropyGradientRequest &request) {
  return unsupported_vectors({&request.logits, &request.gradient});
}
#endif

}  // namespace

std::span<const KernelEntry<SwigluForwardRequest>> swiglu_forward_kernels() {
  static constexpr KernelEntry<SwigluForwardRequest> kernels[] = {
      LPT_SIMD_ENTRIES(swiglu_forward, unsupported_swiglu_forward_vectors)
          LPT_REF_ENTRY(swiglu_forward_any, unsupported_swiglu_forward_any)};
  return kernels;
}

std::span<const KernelEntry<SwigluBackwardRequest>> swiglu_backward_kernels() {
  static constexpr KernelEntry<SwigluBackwardRequest> kernels[] = {
      LPT_SIMD_ENTRIES(swiglu_backward, unsupported_swiglu_backward_vectors)
          LPT_REF_ENTRY(swiglu_backward_any, unsupported_swiglu_backward_any)};
  return kernels;
}

std::span<const KernelEntry<RmsnormForwardRequest>> rmsnorm_forward_kernels() {
  static constexpr KernelEntry<RmsnormForwardRequest> kernels[] = {
      LPT_SIMD_ENTRIES(rmsnorm_forward, unsupported_rmsnorm_forward_vectors)
          LPT_REF_ENTRY(rmsnorm_forward_any, unsupported_rmsnorm_forward_any)};
  return kernels;
}

std::span<const KernelEntry<RmsnormBackwardRequest>> rmsnorm_backward_kernels() {
  static constexpr KernelEntry<RmsnormBackwardRequest> kernels[] = {
      LPT_SIMD_ENTRIES(rmsnorm_backward, unsupported_rmsnorm_backward_vectors)
          LPT_REF_ENTRY(rmsnorm_backward_any, unsupported_rmsnorm_backward_any)};
  return kernels;
}

std::span<const KernelEntry<RotaryTableRequest>> rotary_table_kernels() {
  static constexpr KernelEntry<RotaryTableRequest> kernels[] = {
      LPT_SIMD_ENTRIES(rotary_table, unsupported_rotary_table_vectors) LPT_REF_ENTRY(rotary_table_any, nullptr)};
  return kernels;
}

std::span<const KernelEntry<RotaryRequest>> rotary_kernels() {
  static constexpr KernelEntry<RotaryRequest> kernels[] = {LPT_SIMD_ENTRIES(rotary, unsupported_rotary_vectors)
                                                               LPT_REF_ENTRY(rotary_any, unsupported_rotary_any)};
  return kernels;
}

std::span<const KernelEntry<SoftmaxForwardRequest>> softmax_forward_kernels() {
  static constexpr KernelEntry<SoftmaxForwardRequest> kernels[] = {
      LPT_SIMD_ENTRIES(softmax_forward, unsupported_softmax_forward_vectors)
          LPT_REF_ENTRY(softmax_forward_any, unsupported_softmax_forward_any)};
  return kernels;
}

std::span<const KernelEntry<SoftmaxExaqRequest>> softmax_exaq_kernels() {
  static constexpr KernelEntry<SoftmaxExaqRequest> kernels[] = {LPT_SIMD_ENTRIES(
      softmax_exaq, unsupported_softmax_exaq_vectors) LPT_REF_ENTRY(softmax_exaq, unsupported_softmax_exaq)};
  return kernels;
}

std::span<const KernelEntry<SoftmaxBackwardRequest>> softmax_backward_kernels() {
  static constexpr KernelEntry<SoftmaxBackwardRequest> kernels[] = {
      LPT_SIMD_ENTRIES(softmax_backward, unsupported_softmax_backward_vectors)
          LPT_REF_ENTRY(softmax_backward_any, unsupported_softmax_backward_any)};
  return kernels;
}

std::span<const KernelEntry<CrossEntropySumsRequest>> cross_entropy_sums_kernels() {
  static constexpr KernelEntry<CrossEntropySumsRequest> kernels[] = {
      LPT_SIMD_ENTRIES(cross_entropy_sums, unsupported_cross_entropy_sums_vectors)
          LPT_REF_ENTRY(cross_entropy_sums_any, unsupported_cross_entropy_sums_any)};
  return kernels;
}

std::span<const KernelEntry<CrossEntropyGradientRequest>> cross_entropy_gradient_kernels() {
  static constexpr KernelEntry<CrossEntropyGradientRequest> kernels[] = {
      LPT_SIMD_ENTRIES(cross_entropy_gradient, unsupported_cross_entropy_gradient_vectors)
          LPT_REF_ENTRY(cross_entropy_gradient_any, unsupported_cross_entropy_gradient_any)};
  return kernels;
}

std::span<const KernelEntry<EmbeddingGradientRequest>> embedding_gradient_kernels() {
  static constexpr KernelEntry<EmbeddingGradientRequest> kernels[] = {
      LPT_SIMD_ENTRIES(embedding_gradient, unsupported_embedding_gradient_vectors)
          LPT_REF_ENTRY(embedding_gradient_any, unsupported_embedding_gradient_any)};
  return kernels;
}

std::span<const KernelEntry<EpilogueRequest>> epilogue_kernels() {
  static constexpr KernelEntry<EpilogueRequest> kernels[] = {LPT_SIMD_ENTRIES(finish, unsupported_finish_vectors)
                                                                 LPT_REF_ENTRY(finish_any, unsupported_finish_any)};
  return kernels;
}

}  // namespace lpt
