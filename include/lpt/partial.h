/**
 * @file partial.h
 * @brief Tensor parallelism with partially shared activations (CAAT), and sequence parallelism.
 *
 * Shared columns of activations hold sums over ranks; each rank has private values in the other columns.
 * docs/concepts/caat.md describes the method.
 *
 * Statuses  Functions with a comm are collectives: see comm.h for statuses, futures and devices.
 */
#ifndef LPT_PARTIAL_H
#define LPT_PARTIAL_H

#include "common.h"
#include "format.h"
#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Direction of a pass; one of lpt_partial_pass_values. */
typedef int32_t lpt_partial_pass;

/** @brief Values of lpt_partial_pass. */
enum lpt_partial_pass_values {
  LPT_PARTIAL_PASS_FORWARD = 0, /**< Activations; uses forward_wire. */
  LPT_PARTIAL_PASS_BACKWARD = 1 /**< Gradients of activations; uses backward_wire. */
};

/** @brief Factor of private columns; one of lpt_partial_scale_values. */
typedef int32_t lpt_partial_scale;

/** @brief Values of lpt_partial_scale. */
enum lpt_partial_scale_values {
  /** Square root of the number of ranks: private columns get the variance of shared ones, which are sums. */
  LPT_PARTIAL_SCALE_ROOT = 0,
  LPT_PARTIAL_SCALE_ONE = 1,   /**< 1: the weights are scaled once instead; see lpt_partial_scale_weight(). */
  LPT_PARTIAL_SCALE_CUSTOM = 2 /**< custom_scale. */
};

/** @brief Options of lpt_partial_plan_create(); the same on all ranks and in all layers, for the full training. */
typedef struct lpt_partial_plan_options {
  size_t struct_size;     /**< sizeof(lpt_partial_plan_options) of the caller. */
  lpt_flags flags;        /**< LPT_PARTIAL_SEQUENCE_PARALLEL or 0. */
  int64_t hidden_columns; /**< Columns of activations, 1 to 2^28. */
  /** The first columns, which ranks share: 0 to hidden_columns; see lpt_partial_shared_columns(). */
  int64_t shared_columns;
  int32_t rank_count;              /**< Number of ranks, 1 to 1024. */
  lpt_partial_scale private_scale; /**< Factor of the other columns. Default ROOT. */
  double custom_scale;             /**< With LPT_PARTIAL_SCALE_CUSTOM: finite, not 0. Otherwise 1, the default. */
  /**
   * Format in which sums of activations are sent, as lpt_reduce_options.wire; NONE, the default: that of the tensor.
   */
  lpt_format forward_wire;
  lpt_format backward_wire; /**< The same for gradients. */
  /**
   * Rows that lpt_partial_gemm() reduces while it computes the next ones, up to 2^28; it does not change the bits. 0,
   * the default: the best number for the link below; without a link, all rows. A wire reduces all rows at once.
   */
  int64_t chunk_rows;
  double link_latency_seconds;  /**< Latency of a link between ranks, as in lpt_cost_link, up to 3600; 0: unknown. */
  double link_bytes_per_second; /**< Bandwidth of a link, up to 1e18; 0: unknown. */
} lpt_partial_plan_options;

/** @brief Defaults of lpt_partial_plan_options. */
#define LPT_PARTIAL_PLAN_OPTIONS_INIT                                                                               \
  {                                                                                                                 \
    sizeof(lpt_partial_plan_options), 0, 0, 0, 0, LPT_PARTIAL_SCALE_ROOT, 1.0, LPT_FORMAT_NONE, LPT_FORMAT_NONE, 0, \
        0.0, 0.0                                                                                                    \
  }

/** @brief Properties of a plan. */
typedef struct lpt_partial_plan_info {
  size_t struct_size;     /**< sizeof(lpt_partial_plan_info) of the caller. */
  int64_t hidden_columns; /**< Columns of activations. */
  int64_t shared_columns; /**< The first columns, which ranks share. */
  int32_t rank_count;     /**< Number of ranks. */
  int32_t reserved;       /**< Always 0. */
  double private_scale;   /**< Factor of private columns. */
  /** Bytes that a rank sends per row of activations: 2 · (R - 1) / R of the shared columns. */
  double forward_row_bytes;
  double backward_row_bytes; /**< The same for gradients. */
} lpt_partial_plan_info;

/** @brief Defaults of lpt_partial_plan_info. */
#define LPT_PARTIAL_PLAN_INFO_INIT \
  { sizeof(lpt_partial_plan_info), 0, 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Computes how many columns a fraction of all columns shares, rounded down.
 *
 * The result is the largest k for which k / hidden_columns, as a double, is at most `fraction`. Decimal fractions are
 * exact: 0.29 of 100 columns gives 29, where the truncated product of doubles gives 28. 1.0 / 3 of 3 columns gives 1.
 *
 * Threads   It has no context and may run on any thread.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]  hidden_columns      1 to 2^28.
 * @param[in]  fraction            0 to 1.
 * @param[out] out_shared_columns  0 to hidden_columns.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 */
LPT_API lpt_status lpt_partial_shared_columns(lpt_context *context, int64_t hidden_columns, double fraction,
                                              int64_t *out_shared_columns);

/**
 * @brief Creates a plan, which states the shared columns for all calls.
 *
 * Threads   Many contexts may use a plan at the same time.
 *
 * @param[in]  options   Not NULL.
 * @param[out] out_plan  Destroy with lpt_partial_plan_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range, or `custom_scale` is set without
 *                               LPT_PARTIAL_SCALE_CUSTOM.
 * @retval LPT_UNSUPPORTED       LPT_PARTIAL_SEQUENCE_PARALLEL with private columns.
 */
LPT_API lpt_status lpt_partial_plan_create(lpt_context *context, const lpt_partial_plan_options *options,
                                           lpt_partial_plan **out_plan);

/**
 * @brief Destroys a plan.
 *
 * @param[in] plan  NULL is allowed.
 */
LPT_API void lpt_partial_plan_destroy(lpt_partial_plan *plan);

/**
 * @brief Reads the properties of a plan.
 *
 * @param[in]  plan      Plan to read.
 * @param[in]  format    Format of the tensors that are reduced; bytes are counted in it where a wire is NONE.
 * @param[out] out_info  The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  `format` is no format and a wire is NONE.
 */
LPT_API lpt_status lpt_partial_plan_read(lpt_context *context, const lpt_partial_plan *plan, lpt_format format,
                                         lpt_partial_plan_info *out_info);

/**
 * @brief Sums the shared columns over all ranks, and scales the private columns of this rank.
 *
 * Computes out[:, :s] = sum over ranks of in[:, :s], and out[:, s:] = scale · in[:, s:]. It replaces the all-reduce
 * after a row-parallel layer; each rank keeps a residual stream in its private columns.
 *
 * The operator is self-adjoint: with LPT_PARTIAL_PASS_BACKWARD it maps the gradient of `output` to that of `input`. It
 * replaces the reduction before the column-parallel layers. Gradients of replicated values are then parts of a sum.
 * Reduce gains of norms with one lpt_all_reduce_many() per step. Reduce the gradient at the input of the layers, of the
 * embeddings, with one lpt_all_reduce() of all columns.
 *
 * The gradient of the skip connection is read after this call. If it is in the same memory, use another output.
 *
 * Shapes    hidden_columns columns, any leading axes, rows with any stride.
 *
 * Formats   f64, f32, bf16 or f16; `output` as `input`. f64 requires ranks on CPUs.
 *
 * Rounding  Shared columns have the bits of lpt_all_reduce(): added in f32 in rank order and rounded once, the same on
 *           all ranks. For a bf16 gradient a wire of f32 gives the same bits at twice the bytes, since bf16 addends are
 *           exact. Private columns: one multiplication in f32 and one rounding; scale 1 copies the bits.
 *
 * Overlap   `output` may be `input`.
 *
 * Source    CAAT-Net (arXiv 2506.19645).
 *
 * Without shared columns nothing is sent and no rank waits. A call that fails after its checks leaves `output`
 * undefined.
 *
 * @param[in]  comm        With the rank_count of the plan.
 * @param[in]  plan        Used until the call returns; the same on all ranks.
 * @param[in]  pass        Selects the wire; the same on all ranks.
 * @param[in]  input       Rows × hidden_columns.
 * @param[out] output      The shape and format of `input`.
 * @param[out] out_future  As for lpt_all_reduce(). Private columns are complete on return, on a GPU queued.
 * @retval LPT_INVALID_ARGUMENT  `comm` has another number of ranks than `plan`, or `input` has other than
 *                               hidden_columns columns.
 * @retval LPT_UNSUPPORTED       The wire of the plan does not support the format or the device.
 */
