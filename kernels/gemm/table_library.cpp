// Selection of a vendor library GEMM for a request. The documentation of cuBLAS 13 defines what is supported (cublasLtMatmul,
// "Narrow Precisions Usage"). The setters of cuBLASLt check nothing, so that this file checks every condition.
// table_library_sparse.cpp has the conditions of cuSPARSELt.
#include <algorithm>
#include <bit>

#include "kernels/gemm/library_plan.hpp"

namespace lpt::library {
namespace {

bool is_integer(lpt_format element) {
  return element == LPT_FORMAT_INT8 || element == LPT_FORMAT_INT4 || element == LPT_FORMAT_UINT4;
}

bool is_library_float(lpt_format element) {
  return is_byte_float(element) || element == LPT_FORMAT_E3M2FN || element == LPT_FORMAT_E2M3FN ||
         element == LPT_FORMAT_E2M1FN;
}

// Returns whether the conversion kernels support the format.
bool is_convertible(lpt_format element) {
  return is_float_dtype(element) || is_library_float(element) || is_integer(element);
}

bool has_blocks(const Format &format, lpt_format scale, int32_t rows, int32_t columns) {
  return format.block_scale == scale && format.block_rows == rows && format.block_columns == columns;
}

bool has_row_scales(const MatrixView &view) {
  return has_blocks(view.format, LPT_FORMAT_F32, 1, LPT_BLOCK_EXTENT_FULL);
}

bool has_row_blocks(const MatrixView &view) { return has_blocks(view.format, LPT_FORMAT_F32, 1, 128); }

bool has_square_blocks(const MatrixView &view) { return has_blocks(view.format, LPT_FORMAT_F32, 128, 128); }

int32_t boundary_of(const void *address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  return place == 0 ? 256 : static_cast<int32_t>(std::min<uintptr_t>(uintptr_t{1} << std::countr_zero(place), 256));
}

const char *unsupported_call(const GemmRequest &request) {
  if (const char *why = unsupported_all_but_operands(request)) return why;
  const bool are_rows = request.a.layout == Layout::kRows && request.b.layout == Layout::kRows;
  return are_rows ? nullptr : "takes matrices in rows only";
}

// Requires a stored as m × k and b stored as n × k, both aligned to 16 bytes.
const char *unsupported_along_k(const GemmRequest &request) {
  if (!is_a_along_k(request) || !is_b_along_k(request)) return "takes a stored m x k and b stored n x k only";
  return is_on_sixteen(request.a) && is_on_sixteen(request.b) ? nullptr : "needs rows of a and b on 16 bytes";
}

const char *unsupported_byte_operands(const GemmRequest &request) {
  if (const char *why = unsupported_call(request)) return why;
  const lpt_format a = request.a.format.element, b = request.b.format.element;
  if (!is_byte_float(a) || !is_byte_float(b)) return "takes e4m3fn and e5m2 only";
  if (a == LPT_FORMAT_E5M2 && b == LPT_FORMAT_E5M2) return "takes no e5m2 by e5m2";
  if (const char *why = unsupported_along_k(request)) return why;
  return request.k % 16 == 0 && request.n % 16 == 0 ? nullptr : "needs k and n in multiples of 16";
}

// For f32, bf16 or f16 operands the library writes c in the format of the operands or in f32. Only f32 supports an f32 bias.
bool gives_c_of_numbers(lpt_format element, const GemmRequest &request) {
  const lpt_format c = request.c.format.element;
  return (c == element && request.bias == nullptr) || c == LPT_FORMAT_F32;
}

LibraryScales tensor_scale_of(const MatrixView &view) {
  return view.format.has_tensor_scale() ? LibraryScales::kTensor : LibraryScales::kNone;
}

LibraryPlan plan_bytes(const GemmRequest &request, LibraryScales a, LibraryScales b) {
  LibraryPlan plan{};
  plan.gemm.a = operand_of(request.a, request.is_a_transposed, a);
  plan.gemm.b = operand_of(request.b, request.is_b_transposed, b);
  return finished(request, plan, gives_c_of_bytes(request));
}

}  // namespace

bool is_byte_float(lpt_format element) { return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E5M2; }

bool has_tensor_scale(const GemmRequest &request) {
  return request.a.format.has_tensor_scale() || request.b.format.has_tensor_scale();
}

bool has_epilogue_scales(const MatrixView &view, bool is_along_k) {
  return !view.format.has_block_scale() || (has_row_scales(view) && is_along_k);
}

bool is_a_along_k(const GemmRequest &request) { return !request.is_a_transposed; }

bool is_b_along_k(const GemmRequest &request) { return request.is_b_transposed; }

bool is_on_sixteen(const MatrixView &view) {
  return boundary_of(view.data) >= 16 &&
         (view.rows <= 1 || view.row_stride * element_bits(view.format.element) % 128 == 0);
}

const char *unsupported_all_but_operands(const GemmRequest &request) {
  if (request.is_f64) return "takes no f64";
  if (request.is_portable) return "the order of its sums is its own: not LPT_GEMM_PORTABLE_ORDER";
  if (request.arithmetic != LPT_GEMM_ARITHMETIC_NATIVE) return "multiplies as the device does only";
  return is_float_dtype(request.c.format.element) && request.c.format.is_plain() ? nullptr
                                                                                 : "gives f32, bf16 and f16 only";
}

LibraryOperand operand_of(const MatrixView &view, bool is_transposed, LibraryScales scales) {
  return {view.format.element,
          scales,
          view.rows,
          view.columns,
          view.rows <= 1 ? view.columns : view.row_stride,
          is_transposed,
          boundary_of(view.data)};
}

LibraryOperand lifted(const MatrixView &view, bool is_transposed, lpt_format element, LibraryScales scales) {
  const int64_t unit = 128 / element_bits(element);
  const int64_t stride = (view.columns + unit - 1) / unit * unit;
  return {element, scales, view.rows, view.columns, stride, is_transposed, 64};
}

LibraryPlan finished(const GemmRequest &request, LibraryPlan plan, bool gives_c) {
  LibraryGemm &gemm = plan.gemm;
  gemm.m = request.m;
  gemm.n = request.n;
  gemm.k = request.k;
  const EpilogueScales a = epilogue_scales(request.a, gemm.a.scales, plan.a_conversion);
  const EpilogueScales b = epilogue_scales(request.b, gemm.b.scales, plan.b_conversion);
  plan.has_finish = !gives_c || a.has_rows || b.has_rows || request.k == 0;
  gemm.has_factors = !plan.has_finish && (a.has_tensor || b.has_tensor);
  const bool has_space = request.c.format.element == LPT_FORMAT_F32 && is_on_sixteen(request.c);
  plan.is_in_place = plan.has_finish && has_space && request.beta == 0.0;
  gemm.c = plan.has_finish ? lpt_format{LPT_FORMAT_F32} : request.c.format.element;
  gemm.has_bias = !plan.has_finish && request.bias != nullptr;
  gemm.reads_c = !plan.has_finish && request.beta != 0.0;
  const bool is_own = plan.has_finish && !plan.is_in_place;
  gemm.boundary = is_own ? 64 : boundary_of(request.c.data);
  gemm.c_stride = is_own || request.c.rows <= 1 ? request.n : request.c.row_stride;
  return plan;
}

bool gives_c_of_bytes(const GemmRequest &request) { return request.bias == nullptr && is_on_sixteen(request.c); }

namespace {

// e4m3fn and e5m2.

const char *unsupported_tensor(const GemmRequest &request) {
  if (const char *why = unsupported_byte_operands(request)) return why;
  const bool has_others = request.a.format.has_block_scale() || request.b.format.has_block_scale();
  return has_others ? "takes one scale for each tensor only" : nullptr;
}

LibraryPlan plan_tensor(const GemmRequest &request) {
  return plan_bytes(request, tensor_scale_of(request.a), tensor_scale_of(request.b));
}

const char *unsupported_rows(const GemmRequest &request) {
  if (const char *why = unsupported_byte_operands(request)) return why;
  if (!has_row_scales(request.a) || !has_row_scales(request.b)) return "takes f32 scales of rows only";
  const auto is_dense = [](const MatrixView &view) {
    return view.block_scale_stride == 1 && boundary_of(view.block_scales) >= 16;
  };
  return is_dense(request.a) && is_dense(request.b) ? nullptr : "takes scales without gaps on 16 bytes only";
}

LibraryPlan plan_rows(const GemmRequest &request) {
  return plan_bytes(request, LibraryScales::kLanes, LibraryScales::kLanes);
}

const char *unsupported_blocks(const GemmRequest &request) {
  if (const char *why = unsupported_byte_operands(request)) return why;
  const bool is_a = has_row_blocks(request.a) || has_square_blocks(request.a);
  const bool is_b = has_row_blocks(request.b) || has_square_blocks(request.b);
  if (!is_a || !is_b) return "takes f32 scales of 1 x 128 and 128 x 128 only";
  if (has_square_blocks(request.a) && has_square_blocks(request.b)) return "takes no 128 x 128 by 128 x 128";
  if (has_tensor_scale(request)) return "takes no tensor scale";
  return request.m % 4 == 0 ? nullptr : "needs m in multiples of 4";
}

LibraryScales blocks_of(const MatrixView &view) {
  return has_row_blocks(view) ? LibraryScales::kLanes128 : LibraryScales::kBlocks128;
}

LibraryPlan plan_blocks(const GemmRequest &request) {
  return plan_bytes(request, blocks_of(request.a), blocks_of(request.b));
}

// For scales of rows where the library supports none: the epilogue applies them to the sums.
const char *unsupported_factors(const GemmRequest &request) {
  if (const char *why = unsupported_byte_operands(request)) return why;
  const bool are_late = has_epilogue_scales(request.a, true) && has_epilogue_scales(request.b, true);
  return are_late ? nullptr : "takes f32 scales of rows and of tensors only";
}

LibraryPlan plan_factors(const GemmRequest &request) {
  return plan_bytes(request, LibraryScales::kNone, LibraryScales::kNone);
}

// Block scales of 8 bits, on devices that support them.

const char *unsupported_tiles(const GemmRequest &request, lpt_format scale, int32_t columns) {
  if (const char *why = unsupported_call(request)) return why;
  if (const char *why = unsupported_along_k(request)) return why;
  if (!has_blocks(request.a.format, scale, 1, columns) || !has_blocks(request.b.format, scale, 1, columns)) {
    return columns == 16 ? "takes e4m3fn scales of 1 x 16 only" : "takes e8m0fnu scales of 1 x 32 only";
  }
  return request.k % 32 == 0 && request.n % 16 == 0 ? nullptr : "needs k in multiples of 32, n in multiples of 16";
}

const char *unsupported_mx(const GemmRequest &request) {
  if (const char *why = unsupported_tiles(request, LPT_FORMAT_E8M0FNU, 32)) return why;
  return unsupported_byte_operands(request);
}

LibraryPlan plan_mx(const GemmRequest &request) {
  return plan_bytes(request, LibraryScales::kTiles32, LibraryScales::kTiles32);
}

const char *unsupported_nv(const GemmRequest &request) {
  if (const char *why = unsupported_tiles(request, LPT_FORMAT_E4M3FN, 16)) return why;
  const bool is_small = request.a.format.element == LPT_FORMAT_E2M1FN && request.b.format.element == LPT_FORMAT_E2M1FN;
  return is_small ? nullptr : "takes e2m1fn only";
}

LibraryPlan plan_nv(const GemmRequest &request) {
  return plan_bytes(request, LibraryScales::kTiles16, LibraryScales::kTiles16);
}

// Integers.

const char *unsupported_integers(const GemmRequest &request) {
  if (const char *why = unsupported_call(request)) return why;
  if (request.a.format.element != LPT_FORMAT_INT8 || request.b.format.element != LPT_FORMAT_INT8)
    return "takes int8 only";
  if (request.a.format.has_zero_point() || request.b.format.has_zero_point()) return "takes no zero points";
  const bool are_late = has_epilogue_scales(request.a, true) && has_epilogue_scales(request.b, true);
  if (!are_late) return "takes f32 scales of rows and of tensors only";
  if (const char *why = unsupported_along_k(request)) return why;
  if (request.k > kMostIntegers) return "sums of more than 131071 products may not fit int32";
  return request.k % 16 == 0 && request.n % 16 == 0 ? nullptr : "needs k and n in multiples of 16";
}

LibraryPlan plan_integers(const GemmRequest &request) {
  LibraryPlan plan{};
  plan.gemm.a = operand_of(request.a, false, LibraryScales::kNone);
  plan.gemm.b = operand_of(request.b, true, LibraryScales::kNone);
  plan.gemm.is_integer = true;
  return finished(request, plan, false);
}

// 4-bit operands as e4m3fn.

// Returns how an operand is converted to bytes with one f32 scale per 128 elements of k; kNumbers: not supported. Each int4
// element is an e4m3fn element. For mxfp4, the largest power of two among 128 elements is their scale. Elements whose power of
// two is at most 2^-14 of it are rounded.
OperandConversion byte_conversion(const MatrixView &view) {
  const Format &format = view.format;
  if (format.has_tensor_scale()) return OperandConversion::kNumbers;
  if (is_byte_float(format.element))
    return has_row_blocks(view) || has_square_blocks(view) ? OperandConversion::kNone : OperandConversion::kNumbers;
  if (format.element == LPT_FORMAT_INT4 && has_row_blocks(view)) return OperandConversion::kCodes;
  const bool is_mx = format.element == LPT_FORMAT_E2M1FN && has_blocks(format, LPT_FORMAT_E8M0FNU, 1, 32);
  return is_mx ? OperandConversion::kFolded : OperandConversion::kNumbers;
}

const char *unsupported_four_bits(const GemmRequest &request) {
  if (const char *why = unsupported_call(request)) return why;
  const OperandConversion a = byte_conversion(request.a), b = byte_conversion(request.b);
  if (a == OperandConversion::kNumbers || b == OperandConversion::kNumbers)
    return "takes mxfp4, int4 per 1 x 128, and FP8 per 128 only";
  if (a == OperandConversion::kNone && b == OperandConversion::kNone) return "takes mxfp4 or int4 on one side at least";
  if (!is_a_along_k(request) || !is_b_along_k(request)) return "takes a stored m x k and b stored n x k only";
  const bool is_placed = (a != OperandConversion::kNone || is_on_sixteen(request.a)) &&
                         (b != OperandConversion::kNone || is_on_sixteen(request.b));
  if (!is_placed) return "needs rows of FP8 on 16 bytes";
  const bool is_even = request.k % 16 == 0 && request.n % 16 == 0 && request.m % 4 == 0;
  return is_even ? nullptr : "needs k and n in multiples of 16, m in multiples of 4";
}

// Supports int4 only, because its conversion is exact.
const char *unsupported_small_integers(const GemmRequest &request) {
  const bool is_folded = byte_conversion(request.a) == OperandConversion::kFolded ||
                         byte_conversion(request.b) == OperandConversion::kFolded;
  return is_folded ? "would round mxfp4 whose scales lie far apart" : unsupported_four_bits(request);
}

LibraryOperand byte_operand(const MatrixView &view, bool is_transposed, OperandConversion conversion) {
  return conversion == OperandConversion::kNone
             ? operand_of(view, is_transposed, blocks_of(view))
             : lifted(view, is_transposed, LPT_FORMAT_E4M3FN, LibraryScales::kLanes128);
}

LibraryPlan plan_four_bits(const GemmRequest &request) {
  LibraryPlan plan{};
  plan.a_conversion = byte_conversion(request.a);
  plan.b_conversion = byte_conversion(request.b);
  plan.gemm.a = byte_operand(request.a, false, plan.a_conversion);
  plan.gemm.b = byte_operand(request.b, true, plan.b_conversion);
  return finished(request, plan, gives_c_of_bytes(request));
}

// f32, bf16 and f16 operands, and operands that are converted to them.

const char *unsupported_numbers(const GemmRequest &request) {
  if (const char *why = unsupported_call(request)) return why;
  const bool are_plain = request.a.format.is_plain() && request.b.format.is_plain();
  if (!are_plain || !is_float_dtype(request.a.format.element)) return "takes f32, bf16 and f16 only";
  return request.a.format.element == request.b.format.element ? nullptr : "takes a and b of one format only";
}

LibraryPlan plan_numbers(const GemmRequest &request) {
  LibraryPlan plan{};
  plan.gemm.a = operand_of(request.a, request.is_a_transposed, LibraryScales::kNone);
  plan.gemm.b = operand_of(request.b, request.is_b_transposed, LibraryScales::kNone);
  return finished(request, plan, gives_c_of_numbers(request.a.format.element, request));
}

// Returns how an operand is converted to 16 bits exactly; kNumbers: not possible. bf16 represents the powers of two of e8m0fnu,
// and the 6 significant bits of e2m1fn times e4m3fn. f16 does not represent all powers of two of e8m0fnu, nor those of e5m2.
OperandConversion exact_conversion(const MatrixView &view, bool is_along_k, lpt_format target) {
  const Format &format = view.format;
  if (format.element == target && format.is_plain()) return OperandConversion::kNone;
  const bool is_taken = is_library_float(format.element) || is_integer(format.element);
  if (!is_taken) return OperandConversion::kNumbers;
  if (has_epilogue_scales(view, is_along_k)) return OperandConversion::kCodes;
  const bool is_power = format.block_scale == LPT_FORMAT_E8M0FNU && target == LPT_FORMAT_BF16;
  const bool is_short = format.block_scale == LPT_FORMAT_E4M3FN && format.element == LPT_FORMAT_E2M1FN;
  return (is_power && !format.has_zero_point()) || is_short ? OperandConversion::kBlocks : OperandConversion::kNumbers;
}

lpt_format half_of(const GemmRequest &request) {
  const bool is_f16 = request.a.format.element == LPT_FORMAT_F16 || request.b.format.element == LPT_FORMAT_F16;
  return is_f16 ? LPT_FORMAT_F16 : LPT_FORMAT_BF16;
}

const char *unsupported_half(const GemmRequest &request) {
  if (const char *why = unsupported_call(request)) return why;
  if (!is_convertible(request.a.format.element) || !is_convertible(request.b.format.element)) {
    return "takes floats and integers of 4 to 16 bits only";
  }
  const lpt_format half = half_of(request);
  const bool is_exact = exact_conversion(request.a, is_a_along_k(request), half) != OperandConversion::kNumbers &&
                        exact_conversion(request.b, is_b_along_k(request), half) != OperandConversion::kNumbers;
  return is_exact ? nullptr : "takes what 16 bits hold exactly only";
}

LibraryOperand lifted_operand(const MatrixView &view, bool is_transposed, lpt_format element,
                              OperandConversion conversion) {
  return conversion == OperandConversion::kNone ? operand_of(view, is_transposed, LibraryScales::kNone)
                                                : lifted(view, is_transposed, element, LibraryScales::kNone);
}

LibraryPlan plan_converted(const GemmRequest &request, lpt_format element, OperandConversion a, OperandConversion b) {
  LibraryPlan plan{};
  plan.a_conversion = a;
  plan.b_conversion = b;
  plan.gemm.a = lifted_operand(request.a, request.is_a_transposed, element, a);
  plan.gemm.b = lifted_operand(request.b, request.is_b_transposed, element, b);
  return finished(request, plan, gives_c_of_numbers(element, request));
}

LibraryPlan plan_half(const GemmRequest &request) {
  const lpt_format half = half_of(request);
  return plan_converted(request, half, exact_conversion(request.a, is_a_along_k(request), half),
                        exact_conversion(request.b, is_b_along_k(request), half));
}

// Supports all other requests: slower, but correct.
const char *unsupported_float(const GemmRequest &request) {
  if (const char *why = unsupported_call(request)) return why;
  const auto is_taken = [](const Format &format) {
    return is_convertible(format.element) && (format.element != LPT_FORMAT_F32 || format.is_plain());
  };
  const bool are_taken = is_taken(request.a.format) && is_taken(request.b.format);
  return are_taken ? nullptr : "takes floats and integers of 4 to 16 bits, and plain f32 only";
}

LibraryPlan plan_float(const GemmRequest &request) {
  const auto conversion_of = [](const MatrixView &view) {
    return view.format.element == LPT_FORMAT_F32 ? OperandConversion::kNone : OperandConversion::kNumbers;
  };
  return plan_converted(request, LPT_FORMAT_F32, conversion_of(request.a), conversion_of(request.b));
}

constexpr int64_t kScaleModes = 120900;  // cuBLAS 12.9 added scales of rows and blocks, 12.8 scales of bytes

// Fast accumulation has an effect on Ada and Hopper only. Block scales require full accumulation.
constexpr LibraryKernelEntry kKernels[] = {
    {"cublaslt_nvfp4", 100, kAnyCapability, 120800, unsupported_nv, plan_nv},
    {"cublaslt_mxfp8", 100, kAnyCapability, 120800, unsupported_mx, plan_mx},
    {"cublaslt_fp8_fast", 89, 90, 120000, unsupported_tensor, plan_tensor, false, true},
    {"cublaslt_fp8", 89, kAnyCapability, 120000, unsupported_tensor, plan_tensor},
    {"cublaslt_fp8_rows_fast", 90, 90, kScaleModes, unsupported_rows, plan_rows, false, true},
    {"cublaslt_fp8_rows", 90, 90, kScaleModes, unsupported_rows, plan_rows},
    {"cublaslt_fp8_blocks", 90, 90, kScaleModes, unsupported_blocks, plan_blocks},
    {"cublaslt_fp8_finish_fast", 89, 90, 120000, unsupported_factors, plan_factors, false, true},
    {"cublaslt_fp8_finish", 89, kAnyCapability, 120000, unsupported_factors, plan_factors},
    {"cublaslt_fp8_folded", 90, 90, kScaleModes, unsupported_small_integers, plan_four_bits},
    {"cublaslt_fp8_rounded", 90, 90, kScaleModes, unsupported_four_bits, plan_four_bits, true},
    {"cublaslt_int8", 80, kAnyCapability, 120000, unsupported_integers, plan_integers},
    {"cublaslt_numbers", 80, kAnyCapability, 120000, unsupported_numbers, plan_numbers},
    {"cublaslt_half", 80, kAnyCapability, 120000, unsupported_half, plan_half},
    {"cublaslt_f32", 80, kAnyCapability, 120000, unsupported_float, plan_float},
};

}  // namespace
}  // namespace lpt::library

