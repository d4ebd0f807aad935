/**
 * @file calibration.h
 * @brief Weights fitted to calibration data.
 */
#ifndef LPT_CALIBRATION_H
#define LPT_CALIBRATION_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How lpt_sparse_fit() works. */
typedef struct lpt_sparse_fit_options {
  size_t struct_size; /**< sizeof(lpt_sparse_fit_options) of the caller. */
  uint64_t flags;     /**< 0. */
  int32_t iterations; /**< Steps at most, 1 to 10000. */
  int32_t reserved;   /**< 0. */
  double damping;     /**< Added to the diagonal of inputsᵀ · inputs, times its mean; 0 to 1. */
} lpt_sparse_fit_options;

/** @brief Defaults of lpt_sparse_fit_options. */
#define LPT_SPARSE_FIT_OPTIONS_INIT \
  { sizeof(lpt_sparse_fit_options), 0, 32, 0, 1e-4 }

/** @brief What a fit came to: squared errors of the outputs, as shares of the outputs' sum of squares. */
typedef struct lpt_sparse_fit_info {
  size_t struct_size;      /**< sizeof(lpt_sparse_fit_info) of the caller. */
  double masked_error;     /**< Of the weight that is only masked. */
  double fitted_error;     /**< Of the fitted one. */
  int64_t iteration_count; /**< Steps done. */
} lpt_sparse_fit_info;

/** @brief Defaults of lpt_sparse_fit_info. */
#define LPT_SPARSE_FIT_INFO_INIT \
  { sizeof(lpt_sparse_fit_info), 0.0, 0.0, 0 }

/**
 * @brief Fits a masked weight to what the whole one gives for some inputs, without training: of all weights with this mask
 *        the one whose outputs are nearest, min |inputs · weightᵀ - inputs · outputᵀ|², by conjugate gradients.
 *
 * Rows are solved apart, all in f32, each from its masked weight on; they end where a step no longer helps. AdaPrune (arXiv
 * 2102.08124) minimizes the same by Adam. More inputs than columns make the fit hold beyond them.
 *
 * @param context the context.
 * @param weight borrowed; output columns × input columns, f64, f32, bf16 or f16.
 * @param mask borrowed; uint8, the weight's shape.
 * @param inputs borrowed; tokens × input columns, f32, bf16 or f16.
 * @param options NULL for the defaults.
 * @param output written; f32 of the weight's shape; zero where the mask is.
 * @param bias_change written; vector of f32, one per output column: what to add to the bias, fitted with the weight; NULL: not
 *        wanted.
 * @param out_info its `struct_size` is set by the caller; written; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_sparse_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                  const lpt_tensor *inputs, const lpt_sparse_fit_options *options, lpt_tensor *output,
                                  lpt_tensor *bias_change, lpt_sparse_fit_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
