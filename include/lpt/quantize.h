/**
 * @file quantize.h
 * @brief Casts between formats, statistics of casts, conversion of scales, and Hadamard rotation.
 */
#ifndef LPT_QUANTIZE_H
#define LPT_QUANTIZE_H

#include "common.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Flag of lpt_quantize_options: the tensor scale that the output holds is kept; block scales are in units of it. */
#define LPT_QUANTIZE_KEEP_TENSOR_SCALE UINT64_C(2)

/** @brief How a value between two codes is rounded; one of lpt_rounding_values. */
typedef int32_t lpt_rounding;

/** @brief Values of lpt_rounding. */
enum lpt_rounding_values {
  LPT_ROUNDING_NEAREST_EVEN = 0,        /**< To the nearest code, ties to the even one. */
  LPT_ROUNDING_STOCHASTIC = 1,          /**< Up with the probability of the fraction; the mean is the value. */
  LPT_ROUNDING_TOWARD_ZERO = 2,         /**< To the code below in magnitude. */
  LPT_ROUNDING_NEAREST_AWAY = 3,        /**< To the nearest code, ties to the one of larger magnitude. */
  LPT_ROUNDING_STOCHASTIC_UNDERFLOW = 4 /**< Stochastic below the smallest positive code, else nearest even (LUQ). */
};

/** @brief What becomes of a value beyond the largest code; one of lpt_overflow_values. */
typedef int32_t lpt_overflow;

/** @brief Values of lpt_overflow. */
enum lpt_overflow_values {
  LPT_OVERFLOW_SATURATE = 0, /**< The largest finite code with its sign; infinities too. */
  LPT_OVERFLOW_INFINITE = 1  /**< Infinity where the element has it, else NaN, else as a NaN: see lpt_quantize(). */
};

/** @brief How scales follow from the largest magnitude (amax); one of lpt_scale_rule_values. */
typedef int32_t lpt_scale_rule;

/** @brief Values of lpt_scale_rule. M is the element's largest finite value. */
enum lpt_scale_rule_values {
  LPT_SCALE_RULE_DEFAULT = 0,      /**< F32 scales: AMAX. E8m0: ROUND_UP. E4m3fn: NEAREST, HEADROOM if stochastic. */
  LPT_SCALE_RULE_AMAX = 1,         /**< F32 scales: amax / M. */
  LPT_SCALE_RULE_POWER_OF_TWO = 2, /**< F32 scales: the smallest power of two that is at least amax / M. */
  LPT_SCALE_RULE_ROUND_UP = 3,     /**< E8m0 scales: the same; e4m3fn scales: NEAREST's, rounded up. Never clips. */
  LPT_SCALE_RULE_FLOOR = 4,        /**< E8m0 scales: 2^(floor(log2 amax) - floor(log2 M)), the OCP text; may clip. */
  LPT_SCALE_RULE_NEAREST = 5,      /**< E4m3fn scales: amax / M to nearest; tensor scale from amax / (M · 448). */
  LPT_SCALE_RULE_HEADROOM = 6,     /**< E4m3fn scales: 17/16 of it, tensor scale from amax / (M · 256); never clips. */
  LPT_SCALE_RULE_POWER_OF_TWO_DOWN = 7, /**< F32 scales: the largest power of two that is at most amax / M. */
  LPT_SCALE_RULE_POWER_OF_TWO_NEAREST =
      8,                              /**< F32 scales: the power of two whose logarithm is nearest to amax / M's. */
  LPT_SCALE_RULE_CEIL = 9,            /**< E8m0 scales: 2^(ceil(log2 amax) - floor(log2 M)); never clips. */
  LPT_SCALE_RULE_EVEN = 10,           /**< E8m0 scales: FLOOR of amax rounded to the element's mantissa, ties up. */
  LPT_SCALE_RULE_THREE_QUARTERS = 11, /**< E8m0 scales: FLOOR, and a tensor scale of 4/3 makes room; never clips. */
  LPT_SCALE_RULE_QUEST_FLOOR = 12,    /**< E8m0 scales of e2m1fn: 2.92247856 deviations / 6, power of two below. */
  LPT_SCALE_RULE_QUEST_NEAREST = 13,  /**< The same with the power of two whose logarithm is nearest. */
  LPT_SCALE_RULE_QUEST_CEIL = 14,     /**< The same with the power of two above. */
  LPT_SCALE_RULE_FOUR_OVER_SIX = 15,  /**< E4m3fn scales of e2m1fn: amax at 6 or at 4, the smaller squared error. */
  LPT_SCALE_RULE_MSE = 16,            /**< Of a few scales near AMAX's the one with the smallest squared error. */
  LPT_SCALE_RULE_LIST = 17,  /**< F32 scales: the first of `scale_list` that is at least amax / M, or the last. */
  LPT_SCALE_RULE_FIXED = 18, /**< All scales stay as the output holds them. */
  LPT_SCALE_RULE_MEAN = 19,  /**< F32 scales: the mean magnitude; for ternary and int2 elements. */
  /**
   * F32 tensor scale of int4: (12.1 · sqrt(mean x²) - 12.2 · mean |x|) / 7; AMAX's where this is not in between 0
   * and it. May clip.
   */
  LPT_SCALE_RULE_SAWB = 20
};