namespace lpt {

std::span<const LibraryKernelEntry> gemm_library_kernels() { return library::kKernels; }

EpilogueScales epilogue_scales(const MatrixView &view, LibraryScales known, OperandConversion conversion) {
  const bool are_tiles = known == LibraryScales::kTiles32 || known == LibraryScales::kTiles16;
  const bool is_unknown = known == LibraryScales::kNone;
  const bool has_rows = is_unknown && view.format.has_block_scale() &&
                        (conversion == OperandConversion::kNone || conversion == OperandConversion::kCodes);
  const bool has_tensor =
      (is_unknown || are_tiles) && view.format.has_tensor_scale() && conversion != OperandConversion::kNumbers;
  return {has_rows, has_tensor};
}

const char *library_rejection(const LibraryKernelEntry &kernel, const LibraryTarget &machine,
                              const GemmRequest &request) {
  if (machine.capability < kernel.min_capability) return "the device has an older compute capability";
  if (machine.capability > kernel.max_capability) return "the device has a newer compute capability";
  if (machine.version < kernel.min_version) return "the library is older than that";
  if (kernel.rounds_operands && !machine.may_round) return "it may round numbers: only where LPT_GEMM_ROUND is set";
  if (kernel.accumulates_fast && !request.may_accumulate_fast)
    return "its sums have fewer bits: only with LPT_GEMM_FAST_ACCUMULATE";
  return kernel.unsupported_reason(request);
}

}  // namespace lpt
