/**
 * @file nn.h
 * @brief Layers around the linear ones: SwiGLU, RMSNorm, softmax and cross-entropy loss.
 */
#ifndef LPT_NN_H
#define LPT_NN_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How a SwiGLU is smoothed for the cast that follows; one of lpt_swiglu_smoothing_values. */
typedef int32_t lpt_swiglu_smoothing;

/** @brief Values of lpt_swiglu_smoothing. */
enum lpt_swiglu_smoothing_values {
  LPT_SWIGLU_SMOOTHING_NONE = 0,   /**< Plain SwiGLU. */
  LPT_SWIGLU_SMOOTHING_CHANNEL = 1 /**< Smooth-SwiGLU: one factor per column, the power of two at or above max |up|. */
};

/** @brief How to compute a SwiGLU. */
typedef struct lpt_swiglu_options {
  size_t struct_size;             /**< sizeof(lpt_swiglu_options) of the caller. */
  uint64_t flags;                 /**< LPT_CHECK_ONLY. */
  lpt_swiglu_smoothing smoothing; /**< Whether factors are wanted. */
  int32_t reserved;               /**< 0. */
} lpt_swiglu_options;

/** @brief Defaults of lpt_swiglu_options. */
#define LPT_SWIGLU_OPTIONS_INIT \
  { sizeof(lpt_swiglu_options), 0, LPT_SWIGLU_SMOOTHING_NONE, 0 }

/**
 * @brief Computes output = silu(gate) · up, where silu(x) = x / (1 + exp(-x)).
 *
 * With LPT_SWIGLU_SMOOTHING_CHANNEL it also gives a factor per column, which the cast of the next linear layer divides out before
 * it rounds and multiplies back after (lpt_linear_options.input_smoothing). The output itself is the plain SwiGLU: in
 * exact arithmetic smoothing changes nothing. Source: Smooth-SwiGLU, arXiv 2409.12517.
 *
 * @param context the context.
 * @param gate borrowed; rows × columns, f32, bf16, f16 or f64.
 * @param up borrowed; as gate.
 * @param options NULL for the defaults.
 * @param output written; rows × columns, f32, bf16, f16 or f64.
 * @param smoothing written; vector of columns, e8m0fnu; a column of zeros gets 1. NULL without smoothing.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_swiglu_forward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                                      const lpt_swiglu_options *options, lpt_tensor *output, lpt_tensor *smoothing);

/**
 * @brief Computes the gradients of lpt_swiglu_forward(). Smoothing has none: its factors are constants.
 * @param context the context.
 * @param gate borrowed; as in forward, or what lpt_quantize() stored of it in few bytes: any format whose blocks are one row
 *        high, such as LPT_FORMAT_E4M3FN_1X128 (COAT, arXiv 2410.19313).
 * @param up borrowed; as gate.
 * @param output_gradient borrowed; rows × columns.
 * @param options NULL for the defaults.
 * @param gate_gradient written; rows × columns.
 * @param up_gradient written; rows × columns.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_swiglu_backward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                                       const lpt_tensor *output_gradient, const lpt_swiglu_options *options,
                                       lpt_tensor *gate_gradient, lpt_tensor *up_gradient);

/** @brief How to compute an RMS norm. */
typedef struct lpt_rmsnorm_options {
  size_t struct_size;     /**< sizeof(lpt_rmsnorm_options) of the caller. */
  uint64_t flags;         /**< LPT_CHECK_ONLY. */
  double epsilon;         /**< Added to the mean square. */
  int32_t is_accumulated; /**< Weight gradient: 0 overwrite, 1 add. */
  int32_t reserved;       /**< 0. */
} lpt_rmsnorm_options;

/** @brief Defaults of lpt_rmsnorm_options. */
#define LPT_RMSNORM_OPTIONS_INIT \
  { sizeof(lpt_rmsnorm_options), 0, 1e-5, 0, 0 }

