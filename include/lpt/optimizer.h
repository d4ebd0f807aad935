/**
 * @file optimizer.h
 * @brief Optimizers whose state may be stored in 8 bits.
 *
 * Device    The state is on the device of the context that created the optimizer; contexts of other devices get
 *           LPT_INVALID_ARGUMENT. On a GPU parameters are f32 or bf16, roundings are to nearest even or stochastic, and
 *           steps are queued.
 */
#ifndef LPT_OPTIMIZER_H
#define LPT_OPTIMIZER_H

#include "common.h"
#include "format.h"
#include "quantize.h"
#include "scaler.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Update rule of an optimizer; one of lpt_optimizer_method_values.
 *
 * See lpt_optimizer_step().
 */
typedef int32_t lpt_optimizer_method;

/** @brief Values of lpt_optimizer_method. */
enum lpt_optimizer_method_values {
  LPT_OPTIMIZER_METHOD_ADAMW = 0, /**< Adam with decoupled weight decay (arXiv 1711.05101). */
  LPT_OPTIMIZER_METHOD_ADAM = 1,  /**< Adam (arXiv 1412.6980); weight decay is added to the gradient. */
  LPT_OPTIMIZER_METHOD_SGD = 2,   /**< Gradient descent with momentum beta1; weight decay is added to the gradient. */
  /** Sign of an interpolated momentum (arXiv 2302.06675), with decoupled weight decay. */
  LPT_OPTIMIZER_METHOD_LION = 3
};

/** @brief Cast of a second moment below the smallest code; one of lpt_optimizer_underflow_values. */
typedef int32_t lpt_optimizer_underflow;

/** @brief Values of lpt_optimizer_underflow. */
enum lpt_optimizer_underflow_values {
  /** A nonzero moment is at least the smallest code, so that updates stay bounded. */
  LPT_OPTIMIZER_UNDERFLOW_CLAMP = 0,
  LPT_OPTIMIZER_UNDERFLOW_ALLOWED = 1,   /**< Rounded as other values: to zero below half the smallest code. */
  LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC = 2 /**< Becomes the smallest code s with probability |value| / s, else zero. */
};

/** @brief Values of lpt_format for moments of an optimizer only; tensors cannot have them. */
enum lpt_moment_format_values {
  /**
   * One byte per element, a level of the dynamic tree of bitsandbytes (arXiv 2110.02861); one f32 scale per 256
   * elements. First moments have a sign, second moments none.
   */
  LPT_FORMAT_DYNAMIC_1X256 = 99
};

/** @brief Options of lpt_optimizer_create(). */
typedef struct lpt_optimizer_options {
  size_t struct_size; /**< sizeof(lpt_optimizer_options) of the caller. */
  lpt_flags flags;    /**< LPT_CHECK_ONLY or 0. */
  /** Decay of the first moment, in [0, 1); momentum of SGD. -1, the default: 0.9, for SGD 0. */
  double beta1;
  /** Decay of the second moment, in [0, 1); for Lion of the first moment. -1, the default: 0.999, for Lion 0.99. */
  double beta2;
  double epsilon;                           /**< Added to the root; finite, at least 0. Default 1e-8. */
  lpt_optimizer_underflow second_underflow; /**< Cast of the second moment. Default CLAMP. */
  lpt_optimizer_method method;              /**< Update rule. Default ADAMW. */
  int32_t is_nesterov;                      /**< 1: Nesterov momentum, SGD only. Default 0. */
  int32_t reserved;                         /**< Must be 0. */
} lpt_optimizer_options;

/** @brief Defaults of lpt_optimizer_options. */
#define LPT_OPTIMIZER_OPTIONS_INIT                                                                                    \
  {                                                                                                                   \
    sizeof(lpt_optimizer_options), 0, -1.0, -1.0, 1e-8, LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_OPTIMIZER_METHOD_ADAMW, 0, \
        0                                                                                                             \
  }

/**
 * @brief Description of one parameter and of the formats of its state.
 *
 * Moments are f32 or bf16. With one scale: E4M3FN_TENSOR, E4M3_TENSOR, E5M2_TENSOR, F16_TENSOR. With a scale per 128
 * elements: E4M3FN_1X128, E5M2_1X128, e4m3/1x128/f32. Also DYNAMIC_1X256. docs/reference/optimizers.md lists bytes and errors of
 * each.
 */
