/**
 * @file weights.h
 * @brief Weights packed for repeated GEMMs, and their saved state.
 */
#ifndef LPT_WEIGHTS_H
#define LPT_WEIGHTS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which elements of packed weights are stored; one of lpt_weights_storage_values. */
typedef int32_t lpt_weights_storage;

/** @brief Values of lpt_weights_storage. */
enum lpt_weights_storage_values {
  LPT_WEIGHTS_STORAGE_ALL = 0, /**< All elements. */
  /** Elements that are not zero, and a bitmask; for any pattern of zeros. See lpt_weights_pack(). */
  LPT_WEIGHTS_STORAGE_BITMASK = 1,
  LPT_WEIGHTS_STORAGE_BLOCK_SPARSE = 2 /**< Tiles with an element that is not zero. See lpt_weights_pack(). */
};

/** @brief Options of lpt_weights_pack() and lpt_weights_order(). */
typedef struct lpt_weights_options {
  size_t struct_size; /**< sizeof(lpt_weights_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY. */
  /**
   * Permutation of 0 to n - 1: row j of the packed weights is row `output_order[j]`; NULL: no permutation.
   *
   * With the order that the next layer's input needs, no shuffle remains between the layers, on one rank or on several.
   */
  const int32_t *output_order;
  /** Permutation of 0 to k - 1 of the columns; it keeps blocks of scales along k together. NULL: none. */
  const int32_t *input_order;
  lpt_weights_storage storage; /**< Which elements are stored. */
  int32_t tile_rows;           /**< BLOCK_SPARSE: a multiple of 32 up to 4096; 0: 64. Other storage: 0. */
  /**
   * BLOCK_SPARSE: a multiple of 4 and of the blocks of scales along k, up to 4096. Other storage: 0.
   *
   * 0 with BLOCK_SPARSE: 64, or one block of scales if that is longer.
   */
  int32_t tile_columns;
  int32_t reserved; /**< 0. */
} lpt_weights_options;

/** @brief Defaults of lpt_weights_options. */
#define LPT_WEIGHTS_OPTIONS_INIT \
  { sizeof(lpt_weights_options), 0, NULL, NULL, LPT_WEIGHTS_STORAGE_ALL, 0, 0, 0 }

/**
 * @brief Packs weights once for many GEMMs: the same codes and scales in the order that kernels read.
 *
 * The result serves as b of lpt_gemm() and related functions, with `is_b_transposed` 1. Its memory is opaque, but the
 * same on every CPU. Elements of at most 4 bits take 4 bits, other elements below 8 bits take 8. Rows are padded to a
 * multiple of 32.
 *
 * lpt_tensor_view() may select rows of packed weights. A view begins at a multiple of 32, or of `tile_rows`. It ends at
 * one too, or at the last row. The first rows of a layer form a smaller layer, which shares its memory.
 *
 * LPT_WEIGHTS_STORAGE_BITMASK omits elements of code 0; zeros of either sign are packed as code 0. The bitmask has a
 * bit for each element of 8 bits or more, and for each byte of smaller ones. lpt_weights_unpack() restores every
 * number, and GEMMs have the bits of LPT_WEIGHTS_STORAGE_ALL. They expand some rows at a time in the caches (arXiv
 * 2309.10285).
 *
 * LPT_WEIGHTS_STORAGE_BLOCK_SPARSE omits tiles of `tile_rows` × `tile_columns` that are all zero. GEMMs skip these
 * tiles, which saves time too (arXiv 2408.11551). c differs from that of LPT_WEIGHTS_STORAGE_ALL by the order of its
 * sums. An infinity or a NaN of a, or a NaN scale, may have no effect if it only belongs to omitted tiles. With
 * LPT_GEMM_PORTABLE_ORDER no tile is skipped. lpt_weights_order() finds an order with fewer tiles. lpt_tensor_size()
 * returns the stored bytes.
 *
 * Shapes    `weights` is n × k (output columns by input columns of the layer), or experts × n × k.
 *
 * Formats   Any format of numbers except f64. BLOCK_SPARSE requires that code 0 is zero, and has no zero points. A 2:4
 *           matrix is expanded first; with BITMASK it takes the bytes of its 2:4 format.
 *
 * Device    The CPU; `weights` are in its memory.
 *
 * Ownership The result shares no memory with `weights`.
 *
 * @param[in]  weights    The weights.
 * @param[in]  options    NULL: the defaults.
 * @param[out] out_packed Destroy it with lpt_tensor_destroy(). NULL with LPT_CHECK_ONLY.
 *
 * @retval LPT_INVALID_ARGUMENT `weights` has a wrong rank, an order is no permutation, or `input_order` mixes blocks of
 *                              scales. `storage`, `tile_rows` or `tile_columns` is out of range. An index of a 2:4
 *                              matrix is invalid.
 * @retval LPT_UNSUPPORTED      The format is not supported, blocks of scales span experts, or the weights are on a GPU.
 *                              Elements of a row are not adjacent.
 */
LPT_API lpt_status lpt_weights_pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options,
                                    lpt_tensor **out_packed);

/**
 * @brief Finds an order of the rows of weights for which fewer tiles have elements that are not zero.
 *
 * Each row of tiles begins with the row that has the most tiles among the remaining ones. It then takes the rows that
 * add the fewest tiles, until it is full. Of equal ones it takes that with more tiles, then the first. If the number of
 * tiles does not fall, the rows keep their order. The function takes n² comparisons.
 *
 * Shapes    `weights` is n × k.
 *
 * Formats   Those that BLOCK_SPARSE supports.
 *
 * Device    The CPU; `weights` are in its memory.
 *
 * @param[in]  weights         The weights.
 * @param[in]  options         Only `tile_rows` and `tile_columns` are used; `storage` is BLOCK_SPARSE, both orders are
 *                             NULL, `flags` is 0. NULL: tiles of the default size.
 * @param[out] order           Array of n numbers, for `output_order`.
 * @param[out] out_given_count Number of stored tiles without the order; may be NULL.
 * @param[out] out_count       Number of stored tiles with the order; may be NULL.
 *
 * @retval LPT_INVALID_ARGUMENT `weights` is no matrix, `storage` is not BLOCK_SPARSE, or a tile size is out of range.
 * @retval LPT_UNSUPPORTED      The format is not supported, an order or a flag is given, or the weights are on a GPU.
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 */
LPT_API lpt_status lpt_weights_order(lpt_context *context, const lpt_tensor *weights,
                                     const lpt_weights_options *options, int32_t *order, int64_t *out_given_count,
                                     int64_t *out_count);

/**
 * @brief Writes packed weights as rows, in their packed order.
 *
 * The function reverses lpt_weights_pack() without orders. It does not reverse `output_order` and `input_order`.
 *
 * Shapes    Both tensors have the same extents.
 *
 * Formats   Both tensors have the same format. Blocks of scales are one row high.
 *
 * Device    The CPU.
 *
 * @param[in]  packed  Result of lpt_weights_pack(), or a view of it.
 * @param[out] weights The rows.
 *
 * @retval LPT_INVALID_ARGUMENT `packed` is not packed weights, or formats or extents differ.
 * @retval LPT_UNSUPPORTED      Blocks of scales span rows, or elements of a row of `weights` are not adjacent.
 */
LPT_API lpt_status lpt_weights_unpack(lpt_context *context, const lpt_tensor *packed, lpt_tensor *weights);

/**
 * @brief Returns the number of bytes that lpt_weights_state_save() writes.
 *
 * @param[in]  packed         Result of lpt_weights_pack(), or a view of it.
 * @param[out] out_size_bytes Number of bytes.
 *
 * @retval LPT_INVALID_ARGUMENT `packed` is not packed weights.
 */
LPT_API lpt_status lpt_weights_state_size(lpt_context *context, const lpt_tensor *packed, size_t *out_size_bytes);

/**
 * @brief Saves packed weights.
 *
 * The state is portable, and holds a version and a checksum.
 *
 * @param[in]  packed       Result of lpt_weights_pack(), or a view of it.
 * @param[out] buffer       Receives lpt_weights_state_size() bytes.
 * @param[in]  buffer_bytes At least lpt_weights_state_size().
 *
 * @retval LPT_INVALID_ARGUMENT `packed` is not packed weights, or `buffer_bytes` is too small.
 */
LPT_API lpt_status lpt_weights_state_save(lpt_context *context, const lpt_tensor *packed, void *buffer,
                                          size_t buffer_bytes);

/**
 * @brief Creates packed weights from a saved state.
 *
 * Device    The memory is that of the CPU, from the context's allocator.
 *
 * @param[in]  buffer       Bytes of lpt_weights_state_save().
 * @param[in]  buffer_bytes Length of `buffer`.
 * @param[out] out_packed   Destroy it with lpt_tensor_destroy().
 *
 * @retval LPT_INVALID_STATE The state is truncated, damaged, or of another kind or version.
 */
LPT_API lpt_status lpt_weights_state_load(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                          lpt_tensor **out_packed);

#ifdef __cplusplus
}
#endif

#endif
