/**
 * @file recipe.h
 * @brief Recipes of low-precision training: how a linear layer casts the operands of its three GEMMs.
 *
 * The GEMMs are forward y = x · wᵀ, dgrad dx = dy · w, and wgrad dw = dyᵀ · x. lpt_linear_create() makes a layer that
 * follows a recipe.
 */
#ifndef LPT_RECIPE_H
#define LPT_RECIPE_H

#include "common.h"
#include "format.h"
#include "quantize.h"
#include "scaler.h"
#include "sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief One operand of one GEMM of a layer; one of lpt_linear_cast_values. */
typedef int32_t lpt_linear_cast;

/**
 * @brief Values of lpt_linear_cast.
 *
 * Forward y = x · wᵀ; dgrad dx = dy · w; wgrad dw = dyᵀ · x.
 */
enum lpt_linear_cast_values {
  LPT_LINEAR_CAST_FORWARD_INPUT = 0,  /**< x in the forward GEMM. */
  LPT_LINEAR_CAST_FORWARD_WEIGHT = 1, /**< w in the forward GEMM. */
  LPT_LINEAR_CAST_DGRAD_GRADIENT = 2, /**< dy in the input gradient. */
  LPT_LINEAR_CAST_DGRAD_WEIGHT = 3,   /**< w in the input gradient. */
  LPT_LINEAR_CAST_WGRAD_GRADIENT = 4, /**< dy in the weight gradient. */
  LPT_LINEAR_CAST_WGRAD_INPUT = 5     /**< x in the weight gradient: saved by forward for backward. */
};

/** @brief One tensor of a linear layer; one of lpt_linear_operand_values. */
typedef int32_t lpt_linear_operand;

/** @brief Values of lpt_linear_operand. */
enum lpt_linear_operand_values {
  LPT_LINEAR_OPERAND_INPUT = 0,   /**< x. */
  LPT_LINEAR_OPERAND_WEIGHT = 1,  /**< w. */
  LPT_LINEAR_OPERAND_GRADIENT = 2 /**< dy. */
};

/** @brief One GEMM of a linear layer; one of lpt_linear_gemm_values. */
typedef int32_t lpt_linear_gemm;

/**
 * @brief Values of lpt_linear_gemm.
 *
 * The first factor is the left operand, the second the right one.
 */
enum lpt_linear_gemm_values {
  LPT_LINEAR_GEMM_FORWARD = 0, /**< y = x · wᵀ; its inner size is input_columns. */
  LPT_LINEAR_GEMM_DGRAD = 1,   /**< dx = dy · w; its inner size is output_columns. */
  LPT_LINEAR_GEMM_WGRAD = 2    /**< dw = dyᵀ · x; its inner size is the number of rows. */
};

/** @brief Signs of a rotation; one of lpt_hadamard_signs_values. */
typedef int32_t lpt_hadamard_signs;

/** @brief Values of lpt_hadamard_signs. */
enum lpt_hadamard_signs_values {
  LPT_HADAMARD_SIGNS_NONE = 0, /**< All signs are +1. */
  /** + + + - + - - - - - - + - + - -, repeated: the signs of the code of arXiv 2509.25149. */
  LPT_HADAMARD_SIGNS_FIXED = 1,
  /**
   * One sign per column of a group, drawn from the random numbers of the call that rotates first. That is
   * lpt_linear_prepare() for the forward and the dgrad GEMM, lpt_linear_forward() for the wgrad GEMM.
   */
  LPT_HADAMARD_SIGNS_RANDOM = 2
};

/** @brief Axis along which operands of a GEMM are rotated; one of lpt_hadamard_axis_values. */
typedef int32_t lpt_hadamard_axis;

/** @brief Values of lpt_hadamard_axis. */
enum lpt_hadamard_axis_values {
  LPT_HADAMARD_AXIS_INNER = 0, /**< Both operands, along the inner size; the GEMM cancels the rotations. */
  /** dgrad only: dy along its rows; the inverse rotation is applied to dx (HALO level 2). */
  LPT_HADAMARD_AXIS_ROWS = 1
};

/** @brief What a backward GEMM casts x or w from; one of lpt_linear_source_values. */
typedef int32_t lpt_linear_source;