LPT_API lpt_status lpt_partial_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                          lpt_partial_pass pass, const lpt_tensor *input, lpt_tensor *output,
                                          lpt_future **out_future);

/**
 * @brief Multiplies by this rank's slice of a row-parallel weight, and sums the shared columns over all ranks.
 *
 * The bits are those of lpt_gemm(), then lpt_partial_all_reduce() of `c` in place. Private columns are computed while
 * shared ones are sent. Packed weights that are block-sparse or in bitmask storage are multiplied completely before
 * anything is sent. So are 2:4 packed weights, except for small m.
 *
 * Device    On a GPU the comm's stream reduces the shared columns while the other columns are computed.
 *
 * Threads   On a CPU the thread of the comm runs the reduction, and sleeps during transfers.
 *
 * Overlap   `c` may overlap neither `a` nor `b`.
 *
 * @param[in]  comm     With the rank_count of the plan.
 * @param[in]  plan     The same on all ranks.
 * @param[in]  a        Rows × the input columns of this rank.
 * @param[in]  b        Slice of the weight, hidden_columns wide; as for lpt_gemm(), also packed.
 * @param[in]  options  Of lpt_gemm(), NULL for the defaults: alpha, transposes, arithmetic, and LPT_GEMM_PORTABLE_ORDER
 *                      and LPT_GEMM_FAST_ACCUMULATE in flags.
 * @param[out] c        Rows × hidden_columns; f64, f32, bf16 or f16; rows with any stride.
 * @retval LPT_INVALID_ARGUMENT  `comm` has another number of ranks than `plan`, or `c` has other than hidden_columns
 *                               columns. Otherwise as for lpt_gemm().
 * @retval LPT_UNSUPPORTED       `options` sets what every rank would add or change: bias, residual, beta, activation,
 *                               quantize, outlier_threshold or other flags. Otherwise as for lpt_gemm() and
 *                               lpt_partial_all_reduce().
 */
LPT_API lpt_status lpt_partial_gemm(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                    const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options *options,
                                    lpt_tensor *c);

/**
 * @brief Multiplies the private rows of an initial weight by the scale of a plan, in place.
 *
 * A plan with LPT_PARTIAL_SCALE_ONE then trains the weight. This alternative equals scaled activations at the start of
 * training. It differs under Adam, whose steps do not grow with the weight.
 *
 * Formats   f64, f32, bf16 or f16; on a GPU f32, bf16 or f16.
 *
 * Rounding  One multiplication and one rounding.
 *
 * Device    CPU and GPU.
 *
 * @param[in]     plan    With the scale.
 * @param[in,out] weight  hidden_columns rows (output × input), rows with any stride.
 * @retval LPT_INVALID_ARGUMENT  `weight` has other than hidden_columns rows.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports the format.
 */
LPT_API lpt_status lpt_partial_scale_weight(lpt_context *context, const lpt_partial_plan *plan, lpt_tensor *weight);

/**
 * @brief Gathers the rows of all ranks, in rank order, before a column-parallel layer (sequence parallelism).
 *
 * The bits are those of lpt_all_gather(). It is adjoint to lpt_sequence_scatter(), Σ⟨gather(x), g⟩ = Σ⟨x, scatter(g)⟩
 * summed over ranks, so each is the backward of the other. Outside of attention and MLP each rank then computes norms
 * and additions for its rows only. Both functions together send the bytes of one all-reduce.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     plan        Of the neighboring layers, with all columns shared; NULL: none.
 * @param[in]     input       Rows of this rank, any number; rank 2 or more; f64, f32, bf16 or f16.
 * @param[in]     row_counts  Rows of each rank, the same on all ranks; NULL: equal numbers.
 * @param[out]    output      Rows of all ranks, in the format and columns of `input`; may not overlap `input`, except
 *                            that `input` is its own part.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `input` has rank 1, or `plan` has another number of ranks or columns. Otherwise as for
 *                               lpt_all_gather().
 * @retval LPT_UNSUPPORTED       `plan` has private columns: they belong to one rank for the full sequence.
 */
