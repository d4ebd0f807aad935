/**
 * @file autopilot.h
 * @brief Research: an autopilot that moves GEMMs of linear layers along a ladder of recipes during training.
 *
 * The levels of a ladder are recipes, from the cheapest to the most precise one. Each of the three GEMMs of a layer has a
 * level of its own, 0 at the start. The caller reports the loss of each step, and signals from time to time. The
 * autopilot raises GEMMs whose signals exceed a limit while its budget lasts, and lowers them after they were calm.
 *
 * Decisions depend only on the reports and their order. Equal reports give equal decisions on every machine.
 *
 * Ranks     Ranks that train the same weights report equal values: reduce the loss and the signals first.
 *
 * Threads   One thread at a time uses an autopilot.
 */
#ifndef LPT_RESEARCH_AUTOPILOT_H
#define LPT_RESEARCH_AUTOPILOT_H

#include "../recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Why an autopilot changed a level; one of lpt_autopilot_reason_values. */
typedef int32_t lpt_autopilot_reason;

/**
 * @brief Values of lpt_autopilot_reason, the most urgent first.
 *
 * The value that lpt_autopilot_decision stores is compared with the limit of lpt_autopilot_options.
 */
enum lpt_autopilot_reason_values {
  /** The loss is not finite (all GEMMs), or casts of the GEMM have a NaN. Raises to the last level. Value: the count. */
  LPT_AUTOPILOT_REASON_NONFINITE = 0,
  LPT_AUTOPILOT_REASON_LOSS = 1,    /**< All GEMMs: the loss, in deviations above its mean. */
  LPT_AUTOPILOT_REASON_CLIPPED = 2, /**< The clipped share of the elements of a cast of the GEMM. */
  /** The amax of a cast of the GEMM, divided by the mean of its reports before. */
  LPT_AUTOPILOT_REASON_AMAX_GROWTH = 3,
  /** All GEMMs of the layer that reads a SwiGLU: the largest magnitude of lpt_swiglu_alignment_info. */
  LPT_AUTOPILOT_REASON_ALIGNMENT = 4,
  /** Dgrad and wgrad: the ratio of lpt_noise_info is below its limit. They are not lowered again. */
  LPT_AUTOPILOT_REASON_NOISE_RATIO = 5,
  /**
   * The budget suffices for the last level until the end: of all forward GEMMs, later of all GEMMs. Value: the cost of
   * these steps; limit: what is left.
   */
  LPT_AUTOPILOT_REASON_LAST_STEPS = 6,
  LPT_AUTOPILOT_REASON_CALM = 7 /**< Lowers by a level. Value: decisions without an urgent reason. */
};

/**
 * @brief Options of lpt_autopilot_create().
 *
 * A limit of 0 disables its reason.
 */
typedef struct lpt_autopilot_options {
  size_t struct_size;        /**< sizeof(lpt_autopilot_options) of the caller. */
  int64_t step_count;        /**< Steps of the run, 1 to 2^40. Default 0: not set. */
  int64_t interval;          /**< Steps between two decisions, 1 to 2^40. Default 20. */
  double budget;             /**< Mean cost of a multiply-add over the run, costs[0] to 1e30. Default 0.25. */
  double loss_limit;         /**< Deviations above the mean. Default 6. */
  double clipped_limit;      /**< Share. By design nvfp4 clips 3 % of normal values, SAWB 2 %. Default 0.1. */
  double amax_growth_limit;  /**< Factor. Default 4. */
  double alignment_limit;    /**< Magnitude of a cosine. Default 0.9. */
  double noise_ratio_limit;  /**< Lower limit. Default the root of 3, arXiv 2505.19115. */
  int64_t calm_decisions;    /**< Decisions after which a calm GEMM is lowered; 0: never. Default 10. */
  int32_t raises_last_steps; /**< 1: LAST_STEPS is a reason. 0: it is not. Default 1. */
  int32_t reserved;          /**< Must be 0. */
} lpt_autopilot_options;

/** @brief Defaults of lpt_autopilot_options. */
#define LPT_AUTOPILOT_OPTIONS_INIT \
  { sizeof(lpt_autopilot_options), 0, 20, 0.25, 6.0, 0.1, 4.0, 0.9, 1.7320508075688772, 10, 1, 0 }

/**
 * @brief One change of the level of a GEMM.
 *
 * The struct has no `struct_size` and never changes, because arrays contain it.
 */
