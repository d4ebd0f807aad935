/**
 * @file linear.h
 * @brief Linear layers that follow a recipe of low-precision training.
 *
 * A layer has three GEMMs: forward y = x · wᵀ, dgrad dx = dy · w, and wgrad dw = dyᵀ · x. A recipe states how each
 * operand is cast; see recipe.h.
 *
 * Device    A layer works on the device of the context that created it; contexts of other devices get
 *           LPT_INVALID_ARGUMENT. On a GPU LPT_UNSUPPORTED results for a comm, `input_smoothing`, sparsity in the
 *           recipe, a weight in f64, and formats without a kernel.
 */
#ifndef LPT_LINEAR_H
#define LPT_LINEAR_H

#include "common.h"
#include "recipe.h"
#include "scaler.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Shape of a linear layer. */
typedef struct lpt_linear_shape {
  size_t struct_size;     /**< sizeof(lpt_linear_shape) of the caller. */
  int64_t input_columns;  /**< Columns of the input and of the weight, 1 to 2^28. */
  int64_t output_columns; /**< Columns of the output, rows of the weight, 1 to 2^28. */
} lpt_linear_shape;

/** @brief Defaults of lpt_linear_shape. */
#define LPT_LINEAR_SHAPE_INIT \
  { sizeof(lpt_linear_shape), 0, 0 }

/** @brief Slice of a layer that a rank of a comm holds; one of lpt_linear_parallel_values. */
typedef int32_t lpt_linear_parallel;

/**
 * @brief Values of lpt_linear_parallel.
 *
 * docs/guides/tensor-parallel.md lists what is reduced over which ranks.
 */
enum lpt_linear_parallel_values {
  LPT_LINEAR_PARALLEL_NONE = 0, /**< The full layer, without a comm. */
  /**
   * Column-parallel: rows of the weight, hence columns of the output. Forward sends nothing. In backward all ranks have
   * the same input, and input_gradient is the sum over ranks, which overlaps with the weight gradient. With a plan
   * every rank has an input of its own and computes only its input_gradient; nothing is sent.
   */
  LPT_LINEAR_PARALLEL_COLUMNS = 1,
  /**
   * Row-parallel: columns of the weight and of the input. In forward the output is the sum of the partial results over
   * ranks, the same bits on all. With a plan it is that of lpt_partial_gemm(). In backward all ranks have the same
   * output_gradient, and nothing is sent. With a plan every rank has a part of it. lpt_partial_all_reduce() with
   * LPT_PARTIAL_PASS_BACKWARD combines the parts first, in scratch.
   */
  LPT_LINEAR_PARALLEL_ROWS = 2
};

/** @brief Options of lpt_linear_prepare(), lpt_linear_forward() and lpt_linear_backward(). */
typedef struct lpt_linear_options {
  size_t struct_size; /**< sizeof(lpt_linear_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY or 0. */
  /** Seed, stream of this layer, step of this micro-batch; `offset` and `row_stride` must be 0. */
  lpt_random random;
  int64_t first_row; /**< Index of the first row in the full batch, 0 to 2^32; it differs between ranks. */
  /** Forward: vector of output_columns, f32, or f64 where the GEMM has an f64 operand; NULL: none. */
  const lpt_tensor *bias;
  /** Prepare or forward: e8m0fnu factors of the input columns, as from lpt_swiglu_forward(); NULL: none. */
  const lpt_tensor *input_smoothing;
  int32_t is_accumulated;       /**< Weight and bias gradients: 0 overwrites them, 1 adds to them. Default 0. */
  lpt_linear_parallel parallel; /**< With comm: COLUMNS or ROWS. Without: NONE. */
  /** Ranks that share the layer; NULL: this layer is complete. The same in every call. */
  lpt_comm *comm;
  /**
   * Columns that ranks share (CAAT): of the output with ROWS, of the input with COLUMNS. NULL: all columns. Requires
   * comm.
   */
  const lpt_partial_plan *plan;
} lpt_linear_options;

/** @brief Defaults of lpt_linear_options. */
#define LPT_LINEAR_OPTIONS_INIT \
  { sizeof(lpt_linear_options), 0, LPT_RANDOM_INIT, 0, NULL, NULL, 0, LPT_LINEAR_PARALLEL_NONE, NULL, NULL }

/**
 * @brief Creates a linear layer, which owns its scalers and the casts of its weight, not the weight.
 *
 * Device    The layer works on the device of `context`.
 *
 * @param[in]  recipe      Copied: it may be changed or destroyed before the layer.
 * @param[in]  shape       Not NULL.
 * @param[out] out_linear  Destroy with lpt_linear_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member of `shape` is out of range.
 */
LPT_API lpt_status lpt_linear_create(lpt_context *context, const lpt_recipe *recipe, const lpt_linear_shape *shape,
                                     lpt_linear **out_linear);

/**
 * @brief Destroys a linear layer.
 *
 * @param[in] linear  NULL is allowed.
 */
LPT_API void lpt_linear_destroy(lpt_linear *linear);

/**
 * @brief Sets the recipe of a layer, from its next lpt_linear_prepare() on.
 *
 * Scalers whose options do not change keep their history; others start empty. Data that lpt_linear_forward() saved
 * before that prepare is invalid after it, and lpt_linear_saved_size() may change. Complete all micro-batches in flight
 * first.
 *
 * @param[in,out] linear  Layer to change.
 * @param[in]     recipe  Copied.
 */
LPT_API lpt_status lpt_linear_set_recipe(lpt_context *context, lpt_linear *linear, const lpt_recipe *recipe);

/**
 * @brief Casts the weight for the forward and backward GEMMs; call it after every change of the weight.
 *
 * With `input_smoothing` the columns of the weight are multiplied by their factors before the casts, and
 * lpt_linear_forward() divides the columns of the input by them. Backward divides input_gradient by them and multiplies
 * weight_gradient, so all results belong to the weight and the input as passed. This supports every format and rotation.
 * Complete the backward pass of all micro-batches before a prepare with other factors.
 *
 * On failure the layer does not change. With a comm nothing is sent; `comm` and `parallel` only separate the random
 * bits of ranks.
 *
 * @param[in,out] linear   Layer to change.
 * @param[in]     weight   output_columns × input_columns; any format of numbers.
 * @param[in]     options  Random numbers, where the recipe casts weights stochastically or draws signs;
 *                         `input_smoothing`; `comm` and `parallel`. NULL for the defaults.
 * @retval LPT_INVALID_ARGUMENT  `weight` has another shape, or it is f64 where earlier weights were not, or the
 *                               reverse. An option is out of range, or `plan` and `comm` do not fit each other or the
 *                               layer.
 * @retval LPT_UNSUPPORTED       `weight` holds no numbers, is f64 on a GPU, or f64 with sparse weights or
 *                               `input_smoothing`. No kernel of the device supports a cast.
 * @retval LPT_CANCELLED         The progress callback returned nonzero.
 */
LPT_API lpt_status lpt_linear_prepare(lpt_context *context, lpt_linear *linear, const lpt_tensor *weight,
                                      const lpt_linear_options *options);

/**
 * @brief Returns the number of bytes that lpt_linear_forward() saves for backward.
 *
 * The result depends only on the layer and `rows`.
 *
 * @param[in]  linear          Layer to read.
 * @param[in]  rows            Rows of the input, 0 to 2^56 / input_columns.
 * @param[out] out_size_bytes  Size of the `saved` tensor.
 * @retval LPT_INVALID_ARGUMENT  `rows` is out of range.
 */
LPT_API lpt_status lpt_linear_saved_size(lpt_context *context, const lpt_linear *linear, int64_t rows,
                                         size_t *out_size_bytes);

/**
 * @brief Returns the number of bytes of the weight's casts, with masks.
 *
 * @param[in]  linear          Layer to read.
 * @param[out] out_size_bytes  The same before and after lpt_linear_prepare(), except that f64 weights count as f32
 *                             before it.
 */
LPT_API lpt_status lpt_linear_cast_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes);

/**
 * @brief Computes y = x · wᵀ + bias, and saves the data that backward needs.
 *
 * `input_smoothing` applies where the input is cast to an element with one tensor scale. Columns are divided by their
 * factors before the cast and multiplied after decoding. Formats without a scale ignore it. For other formats, pass
 * factors to lpt_linear_prepare().
 *
 * Ranks     With `comm` this layer is a slice of a shared one, and all ranks call the function. Bits are those of this
 *           layer without a comm, followed by the reduction. Private columns are computed while shared ones are sent.
 *           With ROWS the bias is the same on all ranks and added once after the sum, with a separate rounding; private
 *           columns never scale it. One rank gives the bits of the layer without a comm. Scales of tensors and blocks
 *           belong to the slice. A unit-scaled GEMM with ROWS divides by the root of rank_count · input_columns, where
 *           all slices have the same size.
 *
 * Random    Casts of data that only this rank has draw by seed ^ (rank · 2^54); casts of data common to all ranks draw
 *           by the seed.
 *
 * Formats   `input` and `output` are f32, bf16, f16 or f64; on a GPU f32, bf16 or f16.
 *
 * Overlap   `output` and `saved` may overlap neither `input` nor each other.
 *
 * Threads   With a comm progress callbacks are suppressed, and statuses of collectives apply (see comm.h).
 *
 * @param[in]  linear   Prepared by lpt_linear_prepare().
 * @param[in]  input    Rows × input_columns.
 * @param[in]  options  NULL for the defaults.
 * @param[out] saved    uint8 vector of lpt_linear_saved_size() bytes, aligned to 8 bytes; one per micro-batch in
 *                      flight. NULL: inference.
 * @param[out] output   Rows × output_columns.
 * @retval LPT_INVALID_ARGUMENT  `linear` is not prepared, shapes do not agree, tensors overlap, or an option is out of
 *                               range. `plan`, `comm` and `parallel` do not fit each other or the layer. `input_smoothing`
 *                               is given here and in prepare.
 * @retval LPT_UNSUPPORTED       `input_smoothing` with block scales, with a rotated input, or with a source other than
 *                               PLAIN. A comm of GPUs, a wire of the plan, or a format without a kernel.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; outputs are partly written.
 */
