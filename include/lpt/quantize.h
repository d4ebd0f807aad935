/**
 * @file quantize.h
 * @brief Casts between formats, statistics of casts, conversion of FP8 codes, and Hadamard rotation.
 */
#ifndef LPT_QUANTIZE_H
#define LPT_QUANTIZE_H

#include "common.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How a cast rounds a value between two codes; one of lpt_rounding_values. */
typedef int32_t lpt_rounding;

/** @brief Values of lpt_rounding. */
enum lpt_rounding_values {
  LPT_ROUNDING_NEAREST_EVEN = 0,        /**< To the nearest code, ties to even. */
  LPT_ROUNDING_STOCHASTIC = 1,          /**< Up with the probability of the fraction; the mean is the value. */
  LPT_ROUNDING_TOWARD_ZERO = 2,         /**< To the code of smaller magnitude. */
  LPT_ROUNDING_NEAREST_AWAY = 3,        /**< To the nearest code, ties to the larger magnitude. */
  LPT_ROUNDING_STOCHASTIC_UNDERFLOW = 4 /**< Stochastic below the smallest positive code, else nearest even (LUQ). */
};

/** @brief What a cast makes of a value beyond the largest code; one of lpt_overflow_values. */
typedef int32_t lpt_overflow;

/** @brief Values of lpt_overflow. */
enum lpt_overflow_values {
  /** The largest finite code with the sign of the value; also for infinities. In f32 and f64: infinity. */
  LPT_OVERFLOW_SATURATE = 0,
  LPT_OVERFLOW_INFINITE = 1 /**< Infinity if the element has it, else NaN, else treated as a NaN; see lpt_quantize(). */
};

/** @brief How a cast computes scales from the maximum magnitude (amax); one of lpt_scale_rule_values. */
typedef int32_t lpt_scale_rule;

/**
 * @brief Values of lpt_scale_rule; M is the maximum finite value of the element.
 *
 * A rule never clips if no finite value exceeds the largest code.
 */
enum lpt_scale_rule_values {
  /** F32 scales: AMAX. E8m0 scales: ROUND_UP. E4m3fn scales: NEAREST, or HEADROOM if stochastic. */
  LPT_SCALE_RULE_DEFAULT = 0,
  LPT_SCALE_RULE_AMAX = 1,         /**< F32 scales: amax / M. */
  LPT_SCALE_RULE_POWER_OF_TWO = 2, /**< F32 scales: the smallest power of two that is at least amax / M. */
  /**
   * E8m0 scales: the smallest power of two that is at least amax / M. E4m3fn scales: amax / M, rounded up. Never clips.
   */
  LPT_SCALE_RULE_ROUND_UP = 3,
  LPT_SCALE_RULE_FLOOR = 4,    /**< E8m0 scales: 2^(floor(log2 amax) - floor(log2 M)), as in OCP MX; may clip. */
  LPT_SCALE_RULE_NEAREST = 5,  /**< E4m3fn scales: amax / M to nearest; the tensor scale is amax / (M · 448). */
  LPT_SCALE_RULE_HEADROOM = 6, /**< E4m3fn scales: 17/16 · amax / M; tensor scale amax / (M · 256). Never clips. */
  LPT_SCALE_RULE_POWER_OF_TWO_DOWN = 7, /**< F32 scales: the largest power of two that is at most amax / M. */
  /** F32 scales: the power of two whose logarithm is nearest to that of amax / M. */
  LPT_SCALE_RULE_POWER_OF_TWO_NEAREST = 8,
  LPT_SCALE_RULE_CEIL = 9,  /**< E8m0 scales: 2^(ceil(log2 amax) - floor(log2 M)); never clips. */
  LPT_SCALE_RULE_EVEN = 10, /**< E8m0 scales: FLOOR of amax rounded to the mantissa bits of the element, ties up. */
  LPT_SCALE_RULE_THREE_QUARTERS = 11, /**< E8m0 scales: FLOOR, and a tensor scale of 4/3; never clips. */
  LPT_SCALE_RULE_QUEST_FLOOR = 12,    /**< E8m0 scales of e2m1fn: 2.92247856 deviations / 6, the power of two below. */
  LPT_SCALE_RULE_QUEST_NEAREST = 13,  /**< The same, the power of two whose logarithm is nearest. */
  LPT_SCALE_RULE_QUEST_CEIL = 14,     /**< The same, the power of two above. */
  LPT_SCALE_RULE_FOUR_OVER_SIX = 15,  /**< E4m3fn scales of e2m1fn: amax at 6 or 4, the smaller squared error. */
  LPT_SCALE_RULE_MSE = 16,            /**< The scale of the smallest squared error among a few near that of amax. */
  LPT_SCALE_RULE_LIST = 17,  /**< F32 scales: the first of `scale_list` that is at least amax / M, or the last one. */
  LPT_SCALE_RULE_FIXED = 18, /**< All scales stay as the output holds them. */
  LPT_SCALE_RULE_MEAN = 19,  /**< F32 scales: the mean magnitude; meant for ternary and int2 elements. */
  /**
   * F32 tensor scale of int4: `(12.1 · sqrt(mean x²) - 12.2 · mean |x|) / 7`.
   *
   * It is the scale of AMAX if the value is not between 0 and that scale. May clip.
   */
  LPT_SCALE_RULE_SAWB = 20
};

