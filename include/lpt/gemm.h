/**
 * @file gemm.h
 * @brief Matrix multiplication (GEMM) of any two formats, grouped GEMM, and plans.
 */
#ifndef LPT_GEMM_H
#define LPT_GEMM_H

#include "common.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Function that a GEMM applies to its results.
 *
 * x is `alpha · a · b + beta · c + bias`.
 */
enum lpt_activation_values {
  LPT_ACTIVATION_NONE = 0,      /**< x */
  LPT_ACTIVATION_GELU = 1,      /**< x · (1 + erf(x / sqrt(2))) / 2 */
  LPT_ACTIVATION_GELU_TANH = 2, /**< x · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 · x^3))) / 2 */
  LPT_ACTIVATION_SILU = 3,      /**< x / (1 + exp(-x)) */
  /** silu(x(i, j)) · x(i, j + n / 2) for j < n / 2: n is even, c is m × n / 2, beta is 0. */
  LPT_ACTIVATION_SWIGLU = 4
};
/** @brief An activation of a GEMM; one of lpt_activation_values. */
typedef int32_t lpt_activation;

/** @brief Options of lpt_gemm(), lpt_gemm_grouped() and lpt_gemm_plan_create(). */
typedef struct lpt_gemm_options {
  size_t struct_size;        /**< sizeof(lpt_gemm_options) of the caller. */
  lpt_flags flags;           /**< LPT_CHECK_ONLY, flags of GEMMs (LPT_GEMM_…), or 0. */
  double alpha;              /**< Factor of a · b; finite. */
  double beta;               /**< Factor of the previous c; finite. With 0, c is not read. */
  int32_t is_a_transposed;   /**< 1: a is stored as k × m; 0: as m × k. */
  int32_t is_b_transposed;   /**< 1: b is stored as n × k; 0: as k × n. */
  const lpt_tensor *bias;    /**< Vector of n in f32, or f64 if the sum is f64, added to each row; NULL: none. */
  lpt_activation activation; /**< Function applied to alpha · a · b + beta · c + bias. */
  int32_t reserved;          /**< 0. */
  /** Added after the activation: f32, bf16 or f16 of c's shape, or c itself; NULL: none. */
  const lpt_tensor *residual;
  /**
   * Encoding of a c that is not f32, bf16, f16 or f64; NULL: the defaults. For other c it must be NULL.
   *
   * Rounding, scale rule, scaler and statistics (with amax) are as for lpt_quantize().
   */
  const lpt_quantize_options *quantize;
  /**
   * Columns of a with an element of at least this magnitude are multiplied in f32 (LLM.int8, arXiv 2208.07339); 0:
   * none.
   *
   * The other columns are cast to int8 by rows. a is f32, bf16 or f16, and stored as m × k. Only lpt_gemm() of one pair
   * of dense matrices on the CPU supports it.
   */
  double outlier_threshold;
  const lpt_gemm_emulation *emulation; /**< Emulated arithmetic of another machine; NULL, the default: none. */
} lpt_gemm_options;

/** @brief Defaults of lpt_gemm_options. */
#define LPT_GEMM_OPTIONS_INIT \
  { sizeof(lpt_gemm_options), 0, 1.0, 0.0, 0, 0, NULL, LPT_ACTIVATION_NONE, 0, NULL, NULL, 0.0, NULL }