/** @brief Values of lpt_linear_source. */
enum lpt_linear_source_values {
  LPT_LINEAR_SOURCE_PLAIN = 0, /**< From x or w as passed by the caller. */
  /**
   * From the decoded operand of the forward GEMM. The forward rotation is inverted on the gradient. A cast to NONE, or
   * the same cast as forward, uses the codes of forward.
   */
  LPT_LINEAR_SOURCE_FORWARD = 1,
  /**
   * As FORWARD, and the gradient of clipped elements is zero: dx where the forward cast clipped x, dw where it clipped
   * w.
   */
  LPT_LINEAR_SOURCE_FORWARD_CLIPPED = 2
};

/** @brief Constant factor of the result of a GEMM; one of lpt_linear_output_scale_values. */
typedef int32_t lpt_linear_output_scale;

/** @brief Values of lpt_linear_output_scale. */
enum lpt_linear_output_scale_values {
  LPT_LINEAR_OUTPUT_SCALE_NONE = 0, /**< 1. */
  /** Forward and dgrad: 1 / sqrt(input_columns). Wgrad and the bias gradient: 1 / sqrt(rows). */
  LPT_LINEAR_OUTPUT_SCALE_UNIT = 1
};

/** @brief Group size of a rotation: a power of two, or one of lpt_hadamard_size_values. */
typedef int32_t lpt_hadamard_size;

/** @brief Values of lpt_hadamard_size. */
enum lpt_hadamard_size_values {
  LPT_HADAMARD_SIZE_DIVISOR =
      -1 /**< The largest power of two from 16 to 8192 that divides the axis; 16 if none does. */
};

/** @brief Options of lpt_recipe_set_gemm(): how a GEMM uses its two casts. */
typedef struct lpt_linear_gemm_options {
  size_t struct_size; /**< sizeof(lpt_linear_gemm_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY, LPT_GEMM_FAST_ACCUMULATE or 0. */
  /** 16 to 8192, or DIVISOR: operands are rotated before their casts, see lpt_hadamard(). 0, the default: no rotation. */
  lpt_hadamard_size hadamard_size;
  lpt_hadamard_signs hadamard_signs; /**< Signs of the rotation. Default NONE. */
  lpt_hadamard_axis hadamard_axis;   /**< Axis of the rotation; ROWS for dgrad only. Default INNER. */
  lpt_linear_source source;          /**< Backward GEMMs: what x or w is cast from. Forward: PLAIN. Default PLAIN. */
  /** Backward GEMMs: number of stochastic casts of dy whose results are averaged, 1 to 16. Forward: 1. Default 1. */
  int32_t draws;
  /**
   * Backward GEMMs: 2 splits dy into a cast to nearest and the cast of its error; 1 does not. Forward: 1. Default 1.
   */
  int32_t parts;
  lpt_linear_output_scale output_scale; /**< Factor of the result. Default NONE. */
  int32_t reserved;                     /**< Must be 0. */
} lpt_linear_gemm_options;

/** @brief Defaults of lpt_linear_gemm_options. */
#define LPT_LINEAR_GEMM_OPTIONS_INIT                                                                                  \
  {                                                                                                                   \
    sizeof(lpt_linear_gemm_options), 0, 0, LPT_HADAMARD_SIGNS_NONE, LPT_HADAMARD_AXIS_INNER, LPT_LINEAR_SOURCE_PLAIN, \
        1, 1, LPT_LINEAR_OUTPUT_SCALE_NONE, 0                                                                         \
  }

