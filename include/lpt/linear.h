/**
 * @file linear.h
 * @brief Recipes of low-precision training, and linear layers that follow them.
 */
#ifndef LPT_LINEAR_H
#define LPT_LINEAR_H

#include "common.h"
#include "format.h"
#include "quantize.h"
#include "scaler.h"
#include "sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief One operand of one multiplication; one of lpt_linear_cast_values. */
typedef int32_t lpt_linear_cast;

/** @brief Values of lpt_linear_cast. Forward y = x·wᵀ; dgrad dx = dy·w; wgrad dw = dyᵀ·x. */
enum lpt_linear_cast_values {
  LPT_LINEAR_CAST_FORWARD_INPUT = 0,  /**< x in the forward product. */
  LPT_LINEAR_CAST_FORWARD_WEIGHT = 1, /**< w in the forward product. */
  LPT_LINEAR_CAST_DGRAD_GRADIENT = 2, /**< dy in the input gradient. */
  LPT_LINEAR_CAST_DGRAD_WEIGHT = 3,   /**< w in the input gradient. */
  LPT_LINEAR_CAST_WGRAD_GRADIENT = 4, /**< dy in the weight gradient. */
  LPT_LINEAR_CAST_WGRAD_INPUT = 5     /**< x in the weight gradient: what is saved from forward to backward. */
};

/** @brief One tensor of a linear layer; one of lpt_linear_operand_values. */
typedef int32_t lpt_linear_operand;

/** @brief Values of lpt_linear_operand. */
enum lpt_linear_operand_values {
  LPT_LINEAR_OPERAND_INPUT = 0,   /**< x. */
  LPT_LINEAR_OPERAND_WEIGHT = 1,  /**< w. */
  LPT_LINEAR_OPERAND_GRADIENT = 2 /**< dy. */
};

/** @brief One product of a linear layer; one of lpt_linear_gemm_values. */
typedef int32_t lpt_linear_gemm;

/** @brief Values of lpt_linear_gemm. The first factor of each is its left operand, the second its right one. */
enum lpt_linear_gemm_values {
  LPT_LINEAR_GEMM_FORWARD = 0, /**< y = x · wᵀ; its inner size is input_columns. */
  LPT_LINEAR_GEMM_DGRAD = 1,   /**< dx = dy · w; its inner size is output_columns. */
  LPT_LINEAR_GEMM_WGRAD = 2    /**< dw = dyᵀ · x; its inner size is the rows. */
};

/** @brief The signs of a rotation; one of lpt_hadamard_signs_values. */
typedef int32_t lpt_hadamard_signs;

/** @brief Values of lpt_hadamard_signs. */
enum lpt_hadamard_signs_values {
  LPT_HADAMARD_SIGNS_NONE = 0, /**< All 1. */
  LPT_HADAMARD_SIGNS_FIXED =
      1, /**< + + + - + - - - - - - + - + - -, again and again: those of arXiv 2509.25149's code. */
  /**
   * One per column of a group, drawn from the random numbers of the call that rotates first: prepare for the forward
   * and the dgrad product, forward for the wgrad product.
   */
  LPT_HADAMARD_SIGNS_RANDOM = 2
};

/** @brief Which axis a product's operands are rotated along; one of lpt_hadamard_axis_values. */
typedef int32_t lpt_hadamard_axis;

/** @brief Values of lpt_hadamard_axis. */
enum lpt_hadamard_axis_values {
  LPT_HADAMARD_AXIS_INNER = 0, /**< Both operands along the inner size: the product undoes it. */
  LPT_HADAMARD_AXIS_ROWS = 1   /**< Of dgrad: dy along its rows, undone on dx (HALO level 2). */
};

/** @brief What a backward product's x or w is cast from; one of lpt_linear_source_values. */
typedef int32_t lpt_linear_source;

/** @brief Values of lpt_linear_source. */
enum lpt_linear_source_values {
  LPT_LINEAR_SOURCE_PLAIN = 0, /**< From x or w as it came. */
  /**
   * From what the forward product multiplied, decoded. The forward rotation is undone on the gradient. A cast to
   * NONE, or the same as forward's, takes the codes as they are.
   */
  LPT_LINEAR_SOURCE_FORWARD = 1,
  /**
   * The same, and the gradient of what the forward cast clipped is zero: dx where x was beyond the largest element,
   * dw where w was.
   */
  LPT_LINEAR_SOURCE_FORWARD_CLIPPED = 2
};

/** @brief What a product is multiplied by; one of lpt_linear_output_scale_values. */
typedef int32_t lpt_linear_output_scale;

/** @brief Values of lpt_linear_output_scale. */
enum lpt_linear_output_scale_values {
  LPT_LINEAR_OUTPUT_SCALE_NONE = 0, /**< 1. */
  /** Forward and dgrad: 1 / sqrt(input_columns). Wgrad, and the bias gradient with it: 1 / sqrt(rows). */
  LPT_LINEAR_OUTPUT_SCALE_UNIT = 1
};

/** @brief How a product is made of its two casts. */
typedef struct lpt_linear_gemm_options {
  size_t struct_size; /**< sizeof(lpt_linear_gemm_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
  /** 16, 32, 64 or 128: rotate operands before their casts, see lpt_hadamard(); 0: no. */
  int32_t hadamard_size;
  lpt_hadamard_signs hadamard_signs; /**< Of the rotation. */
  lpt_hadamard_axis hadamard_axis;   /**< Of the rotation. */
  lpt_linear_source source;          /**< Backward products: what x or w is cast from. */
  int32_t draws; /**< Backward products: 1 to 16 stochastic casts of dy whose products are averaged. */
  /** Backward products: 1, or 2: dy is the sum of a nearest cast and the cast of what it left. */
  int32_t parts;
  lpt_linear_output_scale output_scale; /**< Of the result. */
  int32_t reserved;                     /**< 0. */
} lpt_linear_gemm_options;

/** @brief Defaults of lpt_linear_gemm_options. */
#define LPT_LINEAR_GEMM_OPTIONS_INIT                                                                                  \
  {                                                                                                                   \
    sizeof(lpt_linear_gemm_options), 0, 0, LPT_HADAMARD_SIGNS_NONE, LPT_HADAMARD_AXIS_INNER, LPT_LINEAR_SOURCE_PLAIN, \
        1, 1, LPT_LINEAR_OUTPUT_SCALE_NONE, 0                                                                         \
  }

/**
 * @brief Writes the defaults of LPT_LINEAR_GEMM_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_linear_gemm_options_init(lpt_linear_gemm_options *options, size_t struct_size);

/**
 * @brief Creates a recipe by name. Casts are to nearest, save where it says stochastic; docs/reference/recipes.md has every cast.
 *
 *   "f32"             nothing is cast;
 *   "bf16"            every operand bf16;
 *   "fp8_trillion"    e4m3fn forward, e5m2 backward, the output gradient rounded stochastically, power-of-two tensor scales
 *                     from the amax of the step before (arXiv 2409.12517);
 *   "fp8_current"     e4m3fn, gradients e5m2, tensor scales of the moment;
 *   "mxfp8"           mxfp8_e4m3 everywhere, scales rounded up;
 *   "fp8_block"       e4m3fn with f32 scales, 1×128 for x and dy, 128×128 for w;
 *   "fp4_all_the_way" nvfp4 everywhere; dy, and x in wgrad, stochastic (arXiv 2505.19115);
 *   "nvfp4_pretrain"  nvfp4, w in 16×16 blocks, dy stochastic, wgrad rotated by 16 (arXiv 2509.25149);
 *   "quartet"         mxfp4, everything rotated by 32, forward clipped by QuEST's rule, dy stochastic (arXiv 2505.14669);
 *   "luq"             x and w int4 by SAWB, dy e3m0 stochastic (arXiv 2112.10769);
 *   "halo_0"          e4m3fn with tensor scales (arXiv 2501.02625);
 *   "halo_1"          FP6 with tensor scales, forward rotated;
 *   "halo_2"          int8 with tensor scales, forward rotated, dgrad's dy rotated along its rows;
 *   "coat"            e4m3fn, gradients e5m2, tensor scales; x is saved in groups of 128 (arXiv 2410.19313);
 *   "int4_hadamard"   int4, forward rotated by 32; dy in two int4 parts (arXiv 2306.11987);
 *   "unit_scaling"    e4m3fn, gradients e5m2, without scales; products times constants (arXiv 2303.11257).
 *   "sparse24"        f32; weights 2:4 along rows by magnitude, selected again in each prepare.
 *   "sparse24_transposable"  f32; weights 2:4 along rows and columns, selected every 40 steps (arXiv 2102.08124).
 *   "mvue24_gradients"  f32; output gradients 2:4 by MVUE in the wgrad product (arXiv 2203.10991).
 *
 * @param context the context.
 * @param name one of the above.
 * @param out_recipe returned; destroy with lpt_recipe_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT for an unknown name; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_recipe_create(lpt_context *context, const char *name, lpt_recipe **out_recipe);

/**
 * @brief Returns the name of a recipe that lpt_recipe_create() knows.
 * @param context the context.
 * @param index 0 for the first.
 * @param out_name returned; lives as long as the library; NULL past the last one.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_name(lpt_context *context, int64_t index, const char **out_name);

/**
 * @brief Destroys a recipe. Layers made with it live on.
 * @param recipe NULL is allowed.
 */
