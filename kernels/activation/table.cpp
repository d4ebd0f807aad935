// The rows of the layers without weights, fastest first.
#include <initializer_list>

#include "kernels/activation/rows.hpp"

namespace lpt {
namespace {

bool is_wide(const MatrixView &view) {
  const lpt_format format = view.format.id;
  return format == LPT_FORMAT_F64 || format == LPT_FORMAT_F32 || format == LPT_FORMAT_F16 || format == LPT_FORMAT_BF16;
}

const char *refuses_any(std::initializer_list<const MatrixView *> views) {
  for (const MatrixView *view : views) {
    if (!is_wide(*view)) return "a format is none of f64, f32, f16, bf16";
  }
  return nullptr;
}

#if defined(LPT_HAVE_X86_AVX2)
const char *refuses_vectors(std::initializer_list<const MatrixView *> views) {
  for (const MatrixView *view : views) {
    if (view->format.id == LPT_FORMAT_F64 || !is_wide(*view)) return "a format is none of f32, f16, bf16";
    if (view->column_stride != 1) return "columns are not adjacent";
  }
  return nullptr;
}
#endif

const char *refuses_swiglu_forward_any(const SwigluForwardRequest &request) {
  return refuses_any({&request.gate, &request.up, &request.output});
}

const char *refuses_swiglu_backward_any(const SwigluBackwardRequest &request) {
  return refuses_any(
      {&request.gate, &request.up, &request.output_gradient, &request.gate_gradient, &request.up_gradient});
}

const char *refuses_rmsnorm_forward_any(const RmsnormForwardRequest &request) {
  return refuses_any({&request.input, &request.output});
}

// Without an input gradient its place names another view, so that nothing is asked of it.
const MatrixView &input_gradient_or_input(const RmsnormBackwardRequest &request) {
  return request.input_gradient.format.id == LPT_FORMAT_NONE ? request.input : request.input_gradient;
}

const char *refuses_rmsnorm_backward_any(const RmsnormBackwardRequest &request) {
  return refuses_any({&request.input, &request.output_gradient, &input_gradient_or_input(request)});
}

const char *refuses_softmax_forward_any(const SoftmaxForwardRequest &request) {
  return refuses_any({&request.input, &request.output});
}

const char *refuses_softmax_exaq(const SoftmaxExaqRequest &request) {
  const MatrixView &input = request.softmax.input, &output = request.softmax.output;
  const bool is_f64 = input.format.id == LPT_FORMAT_F64 || output.format.id == LPT_FORMAT_F64;
  return is_f64 ? "levels are of f32, f16 and bf16" : refuses_any({&input, &output});
}

const char *refuses_softmax_backward_any(const SoftmaxBackwardRequest &request) {
  return refuses_any({&request.output, &request.output_gradient, &request.input_gradient});
}

const char *refuses_cross_entropy_sums_any(const CrossEntropySumsRequest &request) {
  return refuses_any({&request.logits});
}

const char *refuses_cross_entropy_gradient_any(const CrossEntropyGradientRequest &request) {
  return refuses_any({&request.logits, &request.gradient});
}

// Without a residual its place names out, so that nothing is asked of it.
const MatrixView &residual_or_out(const FinishRequest &request) {
  return request.residual.data == nullptr ? request.out : request.residual;
}

const char *refuses_finish_any(const FinishRequest &request) {
  if (request.activation < LPT_ACTIVATION_NONE || request.activation > LPT_ACTIVATION_SWIGLU) {
    return "the activation is none of lpt_activation";
  }
  const MatrixView &residual = residual_or_out(request);
  if (request.out.format.id == LPT_FORMAT_F64 || residual.format.id == LPT_FORMAT_F64) return "a format is f64";
  return refuses_any({&request.out, &residual});
}

#if defined(LPT_HAVE_X86_AVX2)
const char *refuses_finish_vectors(const FinishRequest &request) {
  if (const char *reason = refuses_finish_any(request); reason != nullptr) return reason;
  return refuses_vectors({&request.out, &residual_or_out(request)});
}

const char *refuses_swiglu_forward_vectors(const SwigluForwardRequest &request) {
  return refuses_vectors({&request.gate, &request.up, &request.output});
}

const char *refuses_swiglu_backward_vectors(const SwigluBackwardRequest &request) {
  return refuses_vectors(
      {&request.gate, &request.up, &request.output_gradient, &request.gate_gradient, &request.up_gradient});
}

const char *refuses_rmsnorm_forward_vectors(const RmsnormForwardRequest &request) {
  if (request.is_f64) return "the weight is f64";
  return refuses_vectors({&request.input, &request.output});
}

const char *refuses_rmsnorm_backward_vectors(const RmsnormBackwardRequest &request) {
  if (request.is_f64) return "the weight is f64";
  return refuses_vectors({&request.input, &request.output_gradient, &input_gradient_or_input(request)});
}

const char *refuses_softmax_forward_vectors(const SoftmaxForwardRequest &request) {
  return refuses_vectors({&request.input, &request.output});
}

const char *refuses_softmax_backward_vectors(const SoftmaxBackwardRequest &request) {
  return refuses_vectors({&request.output, &request.output_gradient, &request.input_gradient});
}

const char *refuses_cross_entropy_sums_vectors(const CrossEntropySumsRequest &request) {
  return refuses_vectors({&request.logits});
}

const char *refuses_cross_entropy_gradient_vectors(const CrossEntropyGradientRequest &request) {
  return refuses_vectors({&request.logits, &request.gradient});
}
#endif

}  // namespace

std::span<const Row<SwigluForwardRequest>> swiglu_forward_kernels() {
  static constexpr Row<SwigluForwardRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "swiglu_forward_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_swiglu_forward_vectors,
     .run = swiglu_forward_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "swiglu_forward_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_swiglu_forward_vectors,
     .run = swiglu_forward_x86_avx2},
#endif
    {.name = "swiglu_forward_any_ref",
     .needs = 0,
     .refuses = refuses_swiglu_forward_any,
     .run = swiglu_forward_any_ref},
  };
  return rows;
}