LPT_API lpt_status lpt_sequence_gather(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                       const lpt_tensor *input, const int64_t *row_counts, lpt_tensor *output,
                                       lpt_future **out_future);

/**
 * @brief Sums the rows of all ranks after a row-parallel layer without a comm, and gives each rank its rows of the sum.
 *
 * The bits are those of lpt_reduce_scatter() with the wire of the plan. It is the backward of lpt_sequence_gather(),
 * and the reverse.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     plan        As for lpt_sequence_gather().
 * @param[in]     pass        Selects the wire of the plan; the same on all ranks.
 * @param[in]     input       All rows; rank 2 or more; f64, f32, bf16 or f16.
 * @param[in]     row_counts  As for lpt_sequence_gather().
 * @param[out]    output      Rows of this rank, in the format and columns of `input`; may not overlap `input`.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `input` has rank 1, or `plan` has another number of ranks or columns. Otherwise as for
 *                               lpt_reduce_scatter().
 * @retval LPT_UNSUPPORTED       `plan` has private columns. Otherwise as for lpt_reduce_scatter().
 */
LPT_API lpt_status lpt_sequence_scatter(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                        lpt_partial_pass pass, const lpt_tensor *input, const int64_t *row_counts,
                                        lpt_tensor *output, lpt_future **out_future);

/** @brief Which positions of a sequence a rank of a ring has; one of lpt_sequence_layout_values. */
typedef int32_t lpt_sequence_layout;

/** @brief Values of lpt_sequence_layout, for rank i of R. */
enum lpt_sequence_layout_values {
  LPT_SEQUENCE_LAYOUT_CONTIGUOUS = 0, /**< Part i of R equal parts. */
  /** Part i of 2R equal parts, then part 2R - 1 - i. Causal attention is then equal work for all ranks. */
  LPT_SEQUENCE_LAYOUT_ZIGZAG = 1
};

/** @brief Options of lpt_sequence_attention_forward() and lpt_sequence_attention_backward(). */
typedef struct lpt_sequence_attention_options {
  size_t struct_size;         /**< sizeof(lpt_sequence_attention_options) of the caller. */
  lpt_flags flags;            /**< Must be 0. */
  double scale;               /**< As in lpt_attention_options. */
  int32_t is_causal;          /**< 1: a query attends to its own and to earlier positions. Default 0: to all. */
  lpt_sequence_layout layout; /**< Positions of the ranks of `ring`. Default CONTIGUOUS. */
  /**
   * Format in which keys and values are sent around the ring; LPT_FORMAT_NONE, the default: their own. Each rank casts
   * its keys and values once with the defaults of lpt_quantize(), and all ranks use the cast ones.
   */
  lpt_format wire;
  /**
   * Log of the sums, as in lpt_attention_options, for the heads and positions that this rank computes. Its shape is
   * batch × heads / H × H · positions, where `heads` has H ranks; 1 if it is NULL. The forward pass writes it, the
   * backward pass reads it. Default NULL: only in the forward pass.
   */
  lpt_tensor *log_sum_exp;
  const lpt_tensor *output; /**< Of the backward pass: the output of the forward pass. Default NULL. */
} lpt_sequence_attention_options;

/** @brief Defaults of lpt_sequence_attention_options. */
#define LPT_SEQUENCE_ATTENTION_OPTIONS_INIT \
  { sizeof(lpt_sequence_attention_options), 0, 0.0, 0, LPT_SEQUENCE_LAYOUT_CONTIGUOUS, LPT_FORMAT_NONE, NULL, NULL }

