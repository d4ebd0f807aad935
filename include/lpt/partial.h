/**
 * @file partial.h
 * @brief Tensor parallelism with partially synchronized activations (CAAT), and sequence parallelism.
 */
#ifndef LPT_PARTIAL_H
#define LPT_PARTIAL_H

#include "common.h"
#include "format.h"
#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which way activations go; one of lpt_partial_pass_values. */
typedef int32_t lpt_partial_pass;

/** @brief Values of lpt_partial_pass. */
enum lpt_partial_pass_values {
  LPT_PARTIAL_PASS_FORWARD = 0, /**< Activations. */
  LPT_PARTIAL_PASS_BACKWARD = 1 /**< Their gradients. */
};

/** @brief What private columns are multiplied by; one of lpt_partial_scale_values. */
typedef int32_t lpt_partial_scale;

/** @brief Values of lpt_partial_scale. */
enum lpt_partial_scale_values {
  LPT_PARTIAL_SCALE_ROOT = 0,  /**< The root of the number of ranks: shared columns, which are sums, vary as much. */
  LPT_PARTIAL_SCALE_ONE = 1,   /**< 1: the weights were scaled instead, once; see lpt_partial_scale_weight(). */
  LPT_PARTIAL_SCALE_CUSTOM = 2 /**< custom_scale. */
};

/**
 * @brief Flag of lpt_partial_plan_options: the model splits the sequence among the same ranks outside of attention and MLP
 *        (sequence parallelism). Refused where columns are private, instead of a model that is silently wrong.
 */
#define LPT_PARTIAL_SEQUENCE_PARALLEL UINT64_C(4)

/** @brief How columns are shared. The same on all ranks, in all layers, for the whole training. */
typedef struct lpt_partial_plan_options {
  size_t struct_size;     /**< sizeof(lpt_partial_plan_options) of the caller. */
  uint64_t flags;         /**< LPT_PARTIAL_SEQUENCE_PARALLEL. */
  int64_t hidden_columns; /**< Columns of activations, 1 to 2^28. */
  int64_t
      shared_columns; /**< The first ones, which ranks share: 0 to hidden_columns; see lpt_partial_shared_columns(). */
  int32_t rank_count; /**< Ranks, 1 to 1024. */
  lpt_partial_scale private_scale; /**< Factor of the other columns. */
  double custom_scale;             /**< With LPT_PARTIAL_SCALE_CUSTOM: finite, not 0. */
  lpt_format forward_wire;  /**< Format in which sums are sent, as lpt_reduce_options.wire; NONE: the tensor's. */
  lpt_format backward_wire; /**< The same of gradients. */
  /**
   * Rows of a product that lpt_partial_gemm() reduces while it multiplies the next ones; the same bits as all at once. 0: as
   * many as are best for the link below; without one, all.
   */
  int64_t chunk_rows;
  double link_latency_seconds;  /**< Of a link between ranks, as of lpt_cost_link; 0: not known. */
  double link_bytes_per_second; /**< The same; 0: not known. */
} lpt_partial_plan_options;

/** @brief Defaults of lpt_partial_plan_options. */
#define LPT_PARTIAL_PLAN_OPTIONS_INIT                                                                               \
  {                                                                                                                 \
    sizeof(lpt_partial_plan_options), 0, 0, 0, 0, LPT_PARTIAL_SCALE_ROOT, 1.0, LPT_FORMAT_NONE, LPT_FORMAT_NONE, 0, \
        0.0, 0.0                                                                                                    \
  }

/**
 * @brief Writes the defaults of LPT_PARTIAL_PLAN_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_partial_plan_options_init(lpt_partial_plan_options *options, size_t struct_size);

/** @brief What a plan says. */
typedef struct lpt_partial_plan_info {
  size_t struct_size;     /**< sizeof(lpt_partial_plan_info) of the caller. */
  int64_t hidden_columns; /**< Columns of activations. */
  int64_t shared_columns; /**< The first ones. */
  int32_t rank_count;     /**< Ranks. */
  int32_t reserved;       /**< 0. */
  double private_scale;   /**< Factor of private columns. */
  double
      forward_row_bytes; /**< What leaves a rank for each row of activations: 2 · (R - 1) / R of the shared columns. */
  double backward_row_bytes; /**< The same of gradients. */
} lpt_partial_plan_info;

/** @brief Defaults of lpt_partial_plan_info. */
#define LPT_PARTIAL_PLAN_INFO_INIT \
  { sizeof(lpt_partial_plan_info), 0, 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_PARTIAL_PLAN_INFO_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_partial_plan_info_init(lpt_partial_plan_info *values, size_t struct_size);

/**
 * @brief Finds the columns that a fraction of all columns shares, rounded down.
 *
 * It is the largest number k for which k / hidden_columns, as a double, is not above `fraction`. Decimals mean what is
 * written: 0.29 of 100 columns are 29, where a product in doubles, cut, gives 28; and 1.0 / 3 of 3 is 1.
 *
 * @param hidden_columns 1 to 2^28.
 * @param fraction 0 to 1.
 * @param out_shared_columns returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_partial_shared_columns(int64_t hidden_columns, double fraction, int64_t *out_shared_columns);

/**
 * @brief Makes a plan: the one place that knows which columns are shared. It may be used by many contexts at a time.
 * @param context the context.
 * @param options borrowed; not NULL.
 * @param out_plan returned; destroy with lpt_partial_plan_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_partial_plan_create(lpt_context *context, const lpt_partial_plan_options *options,
                                           lpt_partial_plan **out_plan);

/**
 * @brief Destroys a plan.
 * @param plan NULL is allowed.
 */
LPT_API void lpt_partial_plan_destroy(lpt_partial_plan *plan);

/**
 * @brief Returns what a plan says.
 * @param context the context.
 * @param plan the plan.
 * @param format of the tensors that will be reduced: where a wire is NONE, bytes are counted in it.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_partial_plan_read(lpt_context *context, const lpt_partial_plan *plan, lpt_format format,
                                         lpt_partial_plan_info *out_info);

/**
 * @brief Adds up the shared columns of all ranks, and scales this rank's private ones: out[:, :s] = sum over ranks of
 *        in[:, :s], out[:, s:] = scale · in[:, s:].
 *
 * The tensor-parallel all-reduce behind a row-parallel layer, of a part of the columns: each rank keeps a residual stream of its
 * own in the others. The operator is its own adjoint: the same call with LPT_PARTIAL_PASS_BACKWARD makes of a gradient behind it
 * the gradient before it, and takes the place of the reduction before the column-parallel layers. Gradients of what all
 * ranks hold alike are then parts of a sum: gains of norms take one lpt_all_reduce_many() a step, and the gradient at the
 * entry of the layers, of the embeddings, one lpt_all_reduce() of all columns. docs/concepts/caat.md tells it in full.
 *
 * The skip connection's gradient is read after this call: where it is in the same memory, call it out of place.
 *
 * Formats   f64, f32, bf16 or f16, the output as the input.
 * Rounding  shared columns: as lpt_all_reduce(), to the bit: added in f32 in the order of ranks and rounded once, all ranks
 *           end with the same bits. A wire of f32 for a gradient of bf16 would give those very bits for twice the bytes:
 *           what is sent are the addends, which bf16 holds exactly, and their sum is made in f32 anyway. Private columns:
 *           one product in f32 and one rounding; with scale 1 copied bit for bit.
 * Source    CAAT-Net (arXiv 2506.19645).
 *
 * Without shared columns nothing is sent and no rank waits. A call that fails on the way leaves the output undefined.
 *
 * @param context of this rank.
 * @param comm the communicator; with the plan's rank_count.
 * @param plan borrowed until the call returns; the same on all ranks.
 * @param pass which wire is taken; the same on all ranks.
 * @param input borrowed; hidden_columns columns, any leading axes, rows with any stride.
 * @param output written; same shape and format. May be the input.
 * @param out_future as for lpt_all_reduce(): then private columns are done on return, and shared ones on their way.
 * @return as lpt_all_reduce(); LPT_UNSUPPORTED for another wire.
 */
LPT_API lpt_status lpt_partial_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                          lpt_partial_pass pass, const lpt_tensor *input, lpt_tensor *output,
                                          lpt_future **out_future);

