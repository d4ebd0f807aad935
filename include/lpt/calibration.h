/**
 * @file calibration.h
 * @brief Fits sparse weights to calibration data.
 */
#ifndef LPT_CALIBRATION_H
#define LPT_CALIBRATION_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of lpt_sparse_fit(). */
typedef struct lpt_sparse_fit_options {
  size_t struct_size; /**< sizeof(lpt_sparse_fit_options) of the caller. */
  lpt_flags flags;    /**< Must be 0. */
  int32_t iterations; /**< Maximum of steps, 1 to 10000. Default 32. */
  int32_t reserved;   /**< Must be 0. */
  /** Share of the mean diagonal of inputsᵀ · inputs that is added to the diagonal, 0 to 1. Default 1e-4. */
  double damping;
} lpt_sparse_fit_options;

/** @brief Defaults of lpt_sparse_fit_options. */
#define LPT_SPARSE_FIT_OPTIONS_INIT \
  { sizeof(lpt_sparse_fit_options), 0, 32, 0, 1e-4 }

/** @brief Result of a fit: squared errors of the outputs, relative to the sum of squares of the outputs. */
typedef struct lpt_sparse_fit_info {
  size_t struct_size;      /**< sizeof(lpt_sparse_fit_info) of the caller. */
  double masked_error;     /**< Error of the weight that is only masked. */
  double fitted_error;     /**< Error of the fitted weight. */
  int64_t iteration_count; /**< Steps done. */
} lpt_sparse_fit_info;

/** @brief Defaults of lpt_sparse_fit_info. */
#define LPT_SPARSE_FIT_INFO_INIT \
  { sizeof(lpt_sparse_fit_info), 0.0, 0.0, 0 }

/**
 * @brief Fits a masked weight to the outputs of the dense weight, without training.
 *
 * Minimizes |inputs · weightᵀ - inputs · outputᵀ|² over all weights with this mask, by conjugate gradients. Each row
 * starts at its masked weight and stops where a step no longer reduces its error. To generalize, use more inputs than
 * columns.
 *
 * Rounding  All matrices are f32, sums of a row f64.
 *
 * Device    CPU only.
 *
 * Source    AdaPrune (Hubara et al., arXiv 2102.08124) minimizes the same error with Adam.
 *
 * @param[in]  weight       Output columns × input columns; f64, f32, bf16 or f16.
 * @param[in]  mask         uint8, the shape of `weight`; an element other than 0 is kept.
 * @param[in]  inputs       Tokens × input columns; f64, f32, bf16 or f16.
 * @param[in]  options      NULL for the defaults.
 * @param[out] output       f32, the shape of `weight`; zero where the mask is 0. No overlap with an input.
 * @param[out] bias_change  Vector of f32, one element per output column, to be added to the bias. The weight is fitted
 *                          with it. NULL: not computed.
 * @param[out] out_info     The caller sets `struct_size`. NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, an output overlaps another tensor, or a member of `options` is out
 *                               of range.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; the outputs are unchanged.
 */
LPT_API lpt_status lpt_sparse_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                  const lpt_tensor *inputs, const lpt_sparse_fit_options *options, lpt_tensor *output,
                                  lpt_tensor *bias_change, lpt_sparse_fit_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