/**
 * @brief Options of lpt_quantize() and lpt_fake_quantize().
 *
 * The format of the output selects the elements and the kinds of scales.
 */
typedef struct lpt_quantize_options {
  size_t struct_size;        /**< sizeof(lpt_quantize_options) of the caller. */
  lpt_flags flags;           /**< LPT_CHECK_ONLY, LPT_QUANTIZE_KEEP_TENSOR_SCALE. */
  lpt_rounding rounding;     /**< Rounding of elements. */
  lpt_overflow overflow;     /**< Overflow of elements. */
  lpt_scale_rule scale_rule; /**< Rule of the scales. */
  int32_t stochastic_bits;   /**< Random bits per element for stochastic rounding: 16 or 8. */
  int32_t philox_rounds;     /**< Rounds of Philox4x32: 7 or 10. */
  /** Group size of the rotation of each output's rows, 16, 32, 64 or 128, see lpt_hadamard(); 0: no rotation. */
  int32_t hadamard_size;
  lpt_random random;  /**< Source of random bits for stochastic rounding. */
  lpt_scaler *scaler; /**< Gives and records amax, for formats with one tensor scale only; NULL: amax of the source. */
  /**
   * Vector of one factor per column of the source, which divide the source first; NULL: none.
   *
   * E8m0fnu factors are for formats with e8m0fnu column scales, and become these scales. F32 factors are positive, and
   * are for other formats.
   */
  const lpt_tensor *smoothing;
  const lpt_tensor *hadamard_signs; /**< As `signs` of lpt_hadamard_options; NULL: all 1. */
  /**
   * Random bits of the caller as uint8, rows × (columns · `stochastic_bits` / 8), the lowest byte first; NULL: from
   * `random`.
   *
   * `random.offset` and `random.row_stride` do not apply to it.
   */
  const lpt_tensor *random_words;
  /**
   * Scales of LPT_SCALE_RULE_LIST: a vector of 1 to 64 rising positive f32 numbers in CPU memory.
   *
   * NULL: 2^-8, 2^-4, 1, 2^4, the hardware scales of Gaudi 2.
   */
  const lpt_tensor *scale_list;
  lpt_statistics *statistics; /**< Counts the elements of `quantized`, else of `transposed`; NULL: none. */
} lpt_quantize_options;

/** @brief Defaults of lpt_quantize_options. */
#define LPT_QUANTIZE_OPTIONS_INIT                                                                                     \
  {                                                                                                                   \
    sizeof(lpt_quantize_options), 0, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, LPT_SCALE_RULE_DEFAULT, 16, 7, \
        0, LPT_RANDOM_INIT, NULL, NULL, NULL, NULL, NULL, NULL                                                        \
  }

