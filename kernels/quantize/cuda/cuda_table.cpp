// CUDA kernel tables of the cast family, fastest first. No reference kernel exists: a request that no kernel supports is
// rejected.
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_scale.hpp"
#include "kernels/quantize/cuda/cuda_scaler.hpp"
#include "kernels/quantize/cuda/cuda_search.hpp"
#include "kernels/quantize/cuda/cuda_sums.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

bool is_byte(lpt_format element) { return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E5M2; }

bool is_integer(lpt_format element) { return element == LPT_FORMAT_INT8 || element == LPT_FORMAT_INT4; }

bool is_small(lpt_format element) {
  return is_byte(element) || is_integer(element) || element == LPT_FORMAT_E3M2FN || element == LPT_FORMAT_E2M3FN ||
         element == LPT_FORMAT_E2M1FN;
}

bool has_eight_bits(const Format &format) { return is_byte(format.element) || format.element == LPT_FORMAT_INT8; }

// Returns whether the rule reads only the amax of a block.
bool is_rule_taken(lpt_scale_rule rule) {
  switch (rule) {
    case LPT_SCALE_RULE_AMAX:
    case LPT_SCALE_RULE_POWER_OF_TWO:
    case LPT_SCALE_RULE_POWER_OF_TWO_DOWN:
    case LPT_SCALE_RULE_POWER_OF_TWO_NEAREST:
    case LPT_SCALE_RULE_ROUND_UP:
    case LPT_SCALE_RULE_FLOOR:
    case LPT_SCALE_RULE_CEIL:
    case LPT_SCALE_RULE_EVEN:
    case LPT_SCALE_RULE_THREE_QUARTERS:
    case LPT_SCALE_RULE_NEAREST:
    case LPT_SCALE_RULE_HEADROOM:
      return true;
    default:
      return false;
  }
}

const char *unsupported_amax(const AmaxRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  const bool is_adjacent = request.source.column_stride == 1 || request.source.row_stride == 1;
  return is_adjacent ? nullptr : "takes adjacent rows or columns only";
}

const char *unsupported_conditional_amax(const ConditionalAmaxRequest &request) {
  return unsupported_amax(request.amax);
}

const char *unsupported_cast(const QuantizeRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  if (!is_small(request.target.format.element)) return "gives e4m3fn, e5m2, e3m2fn, e2m3fn, e2m1fn, int8 and int4 only";
  if (request.rounding != LPT_ROUNDING_NEAREST_EVEN && request.rounding != LPT_ROUNDING_STOCHASTIC) {
    return "rounds to nearest even or stochastically only";
  }
  return request.overflow == LPT_OVERFLOW_SATURATE ? nullptr : "saturates only";
}

// Returns whether the fragments of one warp can compute the scale of a block: blocks of 16 to 512 columns along a row.
bool are_scales_of_rows(const Format &format) {
  if (format.block_rows != 1) return false;
  const int32_t columns = format.block_columns;
  if (columns < 16 || columns > 512) return false;
  if (is_integer(format.element)) return format.block_scale == LPT_FORMAT_F32;
  if (format.element == LPT_FORMAT_E2M1FN) return format.block_scale != LPT_FORMAT_F32;
  return is_byte(format.element) ? format.block_scale != LPT_FORMAT_E4M3FN : format.block_scale == LPT_FORMAT_E8M0FNU;
}

// Returns whether the fragments and squares kernels support the rule: block scales from an amax, by a search, or given.
bool is_rule_of_fragments(const QuantizeRequest &request) {
  const lpt_format scale = request.target.format.block_scale;
  switch (request.rule) {
    case LPT_SCALE_RULE_FIXED:
    case LPT_SCALE_RULE_MSE:
      return true;
    case LPT_SCALE_RULE_FOUR_OVER_SIX:
      return scale == LPT_FORMAT_E4M3FN;
    case LPT_SCALE_RULE_MEAN:
      return scale == LPT_FORMAT_F32;
    default:
      return is_rule_taken(request.rule) || (is_quest_rule(request.rule) && scale == LPT_FORMAT_E8M0FNU);
  }
}

// Checks that the cast reads and draws along rows, and has one output.
const char *unsupported_directions(const QuantizeRequest &request) {
  if (request.source.column_stride != 1) return "takes adjacent columns only";
  if (request.untransposed.data != nullptr) return "writes one output only";
  const bool is_drawn = request.rounding == LPT_ROUNDING_STOCHASTIC;
  return is_drawn && request.random_column_stride != 1 ? "draws along rows only" : nullptr;
}

const char *unsupported_fragments(const QuantizeRequest &request) {
  if (const char *why = unsupported_cast(request)) return why;
  if (const char *why = unsupported_directions(request)) return why;
  const Format &format = request.target.format;
  if (is_prepared(request) && format.element != LPT_FORMAT_E2M1FN) return "rotates for e2m1fn only";
  if (is_prepared(request) && is_searched(request)) return "rotates for scale rules of amax only";
  if (format.block_scale == LPT_FORMAT_NONE) {
    return has_eight_bits(format) ? nullptr : "needs block scales except for e4m3fn, e5m2 and int8";
  }
  if (!are_scales_of_rows(format)) return "takes blocks of 16 to 512 columns only";
  return is_rule_of_fragments(request) ? nullptr : "does not take this scale rule";
}

const char *unsupported_lines(const QuantizeRequest &request) {
  if (const char *why = unsupported_cast(request)) return why;
  if (is_prepared(request)) return "rotates nothing";
  const Format &format = request.target.format;
  if (!has_eight_bits(format)) return "gives e4m3fn, e5m2 and int8 only";
  if (format.block_scale != LPT_FORMAT_F32 || format.block_rows != 1 || format.block_columns != LPT_BLOCK_EXTENT_FULL) {
    return "takes f32 scales of rows only";
  }
  if (const char *why = unsupported_directions(request)) return why;
  const bool is_taken = is_rule_taken(request.rule) || request.rule == LPT_SCALE_RULE_FIXED;
  return is_taken ? nullptr : "takes scale rules of amax only";
}

const char *unsupported_tiles(const QuantizeRequest &request) {
  if (const char *why = unsupported_cast(request)) return why;
  if (is_prepared(request)) return "rotates nothing";
  const Format &format = request.target.format;
  if (!is_byte(format.element)) return "gives e4m3fn and e5m2 only";
  if (format.block_scale != LPT_FORMAT_F32 || format.block_rows != 128 || format.block_columns != 128) {
    return "takes f32 scales of 128 x 128 only";
  }
  if (const char *why = unsupported_directions(request)) return why;
  return is_rule_taken(request.rule) ? nullptr : "takes scale rules of amax only";
}

const char *unsupported_squares(const QuantizeRequest &request) {
  if (const char *why = unsupported_cast(request)) return why;
  if (is_prepared(request)) return "rotates nothing";
  const Format &format = request.target.format;
  if (format.element != LPT_FORMAT_E2M1FN || format.block_scale != LPT_FORMAT_E4M3FN) {
    return "gives e2m1fn with e4m3fn scales only";
  }
  if (format.block_rows != 16 || format.block_columns != 16) return "takes blocks of 16 x 16 only";
  if (const char *why = unsupported_directions(request)) return why;
  return is_rule_of_fragments(request) ? nullptr : "does not take this scale rule";
}

const char *unsupported_transposed(const QuantizeRequest &request) {
  if (const char *why = unsupported_cast(request)) return why;
  const Format &format = request.target.format;
  if (!has_eight_bits(format) || format.block_scale != LPT_FORMAT_NONE) {
    return "gives e4m3fn, e5m2 and int8 of one scale only";
  }
  if (is_prepared(request)) return "rotates nothing";
  if (request.source.row_stride != 1) return "takes adjacent rows only";
  const bool is_drawn = request.rounding == LPT_ROUNDING_STOCHASTIC;
  return is_drawn && request.random.row_stride != 1 ? "draws along the source's rows only" : nullptr;
}

const char *unsupported_any(const QuantizeRequest &request) {
  if (request.untransposed.data != nullptr || is_prepared(request)) return "writes one output, and rotates nothing";
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  const bool is_long = request.rule == LPT_SCALE_RULE_LIST && request.scale_list_count > kLongestListOnDevice;
  return is_long ? "takes lists of 64 scales at most" : nullptr;
}

const char *unsupported_any_codes(const DequantizeRequest &request) {
  return is_float_dtype(request.target.format.element) ? nullptr : "gives f32, bf16 and f16 only";
}