/**
 * @brief Computes output = input · r · weight, where r = 1 / sqrt(mean over the row of input² + epsilon).
 * @param context the context.
 * @param input borrowed; rows × columns, f32, bf16, f16 or f64.
 * @param weight borrowed; vector of columns, f32 (f64 with f64).
 * @param options NULL for the defaults.
 * @param output written; rows × columns.
 * @param inverse_rms written; vector of rows, f32 (f64 with f64), for backward; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_rmsnorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                       const lpt_rmsnorm_options *options, lpt_tensor *output, lpt_tensor *inverse_rms);

/**
 * @brief Adds a branch to the residual stream and norms the sum, row by row while it is at hand: sum = residual + branch,
 *        then lpt_rmsnorm_forward() of the sum, bit for bit. Its gradients are those of lpt_rmsnorm_backward(), added to the
 *        sum's own: both the stream and the branch get that.
 * @param context the context.
 * @param residual borrowed; rows × columns, f32, bf16, f16 or f64.
 * @param branch borrowed; as residual.
 * @param weight borrowed; vector of columns, f32 (f64 with f64).
 * @param options NULL for the defaults.
 * @param sum written; rows × columns, the format of residual: added in f32 (f64), one rounding. May be residual or branch.
 * @param output written; rows × columns, f32, bf16, f16 or f64.
 * @param inverse_rms written; vector of rows, f32 (f64 with f64), for backward; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_rmsnorm_forward_sum(lpt_context *context, const lpt_tensor *residual, const lpt_tensor *branch,
                                           const lpt_tensor *weight, const lpt_rmsnorm_options *options,
                                           lpt_tensor *sum, lpt_tensor *output, lpt_tensor *inverse_rms);

/**
 * @brief Computes the gradients of lpt_rmsnorm_forward().
 * @param context the context.
 * @param input borrowed; as in forward, or what lpt_quantize() stored of it: any format whose blocks are one row high.
 * @param weight borrowed; as in forward.
 * @param inverse_rms borrowed; as forward wrote it.
 * @param output_gradient borrowed; rows × columns.
 * @param options NULL for the defaults.
 * @param input_gradient written; rows × columns; NULL: not wanted.
 * @param weight_gradient written or added to; vector of columns, f32 (f64 with f64); NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_rmsnorm_backward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                        const lpt_tensor *inverse_rms, const lpt_tensor *output_gradient,
                                        const lpt_rmsnorm_options *options, lpt_tensor *input_gradient,
                                        lpt_tensor *weight_gradient);

/** @brief How to compute a softmax. */
typedef struct lpt_softmax_options {
  size_t struct_size;   /**< sizeof(lpt_softmax_options) of the caller. */
  uint64_t flags;       /**< LPT_CHECK_ONLY. */
  double scale;         /**< The input is multiplied by it first. */
  int32_t is_causal;    /**< 1: row t of a T × S matrix sees columns 0 to t + S - T; the others give 0. */
  int32_t reserved;     /**< 0. */
  double exaq_clip;     /**< With exaq_bits: the least argument of exp, -10000 to -0.001. */
  int32_t exaq_bits;    /**< 0: any argument of exp. 2, 3 or 4: 4, 8 or 16 levels; see lpt_softmax_forward(). */
  int32_t reserved_two; /**< 0. */
} lpt_softmax_options;

/** @brief Defaults of lpt_softmax_options. */
#define LPT_SOFTMAX_OPTIONS_INIT \
  { sizeof(lpt_softmax_options), 0, 1.0, 0, 0, 0.0, 0, 0 }

/**
 * @brief Computes output = exp(scale · input - max) / sum along the last axis.
 *
 * A row that sees no column, or only -infinity, gives zeros. A row with NaN, or with +infinity, gives NaN.
 *
 * With exaq_bits b the argument t = scale · input - max becomes the nearest, ties to even, of the 2^b levels from exaq_clip to 0
 * that lie a step of -exaq_clip / (2^b - 1) apart; -infinity still gives 0. How often a level comes is counted, so that all
 * machines give the same bits. For f32, bf16 and f16. Source: EXAQ (arXiv 2410.03185), which finds the clip by the standard
 * deviation s of t in a layer: -1.66 · s - 1.85 with 2 bits, -1.75 · s - 2.06 with 3, -1.83 · s - 2.27 with 4.
 *
 * @param context the context.
 * @param input borrowed; rank 2 or more for a causal one; f32, bf16, f16 or f64.
 * @param options NULL for the defaults.
 * @param output written; the shape of input.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_softmax_forward(lpt_context *context, const lpt_tensor *input,
                                       const lpt_softmax_options *options, lpt_tensor *output);

/**
 * @brief Computes the gradient of lpt_softmax_forward(): scale · y · (dy - sum(y · dy)), of EXAQ's y as if levels were none.
 * @param context the context.
 * @param output borrowed; as forward wrote it.
 * @param output_gradient borrowed; the shape of output.
 * @param options as in forward; NULL for the defaults.
 * @param input_gradient written; the shape of output.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_softmax_backward(lpt_context *context, const lpt_tensor *output,
                                        const lpt_tensor *output_gradient, const lpt_softmax_options *options,
                                        lpt_tensor *input_gradient);

/** @brief What becomes of the losses of all rows; one of lpt_loss_reduction_values. */
typedef int32_t lpt_loss_reduction;