/**
 * @brief Multiplies by this rank's part of a row-parallel weight and adds up the shared columns of all ranks: lpt_gemm(),
 *        then lpt_partial_all_reduce() of c in place, bit for bit, but private columns are computed while the
 *        shared ones are sent.
 *
 * The sum needs a thread of its own, the comm's, which sleeps while bytes are on their way. Packed weights in tiles or BITMASK,
 * and 2:4 ones of more than a few rows, are multiplied whole before anything is sent. Progress is not told: a rank
 * that stops alone would leave the others waiting.
 *
 * @param context of this rank.
 * @param comm the communicator; with the plan's rank_count.
 * @param plan borrowed.
 * @param a borrowed; rows × this rank's part of the input columns.
 * @param b borrowed; this rank's part of the weight, hidden_columns wide: as for lpt_gemm(), packed too.
 * @param options of lpt_gemm(); alpha, flags, is_a_transposed, is_b_transposed and arithmetic are taken. What is added to
 *        a product that ranks add up would be added by every rank: bias, residual, beta, activation are rejected.
 * @param c written; rows × hidden_columns, f64, f32, bf16 or f16; rows with any stride. May not overlap a or b.
 * @return as lpt_gemm() and lpt_partial_all_reduce().
 */
LPT_API lpt_status lpt_partial_gemm(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                    const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options *options,
                                    lpt_tensor *c);

/**
 * @brief Multiplies the private rows of a weight's first values by the scale, in place: then a plan with
 *        LPT_PARTIAL_SCALE_ONE trains on. The other of two ways: alike when training begins, apart under Adam, whose steps do
 *        not grow with the weight. One rounding.
 * @param context the context.
 * @param plan with the scale.
 * @param weight read and written; f64, f32, bf16 or f16, hidden_columns rows (output × input), rows with any stride.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_partial_scale_weight(lpt_context *context, const lpt_partial_plan *plan, lpt_tensor *weight);

/**
 * @brief Sequence parallelism: gathers the rows of all ranks, in their order, before a column-parallel layer. Adjoint to
 *        lpt_sequence_scatter(): Σ⟨gather(x), g⟩ = Σ⟨x, scatter(g)⟩, summed over ranks, so each is the other's backward.
 *
 * lpt_all_gather() of rows, to the bit. Outside of attention and MLP each rank then norms and adds its own rows only, and
 * the two together move what one all-reduce moves. Private columns stay with their rank for the whole sequence, which a split one
 * would lose: a plan with some is rejected, instead of a model that is silently another.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param plan borrowed: of the layers around, with all columns shared; NULL: there is none.
 * @param input borrowed; this rank's rows, any number of them, of f64, f32, bf16 or f16.
 * @param row_counts borrowed: rows of each rank, the same array on all ranks; NULL: equal numbers.
 * @param output written; the rows of all ranks, format and columns of input. May not overlap input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_gather(); LPT_UNSUPPORTED for a plan with private columns.
 */
LPT_API lpt_status lpt_sequence_gather(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                       const lpt_tensor *input, const int64_t *row_counts, lpt_tensor *output,
                                       lpt_future **out_future);

/**
 * @brief Sequence parallelism: adds up what ranks have of all rows, behind a row-parallel layer without a comm, and gives each
 *        rank its own rows of the sum: lpt_reduce_scatter() of rows, to the bit, by the plan's wire. The backward of
 *        lpt_sequence_gather(), and that is its backward.
 * @param context of this rank.
 * @param comm the communicator.
 * @param plan as in lpt_sequence_gather().
 * @param pass which of the plan's wires is taken; the same on all ranks.
 * @param input borrowed; all rows, f64, f32, bf16 or f16.
 * @param row_counts as in lpt_sequence_gather().
 * @param output written; this rank's rows, format and columns of input. May not overlap input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_reduce_scatter(); LPT_UNSUPPORTED for a plan with private columns.
 */
LPT_API lpt_status lpt_sequence_scatter(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                        lpt_partial_pass pass, const lpt_tensor *input, const int64_t *row_counts,
                                        lpt_tensor *output, lpt_future **out_future);

#ifdef __cplusplus
}
#endif

#endif
