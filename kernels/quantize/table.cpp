// Kernel tables of the casts in order of preference; the reference kernel is last.
#include "kernels/quantize/kernels.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512)

constexpr const char *kNoSource = "source is not f32, bf16 or f16";

// Accepts rounding to nearest even and rounding modes that add bits below the last place and truncate.
const char *unsupported_added_bits(const QuantizeRequest &request) {
  if (request.rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW) return "only underflow is rounded stochastically";
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return nullptr;
  const RandomSource &random = request.random;
  if (random.words != nullptr) return "random bits are the caller's";
  if (request.random_column_stride != 1) return "random bits do not run along columns";
  const bool is_known = (random.rounds == 7 || random.rounds == 10) && (random.bits == 16 || random.bits == 8);
  return is_known ? nullptr : "random bits are not 16 or 8 by 7 or 10 rounds";
}

const char *unsupported_halves(const QuantizeRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  if (request.source.column_stride != 1) return "source columns are not adjacent";
  const lpt_format plain = request.target.format.element;
  if (plain != LPT_FORMAT_F16 && plain != LPT_FORMAT_BF16) return "element is not f16 or bf16";
  if (request.target.format.has_block_scale()) return "target has block scales";
  return unsupported_added_bits(request);
}

const char *unsupported_floats(const QuantizeRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  if (request.source.column_stride != 1) return "source columns are not adjacent";
  if (request.target.format.element != LPT_FORMAT_F32) return "element is not f32";
  return request.target.format.has_block_scale() ? "target has block scales" : nullptr;
}

const char *unsupported_zero_points(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  if (!format.has_zero_point()) return "target has no zero points";
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  if (request.source.column_stride != 1) return "source columns are not adjacent";
  if (format.block_rows != 1) return "blocks are no part of a row";
  if (format.block_columns != LPT_BLOCK_EXTENT_FULL && format.block_columns < 16)
    return "blocks have fewer than 16 columns";
  return unsupported_added_bits(request);
}

// Accepts codes that vectors can decode, and targets f32, bf16 and f16.
const char *unsupported_to_dequantize(const DequantizeRequest &request) {
  const lpt_format target = request.target.format.element;
  const lpt_format plain = request.source.format.element;
  if (target != LPT_FORMAT_F32 && target != LPT_FORMAT_BF16 && target != LPT_FORMAT_F16) {
    return "output is not f32, bf16 or f16";
  }
  if (plain == LPT_FORMAT_F64) return "source is f64";
  return plain == LPT_FORMAT_TERNARY ? "source is ternary" : nullptr;
}

#endif
#if defined(LPT_HAVE_X86_AVX2)

const char *unsupported_amax_avx2(const AmaxRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  return with_adjacent_columns(request.source).column_stride == 1 ? nullptr
                                                                  : "source has neither adjacent rows nor columns";
}

// Accepts elements of at most 8 bits whose values are far from the limits of f32.
const char *unsupported_element_avx2(lpt_format plain) {
  if (!has_element(plain)) return "element is not encoded";
  const Element element = element_of(plain);
  if (element.bits > 8) return "element has more than 8 bits";
  if (element.levels != nullptr) return nullptr;
  if (element.is_ternary) return "element is ternary";
  if (element.has_no_zero) return "element is a scale";
  if (element.is_integer) return element.is_signed ? nullptr : "element is an integer without a sign";
  if (element.mantissa_bits > 6) return "element has more than 6 bits of mantissa";
  const bool is_extreme = element.min_exponent < -100 || largest_of(plain) > 0x1p100f;
  return is_extreme ? "element goes below 2^-100 or beyond 2^100" : nullptr;
}

const char *unsupported_rounding_avx2(const QuantizeRequest &request) {
  const Element element = element_of(request.target.format.element);
  if (element.levels != nullptr) return nullptr;  // lists always round to the nearest level
  if (request.rounding == LPT_ROUNDING_NEAREST_EVEN || request.rounding == LPT_ROUNDING_TOWARD_ZERO) return nullptr;
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return "rounding is not to nearest even, toward zero or stochastic";
  if (request.random.words != nullptr) return "random bits are the caller's";
  if (request.random.rounds != 7 && request.random.rounds != 10) return "random bits are not of 7 or 10 rounds";
  const bool is_byte = element.bits == 8 && !element.is_signed;
  if (is_byte && request.random.bits == 8) return "codes of 8 bits without a sign take 16 random bits";
  if (request.source.column_stride == 1) {
    return request.random_column_stride == 1 ? nullptr : "random bits do not run along columns";
  }
  const bool is_whole = request.random.bits == 16 && request.random_column_stride % 8 == 0;
  if (!is_whole) return "random bits of a column do not begin at every eighth index of 16 bits";
  return request.random.row_stride == 1 ? nullptr : "random bits do not run along rows";
}

const char *unsupported_blocks_avx2(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  if (format.has_zero_point()) return "target has zero points";
  if (!format.has_block_scale()) return nullptr;
  const bool has_candidates = request.rule == LPT_SCALE_RULE_MSE || request.rule == LPT_SCALE_RULE_FOUR_OVER_SIX;
  const bool is_known = is_rule_of_amax(request.rule) || request.rule == LPT_SCALE_RULE_FIXED || has_candidates;
  if (!is_known) return "scales follow from sums of a block";
  // For an unsigned element, a negative value may become a NaN, and then no error is the smallest.
  const bool is_signed = element_of(format.element).is_signed || element_of(format.element).levels != nullptr;
  if (has_candidates && !is_signed) return "scales are searched for an element without a sign";
  if (format.block_columns != LPT_BLOCK_EXTENT_FULL && format.block_columns < 16)
    return "blocks have fewer than 16 columns";
  if (request.source.column_stride == 1) return nullptr;
  const bool is_narrow =
      format.block_rows == 1 && format.block_columns != LPT_BLOCK_EXTENT_FULL && format.block_columns <= 1024;
  return is_narrow ? nullptr : "source's columns are not adjacent, and blocks are no part of a row";
}

const char *unsupported_errors_avx2(const CastErrorsRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  if (request.source.column_stride != 1) return "source columns are not adjacent";
  const bool is_half = request.element == LPT_FORMAT_F16 || request.element == LPT_FORMAT_BF16;
  return is_half ? nullptr : unsupported_element_avx2(request.element);
}

const char *unsupported_avx2(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  if (!is_float_dtype(source.format.element)) return kNoSource;
  if (source.column_stride != 1 && source.row_stride != 1) return "source has neither adjacent rows nor columns";
  if (const char *reason = unsupported_element_avx2(request.target.format.element)) return reason;
  if (const char *reason = unsupported_blocks_avx2(request)) return reason;
  return unsupported_rounding_avx2(request);
}

#endif
#if defined(LPT_HAVE_X86_AVX512)

const char *unsupported_amax(const AmaxRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  return with_adjacent_columns(request.source).column_stride == 1 ? nullptr : "source has no adjacent numbers";
}

// Accepts floats whose codes and random bits fit one f32 significand, integers, and codes that fill bytes.
const char *unsupported_element(const QuantizeRequest &request) {
  const lpt_format plain = request.target.format.element;
  if (!has_element(plain)) return "element has more than 8 bits";
  const Element element = element_of(plain);
  const bool is_listed = element.levels != nullptr || element.is_ternary;
  if (is_listed || !element.is_signed || element.has_no_zero) return "element is no signed float or integer";
  if (element.bits != 8 && element.bits != 6 && element.bits != 4 && element.bits != 2) {
    return "element has not 8, 6, 4 or 2 bits";
  }
  if (element.is_integer) return nullptr;
  const int32_t most = float_parts(largest_of(plain)).exponent;
  if (most - element.min_exponent > 31) return "element has more than 32 exponents";
  if (most - element.mantissa_bits > 127 - 23) return "element reaches too far";
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC && request.random.bits == 16;
  return is_random && element.mantissa_bits > 5 ? "mantissa is too long for 16 random bits" : nullptr;
}

const char *unsupported_rounding(const QuantizeRequest &request) {
  if (request.overflow != LPT_OVERFLOW_SATURATE) return "overflow does not saturate";
  if (request.rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW) return "only underflow is rounded stochastically";
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return nullptr;
  const RandomSource &random = request.random;
  if (random.words != nullptr) return "random bits are the caller's";
  const bool is_known = (random.rounds == 7 || random.rounds == 10) && (random.bits == 16 || random.bits == 8);
  return is_known ? nullptr : "random bits are not 16 or 8 by 7 or 10 rounds";
}

// Conditions of all casts to small elements, for any layout of the source.
const char *unsupported_small(const QuantizeRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  if (request.target.format.has_zero_point()) return "target has zero points";
  const char *reason = unsupported_element(request);
  return reason != nullptr ? reason : unsupported_rounding(request);
}

const char *unsupported_adjacent(const QuantizeRequest &request) {
  if (request.source.column_stride != 1) return "source columns are not adjacent";
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  if (is_random && request.random_column_stride != 1) return "random bits do not run along columns";
  return unsupported_small(request);
}

const char *unsupported_block_scales(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  if (format.block_columns != LPT_BLOCK_EXTENT_FULL && format.block_columns < 16)
    return "blocks have fewer than 16 columns";
  if (request.rule == LPT_SCALE_RULE_FOUR_OVER_SIX) {
    const bool fits = format.element == LPT_FORMAT_E2M1FN && format.block_scale == LPT_FORMAT_E4M3FN;
    return fits ? nullptr : "four over six is of e2m1fn and e4m3fn scales";
  }
  if (is_quest_rule(request.rule)) {
    return format.block_scale == LPT_FORMAT_E8M0FNU ? nullptr : "deviations are of blocks with e8m0fnu scales";
  }
  const bool is_known = is_rule_of_amax(request.rule) || request.rule == LPT_SCALE_RULE_FIXED;
  return is_known ? nullptr : "scales do not follow from amax";
}

const char *unsupported_sums_of_rows(const MagnitudeSumRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return kNoSource;
  return request.source.column_stride == 1 ? nullptr : "source columns are not adjacent";
}

const char *unsupported_whole(const QuantizeRequest &request) {
  return request.target.format.has_block_scale() ? "target has block scales" : unsupported_adjacent(request);
}

const char *unsupported_blocks(const QuantizeRequest &request) {
  if (!request.target.format.has_block_scale()) return "target has no block scales";
  const char *reason = unsupported_block_scales(request);
  return reason != nullptr ? reason : unsupported_adjacent(request);
}

const char *unsupported_transposed(const QuantizeRequest &request) {
  if (request.source.row_stride != 1) return "source rows are not adjacent";
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  if (is_random && request.random.row_stride != 1) return "random bits do not run along rows";
  const Format &format = request.target.format;
  if (format.has_block_scale()) {
    if (format.block_rows == LPT_BLOCK_EXTENT_FULL || format.block_rows > 128) return "blocks have more than 128 rows";
    if (request.rule == LPT_SCALE_RULE_FOUR_OVER_SIX && format.block_rows > 16) return "blocks have more than 16 rows";
    if (is_quest_rule(request.rule)) return "deviations are of blocks along rows";
    const char *reason = unsupported_block_scales(request);
    if (reason != nullptr) return reason;
  }
  return unsupported_small(request);
}

#endif
#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512)

const char *unsupported_transpose(const TransposeRequest &request) {
  const lpt_format plain = request.source.format.element;
  const bool is_small = has_element(plain) && (element_of(plain).bits == 8 || element_of(plain).bits == 4);
  return is_small ? nullptr : "codes have neither 8 nor 4 bits";
}

// Statistics decode to f32 by the decoder of the same instruction set, and have its conditions.
template <const char *(*kRejectsToDecode)(const DequantizeRequest &)>
const char *unsupported_sums(const CastStatisticsRequest &request) {
  const MatrixView &source = request.source;
  const lpt_format plain = source.format.element;
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16 && plain != LPT_FORMAT_F16) {
    return "source is not f32, bf16 or f16";
  }
  if (source.column_stride != 1) return "columns of source are not adjacent";
  DequantizeRequest decode = {request.quantized, request.source};
  decode.target.format.element = LPT_FORMAT_F32;
  return kRejectsToDecode(decode);
}

#endif

#if defined(LPT_HAVE_ARM_NEON)

bool is_f32_or_bf16(const MatrixView &view) {
  return view.format.element == LPT_FORMAT_F32 || view.format.element == LPT_FORMAT_BF16;
}

const char *unsupported_amax_neon(const AmaxRequest &request) {
  if (!is_f32_or_bf16(request.source)) return "source is not f32 or bf16";
  return with_adjacent_columns(request.source).column_stride == 1 ? nullptr
                                                                  : "source has neither adjacent rows nor columns";
}

// Accepts codes with one scale or none.
const char *unsupported_codes_neon(const MatrixView &view) {
  const lpt_format plain = view.format.element;
  if (plain != LPT_FORMAT_E4M3FN && plain != LPT_FORMAT_BF16) return "element is not e4m3fn or bf16";
  return view.format.has_block_scale() ? "there are block scales" : nullptr;
}

const char *unsupported_neon(const QuantizeRequest &request) {
  if (!is_f32_or_bf16(request.source)) return "source is not f32 or bf16";
  if (request.source.column_stride != 1) return "source columns are not adjacent";
  if (request.rounding != LPT_ROUNDING_NEAREST_EVEN) return "rounding is not to nearest even";
  return unsupported_codes_neon(request.target);
}

const char *unsupported_to_dequantize_neon(const DequantizeRequest &request) {
  if (!is_f32_or_bf16(request.target)) return "output is not f32 or bf16";
  return unsupported_codes_neon(request.source);
}

#endif

