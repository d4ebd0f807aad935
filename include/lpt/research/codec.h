/**
 * @file codec.h
 * @brief Research: reductions through codecs and through signs.
 *
 * Statuses  These functions are collectives: see comm.h for statuses and futures.
 *
 * Device    Ranks on CPUs only; ranks on GPUs get LPT_UNSUPPORTED.
 */
#ifndef LPT_RESEARCH_CODEC_H
#define LPT_RESEARCH_CODEC_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Caller-supplied compression that encodes the messages of a collective.
 *
 * Shares are those of `wire` in lpt_reduce_options. Each rank encodes each share with one call. The rank that adds a
 * share encodes the sum again, and all ranks decode it, that rank too. Thus all ranks get the same bits if equal bytes
 * decode to equal values. Elements are f32 and adjacent; the library converts bf16 and f16 before and after. No
 * function is called for 0 elements.
 *
 * Threads   Functions run on the threads of the context; with a future on that of the comm. With more than one thread,
 *           calls with the same `user` are concurrent. They do not throw, and do not call LPT with this context or
 *           comm.
 *
 * Errors    A nonzero result ends the collective with LPT_ABORTED on its rank; the text names codec, function and
 *           result. Ranks that still need its data get LPT_ABORTED too. The comm is broken then, and the output of that
 *           rank is unchanged.
 */
struct lpt_comm_codec {
  size_t struct_size; /**< sizeof(lpt_comm_codec) of the caller. */
  /** 1 to 12 bytes of ASCII and a terminating 0. A different name on another rank is LPT_MISMATCH. */
  char name[16];
  /**
   * Returns the encoded size of `count` elements in bytes, at least 0, the same for every call. A different size on
   * another rank is LPT_MISMATCH.
   */
  int64_t (*bytes_for)(void *user, int64_t count);
  /** Writes all bytes_for(count) bytes. Returns 0 on success. */
  int32_t (*encode)(void *user, const float *numbers, int64_t count, void *bytes);
  /** Writes `count` elements. Returns 0 on success. */
  int32_t (*decode)(void *user, const void *bytes, int64_t count, float *numbers);
  /** Adds the result of decode() to `sum`. Returns 0 on success. NULL: the library decodes to scratch and adds. */
  int32_t (*decode_add)(void *user, const void *bytes, int64_t count, float *sum);
  void *user; /**< First argument of the functions; valid until the collective is complete. */
};

/** @brief Defaults of lpt_comm_codec: the caller sets name and functions. */
#define LPT_COMM_CODEC_INIT \
  { sizeof(lpt_comm_codec), "", NULL, NULL, NULL, NULL, NULL }

/**
 * @brief Averages a tensor over all ranks by its signs, one bit per element, with error feedback.
 *
 * Every rank adds its error of the last call to `input`. For the share of each rank it sends the signs, zero being
 * positive, and one scale: the root mean square. The rank of the share averages the scaled signs in rank order and adds
 * its own error of the last call. It sends signs and scale of the result to all ranks, which is the output. The errors
 * of both casts are stored for the next call. The mean of outputs approaches the mean of averages as one over the
 * number of calls.
 *
 * A rank sends about (R - 1) / R · elements / 4 bytes. Every rank gets the same bits.
 *
 * Formats   f32 only.
 *
 * Overlap   `output` may be `input`; errors overlap no other tensor.
 *
 * @param[in,out] comm          Communicator of this rank.
 * @param[in]     input         f32, any shape, rows with any stride; the same shape on all ranks.
 * @param[in,out] worker_error  f32, without gaps, as many elements as `input`; 0 before the first call.
 * @param[in,out] server_error  f32, without gaps, lpt_all_reduce_signs_share() elements; 0 before the first call. Both
 *                              errors are undefined after an error other than LPT_INVALID_ARGUMENT and LPT_UNSUPPORTED.
 * @param[out]    output        f32, the shape of `input`.
 * @param[out]    out_future    As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  A tensor is not f32, shapes do not agree, an error has gaps, or tensors overlap.
 */
LPT_API lpt_status lpt_all_reduce_signs(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                        lpt_tensor *worker_error, lpt_tensor *server_error, lpt_tensor *output,
                                        lpt_future **out_future);

/**
 * @brief Returns how many elements of a tensor this rank averages in lpt_all_reduce_signs().
 *
 * Nothing is sent.
 *
 * @param[in]  comm               Communicator to read.
 * @param[in]  element_count      Elements of the full tensor, 0 to 2^60.
 * @param[out] out_element_count  Elements of the server error of this rank.
 * @retval LPT_INVALID_ARGUMENT  `element_count` is out of range.
 */
LPT_API lpt_status lpt_all_reduce_signs_share(lpt_context *context, const lpt_comm *comm, int64_t element_count,
                                              int64_t *out_element_count);

#ifdef __cplusplus
}
#endif

#endif
