/**
 * @file cost.h
 * @brief Research: a cost model of collectives.
 */
#ifndef LPT_RESEARCH_COST_H
#define LPT_RESEARCH_COST_H

#include "../common.h"
#include "../format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A collective whose cost is reckoned; one of lpt_cost_collective_values. */
typedef int32_t lpt_cost_collective;

/** @brief Values of lpt_cost_collective. n: bytes of the payload. */
enum lpt_cost_collective_values {
  LPT_COST_COLLECTIVE_ALL_REDUCE = 0,     /**< n: every rank's tensor. */
  LPT_COST_COLLECTIVE_REDUCE_SCATTER = 1, /**< n: every rank's input. */
  LPT_COST_COLLECTIVE_ALL_GATHER = 2,     /**< n: the output, the parts of all ranks together. */
  LPT_COST_COLLECTIVE_BROADCAST = 3,      /**< n: the root's tensor. */
  LPT_COST_COLLECTIVE_ALL_TO_ALL = 4      /**< n: every rank's input. */
};

/** @brief How the bytes of a collective go; one of lpt_cost_algorithm_values. */
typedef int32_t lpt_cost_algorithm;

/**
 * @brief Values of lpt_cost_algorithm.
 *
 * R ranks, n bytes, L = log2(R) rounded up. A way is a number of steps, of which each begins when the one before has ended on
 * all ranks. What follows is of an all-reduce, where nothing else is said; docs/reference/collectives.md has every formula.
 */
enum lpt_cost_algorithm_values {
  /** The one of least time; of those the one of fewest bytes of a rank, then of fewest steps. */
  LPT_COST_ALGORITHM_BEST = 0,
  /**
   * Every rank sends n / R to the next one in each of 2 (R - 1) steps: half of them add, half hand on what came of it. A
   * reduce-scatter is the first half, an all-gather the second.
   */
  LPT_COST_ALGORITHM_RING = 1,
  /** A binomial tree: L steps that add towards rank 0, L that bring the result back, n in each. A broadcast is the second half. */
  LPT_COST_ALGORITHM_TREE = 2,
  /**
   * What lpt_all_reduce() does: every rank sends each other one its n / R, adds what comes, and sends what became of it to all.
   * A reduce-scatter is the first step, an all-gather the second.
   */
  LPT_COST_ALGORITHM_TWO_SHOT = 3,
  /** One step: every rank sends all of it to all, and adds. A broadcast: the root sends to all. An all-to-all: n / R to each. */
  LPT_COST_ALGORITHM_ONE_SHOT = 4,
  /** Two steps over the root's link alone: all send to the root, and it sends each rank what it is to have. */
  LPT_COST_ALGORITHM_STAR = 5
};

/**
 * @brief The links of equal ranks. Each rank has one to all others, which sends one message after the other and receives one
 *        after the other, both at a time. A message of b bytes takes b / bytes_per_second of both links, and latency_seconds.
 */
typedef struct lpt_cost_link {
  size_t struct_size;      /**< sizeof(lpt_cost_link) of the caller. */
  double latency_seconds;  /**< Of a message on its way; others may be on theirs meanwhile. The alpha of papers. */
  double bytes_per_second; /**< Of one rank's link, each way; 0: bytes take no time. One over the beta of papers. */
  double reduce_bytes_per_second; /**< Payload of others that a rank adds up when a step has brought it; 0: at once. */
} lpt_cost_link;

/** @brief Defaults of lpt_cost_link: nothing takes time, and bytes alone are counted. */
#define LPT_COST_LINK_INIT \
  { sizeof(lpt_cost_link), 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_COST_LINK_INIT.
 * @param link written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_cost_link_init(lpt_cost_link *link, size_t struct_size);

/** @brief What a collective costs. */
typedef struct lpt_cost_info {
  size_t struct_size;           /**< sizeof(lpt_cost_info) of the caller. */
  lpt_cost_algorithm algorithm; /**< The one that was reckoned; never BEST. */
  int32_t step_count;           /**< Messages in a row: how often the latency is waited for. */
  double payload_bytes;         /**< n: elements with their scales. */
  double rank_bytes;            /**< That the busiest rank sends. */
  double total_bytes;           /**< That all ranks send together. */
  double seconds;               /**< From the first byte to the last sum. */
} lpt_cost_info;

/** @brief Defaults of lpt_cost_info. */
#define LPT_COST_INFO_INIT \
  { sizeof(lpt_cost_info), LPT_COST_ALGORITHM_BEST, 0, 0.0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_COST_INFO_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_cost_info_init(lpt_cost_info *values, size_t struct_size);

/** @brief How fast one rank casts numbers before they are sent, and back. Rates count bytes of the wide numbers. */
typedef struct lpt_cost_cast_rates {
  size_t struct_size;             /**< sizeof(lpt_cost_cast_rates) of the caller. */
  double overhead_seconds;        /**< Of all casts of one collective together, however few numbers there are. */
  double encode_bytes_per_second; /**< lpt_quantize(); 0: at once. */
  double decode_bytes_per_second; /**< lpt_dequantize(); 0: at once. */
} lpt_cost_cast_rates;

/** @brief Defaults of lpt_cost_cast_rates: casts take no time. */
#define LPT_COST_CAST_RATES_INIT \
  { sizeof(lpt_cost_cast_rates), 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_COST_CAST_RATES_INIT.
 * @param rates written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_cost_cast_rates_init(lpt_cost_cast_rates *rates, size_t struct_size);

/**
 * @brief Reckons what a collective costs: messages in a row, bytes, seconds. Nothing is sent.
 *
 * The payload is counted as one row, with its block scales and zero points by their share (int8_1x32: 36 / 32 bytes for an
 * element) and its tensor scale; parts of ranks are equal, so there are fractions of bytes. Of one rank all is 0.
 *
 * @param context the context.
 * @param collective which.
 * @param algorithm how; LPT_COST_ALGORITHM_BEST picks.
 * @param ranks 1 to 1048576.
 * @param elements of the tensor that lpt_cost_collective_values says.
 * @param payload the format in which they are sent; any but a 2:4 one.
 * @param link NULL for the defaults.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED where the algorithm has no such collective: the text tells which have.
 */
LPT_API lpt_status lpt_cost_estimate(lpt_context *context, lpt_cost_collective collective, lpt_cost_algorithm algorithm,
                                     int32_t ranks, int64_t elements, lpt_format payload, const lpt_cost_link *link,
                                     lpt_cost_info *out_info);

/**
 * @brief Finds the link behind measured times: seconds = latency_seconds + bytes / bytes_per_second.
 *
 * The sum of squares of relative errors is least, so that short messages count as much as long ones; a latency below 0 becomes 0.
 *
 * @param context the context.
 * @param bytes borrowed; `count` sizes of messages, two different ones at least.
 * @param seconds borrowed; the time of each, above 0.
 * @param count at least 2.
 * @param out_link its `struct_size` is set by the caller; written. Its reduce_bytes_per_second is 0: that was not measured.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also where seconds do not grow with the bytes: these tell no bandwidth.
 */
LPT_API lpt_status lpt_cost_fit_link(lpt_context *context, const double *bytes, const double *seconds, int64_t count,
                                     lpt_cost_link *out_link);

/**
 * @brief Finds from how many elements on a collective takes less time with its numbers cast for the way.
 *
 * Times are those of lpt_cost_estimate(); the cast ones have the casts that the algorithm needs on top, as docs/reference/collectives.md
 * counts them: TWO_SHOT encodes every element once and the sums once more, and decodes twice.
 *
 * @param context the context.
 * @param collective which.
 * @param algorithm how; with LPT_COST_ALGORITHM_BEST each way takes the one that is best for it.
 * @param ranks 1 to 1048576.
 * @param plain the format of the numbers.
 * @param payload the one that they are cast to.
 * @param rates of the casts; NULL for the defaults.
 * @param link NULL for the defaults.
 * @param out_elements returned: that number and every larger one take less time cast, 1: any; -1: no number does.
 * @return as lpt_cost_estimate().
 */
LPT_API lpt_status lpt_cost_break_even(lpt_context *context, lpt_cost_collective collective,
                                       lpt_cost_algorithm algorithm, int32_t ranks, lpt_format plain,
                                       lpt_format payload, const lpt_cost_cast_rates *rates, const lpt_cost_link *link,
                                       int64_t *out_elements);

#ifdef __cplusplus
}
#endif

#endif
