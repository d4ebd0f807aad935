/**
 * @file delay.h
 * @brief Research: gradients that are corrected for parameters of the previous step (DC-S3GD, arXiv 1911.02516).
 *
 * Ranks average their parameters while they compute the next gradients. docs/guides/distributed.md has the loop.
 */
#ifndef LPT_RESEARCH_DELAY_H
#define LPT_RESEARCH_DELAY_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Tensors that share one factor of the correction; one of lpt_delay_norm_values. */
typedef int32_t lpt_delay_norm;

/** @brief Values of lpt_delay_norm. */
enum lpt_delay_norm_values {
  LPT_DELAY_NORM_TENSOR = 0, /**< Each tensor has its own factor. */
  LPT_DELAY_NORM_GLOBAL = 1  /**< All tensors of a call have one factor. */
};

/** @brief Options of lpt_delay_compensate(). */
typedef struct lpt_delay_options {
  size_t struct_size;  /**< sizeof(lpt_delay_options) of the caller. */
  lpt_flags flags;     /**< LPT_CHECK_ONLY or 0. */
  double strength;     /**< Norm of the correction, relative to the gradient; 0 to 1e9. Default 0.2. */
  lpt_delay_norm norm; /**< Tensors with one factor. Default TENSOR. */
  int32_t reserved;    /**< Must be 0. */
} lpt_delay_options;

/** @brief Defaults of lpt_delay_options. */
#define LPT_DELAY_OPTIONS_INIT \
  { sizeof(lpt_delay_options), 0, 0.2, LPT_DELAY_NORM_TENSOR, 0 }

/**
 * @brief Corrects gradients of the parameters of this rank to first order for the mean parameters of all ranks.
 *
 * With the distance D = mean - own, a gradient g becomes g + λ g · g · D, element by element. Here g · g stands for the
 * Hessian. λ is strength · |g| / |g · g · D|, or 0 if that norm is 0. Thus the correction has the norm strength · |g|
 * for every distance that is not 0. `own` and `mean` are parameters, or updates of equal parameters.
 *
 * A gradient or distance that is not finite makes all gradients with its λ NaN. A step with `is_nonfinite_skipped` is
 * then skipped.
 *
 * Shapes    own[i], mean[i] and gradients[i] have one shape. Rows are adjacent elements.
 *
 * Formats   Each tensor is f32, bf16, f16 or f64.
 *
 * Rounding  Computed in f64, the same bits for any number of threads. Results are rounded to nearest even, to formats of
 *           16 bits by way of f32.
 *
 * Device    CPU only.
 *
 * Overlap   gradients[i] may not overlap own[i] or mean[i].
 *
 * @param[in]     own        `count` tensors of this rank, of which `mean` is the mean over ranks.
 * @param[in]     mean       `count` tensors.
 * @param[in]     count      Length of the three arrays, at least 0.
 * @param[in]     options    NULL for the defaults.
 * @param[in,out] gradients  `count` tensors; unchanged where λ is 0.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, tensors overlap, `count` is negative, or an option is out of range.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_delay_compensate(lpt_context *context, const lpt_tensor *const *own,
                                        const lpt_tensor *const *mean, int64_t count, const lpt_delay_options *options,
                                        lpt_tensor *const *gradients);

#ifdef __cplusplus
}
#endif

#endif
