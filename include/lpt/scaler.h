/**
 * @file scaler.h
 * @brief Scalers: scales that are kept from step to step.
 */
#ifndef LPT_SCALER_H
#define LPT_SCALER_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which amax a scaler gives; one of lpt_scaler_kind_values. */
typedef int32_t lpt_scaler_kind;

/** @brief Values of lpt_scaler_kind. */
enum lpt_scaler_kind_values {
  LPT_SCALER_KIND_CURRENT = 0, /**< That of the tensor at hand; the history is kept for the record. */
  LPT_SCALER_KIND_DELAYED = 1  /**< That of the history, by `history_rule`; while it gives none, by `zero_rule`. */
};

/** @brief Which amax of the history counts; one of lpt_scaler_history_rule_values. */
typedef int32_t lpt_scaler_history_rule;

/** @brief Values of lpt_scaler_history_rule. */
enum lpt_scaler_history_rule_values {
  LPT_SCALER_HISTORY_RULE_MAX = 0,   /**< The largest of all. */
  LPT_SCALER_HISTORY_RULE_LATEST = 1 /**< The latest. */
};

/** @brief What stands for an amax of zero, as at the first step; one of lpt_scaler_zero_rule_values. */
typedef int32_t lpt_scaler_zero_rule;

/** @brief Values of lpt_scaler_zero_rule. */
enum lpt_scaler_zero_rule_values {
  LPT_SCALER_ZERO_RULE_USE_CURRENT = 0, /**< The amax of the tensor at hand. */
  LPT_SCALER_ZERO_RULE_ONE = 1,         /**< The scale is 1 (arXiv 2409.12517). */
  LPT_SCALER_ZERO_RULE_USE_LAST =
      2 /**< The last amax that was not zero; the scale is 1 before there is one (Transformer Engine). */
};

/** @brief What a new scaler should be. */
typedef struct lpt_scaler_options {
  size_t struct_size;                   /**< sizeof(lpt_scaler_options) of the caller. */
  lpt_scaler_kind kind;                 /**< Which amax counts. */
  int32_t history_length;               /**< Updates that are remembered, 1 to 65536. */
  int32_t margin;                       /**< Amax is multiplied by 2^margin, -64 to 64. */
  lpt_scaler_history_rule history_rule; /**< Which amax of the history. */
  lpt_scaler_zero_rule zero_rule;       /**< What if it is zero. */
  int32_t reserved;                     /**< 0. */
} lpt_scaler_options;

/** @brief Defaults of lpt_scaler_options. */
#define LPT_SCALER_OPTIONS_INIT                                                             \
  {                                                                                         \
    sizeof(lpt_scaler_options), LPT_SCALER_KIND_CURRENT, 1, 0, LPT_SCALER_HISTORY_RULE_MAX, \
        LPT_SCALER_ZERO_RULE_USE_CURRENT, 0                                                 \
  }

/** @brief What a scaler knows. */
typedef struct lpt_scaler_info {
  size_t struct_size;   /**< sizeof(lpt_scaler_info) of the caller. */
  float amax;           /**< Largest of the history, without margin; 0 while it is empty. */
  float running_amax;   /**< Largest since the last update. */
  int64_t update_count; /**< Updates so far. */
} lpt_scaler_info;

/** @brief Defaults of lpt_scaler_info. */
#define LPT_SCALER_INFO_INIT \
  { sizeof(lpt_scaler_info), 0.0f, 0.0f, 0 }

/**
 * @brief Creates a scaler: the memory of amax for one site. A cast that is given it records its amax; nothing changes
 *        until lpt_scaler_update(), so that all micro-batches of a step are cast alike.
 * @param context the context.
 * @param options NULL for the defaults.
 * @param out_scaler returned; destroy with lpt_scaler_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_scaler_create(lpt_context *context, const lpt_scaler_options *options, lpt_scaler **out_scaler);

/**
 * @brief Destroys a scaler.
 * @param scaler NULL is allowed.
 */
LPT_API void lpt_scaler_destroy(lpt_scaler *scaler);

/**
 * @brief Ends a step: pushes each running amax into its history, if anything was recorded, and starts a new one.
 * @param context the context.
 * @param scalers borrowed.
 * @param scaler_count length of `scalers`.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_scaler_update(lpt_context *context, lpt_scaler *const *scalers, int64_t scaler_count);

/**
 * @brief Reads what a scaler knows.
 * @param context the context.
 * @param scaler the scaler.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_scaler_read(lpt_context *context, const lpt_scaler *scaler, lpt_scaler_info *out_info);

/**
 * @brief Returns how many bytes lpt_scaler_state_save() writes.
 * @param context the context.
 * @param scaler the scaler.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_scaler_state_size(lpt_context *context, const lpt_scaler *scaler, size_t *out_size_bytes);

/**
 * @brief Saves a scaler: portable, versioned, with a checksum.
 * @param context the context.
 * @param scaler the scaler.
 * @param buffer written.
 * @param buffer_bytes at least lpt_scaler_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_scaler_state_save(lpt_context *context, const lpt_scaler *scaler, void *buffer,
                                         size_t buffer_bytes);

/**
 * @brief Restores a scaler.
 * @param context the context.
 * @param scaler written; its options must be those of the saved one.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE, and nothing is changed.
 */
LPT_API lpt_status lpt_scaler_state_load(lpt_context *context, lpt_scaler *scaler, const void *buffer,
                                         size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif
