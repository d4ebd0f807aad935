/**
 * @file format.h
 * @brief Formats: how elements, scales and zero points are stored.
 */
#ifndef LPT_FORMAT_H
#define LPT_FORMAT_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Identifies a format: what the bytes of a tensor mean.
 *
 * Small numbers are the presets of lpt_format_values. A larger number encodes its description in its bits. A format
 * thus means the same in every context, process and file. Compare formats with ==.
 */
typedef int64_t lpt_format;

/**
 * @brief Values of lpt_format: elements without scales, then presets with scales.
 *
 * Elements below 8 bits are packed: the first element of a byte has the lowest bits. A pack is the smallest number of
 * elements that fills whole bytes.
 *
 * Casts and arithmetic accept formats of numbers. These are all except int32 and int64, which hold indices, and uint8
 * without zero points, which holds bytes.
 */
enum lpt_format_values {
  LPT_FORMAT_NONE = 0,         /**< No format. */
  LPT_FORMAT_F64 = 1,          /**< IEEE binary64; for references and tests. */
  LPT_FORMAT_F32 = 2,          /**< IEEE binary32. */
  LPT_FORMAT_F16 = 3,          /**< IEEE binary16. */
  LPT_FORMAT_BF16 = 4,         /**< bfloat16: 8 exponent and 7 mantissa bits. */
  LPT_FORMAT_E4M3FN = 5,       /**< OCP FP8: bias 7, maximum 448, NaN 0x7F, no infinity. */
  LPT_FORMAT_E4M3 = 6,         /**< IEEE-like FP8: bias 7, maximum 240, infinity and NaN. */
  LPT_FORMAT_E5M2 = 7,         /**< OCP FP8: bias 15, maximum 57344, infinity and NaN. */
  LPT_FORMAT_E2M1FN = 8,       /**< OCP FP4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign; two per byte. */
  LPT_FORMAT_E8M0FNU = 9,      /**< Scale 2^(code - 127): NaN 0xFF, no zero, no sign. */
  LPT_FORMAT_INT8 = 10,        /**< Signed integer; casts use -127 to 127. */
  LPT_FORMAT_UINT8 = 11,       /**< Unsigned integer; without zero points bytes, such as masks. */
  LPT_FORMAT_E4M3FNUZ = 12,    /**< FP8: bias 8, maximum 240, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E5M2FNUZ = 13,    /**< FP8: bias 16, maximum 57344, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E4M3B11FNUZ = 14, /**< FP8: bias 11, maximum 30, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E3M4 = 15,        /**< IEEE-like FP8: bias 3, maximum 15.5, infinity and NaN. */
  LPT_FORMAT_E3M2FN = 16,      /**< OCP FP6: bias 3, maximum 28; four in three bytes. */
  LPT_FORMAT_E2M3FN = 17,      /**< OCP FP6: bias 1, maximum 7.5; four in three bytes. */
  LPT_FORMAT_E3M0 = 18, /**< Sign and power of two: 0, 2^-2 to 2^4; two per byte. The grid of LUQ (arXiv 2112.10769). */
  LPT_FORMAT_INT4 = 19, /**< Signed integer; casts use -7 to 7; two per byte. */
  LPT_FORMAT_UINT4 = 20,   /**< 0 to 15, with zero points; two per byte. */
  LPT_FORMAT_INT2 = 21,    /**< Signed integer; casts use -1 to 1; four per byte. */
  LPT_FORMAT_TERNARY = 22, /**< -1, 0, 1; five per byte, as digits 2, 0, 1 in base 3, the first one lowest. */
  LPT_FORMAT_INT16 = 23,   /**< Signed integer; casts use -32767 to 32767. */
  LPT_FORMAT_Q1_6 = 24,    /**< Fixed point: int8 / 64; casts use -127/64 to 127/64. The element of mxint8. */
  LPT_FORMAT_NF4 = 25,     /**< The 16 normal-float levels of QLoRA, -1 to 1; two per byte. */
  LPT_FORMAT_BNB_FP4 = 26, /**< The 16 levels of FP4 in bitsandbytes, -1 to 1; two per byte. */
  LPT_FORMAT_INT32 = 27,   /**< Signed 32-bit integer: indices, such as targets. */
  LPT_FORMAT_INT64 = 28,   /**< Signed 64-bit integer: indices, such as targets. */
  LPT_FORMAT_INT3 = 29,    /**< Signed integer; casts use -3 to 3; eight in three bytes. */

