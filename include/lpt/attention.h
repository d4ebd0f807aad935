/**
 * @file attention.h
 * @brief Scaled dot-product attention, and the rotary position embedding of its queries and keys.
 *
 * Formats   Every tensor may have a format of its own among f64, f32, bf16 and f16, unless stated otherwise.
 *
 * Device    CPU and GPU. On a GPU tensors are f32, bf16 or f16, unless stated otherwise, and work is queued on the
 *           stream.
 */
#ifndef LPT_ATTENTION_H
#define LPT_ATTENTION_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief How frequencies of a rotary embedding are scaled for long contexts; one of lpt_rotary_scaling_kind_values. */
typedef int32_t lpt_rotary_scaling_kind;

/**
 * @brief Values of lpt_rotary_scaling_kind.
 *
 * The formulas use the width w, frequency i of the unscaled embedding, f = base^(-2i / w), the factor s and the original
 * positions L.
 */
enum lpt_rotary_scaling_kind_values {
  LPT_ROTARY_SCALING_KIND_NONE = 0,   /**< f. */
  LPT_ROTARY_SCALING_KIND_LINEAR = 1, /**< f / s. */
  /** f with the base base · s^(w / (w - 2)). Dynamic NTK for n positions above L has the factor s · n / L - (s - 1). */
  LPT_ROTARY_SCALING_KIND_NTK = 2,
  /**
   * f · (1 - r + r / s), where r = (i - low) / (high - low), at least 0 and at most 1. Here low = floor(c(beta_fast)) is
   * at least 0, and high = ceil(c(beta_slow)) is at most w - 1. If they are equal, high is 0.001 larger. c(t) is
   * w · log(L / (2π · t)) / (2 · log(base)).
   */
  LPT_ROTARY_SCALING_KIND_YARN = 3,
  /**
   * f · ((1 - t) / s + t), where t = (L · f / 2π - low_frequency_factor) / (high_frequency_factor -
   * low_frequency_factor), at least 0 and at most 1.
   */
  LPT_ROTARY_SCALING_KIND_LLAMA3 = 4
};

/** @brief Options of lpt_rotary_frequencies(). */
typedef struct lpt_rotary_scaling {
  size_t struct_size;           /**< sizeof(lpt_rotary_scaling) of the caller. */
  lpt_flags flags;              /**< LPT_CHECK_ONLY or 0. */
  lpt_rotary_scaling_kind kind; /**< Formula of the frequencies. Default NONE. */
  int32_t reserved;             /**< Must be 0. */
  double base;                  /**< Base of the powers, 2 to 1e30. Default 10000. */
  double factor;                /**< s: how many times more positions, 1 to 1e9. Default 1. */
  int64_t original_positions;   /**< L: positions of the training, 1 to 2^30; of YARN and LLAMA3. Default 0: not set. */
  double beta_fast;             /**< Of YARN: rotations over L, `beta_slow` to 1e9. Default 32. */
  double beta_slow;             /**< Of YARN: rotations over L, 1e-9 to 1e9. Default 1. */
  double low_frequency_factor;  /**< Of LLAMA3: 0 to 1e9. Default 1. */
  double high_frequency_factor; /**< Of LLAMA3: more than `low_frequency_factor`, at most 1e9. Default 4. */
} lpt_rotary_scaling;

/** @brief Defaults of lpt_rotary_scaling. */
#define LPT_ROTARY_SCALING_INIT \
  { sizeof(lpt_rotary_scaling), 0, LPT_ROTARY_SCALING_KIND_NONE, 0, 10000.0, 1.0, 0, 32.0, 1.0, 1.0, 4.0 }

/**
 * @brief Computes the frequencies of a rotary position embedding, in radians per position.
 *
 * Rounding  Frequencies are computed in f64, with a relative error of at most 2^-44, and rounded once. All machines get
 *           the same bits.
 *
 * Device    The CPU computes them. On a GPU the copy is queued.
 *
 * Source    RoPE, arXiv 2104.09864; YaRN, arXiv 2309.00071. Formulas and defaults are those of `rope_parameters` in
 *           Hugging Face Transformers.
 *
 * @param[in]  options      NULL for the defaults.
 * @param[out] frequencies  Vector of w / 2, where w is the width that rotates; f64 or f32.
 * @retval LPT_INVALID_ARGUMENT  An option is out of range, or `frequencies` is not a vector of f64 or f32.
 */
LPT_API lpt_status lpt_rotary_frequencies(lpt_context *context, const lpt_rotary_scaling *options,
                                          lpt_tensor *frequencies);

/** @brief Which two columns a frequency rotates; one of lpt_rotary_layout_values. */
typedef int32_t lpt_rotary_layout;

