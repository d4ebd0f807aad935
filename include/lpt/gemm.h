/**
 * @file gemm.h
 * @brief Matrix multiplication (GEMM) of tensors of any two formats, grouped GEMM, and plans.
 */
#ifndef LPT_GEMM_H
#define LPT_GEMM_H

#include "common.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Which function a product's results go through on their way to c; x is alpha · a · b + beta · c + bias. */
enum lpt_activation_values {
  LPT_ACTIVATION_NONE = 0,      /**< x */
  LPT_ACTIVATION_GELU = 1,      /**< x · (1 + erf(x / sqrt(2))) / 2 */
  LPT_ACTIVATION_GELU_TANH = 2, /**< x · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 · x^3))) / 2 */
  LPT_ACTIVATION_SILU = 3,      /**< x / (1 + exp(-x)) */
  LPT_ACTIVATION_SWIGLU = 4 /**< silu(x(i, j)) · x(i, j + n / 2), j < n / 2: n is even, c is m × n / 2, beta is 0. */
};
/** @brief One of lpt_activation_values. */
typedef int32_t lpt_activation;

/** @brief How two elements are multiplied and added up. All but the first imitate other machines, number by number. */
enum lpt_gemm_arithmetic_values {
  LPT_GEMM_ARITHMETIC_NATIVE = 0,           /**< The product of the numbers, added up as the kernel can do it best. */
  LPT_GEMM_ARITHMETIC_L_MUL = 1,            /**< Integer addition of exponents and mantissas: arXiv 2410.00907. */
  LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE = 2, /**< (1 + x)(1 + y) taken as 1 + x + y, or 2(x + y) from x + y = 1 (PAM). */
  LPT_GEMM_ARITHMETIC_SHIFT = 3,      /**< Shifts of integers by powers of two: one operand e3m0, the other integers. */
  LPT_GEMM_ARITHMETIC_TENSOR_CORE = 4 /**< Sums of 14 bits, moved to f32 after every 128 steps of k: FP8 on Hopper. */
};
/** @brief One of lpt_gemm_arithmetic_values. */
typedef int32_t lpt_gemm_arithmetic;

/** @brief Same bits on all CPUs: sums in one order, by fused multiply-adds of f32. About half as fast. */
#define LPT_GEMM_PORTABLE_ORDER UINT64_C(4)

/**
 * @brief Flag of lpt_gemm_options: a in f32 is rounded to bf16, to nearest even, before the multiplication.
 *
 * Kernels for bf16 then apply: with packed 4-bit weights a GEMM of few rows takes a fraction of the time. Other formats of a
 * are multiplied as they are.
 */
#define LPT_GEMM_CAST_A_TO_BF16 UINT64_C(8)

/** @brief How to multiply. */
typedef struct lpt_gemm_options {
  size_t struct_size;             /**< sizeof(lpt_gemm_options) of the caller. */
  uint64_t flags;                 /**< LPT_CHECK_ONLY, LPT_GEMM_PORTABLE_ORDER, LPT_GEMM_CAST_A_TO_BF16. */
  double alpha;                   /**< Factor of the product. */
  double beta;                    /**< Factor of what c holds before; with 0, c is not read. */
  int32_t is_a_transposed;        /**< 1: a is stored k × m. */
  int32_t is_b_transposed;        /**< 1: b is stored n × k. */
  const lpt_tensor *bias;         /**< Vector of n, f32 (or f64), added to every row; NULL: none. */
  lpt_activation activation;      /**< Applied to alpha · a · b + beta · c + bias. */
  lpt_gemm_arithmetic arithmetic; /**< How elements are multiplied. */
  /** Added after the activation: f32, bf16 or f16, of c's shape, or c itself; NULL: none. */
  const lpt_tensor *residual;
  /** How c is encoded if its format is not f32, bf16, f16 or f64: rounding, scale rule, scaler, statistics (with amax)
      as for lpt_quantize(); NULL: the defaults. */
  const lpt_quantize_options *quantize;
  /** Columns of a with a number of this magnitude or more are multiplied in f32, beside the others (LLM.int8, arXiv
      2208.07339): a is f32, bf16 or f16 and is cast to int8 by rows, without those columns. 0: a is multiplied as it is. */
  double outlier_threshold;
  /** L_MUL: mantissa bits that operands are cut to, 1 to 23. TENSOR_CORE: bits of a sum, 10 to 24. 0: what the operands'
      formats have, and 14. With the others 0. */
  int32_t arithmetic_bits;
  int32_t reserved; /**< 0. */
} lpt_gemm_options;

/** @brief Defaults of lpt_gemm_options. */
#define LPT_GEMM_OPTIONS_INIT                                                                                       \
  {                                                                                                                 \
    sizeof(lpt_gemm_options), 0, 1.0, 0.0, 0, 0, NULL, LPT_ACTIVATION_NONE, LPT_GEMM_ARITHMETIC_NATIVE, NULL, NULL, \
        0.0, 0, 0                                                                                                   \
  }

