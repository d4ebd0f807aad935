/**
 * @file data_parallel.h
 * @brief Data parallelism: gradient buckets, and an optimizer whose state is sharded over ranks.
 *
 * Statuses  Functions that reduce or gather are collectives: see comm.h for statuses and devices.
 */
#ifndef LPT_DATA_PARALLEL_H
#define LPT_DATA_PARALLEL_H

#include "collective.h"
#include "common.h"
#include "optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Order in which gradients fill buckets; one of lpt_gradient_buckets_order_values. */
typedef int32_t lpt_gradient_buckets_order;

/** @brief Values of lpt_gradient_buckets_order. */
enum lpt_gradient_buckets_order_values {
  /**
   * The first pass that is reduced uses the reverse of the list. Later passes use the order in which gradients became
   * ready on rank 0 in that pass, which rank 0 sends to all others. Ranks on GPUs always use the reverse of the list.
   */
  LPT_GRADIENT_BUCKETS_ORDER_RECORDED = 0,
  LPT_GRADIENT_BUCKETS_ORDER_REVERSED = 1 /**< Always the reverse of the list. */
};

/** @brief Options of lpt_gradient_buckets_create(). */
typedef struct lpt_gradient_buckets_options {
  size_t struct_size; /**< sizeof(lpt_gradient_buckets_options) of the caller. */
  lpt_flags flags;    /**< Must be 0. */
  /** Maximum size of a bucket; a larger gradient has its own bucket. 0, the default: 25 MiB. */
  size_t bucket_bytes;
  lpt_gradient_buckets_order order; /**< Order of the gradients. Default RECORDED. */
  int32_t reserved;                 /**< Must be 0. */
  /** A name per gradient for error texts, not NULL; used for this call only. NULL: none. */
  const char *const *names;
} lpt_gradient_buckets_options;

/** @brief Defaults of lpt_gradient_buckets_options. */
#define LPT_GRADIENT_BUCKETS_OPTIONS_INIT \
  { sizeof(lpt_gradient_buckets_options), 0, 0, LPT_GRADIENT_BUCKETS_ORDER_RECORDED, 0, NULL }

/** @brief State of buckets. */
typedef struct lpt_gradient_buckets_info {
  size_t struct_size;     /**< sizeof(lpt_gradient_buckets_info) of the caller. */
  int64_t bucket_count;   /**< Number of buckets. */
  int64_t ready_count;    /**< Ready gradients of this pass, or of the last one. */
  int64_t launched_count; /**< Buckets of this pass whose reduction was started. */
  /** Time that the last lpt_gradient_buckets_wait() waited: the part of the reduction that backward did not overlap. */
  double wait_seconds;
  int32_t is_recorded; /**< 1: the order is that of the first pass of rank 0. */
  int32_t reserved;    /**< Always 0. */
} lpt_gradient_buckets_info;

/** @brief Defaults of lpt_gradient_buckets_info. */
#define LPT_GRADIENT_BUCKETS_INFO_INIT \
  { sizeof(lpt_gradient_buckets_info), 0, 0, 0, 0.0, 0, 0 }

/**
 * @brief Groups gradients in buckets, each reduced in place by one message as soon as its gradients are ready.
 *
 * A bucket is reduced when all its gradients are ready and all buckets before it have started. Thus the all-reduce of
 * data-parallel training overlaps with backward:
 *
 *   lpt_gradient_buckets_begin(context, buckets, 1, &average);
 *   ... backward: lpt_gradient_buckets_ready(context, buckets, index) after each gradient ...
 *   lpt_gradient_buckets_wait(context, buckets);                     // all gradients are reduced
 *
 * All ranks create the same buckets of the same gradients. They start reductions in the order of the buckets, for any
 * order of ready gradients. Bits are those of lpt_all_reduce() for each gradient. With a wire they are those of
 * lpt_all_reduce_many() for each bucket, and depend on its members. Use LPT_GRADIENT_BUCKETS_ORDER_REVERSED where a
 * resumed training must give the bits of an uninterrupted one. All ranks must call other collectives of the comm
 * between the same buckets, best outside of a pass.
 *
 * Shapes    Any shapes, rows with any stride.
 *
 * Formats   f64, f32, bf16 or f16, mixed; a bucket has one format.
 * Ownership Memory of the caller must stay valid at its address until the buckets are destroyed. `comm` must be valid
 *           while the buckets are used; it may be destroyed before them.
 *
 * @param[in,out] comm         Communicator of this rank.
 * @param[in]     gradients    `count` tensors in the order of forward, none twice.
 * @param[in]     count        Length of `gradients`, at least 0.
 * @param[in]     options      NULL for the defaults; the same on all ranks.
 * @param[out]    out_buckets  Destroy with lpt_gradient_buckets_destroy().
 * @retval LPT_INVALID_ARGUMENT  `count` is negative, two gradients have the same address, an element of `names` is
 *                               NULL, or `order` is out of range.
 * @retval LPT_UNSUPPORTED       A gradient has another format, or is not on the device of `comm`.
 */
LPT_API lpt_status lpt_gradient_buckets_create(lpt_context *context, lpt_comm *comm, lpt_tensor *const *gradients,
                                               int64_t count, const lpt_gradient_buckets_options *options,
                                               lpt_gradient_buckets **out_buckets);

/**
 * @brief Starts a backward pass.
 *
 * @param[in,out] buckets  Buckets of this rank.
 * @param[in]     is_last  1: gradients are reduced as they become ready. 0: micro-batches follow that add to them, and
 *                         nothing is sent.
 * @param[in]     options  Reduction of this pass, the same on all ranks. An average, or a factor, gives means. Element
 *                         i of all buckets draws at random.offset + i. NULL: sums. Ignored if `is_last` is 0.
 * @retval LPT_INVALID_ARGUMENT  A pass is in progress, or `is_last` is neither 0 nor 1. Otherwise as for
 *                               lpt_all_reduce(); the reductions of all buckets are checked here.
 * @retval LPT_UNSUPPORTED       As for lpt_all_reduce().
 */
LPT_API lpt_status lpt_gradient_buckets_begin(lpt_context *context, lpt_gradient_buckets *buckets, int32_t is_last,
                                              const lpt_reduce_options *options);

/**
 * @brief Marks a gradient as ready, and starts the reduction of buckets that are complete.
 *
 * With `is_last` the caller must not access the gradient until lpt_gradient_buckets_wait(). Otherwise the caller may.
 *
 * @param[in,out] buckets  Buckets of this rank.
 * @param[in]     index    Which gradient; each once in a pass, in any order.
 * @retval LPT_INVALID_ARGUMENT  No pass is in progress, or `index` is out of range or ready already.
 * @retval LPT_OUT_OF_MEMORY     A reduction could not start. The next ready gradient, or lpt_gradient_buckets_wait(),
 *                               tries again.
 */
LPT_API lpt_status lpt_gradient_buckets_ready(lpt_context *context, lpt_gradient_buckets *buckets, int64_t index);

/**
 * @brief Completes a pass: waits until all gradients are reduced.
 *
 * An error names the gradients of the bucket that failed. The pass is over then, except after LPT_INVALID_ARGUMENT.
 *
 * @param[in,out] buckets  Buckets of this rank.
 * @retval LPT_INVALID_ARGUMENT  No pass is in progress. Or some gradients are not ready; the text names them, the pass
 *                               continues, and other ranks wait for it.
 */
LPT_API lpt_status lpt_gradient_buckets_wait(lpt_context *context, lpt_gradient_buckets *buckets);

/**
 * @brief Reads the state of buckets.
 *
 * @param[in]  buckets   Buckets to read.
 * @param[out] out_info  The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_gradient_buckets_read(lpt_context *context, const lpt_gradient_buckets *buckets,
                                             lpt_gradient_buckets_info *out_info);

/**
 * @brief Destroys buckets; reductions in flight continue.
 *
 * @param[in] buckets  NULL is allowed.
 */
LPT_API void lpt_gradient_buckets_destroy(lpt_gradient_buckets *buckets);

/** @brief Options of lpt_optimizer_step_shards(). */
typedef struct lpt_optimizer_shard_options {
  size_t struct_size; /**< sizeof(lpt_optimizer_shard_options) of the caller. */
  lpt_flags flags;    /**< Must be 0. */
  /**
   * NULL: gradients have the same bits on all ranks, as after lpt_gradient_buckets_wait() (ZeRO 1). Otherwise ranks
   * have different gradients, and each share of them is reduced with these options to the rank that steps it (ZeRO 2).
   * With a wire it is cast in runs of up to 2^18 elements per share. Gradients then have one format; flags are 0, and
   * NATIVE is not supported.
   */
  const lpt_reduce_options *reduce;
} lpt_optimizer_shard_options;

/** @brief Defaults of lpt_optimizer_shard_options. */
#define LPT_OPTIMIZER_SHARD_OPTIONS_INIT \
  { sizeof(lpt_optimizer_shard_options), 0, NULL }

/**
 * @brief Adds this rank's shards of many parameters to an optimizer; nothing is sent.
 *
 * The elements of all parameters, in their order, are divided evenly among the ranks of the comm, in rank order. Cuts
 * are at multiples of 4096 elements of a parameter. Every rank adds the same parameters in the same order and gets the
 * same indices. A rank without a share of a parameter adds a shard of no elements.
 *
 * Source    ZeRO, arXiv 1910.02054.
 *
 * @param[in]     comm         Defines rank and number of ranks; later steps use it too. On the device of `optimizer`.
 * @param[in,out] optimizer    Optimizer to change.
 * @param[in]     names        `count` names, as for lpt_optimizer_add(). NULL: no parameter has a name.
 * @param[in]     parameters   `count` full parameters of up to 2^38 elements; whole_elements and begin are 0.
 * @param[in]     count        Length of `names`, `parameters` and `out_indices`, at least 0.
 * @param[out]    out_indices  As from lpt_optimizer_add().
 * @retval LPT_INVALID_ARGUMENT  A member or a name of a parameter is invalid, or `comm`, `context` and `optimizer` are not
 *                               on the same device. No parameter is added.
 * @retval LPT_UNSUPPORTED       As for lpt_optimizer_add(); no parameter is added.
 */
LPT_API lpt_status lpt_optimizer_add_shards(lpt_context *context, const lpt_comm *comm, lpt_optimizer *optimizer,
                                            const char *const *names, const lpt_optimizer_parameter *const *parameters,
                                            int64_t count, int64_t *out_indices);

/**
 * @brief Steps parameters whose state is sharded over ranks; all ranks call it.
 *
 * It reduces gradients if ranks have different ones, steps the shards of this rank, and gathers the parameters. Every
 * rank gets the bits of one lpt_optimizer_step() of full parameters with the same gradients, for every format of the
 * state. Scales per tensor are computed over all ranks. So is the norm for clipping and skipping, whose squares are
 * added in the order of one rank. A rank sends (R - 1) / R of the bytes of the parameters on average, and as much of
 * the gradients where they are reduced.
 *
 * A call with LPT_INVALID_ARGUMENT or LPT_UNSUPPORTED sends nothing. Any other error breaks the comm, and leaves
 * parameters and state undefined.
 *
 * Shapes    Full tensors of as many elements as the parameter, dense.
 *
 * Formats   Gradients are f32 or bf16. Parameters are f32, bf16 or LPT_FORMAT_F16_TENSOR, on a GPU f32 or bf16.
 *
 * Overlap   Parameters may overlap neither gradients nor each other.
 *
 * @param[in]     comm        With the ranks that the shards were added with.
 * @param[in,out] optimizer   Optimizer to change.
 * @param[in]     indices     Parameters from lpt_optimizer_add_shards(), each at most once; the same on all ranks.
 * @param[in]     count       Length of `indices`, `gradients` and `parameters`, at least 0.
 * @param[in]     gradients   One full gradient per parameter.
 * @param[in]     options     NULL for the defaults; the same on all ranks.
 * @param[in]     shards      NULL for the defaults; the same on all ranks.
 * @param[in,out] parameters  The full parameters.
 * @retval LPT_INVALID_ARGUMENT  As for lpt_optimizer_step(). An index was not added by lpt_optimizer_add_shards(), or
 *                               for another number of ranks. `comm`, `context` and `optimizer` are not on the same
 *                               device.
 * @retval LPT_UNSUPPORTED       As for lpt_optimizer_step() and lpt_reduce_scatter(). Gradients of different formats,
 *                               or flags, with `shards->reduce`.
 */
LPT_API lpt_status lpt_optimizer_step_shards(lpt_context *context, lpt_comm *comm, lpt_optimizer *optimizer,
                                             const int64_t *indices, int64_t count, const lpt_tensor *const *gradients,
                                             const lpt_optimizer_step_options *options,
                                             const lpt_optimizer_shard_options *shards, lpt_tensor *const *parameters);

#ifdef __cplusplus
}
#endif

#endif
