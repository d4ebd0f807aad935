// Every cast that can run, fastest first, the reference last.
#include "kernels/quantize/rows.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512)

constexpr const char *kNotAdjacentF32 = "source is not f32 with adjacent columns";

bool is_adjacent_f32(const MatrixView &view) {
  return view.format.element == LPT_FORMAT_F32 && view.column_stride == 1;
}

bool is_fp8(lpt_format plain) {
  return plain == LPT_FORMAT_E4M3FN || plain == LPT_FORMAT_E4M3 || plain == LPT_FORMAT_E5M2;
}

const char *refuses_amax_f32(const AmaxRequest &request) {
  return is_adjacent_f32(with_adjacent_columns(request.source)) ? nullptr : kNotAdjacentF32;
}

const char *refuses_to_dequantize_floats(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const lpt_format plain = source.format.element;
  if (request.target.format.element != LPT_FORMAT_F32) return "output is not f32";
  if (!is_fp8(plain) && plain != LPT_FORMAT_F16 && plain != LPT_FORMAT_BF16)
    return "source is no float of 8 or 16 bits";
  if (source.format.has_block_scale()) return "source has block scales";
  // Such a scale makes NaN out of numbers, and machines differ in their sign. A check alone may come without data.
  const bool is_tame = !source.format.has_tensor_scale() || source.tensor_scale == nullptr ||
                       (*source.tensor_scale >= kSmallestNormal && *source.tensor_scale <= kLargestFloat);
  return is_tame ? nullptr : "tensor scale is no positive normal number";
}

#endif
#if defined(LPT_HAVE_X86_AVX2)

const char *refuses_fp8_avx2(const QuantizeRequest &request) {
  const lpt_format plain = request.target.format.element;
  if (!is_adjacent_f32(request.source)) return kNotAdjacentF32;
  if (plain != LPT_FORMAT_E4M3FN && plain != LPT_FORMAT_E5M2) return "element is not e4m3fn or e5m2";
  if (request.target.format.has_block_scale()) return "target has block scales";
  if (request.rounding != LPT_ROUNDING_NEAREST_EVEN) return "rounding is not to nearest";
  return request.overflow == LPT_OVERFLOW_SATURATE ? nullptr : "overflow does not saturate";
}

#endif
#if defined(LPT_HAVE_X86_AVX512)

// What the casts to small elements have in common, wherever the source lies.
const char *refuses_rounding(const QuantizeRequest &request) {
  if (request.overflow != LPT_OVERFLOW_SATURATE) return "overflow does not saturate";
  if (request.rounding == LPT_ROUNDING_NEAREST_EVEN) return nullptr;
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return "rounding is toward zero";
  const bool has_rounds = request.random.rounds == 7 || request.random.rounds == 10;
  return request.random.bits == 16 && has_rounds ? nullptr : "random bits are not 16 by 7 or 10 rounds";
}

const char *refuses_adjacent(const QuantizeRequest &request) {
  if (!is_adjacent_f32(request.source)) return kNotAdjacentF32;
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  if (is_random && request.random_column_stride != 1) return "random bits do not run along columns";
  return refuses_rounding(request);
}

const char *refuses_byte_element(const QuantizeRequest &request) {
  const lpt_format plain = request.target.format.element;
  if (!is_fp8(plain) && plain != LPT_FORMAT_INT8) return "element is not e4m3fn, e4m3, e5m2 or int8";
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  return plain == LPT_FORMAT_INT8 && is_random ? "int8 is rounded stochastically" : nullptr;
}

const char *refuses_bytes(const QuantizeRequest &request) {
  const char *reason = refuses_byte_element(request);
  return reason != nullptr ? reason : refuses_adjacent(request);
}

const char *refuses_whole_bytes(const QuantizeRequest &request) {
  if (request.target.format.has_block_scale()) return "target has block scales";
  return refuses_bytes(request);
}

const char *refuses_block_bytes(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  if (!format.has_block_scale()) return "target has no block scales";
  if (format.block_columns != LPT_WHOLE && format.block_columns < 16) return "blocks have fewer than 16 columns";
  return refuses_bytes(request);
}

