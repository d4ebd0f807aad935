/**
 * @file common.h
 * @brief Release, status codes, handle types and random numbers that all other headers of LPT use.
 */
#ifndef LPT_COMMON_H
#define LPT_COMMON_H

#include <stddef.h>
#include <stdint.h>

#if defined(LPT_STATIC)
#define LPT_API
#elif defined(__GNUC__)
#define LPT_API __attribute__((visibility("default")))
#else
#define LPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Major release of this header. */
#define LPT_VERSION_MAJOR 0
/** @brief Minor release of this header. */
#define LPT_VERSION_MINOR 1
/** @brief Patch release of this header. */
#define LPT_VERSION_PATCH 0

/**
 * @brief Returns the release of the loaded library as a number.
 *
 * @return major · 10000 + minor · 100 + patch.
 */
LPT_API int32_t lpt_version(void);

/**
 * @brief Returns the release of the loaded library as text.
 *
 * @return A static string such as "0.1.0".
 */
LPT_API const char *lpt_version_string(void);

/**
 * @brief Returns the level of the binary interface, which is the number in the library's SONAME.
 *
 * @return 1.
 */
LPT_API int32_t lpt_abi_level(void);

/**
 * @brief Returns how the library was built.
 *
 * The text names the release, the compiler, and the instruction sets that have their own kernels.
 *
 * @return A static string of one line.
 */
LPT_API const char *lpt_build_info(void);

/** @brief The result of a function; one of lpt_status_values. */
typedef int32_t lpt_status;

/** @brief Values of lpt_status. */
enum lpt_status_values {
  LPT_OK = 0,               /**< The function succeeded. */
  LPT_INVALID_ARGUMENT = 1, /**< An argument is invalid; the error text names it, its value and the expected values. */
  LPT_UNSUPPORTED = 2,   /**< The call is valid, but no kernel supports it; the text lists the kernels and reasons. */
  LPT_OUT_OF_MEMORY = 3, /**< An allocation failed. */
  LPT_INVALID_STATE = 4, /**< A saved state is truncated, damaged or of another kind; nothing was changed. */
  LPT_INTERNAL = 5,      /**< A defect of the library. */
  LPT_CANCELLED = 6,     /**< The progress callback canceled the call; outputs may hold partial results. */
  LPT_ABORTED = 7,       /**< Another rank left or aborted, and the text names it; outputs may hold partial results. */
  LPT_TIMEOUT = 8,       /**< A rank did not respond before the timeout; the text names the missing ranks. */
  LPT_MISMATCH = 9,      /**< Ranks disagree about a collective, or a message was damaged. */
  LPT_WORK_FAILED = 10,  /**< A device failed now or in work queued before; the text holds the driver's message. */
  LPT_BUSY = 11          /**< Another call uses the context; nothing was done, and its error text is unchanged. */
};

/**
 * @brief Returns the name of a status.
 *
 * @param[in] status Any number.
 * @return A static string: a name such as "invalid argument", a sentence for LPT_BUSY, or "unknown status".
 */
LPT_API const char *lpt_status_string(lpt_status status);

/**
 * @brief Runs operations: holds threads, memory, error text and the choice of kernels; see lpt_context_create().
 *
 * Destroy it with lpt_context_destroy().
 */
typedef struct lpt_context lpt_context;

/**
 * @brief Elements in memory with a format, extents, scales and other parts; see lpt_tensor_create().
 *
 * Destroy it with lpt_tensor_destroy().
 */
typedef struct lpt_tensor lpt_tensor;

/** @brief Records the largest magnitudes of one cast site; see lpt_scaler_create(). */
typedef struct lpt_scaler lpt_scaler;

/** @brief Accumulates statistics of casts; see lpt_statistics_create(). */
typedef struct lpt_statistics lpt_statistics;

/** @brief A checked GEMM of one shape with its selected kernel; see lpt_gemm_plan_create(). */
typedef struct lpt_gemm_plan lpt_gemm_plan;

/** @brief Statistics of the inputs of a layer for calibration data; see lpt_calibration_create(). */
typedef struct lpt_calibration lpt_calibration;

/** @brief Keys and values of attention, stored for inference; see lpt_kv_cache_create(). */
typedef struct lpt_kv_cache lpt_kv_cache;

/** @brief Factor of the loss of a training in f16 or FP8; see lpt_loss_scaler_create(). */
typedef struct lpt_loss_scaler lpt_loss_scaler;

/** @brief How a linear layer casts the operands of its three GEMMs, and runs these; see lpt_recipe_create(). */
typedef struct lpt_recipe lpt_recipe;

/** @brief A linear layer: its recipe, its scalers, and the casts of its weight; see lpt_linear_create(). */
typedef struct lpt_linear lpt_linear;

/**
 * @brief One rank of a communicator; see lpt_comm_create_local().
 *
 * Threads   It belongs to the thread that uses its context: one thread, one rank, one comm.
 */
typedef struct lpt_comm lpt_comm;

/** @brief Tensor-parallel ranks that share only some columns of their activations; see lpt_partial_all_reduce(). */
typedef struct lpt_partial_plan lpt_partial_plan;

/**
 * @brief The optimizer state of many parameters; see lpt_optimizer_create().
 *
 * It does not hold the parameters.
 */
typedef struct lpt_optimizer lpt_optimizer;

/**
 * @brief A group of ranks that are threads of one process; see lpt_comm_group_create().
 *
 * Threads   All functions that take it are thread-safe.
 */
typedef struct lpt_comm_group lpt_comm_group;

/** @brief A collective in progress; see lpt_future_wait(). */
typedef struct lpt_future lpt_future;

/** @brief An encoding of messages that the caller supplies; its members are in lpt/research/codec.h. */
typedef struct lpt_comm_codec lpt_comm_codec;

/** @brief An emulated link of local ranks; its members are in lpt/research/emulation.h. */
typedef struct lpt_comm_emulation lpt_comm_emulation;

/** @brief An emulated arithmetic of a GEMM; its members are in lpt/research/emulation.h. */
typedef struct lpt_gemm_emulation lpt_gemm_emulation;

/** @brief Options of a softmax with few levels; its members are in lpt/research/exaq.h. */
typedef struct lpt_exaq_options lpt_exaq_options;

/** @brief Gradients that ranks reduce while backward continues; see lpt_gradient_buckets_create(). */
typedef struct lpt_gradient_buckets lpt_gradient_buckets;

/**
 * @brief A record of values by step and name; see lpt_monitor_create().
 *
 * It holds histories of scales, clipping and noise.
 */
typedef struct lpt_monitor lpt_monitor;

/** @brief Chooses the precision of each GEMM during training; see lpt_autopilot_create(). */
typedef struct lpt_autopilot lpt_autopilot;

/** @brief Ranks, switches and the links between them; see lpt_topology_create(). */
typedef struct lpt_topology lpt_topology;

/** @brief The messages of an all-reduce, step by step; see lpt_schedule_create(). */
typedef struct lpt_schedule lpt_schedule;

/** @brief Packets between ranks that may be lost; see lpt_lossy_link_create(). */
typedef struct lpt_lossy_link lpt_lossy_link;

/**
 * @brief Writes the defaults of a struct that begins with `struct_size`, those of its macro LPT_…_INIT.
 *
 * It is for languages that cannot use the macros. It never writes past `struct_size` bytes: a caller of an older release
 * gets the members that it has. Members of a later release become 0.
 *
 * @param[in]  name        Name of the type, for example "lpt_gemm_options".
 * @param[out] object      The struct. NULL: no effect.
 * @param[in]  struct_size Size of the caller's struct in bytes; the member `struct_size` gets this value.
 * @return 1 if this release has the type; else 0, and nothing is written.
 */
LPT_API int32_t lpt_struct_init(const char *name, void *object, size_t struct_size);

/** @brief Flags of a call, of a struct or of a tensor: a sum of lpt_flags_values. */
typedef uint64_t lpt_flags;

/**
 * @brief Values of lpt_flags.
 *
 * The name of a flag names the struct that accepts it. No two flags have the same bit. A function that does not know a
 * flag returns LPT_UNSUPPORTED.
 */
enum lpt_flags_values {
  /**
   * Options: the call checks its arguments and selects a kernel, but runs nothing. Tensors need no data then. A handle that
   * the function would return is NULL.
   */
  LPT_CHECK_ONLY = 1,
  /** lpt_quantize_options: keep the tensor scale that the output holds. Block scales are then relative to it. */
  LPT_QUANTIZE_KEEP_TENSOR_SCALE = 2,
  /**
   * lpt_gemm_options: the same bits on all CPUs. The GEMM adds in one order by fused multiply-adds of f32, at about half the
   * speed.
   */
  LPT_GEMM_PORTABLE_ORDER = 4,
  /**
   * lpt_gemm_options: round an f32 matrix a to bf16 first, to nearest even. Kernels for bf16 then apply. With packed 4-bit
   * weights, a small-m GEMM takes a fraction of the time. Other formats of a are multiplied as they are. Only the CPU supports
   * it for f32.
   */
  LPT_GEMM_CAST_A_TO_BF16 = 8,
  /** lpt_comm_options, ranks on CPUs: every message has a checksum, so that damaged bytes are detected. */
  LPT_COMM_CHECKSUMS = 16,
  /** lpt_comm_options: local ranks send messages, as processes do, and do not read each other's memory. */
  LPT_COMM_MESSAGES = 32,
  /**
   * lpt_comm_options, ranks on GPUs: ranks do not compare their calls before they queue them. No host waits for another one
   * then. Calls that differ end after the time limit.
   */
  LPT_COMM_SKIP_CHECKS = 64,
  /**
   * lpt_partial_plan_options: the model also splits the sequence among the same ranks (sequence parallelism), outside of
   * attention and MLP. lpt_partial_plan_create() rejects it with private columns, which a split sequence would lose.
   */
  LPT_PARTIAL_SEQUENCE_PARALLEL = 128,
  /** Result of lpt_tensor_from_dlpack(): the memory must not be written. */
  LPT_DLPACK_READ_ONLY = 256,
  /** Result of lpt_tensor_from_dlpack(): the memory is a copy that the producer made. */
  LPT_DLPACK_COPIED = 512,
  /** lpt_tensor_description: no operation accepts the tensor as an output. Views and parts of it inherit the flag. */
  LPT_TENSOR_READ_ONLY = 1024,
  /**
   * lpt_tensor_description, lpt_tensor_wrap(): the driver is not queried whether the memory is on the context's GPU. The
   * caller guarantees it. On the CPU the flag changes nothing.
   */
  LPT_TENSOR_UNCHECKED = 2048,
  /**
   * lpt_gemm_options, lpt_linear_gemm_options: permits a GPU to add products of FP8 in fewer bits where that is faster. Such
   * kernels end in "_fast", see lpt_context_explanation(). All GEMMs accept the flag; other GEMMs keep their bits.
   */
  LPT_GEMM_FAST_ACCUMULATE = 4096
};

/**
 * @brief Source of random bits: the key and counter of Philox4x32.
 *
 * Element (r, c) of a tensor uses index `offset + r · row_stride + c`. A shard thus draws the bits of the full tensor.
 *
 * The struct has no `struct_size` and never changes, because other structs embed it by value.
 */
typedef struct lpt_random {
  uint64_t seed;      /**< The key. */
  int64_t offset;     /**< Index of this tensor's first element in the full tensor, 0 to 2^60. */
  int64_t row_stride; /**< Columns of the full tensor, at most 2^32; 0: columns of this tensor. */
  uint32_t stream;    /**< One number per site of the program, below 2^24. */
  uint32_t step;      /**< One number per call of the site; micro-batches count. */
} lpt_random;

/** @brief Defaults of lpt_random. */
#define LPT_RANDOM_INIT \
  { 0, 0, 0, 0, 0 }

#ifdef __cplusplus
}
#endif

#endif
