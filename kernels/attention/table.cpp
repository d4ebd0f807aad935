// Kernels of attention, fastest first. There is no reference kernel: if no kernel supports a request, the operation runs GEMMs
// and a softmax.
#include "kernels/attention/kernels.hpp"
#include "src/formats/format.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86)
// With fewer lanes, packing the keys takes longer than the panels save.
constexpr int64_t kFewestLanes = 16;

bool has_few_lanes(const AttentionShape &shape) { return shape.queries * shape.group < kFewestLanes; }

const char *unsupported_formats(const AttentionForwardRequest &request) {
  const bool has_mask = request.mask.format != LPT_FORMAT_NONE, has_sums = request.log_sums.format != LPT_FORMAT_NONE;
  if (has_mask && !is_float_dtype(request.mask.format)) return "the mask is none of f32, bf16, f16";
  if (has_sums && request.log_sums.format != LPT_FORMAT_F32) return "log_sum_exp is not f32";
  for (const AttentionMatrix *matrix : {&request.query, &request.key, &request.value, &request.output}) {
    if (!is_float_dtype(matrix->format)) return "a format is none of f32, bf16, f16";
  }
  return request.shape.scale > 0.0 ? nullptr : "the scale is not positive";
}

const char *unsupported_forward(const AttentionForwardRequest &request) {
  return has_few_lanes(request.shape) ? "there are few queries for a key head" : unsupported_formats(request);
}

const char *unsupported_rows(const AttentionForwardRequest &request) {
  return has_few_lanes(request.shape) ? unsupported_formats(request) : "there are many queries for a key head";
}

const char *unsupported_backward(const AttentionBackwardRequest &request) {
  for (const AttentionMatrix *matrix :
       {&request.output_gradient, &request.query_gradient, &request.key_gradient, &request.value_gradient}) {
    if (!is_float_dtype(matrix->format)) return "a format is none of f32, bf16, f16";
  }
  return unsupported_forward(request.forward);
}

#if defined(LPT_HAVE_X86_AVX512_BF16)
bool is_bf16(const AttentionMatrix &matrix) { return matrix.format == LPT_FORMAT_BF16; }

const char *unsupported_forward_pairs(const AttentionForwardRequest &request) {
  const bool are_pairs = is_bf16(request.query) && is_bf16(request.key) && is_bf16(request.value);
  return are_pairs ? unsupported_forward(request) : "query, key or value is not bf16";
}

const char *unsupported_backward_pairs(const AttentionBackwardRequest &request) {
  if (!is_bf16(request.output_gradient)) return "output_gradient is not bf16";
  const char *const reason = unsupported_forward_pairs(request.forward);
  return reason != nullptr ? reason : unsupported_backward(request);
}

constexpr char kFasterInF32[] = "f32 multiply-adds are faster on this CPU";

const char *unsupported_forward_dots(const AttentionForwardRequest &request) {
  return request.has_slow_dots ? kFasterInF32 : unsupported_forward_pairs(request);
}

const char *unsupported_backward_dots(const AttentionBackwardRequest &request) {
  return request.forward.has_slow_dots ? kFasterInF32 : unsupported_backward_pairs(request);
}
#endif
#endif

}  // namespace

std::span<const KernelEntry<AttentionForwardRequest>> attention_forward_kernels() {
#if defined(LPT_HAVE_X86)
  static constexpr KernelEntry<AttentionForwardRequest> kernels[] = {
#if defined(LPT_HAVE_X86_AMX)
    {"attention_forward_x86_amx", kCpuAmx, unsupported_forward_pairs, attention_forward_x86_amx,
     attention_forward_scratch_x86_amx},
#endif
#if defined(LPT_HAVE_X86_AVX512_BF16)
    {"attention_forward_x86_avx512_bf16", kCpuAvx512Bf16, unsupported_forward_dots, attention_forward_x86_avx512_bf16,
     attention_forward_scratch_x86_avx512_bf16},
#endif
#if defined(LPT_HAVE_X86_AVX512)
    {"attention_forward_x86_avx512", kCpuAvx512, unsupported_forward, attention_forward_x86_avx512,
     attention_forward_scratch_x86_avx512},
    {"attention_rows_x86_avx512", kCpuAvx512, unsupported_rows, attention_rows_x86_avx512,
     attention_rows_scratch_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"attention_forward_x86_avx2", kCpuAvx2, unsupported_forward, attention_forward_x86_avx2,
     attention_forward_scratch_x86_avx2},
    {"attention_rows_x86_avx2", kCpuAvx2, unsupported_rows, attention_rows_x86_avx2, attention_rows_scratch_x86_avx2},
#endif
  };
  return kernels;
#else
  return {};
#endif
}

std::span<const KernelEntry<AttentionBackwardRequest>> attention_backward_kernels() {
#if defined(LPT_HAVE_X86)
  static constexpr KernelEntry<AttentionBackwardRequest> kernels[] = {
#if defined(LPT_HAVE_X86_AMX)
    {"attention_backward_x86_amx", kCpuAmx, unsupported_backward_pairs, attention_backward_x86_amx,
     attention_backward_scratch_x86_amx},
#endif
#if defined(LPT_HAVE_X86_AVX512_BF16)
    {"attention_backward_x86_avx512_bf16", kCpuAvx512Bf16, unsupported_backward_dots,
     attention_backward_x86_avx512_bf16, attention_backward_scratch_x86_avx512_bf16},
#endif
#if defined(LPT_HAVE_X86_AVX512)
    {"attention_backward_x86_avx512", kCpuAvx512, unsupported_backward, attention_backward_x86_avx512,
     attention_backward_scratch_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"attention_backward_x86_avx2", kCpuAvx2, unsupported_backward, attention_backward_x86_avx2,
     attention_backward_scratch_x86_avx2},
#endif
  };
  return kernels;
#else
  return {};
#endif
}

}  // namespace lpt
