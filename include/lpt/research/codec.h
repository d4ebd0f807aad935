/**
 * @file codec.h
 * @brief Research: reductions through codecs and through signs.
 */
#ifndef LPT_RESEARCH_CODEC_H
#define LPT_RESEARCH_CODEC_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief A compression of the caller's own, in which the numbers of a reduction are sent.
 *
 * Shares are those of `wire` in lpt_reduce_options. Each share is encoded once by each rank, by one call, what became of it
 * once more by the rank that added it up, and all decode those bytes, that rank too: all ranks end with the same bits if equal
 * bytes decode to equal numbers. Numbers are f32 and adjacent; tensors in bf16 and f16 are widened before and rounded after.
 * No function is called for 0 elements.
 *
 * Functions run on the threads of the context (with a future: on that of the comm), several at once with the same `user`
 * where it has more than one. They may not throw, nor call LPT with this context or comm. Other than 0 from one of them ends
 * the reduction with LPT_ABORTED on its rank, whose text names codec, function and number, and on all ranks that do not have
 * all they need yet; the comm is broken then, and the output of that rank is as it was.
 */
struct lpt_comm_codec {
  size_t struct_size; /**< sizeof(lpt_comm_codec) of the caller. */
  char name[16];      /**< 1 to 12 bytes of ASCII, and 0. Another one on another rank is LPT_MISMATCH. */
  /** Bytes of `count` elements, at least 0. The same whenever it is asked; another number on another rank is LPT_MISMATCH. */
  int64_t (*bytes_for)(void *user, int64_t count);
  /** Writes bytes_for(count) bytes, all of them. */
  int32_t (*encode)(void *user, const float *numbers, int64_t count, void *bytes);
  /** Writes `count` numbers. */
  int32_t (*decode)(void *user, const void *bytes, int64_t count, float *numbers);
  /** Adds what decode() would write to `sum`. NULL: decoded to scratch and added. */
  int32_t (*decode_add)(void *user, const void *bytes, int64_t count, float *sum);
  void *user; /**< The functions' own; lives until the reduction is done. */
};

/** @brief No codec: name and functions are still to be set. */
#define LPT_COMM_CODEC_INIT \
  { sizeof(lpt_comm_codec), "", NULL, NULL, NULL, NULL, NULL }

/**
 * @brief Averages a tensor of every rank by its signs, one bit for each element, and keeps what that leaves out.
 *
 * Every rank adds its error of the last call to the input and sends of each rank's share the signs, of which zero is
 * positive, and one scale, the root of the mean square. The rank that has the share averages the scaled signs in the order of
 * ranks, adds its own error of the last call and sends signs and scale of the result to all, which is the output. What both
 * casts left out becomes the new errors: the mean of outputs goes to the mean of averages as one over the number of calls.
 * Bytes that leave a rank: about (R - 1) / R · elements / 4. Every rank ends with the same bits.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; f32, of any shape, rows with any stride; the same shape on all ranks.
 * @param worker_error read and written; f32, dense, as many elements as the input. 0 before the first call.
 * @param server_error read and written; dense f32 vector of as many elements as lpt_all_reduce_signs_share() tells. 0 before
 *        the first call. Errors are undefined after a call that was not rejected and failed.
 * @param output written; f32, the input's shape. May be the input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_reduce_signs(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                        lpt_tensor *worker_error, lpt_tensor *server_error, lpt_tensor *output,
                                        lpt_future **out_future);

/**
 * @brief Returns how many elements of a tensor this rank averages in lpt_all_reduce_signs(): those of its server error.
 * @param context of this rank.
 * @param comm the communicator.
 * @param element_count of the whole tensor.
 * @param out_element_count returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_all_reduce_signs_share(lpt_context *context, const lpt_comm *comm, int64_t element_count,
                                              int64_t *out_element_count);

#ifdef __cplusplus
}
#endif

#endif