LPT_API lpt_status lpt_linear_forward(lpt_context *context, lpt_linear *linear, const lpt_tensor *input,
                                      const lpt_linear_options *options, lpt_tensor *saved, lpt_tensor *output);

/**
 * @brief Computes dx = dy · w, dw = dyᵀ · x and db = the column sums of dy, each one if its output is given.
 *
 * The bits of a stochastic cast depend on the index of the element. Computing dx and dw in two calls gives the same
 * codes. A rotated operand draws by the indices of the rotated matrix.
 *
 * Ranks     With `comm` all ranks call it, for the same gradients; lpt_linear_parallel_values states what is sent. A
 *           bias gradient is the column sums of output_gradient as passed. With ROWS and a plan it is a part of a sum
 *           over ranks.
 *
 * Formats   `output_gradient` and `input_gradient` are f32, bf16, f16 or f64; on a GPU f32, bf16 or f16.
 *
 * Overlap   Outputs may overlap neither inputs nor each other.
 *
 * Threads   As for lpt_linear_forward().
 *
 * @param[in]     linear           Prepared by lpt_linear_prepare().
 * @param[in]     saved            As lpt_linear_forward() wrote it. NULL is allowed without a weight gradient and
 *                                 without an input gradient that depends on clipping
 *                                 (LPT_LINEAR_SOURCE_FORWARD_CLIPPED).
 * @param[in]     output_gradient  Rows × output_columns.
 * @param[in]     options          NULL for the defaults.
 * @param[out]    input_gradient   Rows × input_columns. NULL: not computed.
 * @param[in,out] weight_gradient  output_columns × input_columns, f32 or f64; overwritten, or added to with
 *                                 `is_accumulated`. NULL: not computed.
 * @param[in,out] bias_gradient    Vector of output_columns, f32 or f64; overwritten, or added to with `is_accumulated`.
 *                                 NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  All outputs are NULL, `linear` is not prepared, shapes do not agree, tensors overlap,
 *                               or an option is out of range. `saved` is missing, or was not written by
 *                               lpt_linear_forward() of this layer with these rows (not checked on a GPU). `first_row`
 *                               is not a multiple of M of a sparse gradient.
 * @retval LPT_UNSUPPORTED       A sum is neither f32 nor f64, a comm of GPUs, or a format without a kernel.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; outputs are partly written.
 */
LPT_API lpt_status lpt_linear_backward(lpt_context *context, lpt_linear *linear, const lpt_tensor *saved,
                                       const lpt_tensor *output_gradient, const lpt_linear_options *options,
                                       lpt_tensor *input_gradient, lpt_tensor *weight_gradient,
                                       lpt_tensor *bias_gradient);

/**
 * @brief Sets the recorded amax of the scalers of many layers to the maximum over ranks, in one message.
 *
 * If all ranks call it before lpt_linear_update_scalers(), delayed scales are the same on all of them. Slices of one
 * tensor do not need a common scale to be correct: each is decoded by its scale. Use it for codes that ranks compare,
 * gather or save as one tensor, and for shards of one batch.
 *
 * Device    CPU only: ranks and layers of CPU contexts.
 *
 * Threads   A collective: it returns what collectives return (see comm.h).
 *
 * @param[in,out] comm          Communicator of this rank.
 * @param[in]     linears       The same layers on all ranks, in the same order.
 * @param[in]     linear_count  Length of `linears`, at least 0.
 * @retval LPT_INVALID_ARGUMENT  `linear_count` is negative, or an element of `linears` is no layer.
 * @retval LPT_UNSUPPORTED       `comm` is of ranks on GPUs.
 */
LPT_API lpt_status lpt_linear_share_amax(lpt_context *context, lpt_comm *comm, lpt_linear *const *linears,
                                         int64_t linear_count);

/**
 * @brief Completes an optimizer step for the scalers of many layers; see lpt_scaler_update().
 *
 * Device    On a GPU the updates are queued.
 *
 * @param[in] linears       Layers of the device of `context`.
 * @param[in] linear_count  Length of `linears`, at least 0.
 * @retval LPT_INVALID_ARGUMENT  `linear_count` is negative, or an element of `linears` is no layer of this device.
 */
LPT_API lpt_status lpt_linear_update_scalers(lpt_context *context, lpt_linear *const *linears, int64_t linear_count);

/**
 * @brief Reads the state of one scaler of a layer.
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]  linear    Layer to read.
 * @param[in]  operand   Which scaler.
 * @param[out] out_info  The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  `operand` is out of range, or `linear` belongs to another device.
 */
LPT_API lpt_status lpt_linear_scaler_read(lpt_context *context, const lpt_linear *linear, lpt_linear_operand operand,
                                          lpt_scaler_info *out_info);

/**
 * @brief Reads the mask that the last lpt_linear_prepare() selected for the weight of a layer.
 *
 * Use it for lpt_sparse_mask_decay(), and to measure changes of the mask.
 *
 * Device    CPU only.
 *
 * @param[in]  linear  Prepared; its recipe makes weights sparse.
 * @param[out] mask    uint8, output_columns × input_columns.
 * @retval LPT_INVALID_ARGUMENT  `linear` has dense weights or is not prepared, or `mask` has another shape.
 * @retval LPT_UNSUPPORTED       `mask` is not uint8.
 */
LPT_API lpt_status lpt_linear_mask_read(lpt_context *context, const lpt_linear *linear, lpt_tensor *mask);

/**
 * @brief Starts or stops the collection of statistics of the casts of a layer.
 *
 * Counts are zero after every call; saved states do not contain them. Watched casts give the same bits and take longer.
 * A cast that serves two GEMMs counts for the first of forward, dgrad, wgrad. Of two parts of dy the first counts; of
 * many draws every one counts. Casts of the weight count in lpt_linear_prepare(), if it succeeds.
 *
 * Device    CPU only.
 *
 * @param[in,out] linear      Layer to change.
 * @param[in]     is_watched  1: collect from now on; 0: stop.
 * @retval LPT_INVALID_ARGUMENT  `is_watched` is neither 0 nor 1.
 * @retval LPT_UNSUPPORTED       `is_watched` is 1 and the layer works on a GPU.
 */
LPT_API lpt_status lpt_linear_watch(lpt_context *context, lpt_linear *linear, int32_t is_watched);

/**
 * @brief Reads the statistics of one cast of a watched layer since lpt_linear_watch().
 *
 * Counts are zero if the cast did not run. Clipped elements result from a delayed scale, or from a rule such as QuEST
 * or SAWB; see lpt_statistics_info.
 *
 * @param[in]  linear    Layer to read.
 * @param[in]  cast      Which operand of which GEMM.
 * @param[out] out_info  The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  `cast` is out of range.
 */
LPT_API lpt_status lpt_linear_cast_read(lpt_context *context, const lpt_linear *linear, lpt_linear_cast cast,
                                        lpt_statistics_info *out_info);

/**
 * @brief Returns the number of bytes that lpt_linear_state_save() writes.
 *
 * @param[in]  linear          Layer to read.
 * @param[out] out_size_bytes  Depends on the recipe, the shape, and whether a sparse mask was selected.
 */
LPT_API lpt_status lpt_linear_state_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes);

/**
 * @brief Saves the scalers of a layer, and the mask of a sparse weight.
 *
 * The state is portable, versioned and protected by a checksum. It does not contain casts of the weight:
 * lpt_linear_prepare() creates them.
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]  linear        Layer to read.
 * @param[out] buffer        At least lpt_linear_state_size() bytes, in CPU memory.
 * @param[in]  buffer_bytes  Size of `buffer`.
 * @retval LPT_INVALID_ARGUMENT  `buffer_bytes` is too small, or `linear` belongs to another device.
 */
LPT_API lpt_status lpt_linear_state_save(lpt_context *context, const lpt_linear *linear, void *buffer,
                                         size_t buffer_bytes);

/**
 * @brief Restores the scalers of a layer, and the mask of a sparse weight.
 *
 * @param[in,out] linear        Same recipe and shape as the saved layer.
 * @param[in]     buffer        A saved state, in CPU memory.
 * @param[in]     buffer_bytes  Size of the saved state.
 * @retval LPT_INVALID_ARGUMENT  `linear` belongs to another device.
 * @retval LPT_INVALID_STATE     The state is truncated, damaged, or of another shape or recipe; nothing is changed.
 */
LPT_API lpt_status lpt_linear_state_load(lpt_context *context, lpt_linear *linear, const void *buffer,
                                         size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif
