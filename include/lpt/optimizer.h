/**
 * @file optimizer.h
 * @brief Optimizers whose state may be stored in 8 bits.
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

/** @brief How a parameter is stepped; one of lpt_optimizer_method_values. See lpt_optimizer_step(). */
typedef int32_t lpt_optimizer_method;

/** @brief Values of lpt_optimizer_method. */
enum lpt_optimizer_method_values {
  LPT_OPTIMIZER_METHOD_ADAMW = 0, /**< Adam with decoupled weight decay (arXiv 1711.05101). */
  LPT_OPTIMIZER_METHOD_ADAM = 1,  /**< Adam (arXiv 1412.6980); weight decay is added to the gradient. */
  LPT_OPTIMIZER_METHOD_SGD = 2,   /**< Gradient descent with momentum beta1; weight decay is added to the gradient. */
  LPT_OPTIMIZER_METHOD_LION =
      3 /**< The sign of an interpolated momentum (arXiv 2302.06675), with decoupled weight decay. */
};

/** @brief What becomes of a second moment below the smallest code; one of lpt_optimizer_underflow_values. */
typedef int32_t lpt_optimizer_underflow;

/** @brief Values of lpt_optimizer_underflow. */
enum lpt_optimizer_underflow_values {
  LPT_OPTIMIZER_UNDERFLOW_CLAMP =
      0, /**< A moment that is not zero keeps at least the smallest code: no update explodes. */
  LPT_OPTIMIZER_UNDERFLOW_ALLOWED = 1,   /**< It is rounded like any other, to zero below half the smallest code. */
  LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC = 2 /**< It becomes the smallest code s with probability |value| / s, else zero. */
};

/** @brief Values of lpt_format that only an optimizer's moments have: no tensor can be made of them. */
enum lpt_moment_format_values {
  /**
   * One byte per element, a level of bitsandbytes' dynamic tree (arXiv 2110.02861), with a sign for first moments,
   * without for second ones; one f32 scale per 256.
   */
  LPT_FORMAT_DYNAMIC_1X256 = 99
};

/** @brief What a new optimizer should be. */
typedef struct lpt_optimizer_options {
  size_t struct_size;                       /**< sizeof(lpt_optimizer_options) of the caller. */
  uint64_t flags;                           /**< LPT_CHECK_ONLY. */
  double beta1;                             /**< Decay of the first moment, in [0, 1); the momentum of SGD. */
  double beta2;                             /**< Decay of the second moment, in [0, 1); of Lion: of the first one. */
  double epsilon;                           /**< Added to the root; at least 0. */
  lpt_optimizer_underflow second_underflow; /**< Of the second moment's cast. */
  lpt_optimizer_method method;              /**< How it steps. */
  int32_t is_nesterov;                      /**< 1: Nesterov's momentum; SGD alone. */
  int32_t reserved;                         /**< 0. */
} lpt_optimizer_options;

/** @brief Defaults of lpt_optimizer_options. */
#define LPT_OPTIMIZER_OPTIONS_INIT \
  { sizeof(lpt_optimizer_options), 0, 0.9, 0.95, 1e-8, LPT_OPTIMIZER_UNDERFLOW_CLAMP, LPT_OPTIMIZER_METHOD_ADAMW, 0, 0 }

/**
 * @brief Writes the defaults of LPT_OPTIMIZER_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_optimizer_options_init(lpt_optimizer_options *options, size_t struct_size);

/**
 * @brief One parameter, as the optimizer should keep its state.
 *
 * Moments may be f32, bf16; E4M3FN_TENSOR, E4M3_TENSOR, E5M2_TENSOR, F16_TENSOR: one scale; E4M3FN_1X128, E5M2_1X128 and
 * e4m3/1x128/f32: a scale for each 128 elements; DYNAMIC_1X256. docs/reference/optimizers.md tells bytes and errors of each.
 */
typedef struct lpt_optimizer_parameter {
  size_t struct_size;       /**< sizeof(lpt_optimizer_parameter) of the caller. */
  int64_t elements;         /**< Number of its elements, here. */
  lpt_format first_moment;  /**< Format of the first moment. */
  lpt_format second_moment; /**< Of the second moment; SGD and Lion have none and do not look. */
  double weight_decay;      /**< At least 0. */
  /**
   * 1: a moment in groups of 128 has its range stretched over that of its element: COAT (arXiv 2410.19313); two more
   * bytes per group.
   */
  int32_t is_first_expanded;
  int32_t is_second_expanded; /**< The same of the second moment. */
  /** BF16: what each cast of a bf16 parameter lost is kept and added to the next step (Kahan); NONE: it is lost. */
  lpt_format compensation;
  /**
   * Of a moment with one scale. CURRENT: from its new amax, which takes a pass over all of it before it is stored.
   * DELAYED: from twice the amax of the step before, saturated; a first step is CURRENT.
   */
  lpt_scaler_kind first_scaling;
  lpt_scaler_kind second_scaling; /**< The same of the second moment. */
  /** Elements of the whole parameter where this is a shard of it (ZeRO); 0: it is whole. */
  int64_t whole_elements;
  /** First element of the shard in the whole one; a multiple of the moments' blocks. */
  int64_t begin;
} lpt_optimizer_parameter;

/** @brief Defaults of lpt_optimizer_parameter. */
#define LPT_OPTIMIZER_PARAMETER_INIT                                                                \
  {                                                                                                 \
    sizeof(lpt_optimizer_parameter), 0, LPT_FORMAT_F32, LPT_FORMAT_F32, 0.0, 0, 0, LPT_FORMAT_NONE, \
        LPT_SCALER_KIND_CURRENT, LPT_SCALER_KIND_CURRENT, 0, 0                                      \
  }

/**
 * @brief Writes the defaults of LPT_OPTIMIZER_PARAMETER_INIT.
 * @param parameter written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_optimizer_parameter_init(lpt_optimizer_parameter *parameter, size_t struct_size);

/** @brief One step of an optimizer. */
typedef struct lpt_optimizer_step_options {
  size_t struct_size;                  /**< sizeof(lpt_optimizer_step_options) of the caller. */
  uint64_t flags;                      /**< LPT_CHECK_ONLY. */
  double learning_rate;                /**< At least 0. */
  double gradient_scale;               /**< Gradients are multiplied by it: loss scale, micro-batches. */
  lpt_random random;                   /**< Seed and step; the parameter's index takes the place of the stream. */
  lpt_rounding first_moment_rounding;  /**< Of the first moment's cast. */
  lpt_rounding second_moment_rounding; /**< Of the second moment's cast. */
  lpt_rounding parameter_rounding;     /**< Of the parameter's cast, when it is not f32. */
  /** 1: a step whose gradients hold an infinity or NaN changes nothing but the count of skipped steps. */
  int32_t is_nonfinite_skipped;
  /** Gradients whose norm is above it are multiplied by largest_norm / (norm + 1e-6); 0: they are left as they are. */
  double largest_norm;
  /**
   * The norm of all gradients times gradient_scale, of all ranks, as lpt_gradients_measure() helps to find; infinity
   * if any is not finite. 0: it is found here.
   */
  double gradient_norm;
} lpt_optimizer_step_options;

/** @brief Defaults of lpt_optimizer_step_options. */
#define LPT_OPTIMIZER_STEP_OPTIONS_INIT                                                           \
  {                                                                                               \
    sizeof(lpt_optimizer_step_options), 0, 1e-3, 1.0, LPT_RANDOM_INIT, LPT_ROUNDING_NEAREST_EVEN, \
        LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_NEAREST_EVEN, 0, 0.0, 0.0                         \
  }

