/**
 * @file sparsity.h
 * @brief Research: number, selection, absorption and column order of N:M sparse masks.
 *
 * Device    All functions run on the CPU only and return LPT_UNSUPPORTED for tensors of a GPU.
 */
#ifndef LPT_RESEARCH_SPARSITY_H
#define LPT_RESEARCH_SPARSITY_H

#include "../common.h"
#include "../sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Method that counts masks; one of lpt_sparse_count_values. */
typedef int32_t lpt_sparse_count;

/** @brief Values of lpt_sparse_count. */
enum lpt_sparse_count_values {
  LPT_SPARSE_COUNT_EXACT = 0, /**< Exact number; direction BOTH up to M = 8. */
  /** For BOTH the formula of arXiv 2102.08124, M! · (M - 1)! … (M - N + 1)!, which is too large. */
  LPT_SPARSE_COUNT_PUBLISHED = 1
};

/**
 * @brief Computes the number of masks that a pattern allows (its diversity), in bits per element.
 *
 * @param[in]  kept       N, 1 to `of`.
 * @param[in]  of         M, 2 to 32.
 * @param[in]  direction  ROW and COLUMN give the same result; BOTH.
 * @param[in]  count      Method; it matters for BOTH only.
 * @param[out] out_bits   Logarithm to base 2 of the number of masks, divided by the number of elements.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 * @retval LPT_UNSUPPORTED       An exact count of BOTH with M greater than 8.
 */
LPT_API lpt_status lpt_sparse_diversity(lpt_context *context, int32_t kept, int32_t of, lpt_sparse_direction direction,
                                        lpt_sparse_count count, double *out_bits);

/**
 * @brief Selects N for a model that was pruned without a pattern.
 *
 * The result is the minimal N for which a group of M has at least M - N zeros with a probability above `confidence`.
 * Zeros are assumed to be independent. N is at least 1.
 *
 * @param[in]  zero_share  Share of the weights that is zero, 0 to 1.
 * @param[in]  of          M, 2 to 32.
 * @param[in]  confidence  Probability, above 0 and below 1; the published value is 0.95.
 * @param[out] out_kept    N; `of` if no pattern fits.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range.
 */
LPT_API lpt_status lpt_sparse_choose_kept(lpt_context *context, double zero_share, int32_t of, double confidence,
                                          int32_t *out_kept);

/**
 * @brief Applies a mask, and adds the mean of the dropped elements of each group to its kept ones (mean absorption).
 *
 * A group with a kept element keeps its sum: each kept element gets the dropped sum divided by the number of kept
 * elements.
 *
 * Rounding  In f32, from the first element of a group to the last, then once to the format of `output`.
 *
 * Overlap   `output` may be `source` in the same format and layout.
 *
 * @param[in]  source     f64, f32, bf16 or f16.
 * @param[in]  mask       uint8, the shape of `source`.
 * @param[in]  of         M, 2 to 32.
 * @param[in]  direction  ROW or COLUMN.
 * @param[out] output     f32 or the format of `source`, the shape of `source`.
 * @retval LPT_INVALID_ARGUMENT  `of` or `direction` is out of range, shapes differ, or `output` overlaps `mask` or a
 *                               part of `source`.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_sparse_absorb(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask, int32_t of,
                                     lpt_sparse_direction direction, lpt_tensor *output);

/**
 * @brief Reorders the input columns of a weight so that an N:M mask along rows keeps more of its energy.
 *
 * It starts with the given order, or with columns distributed to groups by their norms, whichever keeps more. Then it
 * exchanges random pairs of columns where that increases the kept energy. Pass the order to lpt_weights_options as
 * `input_order`, or apply it where the inputs are computed. Squares that are not finite in f32 count as 0.
 *
 * Random    Pair i draws block i of the generator; `random.offset` has no effect.
 *
 * @param[in]  weight    f64, f32, bf16 or f16.
 * @param[in]  options   `kept`, `of`, `iterations` (pairs, at least 0; 0: 20 per column), `random` and `philox_rounds`.
 *                       Flags are 0, the rule is MAGNITUDE, the direction ROW, `importance` NULL. NULL for the
 *                       defaults.
 * @param[out] order     One element per column: the index of the weight's column at this position.
 * @param[out] out_info  Counts and energies with the columns in this order; the caller sets `struct_size`. NULL: not
 *                       computed.
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range.
 * @retval LPT_UNSUPPORTED       Flags, another rule or direction, or `importance` in `options`. A format is not listed
 *                               above, or the weight is on a GPU.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; `order` is unchanged.
 */
LPT_API lpt_status lpt_sparse_order(lpt_context *context, const lpt_tensor *weight, const lpt_sparse_options *options,
                                    int32_t *order, lpt_sparse_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
