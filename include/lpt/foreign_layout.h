/**
 * @file foreign_layout.h
 * @brief Import and export of the memory layouts of other libraries.
 */
#ifndef LPT_FOREIGN_LAYOUT_H
#define LPT_FOREIGN_LAYOUT_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A memory layout of another library; one of lpt_foreign_layout_values. */
typedef int32_t lpt_foreign_layout;

/**
 * @brief Values of lpt_foreign_layout.
 *
 * docs/reference/foreign-layouts.md describes every byte. Rows follow each other without gaps.
 *
 * ggml: the number of columns is a multiple of 32. F32 scales become f16, and so does `m = -scale · zero point` of
 * Q4_1. Numbers that f16 does not hold are an error. The NaN scale of mxfp4 is an error too, because ggml reads it as
 * 2^128.
 *
 * bitsandbytes: a row that ends inside a byte is followed by the next row in the same byte. A spare half is 0.
 *
 * cuBLAS: scale (r, c) of a tile is at byte `(r mod 32) · 16 + (r / 32) · 4 + c`. Tiles follow row by row. Scales that
 * a tile has and the matrix has not are 0. The scale of a block of several rows is repeated in each of them. On import,
 * scales that differ within such a block are an error.
 *
 * mma.sp: the matrix is split into blocks of 16 × 64 elements. Each instruction has 32 lanes of 16 bytes of codes,
 * which are their four registers of operand A. It covers 16 × 32 elements of f16 and bf16, or 16 × 64 of e4m3fn, e5m2
 * and int8. Each block has 32 lanes of 4 bytes of metadata. For 16-bit elements, lanes 0 and 1 of each four hold that
 * of the block's first instruction (selector 0). Lanes 2 and 3 hold that of the second one (selector 1). Elements that
 * a block has and the matrix has not are code 0 with the indices 0x4, and are not read.
 *
 * CUTLASS: codes are unchanged. Metadata is as SparseGemm and the CUTLASS tensors of PyTorch read it. Its units of 16
 * bits (16-bit elements) or 32 bits (8-bit elements) are reordered. Rows are a multiple of 32 (16 for 8-bit elements),
 * columns of 64 (128).
 *
 * mma.sp and CUTLASS are for 2:4 formats with any scales. All codes come first, then all metadata. It begins at 8/9 of
 * the buffer for 16-bit elements, at 4/5 for 8-bit elements. Invalid indices are an error.
 */
enum lpt_foreign_layout_values {
  LPT_FOREIGN_LAYOUT_GGML = 1, /**< Blocks of ggml: int8_1x32 is Q8_0, int4_1x32 is Q4_0, mxfp4 is MXFP4. */
  /** Only the payload, of 4-bit elements: the first element of a byte is in its high half. */
  LPT_FOREIGN_LAYOUT_BITSANDBYTES = 2,
  LPT_FOREIGN_LAYOUT_CUBLAS_SCALES = 3, /**< Only the block scales, of one byte, for every row: tiles of 128 × 4. */
  LPT_FOREIGN_LAYOUT_GGML_Q4_1 = 4, /**< Blocks of ggml: uint4_1x32 is Q4_1; also imported to f32, f64, bf16 and f16. */
  LPT_FOREIGN_LAYOUT_MMA_SPARSE = 5, /**< Codes and indices of a 2:4 format, as operands of mma.sp of NVIDIA GPUs. */
  /** Codes and indices of a 2:4 format, as sparse GEMMs of CUTLASS 2.x read them. */
  LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE = 6
};

/**
 * @brief Returns the number of bytes that a tensor takes in a foreign layout.
 *
 * Device    The CPU. The tensor needs no data.
 *
 * @param[in]  tensor         The tensor.
 * @param[in]  layout         One of lpt_foreign_layout_values.
 * @param[out] out_size_bytes Number of bytes.
 *
 * @retval LPT_INVALID_ARGUMENT `layout` is unknown, or rows or columns are not a multiple that the layout requires.
 * @retval LPT_UNSUPPORTED      The layout does not support the format of the tensor, or the tensor is on a GPU.
 */
LPT_API lpt_status lpt_foreign_layout_size(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout layout,
                                           size_t *out_size_bytes);

/**
 * @brief Writes a tensor in a foreign layout.
 *
 * A layout holds the full tensor or a part of it. The export is exact: both libraries read the same numbers, except
 * that ggml reads the -0 of MXFP4 as 0. After an error nothing is written.
 *
 * Formats   lpt_foreign_layout_values lists them. Q4_1 exports only uint4_1x32.
 *
 * Overlap   `buffer` must not overlap the tensor.
 *
 * Device    The CPU; the tensor is in its memory.
 *
 * @param[in]  tensor       The tensor.
 * @param[in]  layout       One of lpt_foreign_layout_values.
 * @param[out] buffer       Receives lpt_foreign_layout_size() bytes.
 * @param[in]  buffer_bytes At least lpt_foreign_layout_size().
 *
 * @retval LPT_INVALID_ARGUMENT `buffer_bytes` is too small, `buffer` overlaps the tensor, or `layout` is unknown. The
 *                              layout does not hold a scale, an index is invalid, or rows or columns are not a required
 *                              multiple.
 * @retval LPT_UNSUPPORTED      The layout does not support the format of the tensor, or the tensor is on a GPU.
 */
LPT_API lpt_status lpt_foreign_layout_export(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout layout,
                                             void *buffer, size_t buffer_bytes);

/**
 * @brief Reads a tensor from a foreign layout.
 *
 * A layout holds the full tensor or a part of it; other parts do not change. The import is exact. It also keeps codes
 * that casts do not use, such as -8 of Q4_0 and -128 of Q8_0. After an error nothing is written.
 *
 * Formats   lpt_foreign_layout_values lists them. Q4_1 is imported to uint4_1x32 if every block has
 *           `m = -d · zero point` with a zero point of 0 to 255.
 *
 * Rounding  Q4_1 in f32 is `d · code + m` with one rounding, as ggml computes it. bf16 and f16 round that value once
 *           more.
 *
 * Overlap   `buffer` must not overlap the tensor.
 *
 * Device    The CPU; the tensor is in its memory.
 *
 * @param[in]  buffer       Bytes of the layout.
 * @param[in]  buffer_bytes At least lpt_foreign_layout_size().
 * @param[in]  layout       One of lpt_foreign_layout_values.
 * @param[out] tensor       The tensor.
 *
 * @retval LPT_INVALID_ARGUMENT `buffer_bytes` is too small, `buffer` overlaps the tensor, or `layout` is unknown. The
 *                              format does not hold a scale, an index is invalid, or rows or columns are not a required
 *                              multiple.
 * @retval LPT_UNSUPPORTED      The layout does not support the format of the tensor, or the tensor is on a GPU.
 */
LPT_API lpt_status lpt_foreign_layout_import(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                             lpt_foreign_layout layout, lpt_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif
