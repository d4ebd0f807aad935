/**
 * @file lossy.h
 * @brief Research: data-parallel training over a network that loses packets (arXiv 2507.07114).
 *
 * A lossy link sends elements between the ranks of a comm as UDP packets, and sends none of them again. The reductions
 * compensate for lost packets of gradients. A rank that misses packets of parameters keeps its previous values.
 * Everything else is reliable: ranks exchange addresses, compare calls and finish rounds by collectives of the comm.
 *
 * Call      Ranks enter a call together, and send in rounds that fit in the receive buffers. A collective of the comm
 *           ends each round, so that every rank knows that all packets of the round were sent. After the last round a
 *           rank receives until it has all packets, or until none has arrived for `quiet_seconds`, or until
 *           `timeout_seconds` have passed. Packets that have not arrived then are lost.
 * Packets   A packet has up to `payload_bytes` bytes of adjacent elements of one part, in row order: packet k begins at
 *           byte k · payload_bytes. Its header has the key of the link, the number of the call, sender, index, length
 *           and a checksum. Ranks drop and count all packets that do not belong to the call. The key is sent without
 *           encryption: it excludes strangers, but not those who can read the network.
 * Statuses  Functions that send are collectives: see comm.h for statuses. If a rank ends or stops, the others return
 *           LPT_ABORTED or LPT_TIMEOUT within the time limit of the comm.
 * Device    CPU only.
 * Threads   The thread of the comm uses the link.
 */
#ifndef LPT_RESEARCH_LOSSY_H
#define LPT_RESEARCH_LOSSY_H

#include "../comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Options of lpt_lossy_link_create().
 *
 * The other ranks send to `address`. All ranks have addresses of one family.
 */
typedef struct lpt_lossy_link_options {
  size_t struct_size; /**< sizeof(lpt_lossy_link_options) of the caller. */
  char address[64];   /**< Numeric IPv4 or IPv6 address of this rank. Default "127.0.0.1": one machine. */
  int32_t port;       /**< UDP port of this rank, up to 65535. 0, the default: the system chooses a free one. */
  /** Bytes of elements of a packet, 8 to 65400, a multiple of 8; the same on all ranks. Default 1408. */
  int32_t payload_bytes;
  double timeout_seconds; /**< Longest wait to send a packet, and for packets at the end; 1e-6 to 1e9. Default 1. */
  double quiet_seconds;   /**< Time without packets after which missing ones are lost; 0 to 3600. Default 0.001. */
  /**
   * Faults that this rank injects into the packets that it sends: probabilities from 0 to 1, each drawn independently.
   * A lost packet is not sent. A duplicated one is sent twice. A reordered one is sent after all others of its round.
   * A corrupted one has an inverted bit.
   */
  double injected_loss;
  double injected_duplication; /**< See injected_loss. */
  double injected_reordering;  /**< See injected_loss. */
  double injected_corruption;  /**< See injected_loss. */
  uint64_t seed;               /**< Injected faults are a function of seed, call, sender, receiver and packet. */
} lpt_lossy_link_options;

/** @brief Defaults of lpt_lossy_link_options. */
#define LPT_LOSSY_LINK_OPTIONS_INIT \
  { sizeof(lpt_lossy_link_options), "127.0.0.1", 0, 1408, 1.0, 0.001, 0.0, 0.0, 0.0, 0.0, 0 }

/** @brief State and packets of a link; counts are those of all calls. */
typedef struct lpt_lossy_link_info {
  size_t struct_size;           /**< sizeof(lpt_lossy_link_info) of the caller. */
  int32_t rank_count;           /**< Ranks of the comm. */
  int32_t port;                 /**< UDP port of this rank. */
  int64_t payload_bytes;        /**< Bytes of elements of a full packet. */
  int64_t receive_buffer_bytes; /**< Receive buffer of the socket of this rank. */
  int64_t call_count;           /**< Calls. */
  int64_t sent_count;           /**< Packets to other ranks, without duplicates, with those that the faults remove. */
  int64_t unsent_count;         /**< Packets that the system did not send, because of an error or the time limit. */
  int64_t received_count;       /**< Packets that arrived, without duplicates. */
  int64_t lost_count;           /**< Packets that did not arrive in their call. */
  int64_t duplicate_count;      /**< Dropped: packets that had arrived before. */
  int64_t late_count;           /**< Dropped: packets of another call. */
  int64_t corrupted_count;      /**< Dropped: packets with another checksum. */
  int64_t stranger_count;       /**< Dropped: packets with another key. */
  int64_t malformed_count;      /**< Dropped: packets with another length or mark, or of no rank. */
} lpt_lossy_link_info;

