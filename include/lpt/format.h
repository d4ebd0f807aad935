/**
 * @file format.h
 * @brief Formats: how elements and their scales are stored.
 */
#ifndef LPT_FORMAT_H
#define LPT_FORMAT_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief What the bytes of a tensor mean. Small numbers are the presets of lpt_format_values; a larger one spells its own
 * description in its bits, so that a format means the same in every context, process and file. Compare with ==.
 */
typedef int64_t lpt_format;

/** @brief Values of lpt_format. Plain elements come first, then elements with scales. */
enum lpt_format_values {
  LPT_FORMAT_NONE = 0,      /**< No format. */
  LPT_FORMAT_F64 = 1,       /**< IEEE binary64; reference rows and tests. */
  LPT_FORMAT_F32 = 2,       /**< IEEE binary32. */
  LPT_FORMAT_F16 = 3,       /**< IEEE binary16. */
  LPT_FORMAT_BF16 = 4,      /**< bfloat16: 8 exponent and 7 mantissa bits. */
  LPT_FORMAT_E4M3FN = 5,    /**< OCP FP8, bias 7, largest 448, NaN 0x7F, no infinity. */
  LPT_FORMAT_E4M3 = 6,      /**< IEEE-like FP8, bias 7, largest 240, infinity and NaN. */
  LPT_FORMAT_E5M2 = 7,      /**< OCP FP8, bias 15, largest 57344, infinity and NaN. */
  LPT_FORMAT_E2M1FN = 8,    /**< OCP FP4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and sign; two per byte, first in the low half. */
  LPT_FORMAT_E8M0FNU = 9,   /**< Scale: 2^(code - 127), NaN 0xFF, no zero, no sign. */
  LPT_FORMAT_INT8 = 10,     /**< Signed integer; quantizing uses -127 to 127. */
  LPT_FORMAT_UINT8 = 11,    /**< Bytes: saved activations, masks. Quantizing takes it with zero points only. */
  LPT_FORMAT_E4M3FNUZ = 12, /**< FP8, bias 8, largest 240, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E5M2FNUZ = 13, /**< FP8, bias 16, largest 57344, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E4M3B11FNUZ = 14, /**< FP8, bias 11, largest 30, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E3M4 = 15,        /**< IEEE-like FP8, bias 3, largest 15.5, infinity and NaN. */
  LPT_FORMAT_E3M2FN = 16,      /**< OCP FP6, bias 3, largest 28; four in three bytes. */
  LPT_FORMAT_E2M3FN = 17,      /**< OCP FP6, bias 1, largest 7.5; four in three bytes. */
  LPT_FORMAT_E3M0 = 18,        /**< Sign and power of two: 0, 2^-2 ... 2^4; two per byte. The grid of LUQ. */
  LPT_FORMAT_INT4 = 19,        /**< Signed integer; quantizing uses -7 to 7; two per byte, first in the low half. */
  LPT_FORMAT_UINT4 = 20,       /**< 0 to 15, with zero points; two per byte, first in the low half. */
  LPT_FORMAT_INT2 = 21,        /**< Signed integer; quantizing uses -1 to 1; four per byte. */
  LPT_FORMAT_TERNARY = 22,     /**< -1, 0, 1; five per byte: digits 0, 1, 2 for 0, 1, -1 in base 3, first lowest. */
  LPT_FORMAT_INT16 = 23,       /**< Signed integer; quantizing uses -32767 to 32767. */
  LPT_FORMAT_Q1_6 = 24,        /**< Fixed point: int8 / 64; quantizing uses -127/64 to 127/64. Of mxint8. */
  LPT_FORMAT_NF4 = 25,     /**< The 16 normal-float levels of QLoRA, -1 to 1; two per byte, first in the low half. */
  LPT_FORMAT_BNB_FP4 = 26, /**< The 16 levels of bitsandbytes' FP4, -1 to 1; two per byte, first in the low half. */

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
  LPT_FORMAT_NVFP4_16X16 = 84,     /**< As nvfp4 with one block scale per 16 × 16: weights that may be transposed. */
  LPT_FORMAT_INT4_1X32 = 85,       /**< int4, one f32 scale per 32 elements of a row. */
  LPT_FORMAT_INT4_1X64 = 86,       /**< int4, one f32 scale per 64 elements of a row. */
  LPT_FORMAT_INT4_1X128 = 87,      /**< int4, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_UINT4_1X32 = 88,      /**< uint4, one f32 scale and one zero point per 32 elements of a row. */
  LPT_FORMAT_UINT4_1X64 = 89,      /**< uint4, one f32 scale and one zero point per 64 elements of a row. */
  LPT_FORMAT_UINT4_1X128 = 90,     /**< uint4, one f32 scale and one zero point per 128 elements of a row. */
  LPT_FORMAT_INT8_1X32 = 91,       /**< int8, one f32 scale per 32 elements of a row. */
  LPT_FORMAT_INT16_TENSOR = 92,    /**< int16, one f32 scale: dynamic fixed point with LPT_SCALE_RULE_POWER_OF_TWO. */
  LPT_FORMAT_E3M0_TENSOR = 93,     /**< e3m0, one f32 scale: LUQ with stochastic rounding. */
  LPT_FORMAT_TERNARY_TENSOR = 94,  /**< ternary, one f32 scale. */
  LPT_FORMAT_E4M3FNUZ_TENSOR = 95, /**< e4m3fnuz, one f32 scale. */
  LPT_FORMAT_E5M2FNUZ_TENSOR = 96, /**< e5m2fnuz, one f32 scale. */
  LPT_FORMAT_NF4_1X64 = 97,        /**< nf4, one f32 scale per 64 elements of a row. */
  LPT_FORMAT_BNB_FP4_1X64 = 98     /**< bnb_fp4, one f32 scale per 64 elements of a row. */
};

/** @brief A block extent of the whole axis. */
#define LPT_BLOCK_EXTENT_FULL (-1)

/** @brief The special values of an element; one of lpt_element_special_values. */
typedef int32_t lpt_element_special;

/** @brief Values of lpt_element_special. */
enum lpt_element_special_values {
  LPT_ELEMENT_SPECIAL_NONE = 0,     /**< Every code is a finite number. */
  LPT_ELEMENT_SPECIAL_IEEE = 1,     /**< Infinities and NaN in the top exponent. */
  LPT_ELEMENT_SPECIAL_NAN_ONES = 2, /**< NaN with all bits set below the sign; no infinity. */
  LPT_ELEMENT_SPECIAL_INTEGER = 3,  /**< Two's complement integer, times 2^-exponent_bias: fixed point. */
  LPT_ELEMENT_SPECIAL_FNUZ = 4,     /**< One NaN, in the place of -0; no infinity. */
  LPT_ELEMENT_SPECIAL_LIST = 5      /**< The codes stand for the levels of a list; no infinity, no NaN. */
};

/**
 * @brief A format taken apart. A value is (element - zero point) · block scale · tensor scale; absent scales are 1, absent
 *        zero points 0.
 *
 * lpt_format_from_description() reads `element` to `block_columns` and `zero_point`; `element_bits` to `largest` are reported
 * by lpt_format_describe() and must be 0 or agree. With `element` LPT_FORMAT_NONE they describe an element of the
 * caller's own: a float of at most 8 bits, exponent_bits 1 to 7, `special` IEEE, NAN_ONES, FNUZ or NONE; `element_bits`
 * is the sum of both and the sign, or without the sign for an unsigned one; `largest` is 0 or agrees. Its smallest
 * subnormal is at least 2^-126 and its largest value below 2^127.
 */