std::span<const Row<SwigluBackwardRequest>> swiglu_backward_kernels() {
  static constexpr Row<SwigluBackwardRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "swiglu_backward_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_swiglu_backward_vectors,
     .run = swiglu_backward_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "swiglu_backward_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_swiglu_backward_vectors,
     .run = swiglu_backward_x86_avx2},
#endif
    {.name = "swiglu_backward_any_ref",
     .needs = 0,
     .refuses = refuses_swiglu_backward_any,
     .run = swiglu_backward_any_ref},
  };
  return rows;
}

std::span<const Row<RmsnormForwardRequest>> rmsnorm_forward_kernels() {
  static constexpr Row<RmsnormForwardRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "rmsnorm_forward_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_rmsnorm_forward_vectors,
     .run = rmsnorm_forward_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "rmsnorm_forward_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_rmsnorm_forward_vectors,
     .run = rmsnorm_forward_x86_avx2},
#endif
    {.name = "rmsnorm_forward_any_ref",
     .needs = 0,
     .refuses = refuses_rmsnorm_forward_any,
     .run = rmsnorm_forward_any_ref},
  };
  return rows;
}

std::span<const Row<RmsnormBackwardRequest>> rmsnorm_backward_kernels() {
  static constexpr Row<RmsnormBackwardRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "rmsnorm_backward_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_rmsnorm_backward_vectors,
     .run = rmsnorm_backward_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "rmsnorm_backward_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_rmsnorm_backward_vectors,
     .run = rmsnorm_backward_x86_avx2},
#endif
    {.name = "rmsnorm_backward_any_ref",
     .needs = 0,
     .refuses = refuses_rmsnorm_backward_any,
     .run = rmsnorm_backward_any_ref},
  };
  return rows;
}

std::span<const Row<SoftmaxForwardRequest>> softmax_forward_kernels() {
  static constexpr Row<SoftmaxForwardRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "softmax_forward_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_softmax_forward_vectors,
     .run = softmax_forward_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "softmax_forward_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_softmax_forward_vectors,
     .run = softmax_forward_x86_avx2},
#endif
    {.name = "softmax_forward_any_ref",
     .needs = 0,
     .refuses = refuses_softmax_forward_any,
     .run = softmax_forward_any_ref},
  };
  return rows;
}

std::span<const Row<SoftmaxExaqRequest>> softmax_exaq_kernels() {
  static constexpr Row<SoftmaxExaqRequest> rows[] = {
      {.name = "softmax_exaq_ref", .needs = 0, .refuses = refuses_softmax_exaq, .run = softmax_exaq_ref},
  };
  return rows;
}

std::span<const Row<SoftmaxBackwardRequest>> softmax_backward_kernels() {
  static constexpr Row<SoftmaxBackwardRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "softmax_backward_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_softmax_backward_vectors,
     .run = softmax_backward_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "softmax_backward_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_softmax_backward_vectors,
     .run = softmax_backward_x86_avx2},
#endif
    {.name = "softmax_backward_any_ref",
     .needs = 0,
     .refuses = refuses_softmax_backward_any,
     .run = softmax_backward_any_ref},
  };
  return rows;
}

std::span<const Row<CrossEntropySumsRequest>> cross_entropy_sums_kernels() {
  static constexpr Row<CrossEntropySumsRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "cross_entropy_sums_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_cross_entropy_sums_vectors,
     .run = cross_entropy_sums_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "cross_entropy_sums_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_cross_entropy_sums_vectors,
     .run = cross_entropy_sums_x86_avx2},
#endif
    {.name = "cross_entropy_sums_any_ref",
     .needs = 0,
     .refuses = refuses_cross_entropy_sums_any,
     .run = cross_entropy_sums_any_ref},
  };
  return rows;
}

std::span<const Row<CrossEntropyGradientRequest>> cross_entropy_gradient_kernels() {
  static constexpr Row<CrossEntropyGradientRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "cross_entropy_gradient_x86_avx512",
     .needs = kCpuAvx512,
     .refuses = refuses_cross_entropy_gradient_vectors,
     .run = cross_entropy_gradient_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "cross_entropy_gradient_x86_avx2",
     .needs = kCpuAvx2,
     .refuses = refuses_cross_entropy_gradient_vectors,
     .run = cross_entropy_gradient_x86_avx2},
#endif
    {.name = "cross_entropy_gradient_any_ref",
     .needs = 0,
     .refuses = refuses_cross_entropy_gradient_any,
     .run = cross_entropy_gradient_any_ref},
  };
  return rows;
}

std::span<const Row<FinishRequest>> finish_kernels() {
  static constexpr Row<FinishRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "finish_x86_avx512", .needs = kCpuAvx512, .refuses = refuses_finish_vectors, .run = finish_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "finish_x86_avx2", .needs = kCpuAvx2, .refuses = refuses_finish_vectors, .run = finish_x86_avx2},
#endif
    {.name = "finish_any_ref", .needs = 0, .refuses = refuses_finish_any, .run = finish_any_ref},
  };
  return rows;
}

}  // namespace lpt
