/**
 * @file monitor.h
 * @brief Research: gradient noise, alignment of SwiGLU weights, and the monitor of a training run.
 */
#ifndef LPT_RESEARCH_MONITOR_H
#define LPT_RESEARCH_MONITOR_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Estimator of gradient noise; one of lpt_noise_kind_values. */
typedef int32_t lpt_noise_kind;

/** @brief Values of lpt_noise_kind. */
enum lpt_noise_kind_values {
  LPT_NOISE_KIND_REFERENCE = 0, /**< The first gradients are exact, the second ones noisy. */
  LPT_NOISE_KIND_TWO_DRAWS = 1  /**< Both are noisy, with independent random bits; the noise has mean zero. */
};

/** @brief Options of lpt_noise_measure(). */
typedef struct lpt_noise_options {
  size_t struct_size;  /**< sizeof(lpt_noise_options) of the caller. */
  lpt_flags flags;     /**< LPT_CHECK_ONLY or 0. */
  lpt_noise_kind kind; /**< Meaning of the two lists of gradients. Default REFERENCE. */
  int32_t reserved;    /**< Must be 0. */
} lpt_noise_options;

/** @brief Defaults of lpt_noise_options. */
#define LPT_NOISE_OPTIONS_INIT \
  { sizeof(lpt_noise_options), 0, LPT_NOISE_KIND_REFERENCE, 0 }

/** @brief Norms of gradient and noise. */
typedef struct lpt_noise_info {
  size_t struct_size;      /**< sizeof(lpt_noise_info) of the caller. */
  double gradient_norm;    /**< |g|, over all tensors. */
  double noise_norm;       /**< |q(g) - g|, of one noisy list. */
  double ratio;            /**< gradient_norm / noise_norm; infinity without noise. */
  int64_t nonfinite_count; /**< Pairs with an infinity or a NaN, which are ignored. */
  int32_t is_noisy;        /**< 1: the ratio is below the root of 3, and higher precision is advisable. */
  int32_t reserved;        /**< Always 0. */
} lpt_noise_info;

/** @brief Defaults of lpt_noise_info. */
#define LPT_NOISE_INFO_INIT \
  { sizeof(lpt_noise_info), 0.0, 0.0, 0.0, 0, 0, 0 }

/**
 * @brief Measures the noise that quantization adds to gradients, relative to their norm: |g| / |q(g) - g|.
 *
 * LPT_NOISE_KIND_TWO_DRAWS needs no exact gradient: |g|² is a · b, and the squared noise is |a - b|² / 2. More noise
 * slows descent most where the ratio is the root of 3. Below it, the paper raises the precision of the backward pass.
 * Measure the gradient of a full batch: the ratio of a single cast is much higher (7.3 for stochastic nvfp4).
 *
 * Formats   f32, bf16, f16 or f64.
 *
 * Rounding  Sums are f64, the same for any number of threads.
 *
 * Device    CPU only.
 *
 * Source    FP4 All the Way (arXiv 2505.19115), section 4.
 *
 * @param[in]  gradients  `count` tensors.
 * @param[in]  noisy      `count` tensors of the same shapes.
 * @param[in]  count      Length of both, at least 0.
 * @param[in]  options    NULL for the defaults.
 * @param[out] out_info   The caller sets `struct_size`; unchanged with LPT_CHECK_ONLY.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, `count` is negative, or `kind` is out of range.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_noise_measure(lpt_context *context, const lpt_tensor *const *gradients,
                                     const lpt_tensor *const *noisy, int64_t count, const lpt_noise_options *options,
                                     lpt_noise_info *out_info);

/** @brief Alignment of the two weights of a SwiGLU. */
typedef struct lpt_swiglu_alignment_info {
  size_t struct_size;      /**< sizeof(lpt_swiglu_alignment_info) of the caller. */
  double mean;             /**< Mean of the cosines of all channels. */
  double mean_magnitude;   /**< Mean of their magnitudes. */
  double largest;          /**< Cosine of maximum magnitude. */
  int64_t largest_channel; /**< Channel of that cosine; -1 without channels. */
} lpt_swiglu_alignment_info;

/** @brief Defaults of lpt_swiglu_alignment_info. */
#define LPT_SWIGLU_ALIGNMENT_INFO_INIT \
  { sizeof(lpt_swiglu_alignment_info), 0.0, 0.0, 0.0, -1 }