/** @brief How to quantize; the output's format says what to make. */
typedef struct lpt_quantize_options {
  size_t struct_size;        /**< sizeof(lpt_quantize_options) of the caller. */
  uint64_t flags;            /**< LPT_CHECK_ONLY, LPT_QUANTIZE_KEEP_TENSOR_SCALE. */
  lpt_rounding rounding;     /**< Of the elements. */
  lpt_overflow overflow;     /**< Of the elements. */
  lpt_scale_rule scale_rule; /**< Of the scales. */
  int32_t stochastic_bits;   /**< Random bits per element: 16 or 8. */
  int32_t philox_rounds;     /**< 7, or 10. */
  int32_t hadamard_size;     /**< 16, 32, 64 or 128: rotate the rows of each output first, see lpt_hadamard(); 0: no. */
  lpt_random random;         /**< For stochastic rounding. */
  lpt_scaler *scaler;        /**< Where amax comes from, for formats with one tensor scale; NULL: the source. */
  /**
   * Vector of factors per column, which divide the source first. E8m0fnu, for formats with e8m0fnu column scales:
   * they become these scales. F32, for the others.
   */
  const lpt_tensor *smoothing;
  const lpt_tensor *hadamard_signs; /**< As in lpt_hadamard_options. */
  /**
   * Random bits of the caller, uint8: `stochastic_bits` / 8 bytes per source element, lowest first, rows as the
   * source; `offset` and `row_stride` of `random` do not move them. NULL: from `random`.
   */
  const lpt_tensor *random_words;
  /**
   * For LPT_SCALE_RULE_LIST: vector of 1 to 64 rising f32; NULL: 2^-8, 2^-4, 1, 2^4, the hardware scales of Gaudi 2.
   */
  const lpt_tensor *scale_list;
  lpt_statistics *statistics; /**< Counts what becomes of the elements of `quantized`, else of `transposed`. */
} lpt_quantize_options;

/** @brief Defaults of lpt_quantize_options. */
#define LPT_QUANTIZE_OPTIONS_INIT                                                                                     \
  {                                                                                                                   \
    sizeof(lpt_quantize_options), 0, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, LPT_SCALE_RULE_DEFAULT, 16, 7, \
        0, LPT_RANDOM_INIT, NULL, NULL, NULL, NULL, NULL, NULL                                                        \
  }

