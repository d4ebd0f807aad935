/**
 * @file scaler.h
 * @brief Scalers: the history of magnitudes from which casts compute their scales.
 */
#ifndef LPT_SCALER_H
#define LPT_SCALER_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which amax a scaler gives to a cast; one of lpt_scaler_kind_values. */
typedef int32_t lpt_scaler_kind;

/** @brief Values of lpt_scaler_kind. */
enum lpt_scaler_kind_values {
  LPT_SCALER_KIND_CURRENT = 0, /**< The amax of the tensor that is cast; the scaler only records the history. */
  LPT_SCALER_KIND_DELAYED = 1  /**< The amax of the history by `history_rule`; if it is 0, by `zero_rule`. */
};

/** @brief Which amax of the history a scaler uses; one of lpt_scaler_history_rule_values. */
typedef int32_t lpt_scaler_history_rule;

/** @brief Values of lpt_scaler_history_rule. */
enum lpt_scaler_history_rule_values {
  LPT_SCALER_HISTORY_RULE_MAX = 0,    /**< The maximum of the history. */
  LPT_SCALER_HISTORY_RULE_LATEST = 1, /**< The latest entry. */
  /**
   * The latest entry, where an update stores d · latest entry + (1 - d) · amax, with `history_decay` d. The first update
   * stores its amax. This is the hindsight maximum of arXiv 2112.10769; tensors may clip.
   */
  LPT_SCALER_HISTORY_RULE_AVERAGE = 2
};

/** @brief What replaces an amax of 0, as at the first step; one of lpt_scaler_zero_rule_values. */
typedef int32_t lpt_scaler_zero_rule;

/** @brief Values of lpt_scaler_zero_rule. */
enum lpt_scaler_zero_rule_values {
  LPT_SCALER_ZERO_RULE_USE_CURRENT = 0, /**< The amax of the tensor that is cast. */
  LPT_SCALER_ZERO_RULE_ONE = 1,         /**< The scale is 1 (arXiv 2409.12517). */
  /** The last amax that was not 0; before there is one, the scale is 1 (Transformer Engine). */
  LPT_SCALER_ZERO_RULE_USE_LAST = 2
};

/** @brief Options of lpt_scaler_create(). */
typedef struct lpt_scaler_options {
  size_t struct_size;                   /**< sizeof(lpt_scaler_options) of the caller. */
  lpt_scaler_kind kind;                 /**< Which amax casts use. */
  int32_t history_length;               /**< Number of updates in the history, 1 to 65536. */
  int32_t margin;                       /**< Casts multiply amax by 2^margin; -64 to 64. */
  lpt_scaler_history_rule history_rule; /**< Which amax of the history a delayed scaler uses. */
  lpt_scaler_zero_rule zero_rule;       /**< What a delayed scaler uses if that amax is 0. */
  float history_decay;                  /**< With LPT_SCALER_HISTORY_RULE_AVERAGE: 0 to below 1. Otherwise 0. */
} lpt_scaler_options;

/** @brief Defaults of lpt_scaler_options. */
#define LPT_SCALER_OPTIONS_INIT                                                             \
  {                                                                                         \
    sizeof(lpt_scaler_options), LPT_SCALER_KIND_CURRENT, 1, 0, LPT_SCALER_HISTORY_RULE_MAX, \
        LPT_SCALER_ZERO_RULE_USE_CURRENT, 0.0f                                              \
  }

/** @brief State of a scaler, as lpt_scaler_read() returns it. */
typedef struct lpt_scaler_info {
  size_t struct_size;   /**< sizeof(lpt_scaler_info) of the caller. */
  float amax;           /**< Amax of the history by `history_rule`, without margin; 0 if the history is empty. */
  float running_amax;   /**< Maximum amax of the casts since the last update. */
  int64_t update_count; /**< Number of updates that added to the history. */
} lpt_scaler_info;