/**
 * @brief Writes the defaults of LPT_OPTIMIZER_STEP_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_optimizer_step_options_init(lpt_optimizer_step_options *options, size_t struct_size);

/** @brief What an optimizer's last step came to. */
typedef struct lpt_optimizer_info {
  size_t struct_size; /**< sizeof(lpt_optimizer_info) of the caller. */
  /**
   * Norm of the gradients times gradient_scale, as found or given; infinity when one of them is not finite; 0 when
   * nobody asked.
   */
  double gradient_norm;
  double clip_factor;    /**< What clipping multiplied the gradients by; 1: nothing. */
  int64_t skipped_count; /**< Steps that were skipped for gradients that are not finite. */
  int32_t is_skipped;    /**< 1: the last one was. */
  int32_t reserved;      /**< 0. */
} lpt_optimizer_info;

/** @brief Defaults of lpt_optimizer_info. */
#define LPT_OPTIMIZER_INFO_INIT \
  { sizeof(lpt_optimizer_info), 0.0, 1.0, 0, 0, 0 }

/**
 * @brief Writes the defaults of LPT_OPTIMIZER_INFO_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_optimizer_info_init(lpt_optimizer_info *values, size_t struct_size);

/** @brief What ranks add up before a step. */
typedef struct lpt_gradients_info {
  size_t struct_size;      /**< sizeof(lpt_gradients_info) of the caller. */
  double sum_of_squares;   /**< Of the finite elements. */
  int64_t nonfinite_count; /**< Infinities and NaNs. */
} lpt_gradients_info;

/** @brief Defaults of lpt_gradients_info. */
#define LPT_GRADIENTS_INFO_INIT \
  { sizeof(lpt_gradients_info), 0.0, 0 }

/**
 * @brief Writes the defaults of LPT_GRADIENTS_INFO_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_gradients_info_init(lpt_gradients_info *values, size_t struct_size);

/**
 * @brief Creates an optimizer without parameters.
 * @param context whose allocator is used for the state.
 * @param options NULL for the defaults.
 * @param out_optimizer returned; destroy with lpt_optimizer_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_optimizer_create(lpt_context *context, const lpt_optimizer_options *options,
                                        lpt_optimizer **out_optimizer);

/**
 * @brief Destroys an optimizer and its state.
 * @param optimizer NULL is allowed.
 */
LPT_API void lpt_optimizer_destroy(lpt_optimizer *optimizer);

/**
 * @brief Keeps the state of an optimizer in files: for state larger than memory. Each array is in a file without a name in the
 *        directory, mapped, and a step walks it piece by piece. The bits are the same.
 * @param context the context.
 * @param optimizer the optimizer; without parameters yet.
 * @param directory on a disk with room; copied.
 * @param resident_bytes how much of the files a step keeps in memory; 0: 64 MiB; at least 4 MiB.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also for a directory that takes no file.
 */
LPT_API lpt_status lpt_optimizer_set_directory(lpt_context *context, lpt_optimizer *optimizer, const char *directory,
                                               size_t resident_bytes);

/**
 * @brief Adds a parameter: makes its state, with zero moments.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param parameter borrowed.
 * @param out_index returned: 0 for the first, then 1, 2, …
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_optimizer_add(lpt_context *context, lpt_optimizer *optimizer,
                                     const lpt_optimizer_parameter *parameter, int64_t *out_index);

/**
 * @brief Steps many parameters. In f32, for each element with gradient g (scaled, clipped) and step number t:
 *
 *   AdamW, Adam   m = beta1·m + (1-beta1)·g,  v = beta2·v + (1-beta2)·g²,
 *                 u = m / (sqrt(v/(1-beta2^t)) + epsilon) / (1-beta1^t);
 *   SGD           m = beta1·m + g,  u = m, with Nesterov's momentum g + beta1·m;
 *   Lion          u = sign(beta1·m + (1-beta1)·g),  m = beta2·m + (1-beta2)·g;
 *   all           p = p - lr·decay·p - lr·u, where Adam and SGD add decay·p to g instead;
 *
 * then each of m, v, p is cast to its format, with new scales where it has them. The parameter is its own master weight:
 * LPT_FORMAT_F16_TENSOR makes a scaled f16 master. docs/reference/optimizers.md has every formula and its source.
 *
 * All memory that a step needs is taken before anything is written: a step that fails has changed nothing. The results do
 * not depend on the number of threads, and shards that begin and end on blocks give the bits of the whole parameter, save
 * in formats with one scale per tensor, where each shard has its own.
 *
 * @param context the context.
 * @param optimizer the optimizer.
 * @param indices borrowed; which parameters, each at most once.
 * @param count length of `indices`, `gradients` and `parameters`.
 * @param gradients borrowed; f32 or bf16, as many elements as the parameter, dense. One step's clipping and skipping is of
 *        all of them together.
 * @param options NULL for the defaults.
 * @param parameters read and written; f32, bf16, or LPT_FORMAT_F16_TENSOR, dense; bf16 with a compensation.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_optimizer_step(lpt_context *context, lpt_optimizer *optimizer, const int64_t *indices,
                                      int64_t count, const lpt_tensor *const *gradients,
                                      const lpt_optimizer_step_options *options, lpt_tensor *const *parameters);

/**
 * @brief Returns what the last step came to.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_optimizer_read(lpt_context *context, const lpt_optimizer *optimizer,
                                      lpt_optimizer_info *out_info);

/**
 * @brief Adds up the squares of many gradients in f64 and counts what is not finite. The sums do not depend on the number
 *        of threads. Ranks that hold shards add up both and give lpt_optimizer_step() the root, times gradient_scale.
 * @param context the context.
 * @param gradients borrowed; f32 or bf16, dense.
 * @param count length of `gradients`.
 * @param out_info its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_gradients_measure(lpt_context *context, const lpt_tensor *const *gradients, int64_t count,
                                         lpt_gradients_info *out_info);

/**
 * @brief Returns how many bytes the state of all parameters takes, scales included, in memory or in files.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_optimizer_size(lpt_context *context, const lpt_optimizer *optimizer, size_t *out_size_bytes);

/**
 * @brief Returns how many bytes lpt_optimizer_state_save() writes for one parameter.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param index which parameter.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_optimizer_state_size(lpt_context *context, const lpt_optimizer *optimizer, int64_t index,
                                            size_t *out_size_bytes);

/**
 * @brief Saves the state of one parameter: portable, versioned, with a checksum.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param index which parameter.
 * @param buffer written.
 * @param buffer_bytes at least lpt_optimizer_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_optimizer_state_save(lpt_context *context, const lpt_optimizer *optimizer, int64_t index,
                                            void *buffer, size_t buffer_bytes);

/**
 * @brief Restores the state of one parameter.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param index which parameter; its formats, shard and number of elements must be those of the saved one.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE, and nothing is changed.
 */
LPT_API lpt_status lpt_optimizer_state_load(lpt_context *context, lpt_optimizer *optimizer, int64_t index,
                                            const void *buffer, size_t buffer_bytes);

/**
 * @brief Restores the state of one parameter, or of a shard of it, from saved shards that were cut in another way: a training
 *        that goes on with another number of ranks. Each saved state may be the whole or a shard; what is outside of this
 *        parameter's elements is left.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param index which parameter; its formats and whole_elements must be those of the saved ones.
 * @param buffers borrowed; saved states of one and the same step, in any order, that have each of its elements once. Of formats
 *        with one scale per tensor their scales must be the same, as lpt_optimizer_step_shards() makes them.
 * @param buffer_bytes borrowed; lengths of the saved states.
 * @param count length of both arrays; at least 1.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE, and nothing is changed.
 */
LPT_API lpt_status lpt_optimizer_state_load_many(lpt_context *context, lpt_optimizer *optimizer, int64_t index,
                                                 const void *const *buffers, const size_t *buffer_bytes, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