/**
 * @brief Casts a matrix to another format, computes the scales of that format, and optionally transposes it.
 *
 * The steps are: smoothing, Hadamard rotation along the rows of each output, scales, rounding.
 *
 * Shapes    `source` and `quantized` are rows × columns, `transposed` is columns × rows. Blocks follow the rows of each
 *           output.
 *
 * Formats   `source` is f64, f32, bf16 or f16. Outputs are of any format of numbers except 2:4 formats.
 *
 * Rounding  A cast computes `round(value · (1 / scale))` in f32, by the rounding of the options. f64 is rounded to f32
 *           first. Subnormals are kept. `1 / scale` is at most the largest f32, so the codes of a block with a scale
 *           below 2^-128 are less than value / scale. The result does not depend on the number of threads.
 *
 * Zeros     Of formats with zero points: `scale = (high - low) / levels` and `zero = round(-low / scale)`. Here low and
 *           high are the minimum and the maximum of the block and 0. An element is `round(value · (1 / scale)) + zero`,
 *           clamped to the codes. One end of a block may exceed the codes by half a step, because zero is rounded.
 *           Values there take the nearest code, so stochastic rounding is biased for them.
 *
 * Specials  Blocks of zeros get scale 1; 2^-127 in e8m0fnu, 2^-9 in e4m3fn. amax is the maximum over finite values. NaN
 *           stays NaN. The scale of its block becomes NaN if the element has no NaN, or if the scale is e8m0fnu or
 *           e4m3fn. Block scales that LPT_SCALE_RULE_FIXED keeps do not change. Without block scales, the tensor scale
 *           becomes NaN if the element has no NaN. Without scales the cast writes zero for NaN and then fails.
 *
 * Random    Both outputs draw the same random bits for an element of the source.
 *
 * Overlap   Outputs must not overlap the source or each other.
 *
 * Device    All tensors, the scaler and the statistics are on the context's device, except `scale_list`. A GPU does not
 *           check the values of factors and signs. It counts statistics only of `quantized`, without rotation and
 *           smoothing. It does not search a tensor scale of `transposed` by LPT_SCALE_RULE_MSE. The call waits for the
 *           stream if a NaN would be an error.
 *
 * Source    OCP FP8 and MX 1.0; NVFP4 as published, with two levels of scales. docs/reference/numerics.md describes every rule.
 *
 * @param[in]  source     The values.
 * @param[in]  options    NULL: the defaults.
 * @param[out] quantized  Output; NULL: none. Its tensor scale is also read with LPT_QUANTIZE_KEEP_TENSOR_SCALE, and all
 *                        scales with LPT_SCALE_RULE_FIXED.
 * @param[out] transposed Transposed output, likewise; NULL: none. Not both outputs may be NULL.
 *
 * @retval LPT_INVALID_ARGUMENT Both outputs are NULL, shapes do not agree, or an output overlaps the source or the
 *                              other output. An option is out of range, or of a wrong format or shape. Both `scaler`
 *                              and LPT_QUANTIZE_KEEP_TENSOR_SCALE are given. A kept tensor scale is not positive. The
 *                              source has a NaN, and an output has neither a NaN nor scales.
 * @retval LPT_UNSUPPORTED      The format of a tensor, or a combination of output format, scale rule and other options
 *                              is not supported. Elements of a row are not adjacent.
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 * @retval LPT_WORK_FAILED      On a GPU, the cast cannot be queued, or work on the stream failed.
 */
LPT_API lpt_status lpt_quantize(lpt_context *context, const lpt_tensor *source, const lpt_quantize_options *options,
                                lpt_tensor *quantized, lpt_tensor *transposed);

/**
 * @brief Casts a matrix to a format and back to a wide float.
 *
 * The output has the values that lpt_quantize() and lpt_dequantize() give. Rotation and smoothing are not reversed.
 *
 * Shapes    `source` and `output` are rows × columns.
 *
 * Formats   `source` and `output` are f64, f32, bf16 or f16. `format` is one that lpt_quantize() writes.
 *
 * Overlap   `output` may be the source itself if format and strides are the same. Otherwise they must not overlap.
 *
 * Device    As for lpt_quantize(). For a NaN that `format` cannot hold except in its tensor scale, the CPU returns an
 *           error, and a GPU writes NaN.
 *
 * @param[in]  source  The values.
 * @param[in]  format  Format of the cast. Its scales are 1 where LPT_SCALE_RULE_FIXED or LPT_QUANTIZE_KEEP_TENSOR_SCALE
 *                     keeps them.
 * @param[in]  options NULL: the defaults.
 * @param[out] output  The result.
 *
 * @retval LPT_INVALID_ARGUMENT `format` is not a format, shapes do not agree, `output` overlaps `source`, or an option
 *                              is out of range. The source has a NaN, and `format` has no NaN and no block scales.
 * @retval LPT_UNSUPPORTED      As for lpt_quantize(), or `smoothing` is e8m0fnu.
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 * @retval LPT_WORK_FAILED      On a GPU, the cast cannot be queued, or work on the stream failed.
 */
LPT_API lpt_status lpt_fake_quantize(lpt_context *context, const lpt_tensor *source, lpt_format format,
                                     const lpt_quantize_options *options, lpt_tensor *output);

/** @brief Sums over the casts since the statistics were created or reset. */
typedef struct lpt_statistics_info {
  size_t struct_size;    /**< sizeof(lpt_statistics_info) of the caller. */
  int64_t element_count; /**< Number of elements that were cast. */
  int64_t nan_count;     /**< Number of source elements that are NaN. */
  /**
   * Number of source elements that exceed the largest code by more than 2^-20 of it.
   *
   * Infinities count, except in casts to f32 and f64.
   */
  int64_t clipped_count;
  int64_t underflow_count; /**< Number of source elements that are not zero and became zero. */
  double amax;             /**< Maximum finite magnitude of source elements, after smoothing and rotation. */
  double squared_sum;      /**< Sum of source² over finite elements. */
  double squared_error;    /**< Sum of (source - decoded)² over finite source elements. */
} lpt_statistics_info;

/** @brief Defaults of lpt_statistics_info. */
#define LPT_STATISTICS_INFO_INIT \
  { sizeof(lpt_statistics_info), 0, 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Creates statistics of casts; all sums are zero.
 *
 * Casts with the statistics in their options add to them. The sums do not depend on the number of threads.
 *
 * Device    The sums are on the context's device.
 *
 * @param[out] out_statistics Destroy them with lpt_statistics_destroy().
 *
 * @retval LPT_WORK_FAILED On a GPU, the initialization cannot be queued.
 */
LPT_API lpt_status lpt_statistics_create(lpt_context *context, lpt_statistics **out_statistics);

/**
 * @brief Destroys statistics.
 *
 * @param[in] statistics NULL is allowed.
 */
LPT_API void lpt_statistics_destroy(lpt_statistics *statistics);

/**
 * @brief Returns the sums of statistics.
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]     statistics The statistics.
 * @param[in,out] out_info   The caller sets its `struct_size`.
 *
 * @retval LPT_INVALID_ARGUMENT The statistics are on another device than the context.
 * @retval LPT_WORK_FAILED      On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_statistics_read(lpt_context *context, const lpt_statistics *statistics,
                                       lpt_statistics_info *out_info);

/**
 * @brief Sets all sums of statistics to zero.
 *
 * Device    On a GPU the change is queued.
 *
 * @param[in,out] statistics The statistics.
 *
 * @retval LPT_INVALID_ARGUMENT The statistics are on another device than the context.
 * @retval LPT_WORK_FAILED      On a GPU, the change cannot be queued.
 */
LPT_API lpt_status lpt_statistics_reset(lpt_context *context, lpt_statistics *statistics);

/** @brief Options of lpt_dequantize(). */
typedef struct lpt_dequantize_options {
  size_t struct_size; /**< sizeof(lpt_dequantize_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY. */
} lpt_dequantize_options;

/** @brief Defaults of lpt_dequantize_options. */
#define LPT_DEQUANTIZE_OPTIONS_INIT \
  { sizeof(lpt_dequantize_options), 0 }

/**
 * @brief Decodes a matrix to a wide float: (element - zero point) · (block scale · tensor scale).
 *
 * Shapes    `source` and `output` are rows × columns.
 *
 * Formats   `source` is of any format of numbers except 2:4 formats. `output` is f64, f32, bf16 or f16.
 *
 * Rounding  Values are computed in f32. bf16 and f16 are rounded to nearest even, to infinity beyond their range. f64
 *           to f64 is copied.
 *
 * Overlap   `output` must not overlap `source`.
 *
 * Device    Both tensors are on the context's device.
 *
 * @param[in]  source  The matrix.
 * @param[in]  options NULL: the defaults.
 * @param[out] output  The values.
 *
 * @retval LPT_INVALID_ARGUMENT Shapes do not agree, or `output` overlaps `source`.
 * @retval LPT_UNSUPPORTED      The format of a tensor is not supported, or elements of a row are not adjacent.
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 * @retval LPT_WORK_FAILED      On a GPU, the work cannot be queued.
 */
LPT_API lpt_status lpt_dequantize(lpt_context *context, const lpt_tensor *source, const lpt_dequantize_options *options,
                                  lpt_tensor *output);

/** @brief Options of lpt_hadamard(). */
typedef struct lpt_hadamard_options {
  size_t struct_size;      /**< sizeof(lpt_hadamard_options) of the caller. */
  lpt_flags flags;         /**< LPT_CHECK_ONLY. */
  int32_t size;            /**< Columns of a group: a power of two from 16 to 8192. */
  int32_t is_inverse;      /**< 1: apply the inverse rotation; 0: rotate. */
  const lpt_tensor *signs; /**< Vector of int8, 1 or -1, of `size` for every group or of all columns; NULL: all 1. */
} lpt_hadamard_options;

/** @brief Defaults of lpt_hadamard_options. */
#define LPT_HADAMARD_OPTIONS_INIT \
  { sizeof(lpt_hadamard_options), 0, 16, 0, NULL }

/**
 * @brief Rotates each group of columns by a Hadamard matrix.
 *
 * The result is `(source ⊙ signs) · H / sqrt(size)` with `H(i, j) = (-1)^popcount(i and j)`. H is Sylvester's matrix,
 * orthogonal and its own inverse. The inverse rotation applies the signs last.
 *
 * Shapes    `source` and `output` are rows × columns. A short last group is split into powers of two, the largest
 *           first, each with a matrix H of its size.
 *
 * Formats   `source` and `output` are f64, f32, bf16 or f16.
 *
 * Rounding  f64 is rounded to f32 first. The rotation takes log2(size) steps of one f32 addition, with strides 1, 2, 4
 *           and so on. One multiplication by `1 / sqrt(size)` follows. The result is then rounded to the output's
 *           format.
 *
 * Overlap   `output` may be the source itself if format and strides are the same. Otherwise they must not overlap.
 *
 * Device    All tensors are on the context's device. A GPU does not check the values of `signs`.
 *
 * @param[in]  source  The values.
 * @param[in]  options NULL: the defaults.
 * @param[out] output  The rotated values.
 *
 * @retval LPT_INVALID_ARGUMENT Shapes do not agree, `output` overlaps `source`, `size` or `is_inverse` is out of range,
 *                              or `signs` has a wrong length, format or value.
 * @retval LPT_UNSUPPORTED      The format of a tensor is not supported, or elements of a row are not adjacent.
 * @retval LPT_WORK_FAILED      On a GPU, the work cannot be queued.
 */
LPT_API lpt_status lpt_hadamard(lpt_context *context, const lpt_tensor *source, const lpt_hadamard_options *options,
                                lpt_tensor *output);

/**
 * @brief Draws random signs for lpt_hadamard().
 *
 * Random    Element i is -1 if the lowest random bit at index `offset + i` is set, else 1. Signs and casts share no
 *           bits.
 *
 * Device    `signs` is on the context's device. On a GPU the work is queued.
 *
 * @param[in]  random Must not be NULL.
 * @param[out] signs  Vector of int8.
 *
 * @retval LPT_INVALID_ARGUMENT `signs` is not a vector of int8 with data, or a member of `random` is out of range.
 * @retval LPT_WORK_FAILED      On a GPU, the work cannot be queued.
 */
LPT_API lpt_status lpt_hadamard_draw_signs(lpt_context *context, const lpt_random *random, lpt_tensor *signs);

/** @brief Options of lpt_convert(). */
typedef struct lpt_convert_options {
  size_t struct_size;         /**< sizeof(lpt_convert_options) of the caller. */
  lpt_flags flags;            /**< LPT_CHECK_ONLY. */
  lpt_statistics *statistics; /**< Counts the elements of the output; NULL: none. */
} lpt_convert_options;

/** @brief Defaults of lpt_convert_options. */
#define LPT_CONVERT_OPTIONS_INIT \
  { sizeof(lpt_convert_options), 0, NULL }

/**
 * @brief Converts codes between similar FP8 elements without a new amax.
 *
 * Codes that both elements have are kept. If the biases differ, the same codes mean values of another power of two.
 * That power is applied to the tensor scale, or to f32 block scales if there is none. Other scales are copied. Values
 * beyond the largest code of the output become that code. NaN stays NaN. Infinity becomes NaN, and -0 becomes 0, if the
 * output has no such code.
 *
 * Shapes    `source` and `output` are rows × columns.
 *
 * Formats   Elements of 8 bits with the same exponent and mantissa bits, such as e4m3fn, e4m3 and e4m3fnuz, or e5m2 and
 *           e5m2fnuz. The output has a NaN if the source has one. Scale formats and blocks are the same. If the biases
 *           differ, there is an f32 scale.
 *
 * Overlap   `output` and its scales must not overlap those of `source`.
 *
 * Device    The CPU; the tensors are in its memory.
 *
 * @param[in]  source  The codes.
 * @param[in]  options NULL: the defaults.
 * @param[out] output  The converted codes and scales.
 *
 * @retval LPT_INVALID_ARGUMENT Shapes do not agree, `output` overlaps `source`, the statistics are on another device,
 *                              or a scale would leave the normal range of f32.
 * @retval LPT_UNSUPPORTED      The elements are not similar, scales or blocks differ, no f32 scale can take the power
 *                              of two, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_convert(lpt_context *context, const lpt_tensor *source, const lpt_convert_options *options,
                               lpt_tensor *output);

#ifdef __cplusplus
}
#endif

#endif
