/**
 * @file sparse.h
 * @brief N:M sparse masks, and matrices compressed by them.
 */
#ifndef LPT_SPARSE_H
#define LPT_SPARSE_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which numbers of a group stay, and what becomes of them; one of lpt_sparse_rule_values. */
typedef int32_t lpt_sparse_rule;

/** @brief Values of lpt_sparse_rule. N numbers of a group of M stay. */
enum lpt_sparse_rule_values {
  LPT_SPARSE_RULE_MAGNITUDE = 0, /**< The N largest magnitudes, as they are: the least squared error. For weights. */
  /**
   * Drawn, so that the mean of what stays is the source, with the least variance (MVUE): number i stays with the
   * probability p = min(1, c · |x_i|), c such that these sum to N, and becomes x_i / p. For gradients.
   */
  LPT_SPARSE_RULE_MVUE = 1,
  /**
   * The same by two draws one after the other (approximate MVUE): N is 2. The mean is the source, the variance up to
   * twice MVUE's. What most published code does.
   */
  LPT_SPARSE_RULE_MVUE_TWO_DRAWS = 2,
  /** The N largest magnitudes, each less the largest that goes: sign(x) · (|x| - t), continuous in x (S-STE). */
  LPT_SPARSE_RULE_SOFT_THRESHOLD = 3
};

/** @brief Along which axis M neighbours make a group; one of lpt_sparse_direction_values. */
typedef int32_t lpt_sparse_direction;

/** @brief Values of lpt_sparse_direction. */
enum lpt_sparse_direction_values {
  LPT_SPARSE_DIRECTION_ROW = 0,    /**< M neighbours of a row, columns M·j to M·j + M - 1. */
  LPT_SPARSE_DIRECTION_COLUMN = 1, /**< M neighbours of a column. */
  /** Transposable: in each M × M tile every row and every column keeps N. Rule MAGNITUDE only. */
  LPT_SPARSE_DIRECTION_BOTH = 2
};

/** @brief How a transposable mask is found; one of lpt_sparse_solver_values. */
typedef int32_t lpt_sparse_solver;

/** @brief Values of lpt_sparse_solver. */
enum lpt_sparse_solver_values {
  LPT_SPARSE_SOLVER_AUTO = 0,   /**< EXACT below M = 8 and where N < M / 2, else SEARCH. */
  LPT_SPARSE_SOLVER_EXACT = 1,  /**< The largest sum of kept magnitudes: all patterns for 2:4, else min-cost flow. */
  LPT_SPARSE_SOLVER_GREEDY = 2, /**< From the largest down, kept while its row and its column have room. */
  LPT_SPARSE_SOLVER_SEARCH = 3, /**< GREEDY, then the lines that are short are filled, then swaps while any helps. */
  /**
   * From the smallest up, dropped while its row or its column has fewer than M - N dropped: the published linear-time
   * 2-approximation. Lines may keep fewer than N.
   */
  LPT_SPARSE_SOLVER_PRUNE = 4,
  LPT_SPARSE_SOLVER_ENTROPY = 5 /**< Entropy-regularized transport, rounded as SEARCH does (TSENOR). */
};

/** @brief How to select. */
typedef struct lpt_sparse_options {
  size_t struct_size;             /**< sizeof(lpt_sparse_options) of the caller. */
  uint64_t flags;                 /**< LPT_CHECK_ONLY. */
  int32_t kept;                   /**< N: how many of a group stay, 1 to `of` - 1. */
  int32_t of;                     /**< M: how many make a group, 2 to 32. */
  lpt_sparse_rule rule;           /**< Which ones. */
  lpt_sparse_direction direction; /**< Where groups lie. */
  lpt_sparse_solver solver;       /**< For LPT_SPARSE_DIRECTION_BOTH. */
  int32_t iterations;             /**< Of ENTROPY, up to 10000; 0: 200. */
  double sharpness;               /**< Of ENTROPY: magnitudes are multiplied by it / the tile's largest; 0: 40. */
  lpt_random random;              /**< For the MVUE rules; one draw per group. */
  int32_t philox_rounds;          /**< 7, or 10. */
  int32_t reserved;               /**< 0. */
  /**
   * Vector of f32, one per column, none negative: magnitudes count times it, as where inputs differ in size. Rule
   * MAGNITUDE, directions ROW and BOTH; NULL: all 1.
   */
  const lpt_tensor *importance;
} lpt_sparse_options;

/** @brief Defaults of lpt_sparse_options. */
#define LPT_SPARSE_OPTIONS_INIT                                                                                       \
  {                                                                                                                   \
    sizeof(lpt_sparse_options), 0, 2, 4, LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_SOLVER_AUTO, \
        0, 0.0, LPT_RANDOM_INIT, 7, 0, NULL                                                                           \
  }

/**
 * @brief Writes the defaults of LPT_SPARSE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_sparse_options_init(lpt_sparse_options *options, size_t struct_size);

/** @brief What a selection did, over all numbers that are finite. */
typedef struct lpt_sparse_info {
  size_t struct_size;     /**< sizeof(lpt_sparse_info) of the caller. */
  int64_t element_count;  /**< Numbers of the source. */
  int64_t kept_count;     /**< Those that stay. */
  int64_t special_groups; /**< Groups (tiles, for BOTH) with a NaN, an infinity, or magnitudes that sum past f32. */
  double energy;          /**< Sum of squares of the source. */
  double kept_energy;     /**< The part of it that stays. */
  double variance;        /**< Expected squared error of the MVUE rules; 0 for the others. */
} lpt_sparse_info;

/** @brief Defaults of lpt_sparse_info. */
#define LPT_SPARSE_INFO_INIT \
  { sizeof(lpt_sparse_info), 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_SPARSE_INFO_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_sparse_info_init(lpt_sparse_info *values, size_t struct_size);

/**
 * @brief Selects N of every M numbers.
 *
 * Shapes    source, mask and masked are rows × columns, of any extents; a last group that is short counts as filled up
 *           with zeros, which are never kept for a number: it keeps at most N.
 * Formats   source f64, f32, bf16, f16 (f64 is rounded to f32 first); mask uint8, 1 where a number stays, else 0; masked
 *           f32, or the source's format: what stays, zero elsewhere, rounded to nearest even.
 * Ties      the lower index stays (along the row, or down the column; for BOTH see docs/guides/sparsity.md).
 * Specials  NaN counts as larger than infinity, and so stays and is seen. The MVUE rules keep a group that holds one,
 *           or whose magnitudes sum past f32, as MAGNITUDE does. Zeros fill a group that has fewer than N other numbers.
 * Random    groups are counted over the whole tensor, rows first: group g of row r draws at r · (groups of a row) + g, that
 *           of rows M·g and on in column c at g · columns + c. A shard that begins with a group draws what the whole draws.
 * Source    Chmiel et al., arXiv 2203.10991 (MVUE); Hubara et al., arXiv 2102.08124 (transposable); Meng et al., arXiv
 *           2505.23949 (ENTROPY); Hu et al., arXiv 2404.01847 and 2409.09099 (2:4 training, soft threshold).
 *
 * @param context the context.
 * @param source borrowed.
 * @param options NULL for the defaults: 2:4 along rows by magnitude.
 * @param mask written; NULL: not wanted.
 * @param masked written; may be the source itself; NULL: not wanted.
 * @param out_info its `struct_size` is set by the caller; written; NULL: not wanted (it costs another pass).
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_sparse_mask_select(lpt_context *context, const lpt_tensor *source,
                                          const lpt_sparse_options *options, lpt_tensor *mask, lpt_tensor *masked,
                                          lpt_sparse_info *out_info);

/**
 * @brief Counts the groups of a mask that keep more than N of M.
 * @param context the context.
 * @param mask borrowed; uint8, what is not 0 stays.
 * @param kept N, 1 to `of`.
 * @param of M, 2 to 32.
 * @param direction ROW, COLUMN, or BOTH: groups of rows and of columns.
 * @param out_count returned: 0 for a mask that N:M hardware and lpt_sparse_compress() take.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_check(lpt_context *context, const lpt_tensor *mask, int32_t kept, int32_t of,
                                         lpt_sparse_direction direction, int64_t *out_count);

/**
 * @brief Counts where two masks differ: the flips since the last selection.
 * @param context the context.
 * @param mask borrowed; uint8.
 * @param other borrowed; uint8, the same shape.
 * @param out_count returned: numbers that stay by one mask only.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_compare(lpt_context *context, const lpt_tensor *mask, const lpt_tensor *other,
                                           int64_t *out_count);

/**
 * @brief Applies a mask: output = source where the mask is not 0, else 0.
 * @param context the context.
 * @param source borrowed; f64, f32, bf16 or f16.
 * @param mask borrowed; uint8, the same shape.
 * @param output written; the source's format and shape; may be the source itself.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_apply(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                         lpt_tensor *output);

/**
 * @brief Masked decay: gradient += rate · weight where the mask is 0, so that what is dropped fades and masks settle.
 * @param context the context.
 * @param weight borrowed; f32, bf16 or f16.
 * @param mask borrowed; uint8, the same shape.
 * @param rate finite; 2e-4 is usual.
 * @param gradient f32, the same shape; changed: one product and one sum, each rounded to f32.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_decay(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                         double rate, lpt_tensor *gradient);

/**
 * @brief Compresses a matrix that a 2:4 mask was applied to: of every four columns the two that stay are stored, and
 *        where they belong.
 *
 * Shapes    source, mask and compressed are rows × columns, transposed is columns × rows. Any number of columns: a last
 *           group that is short counts as filled up with zeros.
 * Formats   source any format whose code 0 is zero, without zero points; compressed the same
 *           with /2:4 behind its name. Its payload has 2 · (columns / 4, rounded up) columns, its indices a byte per 8
 *           columns: 4 bits per group, the first group lowest; in them two positions of 2 bits, the lower one first and
 *           lowest. Legal are 0x4, 0x8, 0x9, 0xC, 0xD, 0xE; half a byte without a group is 0x4. Scales are the source's.
 * Fewer     A group that keeps fewer than two stores its lowest other positions with what the mask leaves there:
 *           code 0. The same matrix and mask always give the same bytes.
 * Order     quantize first, then compress: scales come from the numbers that stay if the source was masked.
 *
 * @param context the context.
 * @param source borrowed; dense codes. What the mask drops is not looked at.
 * @param mask borrowed; uint8, at most two of every four along rows (with `transposed`, along columns as well); NULL: what
 *        is not zero stays.
 * @param compressed written; NULL: not wanted.
 * @param transposed written; the source's columns as rows. For formats whose scales do not depend on the direction (none, a
 *        tensor scale, square blocks); NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also where a group keeps more than two: the text names it; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_sparse_compress(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                       lpt_tensor *compressed, lpt_tensor *transposed);

/**
 * @brief Writes a compressed matrix out: the inverse of lpt_sparse_compress(), zeros where nothing is stored.
 * @param context the context.
 * @param compressed borrowed; a 2:4 format.
 * @param output written; the same format without /2:4, the same shape.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also where an index is not legal: the text names it; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_sparse_decompress(lpt_context *context, const lpt_tensor *compressed, lpt_tensor *output);

#ifdef __cplusplus
}
#endif

#endif
