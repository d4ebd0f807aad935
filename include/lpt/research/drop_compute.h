/**
 * @file drop_compute.h
 * @brief Research: thresholds at which slow ranks stop a step of data-parallel training (DropCompute, arXiv 2306.10598).
 *
 * A step has M micro-batches on each of R ranks, then a reduction of the gradients. A rank that reaches the threshold
 * stops and goes to the reduction. The caller measures the times, with the clock of its device, and rescales the sum
 * of the gradients: docs/guides/distributed.md has the loop. The functions only compute.
 *
 * Bits      Results are functions of the arguments. Ranks that gather the times of all ranks get the same threshold.
 */
#ifndef LPT_RESEARCH_DROP_COMPUTE_H
#define LPT_RESEARCH_DROP_COMPUTE_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief A threshold, and the speed that it gives.
 *
 * The slowest rank takes the time T for its micro-batches. A step takes T + serial_seconds; with the threshold t it
 * takes min(T, t) + serial_seconds.
 */
typedef struct lpt_drop_compute_info {
  size_t struct_size; /**< sizeof(lpt_drop_compute_info) of the caller. */
  /** Time after the begin of a step at which a rank stops; infinity if no threshold makes the ranks faster. */
  double threshold_seconds;
  double full_seconds;  /**< Mean time of a step without the threshold. */
  double step_seconds;  /**< Mean time of a step with the threshold. */
  double kept_fraction; /**< Mean fraction of the micro-batches that end at the threshold or before it. */
  double speedup;       /**< Ratio of micro-batches per second: kept_fraction · full_seconds / step_seconds. */
} lpt_drop_compute_info;

/** @brief Defaults of lpt_drop_compute_info. */
#define LPT_DROP_COMPUTE_INFO_INIT \
  { sizeof(lpt_drop_compute_info), 0.0, 0.0, 0.0, 0.0, 0.0 }

/**
 * @brief Finds the threshold with the maximum speedup from measured times, or computes the speedup of a threshold.
 *
 * It is the estimator to prefer, since it assumes no distribution. The search compares 200 thresholds in equal
 * distances, from the shortest time of a first micro-batch to the longest time of a step. A rank should be able to stop
 * within a micro-batch, for example between forward and backward. Otherwise steps take longer than step_seconds.
 *
 * @param[in]  seconds            Time of each micro-batch, [ranks][steps][micro_batches], 0 to 1e9. No rank stopped.
 * @param[in]  ranks              1 to 1048576.
 * @param[in]  steps              1 to 1048576.
 * @param[in]  micro_batches      Micro-batches per rank and step, 1 to 4096.
 * @param[in]  serial_seconds     Time of a step after the slowest rank has ended, such as the reduction; 0 to 1e9.
 * @param[in]  threshold_seconds  Up to 1e9; 0: the one with the maximum speedup.
 * @param[out] out_info           The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  An argument or a time is out of range, or all times are 0.
 */
LPT_API lpt_status lpt_drop_compute_fit(lpt_context *context, const double *seconds, int32_t ranks, int64_t steps,
                                        int32_t micro_batches, double serial_seconds, double threshold_seconds,
                                        lpt_drop_compute_info *out_info);

/**
 * @brief Finds the threshold with the maximum speedup for normal times, or computes the speedup of a threshold.
 *
 * Times of micro-batches are independent, and the sum of M times is normal. The slowest rank takes the mean of the
 * maximum of R sums, by the approximation of extreme value theory. For times with a heavy tail this mean is too small.
 * It is 6 % too small for log-normal times whose deviation is half their mean, with M = 12 and R = 192. Use
 * lpt_drop_compute_fit() where times can be measured.
 *
 * @param[in]  ranks              1 to 1048576.
 * @param[in]  micro_batches      Micro-batches per rank and step, 1 to 4096.
 * @param[in]  mean_seconds       Mean time of a micro-batch, 1e-15 to 1e9.
 * @param[in]  deviation_seconds  Standard deviation of this time, 0 to 1e9.
 * @param[in]  serial_seconds     As for lpt_drop_compute_fit().
 * @param[in]  threshold_seconds  As for lpt_drop_compute_fit().
 * @param[out] out_info           The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 */
LPT_API lpt_status lpt_drop_compute_estimate(lpt_context *context, int32_t ranks, int32_t micro_batches,
                                             double mean_seconds, double deviation_seconds, double serial_seconds,
                                             double threshold_seconds, lpt_drop_compute_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