/**
 * @brief Computes attention over a sequence whose positions are divided among ranks (sequence parallelism).
 *
 * Two ways are combined. Ranks of `heads` first exchange queries, keys and values, so that each has all their positions of
 * some heads; the output returns the same way. Ranks of `ring` pass keys and values around, and merge the results by the log
 * of their sums. While a rank computes, the next keys and values are in transit.
 *
 * Each rank of `ring` has some positions, by `layout`. With `heads`, its ranks divide these positions into equal parts.
 *
 * Shapes    As in lpt_attention_forward(), with equally many queries and keys, the same on all ranks. Ranks of `heads`
 *           divide the heads of `query` and of `key`. With ZIGZAG, ranks of `heads` have an even number of positions in all.
 *
 * Formats   f64, f32, bf16 or f16. Merged results are f32, or f64 if a tensor is f64.
 *
 * Rounding  As in lpt_attention_forward() for each part of the keys; the merged result is rounded once.
 *
 * Device    Ranks on CPUs.
 *
 * Source    Ring attention, arXiv 2310.01889; exchange of heads, arXiv 2309.14509; both, arXiv 2405.07719.
 *
 * @param[in,out] ring     Ranks with different positions; NULL: none.
 * @param[in,out] heads    Ranks that exchange heads for positions; NULL: none. At least one comm is set.
 * @param[in]     query    Batch × heads × positions of this rank × width.
 * @param[in]     key      Batch × key heads × positions of this rank × width.
 * @param[in]     value    Batch × key heads × positions of this rank × value width.
 * @param[in]     options  NULL for the defaults; the same on all ranks.
 * @param[out]    output   Batch × heads × positions of this rank × value width; no overlap with an input.
 * @retval LPT_INVALID_ARGUMENT  Both comms are NULL or the same, or ranks do not divide heads or positions. Otherwise as for
 *                               lpt_attention_forward().
 * @retval LPT_UNSUPPORTED       A comm is of GPUs. Keys cannot be cast to `wire`, or it has blocks of more than one row.
 *                               Otherwise as for lpt_attention_forward().
 */
LPT_API lpt_status lpt_sequence_attention_forward(lpt_context *context, lpt_comm *ring, lpt_comm *heads,
                                                  const lpt_tensor *query, const lpt_tensor *key,
                                                  const lpt_tensor *value,
                                                  const lpt_sequence_attention_options *options, lpt_tensor *output);

/**
 * @brief Computes the gradients of lpt_sequence_attention_forward() for query, key and value.
 *
 * Gradients of keys and values are sent around the ring in the format of sums. With a wire they are those of the cast keys
 * and values.
 *
 * Formats   As in the forward pass. Gradients are added in f32, or in f64 if a tensor is f64.
 *
 * @param[in,out] ring             As in the forward pass.
 * @param[in,out] heads            As in the forward pass.
 * @param[in]     query            As in the forward pass.
 * @param[in]     key              As in the forward pass.
 * @param[in]     value            As in the forward pass.
 * @param[in]     output_gradient  The shape of the output.
 * @param[in]     options          With `output` and `log_sum_exp` of the forward pass; the same on all ranks.
 * @param[out]    query_gradient   The shape of `query`; no overlap with an input or another output.
 * @param[out]    key_gradient     The shape of `key`; no overlap with an input or another output.
 * @param[out]    value_gradient   The shape of `value`; no overlap with an input or another output.
 * @retval LPT_INVALID_ARGUMENT  `output` or `log_sum_exp` is NULL. Otherwise as in the forward pass.
 * @retval LPT_UNSUPPORTED       As in the forward pass.
 */
LPT_API lpt_status lpt_sequence_attention_backward(lpt_context *context, lpt_comm *ring, lpt_comm *heads,
                                                   const lpt_tensor *query, const lpt_tensor *key,
                                                   const lpt_tensor *value, const lpt_tensor *output_gradient,
                                                   const lpt_sequence_attention_options *options,
                                                   lpt_tensor *query_gradient, lpt_tensor *key_gradient,
                                                   lpt_tensor *value_gradient);

#ifdef __cplusplus
}
#endif

#endif