/** @brief Defaults of lpt_scaler_info. */
#define LPT_SCALER_INFO_INIT \
  { sizeof(lpt_scaler_info), 0.0f, 0.0f, 0 }

/**
 * @brief Creates a scaler, which records the amax of the casts of one site.
 *
 * A cast with the scaler records the amax of its source. The history changes only with lpt_scaler_update(). All
 * micro-batches of a step thus use the same scale with LPT_SCALER_KIND_DELAYED.
 *
 * Device    The history is on the context's device. On a GPU the call waits for the stream.
 *
 * @param[in]  options    NULL: the defaults.
 * @param[out] out_scaler Destroy it with lpt_scaler_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT An option is out of range.
 * @retval LPT_WORK_FAILED      On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_scaler_create(lpt_context *context, const lpt_scaler_options *options, lpt_scaler **out_scaler);

/**
 * @brief Destroys a scaler.
 *
 * @param[in] scaler NULL is allowed.
 */
LPT_API void lpt_scaler_destroy(lpt_scaler *scaler);

/**
 * @brief Completes an optimizer step: moves the running maximum of each scaler into its history.
 *
 * A scaler that recorded no cast keeps its history. Call the function once per step, after all micro-batches.
 *
 * Device    On a GPU the update is queued.
 *
 * @param[in,out] scalers      Array of `scaler_count` handles; may be NULL if `scaler_count` is 0.
 * @param[in]     scaler_count At least 0.
 *
 * @retval LPT_INVALID_ARGUMENT `scaler_count` is negative, or a scaler is on another device than the context.
 * @retval LPT_UNSUPPORTED      On a GPU, no kernel supports the update.
 * @retval LPT_WORK_FAILED      On a GPU, the update cannot be queued.
 */
LPT_API lpt_status lpt_scaler_update(lpt_context *context, lpt_scaler *const *scalers, int64_t scaler_count);

/**
 * @brief Returns the state of a scaler.
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]     scaler   The scaler.
 * @param[in,out] out_info The caller sets its `struct_size`.
 *
 * @retval LPT_INVALID_ARGUMENT The scaler is on another device than the context.
 * @retval LPT_WORK_FAILED      On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_scaler_read(lpt_context *context, const lpt_scaler *scaler, lpt_scaler_info *out_info);

/**
 * @brief Returns the number of bytes that lpt_scaler_state_save() writes.
 *
 * @param[in]  scaler         The scaler.
 * @param[out] out_size_bytes Number of bytes.
 */
LPT_API lpt_status lpt_scaler_state_size(lpt_context *context, const lpt_scaler *scaler, size_t *out_size_bytes);

/**
 * @brief Saves the state of a scaler.
 *
 * The state is portable, and holds a version and a checksum.
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]  scaler       The scaler.
 * @param[out] buffer       Receives lpt_scaler_state_size() bytes.
 * @param[in]  buffer_bytes At least lpt_scaler_state_size().
 *
 * @retval LPT_INVALID_ARGUMENT `buffer_bytes` is too small, or the scaler is on another device than the context.
 * @retval LPT_WORK_FAILED      On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_scaler_state_save(lpt_context *context, const lpt_scaler *scaler, void *buffer,
                                         size_t buffer_bytes);

/**
 * @brief Replaces the state of a scaler by a saved one.
 *
 * After an error the scaler is unchanged.
 *
 * Device    On a GPU the call waits for the stream. The saved scaler may have been on another device.
 *
 * @param[in,out] scaler       Its options equal those of the saved scaler.
 * @param[in]     buffer       Bytes of lpt_scaler_state_save().
 * @param[in]     buffer_bytes Length of `buffer`.
 *
 * @retval LPT_INVALID_ARGUMENT The scaler is on another device than the context.
 * @retval LPT_INVALID_STATE    The state is truncated, damaged, of another kind, or of a scaler with other options.
 * @retval LPT_WORK_FAILED      On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_scaler_state_load(lpt_context *context, lpt_scaler *scaler, const void *buffer,
                                         size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif
