/**
 * @file sparse.h
 * @brief N:M sparse masks, and 2:4 matrices compressed by them.
 *
 * A group is M adjacent elements of a row or a column. An N:M mask keeps at most N elements of each group.
 *
 * Device    Functions without a Device paragraph run on the CPU only and return LPT_UNSUPPORTED for tensors of a GPU.
 */
#ifndef LPT_SPARSE_H
#define LPT_SPARSE_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which elements of a group are kept, and their new values; one of lpt_sparse_rule_values. */
typedef int32_t lpt_sparse_rule;

/**
 * @brief Values of lpt_sparse_rule.
 *
 * N elements of a group of M are kept.
 */
enum lpt_sparse_rule_values {
  LPT_SPARSE_RULE_MAGNITUDE = 0, /**< The N largest magnitudes, unchanged: the minimal squared error. For weights. */
  /**
   * Random, unbiased, with minimal variance (MVUE). Element i is kept with probability p = min(1, c · |x_i|) and
   * becomes x_i / p; c makes the probabilities sum to N. For gradients.
   */
  LPT_SPARSE_RULE_MVUE = 1,
  /**
   * Approximate MVUE: two successive draws, N is 2. Unbiased; the variance is up to twice that of MVUE. Most published
   * code uses this rule.
   */
  LPT_SPARSE_RULE_MVUE_TWO_DRAWS = 2,
  /**
   * The N largest magnitudes, each reduced by the largest dropped one, t: sign(x) · (|x| - t). Continuous in x (S-STE).
   */
  LPT_SPARSE_RULE_SOFT_THRESHOLD = 3
};

/** @brief Axis along which M adjacent elements form a group; one of lpt_sparse_direction_values. */
typedef int32_t lpt_sparse_direction;

/** @brief Values of lpt_sparse_direction. */
enum lpt_sparse_direction_values {
  LPT_SPARSE_DIRECTION_ROW = 0,    /**< M elements of a row: columns M·j to M·j + M - 1. */
  LPT_SPARSE_DIRECTION_COLUMN = 1, /**< M elements of a column: rows M·j to M·j + M - 1. */
  /** Transposable: each row and each column of an M × M tile keeps N. Rule MAGNITUDE only. */
  LPT_SPARSE_DIRECTION_BOTH = 2
};

/** @brief Algorithm that selects a transposable mask; one of lpt_sparse_solver_values. */
typedef int32_t lpt_sparse_solver;

/** @brief Values of lpt_sparse_solver. */
enum lpt_sparse_solver_values {
  LPT_SPARSE_SOLVER_AUTO = 0,  /**< EXACT where M < 8 or N < M / 2, else SEARCH. */
  LPT_SPARSE_SOLVER_EXACT = 1, /**< Maximal sum of kept magnitudes: all patterns for 2:4, else min-cost flow. */
  /** Keeps elements in descending order while the row and the column keep fewer than N. */
  LPT_SPARSE_SOLVER_GREEDY = 2,
  /** GREEDY, then completes rows and columns with fewer than N, then exchanges elements while the sum grows. */
  LPT_SPARSE_SOLVER_SEARCH = 3,
  /**
   * Drops elements in ascending order while the row or the column has fewer than M - N dropped: the published
   * linear-time 2-approximation. Rows and columns may keep fewer than N.
   */
  LPT_SPARSE_SOLVER_PRUNE = 4,
  LPT_SPARSE_SOLVER_ENTROPY = 5 /**< Entropy-regularized transport, rounded as SEARCH does (TSENOR). */
};

/** @brief Options of lpt_sparse_mask_select(); lpt_sparse_order() and lpt_recipe_set_sparsity() use them too. */
typedef struct lpt_sparse_options {
  size_t struct_size;             /**< sizeof(lpt_sparse_options) of the caller. */
  lpt_flags flags;                /**< LPT_CHECK_ONLY or 0. */
  int32_t kept;                   /**< N: elements kept of a group, 1 to `of` - 1. Default 2. */
  int32_t of;                     /**< M: elements of a group, 2 to 32. Default 4. */
  lpt_sparse_rule rule;           /**< Which elements are kept. Default MAGNITUDE. */
  lpt_sparse_direction direction; /**< Axis of the groups. Default ROW. */
  lpt_sparse_solver solver;       /**< For direction BOTH; must be AUTO for the others. */
  /** For direction BOTH: iterations of ENTROPY, up to 10000; 0: 200. Must be 0 for the others. */
  int32_t iterations;
  /**
   * For direction BOTH: ENTROPY scales magnitudes by sharpness / tile maximum. Up to 10000; 0: 40. Must be 0 for the
   * others.
   */
  double sharpness;
  lpt_random random;     /**< Random bits of the MVUE rules; one draw per group. */
  int32_t philox_rounds; /**< 7 or 10. Default 7. */
  int32_t reserved;      /**< Must be 0. */
  /**
   * Factors of magnitudes: vector of f32, one per column, at least 0; for inputs of different size. Rule MAGNITUDE,
   * direction ROW or BOTH. NULL: all 1.
   */
  const lpt_tensor *importance;
} lpt_sparse_options;

/** @brief Defaults of lpt_sparse_options. */
#define LPT_SPARSE_OPTIONS_INIT                                                                                       \
  {                                                                                                                   \
    sizeof(lpt_sparse_options), 0, 2, 4, LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_SOLVER_AUTO, \
        0, 0.0, LPT_RANDOM_INIT, 7, 0, NULL                                                                           \
  }

/** @brief Statistics of a selection; energies and the variance cover finite elements only. */
typedef struct lpt_sparse_info {
  size_t struct_size;    /**< sizeof(lpt_sparse_info) of the caller. */
  int64_t element_count; /**< Elements of the source. */
  int64_t kept_count;    /**< Elements that are kept. */
  /** Groups, or tiles with BOTH, with a NaN, an infinity, or magnitudes whose sum exceeds f32. */
  int64_t special_groups;
  double energy;      /**< Sum of squares of the source. */
  double kept_energy; /**< Sum of squares of the kept elements. */
  double variance;    /**< Expected squared error of the MVUE rules; 0 for the others. */
} lpt_sparse_info;

/** @brief Defaults of lpt_sparse_info. */
#define LPT_SPARSE_INFO_INIT \
  { sizeof(lpt_sparse_info), 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Selects N of every M elements, and writes the mask and the masked matrix.
 *
 * Shapes    `source`, `mask` and `masked` are rows × columns, of any extents. A short last group counts as filled with
 *           zeros. It keeps at most N of its elements.
 *
 * Formats   `source` is f64, f32, bf16 or f16; f64 is rounded to f32 first. `mask` is uint8: 1 where an element is
 *           kept, else 0. `masked` is f32 or the format of `source`: kept elements, zero elsewhere.
 *
 * Rounding  To nearest even, once.
 *
 * Ties      The lower index is kept, along the row or down the column. For BOTH see docs/guides/sparsity.md.
 *
 * Specials  NaN counts as larger than infinity, so it is kept. The MVUE rules keep a group with a NaN or an infinity as
 *           MAGNITUDE does. The same holds where magnitudes sum past f32. Zeros complete a group that has fewer than N
 *           other elements.
 *
 * Random    Groups are numbered over the full tensor, row by row. Group g of row r draws at index r · (groups of a row)
 *           + g. With COLUMN, the group of rows from M·g in column c draws at g · columns + c. A shard that begins on a
 *           group draws the bits of the full tensor.
 *
 * Device    CPU and GPU. On a GPU `source` is f32, bf16 or f16, and values of `importance` are not checked. With
 *           `out_info` the call waits for the stream.
 *
 * Overlap   `masked` may be `source` in the same format and layout. No other overlap is allowed.
 *
 * Source    Chmiel et al., arXiv 2203.10991 (MVUE). Hubara et al., arXiv 2102.08124 (transposable). Meng et al., arXiv
 *           2505.23949 (ENTROPY). Hu et al., arXiv 2404.01847 and 2409.09099 (2:4 training, soft threshold).
 *
 * @param[in]  source    Rows × columns.
 * @param[in]  options   NULL for the defaults: 2:4 along rows by magnitude.
 * @param[out] mask      NULL: not computed.
 * @param[out] masked    NULL: not computed.
 * @param[out] out_info  The caller sets `struct_size`. NULL: not computed; it costs another pass.
 * @retval LPT_INVALID_ARGUMENT  All three outputs are NULL, shapes differ, or outputs overlap. A member of `options` is
 *                               out of range, or `solver`, `iterations` or `sharpness` is set without BOTH. An element
 *                               of `importance` is negative or NaN. `random.offset` does not begin on a group.
 * @retval LPT_UNSUPPORTED       BOTH with a rule other than MAGNITUDE, MVUE_TWO_DRAWS with N other than 2, or
 *                               `importance` with another rule or COLUMN. A format is not listed above.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; outputs are partly written.
 */
LPT_API lpt_status lpt_sparse_mask_select(lpt_context *context, const lpt_tensor *source,
                                          const lpt_sparse_options *options, lpt_tensor *mask, lpt_tensor *masked,
                                          lpt_sparse_info *out_info);

/**
 * @brief Counts the groups of a mask that keep more than N of M elements.
 *
 * @param[in]  mask       uint8; an element other than 0 is kept.
 * @param[in]  kept       N, 1 to `of`.
 * @param[in]  of         M, 2 to 32.
 * @param[in]  direction  ROW, COLUMN, or BOTH: groups of rows and groups of columns.
 * @param[out] out_count  0 for a mask that is valid for N:M hardware and lpt_sparse_compress().
 * @retval LPT_INVALID_ARGUMENT  `kept`, `of` or `direction` is out of range.
 * @retval LPT_UNSUPPORTED       `mask` is not uint8.
 */
LPT_API lpt_status lpt_sparse_mask_check(lpt_context *context, const lpt_tensor *mask, int32_t kept, int32_t of,
                                         lpt_sparse_direction direction, int64_t *out_count);

/**
 * @brief Counts the elements in which two masks differ: the flips since the last selection.
 *
 * @param[in]  mask       uint8.
 * @param[in]  other      uint8, the shape of `mask`.
 * @param[out] out_count  Elements that one mask keeps and the other drops.
 * @retval LPT_INVALID_ARGUMENT  The shapes differ.
 * @retval LPT_UNSUPPORTED       A mask is not uint8.
 */
LPT_API lpt_status lpt_sparse_mask_compare(lpt_context *context, const lpt_tensor *mask, const lpt_tensor *other,
                                           int64_t *out_count);

/**
 * @brief Applies a mask: output = source where the mask is not 0, else 0.
 *
 * Device    CPU and GPU; f64 on the CPU only.
 *
 * Overlap   `output` may be `source` in the same format and layout.
 *
 * @param[in]  source  f64, f32, bf16 or f16.
 * @param[in]  mask    uint8, the shape of `source`.
 * @param[out] output  f32 or the format of `source`, the shape of `source`.
 * @retval LPT_INVALID_ARGUMENT  The shapes differ, or `output` overlaps `mask` or a part of `source`.
 * @retval LPT_UNSUPPORTED       A format is not listed above.
 */
LPT_API lpt_status lpt_sparse_mask_apply(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                         lpt_tensor *output);

/**
 * @brief Adds masked decay: gradient += rate · weight where the mask is 0.
 *
 * Dropped weights decay to zero, so that masks become stable.
 *
 * Rounding  One multiplication and one addition, each rounded to f32.
 *
 * Device    CPU and GPU; f64 on the CPU only.
 *
 * @param[in]     weight    f64, f32, bf16 or f16.
 * @param[in]     mask      uint8, the shape of `weight`.
 * @param[in]     rate      Finite, magnitude at most 1e30; 2e-4 is usual.
 * @param[in,out] gradient  f32, the shape of `weight`; no overlap with `weight` or `mask`.
 * @retval LPT_INVALID_ARGUMENT  The shapes differ, `gradient` overlaps an input, or `rate` is out of range.
 * @retval LPT_UNSUPPORTED       A format is not listed above.
 */
LPT_API lpt_status lpt_sparse_mask_decay(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                         double rate, lpt_tensor *gradient);

/**
 * @brief Compresses a 2:4 matrix: stores the two kept columns of every four, and their indices.
 *
 * Shapes    `source`, `mask` and `compressed` are rows × columns, `transposed` is columns × rows. Any extents; a short
 *           last group counts as filled with zeros.
 *
 * Formats   `source` is any dense format whose code 0 is zero, without zero points. The outputs have the same format
 *           with suffix /2:4. The payload has 2 · ceil(columns / 4) columns, and scales are those of the source. The
 *           indices have one byte per 8 columns: 4 bits per group, the first group lowest. The 4 bits are two positions
 *           of 2 bits, in ascending order, the lower one in the low bits. Valid are 0x4, 0x8, 0x9, 0xC, 0xD and 0xE; 4
 *           bits without a group are 0x4.
 *
 * Padding   A group that keeps fewer than two stores its lowest other positions with code 0. The same matrix and mask
 *           always give the same bytes.
 *
 * Order     Quantize first, then compress. If the source was masked, its scales come from the kept elements.
 *
 * Device    CPU and GPU. On a GPU elements are f32, bf16, f16, e4m3fn, e5m2 or int8. The mask is not checked there: a
 *           group keeps its first two.
 *
 * @param[in]  source      Dense codes; codes that the mask drops are ignored.
 * @param[in]  mask        uint8, at most two of every four along rows; with `transposed` along columns too. NULL:
 *                         nonzero elements are kept.
 * @param[out] compressed  NULL: not computed.
 * @param[out] transposed  Compressed transpose of `source`. The format has no block scales, or square blocks. NULL: not
 *                         computed.
 * @retval LPT_INVALID_ARGUMENT  Both outputs are NULL, a format or shape does not match `source`, or tensors overlap. A
 *                               group keeps more than two elements; the text names it.
 * @retval LPT_UNSUPPORTED       `mask` is not uint8, or `transposed` is set and blocks of scales are not square.
 */
LPT_API lpt_status lpt_sparse_compress(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                       lpt_tensor *compressed, lpt_tensor *transposed);

/**
 * @brief Decompresses a 2:4 matrix: the inverse of lpt_sparse_compress(), with zeros where nothing is stored.
 *
 * Device    CPU and GPU. On a GPU elements are f32, bf16, f16, e4m3fn, e5m2 or int8, and indices are not checked.
 *
 * @param[in]  compressed  A 2:4 format.
 * @param[out] output      The same format without /2:4, the same shape; no overlap with `compressed`.
 * @retval LPT_INVALID_ARGUMENT  The format or shape of `output` does not match, tensors overlap, or an index is
 *                               invalid; the text names it.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports the format.
 */
LPT_API lpt_status lpt_sparse_decompress(lpt_context *context, const lpt_tensor *compressed, lpt_tensor *output);

#ifdef __cplusplus
}
#endif

#endif
