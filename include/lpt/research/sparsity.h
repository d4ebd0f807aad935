/**
 * @file sparsity.h
 * @brief Research: counts, choice, absorption and order of N:M sparse masks.
 */
#ifndef LPT_RESEARCH_SPARSITY_H
#define LPT_RESEARCH_SPARSITY_H

#include "../common.h"
#include "../sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How masks are counted; one of lpt_sparse_count_values. */
typedef int32_t lpt_sparse_count;

/** @brief Values of lpt_sparse_count. */
enum lpt_sparse_count_values {
  LPT_SPARSE_COUNT_EXACT = 0, /**< As many as there are; direction BOTH up to M = 8. */
  LPT_SPARSE_COUNT_PUBLISHED =
      1 /**< For BOTH the formula of arXiv 2102.08124, M! · (M - 1)! … (M - N + 1)!: too many. */
};

/**
 * @brief Counts the masks that a pattern allows: its diversity.
 * @param context the context.
 * @param kept N, 1 to `of`.
 * @param of M, 2 to 32.
 * @param direction ROW and COLUMN are alike; BOTH.
 * @param count how to count.
 * @param out_bits returned: the logarithm to base 2 of the number of masks, divided by the number of elements.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for exact counts of BOTH beyond M = 8.
 */
LPT_API lpt_status lpt_sparse_diversity(lpt_context *context, int32_t kept, int32_t of, lpt_sparse_direction direction,
                                        lpt_sparse_count count, double *out_bits);

/**
 * @brief Chooses N for a model that was pruned without a pattern: the least N for which a group of M has M - N zeros or more
 *        with at least the probability asked for, zeros being independent.
 * @param context the context.
 * @param zero_share how many of the weights are zero, 0 to 1.
 * @param of M, 2 to 32.
 * @param confidence the probability, above 0 and below 1; 0.95 is the published one.
 * @param out_kept returned: N, `of` where no pattern fits.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_choose_kept(lpt_context *context, double zero_share, int32_t of, double confidence,
                                          int32_t *out_kept);

/**
 * @brief Mean absorption: masks a weight, and adds to each number that stays the mean of what its group drops, sum / kept.
 *        Groups keep their sums. In f32, from the first number of a group to the last.
 * @param context the context.
 * @param source borrowed; f64, f32, bf16 or f16.
 * @param mask borrowed; uint8, the same shape.
 * @param of M, 2 to 32.
 * @param direction ROW or COLUMN.
 * @param output written; f32 or the source's format, the same shape; may be the source itself.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_sparse_absorb(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask, int32_t of,
                                     lpt_sparse_direction direction, lpt_tensor *output);

/**
 * @brief Orders the input columns of a weight so that an N:M mask along rows keeps more of its energy: columns change places
 *        while that helps.
 *
 * Begins with the given order or with columns dealt to groups by their norms, whichever keeps more, then tries pairs of
 * columns drawn at random. The order goes to lpt_weights_options as `input_order`, or to whoever makes the inputs.
 *
 * @param context the context.
 * @param weight borrowed; f64, f32, bf16 or f16.
 * @param options `kept`, `of`, `iterations` (pairs to try, 0: 20 for each column) and `random` count; the rule is MAGNITUDE,
 *        the direction ROW; NULL for the defaults.
 * @param order written; one number per column: which column of the weight comes here.
 * @param out_info energies with the columns in this order; its `struct_size` is set by the caller; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_sparse_order(lpt_context *context, const lpt_tensor *weight, const lpt_sparse_options *options,
                                    int32_t *order, lpt_sparse_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