LPT_API void lpt_recipe_destroy(lpt_recipe *recipe);

/**
 * @brief Changes one cast of a recipe. Layers that were made before keep theirs.
 * @param context the context.
 * @param recipe the recipe.
 * @param cast which operand.
 * @param format any but uint8; LPT_FORMAT_NONE: the operand is used as it comes.
 * @param options rounding, overflow, scale rule; NULL for the defaults. Handles and random numbers in it are rejected.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_set_cast(lpt_context *context, lpt_recipe *recipe, lpt_linear_cast cast,
                                       lpt_format format, const lpt_quantize_options *options);

/**
 * @brief Changes where the tensor scales of one operand come from. Layers that were made before keep theirs.
 * @param context the context.
 * @param recipe the recipe.
 * @param operand which tensor.
 * @param options kind, history, margin; NULL for current scaling.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_set_scaler(lpt_context *context, lpt_recipe *recipe, lpt_linear_operand operand,
                                         const lpt_scaler_options *options);

/**
 * @brief Returns the format of one cast.
 * @param context the context.
 * @param recipe the recipe.
 * @param cast which operand.
 * @param out_format returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_cast_format(lpt_context *context, const lpt_recipe *recipe, lpt_linear_cast cast,
                                          lpt_format *out_format);

/**
 * @brief Changes how one product is made. Layers that were made before keep theirs.
 * @param context the context.
 * @param recipe the recipe.
 * @param product which product.
 * @param options NULL for the defaults.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for what the product cannot have.
 */
LPT_API lpt_status lpt_recipe_set_gemm(lpt_context *context, lpt_recipe *recipe, lpt_linear_gemm product,
                                       const lpt_linear_gemm_options *options);

/**
 * @brief Raises one product to a high precision: both operands are cast to `format` to nearest, from x and w as they come,
 *        without rotation, draws or parts. Its output scale stays. With lpt_linear_set_recipe() it ends a run in 4 bits:
 *        forward, or both backward products (quantization-aware finetuning).
 * @param context the context.
 * @param recipe the recipe.
 * @param product which product.
 * @param format any but uint8; LPT_FORMAT_NONE: the operands are used as they come.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_set_high_precision(lpt_context *context, lpt_recipe *recipe, lpt_linear_gemm product,
                                                 lpt_format format);

/**
 * @brief Makes one operand of a recipe sparse, N of every M numbers: before it is rotated and cast.
 *
 * LPT_LINEAR_OPERAND_WEIGHT    The forward and the dgrad product multiply the masked weight; its gradient is that of all numbers
 *                       (straight through). Rules MAGNITUDE and SOFT_THRESHOLD. With interval 1 each lpt_linear_prepare()
 *                       selects again; else a mask serves until `random.step` of the options is `interval` or more past
 *                       that of its selection, and is part of saved states. SOFT_THRESHOLD selects in each prepare, and
 *                       multiplies by the factor that fits the masked weight to the weight best when it is first
 *                       selected: sum(w · masked) / sum(masked²).
 * LPT_LINEAR_OPERAND_GRADIENT  The wgrad product multiplies the masked output gradient; dgrad takes all of it. Direction COLUMN:
 *                       groups of M tokens. `first_row` of each call is a multiple of M. Random bits are drawn as casts
 *                       draw theirs.
 * LPT_LINEAR_OPERAND_INPUT     Unsupported: lpt_sparse_mask_select() masks activations.
 *
 * @param context the context.
 * @param recipe the recipe.
 * @param operand which tensor.
 * @param options how to select, without handles and random numbers; NULL: the operand is dense again.
 * @param interval steps from one selection to the next, 1 to 2^20; for LPT_LINEAR_OPERAND_GRADIENT 1.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_recipe_set_sparsity(lpt_context *context, lpt_recipe *recipe, lpt_linear_operand operand,
                                           const lpt_sparse_options *options, int32_t interval);

/** @brief The shape of a linear layer. */
typedef struct lpt_linear_shape {
  size_t struct_size;     /**< sizeof(lpt_linear_shape) of the caller. */
  int64_t input_columns;  /**< Columns of the input and of the weight. */
  int64_t output_columns; /**< Columns of the output, rows of the weight. */
} lpt_linear_shape;

/** @brief Defaults of lpt_linear_shape. */
#define LPT_LINEAR_SHAPE_INIT \
  { sizeof(lpt_linear_shape), 0, 0 }

/**
 * @brief Writes the defaults of LPT_LINEAR_SHAPE_INIT.
 * @param shape written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_linear_shape_init(lpt_linear_shape *shape, size_t struct_size);

/** @brief What part of a layer a rank of a comm has; one of lpt_linear_parallel_values. */
typedef int32_t lpt_linear_parallel;

/** @brief Values of lpt_linear_parallel. docs/guides/tensor-parallel.md tells who adds up what. */
enum lpt_linear_parallel_values {
  LPT_LINEAR_PARALLEL_NONE = 0, /**< All of it: no comm. */
  /**
   * Column-parallel: rows of the weight, so columns of the output. Forward is the rank's own affair. Backward: ranks hold
   * the same input, and input_gradient is the sum over ranks, added while the weight's gradient is computed; with a plan
   * every rank holds an input of its own, and input_gradient is that of this one: nothing is sent.
   */
  LPT_LINEAR_PARALLEL_COLUMNS = 1,
  /**
   * Row-parallel: columns of the weight and of the input. Forward: the product is a part of a sum; the output is the sum
   * over ranks, the same bits on all, or with a plan lpt_partial_gemm()'s. Backward: ranks hold the same output_gradient,
   * and nothing is sent; with a plan every rank holds a part of it, which first goes through lpt_partial_all_reduce() of
   * LPT_PARTIAL_PASS_BACKWARD, into scratch.
   */
  LPT_LINEAR_PARALLEL_ROWS = 2
};

/** @brief One call of a linear layer. */
typedef struct lpt_linear_options {
  size_t struct_size;     /**< sizeof(lpt_linear_options) of the caller. */
  uint64_t flags;         /**< LPT_CHECK_ONLY. */
  lpt_random random;      /**< Seed, this layer's stream, this micro-batch's step; offset, row_stride stay 0. */
  int64_t first_row;      /**< Index of the first row in the whole batch, to 2^32: ranks differ in it. */
  const lpt_tensor *bias; /**< Forward: vector of output_columns, f32; NULL: none. */
  const lpt_tensor
      *input_smoothing;   /**< Forward: factors of the input's columns, from lpt_swiglu_forward(); or NULL. */
  int32_t is_accumulated; /**< Weight and bias gradients: 0 overwrite, 1 add. */
  int32_t reserved;       /**< 0. */
  lpt_comm *comm;         /**< Ranks that share the layer; NULL: this one has all of it. The same in every call. */
  const lpt_partial_plan *plan; /**< Columns that ranks share (CAAT): the output's of ROWS; NULL: all. Needs comm. */
  lpt_linear_parallel parallel; /**< With comm, how ranks share the layer: COLUMNS or ROWS. */
  int32_t reserved_two;         /**< 0. */
} lpt_linear_options;

/** @brief Defaults of lpt_linear_options. */
#define LPT_LINEAR_OPTIONS_INIT \
  { sizeof(lpt_linear_options), 0, LPT_RANDOM_INIT, 0, NULL, NULL, 0, 0, NULL, NULL, LPT_LINEAR_PARALLEL_NONE, 0 }

/**
 * @brief Writes the defaults of LPT_LINEAR_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_linear_options_init(lpt_linear_options *options, size_t struct_size);

/**
 * @brief Creates a linear layer. It owns its scalers and its weight's casts, not the weight.
 * @param context the context.
 * @param recipe borrowed; copied, so it may be changed or destroyed before the layer.
 * @param shape borrowed.
 * @param out_linear returned; destroy with lpt_linear_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_linear_create(lpt_context *context, const lpt_recipe *recipe, const lpt_linear_shape *shape,
                                     lpt_linear **out_linear);

/**
 * @brief Destroys a linear layer.
 * @param linear NULL is allowed.
 */
LPT_API void lpt_linear_destroy(lpt_linear *linear);

/**
 * @brief Gives a layer another recipe, from its next lpt_linear_prepare() on. Scalers whose options stay the same keep
 *        their history, others begin again. What forward saved before that prepare is of no use after it, and
 *        lpt_linear_saved_size() may change with it: end the micro-batches in flight first.
 * @param context the context.
 * @param linear the layer.
 * @param recipe borrowed; copied.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_linear_set_recipe(lpt_context *context, lpt_linear *linear, const lpt_recipe *recipe);

/**
 * @brief Casts the weight for the forward and backward products. Call it after every change of the weight. If it fails,
 *        the layer is what it was.
 * @param context the context.
 * @param linear the layer.
 * @param weight borrowed; output_columns × input_columns, any format but uint8.
 * @param options random numbers, where the recipe casts weights stochastically or draws signs; comm and parallel, so that
 *        ranks draw apart. Nothing is sent. NULL for the defaults.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_linear_prepare(lpt_context *context, lpt_linear *linear, const lpt_tensor *weight,
                                      const lpt_linear_options *options);

/**
 * @brief Returns how many bytes forward saves for backward. The number follows from the layer and `rows` alone.
 * @param context the context.
 * @param linear the layer.
 * @param rows rows of the input.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_saved_size(lpt_context *context, const lpt_linear *linear, int64_t rows,
                                         size_t *out_size_bytes);

/**
 * @brief Returns how many bytes the weight's casts take.
 * @param context the context.
 * @param linear the layer.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_cast_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes);

/**
 * @brief Computes y = x · wᵀ + bias, and saves what backward needs.
 *
 * Smoothing (options.input_smoothing) acts where the input is cast to an element with one tensor scale: the columns are
 * divided by their factors before the cast and multiplied back when the product decodes them. Elsewhere it would change
 * nothing and is left out; with block scales, rotated, or where backward takes what forward multiplied, it is rejected.
 *
 * With options.comm (options.parallel says how) this rank's layer is a slice of one that ranks share, and its shape that of
 * the slice. All ranks call it. Bits are those of one call after the other: this layer without a comm, then the
 * reduction; but private columns are computed while shared ones are sent, and a bias behind ROWS is the same on all
 * ranks and added once, after the sum, with a rounding of its own; never scaled with private columns. One rank gives the
 * bits of the layer without a comm. Scales of tensors and blocks are those of the slice. Unit-scaled products behind ROWS
 * divide by the root of rank count · input_columns: there slices are alike. Stochastic casts of what only this rank has draw
 * by seed ^ (rank · 2^54), casts of what all ranks hold by the seed: all get the same codes. Progress is not told.
 *
 * @param context the context; with a comm, of this rank.
 * @param linear the layer; prepared.
 * @param input borrowed; rows × input_columns, f32, bf16, f16 or f64.
 * @param options NULL for the defaults.
 * @param saved written; a uint8 vector of lpt_linear_saved_size() bytes, one per micro-batch in flight; NULL: inference.
 * @param output written; rows × output_columns, f32, bf16, f16 or f64.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED; with a comm as
 *         lpt_partial_gemm().
 */
LPT_API lpt_status lpt_linear_forward(lpt_context *context, lpt_linear *linear, const lpt_tensor *input,
                                      const lpt_linear_options *options, lpt_tensor *saved, lpt_tensor *output);

/**
 * @brief Computes dx = dy · w, dw = dyᵀ · x and db = the column sums of dy; each one only if it is wanted.
 *
 * The bits of a stochastic cast belong to the element's place: computing dx and dw in two calls gives the same codes. A
 * rotated operand draws by the places of the rotated matrix.
 *
 * With options.comm all ranks call it, for the same gradients; lpt_linear_parallel_values tells what is sent. A bias gradient is
 * that of output_gradient as it comes: ROWS with a plan, a part of a sum, as of all that ranks hold alike.
 *
 * @param context the context; with a comm, of this rank.
 * @param linear the layer; prepared.
 * @param saved borrowed; as forward wrote it. NULL is allowed when no weight gradient is wanted, and no input gradient
 *        that depends on what forward clipped (LPT_LINEAR_SOURCE_FORWARD_CLIPPED).
 * @param output_gradient borrowed; rows × output_columns, f32, bf16, f16 or f64.
 * @param options NULL for the defaults.
 * @param input_gradient written; rows × input_columns; NULL: not wanted.
 * @param weight_gradient written or added to; output_columns × input_columns, f32 or f64; NULL: not wanted.
 * @param bias_gradient written or added to; vector of output_columns, f32 or f64; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED; with a comm as
 *         lpt_partial_all_reduce().
 */
