/**
 * @file calibration.h
 * @brief Statistics of calibration data, sparse and quantized weights that are fitted to them, and a choice of formats.
 */
#ifndef LPT_CALIBRATION_H
#define LPT_CALIBRATION_H

#include "common.h"
#include "quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of lpt_sparse_fit(). */
typedef struct lpt_sparse_fit_options {
  size_t struct_size; /**< sizeof(lpt_sparse_fit_options) of the caller. */
  lpt_flags flags;    /**< Must be 0. */
  int32_t iterations; /**< Maximum of steps, 1 to 10000. Default 32. */
  int32_t reserved;   /**< Must be 0. */
  /** Share of the mean diagonal of inputsᵀ · inputs that is added to the diagonal, 0 to 1. Default 1e-4. */
  double damping;
} lpt_sparse_fit_options;

/** @brief Defaults of lpt_sparse_fit_options. */
#define LPT_SPARSE_FIT_OPTIONS_INIT \
  { sizeof(lpt_sparse_fit_options), 0, 32, 0, 1e-4 }

/** @brief Result of a fit: squared errors of the outputs, relative to the sum of squares of the outputs. */
typedef struct lpt_sparse_fit_info {
  size_t struct_size;      /**< sizeof(lpt_sparse_fit_info) of the caller. */
  double masked_error;     /**< Error of the weight that is only masked. */
  double fitted_error;     /**< Error of the fitted weight. */
  int64_t iteration_count; /**< Steps done. */
} lpt_sparse_fit_info;

/** @brief Defaults of lpt_sparse_fit_info. */
#define LPT_SPARSE_FIT_INFO_INIT \
  { sizeof(lpt_sparse_fit_info), 0.0, 0.0, 0 }

/**
 * @brief Fits a masked weight to the outputs of the dense weight, without training.
 *
 * Minimizes |inputs · weightᵀ - inputs · outputᵀ|² over all weights with this mask, by conjugate gradients. Each row
 * starts at its masked weight and stops where a step no longer reduces its error. To generalize, use more inputs than
 * columns.
 *
 * Rounding  All matrices are f32, sums of a row f64.
 *
 * Device    CPU only.
 *
 * Source    AdaPrune (Hubara et al., arXiv 2102.08124) minimizes the same error with Adam.
 *
 * @param[in]  weight       Output columns × input columns; f64, f32, bf16 or f16.
 * @param[in]  mask         uint8, the shape of `weight`; an element other than 0 is kept.
 * @param[in]  inputs       Tokens × input columns; f64, f32, bf16 or f16.
 * @param[in]  options      NULL for the defaults.
 * @param[out] output       f32, the shape of `weight`; zero where the mask is 0. No overlap with an input.
 * @param[out] bias_change  Vector of f32, one element per output column, to be added to the bias. The weight is fitted
 *                          with it. NULL: not computed.
 * @param[out] out_info     The caller sets `struct_size`. NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, an output overlaps another tensor, or a member of `options` is out
 *                               of range.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; the outputs are unchanged.
 */
LPT_API lpt_status lpt_sparse_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                  const lpt_tensor *inputs, const lpt_sparse_fit_options *options, lpt_tensor *output,
                                  lpt_tensor *bias_change, lpt_sparse_fit_info *out_info);

/** @brief Options of lpt_calibration_create(). */
typedef struct lpt_calibration_options {
  size_t struct_size;     /**< sizeof(lpt_calibration_options) of the caller. */
  lpt_flags flags;        /**< Must be 0. */
  int32_t has_gram;       /**< 1: collects the Gram matrix, 16 · columns² bytes. Default 1. */
  int32_t has_cross_gram; /**< 1: collects referenceᵀ · inputs, 16 · columns² bytes. Default 0. */
} lpt_calibration_options;

/** @brief Defaults of lpt_calibration_options. */
#define LPT_CALIBRATION_OPTIONS_INIT \
  { sizeof(lpt_calibration_options), 0, 1, 0 }

/** @brief What lpt_calibration_read() writes; one of lpt_calibration_value_values. */
typedef int32_t lpt_calibration_value;

/** @brief Values of lpt_calibration_value. */
enum lpt_calibration_value_values {
  LPT_CALIBRATION_VALUE_GRAM = 0,        /**< inputsᵀ · inputs: columns × columns. */
  LPT_CALIBRATION_VALUE_CROSS_GRAM = 1,  /**< referenceᵀ · inputs: columns × columns. */
  LPT_CALIBRATION_VALUE_MAXIMA = 2,      /**< The largest magnitude of each column: a vector. */
  LPT_CALIBRATION_VALUE_MEANS = 3,       /**< The mean of each column: a vector. */
  LPT_CALIBRATION_VALUE_MEAN_SQUARES = 4 /**< The mean of the squares of each column: a vector. */
};

/** @brief Statistics over all columns. */
typedef struct lpt_calibration_info {
  size_t struct_size; /**< sizeof(lpt_calibration_info) of the caller. */
  int64_t row_count;  /**< Rows of all inputs. */
  double amax;        /**< Largest magnitude; 0 without rows. */
  double mean;        /**< Mean of all elements; 0 without rows. */
  double mean_square; /**< Mean of their squares; 0 without rows. */
} lpt_calibration_info;

/** @brief Defaults of lpt_calibration_info. */
#define LPT_CALIBRATION_INFO_INIT \
  { sizeof(lpt_calibration_info), 0, 0.0, 0.0, 0.0 }

/**
 * @brief Creates empty statistics of the inputs of a layer.
 *
 * Layers with the same inputs share one object.
 *
 * @param[in]  columns          Input columns, 1 to 2^24.
 * @param[in]  options          NULL for the defaults.
 * @param[out] out_calibration  Destroy with lpt_calibration_destroy().
 * @retval LPT_INVALID_ARGUMENT  `columns` or a member of `options` is out of range.
 */
LPT_API lpt_status lpt_calibration_create(lpt_context *context, int64_t columns, const lpt_calibration_options *options,
                                          lpt_calibration **out_calibration);

/**
 * @brief Destroys statistics of calibration.
 *
 * @param[in] calibration  NULL is allowed.
 */
LPT_API void lpt_calibration_destroy(lpt_calibration *calibration);

/**
 * @brief Adds a batch of inputs.
 *
 * Rounding  Inputs are rounded to f32. Products of 512 rows are summed in f32, by lpt_gemm(), and other sums in f64. These
 *           sums are added without error, unless two of them differ by more than 2^50 times. The result then depends
 *           neither on the order of the batches nor on the ranks that add them.
 *
 * Device    CPU only.
 *
 * @param[in,out] calibration  Unchanged if an argument is rejected; undefined after LPT_OUT_OF_MEMORY.
 * @param[in]     inputs       Rows × columns; f64, f32, bf16 or f16, finite, at most 1e17 in magnitude.
 * @param[in]     reference    The inputs of the layer in a model that is not quantized, as `inputs`. Required with
 *                             `has_cross_gram`, otherwise NULL.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, an element is out of range, or `reference` is missing or not
 *                               expected.
 * @retval LPT_UNSUPPORTED       A format is not listed above, or a tensor is on a GPU.
 */
LPT_API lpt_status lpt_calibration_add(lpt_context *context, lpt_calibration *calibration, const lpt_tensor *inputs,
                                       const lpt_tensor *reference);

/**
 * @brief Replaces the statistics of each rank by those of the inputs of all ranks.
 *
 * The bits are those of one rank that adds the batches of all ranks, as lpt_calibration_add() states.
 *
 * Device    Ranks on CPUs.
 *
 * @param[in]     comm         All ranks call this.
 * @param[in,out] calibration  The same columns and options on all ranks. Undefined if the call fails.
 * @retval LPT_INVALID_ARGUMENT  Ranks differ in columns or options.
 * @retval LPT_UNSUPPORTED       The ranks are on GPUs.
 */
LPT_API lpt_status lpt_calibration_all_reduce(lpt_context *context, lpt_comm *comm, lpt_calibration *calibration);

/**
 * @brief Writes a matrix or a vector of statistics.
 *
 * Device    CPU only.
 *
 * @param[in]  calibration  Statistics to read.
 * @param[in]  value        One of lpt_calibration_value_values.
 * @param[out] output       f64 or f32, of the shape of the value. Means without rows are 0.
 * @retval LPT_INVALID_ARGUMENT  `value` is out of range or not collected, or `output` has another shape.
 * @retval LPT_UNSUPPORTED       `output` is of another format, or on a GPU.
 */
LPT_API lpt_status lpt_calibration_read(lpt_context *context, const lpt_calibration *calibration,
                                        lpt_calibration_value value, lpt_tensor *output);

/**
 * @brief Returns statistics over all columns.
 *
 * @param[in]  calibration  Statistics to read.
 * @param[out] out_info     The caller sets `struct_size`.
 */
LPT_API lpt_status lpt_calibration_describe(lpt_context *context, const lpt_calibration *calibration,
                                            lpt_calibration_info *out_info);

/**
 * @brief Returns a magnitude that a share of the elements does not exceed.
 *
 * Magnitudes are counted by their exponent and four bits of their fraction. The result is at most 17/16 of the smallest
 * such magnitude, and at most the largest element. It is an upper limit for scales that clip outliers.
 *
 * @param[in]  calibration    Statistics to read.
 * @param[in]  share          Above 0, at most 1. 0.999 is the percentile 99.9.
 * @param[out] out_magnitude  At least 0; 0 without rows.
 * @retval LPT_INVALID_ARGUMENT  `share` is out of range.
 */
LPT_API lpt_status lpt_calibration_percentile(lpt_context *context, const lpt_calibration *calibration, double share,
                                              double *out_magnitude);

/** @brief How lpt_weights_fit() rounds weights; one of lpt_weights_fit_method_values. */
typedef int32_t lpt_weights_fit_method;

/** @brief Values of lpt_weights_fit_method. */
enum lpt_weights_fit_method_values {
  LPT_WEIGHTS_FIT_METHOD_NEAREST = 0, /**< To nearest, as lpt_quantize(). */
  /** One column after the other. The columns that follow compensate for the error of a column. */
  LPT_WEIGHTS_FIT_METHOD_GPTQ = 1
};

/** @brief The order of columns in GPTQ; one of lpt_weights_fit_order_values. */
typedef int32_t lpt_weights_fit_order;

/**
 * @brief Values of lpt_weights_fit_order.
 *
 * Scales of blocks are those of the compensated weights, except for DIAGONAL: those of the given weights. A scale that
 * covers a whole row or the tensor is always that of the given weights.
 */
enum lpt_weights_fit_order_values {
  LPT_WEIGHTS_FIT_ORDER_COLUMNS = 0, /**< As stored. */
  LPT_WEIGHTS_FIT_ORDER_DIAGONAL =
      1, /**< The largest element of the diagonal of the Gram matrix first ("act-order"). */
  /** Within a block the largest element of the diagonal first, and blocks by their largest element. */
  LPT_WEIGHTS_FIT_ORDER_BLOCKS = 2
};

/** @brief Options of lpt_weights_fit(). */
typedef struct lpt_weights_fit_options {
  size_t struct_size;            /**< sizeof(lpt_weights_fit_options) of the caller. */
  lpt_flags flags;               /**< LPT_CHECK_ONLY or 0. */
  lpt_weights_fit_method method; /**< Default GPTQ. */
  lpt_weights_fit_order order;   /**< Of GPTQ. Default COLUMNS. */
  lpt_scale_rule scale_rule;     /**< As in lpt_quantize_options; not FIXED. Default LPT_SCALE_RULE_MSE. */
  int32_t reserved;              /**< Must be 0. */
  /** The share of the mean of the diagonal that is added to the diagonal, 0 to 1. Default 0.01. */
  double damping;
  /**
   * referenceᵀ · inputs, where `reference` are the inputs of the layer in a model that is not quantized: input columns ×
   * input columns, f32 or f64. Default NULL: `reference` are the inputs of `gram`.
   */
  const lpt_tensor *cross_gram;
  /** A sample of inputs, at least one: tokens × input columns; f64, f32, bf16 or f16, finite. Default NULL: none. */
  const lpt_tensor *inputs;
  /** The inputs of the same tokens in a model that is not quantized, as `inputs`. Default NULL: `inputs`. */
  const lpt_tensor *reference;
  /** The format that the layer casts `inputs` to, after the division by factors. Default f32: no cast. */
  lpt_format input_format;
} lpt_weights_fit_options;

/** @brief Defaults of lpt_weights_fit_options. */
#define LPT_WEIGHTS_FIT_OPTIONS_INIT                                                                \
  {                                                                                                 \
    sizeof(lpt_weights_fit_options), 0, LPT_WEIGHTS_FIT_METHOD_GPTQ, LPT_WEIGHTS_FIT_ORDER_COLUMNS, \
        LPT_SCALE_RULE_MSE, 0, 0.01, NULL, NULL, NULL, LPT_FORMAT_F32                               \
  }

/** @brief Result of lpt_weights_fit(): squared errors of the outputs, relative to the sum of squares of the outputs. */
typedef struct lpt_weights_fit_info {
  size_t struct_size;   /**< sizeof(lpt_weights_fit_info) of the caller. */
  double nearest_error; /**< Error of the method NEAREST with the same scale rule, without factors. */
  double fitted_error;  /**< Error of the fitted weight. */
  double damping;       /**< Share that was added: that of the options, or ten times as much, so often as required. */
  double ratio;         /**< Exponent of `input_factors`. */
  double sample_error;  /**< Error for `inputs`, cast and with the change of the bias; 0 without `inputs`. */
  int32_t has_maxima;   /**< 1: `input_factors` are of maxima; 0: of mean squares. */
  int32_t reserved;     /**< 0. */
} lpt_weights_fit_info;

/** @brief Defaults of lpt_weights_fit_info. */
#define LPT_WEIGHTS_FIT_INFO_INIT \
  { sizeof(lpt_weights_fit_info), 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0 }

/**
 * @brief Quantizes the weight of a linear layer so that its outputs for calibration data change little.
 *
 * The error of a weight w is `(w - weight) · gram · (w - weight)ᵀ`, summed over rows, where `gram` is inputsᵀ · inputs of
 * the layer. An lpt_calibration collects it.
 *
 * Scales    LPT_SCALE_RULE_MSE weights the squared error of each column by its element of the diagonal of `gram`, damped.
 *           It applies to all formats. Candidates are the default scales of weight · i/32, i = 32 … 17; for e2m1fn also
 *           34, 36 … 48. Scales in e8m0fnu have i = 32, 16, 8, 4. Of equal errors, the first one is chosen.
 *
 * Factors   With `input_factors`, the columns of the weight are multiplied by factors before they are quantized. The
 *           caller divides the inputs by them, or the weight of the norm before the layer. A factor is
 *           `gram[c][c]^(ratio / 2)` (AWQ). With `inputs`, `maxima(inputs)^ratio / maxima(weight)^(1 - ratio)` of
 *           column c is compared as well (SmoothQuant). Factors are divided by the root of the largest times the
 *           smallest. Of the ratios 0, 0.05 to 0.95, the one of the smallest error is chosen, with rounding to nearest.
 *           This search replaces LPT_SCALE_RULE_MSE by the default scales.
 *
 * Sample    With `inputs`, the error of factors is that of the outputs for the sample, cast to `input_format`, against
 *           reference · weightᵀ. With `bias_change`, it is the error after that change.
 *
 * Reference With `cross_gram`, `gram` is of the inputs in the quantized model, cast if the layer casts them. `weight` is
 *           then replaced by weight · (cross_gram + d) · inverse(gram + d), where d is the damping. It minimizes
 *           |reference · weightᵀ - inputs · wᵀ|² over all w. Errors are relative to the outputs of that weight. They
 *           leave out the part that no weight reduces.
 *
 * Zeros     Columns whose element of the diagonal of `gram` is 0 are rounded to nearest and have a factor of 1. Factors
 *           of maxima are also 1 for columns whose inputs or weights are all 0.
 *
 * Formats   `weight` is f64, f32, bf16 or f16; `gram` is f32 or f64. `output` is of any dense format of numbers that
 *           lpt_quantize() writes.
 *
 * Rounding  GPTQ computes in f64, factors and errors in f32. The result does not depend on the number of threads.
 *
 * Device    CPU only.
 *
 * Source    GPTQ, arXiv 2210.17323; order BLOCKS as in DPQ, arXiv 2505.14638; AWQ, arXiv 2306.00978; SmoothQuant, arXiv
 *           2211.10438. GPTAQ, arXiv 2504.02692, has the objective of `cross_gram`.
 *
 * @param[in]  weight         Output columns × input columns.
 * @param[in]  gram           Input columns × input columns, symmetric; only the upper triangle is read for GPTQ.
 * @param[in]  options        NULL for the defaults.
 * @param[out] output         The shape of `weight`; no overlap with an input.
 * @param[out] input_factors  Vector of f32, one element per input column. NULL: no factors.
 * @param[out] bias_change    Vector of f32, one element per output column, to be added to the bias: the mean difference
 *                            of the outputs for the sample. Requires `inputs`. NULL: not computed.
 * @param[out] out_info       The caller sets `struct_size`. NULL: not computed.
 * @retval LPT_INVALID_ARGUMENT  Shapes do not agree, an output overlaps another tensor, or a member of `options` is out
 *                               of range. A matrix has an element that is not finite, or `gram` is not positive
 *                               semidefinite. `inputs` is missing.
 * @retval LPT_UNSUPPORTED       A format is not listed above, the scale rule does not apply to it, or a tensor is on a
 *                               GPU.
 * @retval LPT_CANCELLED         The progress callback returned nonzero; outputs may be partly written.
 */