/**
 * @brief Measures the cosine between the gate weight and the up weight of each channel.
 *
 * Weight decay aligns them over long runs. The output of an aligned channel grows with the square of its input, and its
 * outliers make FP8 runs diverge (arXiv 2409.12517).
 *
 * Rounding  Sums are f64, the same for any number of threads.
 *
 * Device    CPU only.
 *
 * @param[in]  gate_weight  Channels × columns; f32, bf16, f16 or f64.
 * @param[in]  up_weight    The shape of `gate_weight`.
 * @param[out] cosines      f32 vector of channels; 0 where a weight is zero. No overlap with a weight. NULL: not
 *                          computed.
 * @param[out] out_info     The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, or `cosines` is not an f32 vector of channels or overlaps a weight.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_swiglu_alignment(lpt_context *context, const lpt_tensor *gate_weight,
                                        const lpt_tensor *up_weight, lpt_tensor *cosines,
                                        lpt_swiglu_alignment_info *out_info);

/**
 * @brief Creates an empty monitor.
 *
 * @param[out] out_monitor  Destroy with lpt_monitor_destroy().
 */
LPT_API lpt_status lpt_monitor_create(lpt_context *context, lpt_monitor **out_monitor);

/**
 * @brief Destroys a monitor.
 *
 * @param[in] monitor  NULL is allowed.
 */
LPT_API void lpt_monitor_destroy(lpt_monitor *monitor);

/**
 * @brief Records one value.
 *
 * @param[in,out] monitor  Monitor to change.
 * @param[in]     step     Step count of the caller.
 * @param[in]     name     Name of the value, not empty; copied.
 * @param[in]     value    Any value.
 * @retval LPT_INVALID_ARGUMENT  `name` is empty.
 */
LPT_API lpt_status lpt_monitor_record(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                      double value);

/**
 * @brief Records the amax of the scalers of a layer, and statistics of its casts if it is watched.
 *
 * Names are name/input/amax, name/weight/amax and name/gradient/amax. Each cast of a watched layer (lpt_linear_watch())
 * that ran since adds the values of lpt_monitor_record_statistics(). An example is name/forward_input/clipped. Casts
 * are forward_input, forward_weight, dgrad_gradient, dgrad_weight, wgrad_gradient and wgrad_input.
 *
 * Device    The layer is on the device of `context`. On a GPU the call waits for the stream. A layer on a GPU cannot be
 *           watched.
 *
 * @param[in,out] monitor  Monitor to change.
 * @param[in]     step     Step count of the caller.
 * @param[in]     name     Name of the layer, not empty.
 * @param[in]     linear   Layer to read.
 * @retval LPT_INVALID_ARGUMENT  `name` is empty, or `context` is of another device than the layer.
 */
LPT_API lpt_status lpt_monitor_record_linear(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                             const lpt_linear *linear);

/**
 * @brief Records statistics of casts: amax, and shares of clipped, underflowed and NaN elements.
 *
 * Names are name/amax, name/clipped, name/underflow, name/nan and name/relative_error. Shares are of all elements. The
 * relative error is the squared error over the sum of squares.
 *
 * @param[in,out] monitor     Monitor to change.
 * @param[in]     step        Step count of the caller.
 * @param[in]     name        Name of the casts, not empty.
 * @param[in]     statistics  Statistics that the casts wrote.
 * @retval LPT_INVALID_ARGUMENT  `name` is empty, or `context` is of another device than the statistics.
 */
LPT_API lpt_status lpt_monitor_record_statistics(lpt_context *context, lpt_monitor *monitor, int64_t step,
                                                 const char *name, const lpt_statistics *statistics);

/**
 * @brief Returns the number of recorded values.
 *
 * @param[in]  monitor    Monitor to read.
 * @param[out] out_count  At least 0.
 */
LPT_API lpt_status lpt_monitor_count(lpt_context *context, const lpt_monitor *monitor, int64_t *out_count);

/**
 * @brief Writes all values to a CSV file (RFC 4180).
 *
 * The header is step,name,value; one line per value follows, in the order of recording.
 *
 * @param[in] monitor  Monitor to read.
 * @param[in] path     Path of the file; an existing file is replaced.
 * @retval LPT_INVALID_ARGUMENT  The file cannot be written; the text holds the reason of the system.
 */
LPT_API lpt_status lpt_monitor_save(lpt_context *context, const lpt_monitor *monitor, const char *path);

#ifdef __cplusplus
}
#endif

#endif
