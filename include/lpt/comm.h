/**
 * @file comm.h
 * @brief Communicators and futures, and what all collectives have in common.
 *
 * A rank is one thread with one context and one comm. All ranks call collectives in the same order, with the same
 * shapes, formats and options. `context` is that of the rank, on the device of the comm.
 *
 * Statuses  Every collective may return the following, with a text that names the rank. LPT_MISMATCH: ranks called
 *           different collectives, or with different shapes, formats or options. With LPT_COMM_CHECKSUMS it also
 *           reports damaged bytes. LPT_ABORTED: another rank failed, destroyed its comm, or called
 *           lpt_comm_group_abort(). LPT_TIMEOUT: a rank did not participate within the time limit. LPT_OUT_OF_MEMORY:
 *           scratch memory cannot be allocated. After each of them the comm is broken: later calls fail, and it can
 *           only be destroyed. Outputs may be partly written. LPT_WORK_FAILED: a GPU or NCCL failed.
 * Arguments A call that returns LPT_INVALID_ARGUMENT or LPT_UNSUPPORTED sends nothing, and the other ranks wait for a
 *           correct call. All collectives return LPT_INVALID_ARGUMENT where shapes or formats do not agree, tensors
 *           overlap, or an option is out of range. The same holds for a context that is not on the GPU of the comm.
 *           LPT_UNSUPPORTED means a format or device without support.
 *
 * Futures   With `out_future` NULL a collective is complete on return. Otherwise it is started, and the caller destroys
 *           the future with lpt_future_destroy(). Until lpt_future_wait() succeeds, the caller neither reads nor writes
 *           its tensors. Memory that the caller owns must stay valid until then. Collectives of a comm run in the order
 *           of their calls.
 *
 * Device    On GPUs collectives are queued; see lpt_comm_create_nccl().
 *
 * Threads   Progress callbacks are not called during collectives.
 */
#ifndef LPT_COMM_H
#define LPT_COMM_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of the functions that create a comm. */
typedef struct lpt_comm_options {
  size_t struct_size; /**< sizeof(lpt_comm_options) of the caller. */
  lpt_flags flags;    /**< LPT_COMM_CHECKSUMS, LPT_COMM_MESSAGES; for ranks on GPUs only LPT_COMM_SKIP_CHECKS. */
  /** How long a rank waits for the others, up to 1e9 seconds; 0: without limit. Default 600. */
  double timeout_seconds;
  /**
   * Ranks on GPUs: a comm of CPUs, local, MPI or custom, of the same ranks in the same order. The new comm keeps a part of it, and
   * `bootstrap` may be destroyed. NULL: none, and the only value for ranks on CPUs.
   */
  lpt_comm *bootstrap;
  const lpt_comm_emulation *emulation; /**< Local ranks: an emulated link. NULL, the default: none. */
} lpt_comm_options;

/** @brief Defaults of lpt_comm_options. */
#define LPT_COMM_OPTIONS_INIT \
  { sizeof(lpt_comm_options), 0, 600.0, NULL, NULL }

/** @brief State and traffic of a communicator. */
typedef struct lpt_comm_info {
  size_t struct_size;     /**< sizeof(lpt_comm_info) of the caller. */
  int32_t rank;           /**< Index of this rank, from 0. */
  int32_t rank_count;     /**< Number of ranks. */
  char engine[32];        /**< "local", "local messages", "openmpi", "mpich", "nccl" or lpt_comm_functions. */
  int64_t collectives;    /**< Collectives that this rank completed without error. */
  int64_t bytes_sent;     /**< Payload sent to other ranks in bytes, with scales, without headers. */
  int64_t bytes_received; /**< Payload received from other ranks in bytes. */
  /**
   * Wall time in collectives, with waits for other ranks; includes those with futures. On a GPU: time to queue them.
   */
  double seconds;
} lpt_comm_info;

/** @brief Defaults of lpt_comm_info. */
#define LPT_COMM_INFO_INIT \
  { sizeof(lpt_comm_info), 0, 0, "", 0, 0, 0, 0.0 }

/**
 * @brief Creates a group of ranks that are threads of one process.
 *
 * The group belongs to no context: every rank has its own.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]  rank_count  1 to 1024.
 * @param[out] out_group   Destroy with lpt_comm_group_destroy().
 * @retval LPT_INVALID_ARGUMENT  `rank_count` is out of range.
 */
LPT_API lpt_status lpt_comm_group_create(lpt_context *context, int32_t rank_count, lpt_comm_group **out_group);

/**
 * @brief Aborts all calls of all ranks of a group, current and later ones; they return LPT_ABORTED.
 *
 * Call it when a rank fails.
 *
 * Threads   Any thread, at any time.
 *
 * @param[in] group  NULL is allowed.
 */
LPT_API void lpt_comm_group_abort(lpt_comm_group *group);

/**
 * @brief Destroys a group; comms that were created with it stay valid.
 *
 * @param[in] group  NULL is allowed.
 */
LPT_API void lpt_comm_group_destroy(lpt_comm_group *group);

/**
 * @brief Creates the comm of one rank of a group; returns after all ranks have called it.
 *
 * Destroying a comm early makes pending calls of the other ranks return LPT_ABORTED. Ranks share the cores of the CPU:
 * give each context its share of threads.
 *
 * @param[in]  group     The same for all ranks.
 * @param[in]  rank      0 to rank_count - 1; each once.
 * @param[in]  options   NULL for the defaults; the same on all ranks.
 * @param[out] out_comm  Destroy with lpt_comm_destroy().
 * @retval LPT_INVALID_ARGUMENT  `rank` is out of range or has a comm already, or a member of `options` is out of range.
 * @retval LPT_UNSUPPORTED       `options->flags` has LPT_COMM_SKIP_CHECKS.
 * @retval LPT_MISMATCH          `options` differs between ranks.
 * @retval LPT_ABORTED           The group was aborted, or another rank failed.
 * @retval LPT_TIMEOUT           A rank did not call it within the time limit.
 */
LPT_API lpt_status lpt_comm_create_local(lpt_context *context, lpt_comm_group *group, int32_t rank,
                                         const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Creates the comm of one process of an MPI job; returns after all of its processes have called it.
 *
 * MPI is a plugin, liblpt_openmpi.so or liblpt_mpich.so, which is loaded from the file or directory LPT_PLUGIN_PATH.
 * Without that variable the directory is the one of this library. LPT_MPI selects `openmpi` or `mpich`. Without it the
 * launcher of the process selects; without a launcher the first plugin that loads is used.
 *
 * The library initializes MPI if the program did not, for several threads, and finalizes it when the process ends. A
 * program that initializes MPI requests MPI_THREAD_MULTIPLE. Processes of the launcher of another MPI do not see each
 * other. The call fails where LPT_WORLD_SIZE, or a variable of the launcher, states another number of processes.
 *
 * The rules of lpt_comm_create_local() apply. Sends progress while this rank is in a call of LPT.
 *
 * @param[in]  options   NULL for the defaults; the same on all ranks; no emulated link.
 * @param[out] out_comm  Destroy with lpt_comm_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range.
 * @retval LPT_UNSUPPORTED       No plugin can be loaded, the number of processes differs from the launcher's, or a link
 *                               is emulated. The text lists what was tried.
 * @retval LPT_MISMATCH          `options` differs between ranks.
 * @retval LPT_ABORTED           Another rank failed.
 * @retval LPT_TIMEOUT           A rank did not call it within the time limit.
 */
LPT_API lpt_status lpt_comm_create_mpi(lpt_context *context, const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Creates the comm of one process from an MPI communicator; returns after all of its processes have called it.
 *
 * Otherwise as lpt_comm_create_mpi().
 *
 * @param[in]  fortran_handle  Result of MPI_Comm_c2f() for a communicator, which is duplicated.
 * @param[in]  options         NULL for the defaults; the same on all ranks; no emulated link.
 * @param[out] out_comm        Destroy with lpt_comm_destroy().
 * @retval LPT_UNSUPPORTED     No plugin of this MPI can be loaded, or a link is emulated.
 * @retval LPT_MISMATCH        `options` differs between ranks.
 * @retval LPT_ABORTED         Another rank failed.
 * @retval LPT_TIMEOUT         A rank did not call it within the time limit.
 */
LPT_API lpt_status lpt_comm_adopt_mpi(lpt_context *context, int32_t fortran_handle, const lpt_comm_options *options,
                                      lpt_comm **out_comm);

/**
 * @brief Creates the comm of a rank with a GPU, which sends data by NCCL; returns after all ranks have called it.
 *
 * NCCL is loaded on the first call: the file LPT_NCCL, else libnccl.so.2 of the system, release 2.18 or later. NCCL
 * rejects two ranks on one GPU.
 *
 * Tensors are on the GPU of `context`. Collectives are queued: without a future on the stream of the context. With one
 * they are queued on a stream of the comm, after the work that the context has queued. Then lpt_context_synchronize()
 * waits for them up to the time limit and returns their status. The function lpt_future_wait() with a context of that
 * GPU makes its stream wait and returns. Work that exceeds the time limit is aborted (LPT_TIMEOUT), and the comm with
 * it.
 *
 * With a bootstrap comm ranks compare each call there before they queue it. LPT_MISMATCH, LPT_ABORTED and LPT_TIMEOUT
 * then report other ranks as for local comms, by the time limit of the bootstrap comm.
 *
 * All collectives of collective.h except lpt_comm_compare() are supported, with the bits of ranks on CPUs. So are
 * lpt_partial_all_reduce(), lpt_partial_gemm(), lpt_sequence_gather(), lpt_sequence_scatter(), gradient buckets and
 * lpt_optimizer_step_shards(). So are lpt_cross_entropy_forward() and lpt_cross_entropy_backward(). Others return
 * LPT_UNSUPPORTED. Messages are received in the order in which they were sent. Two ranks that both send to each other
 * before they receive block until the time limit.
 *
 * @param[in]  context   Of a GPU.
 * @param[in]  options   With `bootstrap`; the same on all ranks, all of which call this function.
 * @param[out] out_comm  Destroy with lpt_comm_destroy(), which waits for queued work.
 * @retval LPT_INVALID_ARGUMENT  `context` has no NVIDIA GPU, or `bootstrap` is NULL or of GPUs.
 * @retval LPT_UNSUPPORTED       NCCL cannot be loaded or is too old, or `options` sets a member for CPU ranks.
 * @retval LPT_WORK_FAILED       NCCL failed; the text holds its message.
 * @retval LPT_MISMATCH          `options` differs between ranks.
 * @retval LPT_ABORTED           Another rank failed.
 * @retval LPT_TIMEOUT           A rank did not call it within the time limit.
 */
LPT_API lpt_status lpt_comm_create_nccl(lpt_context *context, const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Creates the comm of a rank with a GPU from an NCCL communicator.
 *
 * Otherwise as lpt_comm_create_nccl(). Without `bootstrap` ranks do not compare their calls.
 *
 * Ownership The caller keeps the communicator until the comm is destroyed, and aborts it after an error.
 *
 * @param[in]  context    Of a GPU.
 * @param[in]  nccl_comm  An ncclComm_t.
 * @param[in]  options    NULL for the defaults; the same on all ranks.
 * @param[out] out_comm   Destroy with lpt_comm_destroy(), which waits for queued work.
 * @retval LPT_INVALID_ARGUMENT  `context` has no NVIDIA GPU, or `bootstrap` is of GPUs. `nccl_comm` has another rank or
 *                               number of ranks than `bootstrap`.
 * @retval LPT_UNSUPPORTED       NCCL cannot be loaded or is too old, or `options` sets a member for CPU ranks.
 * @retval LPT_WORK_FAILED       NCCL failed; the text holds its message.
 */
LPT_API lpt_status lpt_comm_adopt_nccl(lpt_context *context, void *nccl_comm, const lpt_comm_options *options,
                                       lpt_comm **out_comm);

/**
 * @brief Creates comms of subsets of ranks: ranks with the same color share one.
 *
 * New ranks are numbered in the order of their keys, then of their old ranks. A grid of tensor × pipeline × data ranks
 * takes two splits. It is a collective of `comm`.
 *
 * @param[in,out] comm      Communicator of this rank.
 * @param[in]     color     Subset, at least 0; -1: none.
 * @param[in]     key       Order within the subset.
 * @param[out]    out_comm  NULL with color -1. Destroy with lpt_comm_destroy(); it stays valid without `comm`.
 * @retval LPT_INVALID_ARGUMENT  `color` is less than -1.
 */
LPT_API lpt_status lpt_comm_split(lpt_context *context, lpt_comm *comm, int32_t color, int32_t key,
                                  lpt_comm **out_comm);

/**
 * @brief Destroys a comm.
 *
 * Collectives in flight are aborted, and ranks that wait for this one get LPT_ABORTED. A comm of GPUs first waits for
 * queued work, up to the time limit.
 *
 * @param[in] comm  NULL is allowed.
 */
LPT_API void lpt_comm_destroy(lpt_comm *comm);

/**
 * @brief Reads the rank, the number of ranks, the engine and the traffic of a comm.
 *
 * @param[in]  comm      Communicator to read.
 * @param[out] out_info  The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_comm_read(lpt_context *context, const lpt_comm *comm, lpt_comm_info *out_info);

/**
 * @brief Waits for a collective and returns its status and text.
 *
 * The status is that of the collective, see the comment of this file.
 *
 * Device    For a collective of a GPU, a context of that GPU makes its stream wait and the call returns;
 *           lpt_context_synchronize() then reports errors. Any other context blocks.
 *
 * @param[in,out] future  It may be passed again; the result is the same.
 */
LPT_API lpt_status lpt_future_wait(lpt_context *context, lpt_future *future);

/**
 * @brief Returns whether a collective has ended, without waiting.
 *
 * @param[in]  future       Of a collective.
 * @param[out] out_is_done  1 or 0.
 * @retval LPT_WORK_FAILED  The collective is of a GPU, and its device failed.
 */
LPT_API lpt_status lpt_future_is_done(lpt_context *context, const lpt_future *future, int32_t *out_is_done);

/**
 * @brief Destroys a future; its collective continues.
 *
 * @param[in] future  NULL is allowed.
 */
LPT_API void lpt_future_destroy(lpt_future *future);

#ifdef __cplusplus
}
#endif

#endif