LPT_API lpt_status lpt_weights_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *gram,
                                   const lpt_weights_fit_options *options, lpt_tensor *output,
                                   lpt_tensor *input_factors, lpt_tensor *bias_change, lpt_weights_fit_info *out_info);

/** @brief Result of lpt_format_choose(). */
typedef struct lpt_format_choose_info {
  size_t struct_size; /**< sizeof(lpt_format_choose_info) of the caller. */
  double error;       /**< Sum of the errors of the chosen candidates. */
  double bound;       /**< No choice within the budget has a smaller sum; equal to `error` if the choice is the best. */
  int64_t bytes;      /**< Sum of the bytes of the chosen candidates. */
} lpt_format_choose_info;

/** @brief Defaults of lpt_format_choose_info. */
#define LPT_FORMAT_CHOOSE_INFO_INIT \
  { sizeof(lpt_format_choose_info), 0.0, 0.0, 0 }

/**
 * @brief Chooses one of several formats for each tensor: the smallest sum of errors within a budget of bytes.
 *
 * The caller measures the candidates. Errors of different tensors must be comparable, as the growth of the loss of the model
 * when only this tensor is quantized. lpt_tensor_size() returns the bytes of a tensor.
 *
 * The choice is the best one, unless the problem is large and has many nearly equal choices: the search keeps at most
 * 2^20 partial sums. `bound` then limits how far the choice is from the best one.
 *
 * @param[in]  errors           `tensor_count` · `candidate_count` errors, those of the first tensor first; 0 to 1e100.
 *                              Infinity excludes a candidate.
 * @param[in]  bytes            Bytes of the same candidates, 0 to 2^40.
 * @param[in]  tensor_count     0 to 2^14.
 * @param[in]  candidate_count  1 to 64.
 * @param[in]  budget_bytes     Most bytes of all tensors together.
 * @param[out] out_choices      The candidate of each tensor, `tensor_count` indices from 0.
 * @param[out] out_info         The caller sets `struct_size`. NULL: not returned.
 * @retval LPT_INVALID_ARGUMENT  An argument is out of range, or a tensor has only infinite errors. The smallest
 *                               candidates have more than `budget_bytes`; the text has their sum.
 */
LPT_API lpt_status lpt_format_choose(lpt_context *context, const double *errors, const int64_t *bytes,
                                     int64_t tensor_count, int64_t candidate_count, int64_t budget_bytes,
                                     int64_t *out_choices, lpt_format_choose_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
