/**
 * @file emulation.h
 * @brief Research: emulated links and damaged messages of local ranks.
 */
#ifndef LPT_RESEARCH_EMULATION_H
#define LPT_RESEARCH_EMULATION_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Link that the ranks of a local group emulate; `emulation` of lpt_comm_options.
 *
 * Ranks send messages if a member is not 0. The link must be the same on all ranks.
 */
struct lpt_comm_emulation {
  size_t struct_size;           /**< sizeof(lpt_comm_emulation) of the caller. */
  double link_latency_seconds;  /**< Latency of each message, up to 3600 seconds. Default 0. */
  double link_bytes_per_second; /**< Bandwidth of the link of a rank; 0, the default: not limited. */
  int64_t damaged_message;      /**< Number of the message of this rank that is damaged, from 1; 0: none. */
};

/** @brief Defaults of lpt_comm_emulation: nothing is emulated. */
#define LPT_COMM_EMULATION_INIT \
  { sizeof(lpt_comm_emulation), 0.0, 0.0, 0 }

#ifdef __cplusplus
}
#endif

#endif