/** @brief Defaults of lpt_lossy_link_info. */
#define LPT_LOSSY_LINK_INFO_INIT \
  { sizeof(lpt_lossy_link_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * @brief Creates the lossy link of one rank; returns after all ranks of the comm have called it.
 *
 * Ownership `comm` must be valid while the link is used; it may be destroyed before it.
 *
 * @param[in,out] comm      Communicator of this rank, of any engine on CPUs.
 * @param[in]     options   NULL for the defaults. Only `payload_bytes` must be the same on all ranks.
 * @param[out]    out_link  Destroy with lpt_lossy_link_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range. The address is none of this machine, or the port
 *                               is in use.
 * @retval LPT_UNSUPPORTED       The comm is of GPUs, or the system has no sockets of this family.
 * @retval LPT_MISMATCH          `payload_bytes` or the families of addresses differ between ranks.
 */
LPT_API lpt_status lpt_lossy_link_create(lpt_context *context, lpt_comm *comm, const lpt_lossy_link_options *options,
                                         lpt_lossy_link **out_link);

/**
 * @brief Reads the state of a link, and counts of packets.
 *
 * @param[in]  link      Link of this rank.
 * @param[in]  peer      Another rank: counts of the packets to it and from it, without corrupted, stranger and
 *                       malformed ones. -1: counts of all packets.
 * @param[out] out_info  The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  `peer` is neither another rank nor -1.
 */
LPT_API lpt_status lpt_lossy_link_read(lpt_context *context, const lpt_lossy_link *link, int32_t peer,
                                       lpt_lossy_link_info *out_info);

/**
 * @brief Destroys a link and closes its socket.
 *
 * @param[in] link  NULL is allowed.
 */
LPT_API void lpt_lossy_link_destroy(lpt_lossy_link *link);

/** @brief How a reduction compensates for lost packets; one of lpt_lossy_mode_values. */
typedef int32_t lpt_lossy_mode;

/** @brief Values of lpt_lossy_mode. */
enum lpt_lossy_mode_values {
  /**
   * The sum of the parts that arrived, the own part included, divided by their number. Without arrivals it is the own
   * part. Unbiased if the gradients of all ranks have the same mean: the own part has more weight than others.
   */
  LPT_LOSSY_MODE_COUNT = 0,
  /**
   * Each part that arrived is divided by its probability of arrival. The sum of these and the own part is divided by
   * the number of ranks (Horvitz-Thompson). Unbiased for any gradients and probabilities.
   */
  LPT_LOSSY_MODE_HORVITZ_THOMPSON = 1
};

/**
 * @brief Averages a tensor over all ranks by packets; each rank gets its part of the result, along the first axis.
 *
 * Without loss the bits are those of lpt_reduce_scatter() with LPT_REDUCTION_AVERAGE, in both modes.
 *
 * Formats   f64, f32, bf16 or f16; `output` as `input`.
 *
 * Rounding  f16 and bf16 are added in f32 and rounded once, f64 in f64. HORVITZ_THOMPSON first rounds each weight, and
 *           each weighted element, to f32; for f64 to f64.
 *
 * Overlap   `output` may not overlap `input`.
 *
 * @param[in,out] link           Link of this rank.
 * @param[in]     input          The same shape on all ranks.
 * @param[in]     counts         As for lpt_reduce_scatter().
 * @param[in]     mode           How lost packets are compensated; the same on all ranks.
 * @param[in]     loss           HORVITZ_THOMPSON: for each rank q, the probability that a packet from q to this rank is
 *                               lost, at least 0 and less than 1. The entry of this rank is ignored. NULL: estimates
 *                               from earlier calls of this link, lost / (lost + received + 1). COUNT: NULL.
 * @param[in]     arrival_count  Length of `out_arrivals`: packets of this rank's part · ranks. 0 if it is NULL.
 * @param[out]    output         The part of this rank.
 * @param[out]    out_arrivals   Element k · ranks + q is 1 if packet k of rank q arrived or q is this rank, else 0.
 *                               NULL: not written.
 * @retval LPT_INVALID_ARGUMENT  `mode` or an element of `loss` is out of range, `loss` is set for COUNT, or
 *                               `arrival_count` is another number. Otherwise as for lpt_reduce_scatter().
 */
LPT_API lpt_status lpt_lossy_reduce_scatter(lpt_context *context, lpt_lossy_link *link, const lpt_tensor *input,
                                            const int64_t *counts, lpt_lossy_mode mode, const double *loss,
                                            int64_t arrival_count, lpt_tensor *output, uint8_t *out_arrivals);

/**
 * @brief Concatenates the parts of all ranks along the first axis by packets; elements that are lost keep their values.
 *
 * Replicas drift apart where packets are lost: lpt_lossy_estimate() has the mean. lpt_all_gather() makes them equal.
 *
 * Formats   f64, f32, bf16 or f16; `output` as `input`.
 *
 * Overlap   `input` may be the part of this rank in `output`. No other overlap is allowed.
 *
 * @param[in,out] link       Link of this rank.
 * @param[in]     input      The part of this rank.
 * @param[in]     counts     As for lpt_all_gather().
 * @param[in]     age_count  Length of `ages`: the packets of all parts. 0 if it is NULL.
 * @param[in,out] output     Previous values; parts that arrive replace them.
 * @param[in,out] ages       Calls since each packet arrived, one part after another: 0 if it arrived in this call, else
 *                           one more than before. The caller writes 0 before the first call. NULL: not counted.
 * @retval LPT_INVALID_ARGUMENT  `age_count` is another number, or an age is negative. Otherwise as for
 *                               lpt_all_gather().
 */
LPT_API lpt_status lpt_lossy_all_gather(lpt_context *context, lpt_lossy_link *link, const lpt_tensor *input,
                                        const int64_t *counts, int64_t age_count, lpt_tensor *output, int32_t *ages);

/**
 * @brief Means of training with independent losses of probability p on each of N ranks.
 *
 * Variances are of an element, relative to the average without loss, if elements of ranks are independent, with equal
 * variances and mean 0. A mean of m standard deviations adds m² (N - 1) p / ((1 - p) N) to that of HORVITZ_THOMPSON.
 */
typedef struct lpt_lossy_info {
  size_t struct_size; /**< sizeof(lpt_lossy_info) of the caller. */
  /**
   * Mean square difference of a parameter between two ranks that do not own it, relative to the variance of one update:
   * 2 p / (1 - p²). Updates are independent, with mean 0.
   */
  double drift;
  double one_step_drift; /**< The published value, which counts one missed update: 2 p / (1 + p). */
  double mean_age;       /**< Mean age of a parameter: p / (1 - p). */
  /**
   * COUNT: mean weight of the part of the owner, relative to 1 / N: (1 - p^N) / (1 - p). It is also the variance.
   */
  double owner_weight;
  double other_weight;              /**< COUNT: mean weight of each other part, relative to 1 / N. 0 if N is 1. */
  double horvitz_thompson_variance; /**< HORVITZ_THOMPSON: variance, (1 + (N - 1) / (1 - p)) / N. */
} lpt_lossy_info;

/** @brief Defaults of lpt_lossy_info. */
#define LPT_LOSSY_INFO_INIT \
  { sizeof(lpt_lossy_info), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }

/**
 * @brief Computes the drift of replicas, and the weights and variances of averages, for a probability of loss.
 *
 * @param[in]  loss        p, at least 0 and less than 1.
 * @param[in]  rank_count  N, 1 to 1048576.
 * @param[out] out_info    The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 */
LPT_API lpt_status lpt_lossy_estimate(lpt_context *context, double loss, int32_t rank_count, lpt_lossy_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