typedef struct lpt_optimizer_parameter {
  size_t struct_size;       /**< sizeof(lpt_optimizer_parameter) of the caller. */
  int64_t elements;         /**< Elements of the parameter, or of the shard; 1 to 2^57. A shard may have 0. */
  lpt_format first_moment;  /**< Format of the first moment. Default f32. */
  lpt_format second_moment; /**< Format of the second moment; SGD and Lion ignore it. Default f32. */
  double weight_decay;      /**< Finite, at least 0. Default 0. */
  /**
   * 1: the range of each group of 128 is expanded to that of the element: COAT (arXiv 2410.19313). It requires a moment
   * in groups of 128, and takes two more bytes per group.
   */
  int32_t is_first_expanded;
  int32_t is_second_expanded; /**< The same for the second moment. */
  /**
   * BF16: the rounding error of each cast of a bf16 parameter is kept and added in the next step (Kahan). NONE, the
   * default: it is lost.
   */
  lpt_format compensation;
  /**
   * For a moment with one scale. CURRENT, the default: from its new amax, with another pass over the moment before it
   * is stored. DELAYED: from twice the amax of the previous step, saturated; the first step is CURRENT.
   */
  lpt_scaler_kind first_scaling;
  lpt_scaler_kind second_scaling; /**< The same for the second moment. */
  int64_t whole_elements;         /**< For a shard (ZeRO): elements of the full parameter, to 2^57. 0: not a shard. */
  /** First element of the shard in the full parameter; a multiple of the blocks of the moments. */
  int64_t begin;
  /** Stream of the random numbers of a step, below 2^24; it replaces `lpt_random.stream`. -1, the default: the index. */
  int64_t random_stream;
} lpt_optimizer_parameter;

/** @brief Defaults of lpt_optimizer_parameter. */
#define LPT_OPTIMIZER_PARAMETER_INIT                                                                \
  {                                                                                                 \
    sizeof(lpt_optimizer_parameter), 0, LPT_FORMAT_F32, LPT_FORMAT_F32, 0.0, 0, 0, LPT_FORMAT_NONE, \
        LPT_SCALER_KIND_CURRENT, LPT_SCALER_KIND_CURRENT, 0, 0, -1                                  \
  }

/** @brief Options of lpt_optimizer_step(). */
typedef struct lpt_optimizer_step_options {
  size_t struct_size;   /**< sizeof(lpt_optimizer_step_options) of the caller. */
  lpt_flags flags;      /**< LPT_CHECK_ONLY or 0. */
  double learning_rate; /**< Finite, at least 0. Default 1e-3. */
  /** Factor of the gradients, such as the inverse of the number of micro-batches. Finite. Default 1. */
  double gradient_scale;
  lpt_random random;                   /**< Seed and step; see lpt_optimizer_parameter.random_stream. */
  lpt_rounding first_moment_rounding;  /**< Rounding of the first moment. */
  lpt_rounding second_moment_rounding; /**< Rounding of the second moment. */
  lpt_rounding parameter_rounding;     /**< Rounding of a parameter that is not f32. */
  /**
   * 1: a step with an infinity or NaN in its gradients only increments the count of skipped steps. So does a step whose
   * clipped norm exceeds f32. On a GPU the step then waits for the norm. Default 0.
   */
  int32_t is_nonfinite_skipped;
  /** Gradients with a greater norm are multiplied by largest_norm / (norm + 1e-6). 0, the default: no clipping. */
  double largest_norm;
  /**
   * Norm of the gradients of all ranks times gradient_scale, from lpt_gradients_measure(); infinity if any is not
   * finite. 0, the default: the step computes it if it needs it.
   */
  double gradient_norm;
  /**
   * Divides gradient_scale by its scale, for the norms too, and implies is_nonfinite_skipped. It records whether the step
   * was skipped. Ranks must skip alike: they do in lpt_optimizer_step_shards(), and if their gradients have the same
   * bits. Otherwise they pass the same gradient_norm. NULL, the default: none.
   */
  lpt_loss_scaler *loss_scaler;
} lpt_optimizer_step_options;

/** @brief Defaults of lpt_optimizer_step_options. */
#define LPT_OPTIMIZER_STEP_OPTIONS_INIT                                                           \
  {                                                                                               \
    sizeof(lpt_optimizer_step_options), 0, 1e-3, 1.0, LPT_RANDOM_INIT, LPT_ROUNDING_NEAREST_EVEN, \
        LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_NEAREST_EVEN, 0, 0.0, 0.0, NULL                   \
  }

/** @brief Result of the last step of an optimizer. */
typedef struct lpt_optimizer_info {
  size_t struct_size; /**< sizeof(lpt_optimizer_info) of the caller. */
  /** Norm of the gradients times gradient_scale, computed or passed; infinity if one is not finite; 0 if not needed. */
  double gradient_norm;
  double clip_factor;    /**< Factor of clipping; 1: not clipped. */
  int64_t skipped_count; /**< Number of steps that were skipped for gradients that are not finite. */
  int32_t is_skipped;    /**< 1: the last step was skipped. */
  int32_t reserved;      /**< Always 0. */
} lpt_optimizer_info;

/** @brief Defaults of lpt_optimizer_info. */
#define LPT_OPTIMIZER_INFO_INIT \
  { sizeof(lpt_optimizer_info), 0.0, 1.0, 0, 0, 0 }

/** @brief Sums that ranks add up before a step. */
typedef struct lpt_gradients_info {
  size_t struct_size;      /**< sizeof(lpt_gradients_info) of the caller. */
  double sum_of_squares;   /**< Sum over the finite elements. */
  int64_t nonfinite_count; /**< Number of infinities and NaNs. */
} lpt_gradients_info;

/** @brief Defaults of lpt_gradients_info. */
#define LPT_GRADIENTS_INFO_INIT \
  { sizeof(lpt_gradients_info), 0.0, 0 }

/**
 * @brief Creates an optimizer without parameters.
 *
 * Device    The state is on the device of `context`, in memory of its allocator.
 *
 * @param[in]  options        NULL for the defaults.
 * @param[out] out_optimizer  Destroy with lpt_optimizer_destroy().
 * @retval LPT_INVALID_ARGUMENT  A member of `options` is out of range.
 * @retval LPT_UNSUPPORTED       `is_nesterov` with a method other than SGD.
 */
LPT_API lpt_status lpt_optimizer_create(lpt_context *context, const lpt_optimizer_options *options,
                                        lpt_optimizer **out_optimizer);

/**
 * @brief Destroys an optimizer and its state.
 *
 * @param[in] optimizer  NULL is allowed.
 */
LPT_API void lpt_optimizer_destroy(lpt_optimizer *optimizer);

/**
 * @brief Stores the state of an optimizer in mapped files, for state larger than memory.
 *
 * Each array is in a file without a name in the directory, and a step processes it in pieces. The bits do not change.
 *
 * Device    CPU only.
 *
 * @param[in,out] optimizer       Without parameters.
 * @param[in]     directory       On a disk with enough space; copied.
 * @param[in]     resident_bytes  Bytes of the files that a step keeps in memory, at least 4 MiB; 0: 64 MiB.
 * @retval LPT_INVALID_ARGUMENT  `optimizer` has parameters, `resident_bytes` is too small, or no file can be created in
 *                               the directory.
 * @retval LPT_UNSUPPORTED       The state is on a GPU.
 */
LPT_API lpt_status lpt_optimizer_set_directory(lpt_context *context, lpt_optimizer *optimizer, const char *directory,
                                               size_t resident_bytes);

/**
 * @brief Adds a parameter with zero moments.
 *
 * A saved state has the name of its parameter. A parameter with another name, or without one, does not load it.
 *
 * @param[in,out] optimizer  Optimizer to change.
 * @param[in]     name       UTF-8 of 1 to 255 bytes, different from the names of the other parameters; copied. NULL: no name.
 * @param[in]     parameter  Not NULL.
 * @param[out]    out_index  0 for the first parameter, then 1, 2, and so on.
 * @retval LPT_INVALID_ARGUMENT  A member of `parameter` is out of range, `name` is empty, too long or not unique, or
 *                               `context` is of another device.
 * @retval LPT_UNSUPPORTED       A format of a moment or of the compensation is not listed, or expansion or delayed
 *                               scaling does not fit the format. The optimizer has 2^24 parameters.
 * @retval LPT_OUT_OF_MEMORY     Memory, or space in the directory of lpt_optimizer_set_directory(), is insufficient.
 */
LPT_API lpt_status lpt_optimizer_add(lpt_context *context, lpt_optimizer *optimizer, const char *name,
                                     const lpt_optimizer_parameter *parameter, int64_t *out_index);

/**
 * @brief Finds a parameter by its name.
 *
 * @param[in]  optimizer  Optimizer to read.
 * @param[in]  name       Name that the parameter was added with.
 * @param[out] out_index  Index of the parameter.
 * @retval LPT_INVALID_ARGUMENT  No parameter has the name.
 */
LPT_API lpt_status lpt_optimizer_find(lpt_context *context, const lpt_optimizer *optimizer, const char *name,
                                      int64_t *out_index);

/**
 * @brief Steps many parameters.
 *
 * In f32, for each element p with gradient g (scaled, clipped) and step number t:
 *
 *   AdamW, Adam   m = beta1·m + (1-beta1)·g,  v = beta2·v + (1-beta2)·g²,
 *                 u = m / (sqrt(v/(1-beta2^t)) + epsilon) / (1-beta1^t);
 *   SGD           m = beta1·m + g,  u = m, with Nesterov momentum u = g + beta1·m;
 *   Lion          u = sign(beta1·m + (1-beta1)·g),  m = beta2·m + (1-beta2)·g;
 *   all           p = p - lr·decay·p - lr·u, where Adam and SGD add decay·p to g instead.
 *
 * Then m, v and p are cast to their formats, with new scales where they have scales. The parameter is its own master
 * weight: LPT_FORMAT_F16_TENSOR is a scaled f16 master. docs/reference/optimizers.md lists every formula and its source.
 *
 * A step takes all memory before it writes: a step that fails changes nothing, except after a failure of a GPU. Shards
 * that begin and end on blocks give the bits of the full parameter. In formats with one scale per tensor they do not,
 * since each shard has its own scale.
 *
 * Formats   Gradients are f32 or bf16. Parameters are f32, bf16 or LPT_FORMAT_F16_TENSOR; bf16 with a compensation.
 *
 * Random    Element i of the full parameter draws at offset + i; the stream is that of the parameter.
 *
 * Overlap   Parameters may overlap neither gradients nor each other.
 *
 * @param[in,out] optimizer   Optimizer to change.
 * @param[in]     indices     Which parameters, each at most once.
 * @param[in]     count       Length of `indices`, `gradients` and `parameters`, at least 0.
 * @param[in]     gradients   Dense, with as many elements as the parameter. Clipping and skipping apply to all of one
 *                            step together.
 * @param[in]     options     NULL for the defaults.
 * @param[in,out] parameters  Dense, with as many elements as the parameter.
 * @retval LPT_INVALID_ARGUMENT  An index is out of range or occurs twice, or a tensor has another number of elements.
 *                               Tensors overlap, an option is out of range, or `context` is of another device.
 * @retval LPT_UNSUPPORTED       A format is not listed above, a tensor is not dense, or no kernel of the device
 *                               supports the formats and roundings.
 */
LPT_API lpt_status lpt_optimizer_step(lpt_context *context, lpt_optimizer *optimizer, const int64_t *indices,
                                      int64_t count, const lpt_tensor *const *gradients,
                                      const lpt_optimizer_step_options *options, lpt_tensor *const *parameters);

/**
 * @brief Reads the result of the last step.
 *
 * Device    On a GPU the call waits for the stream if the norm was computed there.
 *
 * @param[in]  optimizer  Optimizer to read.
 * @param[out] out_info   The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  `context` is of another device, and the norm was computed on a GPU.
 */
LPT_API lpt_status lpt_optimizer_read(lpt_context *context, const lpt_optimizer *optimizer,
                                      lpt_optimizer_info *out_info);

