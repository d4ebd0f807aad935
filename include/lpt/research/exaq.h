/**
 * @file exaq.h
 * @brief Research: softmax with few levels of its argument (EXAQ).
 */
#ifndef LPT_RESEARCH_EXAQ_H
#define LPT_RESEARCH_EXAQ_H

#include "../common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of lpt_exaq_softmax_forward(). */
struct lpt_exaq_options {
  size_t struct_size; /**< sizeof(lpt_exaq_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY or 0. */
  double scale;       /**< Factor of the input; finite, in the range of f32. Default 1. */
  double clip;        /**< Minimum argument of exp, -10000 to -0.001. Default -3.51, for s = 1 and 2 bits. */
  int32_t bits;       /**< 2, 3 or 4: 4, 8 or 16 levels. Default 2. */
  /** 1: row t of a T × S matrix covers columns 0 to t + S - T; other columns give 0. Default 0. */
  int32_t is_causal;
};

/** @brief Defaults of lpt_exaq_options. */
#define LPT_EXAQ_OPTIONS_INIT \
  { sizeof(lpt_exaq_options), 0, 1.0, -3.51, 2, 0 }

/**
 * @brief Computes a softmax along the last axis, with the argument of exp rounded to one of 2^bits levels.
 *
 * The argument t = scale · input - max is rounded to the nearest level, ties to even. Levels go from `clip` to 0 in steps
 * of -clip / (2^bits - 1); -infinity gives 0. The sum is computed from counts of the levels, so that all machines give the
 * same bits. Rows without a covered column, and rows with special values, are those of lpt_softmax_forward(). The gradient
 * is that of lpt_softmax_backward(), which ignores the rounding.
 *
 * Formats   f32, bf16 or f16.
 *
 * Source    EXAQ (arXiv 2410.03185). It derives the clip from the standard deviation s of t in a layer. The clip is
 *           -1.66 · s - 1.85 with 2 bits, -1.75 · s - 2.06 with 3, and -1.83 · s - 2.27 with 4.
 *
 * @param[in]  input   Rank 2 or more with `is_causal`.
 * @param[in]  options NULL for the defaults.
 * @param[out] output  The shape of `input`; no overlap.
 * @retval LPT_INVALID_ARGUMENT Shapes differ, tensors overlap, `is_causal` is set for a tensor of rank 1, or an option is
 *                              out of range.
 * @retval LPT_UNSUPPORTED      A format is not listed above, or no kernel of the device supports it.
 */
LPT_API lpt_status lpt_exaq_softmax_forward(lpt_context *context, const lpt_tensor *input,
                                            const lpt_exaq_options *options, lpt_tensor *output);

#ifdef __cplusplus
}
#endif

#endif