/** @brief Values of lpt_loss_reduction. */
enum lpt_loss_reduction_values {
  LPT_LOSS_REDUCTION_MEAN = 0, /**< Their mean over the rows that count; 0 if none does. */
  LPT_LOSS_REDUCTION_SUM = 1,  /**< Their sum, in the order of rows. */
  LPT_LOSS_REDUCTION_NONE = 2  /**< Every row keeps its own; one that does not count has 0. */
};

/** @brief How to compute a cross entropy. The same on all ranks. */
typedef struct lpt_cross_entropy_options {
  size_t struct_size;           /**< sizeof(lpt_cross_entropy_options) of the caller. */
  uint64_t flags;               /**< LPT_CHECK_ONLY. */
  lpt_comm *comm;               /**< Ranks that share the classes, in their order; NULL: logits have all classes. */
  int64_t ignored_target;       /**< Rows with this target do not count; outside of the classes: no row has it. */
  double label_smoothing;       /**< e in 0 to 1: the target has 1 - e + e / classes, the others e / classes each. */
  lpt_loss_reduction reduction; /**< What becomes of the losses. */
  int32_t reserved;             /**< 0. */
} lpt_cross_entropy_options;

/** @brief Defaults of lpt_cross_entropy_options. */
#define LPT_CROSS_ENTROPY_OPTIONS_INIT \
  { sizeof(lpt_cross_entropy_options), 0, NULL, -1, 0.0, LPT_LOSS_REDUCTION_MEAN, 0 }

/**
 * @brief Computes the loss -log softmax(logits)[target] of every row, in nats, of classes that ranks may share.
 *
 * A row's loss is l - (1 - e) · x[target] - e · mean(x), with l = log sum exp(x) over the classes of all ranks, e the label
 * smoothing. Every rank passes the logits of its own classes, any number of them, which follow on those of the rank before.
 * Two messages are sent: how many classes each rank has, then four f64 for each row: the largest logit, the sum of
 * exponentials behind it, the target's logit, the sum of logits. They are joined in the order of ranks, in f64, by IEEE
 * operations alone: all ranks end with the same bits. A rank without a class is allowed.
 *
 * A row whose logits are all minus infinity, or that has NaN or plus infinity, gives NaN; a target of logit minus infinity
 * gives infinity.
 *
 * @param context of this rank.
 * @param logits borrowed; rows × this rank's classes, f32, bf16, f16 or f64; any leading axes.
 * @param targets borrowed; a class for each row, from 0, counted over all ranks; the same on all ranks, which is compared.
 * @param options NULL for the defaults.
 * @param loss written; vector of rows with LPT_LOSS_REDUCTION_NONE, else of one number; f32 or f64.
 * @param log_sums written; vector of rows, f64: l, for backward; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also for a target that is no class; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; with a comm
 *         as lpt_all_reduce().
 */
LPT_API lpt_status lpt_cross_entropy_forward(lpt_context *context, const lpt_tensor *logits, const int64_t *targets,
                                             const lpt_cross_entropy_options *options, lpt_tensor *loss,
                                             lpt_tensor *log_sums);

/**
 * @brief Computes the gradient of lpt_cross_entropy_forward(): g · (exp(x - l) - e / classes - (1 - e) · [target]), with g the
 *        loss's gradient, for the mean divided by the rows that count; 0 in rows that do not count. Of ranks only the
 *        numbers of classes are sent.
 * @param context of this rank.
 * @param logits borrowed; as in forward.
 * @param targets borrowed; as in forward.
 * @param log_sums borrowed; as forward wrote it.
 * @param loss_gradient borrowed; the shape of the loss, f32 or f64; NULL: ones.
 * @param options as in forward; NULL for the defaults.
 * @param logits_gradient written; the shape of logits, f32, bf16, f16 or f64. May be logits, in the same format.
 * @return as lpt_cross_entropy_forward().
 */
LPT_API lpt_status lpt_cross_entropy_backward(lpt_context *context, const lpt_tensor *logits, const int64_t *targets,
                                              const lpt_tensor *log_sums, const lpt_tensor *loss_gradient,
                                              const lpt_cross_entropy_options *options, lpt_tensor *logits_gradient);

#ifdef __cplusplus
}
#endif

#endif