typedef struct lpt_autopilot_decision {
  int64_t step;                /**< Step after which the level changed. */
  int32_t layer;               /**< Index of the layer. */
  lpt_linear_gemm gemm;        /**< Which GEMM of it. */
  int32_t old_level;           /**< Level before. */
  int32_t new_level;           /**< Level from the next step on. */
  lpt_autopilot_reason reason; /**< Why. */
  int32_t reserved;            /**< Always 0. */
  double value;                /**< What was measured. */
  double limit;                /**< What it was compared with. */
} lpt_autopilot_decision;

/** @brief State of an autopilot. */
typedef struct lpt_autopilot_info {
  size_t struct_size;     /**< sizeof(lpt_autopilot_info) of the caller. */
  int64_t steps_done;     /**< Calls of lpt_autopilot_step(). */
  int64_t decision_count; /**< Changes of levels. */
  double mean_cost;       /**< Mean cost of a multiply-add of the steps done; costs[0] before the first. */
  double next_cost;       /**< Mean cost of a multiply-add of the next step. */
} lpt_autopilot_info;

/** @brief Defaults of lpt_autopilot_info. */
#define LPT_AUTOPILOT_INFO_INIT \
  { sizeof(lpt_autopilot_info), 0, 0, 0.0, 0.0 }

/**
 * @brief Creates an autopilot.
 *
 * A decision raises a GEMM only if the run stays within the budget with all GEMMs at their new levels until its end.
 * More urgent reasons come first, then larger errors of the casts of a GEMM relative to its cost, then lower indices.
 *
 * The mean of the loss is exponential with weight 1/32, and so is the deviation. The mean of an amax has weight 1/8.
 *
 * @param[in]  ladder       `level_count` recipes, copied.
 * @param[in]  costs        `level_count` costs of a multiply-add, at least 0 and ascending, for example its time or its
 *                          bits. With 0 and 1, the budget is the share of the work at the last level.
 * @param[in]  level_count  2 to 64.
 * @param[in]  work         `layer_count` numbers: multiply-adds of each GEMM of a layer in a step, positive.
 * @param[in]  layer_count  1 to 2^20.
 * @param[in]  options      `step_count` is required.
 * @param[out] out_autopilot  Destroy with lpt_autopilot_destroy().
 * @retval LPT_INVALID_ARGUMENT  A number is out of range.
 */
LPT_API lpt_status lpt_autopilot_create(lpt_context *context, const lpt_recipe *const *ladder, const double *costs,
                                        int32_t level_count, const double *work, int32_t layer_count,
                                        const lpt_autopilot_options *options, lpt_autopilot **out_autopilot);

/**
 * @brief Destroys an autopilot.
 *
 * @param[in] autopilot  NULL is allowed.
 */
LPT_API void lpt_autopilot_destroy(lpt_autopilot *autopilot);

/**
 * @brief Reports a signal for the next decision; the worst of several reports counts.
 *
 * @param[in,out] autopilot  Autopilot to change.
 * @param[in]     layer      Index of a layer; -1: all layers.
 * @param[in]     signal     LPT_AUTOPILOT_REASON_ALIGNMENT or LPT_AUTOPILOT_REASON_NOISE_RATIO.
 * @param[in]     value      What was measured; not NaN.
 * @retval LPT_INVALID_ARGUMENT  `layer` or `signal` is out of range, or `value` is NaN.
 */
LPT_API lpt_status lpt_autopilot_observe(lpt_context *context, lpt_autopilot *autopilot, int32_t layer,
                                         lpt_autopilot_reason signal, double value);

/**
 * @brief Reports the casts of a watched layer for the next decision: NaNs, clipped shares, amax and errors.
 *
 * Watch layers (lpt_linear_watch()) in the last step of each interval only: watched casts take longer.
 *
 * @param[in,out] autopilot  Autopilot to change.
 * @param[in]     layer      Index of the layer.
 * @param[in]     linear     Layer to read. Casts that did not run since lpt_linear_watch() report nothing.
 * @retval LPT_INVALID_ARGUMENT  `layer` is out of range.
 */
LPT_API lpt_status lpt_autopilot_observe_linear(lpt_context *context, lpt_autopilot *autopilot, int32_t layer,
                                                const lpt_linear *linear);

