// Kernels of the GEMM by 2:4 matrices, fastest first, and the reasons why they do not support a request.
#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/kernels.hpp"

namespace lpt {
namespace {

const char *unsupported_any(const GemmRequest &request) {
  if (request.arithmetic != LPT_GEMM_ARITHMETIC_NATIVE) return "the arithmetic of another machine is requested";
  if (request.is_f64) return "f64 is computed by kernels of dense matrices";
  if (request.is_portable) return "lanes do not add up in the portable order";
  if (request.a.layout != Layout::kRows || request.b.layout != Layout::kSparse) return "b is not the sparse operand";
  if (request.k == 0) return "without k there is nothing to multiply";
  // Locating the elements of a costs as much as multiplying. Reading less of b repays it only if few rows share b.
  if (request.m > kMaxSparseRows) return "so many rows repay writing b out";
  if (request.is_a_transposed || !request.is_b_transposed) return "k is not adjacent in both operands";
  if (request.a.column_stride != 1) return "columns of a are not adjacent";
  if (request.a.format.has_zero_point()) return "a has zero points";
  if (is_scaled_along_k(request.a, true, request.k)) return "scales of a vary along k";
  return is_scaled_along_k(request.b, true, request.k) ? "scales of b vary along k" : nullptr;
}

[[maybe_unused]] const char *unsupported_sparse_int8(const GemmRequest &request) {
  if (const char *reason = unsupported_any(request)) return reason;
  if (request.a.format.element != LPT_FORMAT_INT8) return "a is not int8";
  if (request.b.format.element != LPT_FORMAT_INT8) return "b is not int8";
  return request.k < (1 << 16) ? nullptr : "sums of so many products may not fit int32";
}

[[maybe_unused]] bool is_float(lpt_format element) {
  return element == LPT_FORMAT_F32 || element == LPT_FORMAT_BF16 || element == LPT_FORMAT_E4M3FN ||
         element == LPT_FORMAT_E5M2;
}

[[maybe_unused]] const char *unsupported_floats(const GemmRequest &request) {
  if (const char *reason = unsupported_any(request)) return reason;
  if (!is_float(request.a.format.element)) return "a is not f32, bf16, e4m3fn or e5m2";
  return is_float(request.b.format.element) ? nullptr : "b is not f32, bf16, e4m3fn or e5m2";
}

}  // namespace

std::span<const KernelEntry<GemmRequest>> sparse_gemm_kernels() {
  static constexpr KernelEntry<GemmRequest> kernels[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"gemm_sparse_int8_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, unsupported_sparse_int8,
     gemm_sparse_int8_x86_avx512_vnni, gemm_scratch_sparse_int8_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX512)
    {"gemm_sparse_floats_x86_avx512", kCpuAvx512, unsupported_floats, gemm_sparse_floats_x86_avx512,
     gemm_scratch_sparse_floats_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"gemm_sparse_int8_x86_avx2", kCpuAvx2, unsupported_sparse_int8, gemm_sparse_int8_x86_avx2,
     gemm_scratch_sparse_int8_x86_avx2},
    {"gemm_sparse_floats_x86_avx2", kCpuAvx2, unsupported_floats, gemm_sparse_floats_x86_avx2,
     gemm_scratch_sparse_floats_x86_avx2},
#endif
    {"gemm_sparse_any_ref", 0, unsupported_any, gemm_sparse_any_ref, gemm_scratch_sparse_ref},
  };
  return kernels;
}

}  // namespace lpt