/**
 * @brief Multiplies two matrices of any formats: x = alpha · a · b + beta · c + bias, c = activation(x) + residual.
 *
 * Shapes    a is m × k, b is k × n (or stored transposed, see the options), c is m × n. Any m, n, k, zero included.
 *           Leading axes of a and c are rows. Where b has leading axes too (or a, stored transposed), it is a batch: matrices
 *           of a and b, or one for all, and one of c for each; any strides.
 * Formats   a, b: any but uint8 without zero points; b may be packed (lpt_weights_pack()). c: f32, bf16, f16, f64, or any
 *           format that lpt_quantize() writes: then a copy in f32 is made first, of all of c. With f64 in a, b or c, dense or
 *           2:4, the sum is computed in f64, and bias is f64. Activation, residual and encoding follow in f32: c of f64 takes
 *           none of them. Columns of outliers are multiplied in f32.
 * Rounding  products are exact or rounded once, sums in f32, or in int32 where a kernel multiplies integers: exactly; the
 *           order of the sum belongs to the kernel and the shape, never to the number of threads, see also
 *           LPT_GEMM_PORTABLE_ORDER; c is rounded once, to nearest even, or as `quantize` says. Scales are applied exactly once.
 *
 * @param context the context.
 * @param a borrowed.
 * @param b borrowed.
 * @param options NULL for the defaults.
 * @param c written, and read when beta is not 0; may not overlap a, b or bias.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when shapes do not fit together; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY;
 *         LPT_CANCELLED.
 */
LPT_API lpt_status lpt_gemm(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                            const lpt_gemm_options *options, lpt_tensor *c);

/**
 * @brief Multiplies rows by the matrix of their group (a mixture of experts), each group with any number of rows, also
 *        none: c(i) = a(i) · b(g) for rows i of group g.
 *
 * Group g has the rows from group_ends[g - 1] (0 for the first) to group_ends[g] - 1; rows behind the last end belong to no
 * group, and c is left as it is there.
 *
 * With `is_a_transposed` 1 the groups lie along k instead, as the gradient of the experts' weights wants it: a is stored
 * t × m and b t × n, and c(g) = a(g)^T · b(g) for the rows of each group; c is groups × m × n.
 *
 * All groups are shared among the threads together. Formats, options and errors are those of lpt_gemm().
 *
 * @param context the context.
 * @param a t × k; with `is_a_transposed` t × m. Blocks of scales are one row high.
 * @param b groups × k × n, or groups × n × k with `is_b_transposed`, also packed; with `is_a_transposed` t × n.
 * @param group_ends `group_count` numbers, rising or equal, from 0 to t.
 * @param group_count number of groups.
 * @param options NULL for the defaults. `bias` is groups × n, or a vector of n for all groups.
 * @param c t × n; with `is_a_transposed` groups × m × n.
 * @return as lpt_gemm().
 */
LPT_API lpt_status lpt_gemm_grouped(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                                    const int64_t *group_ends, int64_t group_count, const lpt_gemm_options *options,
                                    lpt_tensor *c);

/** @brief What a plan decided. */
typedef struct lpt_gemm_plan_info {
  size_t struct_size;     /**< sizeof(lpt_gemm_plan_info) of the caller. */
  int64_t m;              /**< Rows of the product. */
  int64_t n;              /**< Columns of the product. */
  int64_t k;              /**< Length of its sums. */
  size_t workspace_bytes; /**< What one call takes from the context's scratch, which is kept between calls. */
  int64_t part_count;     /**< In how many parts threads share it. */
  char kernel[64];        /**< The kernel, such as "gemm_any_x86_avx512_bf16". */
} lpt_gemm_plan_info;

/** @brief Defaults of lpt_gemm_plan_info. */
#define LPT_GEMM_PLAN_INFO_INIT                      \
  {                                                  \
    sizeof(lpt_gemm_plan_info), 0, 0, 0, 0, 0, { 0 } \
  }

/** @brief Operands of one call of a plan; see lpt_gemm_options. */
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
 * @brief Plans a product: the checks of lpt_gemm(), and the choice of the kernel, which lpt_context_explanation() explains.
 * @param context for whose CPU features and threads is planned.
 * @param a m × k, or stored transposed: its format and extents count; it may be without data.
 * @param b k × n, or stored transposed, or packed: likewise.
 * @param options NULL for the defaults. Handles come with each call: `bias`, `residual` and `quantize` are NULL here.
 * @param c likewise.
 * @param out_plan returned; destroy with lpt_gemm_plan_destroy(). It keeps no tensor and no context.
 * @return as lpt_gemm().
 */
LPT_API lpt_status lpt_gemm_plan_create(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                                        const lpt_gemm_options *options, const lpt_tensor *c, lpt_gemm_plan **out_plan);

/**
 * @brief Multiplies as planned: the same bits as lpt_gemm() on the context that it was planned for.
 * @param context any context with the features of the kernel.
 * @param plan the plan; contexts on other threads may use it at the same time.
 * @param a format and extents as planned.
 * @param b format and extents as planned, and the storage of packed weights.
 * @param operands NULL: none.
 * @param c format and extents as planned; written.
 * @return as lpt_gemm(); LPT_INVALID_ARGUMENT for operands that are not those of the plan.
 */
LPT_API lpt_status lpt_gemm_plan_run(lpt_context *context, const lpt_gemm_plan *plan, const lpt_tensor *a,
                                     const lpt_tensor *b, const lpt_gemm_operands *operands, lpt_tensor *c);

/**
 * @brief Returns what a plan decided.
 * @param context the context.
 * @param plan the plan.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_gemm_plan_read(lpt_context *context, const lpt_gemm_plan *plan, lpt_gemm_plan_info *out_info);

/**
 * @brief Destroys a plan.
 * @param plan NULL is allowed.
 */
LPT_API void lpt_gemm_plan_destroy(lpt_gemm_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