/** @brief Values of lpt_rotary_layout, for n frequencies. */
enum lpt_rotary_layout_values {
  LPT_ROTARY_LAYOUT_HALVES = 0,     /**< i and n + i: Llama and others in Hugging Face Transformers. */
  LPT_ROTARY_LAYOUT_INTERLEAVED = 1 /**< 2i and 2i + 1: GPT-J, and Llama in its own files. */
};

/** @brief Options of lpt_rotary(). */
typedef struct lpt_rotary_options {
  size_t struct_size;          /**< sizeof(lpt_rotary_options) of the caller. */
  lpt_flags flags;             /**< LPT_CHECK_ONLY or 0. */
  const lpt_tensor *positions; /**< Vector of positions, int32 or int64; NULL: first_position + i. */
  int64_t first_position;      /**< Position of the first row without `positions`; -2^53 to 2^53. Default 0. */
  lpt_rotary_layout layout;    /**< Which two columns a frequency rotates. Default HALVES. */
  int32_t is_inverse;          /**< 1: rotates back, which gives the gradient of the input. Default 0. */
  double scale;                /**< Multiplies cos and sin; finite, in the range of f32. Default 1. */
} lpt_rotary_options;

/** @brief Defaults of lpt_rotary_options. */
#define LPT_ROTARY_OPTIONS_INIT \
  { sizeof(lpt_rotary_options), 0, NULL, 0, LPT_ROTARY_LAYOUT_HALVES, 0, 1.0 }

/**
 * @brief Rotates pairs of columns of queries or keys by position · frequency (rotary position embedding).
 *
 * A pair (x, y) becomes (x · cos - y · sin, x · sin + y · cos). Columns without a frequency are copied. The gradient of
 * the input is the inverse rotation of the gradient of the output, with the same `scale`.
 *
 * The attention factor of YaRN is a `scale` of 0.1 · log(factor) + 1.
 *
 * Shapes    Any strides of the leading axes, for example batch × heads × positions × width as a view of batch ×
 *           positions × heads × width.
 *
 * Formats   `frequencies` are f64 or f32, also on a GPU.
 *
 * Rounding  The angle is computed in f64. cos and sin are multiplied by `scale` in f64, and rounded once to f32, or kept
 *           in f64 where a tensor is f64. Products and sums are rounded one by one. All machines get the same bits. An
 *           angle beyond ±2^30 gives NaN.
 *
 * Device    On a GPU, `positions` may be in memory of the GPU or of the CPU. The call reads CPU memory before it returns.
 *           The host does not read positions in GPU memory.
 *
 * Overlap   `output` may be `input` in the same format and layout.
 *
 * @param[in]  input        … × positions × width, rank 2 or more.
 * @param[in]  frequencies  Vector of at most width / 2, for example of lpt_rotary_frequencies().
 * @param[in]  options      NULL for the defaults.
 * @param[out] output       The shape of `input`.
 * @retval LPT_INVALID_ARGUMENT  Shapes or formats do not agree, `output` overlaps another tensor, or an option is out of
 *                               range.
 * @retval LPT_UNSUPPORTED       No kernel of the device supports a format.
 */
LPT_API lpt_status lpt_rotary(lpt_context *context, const lpt_tensor *input, const lpt_tensor *frequencies,
                              const lpt_rotary_options *options, lpt_tensor *output);

/** @brief Options of lpt_attention_forward() and lpt_attention_backward(). */
typedef struct lpt_attention_options {
  size_t struct_size; /**< sizeof(lpt_attention_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY or 0. */
  double scale;       /**< Factor of query · key. Default 0: 1 / sqrt(width). */
  /** 1: query i of Q attends to keys 0 to i + K - Q of K. Default 0: to all keys. */
  int32_t is_causal;
  int32_t reserved; /**< Must be 0. */
  int64_t window; /**< With `is_causal`: a query attends to the last `window` of its keys. Default 0: to all of them. */
  /**
   * Added to scale · query · key: batch × heads × Q × K. Axes may be missing, or have one extent, which is repeated, except
   * the last. f32, bf16, f16 or f64; minus infinity excludes a key. Default NULL: no mask. It gets no gradient.
   */
  const lpt_tensor *mask;
  /**
   * Batch × heads × Q, f32 or f64: the log of the sum of exp(scale · query · key + mask) over the keys of a query. Minus
   * infinity for a query without a key. lpt_attention_forward() writes it, lpt_attention_backward() reads it. Default
   * NULL: neither.
   */
  lpt_tensor *log_sum_exp;
  const lpt_tensor *output; /**< Of lpt_attention_backward(): the output of the forward pass. Default NULL. */
  /**
   * The number of keys of each batch, 0 to K: a vector of int32 or int64 in CPU memory. A batch uses its first keys, and
   * `is_causal` takes this number for K. Later keys and values are not read, and their gradients are 0. Default NULL: all
   * keys.
   */
  const lpt_tensor *key_lengths;
  /**
   * Research: rounds the arguments of exp to few levels, as lpt_exaq_softmax_forward() does. `scale` must be 1 and
   * `is_causal` 0 there. Not in lpt_attention_backward(), and not with f64. Default NULL: none.
   */
  const lpt_exaq_options *exaq;
} lpt_attention_options;

/** @brief Defaults of lpt_attention_options. */
#define LPT_ATTENTION_OPTIONS_INIT \
  { sizeof(lpt_attention_options), 0, 0.0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * @brief Computes scaled dot-product attention: output = softmax(scale · query · key^T + mask) · value, for every head.
 *
 * The memory is linear in the numbers of queries and keys: there is no matrix of both. A query without a key gives zeros.
 *
 * On CPUs with AVX2 or AVX-512, one kernel computes everything. Tensors are then f32, bf16 or f16, and the scale is
 * positive, without `exaq`. The heads that share a key head have at least 16 queries in all. Otherwise lpt_gemm() and
 * lpt_softmax_forward() compute blocks of queries. Adjacent batches of equal key lengths are computed together.
 *
 * Shapes    Tensors have the axes batch × heads × positions × width, of which the first, or the first two, may be
 *           missing. `query` has Q positions; `key` and `value` have K. The number of heads of `key` and `value` divides
 *           that of `query`: adjacent heads of `query` share one (grouped queries). `value` may have another width than
 *           `key`. Axes other than the last may have any strides, so that a tensor of batch × positions × heads × width
 *           is a view of this shape.
 *
 * Formats   `query` and `output` are f64, f32, bf16 or f16. `key` and `value` may be of any format of numbers whose
 *           blocks are one row high.
 *
 * Rounding  Sums and exponentials are f32. Probabilities are rounded to bf16 if query, key and value are bf16. Without the
 *           kernel above, they are rounded to the format of `value`, or to that of `query` if `value` is quantized. If a
 *           tensor is f64, all is in f64.
 *
 * Source    arXiv 1706.03762; blocks of queries as in arXiv 2112.05682; a running maximum as in arXiv 2205.14135.
 *
 * @param[in]  query    Batch × heads × Q × width.
 * @param[in]  key      Batch × key heads × K × width.
 * @param[in]  value    Batch × key heads × K × value width.
 * @param[in]  options  NULL for the defaults.
 * @param[out] output   Batch × heads × Q × value width; no overlap with an input.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, tensors overlap, or an option or a key length is out of range.
 * @retval LPT_UNSUPPORTED       Elements of a row are not adjacent, blocks have more than one row, or no kernel of the
 *                               device supports a format.
 * @retval LPT_CANCELLED         The progress callback canceled the call.
 */
LPT_API lpt_status lpt_attention_forward(lpt_context *context, const lpt_tensor *query, const lpt_tensor *key,
                                         const lpt_tensor *value, const lpt_attention_options *options,
                                         lpt_tensor *output);

/**
 * @brief Computes the gradients of lpt_attention_forward() for query, key and value.
 *
 * The probabilities are computed again. With `output` and `log_sum_exp` of the options, this skips the forward pass; both
 * are set, or neither. Gradients of keys and values are sums over queries and over the heads that share them. These sums
 * are in f32 or f64, in an order that depends only on the shape.
 *
 * Threads   The kernel of the CPU computes each key head of a batch in one thread.
 *
 * Shapes    As in lpt_attention_forward(). `output_gradient` has the shape of `output`; each gradient has the shape of
 *           its tensor.
 *
 * Formats   All tensors are f64, f32, bf16 or f16.
 *
 * @param[in]  query            As in lpt_attention_forward().
 * @param[in]  key              As in lpt_attention_forward().
 * @param[in]  value            As in lpt_attention_forward().
 * @param[in]  output_gradient  Batch × heads × Q × value width.
 * @param[in]  options          As in lpt_attention_forward(); NULL for the defaults.
 * @param[out] query_gradient   No overlap with an input or another output.
 * @param[out] key_gradient     No overlap with an input or another output.
 * @param[out] value_gradient   No overlap with an input or another output.
 * @retval LPT_INVALID_ARGUMENT  As for lpt_attention_forward().
 * @retval LPT_UNSUPPORTED       As for lpt_attention_forward().
 * @retval LPT_CANCELLED         The progress callback canceled the call.
 */
LPT_API lpt_status lpt_attention_backward(lpt_context *context, const lpt_tensor *query, const lpt_tensor *key,
                                          const lpt_tensor *value, const lpt_tensor *output_gradient,
                                          const lpt_attention_options *options, lpt_tensor *query_gradient,
                                          lpt_tensor *key_gradient, lpt_tensor *value_gradient);

#ifdef __cplusplus
}
#endif

#endif
