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

#ifdef __cplusplus
}
#endif

#endif
