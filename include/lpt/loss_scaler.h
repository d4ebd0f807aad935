/**
 * @file loss_scaler.h
 * @brief Loss scalers: a factor of the loss that keeps small gradients in the range of f16 and FP8.
 *
 * A loss scaler is not a scaler (lpt/scaler.h), which records magnitudes for the scales of casts.
 *
 * Device    The state is in CPU memory, for contexts of every device.
 */
#ifndef LPT_LOSS_SCALER_H
#define LPT_LOSS_SCALER_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Options of lpt_loss_scaler_create().
 *
 * Scales are rounded to f32 and lie in [2^-126, 2^126], so that a scale and its inverse are normal f32 values. With
 * powers of two the step divides exactly unless a result is subnormal. Otherwise the inverse and each quotient are
 * rounded to f32. With both factors 1 the scale is constant.
 */
typedef struct lpt_loss_scaler_options {
  size_t struct_size;      /**< sizeof(lpt_loss_scaler_options) of the caller. */
  double initial_scale;    /**< First scale, in [min_scale, max_scale]. Default 65536. */
  double growth_factor;    /**< Factor of the scale after growth_interval updates, in [1, 2^126]. Default 2. */
  double backoff_factor;   /**< Factor of the scale after a skipped step, in [2^-126, 1]. Default 0.5. */
  int64_t growth_interval; /**< Consecutive updates without a skipped step before a growth, at least 1. Default 2000. */
  double min_scale;        /**< A backoff below it is not made. Default 2^-126. */
  double max_scale;        /**< A growth above it is not made. Default 2^126. */
} lpt_loss_scaler_options;

/** @brief Defaults of lpt_loss_scaler_options. */
#define LPT_LOSS_SCALER_OPTIONS_INIT \
  { sizeof(lpt_loss_scaler_options), 65536.0, 2.0, 0.5, 2000, 1.1754943508222875e-38, 8.507059173023462e37 }

/** @brief State of a loss scaler, as lpt_loss_scaler_read() returns it. */
typedef struct lpt_loss_scaler_info {
  size_t struct_size;    /**< sizeof(lpt_loss_scaler_info) of the caller. */
  double scale;          /**< Factor of the loss until the next update, an f32 value. */
  int64_t finite_count;  /**< Updates without a skipped step since the last growth, skipped step or creation. */
  int64_t skipped_count; /**< Updates with a skipped step. */
  int32_t is_skipped;    /**< 1: a step since the last update was skipped. */
  int32_t reserved;      /**< Always 0. */
} lpt_loss_scaler_info;

/** @brief Defaults of lpt_loss_scaler_info. */
#define LPT_LOSS_SCALER_INFO_INIT \
  { sizeof(lpt_loss_scaler_info), 0.0, 0, 0, 0, 0 }

/**
 * @brief Creates a loss scaler.
 *
 * A training step multiplies the loss, or the gradient that backward starts from, by `scale` of lpt_loss_scaler_read().
 * It passes the scaler as `loss_scaler` of lpt_optimizer_step_options to each optimizer and parameter group, and then
 * calls lpt_loss_scaler_update() once.
 *
 * Source    torch.amp.GradScaler; Mixed precision training, arXiv 1710.03740.
 *
 * @param[in]  options          NULL for the defaults.
 * @param[out] out_loss_scaler  Destroy with lpt_loss_scaler_destroy(), after the steps that use it.
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range.
 */
LPT_API lpt_status lpt_loss_scaler_create(lpt_context *context, const lpt_loss_scaler_options *options,
                                          lpt_loss_scaler **out_loss_scaler);

/**
 * @brief Destroys a loss scaler.
 *
 * @param[in] loss_scaler  NULL is allowed.
 */
LPT_API void lpt_loss_scaler_destroy(lpt_loss_scaler *loss_scaler);

/**
 * @brief Updates the scale after the steps of all optimizers and parameter groups.
 *
 * If a step since the last update was skipped, the scale is multiplied by backoff_factor. After growth_interval updates
 * without a skipped step it is multiplied by growth_factor. The scale remains where the result would leave [min_scale,
 * max_scale]; the count restarts nevertheless. Nothing is sent: ranks that decide alike have equal scales, see
 * lpt_optimizer_step_options.loss_scaler.
 *
 * @param[in,out] loss_scaler  Loss scaler to change.
 * @retval LPT_INVALID_ARGUMENT  No step has used the scaler since the last update.
 */
LPT_API lpt_status lpt_loss_scaler_update(lpt_context *context, lpt_loss_scaler *loss_scaler);

/**
 * @brief Reads the scale and the counts.
 *
 * @param[in]  loss_scaler  Loss scaler to read.
 * @param[out] out_info     The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_loss_scaler_read(lpt_context *context, const lpt_loss_scaler *loss_scaler,
                                        lpt_loss_scaler_info *out_info);

/**
 * @brief Returns the number of bytes that lpt_loss_scaler_state_save() writes.
 *
 * @param[in]  loss_scaler     The loss scaler.
 * @param[out] out_size_bytes  Number of bytes.
 */
LPT_API lpt_status lpt_loss_scaler_state_size(lpt_context *context, const lpt_loss_scaler *loss_scaler,
                                              size_t *out_size_bytes);

/**
 * @brief Saves the scale and the counts: portable, versioned, with a checksum.
 *
 * @param[in]  loss_scaler   The loss scaler.
 * @param[out] buffer        Receives lpt_loss_scaler_state_size() bytes.
 * @param[in]  buffer_bytes  At least lpt_loss_scaler_state_size().
 * @retval LPT_INVALID_ARGUMENT  `buffer_bytes` is too small.
 */
LPT_API lpt_status lpt_loss_scaler_state_save(lpt_context *context, const lpt_loss_scaler *loss_scaler, void *buffer,
                                              size_t buffer_bytes);

/**
 * @brief Replaces the scale and the counts by saved ones.
 *
 * The options of the scaler do not change.
 *
 * @param[in,out] loss_scaler   Loss scaler to change; its options may differ from those of the saved one.
 * @param[in]     buffer        Bytes of lpt_loss_scaler_state_save().
 * @param[in]     buffer_bytes  Length of `buffer`.
 * @retval LPT_INVALID_STATE  The state is truncated, damaged or of another kind, or its scale is not in [min_scale,
 *                            max_scale]; nothing is changed.
 */
LPT_API lpt_status lpt_loss_scaler_state_load(lpt_context *context, lpt_loss_scaler *loss_scaler, const void *buffer,
                                              size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif
