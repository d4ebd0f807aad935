/**
 * @file nn.h
 * @brief Operations between linear layers: embedding, SwiGLU, norms, softmax and cross-entropy loss.
 *
 * Shapes    An operation folds leading axes into rows. Elements of a row are adjacent (stride 1).
 *
 * Formats   Every tensor may have a format of its own among f64, f32, bf16 and f16, unless stated otherwise.
 *
 * Rounding  Operations compute in f32, or in f64 where a tensor is f64, and round results once to nearest even.
 *
 * Device    CPU and GPU. On a GPU tensors are f32, bf16 or f16, unless stated otherwise, and work is queued on the
 *           stream.
 */
#ifndef LPT_NN_H
#define LPT_NN_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of lpt_embedding_forward() and lpt_embedding_backward(). */
typedef struct lpt_embedding_options {
  size_t struct_size;     /**< sizeof(lpt_embedding_options) of the caller. */
  lpt_flags flags;        /**< LPT_CHECK_ONLY or 0. */
  int64_t padding_index;  /**< Backward: rows with this index add nothing. Default -1: none. */
  int32_t is_accumulated; /**< Backward: 1 adds to `weight_gradient`, 0 overwrites it. Default 0. */
  int32_t reserved;       /**< Must be 0. */
} lpt_embedding_options;

/** @brief Defaults of lpt_embedding_options. */
#define LPT_EMBEDDING_OPTIONS_INIT \
  { sizeof(lpt_embedding_options), 0, -1, 0, 0 }

/**
 * @brief Looks up rows of a table: row r of `output` is row indices[r] of `weight`.
 *
 * Formats   `weight` may be stored by lpt_quantize() in any format whose blocks are one row high; on a GPU it is f32,
 *           bf16 or f16.
 *
 * Rounding  Rows of the format of `output` are copied. Others are decoded in f32 and rounded once.
 *
 * Device    On a GPU, `indices` may be in memory of the GPU or of the CPU. The call reads CPU memory before it returns,
 *           and checks every index. It does not check indices in GPU memory: an index that is no row of `weight` gives
 *           a row of NaN.
 *
 * @param[in]  weight   Classes × columns.
 * @param[in]  indices  One row of `weight` per row of `output`, from 0: a dense vector, or the leading axes of `output`;
 *                      LPT_FORMAT_INT32 or LPT_FORMAT_INT64.
 * @param[in]  options  NULL for the defaults.
 * @param[out] output   Rows × columns; no overlap with `weight`.
 * @retval LPT_INVALID_ARGUMENT  An index in CPU memory is no row of `weight`; the text names its place. Shapes or
 *                               formats do not agree, tensors overlap, or an option is out of range.
 * @retval LPT_UNSUPPORTED       `weight` has blocks of more than one row, or no kernel of the device supports a format.
 */
LPT_API lpt_status lpt_embedding_forward(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *indices,
                                         const lpt_embedding_options *options, lpt_tensor *output);

/**
 * @brief Computes the gradient of the table of lpt_embedding_forward().
 *
 * Row i of `weight_gradient` is the sum of the rows r of `output_gradient` with indices[r] = i.
 *
 * Formats   `weight_gradient` is f32, or f64 where `output_gradient` is f64.
 *
 * Rounding  Rows are added one after the other, in their order. Each addition is rounded to the format of
 *           `weight_gradient`, so that the result does not depend on threads or devices.
 *
 * Device    As in lpt_embedding_forward(); an index in GPU memory that is no row of `weight_gradient` adds nothing.
 *
 * @param[in]     indices          As in lpt_embedding_forward(), for the rows of `output_gradient`.
 * @param[in]     output_gradient  Rows × columns.
 * @param[in]     options          NULL for the defaults.
 * @param[in,out] weight_gradient  Classes × columns; no overlap with `output_gradient`.
 * @retval LPT_INVALID_ARGUMENT  As for lpt_embedding_forward(); `padding_index` is allowed.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_embedding_backward(lpt_context *context, const lpt_tensor *indices,
                                          const lpt_tensor *output_gradient, const lpt_embedding_options *options,
                                          lpt_tensor *weight_gradient);

/** @brief Smoothing of a SwiGLU for the cast that follows; one of lpt_swiglu_smoothing_values. */
typedef int32_t lpt_swiglu_smoothing;

/** @brief Values of lpt_swiglu_smoothing. */
enum lpt_swiglu_smoothing_values {
  LPT_SWIGLU_SMOOTHING_NONE = 0, /**< SwiGLU without smoothing. */
  /** Smooth-SwiGLU: one factor per column, the smallest power of two that is at least max |up|. */
  LPT_SWIGLU_SMOOTHING_CHANNEL = 1
};

/** @brief Options of lpt_swiglu_forward() and lpt_swiglu_backward(). */
typedef struct lpt_swiglu_options {
  size_t struct_size;             /**< sizeof(lpt_swiglu_options) of the caller. */
  lpt_flags flags;                /**< LPT_CHECK_ONLY or 0. */
  lpt_swiglu_smoothing smoothing; /**< Whether to compute factors. Default NONE. */
  int32_t reserved;               /**< Must be 0. */
} lpt_swiglu_options;

/** @brief Defaults of lpt_swiglu_options. */
#define LPT_SWIGLU_OPTIONS_INIT \
  { sizeof(lpt_swiglu_options), 0, LPT_SWIGLU_SMOOTHING_NONE, 0 }

/**
 * @brief Computes output = silu(gate) · up, where silu(x) = x / (1 + exp(-x)).
 *
 * With LPT_SWIGLU_SMOOTHING_CHANNEL it also computes a factor per column. The cast of the next linear layer divides by
 * the factor before it rounds and multiplies after (lpt_linear_options.input_smoothing). The output itself is the
 * SwiGLU without smoothing: in exact arithmetic smoothing changes nothing.
 *
 * Source    Smooth-SwiGLU, arXiv 2409.12517.
 *
 * @param[in]  gate       Rows × columns.
 * @param[in]  up         The shape of `gate`.
 * @param[in]  options    NULL for the defaults.
 * @param[out] output     The shape of `gate`; no overlap with an input.
 * @param[out] smoothing  Vector of columns, e8m0fnu; a column of zeros has factor 1. NULL without smoothing.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, an output overlaps another tensor, or `smoothing` is set without
 *                               LPT_SWIGLU_SMOOTHING_CHANNEL. `smoothing` is not an e8m0fnu vector of columns.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_swiglu_forward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                                      const lpt_swiglu_options *options, lpt_tensor *output, lpt_tensor *smoothing);

/**
 * @brief Computes the gradients of lpt_swiglu_forward(); factors of smoothing are constants without a gradient.
 *
 * Formats   `gate` and `up` may be stored by lpt_quantize() in any format whose blocks are one row high. An example is
 *           LPT_FORMAT_E4M3FN_1X128 (COAT, arXiv 2410.19313). The library decodes some rows at a time.
 *
 * Overlap   Outputs may overlap neither inputs nor each other.
 *
 * @param[in]  gate             Rows × columns.
 * @param[in]  up               The shape of `gate`.
 * @param[in]  output_gradient  The shape of `gate`.
 * @param[in]  options          NULL for the defaults.
 * @param[out] gate_gradient    The shape of `gate`.
 * @param[out] up_gradient      The shape of `gate`.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, or an output overlaps another tensor.
 * @retval LPT_UNSUPPORTED       `gate` or `up` has blocks of more than one row, or no kernel of the device supports a
 *                               format.
 */
LPT_API lpt_status lpt_swiglu_backward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                                       const lpt_tensor *output_gradient, const lpt_swiglu_options *options,
                                       lpt_tensor *gate_gradient, lpt_tensor *up_gradient);

/** @brief Options of lpt_rmsnorm_forward(), lpt_rmsnorm_forward_sum() and lpt_rmsnorm_backward(). */
typedef struct lpt_rmsnorm_options {
  size_t struct_size;     /**< sizeof(lpt_rmsnorm_options) of the caller. */
  lpt_flags flags;        /**< LPT_CHECK_ONLY or 0. */
  double epsilon;         /**< Added to the mean square; finite, at least 0. Default 1e-5. */
  int32_t is_accumulated; /**< Weight gradient: 0 overwrites it, 1 adds to it. Default 0. */
  int32_t reserved;       /**< Must be 0. */
  /**
   * Of lpt_rmsnorm_backward(): rows × columns, added to the input gradient: the gradient of a residual connection around
   * the norm. f64, f32, bf16 or f16. It may be `input_gradient`, in the same format and layout. Default NULL: none.
   */
  const lpt_tensor *residual_gradient;
} lpt_rmsnorm_options;

/** @brief Defaults of lpt_rmsnorm_options. */
#define LPT_RMSNORM_OPTIONS_INIT \
  { sizeof(lpt_rmsnorm_options), 0, 1e-5, 0, 0, NULL }

/**
 * @brief Computes output = input · r · weight, where r = 1 / sqrt(mean of input² over the row + epsilon).
 *
 * Formats   `weight` and `inverse_rms` are f32, or f64 where `input` or `output` is f64.
 *
 * @param[in]  input        Rows × columns.
 * @param[in]  weight       Vector of columns.
 * @param[in]  options      NULL for the defaults.
 * @param[out] output       Rows × columns; no overlap with an input.
 * @param[out] inverse_rms  Vector of rows: r, for lpt_rmsnorm_backward(). NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, an output overlaps another tensor, or `epsilon` is out of range. A
 *                               vector has another format than stated.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_rmsnorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                       const lpt_rmsnorm_options *options, lpt_tensor *output, lpt_tensor *inverse_rms);

/**
 * @brief Computes sum = residual + branch, then the RMSNorm of the sum, row by row.
 *
 * Results have the bits of an addition and lpt_rmsnorm_forward() of `sum`. The gradient of both `residual` and `branch` is
 * that of lpt_rmsnorm_backward() with the gradient of `sum` as `residual_gradient`.
 *
 * Formats   `residual` and `sum` have the same format, and so has `branch`, unless they are f32 and it is bf16 or f16.
 *           `weight` and `inverse_rms` are f32, or f64 where `sum` or `output` is f64.
 *
 * Rounding  The addition is in f32, or in f64 for f64, and rounded once.
 *
 * Overlap   `sum` may be `residual`, or `branch` of its format. No other overlap is allowed.
 *
 * @param[in]  residual     Rows × columns.
 * @param[in]  branch       The shape of `residual`.
 * @param[in]  weight       Vector of columns.
 * @param[in]  options      NULL for the defaults.
 * @param[out] sum          The shape and format of `residual`.
 * @param[out] output       Rows × columns.
 * @param[out] inverse_rms  Vector of rows, for lpt_rmsnorm_backward(). NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes or formats do not agree, an output overlaps another tensor, or `epsilon` is out
 *                               of range.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_rmsnorm_forward_sum(lpt_context *context, const lpt_tensor *residual, const lpt_tensor *branch,
                                           const lpt_tensor *weight, const lpt_rmsnorm_options *options,
                                           lpt_tensor *sum, lpt_tensor *output, lpt_tensor *inverse_rms);

/**
 * @brief Computes the gradients of lpt_rmsnorm_forward().
 *
 * Formats   `input` may be stored by lpt_quantize() in any format whose blocks are one row high. Vectors are f32, or
 *           f64 where `input`, `output_gradient` or `input_gradient` is f64.
 *
 * Rounding  The weight gradient is summed in f64, in an order that depends only on the shape. `residual_gradient` is added
 *           in f32, or in f64 where a tensor is f64, before the input gradient is rounded.
 *
 * Overlap   Outputs may overlap neither inputs nor each other, except `residual_gradient`.
 *
 * @param[in]     input            Rows × columns, as in lpt_rmsnorm_forward().
 * @param[in]     weight           Vector of columns.
 * @param[in]     inverse_rms      Vector of rows, as lpt_rmsnorm_forward() wrote it.
 * @param[in]     output_gradient  Rows × columns.
 * @param[in]     options          NULL for the defaults.
 * @param[out]    input_gradient   Rows × columns. NULL: not computed.
 * @param[in,out] weight_gradient  Vector of columns; overwritten, or added to with `is_accumulated`. NULL: not
 *                                 computed.
 * @retval LPT_INVALID_ARGUMENT  Both outputs are NULL, shapes do not agree, or an output overlaps another tensor. A
 *                               vector has another format than stated, or `epsilon` is out of range.
 * @retval LPT_UNSUPPORTED       `input` has blocks of more than one row, or no kernel of the device supports a format.
 */
LPT_API lpt_status lpt_rmsnorm_backward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                        const lpt_tensor *inverse_rms, const lpt_tensor *output_gradient,
                                        const lpt_rmsnorm_options *options, lpt_tensor *input_gradient,
                                        lpt_tensor *weight_gradient);

/** @brief Options of lpt_layernorm_forward() and lpt_layernorm_backward(). */
typedef struct lpt_layernorm_options {
  size_t struct_size;     /**< sizeof(lpt_layernorm_options) of the caller. */
  lpt_flags flags;        /**< LPT_CHECK_ONLY or 0. */
  double epsilon;         /**< Added to the variance; finite, at least 0. Default 1e-5. */
  int32_t is_accumulated; /**< Gradients of weight and bias: 0 overwrites them, 1 adds to them. Default 0. */
  int32_t reserved;       /**< Must be 0. */
  const lpt_tensor *residual_gradient; /**< As in lpt_rmsnorm_options. Default NULL: none. */
} lpt_layernorm_options;

/** @brief Defaults of lpt_layernorm_options. */
#define LPT_LAYERNORM_OPTIONS_INIT \
  { sizeof(lpt_layernorm_options), 0, 1e-5, 0, 0, NULL }

/**
 * @brief Computes output = (input - m) · r · weight + bias, with the mean m and r = 1 / sqrt(variance + epsilon) of the row.
 *
 * The variance is the mean of (input - m)². A row with a variance of 0 and an epsilon of 0 gives the bias.
 *
 * Formats   Vectors are f32, or f64 where `input` or `output` is f64.
 *
 * Rounding  m and the variance are computed in f64, and m and r are rounded once.
 *
 * @param[in]  input              Rows × columns.
 * @param[in]  weight             Vector of columns. NULL: ones.
 * @param[in]  bias               Vector of columns. NULL: zeros.
 * @param[in]  options            NULL for the defaults.
 * @param[out] output             Rows × columns; no overlap with an input.
 * @param[out] mean               Vector of rows: m, for lpt_layernorm_backward(). NULL: not computed.
 * @param[out] inverse_deviation  Vector of rows: r, for lpt_layernorm_backward(). NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, an output overlaps another tensor, or `epsilon` is out of range. A
 *                               vector has another format than stated.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_layernorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                         const lpt_tensor *bias, const lpt_layernorm_options *options,
                                         lpt_tensor *output, lpt_tensor *mean, lpt_tensor *inverse_deviation);

/**
 * @brief Computes the gradients of lpt_layernorm_forward().
 *
 * Formats   `input` may be stored by lpt_quantize() in any format whose blocks are one row high. Vectors are f32, or
 *           f64 where `input`, `output_gradient` or `input_gradient` is f64.
 *
 * Rounding  Gradients of weight and bias are summed in f64, in an order that depends only on the shape.
 *           `residual_gradient` is added in f32, or in f64 where a tensor is f64, before the input gradient is rounded.
 *
 * Overlap   Outputs may overlap neither inputs nor each other, except `residual_gradient`.
 *
 * @param[in]     input              Rows × columns, as in lpt_layernorm_forward().
 * @param[in]     weight             Vector of columns. NULL: ones.
 * @param[in]     mean               Vector of rows, as lpt_layernorm_forward() wrote it.
 * @param[in]     inverse_deviation  Vector of rows, as lpt_layernorm_forward() wrote it.
 * @param[in]     output_gradient    Rows × columns.
 * @param[in]     options            NULL for the defaults.
 * @param[out]    input_gradient     Rows × columns. NULL: not computed.
 * @param[in,out] weight_gradient    Vector of columns; overwritten, or added to with `is_accumulated`. NULL: not
 *                                   computed.
 * @param[in,out] bias_gradient      As `weight_gradient`.
 * @retval LPT_INVALID_ARGUMENT  All outputs are NULL, shapes do not agree, or an output overlaps another tensor. A
 *                               vector has another format than stated, or `epsilon` is out of range.
 * @retval LPT_UNSUPPORTED       `input` has blocks of more than one row, or no kernel of the device supports a format.
 */
LPT_API lpt_status lpt_layernorm_backward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                          const lpt_tensor *mean, const lpt_tensor *inverse_deviation,
                                          const lpt_tensor *output_gradient, const lpt_layernorm_options *options,
                                          lpt_tensor *input_gradient, lpt_tensor *weight_gradient,
                                          lpt_tensor *bias_gradient);

/** @brief Options of lpt_softmax_forward() and lpt_softmax_backward(). */
typedef struct lpt_softmax_options {
  size_t struct_size; /**< sizeof(lpt_softmax_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY or 0. */
  double scale;       /**< Factor of the input; finite, in the range of f32. Default 1. */
  /** 1: row t of a T × S matrix covers columns 0 to t + S - T; other columns give 0. Default 0. */
  int32_t is_causal;
  int32_t reserved; /**< Must be 0. */
} lpt_softmax_options;

/** @brief Defaults of lpt_softmax_options. */
#define LPT_SOFTMAX_OPTIONS_INIT \
  { sizeof(lpt_softmax_options), 0, 1.0, 0, 0 }

/**
 * @brief Computes output = exp(scale · input - max) / sum along the last axis.
 *
 * A row without a covered column, or with only -infinity, gives zeros. A row with NaN or +infinity gives NaN.
 *
 * Formats   f32, bf16, f16 or f64.
 *
 * @param[in]  input    Rank 2 or more with `is_causal`.
 * @param[in]  options  NULL for the defaults.
 * @param[out] output   The shape of `input`; no overlap.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, tensors overlap, `is_causal` is set for a tensor of rank 1, or an option
 *                               is out of range.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_softmax_forward(lpt_context *context, const lpt_tensor *input,
                                       const lpt_softmax_options *options, lpt_tensor *output);

/**
 * @brief Computes the gradient of lpt_softmax_forward(): scale · y · (dy - sum(y · dy)), where y is `output`.
 *
 * @param[in]  output           As lpt_softmax_forward() wrote it.
 * @param[in]  output_gradient  The shape of `output`.
 * @param[in]  options          As in lpt_softmax_forward(); NULL for the defaults.
 * @param[out] input_gradient   The shape of `output`; no overlap with an input.
 * @retval LPT_INVALID_ARGUMENT  Shapes differ, tensors overlap, `is_causal` is set for a tensor of rank 1, or an option
 *                               is out of range.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_softmax_backward(lpt_context *context, const lpt_tensor *output,
                                        const lpt_tensor *output_gradient, const lpt_softmax_options *options,
                                        lpt_tensor *input_gradient);

/** @brief Reduction of the losses of all rows; one of lpt_loss_reduction_values. */
typedef int32_t lpt_loss_reduction;

/** @brief Values of lpt_loss_reduction. */
enum lpt_loss_reduction_values {
  LPT_LOSS_REDUCTION_MEAN = 0, /**< Mean over the rows that are not ignored; 0 without such rows. */
  LPT_LOSS_REDUCTION_SUM = 1,  /**< Sum, in the order of rows. */
  LPT_LOSS_REDUCTION_NONE = 2  /**< One loss per row; 0 for ignored rows. */
};

/** @brief Options of lpt_cross_entropy_forward() and lpt_cross_entropy_backward(); the same on all ranks. */
typedef struct lpt_cross_entropy_options {
  size_t struct_size; /**< sizeof(lpt_cross_entropy_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY or 0. */
  lpt_comm *comm;     /**< Ranks that share the classes, in rank order; NULL: `logits` holds all classes. */
  /** Rows with this target are ignored. Default -1; any value outside the classes ignores no row with a class. */
  int64_t ignored_target;
  /** e, 0 to 1: the target has weight 1 - e + e / classes, every other class e / classes. Default 0. */
  double label_smoothing;
  lpt_loss_reduction reduction; /**< Reduction of the losses. Default MEAN. */
  int32_t reserved;             /**< Must be 0. */
} lpt_cross_entropy_options;

/** @brief Defaults of lpt_cross_entropy_options. */
#define LPT_CROSS_ENTROPY_OPTIONS_INIT \
  { sizeof(lpt_cross_entropy_options), 0, NULL, -1, 0.0, LPT_LOSS_REDUCTION_MEAN, 0 }

/**
 * @brief Computes the loss -log softmax(logits)[target] of every row, in nats; ranks may share the classes.
 *
 * The loss of a row is l - (1 - e) · x[target] - e · mean(x). Here l is log sum exp(x) over the classes of all ranks,
 * and e is the label smoothing. A row whose logits are all -infinity, or that has NaN or +infinity, gives NaN. A target
 * whose logit is -infinity gives infinity.
 *
 * With a comm every rank passes the logits of its classes; the classes of rank q follow those of rank q - 1. A rank may
 * have any number of classes, even none. The ranks exchange two messages. The first holds the number of classes; the
 * second holds four f64 per row: maximum, sum of exponentials, target logit and sum of logits. Every rank combines them
 * in rank order, in f64, and gets the same bits.
 *
 * Device    On a GPU, `targets` may be in memory of the GPU or of the CPU. The call reads CPU memory before it returns,
 *           and checks every target. It does not check targets in GPU memory, and does not wait for them. There a row
 *           whose target is no class has a loss and a gradient of NaN. A comm must belong to the GPU of the context and
 *           compare calls.
 *
 * Threads   With a comm the call is a collective: all ranks call it, and it returns what collectives return (see
 *           comm.h).
 *
 * @param[in]  logits    Rows × classes of this rank.
 * @param[in]  targets   One class per row, from 0, numbered over all ranks; the same on all ranks. A dense vector, or the
 *                       leading axes of `logits`; LPT_FORMAT_INT32 or LPT_FORMAT_INT64.
 * @param[in]  options   NULL for the defaults.
 * @param[out] loss      Vector of rows with LPT_LOSS_REDUCTION_NONE, else of 1; f32 or f64. No overlap with `logits`.
 * @param[out] log_sums  Vector of rows, f64: l, for lpt_cross_entropy_backward(). NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  A target in CPU memory is neither a class nor `ignored_target`; the text names its row.
 *                               Shapes or formats do not agree, tensors overlap, or an option is out of range. `comm`
 *                               belongs to another device.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format, or `comm` of a GPU has LPT_COMM_SKIP_CHECKS.
 * @retval LPT_MISMATCH          Targets in CPU memory, `ignored_target`, `label_smoothing`, or the rows or format of
 *                               `logits` differ between ranks.
 */
LPT_API lpt_status lpt_cross_entropy_forward(lpt_context *context, const lpt_tensor *logits, const lpt_tensor *targets,
                                             const lpt_cross_entropy_options *options, lpt_tensor *loss,
                                             lpt_tensor *log_sums);

/**
 * @brief Computes the gradient of lpt_cross_entropy_forward() for the logits of this rank.
 *
 * The gradient is g · (exp(x - l) - e / classes - (1 - e) · [target]); 0 in ignored rows. Here g is the gradient of the
 * loss, with MEAN divided by the number of rows that are not ignored. With a comm only the numbers of classes are
 * exchanged.
 *
 * Device    As in lpt_cross_entropy_forward().
 *
 * Threads   As in lpt_cross_entropy_forward().
 *
 * Overlap   `logits_gradient` may be `logits` in the same format and layout.
 *
 * @param[in]  logits           As in lpt_cross_entropy_forward().
 * @param[in]  targets          As in lpt_cross_entropy_forward().
 * @param[in]  log_sums         As lpt_cross_entropy_forward() wrote it.
 * @param[in]  loss_gradient    The shape of `loss`, f32 or f64; NULL: ones.
 * @param[in]  options          As in lpt_cross_entropy_forward(); NULL for the defaults.
 * @param[out] logits_gradient  The shape of `logits`.
 * @retval LPT_INVALID_ARGUMENT  As for lpt_cross_entropy_forward().
 * @retval LPT_UNSUPPORTED       As for lpt_cross_entropy_forward().
 * @retval LPT_MISMATCH          As for lpt_cross_entropy_forward().
 */
LPT_API lpt_status lpt_cross_entropy_backward(lpt_context *context, const lpt_tensor *logits, const lpt_tensor *targets,
                                              const lpt_tensor *log_sums, const lpt_tensor *loss_gradient,
                                              const lpt_cross_entropy_options *options, lpt_tensor *logits_gradient);

#ifdef __cplusplus
}
#endif

#endif