/**
 * @brief Creates a recipe by name.
 *
 * Casts round to nearest, unless the list states stochastic. docs/reference/recipes.md lists every cast.
 *
 *   "f32"             no casts;
 *   "bf16"            every operand bf16;
 *   "fp8_trillion"    e4m3fn forward, e5m2 backward, dy stochastic, power-of-two tensor scales from the amax of the
 *                     previous step, 1 in the first step (arXiv 2409.12517);
 *   "fp8_current"     e4m3fn, gradients e5m2, current tensor scales;
 *   "mxfp8"           mxfp8_e4m3 for all operands, scales rounded up;
 *   "fp8_block"       e4m3fn with f32 scales, 1×128 for x and dy, 128×128 for w;
 *   "fp4_all_the_way" nvfp4 for all operands; dy, and x in wgrad, stochastic (arXiv 2505.19115);
 *   "nvfp4_pretrain"  nvfp4, w in 16×16 blocks, dy stochastic, wgrad rotated by 16 (arXiv 2509.25149);
 *   "quartet_v1"      mxfp4, all GEMMs rotated by 32, forward clipped by the QuEST rule, both operands of the backward
 *                     GEMMs stochastic (arXiv 2505.14669v1);
 *   "quartet_neurips" the same, all casts to nearest (arXiv 2505.14669, version of NeurIPS);
 *   "luq"             x and w int4 by SAWB, dy e3m0 stochastic, two draws of it in wgrad (arXiv 2112.10769);
 *   "halo_0"          e4m3fn with tensor scales (arXiv 2501.02625);
 *   "halo_1"          FP6 with tensor scales, e2m3fn forward rotated by 128, e3m2fn backward;
 *   "halo_2"          int8 with tensor scales, forward rotated by 128, dy of dgrad rotated along its rows;
 *   "coat"            e4m3fn, gradients e5m2, tensor scales; wgrad uses x as forward cast it (arXiv 2410.19313);
 *   "int4_hadamard_sawb"  int4 with the step sizes of SAWB, forward rotated by 32; dy in two int4 parts (after
 *                     arXiv 2306.11987);
 *   "unit_scaling"    e4m3fn, gradients e5m2, without scales; constant output scales (arXiv 2303.11257);
 *   "sparse24"        f32; weights 2:4 along rows by magnitude, selected in each prepare;
 *   "sparse24_transposable"  f32; weights 2:4 along rows and columns, selected every 40 steps (arXiv 2102.08124);
 *   "mvue12_gradients"       f32; output gradients 1:2 by MVUE in the wgrad GEMM (arXiv 2203.10991);
 *   "mvue24_gradients"       the same, 2:4.
 *
 * @param[in]  name        One of the names above.
 * @param[out] out_recipe  Destroy with lpt_recipe_destroy().
 * @retval LPT_INVALID_ARGUMENT  `name` is unknown; the text lists all names.
 */
LPT_API lpt_status lpt_recipe_create(lpt_context *context, const char *name, lpt_recipe **out_recipe);

/**
 * @brief Returns the number of recipes that lpt_recipe_create() supports.
 *
 * @return The number: lpt_recipe_name() takes 0 to one less.
 */
LPT_API int64_t lpt_recipe_count(void);

/**
 * @brief Returns the name of a recipe that lpt_recipe_create() supports.
 *
 * @param[in] index  0 is the first recipe.
 * @return The name, valid while the library is loaded. NULL for other indices.
 */
LPT_API const char *lpt_recipe_name(int64_t index);

/**
 * @brief Destroys a recipe; layers that were created with it stay valid.
 *
 * @param[in] recipe  NULL is allowed.
 */
LPT_API void lpt_recipe_destroy(lpt_recipe *recipe);

/**
 * @brief Changes one cast of a recipe; existing layers keep theirs.
 *
 * @param[in,out] recipe   Recipe to change.
 * @param[in]     cast     Which operand.
 * @param[in]     format   Any dense format of numbers; LPT_FORMAT_NONE: the operand is not cast.
 * @param[in]     options  Rounding, overflow, scale rule, random bits; NULL for the defaults. Handles and random
 *                         numbers belong to calls of a layer.
 * @retval LPT_INVALID_ARGUMENT  `cast`, `format` or a member of `options` is out of range, or `options` holds a handle
 *                               or random numbers.
 * @retval LPT_UNSUPPORTED       `options` sets LPT_QUANTIZE_KEEP_TENSOR_SCALE or `hadamard_size`, or the format does
 *                               not support the rounding or scale rule.
 */
LPT_API lpt_status lpt_recipe_set_cast(lpt_context *context, lpt_recipe *recipe, lpt_linear_cast cast,
                                       lpt_format format, const lpt_quantize_options *options);

/**
 * @brief Changes the source of the tensor scales of one operand; existing layers keep theirs.
 *
 * @param[in,out] recipe   Recipe to change.
 * @param[in]     operand  Which tensor.
 * @param[in]     options  Kind, history, margin; NULL: current scaling.
 * @retval LPT_INVALID_ARGUMENT  `operand` or a member of `options` is out of range.
 */