/**
 * @brief Writes the defaults of LPT_QUANTIZE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_quantize_options_init(lpt_quantize_options *options, size_t struct_size);

/**
 * @brief Casts numbers to another format, with scales where the format has them.
 *
 * Shapes    source is rows × columns, quantized the same, transposed columns × rows; each with blocks along its own rows.
 * Formats   source f64, f32, bf16, f16 (f64 is rounded to f32 first); outputs any but plain uint8.
 * Rounding  as the options say; element = round(value · (1 / scale)), both in f32. Subnormals are kept.
 * Order     smoothing, then the Hadamard rotation along the rows of each output, then scales, then rounding.
 * Zero      with zero points: scale = (high - low) / levels, zero = round(-low / scale), where low and high are the least
 *           and the largest of the block and 0; element = round(value · (1 / scale)) + zero, held in range. As zero is
 *           rounded, one end of the block may lie up to half a step out of range. Values there take the nearest code:
 *           stochastic rounding is biased for them alone.
 * Specials  all-zero blocks get scale 1 (e8m0fnu: 2^-127, e4m3fn: 2^-9). NaN stays NaN; where the element has none, the
 *           scale of its block becomes NaN, and a plain element is rejected after the cast, its NaN written as zero. Amax is
 *           taken over finite values.
 * Source    OCP FP8 and MX 1.0; NVFP4 as published with two scale levels; docs/reference/numerics.md has every rule.
 *
 * @param context the context.
 * @param source borrowed.
 * @param options NULL for the defaults.
 * @param quantized written; NULL: not wanted.
 * @param transposed written; NULL: not wanted. Draws the same random bits per source element.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_quantize(lpt_context *context, const lpt_tensor *source, const lpt_quantize_options *options,
                                lpt_tensor *quantized, lpt_tensor *transposed);

/**
 * @brief Casts numbers to a format and back: the numbers that lpt_quantize() and lpt_dequantize() would give.
 *
 * @param context the context.
 * @param source borrowed; rows × columns, f64, f32, bf16 or f16.
 * @param format where to and back. With LPT_SCALE_RULE_FIXED and LPT_QUANTIZE_KEEP_TENSOR_SCALE its scales are 1.
 * @param options NULL for the defaults. A rotation or smoothing is not undone.
 * @param output written; rows × columns, f64, f32, bf16 or f16; may be the source itself if the format is the same.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_fake_quantize(lpt_context *context, const lpt_tensor *source, lpt_format format,
                                     const lpt_quantize_options *options, lpt_tensor *output);

/** @brief What casts did to numbers since the statistics were created or reset. */
typedef struct lpt_statistics_info {
  size_t struct_size;    /**< sizeof(lpt_statistics_info) of the caller. */
  int64_t element_count; /**< Numbers that were cast. */
  int64_t nan_count;     /**< Sources that are NaN. */
  /** Sources beyond the largest element by 2^-20 of it or more; infinities, but not into f32 and f64. */
  int64_t clipped_count;
  int64_t underflow_count; /**< Sources that are not zero and became zero. */
  double amax;             /**< Largest finite magnitude of a source, after smoothing and rotation. */
  double squared_sum;      /**< Sum of finite source². */
  double squared_error;    /**< Sum of (source - decoded)² over finite sources. */
} lpt_statistics_info;

/** @brief Defaults of lpt_statistics_info. */
#define LPT_STATISTICS_INFO_INIT \
  { sizeof(lpt_statistics_info), 0, 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_STATISTICS_INFO_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_statistics_info_init(lpt_statistics_info *values, size_t struct_size);

/**
 * @brief Creates statistics, all zero. Casts that are given them add to them; sums are the same for any number of threads.
 * @param context the context.
 * @param out_statistics returned; destroy with lpt_statistics_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_statistics_create(lpt_context *context, lpt_statistics **out_statistics);

/**
 * @brief Destroys statistics.
 * @param statistics NULL is allowed.
 */
LPT_API void lpt_statistics_destroy(lpt_statistics *statistics);

/**
 * @brief Reads statistics.
 * @param context the context.
 * @param statistics the statistics.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_statistics_read(lpt_context *context, const lpt_statistics *statistics,
                                       lpt_statistics_info *out_info);

/**
 * @brief Sets statistics back to zero.
 * @param context the context.
 * @param statistics the statistics.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_statistics_reset(lpt_context *context, lpt_statistics *statistics);

/** @brief How to dequantize. */
typedef struct lpt_dequantize_options {
  size_t struct_size; /**< sizeof(lpt_dequantize_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
} lpt_dequantize_options;

/** @brief Defaults of lpt_dequantize_options. */
#define LPT_DEQUANTIZE_OPTIONS_INIT \
  { sizeof(lpt_dequantize_options), 0 }

/**
 * @brief Writes the defaults of LPT_DEQUANTIZE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_dequantize_options_init(lpt_dequantize_options *options, size_t struct_size);

/**
 * @brief Gives the numbers that codes stand for: element · (block scale · tensor scale), in f32.
 *
 * Shapes    source and output are rows × columns.
 * Formats   source any but uint8; output f64, f32, bf16 or f16 (the last two to nearest even, to infinity beyond). f64 to
 *           f64 is copied.
 *
 * @param context the context.
 * @param source borrowed.
 * @param options NULL for the defaults.
 * @param output written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_dequantize(lpt_context *context, const lpt_tensor *source, const lpt_dequantize_options *options,
                                  lpt_tensor *output);

/** @brief How to rotate. */
typedef struct lpt_hadamard_options {
  size_t struct_size;      /**< sizeof(lpt_hadamard_options) of the caller. */
  uint64_t flags;          /**< LPT_CHECK_ONLY. */
  int32_t size;            /**< Columns of a group: 16, 32, 64 or 128. */
  int32_t is_inverse;      /**< 1: undo the rotation. */
  const lpt_tensor *signs; /**< Vector of int8, 1 or -1, of `size` (for every group) or of all columns; NULL: all 1. */
} lpt_hadamard_options;

/** @brief Defaults of lpt_hadamard_options. */
#define LPT_HADAMARD_OPTIONS_INIT \
  { sizeof(lpt_hadamard_options), 0, 16, 0, NULL }

/**
 * @brief Writes the defaults of LPT_HADAMARD_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_hadamard_options_init(lpt_hadamard_options *options, size_t struct_size);

/**
 * @brief Rotates each group of columns: output = (source ⊙ signs) · H / sqrt(size), where H(i, j) = (-1)^(number of ones in
 *        i and j): Sylvester's matrix, orthogonal and its own inverse; the inverse applies the signs last.
 *
 * A last group that is short is cut in powers of two, largest first, each with its own H: any number of columns works.
 * Rounding: in f32, log2(size) steps of one addition each, strides 1, 2, 4 … in turn, then one product with 1 / sqrt(size).
 *
 * @param context the context.
 * @param source borrowed; rows × columns, f64, f32, bf16 or f16 (f64 is rounded to f32 first).
 * @param options NULL for the defaults.
 * @param output written; rows × columns, f64, f32, bf16 or f16; may be the source itself if the format is the same.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_hadamard(lpt_context *context, const lpt_tensor *source, const lpt_hadamard_options *options,
                                lpt_tensor *output);

/**
 * @brief Draws random signs for lpt_hadamard(): element i is -1 if the lowest random bit at index i is set, else 1.
 * @param context the context.
 * @param random borrowed; where the bits come from. The room is that of signs: no cast shares them.
 * @param signs written; vector of int8.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_hadamard_draw_signs(lpt_context *context, const lpt_random *random, lpt_tensor *signs);

/** @brief How to convert. */
typedef struct lpt_convert_options {
  size_t struct_size;         /**< sizeof(lpt_convert_options) of the caller. */
  uint64_t flags;             /**< LPT_CHECK_ONLY. */
  lpt_statistics *statistics; /**< Counts what becomes of the elements; NULL: none. */
} lpt_convert_options;

/** @brief Defaults of lpt_convert_options. */
#define LPT_CONVERT_OPTIONS_INIT \
  { sizeof(lpt_convert_options), 0, NULL }

/**
 * @brief Writes the defaults of LPT_CONVERT_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_convert_options_init(lpt_convert_options *options, size_t struct_size);

/**
 * @brief Moves codes between relatives of FP8 without a new amax: e4m3fn, e4m3 (240) and e4m3fnuz, or e5m2 and e5m2fnuz,
 *        or any two of 8 bits with the same exponent and mantissa bits.
 *
 * Codes that both elements have stay what they are. Where the biases differ they stand for another power of two, which
 * goes to the tensor scale, or to the block scales where there is none; the other scales are copied. Values beyond the
 * output's largest become the largest; NaN stays NaN; infinity becomes NaN where there is none, -0 becomes 0.
 *
 * @param context the context.
 * @param source borrowed; an FP8 element, with scales or without; where the biases differ, with an f32 scale.
 * @param options NULL for the defaults.
 * @param output written; the same shape, scale formats and blocks, another element.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also when a scale would leave the normal range of f32; LPT_UNSUPPORTED when the
 *         elements are no relatives or no f32 scale takes the power of two; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_convert(lpt_context *context, const lpt_tensor *source, const lpt_convert_options *options,
                               lpt_tensor *output);

#ifdef __cplusplus
}
#endif

#endif
