/**
 * @file data_parallel.h
 * @brief Data parallelism: gradient buckets, and an optimizer whose state is sharded over ranks.
 */
#ifndef LPT_DATA_PARALLEL_H
#define LPT_DATA_PARALLEL_H

#include "comm.h"
#include "common.h"
#include "optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief In which order gradients fill buckets; one of lpt_gradient_buckets_order_values. */
typedef int32_t lpt_gradient_buckets_order;

/** @brief Values of lpt_gradient_buckets_order. */
enum lpt_gradient_buckets_order_values {
  /**
   * In the first pass that is reduced the reverse of their list; from then on the order in which they became ready on
   * rank 0 in that pass, which tells it to all others.
   */
  LPT_GRADIENT_BUCKETS_ORDER_RECORDED = 0,
  LPT_GRADIENT_BUCKETS_ORDER_REVERSED = 1 /**< Always the reverse of their list. */
};

/** @brief How gradients fill buckets. */
typedef struct lpt_gradient_buckets_options {
  size_t struct_size;               /**< sizeof(lpt_gradient_buckets_options) of the caller. */
  uint64_t flags;                   /**< 0. */
  size_t bucket_bytes;              /**< A bucket is full with so many; a larger gradient has its own. 0: 25 MiB. */
  lpt_gradient_buckets_order order; /**< Which gradients stand together. */
  int32_t reserved;                 /**< 0. */
  const char *const *names; /**< Borrowed for the call; a name for each gradient, for texts of errors. NULL: none. */
} lpt_gradient_buckets_options;

/** @brief Defaults of lpt_gradient_buckets_options. */
#define LPT_GRADIENT_BUCKETS_OPTIONS_INIT \
  { sizeof(lpt_gradient_buckets_options), 0, 0, LPT_GRADIENT_BUCKETS_ORDER_RECORDED, 0, NULL }

/** @brief How buckets stand. */
typedef struct lpt_gradient_buckets_info {
  size_t struct_size;     /**< sizeof(lpt_gradient_buckets_info) of the caller. */
  int64_t bucket_count;   /**< Buckets. */
  int64_t ready_count;    /**< Gradients of this pass, or the last one, that were made ready. */
  int64_t launched_count; /**< Buckets of it whose reduction was begun. */
  double wait_seconds;    /**< What the last lpt_gradient_buckets_wait() waited: what backward did not hide. */
  int32_t is_recorded;    /**< 1: the order is that of rank 0's first pass. */
  int32_t reserved;       /**< 0. */
} lpt_gradient_buckets_info;

/** @brief Defaults of lpt_gradient_buckets_info. */
#define LPT_GRADIENT_BUCKETS_INFO_INIT \
  { sizeof(lpt_gradient_buckets_info), 0, 0, 0, 0.0, 0, 0 }

/**
 * @brief Puts gradients in buckets, each of which is reduced in place, by one message, as soon as all its gradients are ready
 *        and the buckets before it have begun: data-parallel training whose backward hides its all-reduce.
 *
 *   lpt_gradient_buckets_begin(context, buckets, 1, &average);
 *   … backward: lpt_gradient_buckets_ready(context, buckets, index) as soon as a gradient is there …
 *   lpt_gradient_buckets_wait(context, buckets);                     // all of them are those of all ranks
 *
 * All ranks make the same buckets of the same gradients, and begin their reductions in the order of the buckets, however the
 * order of ready ones differs between ranks. The bits are those of lpt_all_reduce() gradient by gradient; with a wire those
 * of lpt_all_reduce_many() bucket by bucket, which depend on what stands together: take LPT_GRADIENT_BUCKETS_ORDER_REVERSED where a
 * training that was interrupted must go on with the bits of one that was not. Other collectives of the comm take their turn
 * among the buckets: all ranks call them between the same buckets, best outside of a pass.
 *
 * @param context of this rank.
 * @param comm the communicator; it must live as long as the buckets are used, and may be destroyed before them.
 * @param gradients in the order of forward: `count` tensors, f64, f32, bf16 or f16, mixed at will, of any shapes, rows with any
 *        stride; none twice. Memory that the caller owns stays where it is until the buckets are destroyed.
 * @param count length of `gradients`; 0 is allowed.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_buckets returned; destroy with lpt_gradient_buckets_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_gradient_buckets_create(lpt_context *context, lpt_comm *comm, lpt_tensor *const *gradients,
                                               int64_t count, const lpt_gradient_buckets_options *options,
                                               lpt_gradient_buckets **out_buckets);

/**
 * @brief Begins a backward pass.
 * @param context of this rank.
 * @param buckets without a pass under way.
 * @param is_last 1: gradients are reduced as they become ready. 0: micro-batches follow that add to them, and nothing is sent.
 * @param options how this pass is reduced, the same on all ranks; an average, or a factor, makes means of sums. Element i of all
 *        buckets draws random numbers at random.offset + i. NULL for the defaults, which add up. Not looked at without is_last.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_gradient_buckets_begin(lpt_context *context, lpt_gradient_buckets *buckets, int32_t is_last,
                                              const lpt_reduce_options *options);

/**
 * @brief Says that a gradient is there. From now on until lpt_gradient_buckets_wait() it belongs to the comm's thread; without
 *        is_last it stays the caller's.
 * @param context of this rank.
 * @param buckets in a pass.
 * @param index which gradient; each once in a pass, in any order.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY: what could not begin is tried again with the next ready one, or by
 *         lpt_gradient_buckets_wait().
 */