LPT_API lpt_status lpt_linear_backward(lpt_context *context, lpt_linear *linear, const lpt_tensor *saved,
                                       const lpt_tensor *output_gradient, const lpt_linear_options *options,
                                       lpt_tensor *input_gradient, lpt_tensor *weight_gradient,
                                       lpt_tensor *bias_gradient);

/**
 * @brief Gives the scalers of many layers the largest amax that any rank has recorded since the last update, in one message.
 *        Called on all ranks before lpt_linear_update_scalers(), delayed scales are the same on all of them.
 *
 * Slices of one tensor need no common scale to be right: each is decoded by its own. It is for codes that ranks compare,
 * gather or save as one tensor, and for shares of one batch.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param linears borrowed; the same layers on all ranks, in the same order.
 * @param linear_count length of `linears`.
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_linear_share_amax(lpt_context *context, lpt_comm *comm, lpt_linear *const *linears,
                                         int64_t linear_count);

/**
 * @brief Ends an optimizer step for the scalers of many layers; see lpt_scaler_update().
 * @param context the context.
 * @param linears borrowed.
 * @param linear_count length of `linears`.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_update_scalers(lpt_context *context, lpt_linear *const *linears, int64_t linear_count);

/**
 * @brief Reads what one of the layer's scalers knows.
 * @param context the context.
 * @param linear the layer.
 * @param operand which scaler.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_scaler_read(lpt_context *context, const lpt_linear *linear, lpt_linear_operand operand,
                                          lpt_scaler_info *out_info);

/**
 * @brief Reads the mask that the weight of a layer has since its last lpt_linear_prepare(): for lpt_sparse_mask_decay(), and
 *        to see how it changes.
 * @param context the context.
 * @param linear the layer; its recipe makes weights sparse.
 * @param mask written; uint8, output_columns × input_columns.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_mask_read(lpt_context *context, const lpt_linear *linear, lpt_tensor *mask);

/**
 * @brief Has a layer count what each of its casts does, or ends that. The counts begin at zero with every call; they are no
 *        part of saved states. Casts give the same bits, and take longer.
 *
 * A cast that serves two products counts for the first of forward, dgrad, wgrad. Of two parts of dy the first counts, of
 * many draws each one. The weight's casts count in lpt_linear_prepare(), where it succeeds.
 *
 * @param context the context.
 * @param linear the layer.
 * @param is_watched 1: count from now on; 0: no more.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_watch(lpt_context *context, lpt_linear *linear, int32_t is_watched);

/**
 * @brief Reads what one of a watched layer's casts did since lpt_linear_watch(): zeros where it did not run. A clip is what a
 *        stale scale or a rule such as QuEST's or SAWB's cuts off; see lpt_statistics_info.
 * @param context the context.
 * @param linear the layer.
 * @param cast which operand of which product.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_cast_read(lpt_context *context, const lpt_linear *linear, lpt_linear_cast cast,
                                        lpt_statistics_info *out_info);

/**
 * @brief Returns how many bytes lpt_linear_state_save() writes.
 * @param context the context.
 * @param linear the layer.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_state_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes);

/**
 * @brief Saves the layer's scalers: portable, versioned, with a checksum. The weight's casts are made again by prepare.
 * @param context the context.
 * @param linear the layer.
 * @param buffer written.
 * @param buffer_bytes at least lpt_linear_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_linear_state_save(lpt_context *context, const lpt_linear *linear, void *buffer,
                                         size_t buffer_bytes);

/**
 * @brief Restores the layer's scalers.
 * @param context the context.
 * @param linear written; of the same recipe and shape as the saved one.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE, and nothing is changed.
 */
LPT_API lpt_status lpt_linear_state_load(lpt_context *context, lpt_linear *linear, const void *buffer,
                                         size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif
