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

/** @brief How the noise of gradients is found; one of lpt_noise_kind_values. */
typedef int32_t lpt_noise_kind;

/** @brief Values of lpt_noise_kind. */
enum lpt_noise_kind_values {
  LPT_NOISE_KIND_REFERENCE = 0, /**< The first gradients are exact, the second ones noisy. */
  LPT_NOISE_KIND_TWO_DRAWS = 1  /**< Both are noisy, with random bits of their own; the noise has mean zero. */
};

/** @brief How to measure noise. */
typedef struct lpt_noise_options {
  size_t struct_size;  /**< sizeof(lpt_noise_options) of the caller. */
  uint64_t flags;      /**< LPT_CHECK_ONLY. */
  lpt_noise_kind kind; /**< What the two lists of gradients are. */
  int32_t reserved;    /**< 0. */
} lpt_noise_options;

/** @brief Defaults of lpt_noise_options. */
#define LPT_NOISE_OPTIONS_INIT \
  { sizeof(lpt_noise_options), 0, LPT_NOISE_KIND_REFERENCE, 0 }

/** @brief Noise against gradient. */
typedef struct lpt_noise_info {
  size_t struct_size;      /**< sizeof(lpt_noise_info) of the caller. */
  double gradient_norm;    /**< |g|, over all tensors. */
  double noise_norm;       /**< |q(g) - g|, of one noisy list. */
  double ratio;            /**< gradient_norm / noise_norm; infinity without noise. */
  int64_t nonfinite_count; /**< Pairs with an infinity or a NaN: left out. */
  int32_t is_noisy;        /**< 1: the ratio is below the root of 3, and higher precision is worth its price. */
  int32_t reserved;        /**< 0. */
} lpt_noise_info;

/** @brief Defaults of lpt_noise_info. */
#define LPT_NOISE_INFO_INIT \
  { sizeof(lpt_noise_info), 0.0, 0.0, 0.0, 0, 0, 0 }

/**
 * @brief Measures the noise that quantization put in gradients, against their norm: |g| / |q(g) - g|.
 *
 * With LPT_NOISE_KIND_TWO_DRAWS no exact gradient is needed: |g|² is a · b, and the squared noise |a - b|² / 2. Descent is
 * hurt most by more noise where the ratio is the root of 3; below it the paper raises the backward pass to higher precision.
 * To be asked of the gradient of a whole batch: that of one cast is far above (7.3 for stochastic nvfp4). In f64; the same
 * for any number of threads. Source: FP4 All the Way (arXiv 2505.19115), section 4.
 *
 * @param context the context.
 * @param gradients borrowed; `count` tensors, f32, bf16, f16 or f64.
 * @param noisy borrowed; `count` tensors of the same shapes.
 * @param count length of both.
 * @param options NULL for the defaults.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_noise_measure(lpt_context *context, const lpt_tensor *const *gradients,
                                     const lpt_tensor *const *noisy, int64_t count, const lpt_noise_options *options,
                                     lpt_noise_info *out_info);

/** @brief How far the two weights of a SwiGLU point the same way. */
typedef struct lpt_swiglu_alignment_info {
  size_t struct_size;      /**< sizeof(lpt_swiglu_alignment_info) of the caller. */
  double mean;             /**< Of the cosines of all channels. */
  double mean_magnitude;   /**< Of their magnitudes. */
  double largest;          /**< The cosine of largest magnitude. */
  int64_t largest_channel; /**< Its channel; -1 without channels. */
} lpt_swiglu_alignment_info;

/** @brief Defaults of lpt_swiglu_alignment_info. */
#define LPT_SWIGLU_ALIGNMENT_INFO_INIT \
  { sizeof(lpt_swiglu_alignment_info), 0.0, 0.0, 0.0, -1 }

/**
 * @brief Measures the cosine between the gate's and the up weight of each channel. Weight decay aligns them over long runs, and
 *        an aligned channel grows with the square of its input: the outliers that end FP8 runs (arXiv 2409.12517).
 * @param context the context.
 * @param gate_weight borrowed; channels × columns, f32, bf16, f16 or f64.
 * @param up_weight borrowed; of the same shape.
 * @param cosines written; f32 vector of channels; 0 where a weight is zero. NULL: not wanted.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_swiglu_alignment(lpt_context *context, const lpt_tensor *gate_weight,
                                        const lpt_tensor *up_weight, lpt_tensor *cosines,
                                        lpt_swiglu_alignment_info *out_info);

/**
 * @brief Creates an empty monitor.
 * @param context the context.
 * @param out_monitor returned; destroy with lpt_monitor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_create(lpt_context *context, lpt_monitor **out_monitor);

/**
 * @brief Destroys a monitor.
 * @param monitor NULL is allowed.
 */
LPT_API void lpt_monitor_destroy(lpt_monitor *monitor);

/**
 * @brief Records one number.
 * @param context the context.
 * @param monitor the monitor.
 * @param step when, as the caller counts.
 * @param name what; not empty; copied.
 * @param value the number.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_record(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                      double value);

/**
 * @brief Records the amax that a layer's three scalers know: name/input/amax, name/weight/amax, name/gradient/amax. Of a
 *        watched layer (lpt_linear_watch()) also what each cast that ran did since, as lpt_monitor_record_statistics():
 *        name/forward_input/clipped and so on; casts are forward_input, forward_weight, dgrad_gradient, dgrad_weight,
 *        wgrad_gradient, wgrad_input.
 * @param context the context.
 * @param monitor the monitor.
 * @param step when, as the caller counts.
 * @param name of the layer.
 * @param linear the layer.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_record_linear(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                             const lpt_linear *linear);

/**
 * @brief Records what casts did: name/amax, the shares name/clipped, name/underflow and name/nan of all elements, and
 *        name/relative_error, the squared error over the sum of squares.
 * @param context the context.
 * @param monitor the monitor.
 * @param step when, as the caller counts.
 * @param name of the casts.
 * @param statistics what the casts were given.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_record_statistics(lpt_context *context, lpt_monitor *monitor, int64_t step,
                                                 const char *name, const lpt_statistics *statistics);

/**
 * @brief Counts the numbers recorded.
 * @param context the context.
 * @param monitor the monitor.
 * @param out_count returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_monitor_count(lpt_context *context, const lpt_monitor *monitor, int64_t *out_count);

/**
 * @brief Writes all numbers as CSV (RFC 4180): a header step,name,value, then a line for each, in the order of recording.
 * @param context the context.
 * @param monitor the monitor.
 * @param path the file; what was there is replaced.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the file cannot be written.
 */
LPT_API lpt_status lpt_monitor_save(lpt_context *context, const lpt_monitor *monitor, const char *path);

#ifdef __cplusplus
}
#endif

#endif