constexpr KernelEntry<AmaxRequest> kAmaxKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"amax_x86_avx512", kCpuAvx512, unsupported_amax, amax_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"amax_x86_avx2", kCpuAvx2, unsupported_amax_avx2, amax_x86_avx2},
#endif
#if defined(LPT_HAVE_ARM_NEON)
    {"amax_arm_neon", kCpuNeon, unsupported_amax_neon, amax_arm_neon},
#endif
    {"amax_any_ref", 0, nullptr, amax_any_ref},
};

constexpr KernelEntry<QuantizeRequest> kQuantizeKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"quantize_x86_avx512", kCpuAvx512, unsupported_whole, quantize_x86_avx512},
    {"quantize_blocks_x86_avx512", kCpuAvx512, unsupported_blocks, quantize_blocks_x86_avx512},
    {"quantize_transposed_x86_avx512", kCpuAvx512, unsupported_transposed, quantize_transposed_x86_avx512},
    {"quantize_halves_x86_avx512", kCpuAvx512, unsupported_halves, quantize_halves_x86_avx512},
    {"quantize_zero_points_x86_avx512", kCpuAvx512, unsupported_zero_points, quantize_zero_points_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"quantize_x86_avx2", kCpuAvx2, unsupported_avx2, quantize_x86_avx2},
    {"quantize_halves_x86_avx2", kCpuAvx2, unsupported_halves, quantize_halves_x86_avx2},
    {"quantize_zero_points_x86_avx2", kCpuAvx2, unsupported_zero_points, quantize_zero_points_x86_avx2},
#endif
#if defined(LPT_HAVE_ARM_NEON)
    {"quantize_arm_neon", kCpuNeon, unsupported_neon, quantize_arm_neon},
#endif
    LPT_X86_ENTRIES(quantize_floats, unsupported_floats) LPT_REF_ENTRY(quantize_any, nullptr),
};

constexpr KernelEntry<DequantizeRequest> kDequantizeKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"dequantize_x86_avx512", kCpuAvx512, unsupported_to_dequantize, dequantize_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"dequantize_x86_avx2", kCpuAvx2, unsupported_to_dequantize, dequantize_x86_avx2},
#endif
#if defined(LPT_HAVE_ARM_NEON)
    {"dequantize_arm_neon", kCpuNeon, unsupported_to_dequantize_neon, dequantize_arm_neon},
#endif
    {"dequantize_any_ref", 0, nullptr, dequantize_any_ref},
};

constexpr KernelEntry<TransposeRequest> kTransposeKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"transpose_x86_avx512", kCpuAvx512, unsupported_transpose, transpose_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"transpose_x86_avx2", kCpuAvx2, unsupported_transpose, transpose_x86_avx2},
#endif
    {"transpose_any_ref", 0, nullptr, transpose_any_ref},
};

constexpr KernelEntry<MagnitudeSumRequest> kMagnitudeSumKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"magnitude_sum_x86_avx512", kCpuAvx512, unsupported_sums_of_rows, magnitude_sum_x86_avx512},
#endif
    {"magnitude_sum_any_ref", 0, nullptr, magnitude_sum_any_ref},
};

constexpr KernelEntry<CastStatisticsRequest> kCastSumsKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"cast_statistics_x86_avx512", kCpuAvx512, unsupported_sums<unsupported_to_dequantize>, cast_statistics_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"cast_statistics_x86_avx2", kCpuAvx2, unsupported_sums<unsupported_to_dequantize>, cast_statistics_x86_avx2},
#endif
    {"cast_statistics_any_ref", 0, nullptr, cast_statistics_any_ref},
};

constexpr KernelEntry<CastErrorsRequest> kCastErrorsKernels[] = {
#if defined(LPT_HAVE_X86_AVX2)
    {"cast_errors_x86_avx2", kCpuAvx2, unsupported_errors_avx2, cast_errors_x86_avx2},
#endif
    {"cast_errors_any_ref", 0, nullptr, cast_errors_any_ref},
};

}  // namespace

std::span<const KernelEntry<AmaxRequest>> amax_kernels() { return kAmaxKernels; }
std::span<const KernelEntry<QuantizeRequest>> quantize_kernels() { return kQuantizeKernels; }
std::span<const KernelEntry<DequantizeRequest>> dequantize_kernels() { return kDequantizeKernels; }
std::span<const KernelEntry<TransposeRequest>> transpose_kernels() { return kTransposeKernels; }
std::span<const KernelEntry<MagnitudeSumRequest>> magnitude_sum_kernels() { return kMagnitudeSumKernels; }
std::span<const KernelEntry<CastStatisticsRequest>> cast_statistics_kernels() { return kCastSumsKernels; }
std::span<const KernelEntry<CastErrorsRequest>> cast_errors_kernels() { return kCastErrorsKernels; }

}  // namespace lpt
