/**
 * @file cost.h
 * @brief Research: a cost model of collectives.
 *
 * The functions only compute; nothing is sent.
 */
#ifndef LPT_RESEARCH_COST_H
#define LPT_RESEARCH_COST_H

#include "../common.h"
#include "../format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Collective of a cost estimate; one of lpt_cost_collective_values. */
typedef int32_t lpt_cost_collective;

/**
 * @brief Values of lpt_cost_collective.
 *
 * n: bytes of the payload.
 */
enum lpt_cost_collective_values {
  LPT_COST_COLLECTIVE_ALL_REDUCE = 0,     /**< n: the tensor of each rank. */
  LPT_COST_COLLECTIVE_REDUCE_SCATTER = 1, /**< n: the input of each rank. */
  LPT_COST_COLLECTIVE_ALL_GATHER = 2,     /**< n: the output, with the parts of all ranks. */
  LPT_COST_COLLECTIVE_BROADCAST = 3,      /**< n: the tensor of the root. */
  LPT_COST_COLLECTIVE_ALL_TO_ALL = 4      /**< n: the input of each rank. */
};

/** @brief Algorithm of a collective; one of lpt_cost_algorithm_values. */
typedef int32_t lpt_cost_algorithm;

/**
 * @brief Values of lpt_cost_algorithm.
 *
 * R ranks, n bytes, L = log2(R) rounded up. An algorithm is a sequence of steps; each begins after the previous one has
 * ended on all ranks. Descriptions are of an all-reduce, unless stated otherwise. docs/reference/collectives.md lists every
 * formula.
 */
enum lpt_cost_algorithm_values {
  LPT_COST_ALGORITHM_BEST = 0, /**< Minimal time; among equals minimal bytes per rank, then minimal steps. */
  /**
   * Every rank sends n / R to the next one in each of 2 (R - 1) steps: half of them add, half forward the result. A
   * reduce-scatter is the first half, an all-gather the second.
   */
  LPT_COST_ALGORITHM_RING = 1,
  /**
   * A binomial tree: L steps that add towards rank 0, L that return the result, n in each. A broadcast is the second
   * half.
   */
  LPT_COST_ALGORITHM_TREE = 2,
  /**
   * The algorithm of lpt_all_reduce(): every rank sends each other one its n / R, adds what it receives, and sends the
   * result to all. A reduce-scatter is the first step, an all-gather the second.
   */
  LPT_COST_ALGORITHM_TWO_SHOT = 3,
  /** One step: every rank sends n to all, and adds. Broadcast: the root sends to all. All-to-all: n / R to each. */
  LPT_COST_ALGORITHM_ONE_SHOT = 4,
  /** Two steps over the link of the root: all send to the root, which sends each rank its result. */
  LPT_COST_ALGORITHM_STAR = 5
};

/**
 * @brief Links of equal ranks.
 *
 * Each rank has one link to all others. It sends one message after another and receives one after another, both at the
 * same time. A message of b bytes takes b / bytes_per_second of both links, and latency_seconds.
 */
typedef struct lpt_cost_link {
  size_t struct_size;     /**< sizeof(lpt_cost_link) of the caller. */
  double latency_seconds; /**< Latency of a message, 0 to 1e9; messages in flight overlap. The alpha of papers. */
  /** Bandwidth of the link of one rank, per direction, up to 1e30; 0: infinite. The inverse of the beta of papers. */
  double bytes_per_second;
  /** Rate at which a rank adds received payload after a step, up to 1e30; 0: infinite. */
  double reduce_bytes_per_second;
} lpt_cost_link;

/** @brief Defaults of lpt_cost_link: all times are zero, and only bytes are counted. */
#define LPT_COST_LINK_INIT \
  { sizeof(lpt_cost_link), 0.0, 0.0, 0.0 }

/** @brief Cost of a collective. */
typedef struct lpt_cost_info {
  size_t struct_size;           /**< sizeof(lpt_cost_info) of the caller. */
  lpt_cost_algorithm algorithm; /**< The algorithm of the estimate; never BEST. */
  int32_t step_count;           /**< Successive messages: the number of latencies. */
  double payload_bytes;         /**< n: elements with their scales. */
  double rank_bytes;            /**< Bytes sent by the rank that sends most. */
  double total_bytes;           /**< Bytes sent by all ranks together. */
  double seconds;               /**< From the first byte to the last sum. */
} lpt_cost_info;

/** @brief Defaults of lpt_cost_info. */
#define LPT_COST_INFO_INIT \
  { sizeof(lpt_cost_info), LPT_COST_ALGORITHM_BEST, 0, 0.0, 0.0, 0.0, 0.0 }

/** @brief Rates at which one rank casts elements before and after transfer, in bytes of the wide format. */
typedef struct lpt_cost_cast_rates {
  size_t struct_size;             /**< sizeof(lpt_cost_cast_rates) of the caller. */
  double overhead_seconds;        /**< Time of all casts of one collective for any number of elements, 0 to 1e9. */
  double encode_bytes_per_second; /**< Rate of lpt_quantize(), up to 1e30; 0: infinite. */
  double decode_bytes_per_second; /**< Rate of lpt_dequantize(), up to 1e30; 0: infinite. */
} lpt_cost_cast_rates;

/** @brief Defaults of lpt_cost_cast_rates: casts take no time. */
#define LPT_COST_CAST_RATES_INIT \
  { sizeof(lpt_cost_cast_rates), 0.0, 0.0, 0.0 }

/**
 * @brief Computes the cost of a collective: successive messages, bytes, seconds.
 *
 * The payload is counted as one row, with its share of block scales and zero points, and its tensor scale. For example,
 * int8_1x32 has 36 / 32 bytes per element. Parts of ranks are equal, so bytes may be fractions. With one rank bytes and
 * times are 0.
 *
 * @param[in]  collective  Which collective.
 * @param[in]  algorithm   LPT_COST_ALGORITHM_BEST selects.
 * @param[in]  ranks       1 to 1048576.
 * @param[in]  elements    Elements of the tensor that lpt_cost_collective_values states, at least 0.
 * @param[in]  payload     Format in which they are sent; any except a 2:4 format.
 * @param[in]  link        NULL for the defaults.
 * @param[out] out_info    The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  An argument or a member of `link` is out of range, or `payload` is no format.
 * @retval LPT_UNSUPPORTED       The algorithm does not have the collective; the text lists those that do. `payload` is
 *                               a 2:4 format.
 */
LPT_API lpt_status lpt_cost_estimate(lpt_context *context, lpt_cost_collective collective, lpt_cost_algorithm algorithm,
                                     int32_t ranks, int64_t elements, lpt_format payload, const lpt_cost_link *link,
                                     lpt_cost_info *out_info);

/**
 * @brief Fits a link to measured times: seconds = latency_seconds + bytes / bytes_per_second.
 *
 * Minimizes the sum of squares of relative errors, so that short messages have the weight of long ones. A negative
 * latency is replaced by 0, and the bandwidth is fitted again.
 *
 * @param[in]  bytes     `count` sizes of messages, at least 0, at least two different ones.
 * @param[in]  seconds   Time of each message, 1e-15 to 1e9.
 * @param[in]  count     At least 2.
 * @param[out] out_link  The caller sets `struct_size`. reduce_bytes_per_second becomes 0, since it is not measured.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range, all sizes are equal, or times do not grow with sizes.
 */
LPT_API lpt_status lpt_cost_fit_link(lpt_context *context, const double *bytes, const double *seconds, int64_t count,
                                     lpt_cost_link *out_link);

/**
 * @brief Computes from how many elements a collective takes less time with cast elements.
 *
 * Times are those of lpt_cost_estimate(). Cast elements add the casts of the algorithm, as docs/reference/collectives.md counts
 * them. TWO_SHOT encodes every element once and the sums again, and decodes twice.
 *
 * @param[in]  collective    Which collective.
 * @param[in]  algorithm     With LPT_COST_ALGORITHM_BEST each of both formats uses its best algorithm.
 * @param[in]  ranks         1 to 1048576.
 * @param[in]  plain         Format of the elements.
 * @param[in]  payload       Format of the cast elements.
 * @param[in]  rates         Rates of the casts; NULL for the defaults.
 * @param[in]  link          NULL for the defaults.
 * @param[out] out_elements  This number and every larger one takes less time cast. 1: any number; -1: none.
 * @retval LPT_INVALID_ARGUMENT  An argument or a member of `rates` or `link` is out of range, or a format is unknown.
 * @retval LPT_UNSUPPORTED       The algorithm does not have the collective, or a format is a 2:4 format.
 */
LPT_API lpt_status lpt_cost_break_even(lpt_context *context, lpt_cost_collective collective,
                                       lpt_cost_algorithm algorithm, int32_t ranks, lpt_format plain,
                                       lpt_format payload, const lpt_cost_cast_rates *rates, const lpt_cost_link *link,
                                       int64_t *out_elements);

#ifdef __cplusplus
}
#endif

#endif
