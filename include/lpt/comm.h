/**
 * @file comm.h
 * @brief Communicators, and the collectives of their ranks.
 */
#ifndef LPT_COMM_H
#define LPT_COMM_H

#include "common.h"
#include "format.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Flag of lpt_comm_options: every message carries a checksum, and damaged bytes are found. */
#define LPT_COMM_CHECKSUMS UINT64_C(4)

/** @brief Flag of lpt_comm_options: local ranks send messages as processes do, in place of reading each other's memory. */
#define LPT_COMM_MESSAGES UINT64_C(8)

/**
 * @brief Flag of lpt_comm_options, for ranks on GPUs: they do not compare their calls before they queue them. No host waits for
 *        another one then, and calls that differ end by the time limit.
 */
#define LPT_COMM_SKIP_CHECKS UINT64_C(16)

/** @brief How ranks connect. */
typedef struct lpt_comm_options {
  size_t struct_size;           /**< sizeof(lpt_comm_options) of the caller. */
  uint64_t flags;               /**< LPT_COMM_CHECKSUMS, LPT_COMM_MESSAGES; of ranks on GPUs LPT_COMM_SKIP_CHECKS. */
  double timeout_seconds;       /**< How long a rank waits for the others before it gives up; 0: for ever. */
  double link_latency_seconds;  /**< Local ranks, emulation of a link: how long each message is on its way. */
  double link_bytes_per_second; /**< Local ranks, emulation: what a rank's link takes; 0: as fast as memory. */
  int64_t damaged_message;      /**< For tests: the message of this rank that is damaged, from 1; 0: none. */
} lpt_comm_options;

/** @brief Defaults of lpt_comm_options. */
#define LPT_COMM_OPTIONS_INIT \
  { sizeof(lpt_comm_options), 0, 600.0, 0.0, 0.0, 0 }

/** @brief What a communicator is, and what went through it. */
typedef struct lpt_comm_info {
  size_t struct_size;     /**< sizeof(lpt_comm_info) of the caller. */
  int32_t rank;           /**< From 0. */
  int32_t rank_count;     /**< Ranks that share it. */
  char engine[32];        /**< "local", "local messages", "openmpi", "mpich", "nccl". */
  int64_t collectives;    /**< Finished by this rank. */
  int64_t bytes_sent;     /**< Payload that left this rank for others, scales included; headers are not. */
  int64_t bytes_received; /**< Payload that came from others. */
  double seconds;         /**< Wall time inside collectives, waiting for others included; of futures too. */
} lpt_comm_info;

/** @brief Defaults of lpt_comm_info. */
#define LPT_COMM_INFO_INIT \
  { sizeof(lpt_comm_info), 0, 0, "", 0, 0, 0, 0.0 }

/**
 * @brief Creates a group of `rank_count` ranks that are threads. It has no context: every rank has its own.
 * @param[in] context NULL is allowed; there is no error text then.
 * @param rank_count 1 to 1024.
 * @param out_group returned; destroy with lpt_comm_group_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_group_create(lpt_context *context, int32_t rank_count, lpt_comm_group **out_group);

/**
 * @brief Ends all waiting of all ranks of the group, now and later: every call returns LPT_ABORTED. For a rank that fails.
 * @param group NULL is allowed. Any thread, at any time.
 */
LPT_API void lpt_comm_group_abort(lpt_comm_group *group);

/**
 * @brief Lets go of the group. Comms that were made with it live on.
 * @param group NULL is allowed.
 */
LPT_API void lpt_comm_group_destroy(lpt_comm_group *group);

/**
 * @brief Takes a rank's place in a group; returns when all ranks have come.
 *
 * Ranks call collectives in the same order with the same shapes and formats; one that does not is found, every rank is told
 * which, and the comm is broken: it can only be destroyed. A rank that ends its comm early frees the others with
 * LPT_ABORTED; one that does not come within the time limit is named by LPT_TIMEOUT. A call that is rejected for its
 * arguments takes no part: others wait for a better one. Ranks share the CPU's cores: give each context its part of them.
 *
 * @param context of this rank.
 * @param group the group of the ranks.
 * @param rank 0 to rank_count - 1; each once.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_comm returned; destroy with lpt_comm_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_create_local(lpt_context *context, lpt_comm_group *group, int32_t rank,
                                         const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Takes a process's place among the processes of an MPI job; returns when all of them have come.
 *
 * MPI is a plugin, liblpt_openmpi.so or liblpt_mpich.so: the file or folder that LPT_PLUGIN_PATH names, or the folder of
 * this library. LPT_MPI says which (openmpi, mpich); without it whoever launched the process, and without a launcher the
 * first that opens. MPI is initialized if it was not, for several threads, and then ended with the process; who initializes
 * it asks for MPI_THREAD_MULTIPLE. Processes that the launcher of another MPI started know nothing of each other: where
 * LPT_WORLD_SIZE, or a variable of the launcher, tells of another number of processes, the call is rejected.
 *
 * Rules of lpt_comm_create_local() hold. Sends go on while this rank is in a call of LPT.
 *
 * @param context of this process.
 * @param fortran_handle what MPI_Comm_c2f() gives for a communicator; its own copy is made of it. NULL: MPI_COMM_WORLD.
 * @param options NULL for the defaults; the same on all ranks; no emulated link.
 * @param out_comm returned; destroy with lpt_comm_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED, its text tells what was tried; LPT_ABORTED; LPT_TIMEOUT;
 *         LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_create_mpi(lpt_context *context, const int32_t *fortran_handle,
                                       const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Makes a comm of ranks that have a GPU each, which exchange bytes by NCCL; returns when all ranks have come.
 *
 * NCCL is opened when it is asked for: the file that LPT_NCCL names, else libnccl.so.2 where the system finds it, of release
 * 2.18 or later. Two ranks on one GPU are rejected by NCCL, in its words.
 *
 * Tensors lie on the GPU of `context`. Collectives are queued: without a future on the context's stream, with one on a stream of
 * the comm, behind what the context has queued. lpt_context_synchronize() waits for them as long as the time limit says, and
 * tells what became of them; lpt_future_wait() by a context of that GPU makes its stream wait, and returns. What has not ended in
 * time is given up (LPT_TIMEOUT), and the comm with it. Ranks that have a bootstrap comm compare each call there before they queue it:
 * then LPT_MISMATCH, LPT_ABORTED and LPT_TIMEOUT tell of other ranks as for lpt_comm_create_local(), by the time limit of the
 * bootstrap comm. Taken, with the bits of ranks on CPUs: lpt_all_reduce(), lpt_all_reduce_many(), lpt_reduce_scatter(),
 * lpt_all_gather(), lpt_broadcast(), lpt_all_to_all(), lpt_send(), lpt_receive(), lpt_barrier(), lpt_comm_split(),
 * lpt_partial_all_reduce() and gradient buckets; others are LPT_UNSUPPORTED. Mail is received in the order in which it was sent;
 * two ranks that send to each other before they receive wait for the whole time limit.
 *
 * @param context of this rank, on its GPU.
 * @param bootstrap a comm of CPUs, local or MPI, of the same ranks in the same order; all of them make this call. A part of
 *        it is kept, and `bootstrap` may go. NULL: only with nccl_comm.
 * @param nccl_comm an ncclComm_t, which the caller keeps until the comm is destroyed, and aborts where a status says so; NULL:
 *        one is created by means of the bootstrap comm.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_comm returned; destroy with lpt_comm_destroy(), which waits for what is queued.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED, its text says what NCCL lacks; LPT_WORK_FAILED, in NCCL's words;
 *         LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_create_nccl(lpt_context *context, lpt_comm *bootstrap, void *nccl_comm,
                                        const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Makes communicators of parts of a communicator: ranks that give the same color share one, in the order of
 *        their keys, then of their ranks. A grid of tensor × pipeline × data ranks is two splits. All ranks call it.
 * @param context of this rank.
 * @param comm whole.
 * @param color which part, at least 0; -1: none.
 * @param key place in the part.
 * @param out_comm returned, NULL with color -1; destroy with lpt_comm_destroy(). It lives on without `comm`.
 * @return as lpt_comm_create_local().
 */
LPT_API lpt_status lpt_comm_split(lpt_context *context, lpt_comm *comm, int32_t color, int32_t key,
                                  lpt_comm **out_comm);

/**
 * @brief Leaves. Collectives that are under way are given up, and ranks that wait for this one get LPT_ABORTED.
 * @param comm NULL is allowed.
 */
LPT_API void lpt_comm_destroy(lpt_comm *comm);

/**
 * @brief Returns rank, ranks, engine and what was sent.
 * @param context the context.
 * @param comm the communicator.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_comm_read(lpt_context *context, const lpt_comm *comm, lpt_comm_info *out_info);

/**
 * @brief Waits for a collective. Its tensors may be read and written from then on, and not before; memory that the caller
 *        owns must live until then.
 * @param context any.
 * @param future of a collective; may be asked again.
 * @return what the collective came to, with its text.
 */
LPT_API lpt_status lpt_future_wait(lpt_context *context, lpt_future *future);

/**
 * @brief Returns whether a collective has ended; waits for nothing.
 * @param context any.
 * @param future of a collective.
 * @param out_is_done returned: 1 or 0.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_future_is_done(lpt_context *context, const lpt_future *future, int32_t *out_is_done);

/**
 * @brief Lets go of a future. The collective goes on.
 * @param future NULL is allowed.
 */
LPT_API void lpt_future_destroy(lpt_future *future);

/** @brief What the numbers of all ranks become; one of lpt_reduction_values. */
typedef int32_t lpt_reduction;

/** @brief Values of lpt_reduction. */
enum lpt_reduction_values {
  LPT_REDUCTION_SUM = 0,     /**< Added in the order of ranks, in f32; f64 in f64. */
  LPT_REDUCTION_AVERAGE = 1, /**< The sum divided by the number of ranks. */
  LPT_REDUCTION_MAXIMUM = 2, /**< The largest; a NaN gives a NaN. */
  LPT_REDUCTION_MINIMUM = 3  /**< The smallest; a NaN gives a NaN. */
};

/** @brief How numbers are sent that are cast for it; one of lpt_reduce_algorithm_values. */
typedef int32_t lpt_reduce_algorithm;

/** @brief Values of lpt_reduce_algorithm. */
enum lpt_reduce_algorithm_values {
  /**
   * Of two ranks, or up to 16 KiB: ONE_SHOT; else TWO_SHOT. Tensors of fewer than 512 elements for each rank are sent as they
   * are. lpt_context_explanation() tells what was taken.
   */
  LPT_REDUCE_ALGORITHM_AUTO = 0,
  /** Every rank gets all inputs, cast once, and adds them itself: R - 1 times the bytes, one error of a cast. */
  LPT_REDUCE_ALGORITHM_ONE_SHOT = 1,
  /** Every rank adds its share of all inputs and casts the result once more: 2 · (R - 1) / R times the bytes, two errors. */
  LPT_REDUCE_ALGORITHM_TWO_SHOT = 2,
  /** Of ranks on GPUs, without a wire: NCCL's own sum. All ranks get the same bits, which are not those of other engines. */
  LPT_REDUCE_ALGORITHM_NATIVE = 3
};

/** @brief How to reduce. */
typedef struct lpt_reduce_options {
  size_t struct_size;      /**< sizeof(lpt_reduce_options) of the caller. */
  uint64_t flags;          /**< LPT_CHECK_ONLY. */
  lpt_reduction reduction; /**< What the numbers become. */
  int32_t reserved;        /**< 0. */
  double factor;           /**< The result is multiplied by it before it is rounded; finite. */
  /**
   * The format in which numbers are sent; LPT_FORMAT_NONE: the tensor's own. Any that lpt_quantize() writes from numbers alone,
   * so far as it can tell of a NaN, of tensors in f32, bf16 or f16. Elements are counted in their logical order and cut in
   * shares, one for each rank, at multiples of 512 elements (lpt_reduce_scatter(): the parts). Each share is cast as a
   * matrix of one row by the defaults of lpt_quantize(), save that f16 and bf16 overflow to infinity: a format with a scale
   * for a row or a tensor has one for each share. An infinity becomes the largest number of its block: look for it before.
   * All ranks decode what was cast, their own included, to f32, and add in the order of ranks.
   */
  lpt_format wire;
  lpt_reduce_algorithm algorithm; /**< With a wire. lpt_reduce_scatter(): AUTO, or TWO_SHOT for its first half. */
  lpt_rounding rounding;          /**< Of casts to the wire: NEAREST_EVEN or STOCHASTIC. */
  /**
   * For stochastic rounding; the same on all ranks, row_stride 0. Element i draws at offset + i. Rank q casts its input by
   * seed ^ (q · 2^54), so that errors of ranks do not add up.
   */
  lpt_random random;
  /**
   * NULL: none. Numbers are sent by this codec, whatever their number, also of a rank alone; in two shots, SUM or AVERAGE, of
   * tensors in f32, bf16 or f16, without a wire, to nearest. It is copied, save what `user` points to.
   */
  const lpt_comm_codec *codec;
} lpt_reduce_options;

/** @brief Defaults of lpt_reduce_options. */
#define LPT_REDUCE_OPTIONS_INIT                                                                           \
  {                                                                                                       \
    sizeof(lpt_reduce_options), 0, LPT_REDUCTION_SUM, 0, 1.0, LPT_FORMAT_NONE, LPT_REDUCE_ALGORITHM_AUTO, \
        LPT_ROUNDING_NEAREST_EVEN, LPT_RANDOM_INIT, NULL                                                  \
  }

/**
 * @brief Returns when all ranks have called it.
 * @param context of this rank.
 * @param comm the communicator.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH.
 */
LPT_API lpt_status lpt_barrier(lpt_context *context, lpt_comm *comm);

/**
 * @brief Reduces a tensor of every rank and gives all of them the result.
 *
 * Every rank ends with the same bits, on every engine: ranks are added in their order, whatever the number of threads and
 * the way of the bytes. f16 and bf16 are added in f32 and rounded once. Bytes that leave a rank: 2 · (R - 1) / R of the
 * tensor's on average; a tensor too small for that is sent whole to every rank.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; f64, f32, bf16 or f16, of any shape, rows with any stride; the same shape on all ranks.
 * @param options NULL for the defaults; the same on all ranks.
 * @param output written; same shape and format. May be the input.
 * @param out_future NULL: done on return. Else returned; destroy with lpt_future_destroy(). Collectives of a comm run in the
 *        order in which they were called.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                  const lpt_reduce_options *options, lpt_tensor *output, lpt_future **out_future);

/**
 * @brief Reduces a tensor of every rank and gives each rank its part of the result, along the first axis.
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; as for lpt_all_reduce().
 * @param counts borrowed; extent of each rank's part along the first axis, rank_count numbers that add up to the input's;
 *        0 is allowed. NULL: equal parts. The same on all ranks.
 * @param options NULL for the defaults; the same on all ranks.
 * @param output written; the part of this rank, in the input's format. May not overlap the input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_reduce_scatter(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                      const int64_t *counts, const lpt_reduce_options *options, lpt_tensor *output,
                                      lpt_future **out_future);

/** @brief Options of lpt_all_gather(). */
typedef struct lpt_all_gather_options {
  size_t struct_size; /**< sizeof(lpt_all_gather_options) of the caller. */
  uint64_t flags;     /**< Must be 0. */
  /**
   * Functions that encode and decode elements, for tensors in f32, bf16 or f16; the same on all ranks. Each part is encoded
   * once, and every rank decodes it, the one that encoded it too. The library copies the struct. NULL: bytes are sent as
   * they are.
   */
  const lpt_comm_codec *codec;
} lpt_all_gather_options;

/** @brief Defaults of lpt_all_gather_options. */
#define LPT_ALL_GATHER_OPTIONS_INIT \
  { sizeof(lpt_all_gather_options), 0, NULL }

/**
 * @brief Gives all ranks the parts of every rank, one after the other along the first axis. Nothing is rounded.
 *
 * Parts that share one tensor scale must hold the same bits of it; the output gets it. Sharded weights in FP8: the amax of
 * each shard by lpt_all_reduce() to the MAXIMUM, the scale that follows from it into each shard, a cast with
 * LPT_QUANTIZE_KEEP_TENSOR_SCALE, and a gather of a quarter of the bytes: the same bits as a cast of the whole.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; the part of this rank, of any format; parts of formats with block scales are whole blocks.
 * @param counts borrowed; as for lpt_reduce_scatter(), of the output.
 * @param options NULL for the defaults.
 * @param output written; in the input's format. May hold the input at its place.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_gather(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, const int64_t *counts,
                                  const lpt_all_gather_options *options, lpt_tensor *output, lpt_future **out_future);

/**
 * @brief Gives all ranks the tensor of one, with all its scales.
 * @param context of this rank.
 * @param comm the communicator.
 * @param root the rank that has it.
 * @param tensor read at the root, written elsewhere; of any format, the same shape on all ranks.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_broadcast(lpt_context *context, lpt_comm *comm, int32_t root, lpt_tensor *tensor,
                                 lpt_future **out_future);

/**
 * @brief Sends each rank a part of the input, and puts together what comes from each, along the first axis.
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; of any format without a tensor scale.
 * @param send_counts borrowed; extent along the first axis of what goes to each rank; they add up to the input's; 0 is
 *        allowed. NULL: equal parts.
 * @param receive_counts borrowed; of what comes from each rank; they add up to the output's. NULL: equal parts.
 * @param output written; in the input's format, same other extents. May not overlap the input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_to_all(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                  const int64_t *send_counts, const int64_t *receive_counts, lpt_tensor *output,
                                  lpt_future **out_future);

/**
 * @brief Sends a tensor to one rank. It may return before the other has received.
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensor borrowed; of any format.
 * @param peer the other rank.
 * @param tag 0 to 32767; messages of one tag arrive in their order.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_send(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor, int32_t peer, int32_t tag,
                            lpt_future **out_future);

/**
 * @brief Receives a tensor from one rank.
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensor written; the format and the shape that were sent.
 * @param peer the other rank.
 * @param tag as sent.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_receive(lpt_context *context, lpt_comm *comm, lpt_tensor *tensor, int32_t peer, int32_t tag,
                               lpt_future **out_future);

/**
 * @brief Reduces many tensors of every rank in place, by one message: gains of norms, biases, buckets of gradients.
 *
 * The bits are those of lpt_all_reduce() tensor by tensor; numbers are copied side by side, and back. With a wire they are those
 * of one tensor in which all numbers stand side by side: shares and blocks span tensors.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensors read and written; `count` tensors of one format, f64, f32, bf16 or f16, of any shapes, rows with any stride;
 *        none twice, none overlapping another. The same shapes in the same order on all ranks: their elements are compared
 *        as a whole.
 * @param count length of `tensors`; 0 is allowed.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_reduce_many(lpt_context *context, lpt_comm *comm, lpt_tensor *const *tensors, int64_t count,
                                       const lpt_reduce_options *options, lpt_future **out_future);

/**
 * @brief Returns whether a tensor has the same bits on all ranks: weights that were replicated, the shared columns of
 *        activations (lpt_tensor_view()). Eight bytes of each rank are sent.
 *
 * Elements and scales are hashed in their logical order to 64 bits, whatever the strides. Numbers that are equal and have
 * other bits differ: 0 and -0, NaNs.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensor borrowed; of any format, the same shape on all ranks.
 * @param out_is_same returned: 1 or 0, the same on all ranks.
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_comm_compare(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor,
                                    int32_t *out_is_same);

#ifdef __cplusplus
}
#endif

#endif