  LPT_FORMAT_E4M3FN_TENSOR = 64,   /**< e4m3fn, one f32 scale. */
  LPT_FORMAT_E4M3FN_ROW = 65,      /**< e4m3fn, one f32 scale per row. */
  LPT_FORMAT_E4M3FN_1X128 = 66,    /**< e4m3fn, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_E4M3FN_128X128 = 67,  /**< e4m3fn, one f32 scale per 128 × 128 block. */
  LPT_FORMAT_E4M3_TENSOR = 68,     /**< e4m3 (240), one f32 scale. */
  LPT_FORMAT_E4M3_ROW = 69,        /**< e4m3 (240), one f32 scale per row. */
  LPT_FORMAT_E5M2_TENSOR = 70,     /**< e5m2, one f32 scale. */
  LPT_FORMAT_E5M2_ROW = 71,        /**< e5m2, one f32 scale per row. */
  LPT_FORMAT_E5M2_1X128 = 72,      /**< e5m2, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_E5M2_128X128 = 73,    /**< e5m2, one f32 scale per 128 × 128 block. */
  LPT_FORMAT_MXFP8_E4M3 = 74,      /**< OCP MX: e4m3fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXFP8_E5M2 = 75,      /**< OCP MX: e5m2, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXFP4 = 76,           /**< OCP MX: e2m1fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_NVFP4 = 77,           /**< e2m1fn, one e4m3fn scale per 16 elements and one f32 scale per tensor. */
  LPT_FORMAT_INT8_TENSOR = 78,     /**< int8, one f32 scale. */
  LPT_FORMAT_INT8_ROW = 79,        /**< int8, one f32 scale per row. */
  LPT_FORMAT_F16_TENSOR = 80,      /**< f16, one f32 scale: master weights. */
  LPT_FORMAT_MXFP6_E3M2 = 81,      /**< OCP MX: e3m2fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXFP6_E2M3 = 82,      /**< OCP MX: e2m3fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXINT8 = 83,          /**< OCP MX: q1_6, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_NVFP4_16X16 = 84,     /**< As nvfp4 with blocks of 16 × 16; for weights that are also transposed. */
  LPT_FORMAT_INT4_1X32 = 85,       /**< int4, one f32 scale per 32 elements of a row. */
  LPT_FORMAT_INT4_1X64 = 86,       /**< int4, one f32 scale per 64 elements of a row. */
  LPT_FORMAT_INT4_1X128 = 87,      /**< int4, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_UINT4_1X32 = 88,      /**< uint4, one f32 scale and one zero point per 32 elements of a row. */
  LPT_FORMAT_UINT4_1X64 = 89,      /**< uint4, one f32 scale and one zero point per 64 elements of a row. */
  LPT_FORMAT_UINT4_1X128 = 90,     /**< uint4, one f32 scale and one zero point per 128 elements of a row. */
  LPT_FORMAT_INT8_1X32 = 91,       /**< int8, one f32 scale per 32 elements of a row. */
  LPT_FORMAT_INT16_TENSOR = 92,    /**< int16, one f32 scale; dynamic fixed point with LPT_SCALE_RULE_POWER_OF_TWO. */
  LPT_FORMAT_E3M0_TENSOR = 93,     /**< e3m0, one f32 scale; LUQ with stochastic rounding. */
  LPT_FORMAT_TERNARY_TENSOR = 94,  /**< ternary, one f32 scale. */
  LPT_FORMAT_E4M3FNUZ_TENSOR = 95, /**< e4m3fnuz, one f32 scale. */
  LPT_FORMAT_E5M2FNUZ_TENSOR = 96, /**< e5m2fnuz, one f32 scale. */
  LPT_FORMAT_NF4_1X64 = 97,        /**< nf4, one f32 scale per 64 elements of a row. */
  LPT_FORMAT_BNB_FP4_1X64 = 98     /**< bnb_fp4, one f32 scale per 64 elements of a row. */
};

/** @brief Rows or columns of a block: a power of two, or one of lpt_block_extent_values. */
typedef int32_t lpt_block_extent;

/** @brief Values of lpt_block_extent. */
enum lpt_block_extent_values {
  LPT_BLOCK_EXTENT_FULL = -1 /**< The block covers the full axis. */
};

/** @brief The special values of an element; one of lpt_element_special_values. */
typedef int32_t lpt_element_special;

/** @brief Values of lpt_element_special. */
enum lpt_element_special_values {
  LPT_ELEMENT_SPECIAL_NONE = 0,     /**< Every code is a finite number. */
  LPT_ELEMENT_SPECIAL_IEEE = 1,     /**< Infinities and NaN at the largest exponent. */
  LPT_ELEMENT_SPECIAL_NAN_ONES = 2, /**< NaN where all bits below the sign are set; no infinity. */
  LPT_ELEMENT_SPECIAL_INTEGER = 3,  /**< Two's complement integer, times 2^-exponent_bias. */
  LPT_ELEMENT_SPECIAL_FNUZ = 4,     /**< One NaN in place of -0; no infinity. */
  LPT_ELEMENT_SPECIAL_LIST = 5      /**< Codes select the levels of a list; no infinity, no NaN. */
};

/**
 * @brief The parts of a format.
 *
 * A value is `(element - zero point) · block scale · tensor scale`. Absent scales are 1, absent zero points are 0.
 *
 * lpt_format_from_description() reads the members from `element` to `block_columns`, `zero_point`, `sparse_kept` and
 * `sparse_of`. lpt_format_describe() reports `element_bits` to `largest`. In a description they are 0 or agree with
 * `element`.
 *
 * With `element` LPT_FORMAT_NONE they describe a custom element, a float of at most 8 bits:
 * - `exponent_bits` is 1 to 7, `exponent_bias` is -128 to 127.
 * - `special` is IEEE (with `mantissa_bits` of at least 1), NAN_ONES, FNUZ (with a sign) or NONE.
 * - `element_bits` is `exponent_bits + mantissa_bits + 1`, or one less for an element without a sign.
 * - `largest` is 0 or agrees.
 * - The smallest subnormal is at least 2^-126, and the largest value is below 2^127.
 */
typedef struct lpt_format_description {
  size_t struct_size; /**< sizeof(lpt_format_description) of the caller. */
  /** An element without scales, or NONE for a custom one; bf16, f16 and smaller if there are scales. */
  lpt_format element;
  lpt_format block_scale;         /**< F32, E8M0FNU, E4M3FN or NONE. */
  lpt_format tensor_scale;        /**< F32 or NONE. */
  lpt_block_extent block_rows;    /**< Power of two up to 2^20, or LPT_BLOCK_EXTENT_FULL; 0 without block scale. */
  lpt_block_extent block_columns; /**< The same; only one of both may be LPT_BLOCK_EXTENT_FULL. */
  int32_t element_bits;           /**< Bits that one element takes. */
  int32_t exponent_bits;          /**< 0 for integers. */
  int32_t mantissa_bits;          /**< Stored bits of the mantissa. */
  int32_t exponent_bias;          /**< A normal code is (1 + m/2^M) · 2^(e - bias). */
  lpt_element_special special;    /**< Codes of infinity and NaN. */
  int32_t reserved;               /**< 0. */
  double largest;                 /**< Maximum finite value of the element. */
  /** UINT8 or NONE; UINT8 needs elements uint4 or uint8, F32 block scales and no tensor scale. */
  lpt_format zero_point;
  int32_t sparse_kept; /**< 2: of every 4 columns 2 are stored, see lpt_sparse_compress(); 0: all columns are stored. */
  int32_t sparse_of;   /**< 4 if `sparse_kept` is 2, else 0. */
} lpt_format_description;

/** @brief Defaults of lpt_format_description. */
#define LPT_FORMAT_DESCRIPTION_INIT                                                                                 \
  {                                                                                                                 \
    sizeof(lpt_format_description), LPT_FORMAT_NONE, LPT_FORMAT_NONE, LPT_FORMAT_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, \
        LPT_FORMAT_NONE, 0, 0                                                                                       \
  }

/**
 * @brief Returns the format of a description.
 *
 * A description that equals a preset gives the preset.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]  description Must not be NULL.
 * @param[out] out_format  The format.
 *
 * @retval LPT_INVALID_ARGUMENT The members do not form a format; see lpt_format_description.
 */
LPT_API lpt_status lpt_format_from_description(lpt_context *context, const lpt_format_description *description,
                                               lpt_format *out_format);

/**
 * @brief Returns the format of a name.
 *
 * A name is one of these:
 * - A preset such as "nvfp4", or an element such as "e4m3fn".
 * - A custom element: e, exponent bits, m, mantissa bits, b, bias, then -ieee, -nan, -fnuz or -finite
 *   ("e4m2b9-finite"). It begins with u if there is no sign ("ue4m3b7-nan").
 * - `element/block/scale`, where block is `tensor`, `row`, `column` or ROWSxCOLUMNS ("e2m1fn/1x32/e8m0fnu"). An extent
 *   is a power of two, or `whole` for the full axis. A block scale may be followed by the tensor scale `/f32`, or by
 *   `/uint8` for zero points ("uint4/1x256/f32/uint8").
 * - Any of these with `/2:4` at the end: two of every four columns are stored ("bf16/2:4", "nvfp4/2:4").
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]  name       Zero-terminated.
 * @param[out] out_format The format.
 *
 * @retval LPT_INVALID_ARGUMENT `name` is not the name of a format.
 */
LPT_API lpt_status lpt_format_from_name(lpt_context *context, const char *name, lpt_format *out_format);

/**
 * @brief Writes the name of a format, which lpt_format_from_name() reads.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]  format           A format.
 * @param[out] buffer           Receives the zero-terminated name, cut to fit; may be NULL if `buffer_bytes` is 0.
 * @param[in]  buffer_bytes     Bytes at `buffer`.
 * @param[out] out_needed_bytes Bytes of the full name with its zero; may be NULL.
 *
 * @retval LPT_INVALID_ARGUMENT `format` is not a format.
 */
LPT_API lpt_status lpt_format_write_name(lpt_context *context, lpt_format format, char *buffer, size_t buffer_bytes,
                                         size_t *out_needed_bytes);

/**
 * @brief Returns the parts of a format.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]     format          A format.
 * @param[in,out] out_description The caller sets its `struct_size`.
 *
 * @retval LPT_INVALID_ARGUMENT `format` is not a format.
 */
LPT_API lpt_status lpt_format_describe(lpt_context *context, lpt_format format,
                                       lpt_format_description *out_description);

/**
 * @brief Writes a text of several lines that explains the bytes of a format.
 *
 * It describes the bits of a code, special codes, range, packing, scales, and how to compute a value.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]  format           A format.
 * @param[out] buffer           Receives the zero-terminated text, cut to fit; may be NULL if `buffer_bytes` is 0.
 * @param[in]  buffer_bytes     Bytes at `buffer`.
 * @param[out] out_needed_bytes Bytes of the full text with its zero; may be NULL.
 *
 * @retval LPT_INVALID_ARGUMENT `format` is not a format.
 */
LPT_API lpt_status lpt_format_write_text(lpt_context *context, lpt_format format, char *buffer, size_t buffer_bytes,
                                         size_t *out_needed_bytes);

/**
 * @brief Returns the number of formats in lpt_format_values that tensors can have.
 *
 * @return The count: lpt_format_at() takes 0 to one less.
 */
LPT_API int64_t lpt_format_count(void);

/**
 * @brief Returns a format of lpt_format_values, in the order of their numbers.
 *
 * @param[in] index 0 for the first.
 * @return The format; LPT_FORMAT_NONE where there is none.
 */
LPT_API lpt_format lpt_format_at(int64_t index);

/**
 * @brief Returns the name of a format of lpt_format_values.
 *
 * @param[in] format Any number.
 * @return The name, for example "nvfp4"; it lives as long as the library. NULL for a format that was composed of parts, whose
 *         name lpt_format_write_name() writes, and for a number that is no format.
 */
LPT_API const char *lpt_format_name(lpt_format format);

#ifdef __cplusplus
}
#endif

#endif
