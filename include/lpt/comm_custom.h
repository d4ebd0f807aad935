/**
 * @file comm_custom.h
 * @brief Communicators over a transport of the caller, such as UCX, Gloo or torch.distributed.
 *
 * The statuses, arguments and futures of comm.h apply.
 */
#ifndef LPT_COMM_CUSTOM_H
#define LPT_COMM_CUSTOM_H

#include "collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Functions of a transport that sends bytes between ranks, for lpt_comm_create_custom().
 *
 * Messages  Ranks are those of lpt_comm_create_custom(), also in a comm that lpt_comm_split() made. Messages from one
 *           rank to another with one tag arrive in the order of their sends, and in the order of their receives. Both
 *           sides state the same number of bytes. A receive names its sender. Tags are 0 to 2^31 - 1; the comms of
 *           splits use other tags.
 *
 * Requests  A NULL request is complete. Every other request ends once: test() reports it complete, test() fails, or
 *           cancel() is called. `data` stays valid until then, and the transport does not access it afterwards. Some
 *           receives are still pending when a comm is destroyed; LPT cancels them.
 *
 * Errors    Functions return an lpt_status. With other than LPT_OK they write one line of text to `error`, which has
 *           `error_bytes` bytes with the terminating 0. The call of LPT, or the next one of the comm, returns this status
 *           and text, and the comm is broken. The other ranks get LPT_ABORTED, or LPT_TIMEOUT. Functions do not throw.
 *
 * Threads   One function runs at a time, for a comm and all comms that were split from it. It runs on the thread that
 *           calls LPT, or on that of a comm with a pending future. Functions do not wait for other ranks. They do not use
 *           a comm or the context of the call.
 */
typedef struct lpt_comm_functions {
  size_t struct_size; /**< sizeof(lpt_comm_functions) of the caller. */
  char name[32];      /**< Engine in lpt_comm_info: 1 to 31 bytes of ASCII and a terminating 0. */
  /** Starts to send `bytes` bytes to `peer`. `bytes` is at least 1. After an error `out_request` is ignored. */
  int32_t (*send)(void *user, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                  char *error, size_t error_bytes);
  /** Starts to receive `bytes` bytes from `peer`. `bytes` is at least 1. After an error `out_request` is ignored. */
  int32_t (*receive)(void *user, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request, char *error,
                     size_t error_bytes);
  /**
   * Makes progress with all requests, and writes 1 if `request` is complete, else 0. A request that is complete or
   * failed is freed.
   */
  int32_t (*test)(void *user, void *request, int32_t *out_is_done, char *error, size_t error_bytes);
  /** Frees a request that is not complete. The message may be lost or not. */
  void (*cancel)(void *user, void *request);
  /**
   * Sends `outgoing_bytes[q]` bytes of `outgoing[q]` to each rank q, and receives `incoming_bytes[q]` bytes from it. The
   * entries of the own rank are ignored. Pointers with 0 bytes may be NULL. It returns when all bytes have arrived and
   * `outgoing` may be changed, or with LPT_TIMEOUT after `timeout_seconds`; 0: no limit. All ranks call it in one order,
   * and both sides state the same number of bytes. `stream` is NULL: ranks are on CPUs.
   */
  int32_t (*exchange)(void *user, void *stream, const void *const *outgoing, const int64_t *outgoing_bytes,
                      void *const *incoming, const int64_t *incoming_bytes, double timeout_seconds, char *error,
                      size_t error_bytes);
  /**
   * Reduces `elements` adjacent elements in f64, f32, bf16 or f16 over all ranks; `output` may be `input`. It serves
   * LPT_REDUCE_ALGORITHM_NATIVE of lpt_all_reduce() only, in any order of additions. NULL: that is not supported.
   * Otherwise as exchange().
   */
  int32_t (*all_reduce)(void *user, void *stream, const void *input, void *output, int64_t elements, lpt_format format,
                        lpt_reduction reduction, double timeout_seconds, char *error, size_t error_bytes);
  /**
   * Makes exchange() and all_reduce() of this rank return an error, those that run and all later ones; those of other ranks
   * should fail too. Called at most once, after an error of this rank, on any thread and while another function runs.
   * NULL: not called, and other ranks wait up to the time limit.
   */
  void (*abort)(void *user);
  /** Called once, after all other functions; NULL: not called. */
  void (*close)(void *user);
} lpt_comm_functions;

/** @brief Defaults of lpt_comm_functions: the caller sets name and functions. */
#define LPT_COMM_FUNCTIONS_INIT \
  { sizeof(lpt_comm_functions), "", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * @brief Creates the comm of one rank over the caller's transport; returns after all ranks have called it.
 *
 * All collectives have the bits of other engines. A rank sends headers of 1168 bytes, which contain payloads of up to
 * 1 KiB. With one rank no function is called except `close`.
 *
 * Ownership The library takes `user`, whatever the call returns. `close` is called exactly once: before a call that fails
 *           returns, or when the comm and the comms split from it are destroyed. It is not called if `functions` is NULL,
 *           or if its `struct_size` does not include `close` or is out of range.
 *
 * @param[in]  context     On the CPU.
 * @param[in]  functions   Copied. `send`, `receive`, `test` and `cancel` are given, or `exchange`, or all of them. A comm
 *                         of `exchange` alone has no splits, and no lpt_send() and lpt_receive().
 * @param[in]  user        First argument of the functions.
 * @param[in]  rank        0 to rank_count - 1.
 * @param[in]  rank_count  1 to 1024, the same on all ranks.
 * @param[in]  options     NULL for the defaults; the same on all ranks; no emulated link.
 * @param[out] out_comm    Destroy with lpt_comm_destroy().
 * @retval LPT_INVALID_ARGUMENT  `functions` has no name or a longer one, or lacks a required function. `rank`,
 *                               `rank_count` or a member of `options` is out of range.
 * @retval LPT_UNSUPPORTED       `context` is on a GPU, or a link is emulated.
 * @retval LPT_MISMATCH          `options` differs between ranks.
 * @retval LPT_ABORTED           Another rank failed.
 * @retval LPT_TIMEOUT           A rank did not call it within the time limit.
 */
LPT_API lpt_status lpt_comm_create_custom(lpt_context *context, const lpt_comm_functions *functions, void *user,
                                          int32_t rank, int32_t rank_count, const lpt_comm_options *options,
                                          lpt_comm **out_comm);

#ifdef __cplusplus
}
#endif

#endif