/**
 * @brief Multiplies two matrices, or two batches of matrices, of any formats.
 *
 * x is `alpha · a · b + beta · c + bias`, and c becomes `activation(x) + residual`.
 *
 * Shapes    a is m × k, b is k × n, c is m × n; a and b may be stored transposed. m, n and k may be 0. Leading axes of
 *           a and c are rows. If b has leading axes too (or a, stored transposed), the call is a batch. Each matrix of
 *           c then has its matrix of a and of b, or one is used for all. Leading axes may have any strides.
 *
 * Formats   a and b are of any format of numbers. b may be packed, see lpt_weights_pack(). c is f32, bf16, f16, f64, or
 *           any format that lpt_quantize() writes. If a, b or c is f64, dense or 2:4, the sum and `bias` are f64. A c of
 *           f64 takes no activation, no residual and no outliers. An encoded c is first computed in f32, in a copy of
 *           all of c.
 *
 * Rounding  Products are exact or rounded once. Sums are in f32, or exact in int32 if a kernel multiplies integers. The
 *           order of a sum depends on the kernel and the shape, never on the number of threads; see
 *           LPT_GEMM_PORTABLE_ORDER. c is rounded once, to nearest even or as `quantize` selects. Scales are applied
 *           exactly once. Activation, residual and encoding are computed in f32. LPT_GEMM_FAST_ACCUMULATE permits
 *           sums in fewer bits.
 *
 * Overlap   c must not overlap a, b or `bias`. `residual` may be c itself; otherwise it must not overlap c.
 *
 * Device    All tensors are on the context's device. On a GPU the work is queued. Packed weights need a CPU context.
 *
 * @param[in]     a       First operand.
 * @param[in]     b       Second operand.
 * @param[in]     options NULL: the defaults.
 * @param[in,out] c       Result; read only if `beta` is not 0, or if it is also `residual`.
 *
 * @retval LPT_INVALID_ARGUMENT Shapes do not agree, c overlaps another tensor, or an option is out of range. n is odd
 *                              with SwiGLU. `bias` has a wrong format. `quantize` is given and c is a wide float. b is
 *                              packed and `is_b_transposed` is 0.
 * @retval LPT_UNSUPPORTED      A format, or a combination of formats and options, has no kernel. `beta` is not 0, and c
 *                              is encoded or the activation is SwiGLU. The outlier threshold or LPT_GEMM_CAST_A_TO_BF16
 *                              is not supported here.
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 * @retval LPT_WORK_FAILED      On a GPU, the work cannot be queued.
 */
LPT_API lpt_status lpt_gemm(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                            const lpt_gemm_options *options, lpt_tensor *c);

/**
 * @brief Multiplies groups of rows, each by its own matrix, as in a mixture of experts.
 *
 * `c(i) = a(i) · b(g)` for each row i of group g. Group g has the rows from `group_ends[g - 1]`, or 0 for the first
 * group, to `group_ends[g] - 1`. A group may be empty. Rows after the last end belong to no group, and c does not
 * change there.
 *
 * With `is_a_transposed` 1 the groups are along k, as for the gradient of the weights of experts. Then
 * `c(g) = a(g)^T · b(g)` for the rows of each group.
 *
 * Shapes    With t rows, a is t × k, b is groups × k × n or groups × n × k with `is_b_transposed`, and c is t × n. With
 *           `is_a_transposed`, a is t × m, b is t × n and c is groups × m × n. `bias` is groups × n, or a vector of n
 *           for all groups.
 *
 * Formats   As for lpt_gemm(), and b may be packed. Blocks of scales of operands whose rows are grouped are one row
 *           high. If c has an activation, a residual or an encoding, all rows must belong to groups.
 *
 * Rounding  As for lpt_gemm().
 *
 * Overlap   As for lpt_gemm().
 *
 * Device    All tensors are on the context's device, except that `group_ends` may be in CPU memory. On a GPU the GEMMs
 *           are queued one after the other. If `group_ends` is in GPU memory, the call waits for the work that was queued
 *           before it.
 *
 * Threads   All groups are distributed over the threads together.
 *
 * @param[in]     a           First operand.
 * @param[in]     b           Second operand.
 * @param[in]     group_ends  Vector of groups, int32 or int64: numbers from 0 to t, none below the one before it. Read
 *                            before the call returns, also with LPT_CHECK_ONLY.
 * @param[in]     options     NULL: the defaults. `outlier_threshold` must be 0.
 * @param[in,out] c           Result; read only if `beta` is not 0, or if it is also `residual`.
 *
 * @retval LPT_INVALID_ARGUMENT `group_ends` is out of range or falls, or b or c has another number of groups. Both
 *                              `is_a_transposed` and `is_b_transposed` are 1. Other reasons are those of lpt_gemm().
 * @retval LPT_UNSUPPORTED      Blocks of scales span rows of groups, or c needs a copy and rows belong to no group.
 *                              Other reasons are those of lpt_gemm().
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 * @retval LPT_WORK_FAILED      On a GPU, the work cannot be queued.
 */
LPT_API lpt_status lpt_gemm_grouped(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                                    const lpt_tensor *group_ends, const lpt_gemm_options *options, lpt_tensor *c);

/** @brief Properties of a plan, as lpt_gemm_plan_read() returns them. */
typedef struct lpt_gemm_plan_info {
  size_t struct_size;     /**< sizeof(lpt_gemm_plan_info) of the caller. */
  int64_t m;              /**< Rows of a · b. */
  int64_t n;              /**< Columns of a · b. */
  int64_t k;              /**< Length of the sums. */
  size_t workspace_bytes; /**< Scratch memory of one call in bytes; the context keeps it between calls. */
  int64_t part_count;     /**< Number of tasks that threads share. */
  char kernel[64];        /**< Kernel of the plan, such as "gemm_any_x86_avx512_bf16". */
} lpt_gemm_plan_info;

/** @brief Defaults of lpt_gemm_plan_info. */
#define LPT_GEMM_PLAN_INFO_INIT                      \
  {                                                  \
    sizeof(lpt_gemm_plan_info), 0, 0, 0, 0, 0, { 0 } \
  }

/** @brief Optional operands of lpt_gemm_plan_run(), as in lpt_gemm_options. */
typedef struct lpt_gemm_operands {
  size_t struct_size;                   /**< sizeof(lpt_gemm_operands) of the caller. */
  const lpt_tensor *bias;               /**< NULL: none. */
  const lpt_tensor *residual;           /**< NULL: none. */
  const lpt_quantize_options *quantize; /**< NULL: the defaults. */
} lpt_gemm_operands;

/** @brief Defaults of lpt_gemm_operands. */
#define LPT_GEMM_OPERANDS_INIT \
  { sizeof(lpt_gemm_operands), NULL, NULL, NULL }

/**
 * @brief Checks a GEMM and selects its kernel once for many calls.
 *
 * The checks are those of lpt_gemm(). lpt_context_explanation() explains the selection.
 *
 * Shapes    a, b and c are matrices; a batch has no plan.
 *
 * Ownership The plan keeps no tensor and no context.
 *
 * @param[in]  context  Its device, CPU features and threads determine the kernel.
 * @param[in]  a        Only its format, extents and strides are used; it may have no data.
 * @param[in]  b        Likewise; it may be packed.
 * @param[in]  options  NULL: the defaults. `bias`, `residual` and `quantize` must be NULL, because each call gives
 *                      them.
 * @param[in]  c        Likewise.
 * @param[out] out_plan Destroy it with lpt_gemm_plan_destroy(). NULL with LPT_CHECK_ONLY.
 *
 * @retval LPT_INVALID_ARGUMENT `bias`, `residual` or `quantize` is given. Other reasons are those of lpt_gemm().
 * @retval LPT_UNSUPPORTED      The operands are a batch, or `outlier_threshold` is not 0. Other reasons are those of
 *                              lpt_gemm().
 */
LPT_API lpt_status lpt_gemm_plan_create(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                                        const lpt_gemm_options *options, const lpt_tensor *c, lpt_gemm_plan **out_plan);

/**
 * @brief Multiplies matrices by a plan.
 *
 * The result has the bits of lpt_gemm() on the context of the plan.
 *
 * Overlap   As for lpt_gemm().
 *
 * Device    The context is on a device of the kind of the plan, and has the CPU features of its kernel.
 *
 * Threads   Several threads may use a plan at the same time, each with its own context.
 *
 * @param[in]     plan     The plan.
 * @param[in]     a        Format, extents and storage are those of the plan.
 * @param[in]     b        Likewise.
 * @param[in]     operands NULL: none.
 * @param[in,out] c        Likewise; read only if `beta` of the plan is not 0, or if it is also `residual`.
 *
 * @retval LPT_INVALID_ARGUMENT A tensor differs from that of the plan, or the context cannot run the kernel. Other
 *                              reasons are those of lpt_gemm().
 * @retval LPT_UNSUPPORTED      A format, or a combination of formats and operands, has no kernel.
 * @retval LPT_CANCELLED        The progress callback canceled the call.
 * @retval LPT_WORK_FAILED      On a GPU, the work cannot be queued.
 */
LPT_API lpt_status lpt_gemm_plan_run(lpt_context *context, const lpt_gemm_plan *plan, const lpt_tensor *a,
                                     const lpt_tensor *b, const lpt_gemm_operands *operands, lpt_tensor *c);

/**
 * @brief Returns the properties of a plan.
 *
 * @param[in]     plan     The plan.
 * @param[in,out] out_info The caller sets its `struct_size`.
 */
LPT_API lpt_status lpt_gemm_plan_read(lpt_context *context, const lpt_gemm_plan *plan, lpt_gemm_plan_info *out_info);

/**
 * @brief Destroys a plan.
 *
 * @param[in] plan NULL is allowed.
 */
LPT_API void lpt_gemm_plan_destroy(lpt_gemm_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