const char *unsupported_wide(const QuantizeRequest &request) {
  const lpt_format target = request.target.format.element;
  const bool is_half = target == LPT_FORMAT_BF16 || target == LPT_FORMAT_F16;
  if (!is_float_dtype(request.source.format.element) || !is_half || !request.target.format.is_plain()) {
    return "gives bf16 and f16, of f32, bf16 and f16 only";
  }
  if (request.source.column_stride != 1) return "takes adjacent columns only";
  if (request.rounding != LPT_ROUNDING_NEAREST_EVEN) return "rounds to nearest even only";
  if (request.amax != nullptr || request.has_nan != nullptr) return "finds no amax and no NaN";
  return request.overflow == LPT_OVERFLOW_SATURATE ? nullptr : "saturates only";
}

const char *unsupported_dequantize(const DequantizeRequest &request) {
  const Format &format = request.source.format;
  if (!is_small(format.element)) return "takes e4m3fn, e5m2, e3m2fn, e2m3fn, e2m1fn, int8 and int4 only";
  if (!is_float_dtype(request.target.format.element)) return "gives f32, bf16 and f16 only";
  const bool has_narrow = format.block_scale != LPT_FORMAT_NONE && format.block_columns != LPT_BLOCK_EXTENT_FULL &&
                          format.block_columns < 16;
  return has_narrow ? "takes blocks of at least 16 columns only" : nullptr;
}

const char *unsupported_sums(const TileSumsRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  return request.source.column_stride == 1 ? nullptr : "takes adjacent columns only";
}

const char *unsupported_transpose(const TransposeRequest &request) {
  const Format &format = request.source.format;
  const bool is_integer = format.element == LPT_FORMAT_INT8 || format.element == LPT_FORMAT_UINT8;
  if (!is_byte(format.element) && !is_integer && !is_float_dtype(format.element)) {
    return "takes f32, bf16, f16, e4m3fn, e5m2, int8 and uint8 only";
  }
  const bool has_scales = format.block_scale != LPT_FORMAT_NONE;
  return has_scales && format.block_scale != LPT_FORMAT_F32 ? "takes f32 scales only" : nullptr;
}

constexpr KernelEntry<AmaxRequest> kAmax[] = {{"amax_cuda", 80, unsupported_amax, amax_cuda}};
constexpr KernelEntry<ConditionalAmaxRequest> kConditionalAmax[] = {
    {"conditional_amax_cuda", 80, unsupported_conditional_amax, conditional_amax_cuda}};
constexpr KernelEntry<QuantizeRequest> kQuantize[] = {
    {"quantize_fragments_cuda", 80, unsupported_fragments, quantize_fragments_cuda},
    {"quantize_lines_cuda", 80, unsupported_lines, quantize_lines_cuda},
    {"quantize_tiles_cuda", 80, unsupported_tiles, quantize_tiles_cuda},
    {"quantize_squares_cuda", 80, unsupported_squares, quantize_squares_cuda},
    {"quantize_transposed_cuda", 80, unsupported_transposed, quantize_transposed_cuda},
    {"quantize_wide_cuda", 80, unsupported_wide, quantize_wide_cuda},
    {"quantize_any_cuda", 80, unsupported_any, quantize_any_cuda},
};
constexpr KernelEntry<DequantizeRequest> kDequantize[] = {
    {"dequantize_fragments_cuda", 80, unsupported_dequantize, dequantize_fragments_cuda},
    {"dequantize_any_cuda", 80, unsupported_any_codes, dequantize_any_cuda},
};
constexpr KernelEntry<TileSumsRequest> kSums[] = {{"tile_sums_cuda", 80, unsupported_sums, tile_sums_cuda}};
constexpr KernelEntry<TransposeRequest> kTranspose[] = {{"transpose_cuda", 80, unsupported_transpose, transpose_cuda}};

}  // namespace

std::span<const KernelEntry<AmaxRequest>> amax_device_kernels() { return kAmax; }
std::span<const KernelEntry<ConditionalAmaxRequest>> conditional_amax_device_kernels() { return kConditionalAmax; }
std::span<const KernelEntry<QuantizeRequest>> quantize_device_kernels() { return kQuantize; }
std::span<const KernelEntry<DequantizeRequest>> dequantize_device_kernels() { return kDequantize; }
std::span<const KernelEntry<TileSumsRequest>> tile_sums_device_kernels() { return kSums; }
std::span<const KernelEntry<TransposeRequest>> transpose_device_kernels() { return kTranspose; }

}  // namespace lpt
