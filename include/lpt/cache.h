/**
 * @file cache.h
 * @brief A store of the keys and values of attention, for inference.
 */
#ifndef LPT_CACHE_H
#define LPT_CACHE_H

#include "common.h"
#include "format.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of lpt_kv_cache_create(). */
typedef struct lpt_kv_cache_options {
  size_t struct_size;            /**< sizeof(lpt_kv_cache_options) of the caller. */
  lpt_flags flags;               /**< Must be 0. */
  int64_t batches;               /**< Sequences, at least 1. Default 1. */
  int64_t key_heads;             /**< Heads of keys and values, at least 1. Default 0: it must be set. */
  int64_t capacity;              /**< Largest number of positions of a batch, at least 1. Default 0: it must be set. */
  int64_t key_width;             /**< Elements of a key, at least 1. Default 0: it must be set. */
  int64_t value_width;           /**< Elements of a value. Default 0: `key_width`. */
  lpt_format key_format;         /**< Format of keys. Default bf16. */
  lpt_format value_format;       /**< Format of values. Default NONE: `key_format`. */
  lpt_scale_rule key_scale_rule; /**< Rule of the block scales of keys. */
  lpt_scale_rule value_scale_rule; /**< Rule of the block scales of values. */
  double key_scale;   /**< Tensor scale of keys, a normal f32 number; 1 for formats without one. Default 1. */
  double value_scale; /**< Tensor scale of values, likewise. Default 1. */
} lpt_kv_cache_options;

/** @brief Defaults of lpt_kv_cache_options. */
#define LPT_KV_CACHE_OPTIONS_INIT                                                                             \
  {                                                                                                           \
    sizeof(lpt_kv_cache_options), 0, 1, 0, 0, 0, 0, LPT_FORMAT_BF16, LPT_FORMAT_NONE, LPT_SCALE_RULE_DEFAULT, \
        LPT_SCALE_RULE_DEFAULT, 1.0, 1.0                                                                      \
  }

/**
 * @brief Creates an empty store of keys and values.
 *
 * Shapes    Keys are batches × key heads × capacity × key width, and values likewise. Each batch has a length: the number
 *           of its first positions that are stored.
 *
 * Formats   Formats of numbers that are not 2:4 and whose blocks, if any, are one row high. A position of a head is a row:
 *           int8_row and e4m3fn_row have one scale per position and head. A tensor scale is that of the options, because
 *           appended rows must not change stored rows.
 *
 * Device    The memory is on the context's device. A GPU does not support formats that have no code for a NaN and no block
 *           scale, such as int8_tensor.
 *
 * Threads   One thread uses a cache at a time. Views may be read by others while no call changes the cache.
 *
 * @param[in]  options    Must not be NULL.
 * @param[out] out_cache  Destroy it with lpt_kv_cache_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is not a format or out of range. A tensor has more than 2^56
 *                               elements. A scale is given for a format without a tensor scale.
 * @retval LPT_UNSUPPORTED       A format is not listed above, a rule is not one of its scales, or `flags` is not 0.
 * @retval LPT_WORK_FAILED       On a GPU, work on the stream failed.
 */
LPT_API lpt_status lpt_kv_cache_create(lpt_context *context, const lpt_kv_cache_options *options,
                                       lpt_kv_cache **out_cache);

/**
 * @brief Destroys a store of keys and values.
 *
 * Ownership Tensors of lpt_kv_cache_view() remain valid.
 *
 * @param[in] cache  NULL is allowed.
 */
LPT_API void lpt_kv_cache_destroy(lpt_kv_cache *cache);

/**
 * @brief Casts keys and values to the formats of the cache, and appends them to its batches.
 *
 * A row has the bytes that lpt_quantize() with the rule of the cache and LPT_QUANTIZE_KEEP_TENSOR_SCALE gives for this row
 * alone. They do not depend on how the positions are divided into calls.
 *
 * Shapes    Batches × key heads × positions × width, of which the first, or the first two axes may be missing. Axes other
 *           than the last may have any strides, as in lpt_attention_forward().
 *
 * Formats   `keys` and `values` are f64, f32, bf16 or f16.
 *
 * Rounding  To nearest even; values beyond the largest code become that code, as lpt_quantize() does by default.
 *
 * Device    On a GPU the casts are queued.
 *
 * @param[in,out] cache   Lengths and stored positions are unchanged if the call fails.
 * @param[in]     keys    New keys. No overlap with the memory of the cache.
 * @param[in]     values  New values, with the positions of `keys`. No overlap with the memory of the cache.
 * @param[in]     counts  The number of new positions of each batch, 0 to positions: a vector of int32 or int64 in CPU
 *                        memory. A batch appends its last positions, because `is_causal` of lpt_attention_options aligns
 *                        the last query with the last key. NULL: all positions.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, a count is out of range, or a batch would exceed the capacity. A tensor
 *                               overlaps the cache, or the cache is on another device. An element is NaN, and its format
 *                               has neither a code for it nor block scales.
 * @retval LPT_UNSUPPORTED       A format is not listed above, elements of a row are not adjacent, or no kernel of the
 *                               device supports a cast.
 * @retval LPT_CANCELLED         The progress callback canceled the call.
 * @retval LPT_WORK_FAILED       On a GPU, the casts cannot be queued.
 */
LPT_API lpt_status lpt_kv_cache_append(lpt_context *context, lpt_kv_cache *cache, const lpt_tensor *keys,
                                       const lpt_tensor *values, const lpt_tensor *counts);

/**
 * @brief Drops the last positions of batches, as speculative decoding does with tokens that are not accepted.
 *
 * @param[in,out] cache    The cache.
 * @param[in]     lengths  The new length of each batch, 0 to its length: a vector of int32 or int64 in CPU memory. NULL: 0.
 * @retval LPT_INVALID_ARGUMENT  `lengths` has another number of elements, or one is out of range; nothing is changed.
 */
LPT_API lpt_status lpt_kv_cache_truncate(lpt_context *context, lpt_kv_cache *cache, const lpt_tensor *lengths);

/**
 * @brief Replaces each batch by a copy of a batch, as beam search does with the beams that continue.
 *
 * Only stored positions are copied. A permutation with a cycle takes scratch memory for one batch.
 *
 * Device    On a GPU the copies are queued.
 *
 * @param[in,out] cache    Undefined if the call returns LPT_WORK_FAILED.
 * @param[in]     batches  The batch that each batch becomes a copy of, 0 to batches - 1: a vector of int32 or int64 in CPU
 *                         memory. A batch may be named several times.
 * @retval LPT_INVALID_ARGUMENT  `batches` has another number of elements, one is out of range, or the cache is on another
 *                               device; nothing is changed.
 * @retval LPT_WORK_FAILED       On a GPU, a copy cannot be queued.
 */
LPT_API lpt_status lpt_kv_cache_select(lpt_context *context, lpt_kv_cache *cache, const lpt_tensor *batches);

/**
 * @brief Creates tensors of the memory of a cache: operands of lpt_attention_forward().
 *
 * `out_lengths` is `key_lengths` of lpt_attention_options. Rows from the length of a batch to the capacity are undefined.
 *
 * Overlap   The tensors are read-only and use the memory of the cache: they show later changes of it.
 *
 * Ownership The memory lives as long as the cache or one of the tensors.
 *
 * @param[in]  cache        The cache.
 * @param[out] out_keys     Batches × key heads × capacity × key width. Destroy it with lpt_tensor_destroy().
 * @param[out] out_values   Batches × key heads × capacity × value width. Destroy it with lpt_tensor_destroy().
 * @param[out] out_lengths  The length of each batch: a vector of int64 in CPU memory. Destroy it with lpt_tensor_destroy().
 */
LPT_API lpt_status lpt_kv_cache_view(lpt_context *context, const lpt_kv_cache *cache, lpt_tensor **out_keys,
                                     lpt_tensor **out_values, lpt_tensor **out_lengths);

/**
 * @brief Returns the number of bytes of the keys and values of all positions up to the capacity, with their scales.
 *
 * @param[in]  cache           The cache.
 * @param[out] out_size_bytes  Number of bytes: the sum of lpt_tensor_size() of its keys and values.
 */
LPT_API lpt_status lpt_kv_cache_size(lpt_context *context, const lpt_kv_cache *cache, size_t *out_size_bytes);

#ifdef __cplusplus
}
#endif

#endif