LPT_API lpt_status lpt_gradient_buckets_ready(lpt_context *context, lpt_gradient_buckets *buckets, int64_t index);

/**
 * @brief Ends a pass: waits until all gradients are reduced. An error names the gradients of the bucket that it befell.
 * @param context of this rank.
 * @param buckets in a pass.
 * @return LPT_OK; LPT_INVALID_ARGUMENT: gradients were not made ready, and the text names them; the pass goes on, and other
 *         ranks wait for it; as lpt_all_reduce(), and the pass is over.
 */
LPT_API lpt_status lpt_gradient_buckets_wait(lpt_context *context, lpt_gradient_buckets *buckets);

/**
 * @brief Returns how buckets stand.
 * @param context the context.
 * @param buckets the buckets.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_gradient_buckets_read(lpt_context *context, const lpt_gradient_buckets *buckets,
                                             lpt_gradient_buckets_info *out_info);

/**
 * @brief Lets go of buckets. Reductions that are under way go on.
 * @param buckets NULL is allowed.
 */
LPT_API void lpt_gradient_buckets_destroy(lpt_gradient_buckets *buckets);

/** @brief How ranks that share an optimizer's state step. */
typedef struct lpt_optimizer_shard_options {
  size_t struct_size; /**< sizeof(lpt_optimizer_shard_options) of the caller. */
  uint64_t flags;     /**< 0. */
  /**
   * Borrowed. NULL: gradients hold the same bits on all ranks, as lpt_gradient_buckets_wait() leaves them (ZeRO 1). Else
   * each rank has its own, and each share of them is reduced so to the rank that steps it (ZeRO 2); with a wire in runs of
   * up to 2^18 elements of each share. Gradients are then all of one format.
   */
  const lpt_reduce_options *reduce;
} lpt_optimizer_shard_options;

/** @brief Defaults of lpt_optimizer_shard_options. */
#define LPT_OPTIMIZER_SHARD_OPTIONS_INIT \
  { sizeof(lpt_optimizer_shard_options), 0, NULL }

/**
 * @brief Adds this rank's shards of many parameters: all their elements, one parameter after the other, are shared out
 *        evenly among the ranks of the comm, in their order, cut at multiples of 4096 elements of a parameter. Nothing
 *        is sent.
 *
 * Every rank adds the same parameters in the same order, and gets the same indices; of a parameter in which it has no share
 * it adds a shard of no elements. ZeRO: arXiv 1910.02054.
 *
 * @param context of this rank.
 * @param comm tells rank and ranks; the same later steps are made with.
 * @param optimizer added to.
 * @param parameters borrowed; `count` whole parameters: whole_elements and begin are 0.
 * @param count length of `parameters` and `out_indices`; 0 is allowed.
 * @param out_indices written; as of lpt_optimizer_add().
 * @return as lpt_optimizer_add(); on error none is added.
 */
LPT_API lpt_status lpt_optimizer_add_shards(lpt_context *context, const lpt_comm *comm, lpt_optimizer *optimizer,
                                            const lpt_optimizer_parameter *const *parameters, int64_t count,
                                            int64_t *out_indices);

/**
 * @brief Steps parameters whose state is shared out among ranks: reduces gradients where ranks have their own, steps this
 *        rank's shards, and gathers the parameters. All ranks call it.
 *
 * Every rank ends with the bits of one lpt_optimizer_step() of whole parameters by the same gradients, in every format of the
 * state: scales of whole tensors are found over ranks, and so is the norm for clipping and skipping, whose squares are added
 * in the order of one rank. Bytes that leave a rank: (R - 1) / R of the parameters' on average, and as much of the gradients
 * where they are reduced.
 *
 * A call that is rejected for its arguments takes no part. Any other error breaks the comm and leaves parameters and state
 * undefined.
 *
 * @param context of this rank.
 * @param comm with the ranks that the shards were added with.
 * @param optimizer whose parameters were added by lpt_optimizer_add_shards().
 * @param indices borrowed; which parameters, each at most once; the same on all ranks.
 * @param count length of `indices`, `gradients` and `parameters`.
 * @param gradients borrowed; whole: f32 or bf16, as many elements as the whole parameter, dense.
 * @param options NULL for the defaults; the same on all ranks.
 * @param shards NULL for the defaults; the same on all ranks.
 * @param parameters read and written; whole: f32, bf16, or LPT_FORMAT_F16_TENSOR, dense.
 * @return as lpt_optimizer_step() and lpt_all_reduce().
 */
LPT_API lpt_status lpt_optimizer_step_shards(lpt_context *context, lpt_comm *comm, lpt_optimizer *optimizer,
                                             const int64_t *indices, int64_t count, const lpt_tensor *const *gradients,
                                             const lpt_optimizer_step_options *options,
                                             const lpt_optimizer_shard_options *shards, lpt_tensor *const *parameters);

#ifdef __cplusplus
}
#endif

#endif