typedef struct lpt_format_description {
  size_t struct_size;          /**< sizeof(lpt_format_description) of the caller. */
  lpt_format element;          /**< A plain preset. */
  lpt_format block_scale;      /**< F32, E8M0FNU, E4M3FN, or NONE. */
  lpt_format tensor_scale;     /**< F32 or NONE. */
  int32_t block_rows;          /**< Power of two, or LPT_BLOCK_EXTENT_FULL; 0 without block scale. */
  int32_t block_columns;       /**< Power of two, or LPT_BLOCK_EXTENT_FULL; 0 without block scale. */
  int32_t element_bits;        /**< Storage of one element. */
  int32_t exponent_bits;       /**< 0 for integers. */
  int32_t mantissa_bits;       /**< Stored ones. */
  int32_t exponent_bias;       /**< Value of a normal code: (1 + m/2^M) · 2^(e - bias). */
  lpt_element_special special; /**< What stands for infinity and NaN. */
  int32_t reserved;            /**< 0. */
  double largest;              /**< Largest finite element. */
  lpt_format zero_point;       /**< UINT8: one per block, for elements uint4 and uint8 with block scales; or NONE. */
  int32_t sparse_kept;         /**< 2 for 2:4: of every 4 columns 2 are stored, see lpt_sparse_compress(); 0: all. */
  int32_t sparse_of;           /**< 4 for 2:4; 0: all columns are stored. */
} lpt_format_description;

/** @brief Defaults of lpt_format_description. */
#define LPT_FORMAT_DESCRIPTION_INIT                                                                                 \
  {                                                                                                                 \
    sizeof(lpt_format_description), LPT_FORMAT_NONE, LPT_FORMAT_NONE, LPT_FORMAT_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, \
        LPT_FORMAT_NONE, 0, 0                                                                                       \
  }

/**
 * @brief Makes the format of a description. A description that equals a preset gives the preset.
 * @param[in] context NULL is allowed; there is no error text then.
 * @param description borrowed.
 * @param out_format returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the parts do not make a format; LPT_UNSUPPORTED for an unknown member.
 */
LPT_API lpt_status lpt_format_from_description(lpt_context *context, const lpt_format_description *description,
                                               lpt_format *out_format);

/**
 * @brief Finds a format by name: a preset ("nvfp4", "e4m3fn_row"), or element/block/scale with an optional /tensor scale,
 *        where block is `tensor`, `row`, `column` or ROWSxCOLUMNS ("e2m1fn/1x32/e8m0fnu", "int8/1x64/f32"), and an
 *        optional /uint8 for zero points ("uint4/1x256/f32/uint8"). Any name with /2:4 behind it is that format with two of
 *        every four columns stored ("bf16/2:4", "nvfp4/2:4"). An element of the caller's own is spelled
 *        e<exponent bits>m<mantissa bits>b<bias> with -ieee, -nan, -fnuz or -finite, and a u in front without a sign
 *        ("e4m2b9-finite", "ue4m3b7-nan").
 * @param[in] context NULL is allowed; there is no error text then.
 * @param name zero-terminated.
 * @param out_format returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when there is none.
 */
LPT_API lpt_status lpt_format_from_name(lpt_context *context, const char *name, lpt_format *out_format);

/**
 * @brief Writes the name of a format; lpt_format_from_name() reads it back.
 * @param[in] context NULL is allowed; there is no error text then.
 * @param format the format.
 * @param buffer written with a terminating zero, cut to fit; may be NULL when `buffer_bytes` is 0.
 * @param buffer_bytes room at `buffer`.
 * @param out_needed_bytes returned: room for the whole name with its zero; may be NULL.
 * @return LPT_OK; LPT_INVALID_ARGUMENT for a number that is no format.
 */
LPT_API lpt_status lpt_format_write_name(lpt_context *context, lpt_format format, char *buffer, size_t buffer_bytes,
                                         size_t *out_needed_bytes);

/**
 * @brief Takes a format apart.
 * @param[in] context NULL is allowed; there is no error text then.
 * @param format the format.
 * @param out_description its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT for a number that is no format.
 */
LPT_API lpt_status lpt_format_describe(lpt_context *context, lpt_format format,
                                       lpt_format_description *out_description);

/**
 * @brief Writes what the bytes of a format mean, in lines of text for people: the bits of a code, special codes, range,
 *        packing, scales, and how a value is computed.
 * @param[in] context NULL is allowed; there is no error text then.
 * @param format the format.
 * @param buffer written with a terminating zero, cut to fit; may be NULL when `buffer_bytes` is 0.
 * @param buffer_bytes room at `buffer`.
 * @param out_needed_bytes returned: room for the whole text with its zero; may be NULL.
 * @return LPT_OK; LPT_INVALID_ARGUMENT for a number that is no format.
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
