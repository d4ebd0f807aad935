/**
 * @file power.h
 * @brief Research: a model of the power of multiply-adds, and weights for a budget of additions (PANN, arXiv 2202.02783).
 *
 * The unit of power is the mean number of bits that change in a circuit per multiply-add.
 */
#ifndef LPT_RESEARCH_POWER_H
#define LPT_RESEARCH_POWER_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Circuit of a multiply-add; one of lpt_power_arithmetic_values. */
typedef int32_t lpt_power_arithmetic;

/**
 * @brief Values of lpt_power_arithmetic.
 *
 * w and x are the bits of weights and inputs, B those of the accumulator, R the mean number of additions per weight.
 */
enum lpt_power_arithmetic_values {
  /** A multiplier, 0.5 · max(w, x)² + 0.5 · (w + x), and a sum in two's complement, 0.5 · B + w + x. */
  LPT_POWER_ARITHMETIC_SIGNED = 0,
  /**
   * The same multiplier, and a sum of products that are not negative, 1.5 · (w + x).
   *
   * Inputs are not negative. The products of positive and of negative weights have separate sums. One subtraction per
   * output follows, which is not counted.
   */
  LPT_POWER_ARITHMETIC_UNSIGNED = 1,
  /** No multiplier: the input is added |code| times to one of two such sums, (R + 0.5) · x. */
  LPT_POWER_ARITHMETIC_ADDITIONS = 2
};

/** @brief A multiply-add, for lpt_power_estimate(). */
typedef struct lpt_power_options {
  size_t struct_size;              /**< sizeof(lpt_power_options) of the caller. */
  lpt_power_arithmetic arithmetic; /**< The circuit. Default SIGNED. */
  int32_t weight_bits;             /**< w, 1 to 64. Default 8. Not of ADDITIONS. */
  int32_t input_bits;              /**< x, 1 to 64. Default 8. */
  int32_t accumulator_bits;        /**< B, 1 to 256. Default 32. Of SIGNED. */
  double additions;                /**< R, 0 to 1e9. Of ADDITIONS. Default 0. */
} lpt_power_options;

/** @brief Defaults of lpt_power_options. */
#define LPT_POWER_OPTIONS_INIT \
  { sizeof(lpt_power_options), LPT_POWER_ARITHMETIC_SIGNED, 8, 8, 32, 0.0 }

/**
 * @brief Computes the power of a multiply-add.
 *
 * A budget of P for ADDITIONS gives R = P / x - 0.5.
 *
 * @param[in]  options    NULL for the defaults.
 * @param[out] out_flips  Bits that change per multiply-add, on average.
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range.
 */
LPT_API lpt_status lpt_power_estimate(lpt_context *context, const lpt_power_options *options, double *out_flips);

/** @brief Result of lpt_power_quantize(). */
typedef struct lpt_power_info {
  size_t struct_size;    /**< sizeof(lpt_power_info) of the caller. */
  double additions;      /**< Mean magnitude of the codes. */
  int64_t largest_code;  /**< Largest magnitude of a code. */
  int64_t clipped_count; /**< Weights beyond the largest code. */
} lpt_power_info;

/** @brief Defaults of lpt_power_info. */
#define LPT_POWER_INFO_INIT \
  { sizeof(lpt_power_info), 0.0, 0, 0 }

/**
 * @brief Casts a weight to integers whose mean magnitude is about `additions`.
 *
 * The scale of a block is the mean magnitude of its weights divided by `additions`; 1 if that is 0 in f32. Codes are
 * weight / scale, to nearest. The sum of |code| · input over a row, by the signs of the codes, is then a GEMM without
 * multiplications. lpt_gemm() with the output computes the same numbers.
 *
 * Formats   `weight` is f64, f32, bf16 or f16. `output` has signed integers with one f32 scale per block of a row, per row or
 *           per tensor, as int8_row.
 *
 * Rounding  Means are computed in f64; scales are rounded to f32.
 *
 * Device    CPU only.
 *
 * @param[in]  weight     Output columns × input columns, finite.
 * @param[in]  additions  Above 0, at most 1e6.
 * @param[out] output     The shape of `weight`.
 * @param[out] out_info   The caller sets `struct_size`. NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, tensors overlap, or a weight is not finite. `additions` is out of
 *                               range, or so small that a scale is beyond f32.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_power_quantize(lpt_context *context, const lpt_tensor *weight, double additions,
                                      lpt_tensor *output, lpt_power_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
