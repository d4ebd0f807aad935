// The rows of the matrix product, fastest first, and what the fast ones refuse.
#include "kernels/gemm/rows.hpp"

namespace lpt {
namespace {

bool is_operand(const MatrixView &view) {
  const lpt_format element = view.format.element;
  if (element == LPT_FORMAT_F32 || element == LPT_FORMAT_F16 || element == LPT_FORMAT_BF16) return true;
  return has_element(element) && element_of(element).bits <= 8;
}

// What the rows of instruction sets that were compiled refuse.
[[maybe_unused]] const char *refuses_f32(const GemmRequest &request) {
  if (request.is_f64) return "f64 is computed by the reference row";
  if (request.k == 0) return "without k there is nothing to multiply";
  if (!is_operand(request.a)) return "a is neither f32, f16 or bf16 nor of at most 8 bits";
  if (!is_operand(request.b)) return "b is neither f32, f16 or bf16 nor of at most 8 bits";
  if (request.a.column_stride != 1) return "columns of a are not adjacent";
  if (request.b.column_stride != 1) return "columns of b are not adjacent";
  if (request.c.column_stride != 1) return "columns of c are not adjacent";
  return nullptr;
}

// Significant bits of an element; a product has at most the sum of its factors', and a power of two counts none. Zero
// points add none: the difference of two codes is no longer than they are.
int32_t significant_bits(lpt_format format) {
  if (format == LPT_FORMAT_E8M0FNU) return 0;
  const Element element = element_of(format);
  if (!element.is_integer) return element.mantissa_bits + 1;
  return 32 - __builtin_clz(element.max_code);  // the negative end of a signed one is a power of two
}

bool is_scaled_along_k(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  return view.format.has_block_scale() && extent != LPT_WHOLE && k > extent;
}

// Why an operand is not exact in bf16, which has 8 significant bits.
const char *refuses_operand(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const Format &format = view.format;
  if (format.element == LPT_FORMAT_F32) return "f32 elements are not exact in bf16";
  if (format.element == LPT_FORMAT_F16) return "f16 elements are not exact in bf16";
  if (format.element != LPT_FORMAT_BF16) {
    const Element element = element_of(format.element);
    if (element.levels != nullptr) return "levels of a list are not exact in bf16";
    if (element.min_exponent - element.mantissa_bits < -126) return "the smallest elements are not normal in bf16";
  }
  if (!is_scaled_along_k(view, is_k_adjacent, k)) return nullptr;
  if (format.block_scale == LPT_FORMAT_F32) return "f32 scales along k are not exact in bf16";
  if (significant_bits(format.element) + significant_bits(format.block_scale) > 8) {
    return "elements times their scales along k are not exact in bf16";
  }
  return nullptr;
}

[[maybe_unused]] const char *refuses_bf16(const GemmRequest &request) {
  if (const char *reason = refuses_f32(request)) return reason;
  if (const char *reason = refuses_operand(request.a, !request.is_a_transposed, request.k)) return reason;
  return refuses_operand(request.b, request.is_b_transposed, request.k);
}

[[maybe_unused]] const char *refuses_int8(const GemmRequest &request) {
  if (request.a.format.element != LPT_FORMAT_INT8) return "a is not int8";
  if (request.b.format.element != LPT_FORMAT_INT8) return "b is not int8";
  if (request.a.format.has_zero_point() || request.b.format.has_zero_point()) return "there are zero points";
  if (const char *reason = refuses_f32(request)) return reason;
  if (is_scaled_along_k(request.a, !request.is_a_transposed, request.k)) return "scales of a vary along k";
  if (is_scaled_along_k(request.b, request.is_b_transposed, request.k)) return "scales of b vary along k";
  return request.k < (1 << 17) ? nullptr : "sums of so many products may not fit int32";
}

}  // namespace

std::span<const GemmRow> gemm_kernels() {
  static constexpr GemmRow rows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {{.name = "gemm_int8_x86_avx512_vnni",
      .needs = kCpuAvx512 | kCpuAvx512Vnni,
      .refuses = refuses_int8,
      .run = gemm_int8_x86_avx512_vnni},
     gemm_scratch_int8_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX512_BF16)
    {{.name = "gemm_any_x86_avx512_bf16",
      .needs = kCpuAvx512 | kCpuAvx512Bf16,
      .refuses = refuses_bf16,
      .run = gemm_any_x86_avx512_bf16},
     gemm_scratch_x86_avx512_bf16},
#endif
#if defined(LPT_HAVE_X86_AVX512)
    {{.name = "gemm_any_x86_avx512", .needs = kCpuAvx512, .refuses = refuses_f32, .run = gemm_any_x86_avx512},
     gemm_scratch_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {{.name = "gemm_any_x86_avx2", .needs = kCpuAvx2, .refuses = refuses_f32, .run = gemm_any_x86_avx2},
     gemm_scratch_x86_avx2},
#endif
    {{.name = "gemm_any_ref", .needs = 0, .refuses = nullptr, .run = gemm_any_ref}, gemm_scratch_ref},
  };
  return rows;
}

}  // namespace lpt
