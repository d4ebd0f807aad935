/**
 * @file common.h
 * @brief Release, status, handles and random numbers: what every other header of LPT needs.
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
 * @brief Returns the release of the library that is loaded.
 * @return major · 10000 + minor · 100 + patch.
 */
LPT_API int32_t lpt_version(void);

/**
 * @brief Returns the release of the library that is loaded, as text.
 * @return a static string such as "0.1.0".
 */
LPT_API const char *lpt_version_string(void);

/**
 * @brief Returns the level of the binary interface, which is the number in the library's SONAME.
 * @return 1.
 */
LPT_API int32_t lpt_abi_level(void);

/**
 * @brief Returns how the library was built: release, compiler, and the instruction sets with kernels of their own.
 * @return a static string of one line.
 */
LPT_API const char *lpt_build_info(void);

/** @brief What a function came to; one of lpt_status_values. */
typedef int32_t lpt_status;

/** @brief Values of lpt_status. */
enum lpt_status_values {
  LPT_OK = 0,               /**< Done. */
  LPT_INVALID_ARGUMENT = 1, /**< An argument is wrong; the text names it, its value and what was expected. */
  LPT_UNSUPPORTED = 2,      /**< Well formed, but nothing here can do it; the text lists what was tried and why not. */
  LPT_OUT_OF_MEMORY = 3,    /**< Memory could not be had. */
  LPT_INVALID_STATE = 4,    /**< A saved state is truncated, damaged, or of another kind; nothing was changed. */
  LPT_INTERNAL = 5,         /**< A defect of the library. */
  LPT_CANCELLED = 6,        /**< The progress callback asked for it; outputs hold parts of the result. */
  LPT_ABORTED = 7,          /**< Another rank has left or given up; the text names it. Outputs may hold parts. */
  LPT_TIMEOUT = 8,          /**< Another rank did not come in time; the text names those that are missing. */
  LPT_MISMATCH = 9,         /**< Ranks do not agree about a collective, or bytes were damaged on their way. */
  LPT_WORK_FAILED = 10, /**< A device failed, at this call or at work queued before; the text has its driver's words. */
  LPT_BUSY = 11 /**< The context is in use by another call; nothing was done, and its error text is unchanged. */
};

/**
 * @brief Names a status.
 * @param status any number.
 * @return a static string such as "invalid argument"; for LPT_BUSY, whose reason no context holds, a full sentence;
 *         "unknown status" for a number that is none.
 */
LPT_API const char *lpt_status_string(lpt_status status);

/** @brief The worker: error text, threads, memory, choice of kernels. Destroyed with lpt_context_destroy(). */
typedef struct lpt_context lpt_context;

/** @brief Numbers in memory: a format, extents, and its parts. Destroyed with lpt_tensor_destroy(). */
typedef struct lpt_tensor lpt_tensor;

/** @brief Remembers the largest magnitudes of one site; see lpt_scaler_create(). */
typedef struct lpt_scaler lpt_scaler;

/** @brief Counts what casts did to numbers; see lpt_statistics_create(). */
typedef struct lpt_statistics lpt_statistics;

/** @brief A product of one shape that was checked, and whose kernel was picked, once for many calls. */
typedef struct lpt_gemm_plan lpt_gemm_plan;

/** @brief How a linear layer casts the operands of its three products, and makes these. See lpt_recipe_create(). */
typedef struct lpt_recipe lpt_recipe;

/** @brief A linear layer: its recipe, its scalers, and its weight's casts. See lpt_linear_create(). */
typedef struct lpt_linear lpt_linear;

/**
 * @brief One rank's end of a communicator; see lpt_comm_create_local(). Belongs to the thread that uses its context: one
 *        thread, one rank, one comm.
 */
typedef struct lpt_comm lpt_comm;

/** @brief Tensor-parallel ranks that share only some columns of their activations; see lpt_partial_all_reduce(). */
typedef struct lpt_partial_plan lpt_partial_plan;

/** @brief Holds the state of many parameters, never the parameters. See lpt_optimizer_create(). */
typedef struct lpt_optimizer lpt_optimizer;

/** @brief A group of ranks that are threads of one process. Thread-safe. */
typedef struct lpt_comm_group lpt_comm_group;

/** @brief A collective that is under way. Waited for with lpt_future_wait(). */
typedef struct lpt_future lpt_future;

/** @brief An encoding of a message that the caller supplies; its members are in lpt/research/codec.h. */
typedef struct lpt_comm_codec lpt_comm_codec;

/** @brief Gradients that ranks reduce while backward goes on. See lpt_gradient_buckets_create(). */
typedef struct lpt_gradient_buckets lpt_gradient_buckets;

/** @brief A record of numbers by step and name: histories of scales, clipping, noise. See lpt_monitor_create(). */
typedef struct lpt_monitor lpt_monitor;

/**
 * @brief Writes the defaults of a struct that begins with `struct_size`, as its LPT_…_INIT macro has them.
 *
 * Languages that cannot use the macros call it. It writes `struct_size` bytes at most: a struct of an older release gets the
 * members that it has, members of a newer release become 0.
 *
 * @param[in]  name        Name of the type, for example "lpt_gemm_options".
 * @param[out] object      The struct. NULL is allowed and ignored.
 * @param[in]  struct_size Size of the caller's struct in bytes. It becomes the value of the member `struct_size`.
 * @return 1 if the library knows the type, else 0; then nothing is written.
 */
LPT_API int32_t lpt_struct_init(const char *name, void *object, size_t struct_size);

/** @brief Flag of every options struct: check the arguments and pick a kernel, run nothing. Tensors need no data. */
#define LPT_CHECK_ONLY UINT64_C(1)

/**
 * @brief Where random bits come from: Philox4x32 with this key and counter. Frozen: embedded by value.
 *
 * Element (r, c) of a tensor draws at index offset + r · row_stride + c, so that a shard draws the bits of the whole.
 */
typedef struct lpt_random {
  uint64_t seed;      /**< The key. */
  int64_t offset;     /**< Index of this tensor's first element in the whole one, at most 2^60. */
  int64_t row_stride; /**< Columns of the whole tensor, at most 2^32; 0: columns of this one. */
  uint32_t stream;    /**< One per site of the program, below 2^24. */
  uint32_t step;      /**< One per call of the site; micro-batches count. */
} lpt_random;

/** @brief Defaults of lpt_random. */
#define LPT_RANDOM_INIT \
  { 0, 0, 0, 0, 0 }

#ifdef __cplusplus
}
#endif

#endif