/**
 * @brief Ends a step: adds its cost, and changes levels.
 *
 * Reasons of the loss and LAST_STEPS are decided in each step, the others in the last step of each interval. Nothing
 * changes after the last step of the run. After changes, set the recipe of each layer (lpt_autopilot_recipe(),
 * lpt_linear_set_recipe()), prepare its weight, and create saved data of the new size.
 *
 * @param[in,out] autopilot         Autopilot to change.
 * @param[in]     step              Index of the step, from 0: the steps_done of lpt_autopilot_info.
 * @param[in]     loss              Training loss of the step; may be infinite or NaN.
 * @param[out]    out_change_count  Number of GEMMs whose level changed.
 * @retval LPT_INVALID_ARGUMENT  `step` is not the next one, or not below `step_count`.
 */
LPT_API lpt_status lpt_autopilot_step(lpt_context *context, lpt_autopilot *autopilot, int64_t step, double loss,
                                      int64_t *out_change_count);

/**
 * @brief Creates the recipe of a layer: the casts and options of each GEMM are those of its level.
 *
 * Scalers of input and weight, and the sparsity of the weight, are those of the level of forward. The scaler of the
 * gradient is that of the level of dgrad, and the sparsity of the gradient that of wgrad. Backward GEMMs that cast from
 * the forward operands use those of the level of forward.
 *
 * @param[in]  autopilot   Autopilot to read.
 * @param[in]  layer       Index of the layer.
 * @param[out] out_recipe  Destroy with lpt_recipe_destroy().
 * @retval LPT_INVALID_ARGUMENT  `layer` is out of range.
 */
LPT_API lpt_status lpt_autopilot_recipe(lpt_context *context, const lpt_autopilot *autopilot, int32_t layer,
                                        lpt_recipe **out_recipe);

/**
 * @brief Reads the state of an autopilot.
 *
 * @param[in]  autopilot  Autopilot to read.
 * @param[out] out_info   The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_autopilot_read(lpt_context *context, const lpt_autopilot *autopilot,
                                      lpt_autopilot_info *out_info);

/**
 * @brief Copies all decisions, in order.
 *
 * @param[in]  autopilot       Autopilot to read.
 * @param[in]  decision_count  Length of the array: the decision_count of lpt_autopilot_read().
 * @param[out] decisions       May be NULL without decisions.
 * @retval LPT_INVALID_ARGUMENT  `decision_count` is another number.
 */
LPT_API lpt_status lpt_autopilot_decisions(lpt_context *context, const lpt_autopilot *autopilot, int64_t decision_count,
                                           lpt_autopilot_decision *decisions);

/**
 * @brief Makes an autopilot follow a list of decisions instead of signals, for example that of another run.
 *
 * @param[in,out] autopilot       Autopilot to change.
 * @param[in]     decisions       Copied; in order of their steps. Its own decisions so far are the first ones of the list.
 * @param[in]     decision_count  Length of the list, at least 0.
 * @retval LPT_INVALID_ARGUMENT  The list does not start with the decisions so far. Or one of the others is out of range,
 *                               in a step that is done, or its `old_level` is not the level of the GEMM.
 */
LPT_API lpt_status lpt_autopilot_replay(lpt_context *context, lpt_autopilot *autopilot,
                                        const lpt_autopilot_decision *decisions, int64_t decision_count);

/**
 * @brief Returns the number of bytes that lpt_autopilot_state_save() writes.
 *
 * @param[in]  autopilot       Autopilot to read.
 * @param[out] out_size_bytes  It grows with the number of decisions.
 */
LPT_API lpt_status lpt_autopilot_state_size(lpt_context *context, const lpt_autopilot *autopilot,
                                            size_t *out_size_bytes);

/**
 * @brief Saves the levels, the decisions, and what was reported.
 *
 * The ladder and the options are not saved. The state is portable, versioned and protected by a checksum.
 *
 * @param[in]  autopilot     Autopilot to read.
 * @param[out] buffer        At least lpt_autopilot_state_size() bytes.
 * @param[in]  buffer_bytes  Size of `buffer`.
 * @retval LPT_INVALID_ARGUMENT  `buffer_bytes` is too small.
 */
LPT_API lpt_status lpt_autopilot_state_save(lpt_context *context, const lpt_autopilot *autopilot, void *buffer,
                                            size_t buffer_bytes);

/**
 * @brief Restores a saved state.
 *
 * A list of lpt_autopilot_replay() is dropped.
 *
 * @param[in,out] autopilot     Created with as many levels, layers and steps as the saved one.
 * @param[in]     buffer        A saved state.
 * @param[in]     buffer_bytes  Size of the saved state.
 * @retval LPT_INVALID_STATE  The state is truncated, damaged or of another shape; nothing is changed.
 */
LPT_API lpt_status lpt_autopilot_state_load(lpt_context *context, lpt_autopilot *autopilot, const void *buffer,
                                            size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif
