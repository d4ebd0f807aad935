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

/** @brief Whose layout of bytes is meant; one of lpt_foreign_layout_values. */
typedef int32_t lpt_foreign_layout;

/**
 * @brief Values of lpt_foreign_layout; docs/reference/foreign-layouts.md shows every byte. Rows follow each other without gaps.
 *
 * ggml          columns are a multiple of 32. F32 scales become f16, and so does Q4_1's m = -scale · zero point: numbers
 *               that f16 does not hold are rejected, and so is the NaN scale of mxfp4, which ggml would read as 2^128.
 * bitsandbytes  a row that ends inside a byte is followed by the next one in the same byte; a spare half is 0.
 * cuBLAS        scale (r, c) of a tile is at its byte (r mod 32) · 16 + (r / 32) · 4 + c; tiles follow row by row;
 *               scales that are missing in a tile are 0. The scale of a block of many rows stands in each of them; scales
 *               that differ within such a block are rejected.
 * mma.sp        blocks of 16 × 64 numbers. Codes: for each instruction (16 × 32 of f16 and bf16, 16 × 64 of e4m3fn, e5m2
 *               and int8) 32 lanes of 16 bytes, their four registers of A. Metadata: for each block 32 lanes of 4 bytes;
 *               of 16-bit elements lanes 0 and 1 of each four have that of a block's first instruction (selector 0),
 *               lanes 2 and 3 that of the second (selector 1). What a block has and the matrix has not is code 0 with
 *               the indices 0x4, and is not read.
 * CUTLASS       codes as they are; metadata as SparseGemm and PyTorch's CUTLASS tensors take it: units of 16 bits for
 *               16-bit elements, of 32 for 8-bit ones, reordered. Rows are a multiple of 32 (16 of 8-bit elements),
 *               columns of 64 (128).
 * The last two  are for 2:4 formats with any scales. All codes come first, then all metadata: at 8/9 of the buffer for
 *               16-bit elements, at 4/5 for 8-bit ones. Indices that are not legal are rejected.
 */
enum lpt_foreign_layout_values {
  LPT_FOREIGN_LAYOUT_GGML = 1, /**< Blocks of ggml: int8_1x32 is Q8_0, int4_1x32 Q4_0, mxfp4 MXFP4. */
  LPT_FOREIGN_LAYOUT_BITSANDBYTES =
      2, /**< The payload alone, of 4-bit elements: the first of a byte in its high half. */
  LPT_FOREIGN_LAYOUT_CUBLAS_SCALES = 3, /**< The block scales alone, of one byte, for every row: tiles of 128 × 4. */
  LPT_FOREIGN_LAYOUT_GGML_Q4_1 = 4,  /**< Blocks of ggml: uint4_1x32 is Q4_1. F32, f64, bf16 and f16 can be imported. */
  LPT_FOREIGN_LAYOUT_MMA_SPARSE = 5, /**< Codes and indices of a 2:4 format, as operands of mma.sp of NVIDIA GPUs. */
  LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE =
      6 /**< Codes and indices of a 2:4 format, as sparse products of CUTLASS 2.x take them. */
};

/**
 * @brief Returns how many bytes a tensor takes in a foreign layout.
 * @param context the context.
 * @param tensor the tensor; it needs no data.
 * @param layout one of lpt_foreign_layout_values.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED when the layout has no place for the format.
 */
LPT_API lpt_status lpt_foreign_layout_size(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout layout,
                                           size_t *out_size_bytes);

/**
 * @brief Writes a tensor, or the part of it that the layout holds, in a foreign layout. Exact: the same numbers. ggml has no -0 in
 *        MXFP4 and reads it as 0.
 * @param context the context.
 * @param tensor borrowed.
 * @param layout one of lpt_foreign_layout_values.
 * @param buffer written.
 * @param buffer_bytes at least lpt_foreign_layout_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small, the layout cannot hold a scale or an index is not legal;
 *         LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_foreign_layout_export(lpt_context *context, const lpt_tensor *tensor, lpt_foreign_layout layout,
                                             void *buffer, size_t buffer_bytes);

/**
 * @brief Reads a tensor, or the part of it that the layout holds, from a foreign layout; other parts stay as they are. Exact: the
 *        same numbers, codes that quantizing does not use included (-8 of Q4_0, -128 of Q8_0).
 *
 * Q4_1 in f32 is what ggml computes: d · code + m, one rounding; other wide formats round that f32 once more. It goes to
 * uint4_1x32 where m = -d · zero point with one of 0 to 255 in every block.
 *
 * @param context the context.
 * @param buffer borrowed.
 * @param buffer_bytes at least lpt_foreign_layout_size().
 * @param layout one of lpt_foreign_layout_values.
 * @param tensor written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the buffer is too short, the format cannot hold a scale or an index is not
 *         legal: then nothing is written; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_foreign_layout_import(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                             lpt_foreign_layout layout, lpt_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif
