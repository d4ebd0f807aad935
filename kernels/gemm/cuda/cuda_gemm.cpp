// GEMM kernels of the device, fastest first, and the reasons why they do not support a request. A library runs requests that
// none supports.
#include "kernels/gemm/cuda/cuda_gemm.hpp"

#include "kernels/gemm/cuda/cuda_few_rows.hpp"
#include "kernels/gemm/cuda/cuda_tiles.hpp"

namespace lpt {
namespace {

// Returns whether all rows begin at a multiple of 16 bytes.
bool is_on_sixteen(const MatrixView &view, int64_t row_bytes) {
  return reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && row_bytes % 16 == 0;
}

const char *unsupported_arithmetic(const GemmRequest &request) {
  if (request.arithmetic != LPT_GEMM_ARITHMETIC_NATIVE) return "the arithmetic of another machine is requested";
  if (request.is_f64) return "f64 is not computed";
  if (request.is_portable) return "MMA operations do not add up in the portable order";
  const lpt_format c = request.c.format.element;
  if (c != LPT_FORMAT_F32 && c != LPT_FORMAT_BF16 && c != LPT_FORMAT_F16) return "gives f32, bf16 and f16 only";
  return request.c.column_stride == 1 ? nullptr : "columns of c are not adjacent";
}

bool has_scales_of_rows(const Format &format, int64_t k) {
  const bool is_whole = format.block_columns == LPT_BLOCK_EXTENT_FULL || format.block_columns >= k;
  return format.block_scale == LPT_FORMAT_F32 && format.block_rows == 1 && is_whole;
}

bool has_scales_of_groups(const Format &format, int64_t length) {
  return format.block_scale == LPT_FORMAT_F32 && format.block_rows == 1 && format.block_columns == length;
}

const char *unsupported_layout_of_a(const GemmRequest &request) {
  const MatrixView &a = request.a;
  const bool is_byte = a.format.element == LPT_FORMAT_E4M3FN;
  if (a.layout != Layout::kRows || request.is_a_transposed || a.column_stride != 1) return "k of a is not adjacent";
  return is_on_sixteen(a, a.row_stride * (is_byte ? 1 : 2)) ? nullptr : "rows of a do not begin on 16 bytes";
}

// Scales of a multiply the sums in the epilogue.
const char *unsupported_a(const GemmRequest &request) {
  const Format &format = request.a.format;
  if (format.element != LPT_FORMAT_E4M3FN && format.element != LPT_FORMAT_BF16 && format.element != LPT_FORMAT_F16) {
    return "takes a of bf16, f16 and e4m3fn only";
  }
  if (format.has_block_scale() && !has_scales_of_rows(format, request.k)) {
    return "takes a with one f32 scale a row, or one in all, only";
  }
  return unsupported_layout_of_a(request);
}

const char *unsupported_layout(const GemmRequest &request) {
  if (request.k == 0 || request.k % kFewStep != 0) return "takes k in multiples of 128 only";
  if (request.first_row != 0 || request.first_column != 0) return "takes whole GEMMs only";
  const MatrixView &b = request.b;
  if (b.layout != Layout::kRows || !request.is_b_transposed || b.column_stride != 1) return "k of b is not adjacent";
  return is_on_sixteen(b, b.row_stride / 2) && b.row_stride % 2 == 0 ? nullptr : "rows of b do not begin on 16 bytes";
}

const char *unsupported_operands(const GemmRequest &request) {
  if (const char *why = unsupported_arithmetic(request)) return why;
  if (const char *why = unsupported_a(request)) return why;
  return unsupported_layout(request);
}

const char *unsupported_int4(const GemmRequest &request) {
  const Format &format = request.b.format;
  const bool has_groups = has_scales_of_groups(format, 32) || has_scales_of_groups(format, 128);
  if (format.element != LPT_FORMAT_INT4 || !has_groups)
    return "takes b of int4 with f32 scales of 1 x 32 and 1 x 128 only";
  return unsupported_operands(request);
}

const char *unsupported_fp4(const GemmRequest &request) {
  const Format &format = request.b.format;
  const bool is_nv = format.block_scale == LPT_FORMAT_E4M3FN && format.block_columns == 16;
  const bool is_mx = format.block_scale == LPT_FORMAT_E8M0FNU && format.block_columns == 32;
  if (format.element != LPT_FORMAT_E2M1FN || format.block_rows != 1 || !(is_nv || is_mx)) {
    return "takes b of e2m1fn with e4m3fn scales of 1 x 16, or e8m0fnu of 1 x 32, only";
  }
  if (request.a.format.element != LPT_FORMAT_BF16) return "takes a of bf16 only";
  return unsupported_operands(request);
}

const char *unsupported_few(const GemmRequest &request) {
  return request.m < 1 || request.m > kMostFewRows ? "takes 1 to 16 rows of a only" : nullptr;
}

const char *unsupported_few_int4(const GemmRequest &request) {
  const char *const why = unsupported_few(request);
  return why != nullptr ? why : unsupported_int4(request);
}

const char *unsupported_few_fp4(const GemmRequest &request) {
  const char *const why = unsupported_few(request);
  return why != nullptr ? why : unsupported_fp4(request);
}

const char *unsupported_grid(const GemmRequest &request) {
  constexpr int64_t kMostTileColumns = 65535 * kTileRows;  // of c
  return request.n > kMostTileColumns ? "takes 8388480 columns of c at most" : nullptr;
}

// Scales of groups of a multiply the sums of groups.
const char *unsupported_wide_operands(const GemmRequest &request) {
  const Format &a = request.a.format, &b = request.b.format;
  if (a.element != LPT_FORMAT_E4M3FN) return "takes a of e4m3fn only";
  if (a.has_block_scale() && !has_scales_of_rows(a, request.k) && !has_scales_of_groups(a, 128)) {
    return "takes a with one f32 scale a row, in all, or per 1 x 128, only";
  }
  if (b.element != LPT_FORMAT_INT4 || !has_scales_of_groups(b, 128)) {
    return "takes b of int4 with f32 scales of 1 x 128 only";
  }
  return nullptr;
}

// The kernel is off by default: LPT_GEMM_WGMMA enables it.
const char *unsupported_warpgroups_int4(const GemmRequest &request) {
  if (!request.options.has_warpgroups) return "is taken with LPT_GEMM_WGMMA set only";
  if (const char *why = unsupported_arithmetic(request)) return why;
  if (const char *why = unsupported_grid(request)) return why;
  if (const char *why = unsupported_wide_operands(request)) return why;
  if (const char *why = unsupported_layout_of_a(request)) return why;
  return unsupported_layout(request);
}

const char *unsupported_tiles(const GemmRequest &request) {
  if (request.m <= kMostFewRows) return "takes 17 rows of a and more only";
  return unsupported_grid(request);
}

// For any m: a library would multiply int4 with f32 scales as f32, without tensor cores.
const char *unsupported_tiles_int4(const GemmRequest &request) {
  const char *const why = unsupported_tiles(request);
  return why != nullptr ? why : unsupported_int4(request);
}

// Converting the weights for a library moves 4.5 bytes per element instead of 0.5. Tensor cores then run at their full rate,
// which mma.sync does not reach on compute capability 9.0. Up to this number of rows, the memory traffic limits the time.
// LPT_GEMM_TILES removes the bound.
constexpr int64_t kMostTileRowsByDefault = 128;

const char *unsupported_tiles_fp4(const GemmRequest &request) {
  if (const char *why = unsupported_tiles(request)) return why;
  if (request.m > kMostTileRowsByDefault && !request.options.has_fp4_tiles) {
    return "takes more than 128 rows of a only with LPT_GEMM_TILES set";
  }
  return unsupported_fp4(request);
}

constexpr KernelEntry<GemmRequest> kGemms[] = {
    {"gemm_few_rows_int4_cuda", 80, unsupported_few_int4, gemm_few_rows_int4_cuda},
    {"gemm_few_rows_fp4_cuda", 80, unsupported_few_fp4, gemm_few_rows_fp4_cuda},
    {"gemm_warpgroups_int4_cuda", 90, unsupported_warpgroups_int4, gemm_warpgroups_int4_cuda, gemm_tiles_scratch_bytes,
     90},
    {"gemm_tiles_int4_cuda", 80, unsupported_tiles_int4, gemm_tiles_int4_cuda, gemm_tiles_scratch_bytes},
    {"gemm_tiles_fp4_cuda", 80, unsupported_tiles_fp4, gemm_tiles_fp4_cuda, gemm_tiles_scratch_bytes},
};

}  // namespace

std::span<const KernelEntry<GemmRequest>> gemm_device_kernels() { return kGemms; }

}  // namespace lpt