/**
 * @brief Computes the sum of squares of many gradients in f64, and counts elements that are not finite.
 *
 * The result does not depend on the number of threads. Ranks with shards add up both values. They pass the root, times
 * gradient_scale, to lpt_optimizer_step().
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]  gradients  f32 or bf16, dense.
 * @param[in]  count      Length of `gradients`, at least 0.
 * @param[out] out_info   The caller sets `struct_size`.
 * @retval LPT_INVALID_ARGUMENT  `count` is negative, or a gradient is not on the device of `context`.
 * @retval LPT_UNSUPPORTED       A gradient is neither f32 nor bf16, or not dense.
 */
LPT_API lpt_status lpt_gradients_measure(lpt_context *context, const lpt_tensor *const *gradients, int64_t count,
                                         lpt_gradients_info *out_info);

/**
 * @brief Returns the number of bytes of the state of all parameters, with scales, in memory or in files.
 *
 * @param[in]  optimizer       Optimizer to read.
 * @param[out] out_size_bytes  0 without parameters.
 */
LPT_API lpt_status lpt_optimizer_size(lpt_context *context, const lpt_optimizer *optimizer, size_t *out_size_bytes);

/**
 * @brief Returns the number of bytes that lpt_optimizer_state_save() writes for one parameter.
 *
 * @param[in]  optimizer       Optimizer to read.
 * @param[in]  index           Which parameter.
 * @param[out] out_size_bytes  Size of the saved state.
 * @retval LPT_INVALID_ARGUMENT  `index` is out of range.
 */
LPT_API lpt_status lpt_optimizer_state_size(lpt_context *context, const lpt_optimizer *optimizer, int64_t index,
                                            size_t *out_size_bytes);

/**
 * @brief Saves the state of one parameter: portable, versioned, with a checksum.
 *
 * Device    On a GPU the call waits for the stream.
 *
 * @param[in]  optimizer     Optimizer to read.
 * @param[in]  index         Which parameter.
 * @param[out] buffer        At least lpt_optimizer_state_size() bytes, in CPU memory.
 * @param[in]  buffer_bytes  Size of `buffer`.
 * @retval LPT_INVALID_ARGUMENT  `index` is out of range, `buffer_bytes` is too small, or `context` is of another device
 *                               than a GPU state.
 */
LPT_API lpt_status lpt_optimizer_state_save(lpt_context *context, const lpt_optimizer *optimizer, int64_t index,
                                            void *buffer, size_t buffer_bytes);

/**
 * @brief Restores the state of one parameter.
 *
 * @param[in,out] optimizer     Optimizer to change.
 * @param[in]     index         Which parameter; its formats, shard and number of elements are those of the saved one.
 * @param[in]     buffer        A saved state, in CPU memory.
 * @param[in]     buffer_bytes  Size of the saved state.
 * @retval LPT_INVALID_ARGUMENT  `index` is out of range, or `context` is of another device.
 * @retval LPT_INVALID_STATE     The state is truncated, damaged, or of another parameter or method; nothing is changed.
 */
LPT_API lpt_status lpt_optimizer_state_load(lpt_context *context, lpt_optimizer *optimizer, int64_t index,
                                            const void *buffer, size_t buffer_bytes);

/**
 * @brief Restores the state of one parameter, or of a shard, from saved shards with other cuts.
 *
 * A training may thus resume with another number of ranks. Each saved state is of the full parameter or of a shard.
 * Elements outside of this parameter's shard are ignored.
 *
 * @param[in,out] optimizer     Optimizer to change.
 * @param[in]     index         Which parameter; its formats and whole_elements are those of the saved ones.
 * @param[in]     buffers       Saved states of the same step, in any order, that contain each of its elements once. For
 *                              formats with one scale per tensor their scales are equal, as lpt_optimizer_step_shards()
 *                              makes them.
 * @param[in]     buffer_bytes  Sizes of the saved states.
 * @param[in]     count         Length of both arrays, at least 1.
 * @retval LPT_INVALID_ARGUMENT  `index` or `count` is out of range, an element of `buffers` is NULL, or `context` is of
 *                               another device.
 * @retval LPT_INVALID_STATE     A state is truncated, damaged, or of another parameter or method. Steps or scales
 *                               differ, or elements are missing or occur twice. Nothing is changed.
 */
LPT_API lpt_status lpt_optimizer_state_load_many(lpt_context *context, lpt_optimizer *optimizer, int64_t index,
                                                 const void *const *buffers, const size_t *buffer_bytes, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
