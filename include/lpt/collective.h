/**
 * @file collective.h
 * @brief Collectives of the ranks of a comm: reductions, gathers, messages.
 *
 * Statuses  See comm.h for statuses, futures and devices.
 */
#ifndef LPT_COLLECTIVE_H
#define LPT_COLLECTIVE_H

#include "comm.h"
#include "common.h"
#include "format.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How elements of all ranks are combined; one of lpt_reduction_values. */
typedef int32_t lpt_reduction;

/** @brief Values of lpt_reduction. */
enum lpt_reduction_values {
  LPT_REDUCTION_SUM = 0,     /**< Sum in rank order, in f32; f64 in f64. */
  LPT_REDUCTION_AVERAGE = 1, /**< Sum divided by the number of ranks. */
  LPT_REDUCTION_MAXIMUM = 2, /**< Maximum; NaN if any element is NaN. */
  LPT_REDUCTION_MINIMUM = 3  /**< Minimum; NaN if any element is NaN. */
};

/** @brief Algorithm of a reduction; one of lpt_reduce_algorithm_values. */
typedef int32_t lpt_reduce_algorithm;

/**
 * @brief Values of lpt_reduce_algorithm.
 *
 * R is the number of ranks.
 */
enum lpt_reduce_algorithm_values {
  /**
   * With a wire: ONE_SHOT for two ranks or up to 16 KiB, else TWO_SHOT. Tensors of fewer than 512 elements per rank are
   * sent in their own format. lpt_context_explanation() states the choice.
   */
  LPT_REDUCE_ALGORITHM_AUTO = 0,
  /** Every rank receives all inputs, cast once, and adds them: R - 1 times the bytes, one cast error. */
  LPT_REDUCE_ALGORITHM_ONE_SHOT = 1,
  /**
   * Every rank adds its share of all inputs and casts the result again: 2 · (R - 1) / R times the bytes, two cast
   * errors.
   */
  LPT_REDUCE_ALGORITHM_TWO_SHOT = 2,
  /** Ranks on GPUs, without a wire: the sum of NCCL. All ranks get the same bits, which differ from other engines. */
  LPT_REDUCE_ALGORITHM_NATIVE = 3
};

/** @brief Options of a reduction; the same on all ranks, except for `outer_comm`. */
typedef struct lpt_reduce_options {
  size_t struct_size;      /**< sizeof(lpt_reduce_options) of the caller. */
  lpt_flags flags;         /**< LPT_CHECK_ONLY or 0. */
  lpt_reduction reduction; /**< How elements are combined. Default SUM. */
  int32_t reserved;        /**< Must be 0. */
  double factor;           /**< The result is multiplied by it before it is rounded; finite. Default 1. */
  /**
   * Format in which elements are sent; LPT_FORMAT_NONE, the default: the format of the tensor. Tensors are f32, bf16 or
   * f16. The wire is any dense format that lpt_quantize() writes without further inputs and that can represent a NaN.
   * Elements in logical order are cut into one share per rank, at multiples of 512 elements; lpt_reduce_scatter() uses
   * the parts of its ranks. Each share is cast as a matrix of one row with the defaults of lpt_quantize(), except that
   * f16 and bf16 overflow to infinity. A format with a scale per row or tensor has one per share. An infinity becomes
   * the maximum of its block: check for it before. All ranks decode the cast values, also their own, to f32, and add in
   * rank order.
   */
  lpt_format wire;
  /** With a wire: AUTO, ONE_SHOT or TWO_SHOT; not ONE_SHOT for lpt_reduce_scatter(). Without: AUTO or NATIVE. */
  lpt_reduce_algorithm algorithm;
  lpt_rounding rounding; /**< Rounding of casts to the wire: NEAREST_EVEN or STOCHASTIC. Default NEAREST_EVEN. */
  /**
   * For stochastic rounding; the same on all ranks, row_stride 0. Element i draws at offset + i. Rank q casts its input
   * by seed ^ (q · 2^54), so that errors of ranks are independent.
   */
  lpt_random random;
  /**
   * NULL: none. Otherwise this codec encodes all elements, for any size, also with one rank. It requires TWO_SHOT or
   * AUTO, SUM or AVERAGE, tensors in f32, bf16 or f16, no wire, rounding to nearest, and ranks on CPUs. The struct is
   * copied; `user` must stay valid until completion.
   */
  const lpt_comm_codec *codec;
  /**
   * NULL: none. Otherwise the reduction has levels, such as nodes and a cluster. Each rank of `comm` reduces one part over
   * `comm`, then over `outer_comm`, and `comm` gathers the parts. `outer_comm` has the ranks with the same index in groups
   * of one size; see lpt_comm_split(). It is for ranks on CPUs, with AUTO or TWO_SHOT. Parts begin at multiples of 512
   * elements; lpt_reduce_scatter() uses the parts of its ranks. In lpt_all_reduce() with a wire or codec, parts are f32
   * between levels; otherwise they have the format of the tensor. Until completion `outer_comm` stays valid, and no other
   * call uses it.
   */
  lpt_comm *outer_comm;
  /**
   * Options of the reduction over `outer_comm`: its wire, its codec, its factor. `reduction` is the same; AVERAGE divides
   * at each level. Element i of the tensor draws at random.offset + outer->random.offset + i. Up to 8 levels. The struct
   * is copied. NULL: the defaults.
   */
  const struct lpt_reduce_options *outer;
} lpt_reduce_options;

/** @brief Defaults of lpt_reduce_options. */
#define LPT_REDUCE_OPTIONS_INIT                                                                           \
  {                                                                                                       \
    sizeof(lpt_reduce_options), 0, LPT_REDUCTION_SUM, 0, 1.0, LPT_FORMAT_NONE, LPT_REDUCE_ALGORITHM_AUTO, \
        LPT_ROUNDING_NEAREST_EVEN, LPT_RANDOM_INIT, NULL, NULL, NULL                                      \
  }

/**
 * @brief Returns after all ranks have called it.
 *
 * Device    On GPUs the hosts wait for each other; with LPT_COMM_SKIP_CHECKS the call also waits for the stream.
 *
 * @param[in,out] comm  Communicator of this rank.
 */
LPT_API lpt_status lpt_barrier(lpt_context *context, lpt_comm *comm);

/**
 * @brief Reduces a tensor over all ranks; every rank gets the result.
 *
 * Every rank gets the same bits, on every engine: elements are added in rank order, for any number of threads. A rank
 * sends 2 · (R - 1) / R of the bytes of the tensor on average. A small tensor is sent completely to every rank.
 *
 * Shapes    Any shape, the same on all ranks; rows with any stride.
 *
 * Formats   f64, f32, bf16 or f16; `output` as `input`. f64 allows neither a wire nor a codec, and on GPUs only
 *           LPT_REDUCE_ALGORITHM_NATIVE.
 *
 * Rounding  f16 and bf16 are added in f32 and rounded once, f64 in f64.
 *
 * Overlap   `output` may be `input`.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     input       The same shape on all ranks.
 * @param[in]     options     NULL for the defaults; the same on all ranks.
 * @param[out]    output      The shape and format of `input`.
 * @param[out]    out_future  NULL: complete on return. Otherwise destroy with lpt_future_destroy().
 * @retval LPT_INVALID_ARGUMENT  An algorithm other than AUTO or NATIVE, or a rounding other than NEAREST_EVEN, without
 *                               a wire. A wire, or stochastic rounding, with a codec.
 * @retval LPT_UNSUPPORTED       The wire, the algorithm or the codec does not support the format, the device or the
 *                               reduction. NATIVE with a factor other than 1.
 */
LPT_API lpt_status lpt_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                  const lpt_reduce_options *options, lpt_tensor *output, lpt_future **out_future);

/**
 * @brief Reduces a tensor over all ranks; each rank gets its part of the result, along the first axis.
 *
 * Formats   As for lpt_all_reduce().
 *
 * Overlap   `output` may not overlap `input`.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     input       As for lpt_all_reduce().
 * @param[in]     counts      Extent of the part of each rank along the first axis: rank_count values, at least 0, whose
 *                            sum is the extent of `input`. NULL: equal parts. The same on all ranks.
 * @param[in]     options     NULL for the defaults; the same on all ranks.
 * @param[out]    output      The part of this rank, in the format of `input`.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `counts` is NULL and ranks do not divide the extent, or the values do not sum to it.
 *                               Otherwise as for lpt_all_reduce().
 * @retval LPT_UNSUPPORTED       ONE_SHOT with a wire or codec, or NATIVE with unequal parts. Otherwise as for
 *                               lpt_all_reduce().
 */
LPT_API lpt_status lpt_reduce_scatter(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                      const int64_t *counts, const lpt_reduce_options *options, lpt_tensor *output,
                                      lpt_future **out_future);

/** @brief Options of lpt_all_gather(). */
typedef struct lpt_all_gather_options {
  size_t struct_size; /**< sizeof(lpt_all_gather_options) of the caller. */
  lpt_flags flags;    /**< Must be 0. */
  /**
   * Codec of the elements; the same on all ranks. Each part is encoded once and decoded by all ranks, its own rank
   * included. It requires tensors in f32, bf16 or f16, and ranks on CPUs. The struct is copied; `user` must stay valid
   * until completion. NULL, the default: none.
   */
  const lpt_comm_codec *codec;
  /**
   * Each part is cast to the format of `output` with these options, and ranks send the codes. A tensor scale is that of
   * the amax over all ranks, after smoothing and rotation. The result has the bits of lpt_quantize() of the full tensor. It
   * requires `input` in f64, f32, bf16 or f16, and ranks on CPUs. A scaler and `random_words` are not supported. MSE, MEAN
   * and SAWB are not supported for formats with a tensor scale only. NULL, the default: none.
   */
  const lpt_quantize_options *cast;
} lpt_all_gather_options;

/** @brief Defaults of lpt_all_gather_options. */
#define LPT_ALL_GATHER_OPTIONS_INIT \
  { sizeof(lpt_all_gather_options), 0, NULL, NULL }

/**
 * @brief Concatenates the parts of all ranks along the first axis; every rank gets the result.
 *
 * Parts with a tensor scale must have the same bits of it; `output` gets it. For sharded weights in FP8 or other formats,
 * `cast` of the options casts the shards on the way, for example with a rotation. The amax is exchanged before the call
 * returns, also with a future.
 *
 * Formats   Any format. Parts of formats with block scales are whole blocks, parts of packed elements whole bytes.
 *
 * Rounding  None, except that of a codec or a cast.
 *
 * Source    Of gathers with a cast: HALO (arXiv 2501.02625), MS-AMP (arXiv 2310.18313).
 *
 * Device    On GPUs that compare calls, a tensor scale makes the call wait for the stream.
 *
 * Overlap   `input` may be the part of this rank in `output`. No other overlap is allowed.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     input       The part of this rank.
 * @param[in]     counts      As for lpt_reduce_scatter(), of `output`.
 * @param[in]     options     NULL for the defaults; the same on all ranks.
 * @param[out]    output      The format of `input`; any dense format with a cast.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `counts` is NULL and ranks do not divide the extent, or the values do not sum to it. A
 *                               part cuts a block or a byte, or `input` has another extent than its part.
 *                               The codec has no name, a longer name, or a function that is NULL. A codec with a cast,
 *                               or an option of the cast that is out of range.
 * @retval LPT_UNSUPPORTED       A codec with `input` in another format than f32, bf16 or f16. A cast that is not
 *                               supported.
 * @retval LPT_MISMATCH          The tensor scales of ranks differ (not checked with LPT_COMM_SKIP_CHECKS), or name or
 *                               sizes of the codec.
 * @retval LPT_ABORTED           A function of the codec returned other than 0.
 */
LPT_API lpt_status lpt_all_gather(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, const int64_t *counts,
                                  const lpt_all_gather_options *options, lpt_tensor *output, lpt_future **out_future);

/**
 * @brief Sends the tensor of one rank, with all its scales, to all ranks.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     root        Rank that sends.
 * @param[in,out] tensor      Read at the root, written elsewhere; any format, the same shape on all ranks.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `root` is no rank.
 */
LPT_API lpt_status lpt_broadcast(lpt_context *context, lpt_comm *comm, int32_t root, lpt_tensor *tensor,
                                 lpt_future **out_future);

/**
 * @brief Sends each rank a part of the input, and concatenates the parts received, along the first axis.
 *
 * @param[in,out] comm            Communicator of this rank.
 * @param[in]     input           Any format without a tensor scale; parts are whole blocks and bytes.
 * @param[in]     send_counts     Extent along the first axis of the part for each rank, at least 0; the sum is the
 *                                extent of `input`. NULL: equal parts.
 * @param[in]     receive_counts  Extent of the part from each rank; the sum is the extent of `output`. NULL: equal
 *                                parts.
 * @param[out]    output          Format and other extents of `input`; may not overlap `input`.
 * @param[out]    out_future      As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  Counts do not sum to the extents, a part cuts a block or a byte, or both counts of this
 *                               rank for itself differ.
 * @retval LPT_UNSUPPORTED       The format has a tensor scale.
 * @retval LPT_MISMATCH          A rank sends another extent than the receiver expects.
 */
LPT_API lpt_status lpt_all_to_all(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                  const int64_t *send_counts, const int64_t *receive_counts, lpt_tensor *output,
                                  lpt_future **out_future);

/**
 * @brief Sends a tensor to one rank; it may return before the other rank has received it.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in]     tensor      Any format.
 * @param[in]     peer        Another rank.
 * @param[in]     tag         0 to 32767; messages with the same tag arrive in order.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `peer` is no other rank, or `tag` is out of range.
 */
LPT_API lpt_status lpt_send(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor, int32_t peer, int32_t tag,
                            lpt_future **out_future);

/**
 * @brief Receives a tensor from one rank.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[out]    tensor      The format and shape that were sent.
 * @param[in]     peer        Another rank.
 * @param[in]     tag         As sent.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `peer` is no other rank, or `tag` is out of range.
 * @retval LPT_MISMATCH          Format or shape differ from those sent. On a GPU, messages are received in another
 *                               order than they were sent.
 */
LPT_API lpt_status lpt_receive(lpt_context *context, lpt_comm *comm, lpt_tensor *tensor, int32_t peer, int32_t tag,
                               lpt_future **out_future);

/**
 * @brief Reduces many tensors in place by one message: gains of norms, biases, buckets of gradients.
 *
 * The bits are those of lpt_all_reduce() for each tensor. Elements are copied to one buffer and back. With a wire or
 * codec the bits are those of one tensor of all elements: shares and blocks span tensors.
 *
 * Formats   One of f64, f32, bf16 and f16 for all tensors; rows with any stride.
 *
 * @param[in,out] comm        Communicator of this rank.
 * @param[in,out] tensors     `count` tensors, none twice, without overlap; only equal addresses are checked. The same
 *                            shapes in the same order on all ranks; ranks compare only the total of elements.
 * @param[in]     count       At least 0.
 * @param[in]     options     NULL for the defaults; the same on all ranks.
 * @param[out]    out_future  As for lpt_all_reduce().
 * @retval LPT_INVALID_ARGUMENT  `count` is negative, formats differ, or two tensors have the same address. Otherwise as
 *                               for lpt_all_reduce().
 * @retval LPT_UNSUPPORTED       As for lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_reduce_many(lpt_context *context, lpt_comm *comm, lpt_tensor *const *tensors, int64_t count,
                                       const lpt_reduce_options *options, lpt_future **out_future);

/**
 * @brief Returns whether a tensor has the same bits on all ranks; eight bytes of each rank are sent.
 *
 * Use it for replicated weights, or shared columns of activations (lpt_tensor_view()). Elements and scales are hashed
 * in logical order to 64 bits, for any strides. Equal values with different bits differ: 0 and -0, NaNs.
 *
 * Device    CPU only.
 *
 * @param[in,out] comm         Communicator of this rank.
 * @param[in]     tensor       Any format, the same shape on all ranks.
 * @param[out]    out_is_same  1 or 0, the same on all ranks.
 * @retval LPT_UNSUPPORTED  The comm or the tensor is of GPUs.
 */
LPT_API lpt_status lpt_comm_compare(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor,
                                    int32_t *out_is_same);

#ifdef __cplusplus
}
#endif

#endif