// Elements and blocks of the rows with narrow blocks.
const char *refuses_narrow_format(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  const lpt_format plain = format.element;
  const bool has_blocks = format.block_rows == 1 && (format.block_columns == 16 || format.block_columns == 32);
  if (!has_blocks) return "blocks are not 1x16 or 1x32";
  if (format.block_scale == LPT_FORMAT_F32) return "block scales are f32";
  const bool has_element = plain == LPT_FORMAT_E2M1FN || plain == LPT_FORMAT_E4M3FN || plain == LPT_FORMAT_E5M2;
  return has_element ? nullptr : "element is not e2m1fn, e4m3fn or e5m2";
}

const char *refuses_narrow_blocks(const QuantizeRequest &request) {
  const char *reason = refuses_narrow_format(request);
  if (reason != nullptr) return reason;
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  if (is_random && (request.random.offset % 8 != 0 || request.random.row_stride % 8 != 0)) {
    return "rows do not begin at every eighth random index";
  }
  return refuses_adjacent(request);
}

const char *refuses_transposed(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  if (source.format.element != LPT_FORMAT_F32 || source.row_stride != 1) return "source is not f32 with adjacent rows";
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  if (is_random && request.random.row_stride != 1) return "random bits do not run along rows";
  const bool has_blocks = request.target.format.has_block_scale();
  const char *reason = has_blocks ? refuses_narrow_format(request) : refuses_byte_element(request);
  return reason != nullptr ? reason : refuses_rounding(request);
}

const char *refuses_halves(const QuantizeRequest &request) {
  const lpt_format plain = request.target.format.element;
  if (!is_adjacent_f32(request.source)) return kNotAdjacentF32;
  if (plain != LPT_FORMAT_F16 && plain != LPT_FORMAT_BF16) return "element is not f16 or bf16";
  if (request.target.format.has_block_scale()) return "target has block scales";
  return request.rounding == LPT_ROUNDING_NEAREST_EVEN ? nullptr : "rounding is not to nearest";
}

#endif

constexpr Row<AmaxRequest> kAmaxRows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"amax_f32_x86_avx512", kCpuAvx512, refuses_amax_f32, amax_f32_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"amax_f32_x86_avx2", kCpuAvx2, refuses_amax_f32, amax_f32_x86_avx2},
#endif
    {"amax_any_ref", 0, nullptr, amax_any_ref},
};

constexpr Row<QuantizeRequest> kQuantizeRows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"quantize_f32_bytes_x86_avx512", kCpuAvx512, refuses_whole_bytes, quantize_f32_bytes_x86_avx512},
    {"quantize_f32_narrow_blocks_x86_avx512", kCpuAvx512, refuses_narrow_blocks, quantize_f32_narrow_blocks_x86_avx512},
    {"quantize_f32_transposed_x86_avx512", kCpuAvx512, refuses_transposed, quantize_f32_transposed_x86_avx512},
    {"quantize_f32_bytes_blocks_x86_avx512", kCpuAvx512, refuses_block_bytes, quantize_f32_bytes_blocks_x86_avx512},
    {"quantize_f32_halves_x86_avx512", kCpuAvx512, refuses_halves, quantize_f32_halves_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"quantize_f32_fp8_x86_avx2", kCpuAvx2, refuses_fp8_avx2, quantize_f32_fp8_x86_avx2},
#endif
    {"quantize_any_ref", 0, nullptr, quantize_any_ref},
};

constexpr Row<DequantizeRequest> kDequantizeRows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"dequantize_floats_f32_x86_avx512", kCpuAvx512, refuses_to_dequantize_floats, dequantize_floats_f32_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"dequantize_floats_f32_x86_avx2", kCpuAvx2, refuses_to_dequantize_floats, dequantize_floats_f32_x86_avx2},
#endif
    {"dequantize_any_ref", 0, nullptr, dequantize_any_ref},
};

}  // namespace

std::span<const Row<AmaxRequest>> amax_kernels() { return kAmaxRows; }
std::span<const Row<QuantizeRequest>> quantize_kernels() { return kQuantizeRows; }
std::span<const Row<DequantizeRequest>> dequantize_kernels() { return kDequantizeRows; }

}  // namespace lpt