LPT_API lpt_status lpt_recipe_set_scaler(lpt_context *context, lpt_recipe *recipe, lpt_linear_operand operand,
                                         const lpt_scaler_options *options);

/**
 * @brief Returns the format of one cast of a recipe.
 *
 * @param[in]  recipe      Recipe to read.
 * @param[in]  cast        Which operand.
 * @param[out] out_format  LPT_FORMAT_NONE: the operand is not cast.
 * @retval LPT_INVALID_ARGUMENT  `cast` is out of range.
 */
LPT_API lpt_status lpt_recipe_cast_format(lpt_context *context, const lpt_recipe *recipe, lpt_linear_cast cast,
                                          lpt_format *out_format);

/**
 * @brief Changes the options of one GEMM of a recipe; existing layers keep theirs.
 *
 * @param[in,out] recipe   Recipe to change.
 * @param[in]     product  Which GEMM.
 * @param[in]     options  NULL for the defaults.
 * @retval LPT_INVALID_ARGUMENT  `product` or a member of `options` is out of range.
 * @retval LPT_UNSUPPORTED       The forward GEMM with `source`, `draws` or `parts` other than the default, or axis ROWS
 *                               with a GEMM other than dgrad.
 */
LPT_API lpt_status lpt_recipe_set_gemm(lpt_context *context, lpt_recipe *recipe, lpt_linear_gemm product,
                                       const lpt_linear_gemm_options *options);

/**
 * @brief Sets both operands of one GEMM to a high precision, for quantization-aware fine-tuning.
 *
 * Both operands are cast to `format` to nearest, from x and w as passed, without rotation, draws or parts. The output
 * scale of the GEMM does not change. With lpt_linear_set_recipe() it completes a run in 4 bits with the forward GEMM,
 * or both backward GEMMs, in high precision.
 *
 * @param[in,out] recipe   Recipe to change.
 * @param[in]     product  Which GEMM.
 * @param[in]     format   Any dense format of numbers; LPT_FORMAT_NONE: operands are not cast.
 * @retval LPT_INVALID_ARGUMENT  `product` or `format` is out of range.
 */
LPT_API lpt_status lpt_recipe_set_high_precision(lpt_context *context, lpt_recipe *recipe, lpt_linear_gemm product,
                                                 lpt_format format);

/**
 * @brief Makes one operand of a recipe sparse: N of every M elements are kept, before rotation and cast.
 *
 * LPT_LINEAR_OPERAND_WEIGHT: the forward and the dgrad GEMM use the masked weight. Its gradient is that of all elements
 * (straight-through). Rules are MAGNITUDE and SOFT_THRESHOLD. With interval 1 each lpt_linear_prepare() selects.
 * Otherwise a mask is valid until `random.step` exceeds that of its selection by `interval`; saved states include it.
 * SOFT_THRESHOLD selects in each prepare. It multiplies by the factor that fits the masked weight best at its first
 * selection: sum(w · masked) / sum(masked²).
 *
 * LPT_LINEAR_OPERAND_GRADIENT: the wgrad GEMM uses the masked output gradient, dgrad the dense one. The direction is
 * COLUMN: groups of M tokens. `first_row` of each call is a multiple of M. Random bits are drawn as those of casts.
 *
 * LPT_LINEAR_OPERAND_INPUT: the forward and the wgrad GEMM use the masked input. Its gradient is that of all elements.
 * The rule is MAGNITUDE, the direction ROW: groups of M columns.
 *
 * Device    Layers on a GPU do not support it.
 *
 * @param[in,out] recipe    Recipe to change.
 * @param[in]     operand   Which operand.
 * @param[in]     interval  Steps between selections, 1 to 2^20; for input and gradient 1.
 * @param[in]     options   How to select, without handles and random numbers. NULL: the operand is dense.
 * @retval LPT_INVALID_ARGUMENT  An argument or a member of `options` is out of range, or `options` holds a handle or
 *                               random numbers.
 * @retval LPT_UNSUPPORTED       The operand does not support the rule or the direction, or lpt_sparse_mask_select() does
 *                               not support the combination of options.
 */
LPT_API lpt_status lpt_recipe_set_sparsity(lpt_context *context, lpt_recipe *recipe, lpt_linear_operand operand,
                                           int32_t interval, const lpt_sparse_options *options);

#ifdef __cplusplus
}
#endif

#endif
