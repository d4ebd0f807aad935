/**
 * @file weights.h
 * @brief Weights packed for repeated GEMM, and their saved state.
 */
#ifndef LPT_WEIGHTS_H
#define LPT_WEIGHTS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What of packed weights is stored; one of lpt_weights_storage_values. */
typedef int32_t lpt_weights_storage;

/** @brief Values of lpt_weights_storage. */
enum lpt_weights_storage_values {
  LPT_WEIGHTS_STORAGE_ALL = 0, /**< Every element. */
  LPT_WEIGHTS_STORAGE_BITMASK =
      1, /**< Weights of any pattern: what is not zero, and a bit for each place. See below. */
  LPT_WEIGHTS_STORAGE_BLOCK_SPARSE = 2 /**< Tiles that hold anything but zeros. See below. */
};

/** @brief How to pack weights. */
typedef struct lpt_weights_options {
  size_t struct_size; /**< sizeof(lpt_weights_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
  const int32_t
      *output_order; /**< n numbers, each of 0 to n - 1 once: row j of the packed weights is row output_order[j].
                                    Put here the order that the next layer's input wants, and no shuffle is left between
                                    them, on one rank or on many. NULL: as they are. */
  const int32_t *input_order;  /**< k numbers, likewise for the columns; blocks of scales along k must stay whole. */
  lpt_weights_storage storage; /**< What of them is stored. */
  int32_t tile_rows;           /**< With BLOCK_SPARSE: a multiple of 32 up to 4096; 0: 64. Else 0. */
  int32_t tile_columns; /**< With BLOCK_SPARSE: a multiple of 4 and of blocks of scales along k, up to 4096; 0: 64, or
                                    one block where that is longer. Else 0. */
  int32_t reserved;     /**< 0. */
} lpt_weights_options;

/** @brief Defaults of lpt_weights_options. */
#define LPT_WEIGHTS_OPTIONS_INIT \
  { sizeof(lpt_weights_options), 0, NULL, NULL, LPT_WEIGHTS_STORAGE_ALL, 0, 0, 0 }

/**
 * @brief Lays out weights for products, once for many: the same codes and scales, in the order that kernels read.
 *
 * The result is a tensor for one use: as b of lpt_gemm() and its kin, with `is_b_transposed` 1. Its memory is opaque, but
 * the same on every CPU. Elements of at most 4 bits take 4, other ones below 8 bits take 8; rows are filled up to
 * multiples of 32. lpt_tensor_view() cuts it along rows, at multiples of 32 (of tile_rows) or at the end: the first rows of a
 * layer are a smaller layer, which shares its memory.
 *
 * `storage` leaves zeros out; lpt_tensor_size() tells what is left. BITMASK: elements of code 0, as which zeros of either sign are
 * packed; a bit is kept for each element of 8 bits or more, and for each byte of smaller ones. Unpacking gives back every
 * number, and products have the bits of ALL: they write out some rows at a time, where the caches hold them (load sparse,
 * compute dense, arXiv 2309.10285). BLOCK_SPARSE: tiles of tile_rows × tile_columns that are all zeros. Products leave them out, which
 * takes less time as well (arXiv 2408.11551): c differs from that of ALL by the order of its sums, and an infinity or a NaN
 * of a, or a NaN of a scale, that meets only such tiles may leave no trace. With LPT_GEMM_PORTABLE_ORDER it does, and nothing is
 * left out. See lpt_weights_order(). BLOCK_SPARSE takes formats whose code 0 is zero, without zero points.
 *
 * @param context whose threads and allocator are used.
 * @param weights n × k (output columns of the layer by input columns), or experts × n × k; of any format but f64; a 2:4 one is
 *        written out first: BITMASK takes the bytes of its 2:4 format.
 * @param options NULL for the defaults.
 * @param out_packed returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_weights_pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options,
                                    lpt_tensor **out_packed);

/**
 * @brief Orders the rows of weights so that fewer tiles hold anything but zeros: rows with the same tiles come to lie together.
 *
 * Each line of tiles begins with the row that has the most tiles among those left, and takes the row that adds the fewest, until
 * it is full; of equal ones that with more tiles, then the first. Where that is no gain rows stay as they are. n² comparisons.
 *
 * @param context the context.
 * @param weights n × k, of a format that BLOCK_SPARSE takes.
 * @param options tile_rows and tile_columns count; storage is BLOCK_SPARSE; NULL for tiles of the default sides.
 * @param order written; n numbers for `output_order`.
 * @param out_given_count returned: tiles to be stored with rows as they are; NULL: not wanted.
 * @param out_count returned: tiles to be stored in this order; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_weights_order(lpt_context *context, const lpt_tensor *weights,
                                     const lpt_weights_options *options, int32_t *order, int64_t *out_given_count,
                                     int64_t *out_count);

/**
 * @brief Writes packed weights as rows again, in the order that they were packed in: the inverse of lpt_weights_pack()
 *        without orders.
 * @param context the context.
 * @param packed from lpt_weights_pack().
 * @param weights written: the same format and extents; blocks of scales are one row high.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED where the format's blocks span rows.
 */
LPT_API lpt_status lpt_weights_unpack(lpt_context *context, const lpt_tensor *packed, lpt_tensor *weights);

/**
 * @brief Returns how many bytes lpt_weights_state_save() writes.
 * @param context the context.
 * @param packed from lpt_weights_pack(), or a view of it.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_weights_state_size(lpt_context *context, const lpt_tensor *packed, size_t *out_size_bytes);

/**
 * @brief Saves packed weights: portable, versioned, with a checksum.
 * @param context the context.
 * @param packed from lpt_weights_pack(), or a view of it.
 * @param buffer written.
 * @param buffer_bytes at least lpt_weights_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_weights_state_save(lpt_context *context, const lpt_tensor *packed, void *buffer,
                                          size_t buffer_bytes);

/**
 * @brief Makes packed weights of a saved state.
 * @param context whose allocator is used.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @param out_packed returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_weights_state_load(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                          lpt_tensor **out_packed);

#ifdef __cplusplus
}
#endif

#endif
