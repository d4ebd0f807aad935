// Kernels of the GEMM, fastest first, and the reasons why they do not support a request.
#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/panels.hpp"

namespace lpt {
namespace {

bool is_operand(const MatrixView &view) {
  const lpt_format element = view.format.element;
  if (is_float_dtype(element)) return true;
  return has_element(element) && element_of(element).bits <= 8;
}

// Returns why no kernel of an instruction set supports the request. Only some kernels read panels.
[[maybe_unused]] const char *unsupported_common(const GemmRequest &request, bool reads_panels) {
  if (request.arithmetic != LPT_GEMM_ARITHMETIC_NATIVE) return "the arithmetic of another machine is requested";
  if (request.is_f64) return "f64 is computed by the reference kernel";
  if (request.b.layout == Layout::kPanels && !reads_panels) return "b is packed";
  if (request.k == 0) return "without k there is nothing to multiply";
  if (!is_operand(request.a)) return "a is neither f32, f16 or bf16 nor of at most 8 bits";
  if (!is_operand(request.b)) return "b is neither f32, f16 or bf16 nor of at most 8 bits";
  if (request.a.column_stride != 1) return "columns of a are not adjacent";
  if (request.b.column_stride != 1) return "columns of b are not adjacent";
  if (request.c.column_stride != 1) return "columns of c are not adjacent";
  return nullptr;
}

[[maybe_unused]] const char *unsupported_f32(const GemmRequest &request) { return unsupported_common(request, false); }
[[maybe_unused]] const char *unsupported_f32_panels(const GemmRequest &request) {
  return unsupported_common(request, true);
}

// Returns why elements are not exact in bf16, which has 8 significant bits.
const char *unsupported_elements(const Format &format) {
  if (format.element == LPT_FORMAT_F32) return "f32 elements are not exact in bf16";
  if (format.element == LPT_FORMAT_F16) return "f16 elements are not exact in bf16";
  if (format.element == LPT_FORMAT_BF16) return nullptr;
  const Element element = element_of(format.element);
  if (element.levels != nullptr) return "levels of a list are not exact in bf16";
  return element.min_exponent - element.mantissa_bits < -126 ? "the smallest elements are not normal in bf16" : nullptr;
}

// Returns why an f32 `a` is not supported by kernels that support the format of b.
const char *unsupported_wide_a(const GemmRequest &request) {
  if (request.a.format.element != LPT_FORMAT_F32) return nullptr;
  return "a is f32, whose elements are not exact in bf16: LPT_GEMM_CAST_A_TO_BF16 rounds them";
}

const char *unsupported_operand(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const Format &format = view.format;
  if (const char *reason = unsupported_elements(format)) return reason;
  if (!is_scaled_along_k(view, is_k_adjacent, k)) return nullptr;
  if (format.block_scale == LPT_FORMAT_F32) return "f32 scales along k are not exact in bf16";
  return fits_bf16_scaled(format) ? nullptr : "elements times their scales along k are not exact in bf16";
}

// Kernels that sum groups of k and scale each sum require at least two pairs of k in a group.
const char *unsupported_grouped(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  if (const char *reason = unsupported_elements(view.format)) return reason;
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  const bool is_short = is_scaled_along_k(view, is_k_adjacent, k) && extent < 4;
  return is_short ? "blocks of scales are shorter than 4 along k" : nullptr;
}

// With fewer rows, decoding b to f32 takes longer than faster multiply-adds save.
constexpr int64_t kMinF32Rows = 32;

const char *unsupported_dots(const GemmRequest &request) {
  if (request.is_portable) return "bf16 dot products do not add up in the portable order";
  const bool is_slow = request.options.has_slow_dots && request.m >= kMinF32Rows;
  return is_slow ? "f32 multiply-adds are faster on this CPU" : nullptr;
}

[[maybe_unused]] const char *unsupported_bf16(const GemmRequest &request) {
  if (const char *reason = unsupported_f32(request)) return reason;
  if (const char *reason = unsupported_dots(request)) return reason;
  if (const char *reason = unsupported_operand(request.b, request.is_b_transposed, request.k)) return reason;
  if (const char *reason = unsupported_wide_a(request)) return reason;
  return unsupported_operand(request.a, !request.is_a_transposed, request.k);
}

// The kernels decode packed bytes as signed floats or as integers.
const char *unsupported_panels(const Format &format) {
  if (!has_element(format.element)) return nullptr;
  const Element element = element_of(format.element);
  const bool is_taken = element.bits != 8 || element.is_signed || format.has_zero_point();
  return is_taken ? nullptr : "packed bytes of b have no sign";
}

[[maybe_unused]] const char *unsupported_bf16_panels(const GemmRequest &request) {
  if (const char *reason = unsupported_common(request, true)) return reason;
  if (request.b.layout == Layout::kPanels) {
    if (const char *reason = unsupported_panels(request.b.format)) return reason;
  }
  if (const char *reason = unsupported_dots(request)) return reason;
  if (const char *reason = unsupported_grouped(request.b, request.is_b_transposed, request.k)) return reason;
  if (const char *reason = unsupported_wide_a(request)) return reason;
  return unsupported_grouped(request.a, !request.is_a_transposed, request.k);
}

// With fewer rows, decoding to tiles takes longer than it saves. Integers that int8 dot products also support need more rows, and
// longer groups.
constexpr int64_t kMinAmxRows = 4;
constexpr int64_t kMinAmxRowsOfIntegers = 32;
constexpr int64_t kMinAmxGroupOfIntegers = 32;

const char *unsupported_amx_tiles(const GemmRequest &request) {
  if (const char *reason = unsupported_common(request, true)) return reason;
  if (request.is_portable) return "tiles do not add up in the portable order";
  return request.m < kMinAmxRows ? "fewer rows than repay tiles" : nullptr;
}

const char *unsupported_amx_operand(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  if (const char *reason = unsupported_elements(view.format)) return reason;
  if (view.layout == Layout::kPanels) {
    if (const char *reason = unsupported_panels(view.format)) return reason;
  }
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  if (!is_scaled_along_k(view, is_k_adjacent, k)) return nullptr;
  if (!is_grouped_by_scales(view, is_k_adjacent, k)) {
    return view.layout == Layout::kPanels && extent < 4 ? "blocks of packed scales are shorter than 4" : nullptr;
  }
  return extent < 32 || extent > 1024 ? "scales along k are not exact in bf16, nor for 32 to 1024 elements" : nullptr;
}

// Returns the largest magnitude of an element in units of the smallest one, or 0 if elements are not small integers.
int64_t largest_integer(const Format &format) {
  if (!has_element(format.element)) return 0;
  const Element element = element_of(format.element);
  if (element.is_integer) return int64_t{1} << (element.bits - (element.is_signed ? 1 : 0));
  if (format.element == LPT_FORMAT_E2M1FN) return 12;
  if (format.element == LPT_FORMAT_E2M3FN) return 60;
  return format.element == LPT_FORMAT_E3M0 ? 64 : 0;
}

// Returns whether f32 sums of integers are exact, which holds up to 2^24. Every kernel computes integer sums exactly.
bool are_sums_exact(const GemmRequest &request) {
  const int64_t largest = largest_integer(request.a.format) * largest_integer(request.b.format);
  int64_t terms = request.k;
  const auto cut = [&](const MatrixView &view, bool is_k_adjacent) {
    const int64_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
    if (is_scaled_along_k(view, is_k_adjacent, request.k) && extent < terms) terms = extent;
  };
  cut(request.a, !request.is_a_transposed);
  cut(request.b, request.is_b_transposed);
  return largest * terms <= 1 << 24;
}

const char *unsupported_bytes(const GemmRequest &request) {
  if (request.is_portable) return "sums in int32 are not rounded in the portable order";
  if (request.a.format.element != LPT_FORMAT_INT8) return "a is not int8";
  if (request.b.format.element != LPT_FORMAT_INT8) return "b is not int8";
  if (request.a.format.has_zero_point() || request.b.format.has_zero_point()) return "there are zero points";
  if (is_scaled_along_k(request.a, !request.is_a_transposed, request.k)) return "scales of a vary along k";
  if (is_scaled_along_k(request.b, request.is_b_transposed, request.k)) return "scales of b vary along k";
  return request.k < (1 << 17) ? nullptr : "sums of so many products may not fit int32";
}

[[maybe_unused]] const char *unsupported_int8(const GemmRequest &request) {
  const char *const reason = unsupported_bytes(request);
  return reason != nullptr ? reason : unsupported_f32(request);
}

// Reference kernels.

const char *unsupported_ref(const GemmRequest &request) {
  if (request.arithmetic != LPT_GEMM_ARITHMETIC_NATIVE) return "the arithmetic of another machine is requested";
  return request.b.layout == Layout::kPanels ? "b is packed" : nullptr;
}

const char *unsupported_emulated(const GemmRequest &request, lpt_gemm_arithmetic arithmetic) {
  if (request.arithmetic != arithmetic) return "its arithmetic is not requested";
  if (request.is_f64) return "f64 has the native arithmetic alone";
  if (request.b.layout == Layout::kPanels) return "b is packed";
  if (!is_operand(request.a)) return "a is neither f32, f16 or bf16 nor of at most 8 bits";
  return is_operand(request.b) ? nullptr : "b is neither f32, f16 or bf16 nor of at most 8 bits";
}

const char *unsupported_l_mul(const GemmRequest &request) {
  return unsupported_emulated(request, LPT_GEMM_ARITHMETIC_L_MUL);
}

const char *unsupported_piecewise_affine(const GemmRequest &request) {
  return unsupported_emulated(request, LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE);
}

bool is_small_integer(lpt_format plain) {
  return has_element(plain) && element_of(plain).is_integer && element_of(plain).bits <= 8;
}

// Returns whether the element is a signed float of at most 8 bits. A product of two has at most 10 significant bits.
bool is_small_float(lpt_format plain) {
  if (!has_element(plain)) return false;
  const Element element = element_of(plain);
  return element.bits <= 8 && element.is_signed && !element.is_integer && element.levels == nullptr &&
         element.mantissa_bits <= 4;
}

// Returns whether the element is 4-bit e3m0: zero and seven powers of two, signed.
bool is_e3m0(lpt_format plain) {
  if (!is_small_float(plain)) return false;
  const Element element = element_of(plain);
  return element.bits == 4 && element.mantissa_bits == 0 && element.max_code == 7;
}

const char *unsupported_shift(const GemmRequest &request) {
  if (const char *reason = unsupported_emulated(request, LPT_GEMM_ARITHMETIC_SHIFT)) return reason;
  const lpt_format a = request.a.format.element, b = request.b.format.element;
  const bool is_taken = (is_e3m0(a) && is_small_integer(b)) || (is_small_integer(a) && is_e3m0(b));
  return is_taken ? nullptr : "operands are not one of e3m0 and one of integers of at most 8 bits";
}

const char *unsupported_tensor_core(const GemmRequest &request) {
  if (const char *reason = unsupported_emulated(request, LPT_GEMM_ARITHMETIC_TENSOR_CORE)) return reason;
  if (!is_small_float(request.a.format.element)) return "a is no float of at most 8 bits";
  return is_small_float(request.b.format.element) ? nullptr : "b is no float of at most 8 bits";
}

// Returns why an operand is not a matrix of small integers with groups of k that share a scale.
const char *unsupported_integers(const MatrixView &view, int64_t k) {
  const Format &format = view.format;
  if (!has_element(format.element)) return "elements are not integers";
  const Element element = element_of(format.element);
  // Small floats are integers times a power of two: the integers are at most 12, 60 and 64.
  const bool is_small_float =
      format.element == LPT_FORMAT_E2M1FN || format.element == LPT_FORMAT_E2M3FN || format.element == LPT_FORMAT_E3M0;
  const bool is_integer = element.is_integer && (element.bits == 2 || element.bits == 4 || element.bits == 8);
  if (!is_integer && !is_small_float) return "elements are not integers of 2, 4 or 8 bits";
  if (!element.is_signed && !(format.has_zero_point() && element.bits == 4)) return "integers are unsigned bytes";
  return is_scaled_along_k(view, true, k) && format.block_columns < 8 ? "groups are of fewer than 8" : nullptr;
}

[[maybe_unused]] const char *unsupported_groups(const GemmRequest &request) {
  if (request.arithmetic != LPT_GEMM_ARITHMETIC_NATIVE) return "the arithmetic of another machine is requested";
  if (request.is_portable) return "sums in int32 are not rounded in the portable order";
  if (request.is_f64) return "f64 is computed by the reference kernel";
  if (request.k == 0) return "without k there is nothing to multiply";
  if (request.a.format.has_zero_point()) return "a has zero points";
  if (const char *reason = unsupported_integers(request.a, request.k)) return reason;
  if (const char *reason = unsupported_integers(request.b, request.k)) return reason;
  if (request.is_a_transposed || !request.is_b_transposed) return "k is not adjacent in both operands";
  if (request.a.column_stride != 1) return "columns of a are not adjacent";
  if (request.b.column_stride != 1) return "columns of b are not adjacent";
  return request.c.column_stride == 1 ? nullptr : "columns of c are not adjacent";
}

// Panels that are expanded to memory are faster with more rows: for two tiles, or one if a decoded vector takes many instructions.
[[maybe_unused]] const char *unsupported_few_rows(const GemmRequest &request) {
  if (const char *reason = unsupported_common(request, true)) return reason;
  if (request.b.layout != Layout::kPanels) return "b is not packed";
  const Format &format = request.b.format;
  if (panel_blocks(format, request.k) > 1 && format.block_columns < 4) return "blocks of scales are shorter than 4";
  const bool is_cheap = format.element == LPT_FORMAT_BF16 || panel_kind(format.element) == PanelKind::kNibbles ||
                        (has_element(format.element) && element_of(format.element).is_integer);
  return request.m > (is_cheap ? 2 : 1) * kRowsInRegisters ? "more rows than repay decoding in registers" : nullptr;
}

[[maybe_unused]] const char *unsupported_packed_groups(const GemmRequest &request) {
  if (const char *reason = unsupported_groups(request)) return reason;
  if (request.b.layout != Layout::kPanels) return "b is not packed";
  return panel_kind(request.b.format.element) == PanelKind::kBytePairs ? "elements of b have 6 bits" : nullptr;
}

// Returns whether int8 dot products support the request, and its rows are too few for tiles.
bool is_for_dots(const GemmRequest &request) {
  return request.m < kMinAmxRowsOfIntegers && unsupported_groups(request) == nullptr;
}

[[maybe_unused]] const char *unsupported_amx(const GemmRequest &request) {
  if (const char *reason = unsupported_amx_tiles(request)) return reason;
  if (const char *reason = unsupported_amx_operand(request.b, request.is_b_transposed, request.k)) return reason;
  if (const char *reason = unsupported_wide_a(request)) return reason;
  if (const char *reason = unsupported_amx_operand(request.a, !request.is_a_transposed, request.k)) return reason;
  if (!are_sums_exact(request)) return "sums of so many integers are not exact in f32";
  return is_for_dots(request) ? "int8 dot products are faster" : nullptr;
}

[[maybe_unused]] const char *unsupported_groups_amx(const GemmRequest &request) {
  if (const char *reason = unsupported_groups(request)) return reason;
  if (const char *reason = unsupported_amx_tiles(request)) return reason;
  if (!is_grouped_by_scales(request.a, true, request.k) && !is_grouped_by_scales(request.b, true, request.k)) {
    return "scales do not cut k into groups";
  }
  const auto is_short = [&](const MatrixView &view) {
    return is_scaled_along_k(view, true, request.k) && view.format.block_columns < kMinAmxGroupOfIntegers;
  };
  const bool is_small = request.m < kMinAmxRowsOfIntegers || is_short(request.a) || is_short(request.b);
  return is_small ? "int8 dot products are faster" : nullptr;
}

[[maybe_unused]] const char *unsupported_int8_amx(const GemmRequest &request) {
  if (const char *reason = unsupported_bytes(request)) return reason;
  if (const char *reason = unsupported_amx_tiles(request)) return reason;
  return is_for_dots(request) ? "int8 dot products are faster" : nullptr;
}

}  // namespace

std::span<const KernelEntry<GemmRequest>> gemm_kernels() {
  static constexpr KernelEntry<GemmRequest> kernels[] = {
#if defined(LPT_HAVE_X86_AMX)
    {"gemm_int8_x86_amx", kCpuAvx512 | kCpuAvx512Bf16 | kCpuAmx, unsupported_int8_amx, gemm_int8_x86_amx,
     gemm_scratch_int8_x86_amx},
    {"gemm_groups_x86_amx", kCpuAvx512 | kCpuAvx512Vnni | kCpuAmx, unsupported_groups_amx, gemm_groups_x86_amx,
     gemm_scratch_groups_x86_amx},
    {"gemm_any_x86_amx", kCpuAvx512 | kCpuAvx512Bf16 | kCpuAmx, unsupported_amx, gemm_any_x86_amx,
     gemm_scratch_x86_amx},
#endif
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"gemm_groups_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, unsupported_groups, gemm_groups_x86_avx512_vnni,
     gemm_scratch_groups_x86_avx512_vnni},
    {"gemm_int8_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, unsupported_int8, gemm_int8_x86_avx512_vnni,
     gemm_scratch_int8_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX512_BF16)
    {"gemm_any_x86_avx512_bf16", kCpuAvx512 | kCpuAvx512Bf16, unsupported_bf16, gemm_any_x86_avx512_bf16,
     gemm_scratch_x86_avx512_bf16},
    {"gemm_panels_x86_avx512_bf16", kCpuAvx512 | kCpuAvx512Bf16, unsupported_bf16_panels, gemm_panels_x86_avx512_bf16,
     gemm_scratch_panels_x86_avx512_bf16},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"gemm_groups_x86_avx2", kCpuAvx2, unsupported_packed_groups, gemm_groups_x86_avx2, gemm_scratch_groups_x86_avx2},
    {"gemm_rows_x86_avx2", kCpuAvx2, unsupported_few_rows, gemm_rows_x86_avx2, gemm_scratch_rows_x86_avx2},
#endif
#if defined(LPT_HAVE_X86_AVX512)
    {"gemm_any_x86_avx512", kCpuAvx512, unsupported_f32_panels, gemm_any_x86_avx512, gemm_scratch_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"gemm_any_x86_avx2", kCpuAvx2, unsupported_f32_panels, gemm_any_x86_avx2, gemm_scratch_x86_avx2},
#endif
#if defined(LPT_HAVE_ARM_NEON)
    {"gemm_any_arm_neon", kCpuNeon, unsupported_f32, gemm_any_arm_neon, gemm_scratch_arm_neon},
#endif
    {"gemm_l_mul_ref", 0, unsupported_l_mul, gemm_l_mul_ref, gemm_scratch_l_mul_ref},
    {"gemm_piecewise_affine_ref", 0, unsupported_piecewise_affine, gemm_piecewise_affine_ref,
     gemm_scratch_piecewise_affine_ref},
    {"gemm_shift_ref", 0, unsupported_shift, gemm_shift_ref, gemm_scratch_shift_ref},
    {"gemm_tensor_core_ref", 0, unsupported_tensor_core, gemm_tensor_core_ref, gemm_scratch_tensor_core_ref},
    {"gemm_any_ref", 0, unsupported_ref, gemm_any_ref, gemm_scratch_ref},
  };
  return kernels;
}

}  // namespace lpt
