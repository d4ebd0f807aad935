/**
 * @file context.h
 * @brief Devices, and the context that runs every operation: threads, streams, logging, progress, profile.
 */
#ifndef LPT_CONTEXT_H
#define LPT_CONTEXT_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A kind of device; one of lpt_device_values. */
typedef int32_t lpt_device;

/** @brief Values of lpt_device. */
enum lpt_device_values {
  LPT_DEVICE_CPU = 0, /**< Host CPU; always available; index must be 0. */
  LPT_DEVICE_CUDA = 1 /**< GPUs of NVIDIA, by the plugin liblpt_cuda.so; an index counts those that CUDA shows. */
};

/** @brief What one device is, and whether contexts can work on it. */
typedef struct lpt_device_info {
  size_t struct_size;       /**< sizeof(lpt_device_info) of the caller. */
  lpt_device device;        /**< Its kind. */
  int32_t index;            /**< Which one of its kind. */
  int32_t count;            /**< How many of its kind there are. */
  int32_t is_usable;        /**< 1: a context can be created for it. */
  int32_t capability_major; /**< Of a GPU: its compute capability. */
  int32_t capability_minor; /**< The same after the dot. */
  int32_t processor_count;  /**< Multiprocessors of a GPU; cores that this process may use. */
  int32_t reserved;         /**< 0. */
  int64_t memory_bytes;     /**< Memory of its own. */
  char name[128];           /**< As its driver tells it. */
  char reason[512];         /**< Why it is not usable; "" where it is. */
} lpt_device_info;

/** @brief Defaults of lpt_device_info. */
#define LPT_DEVICE_INFO_INIT \
  { sizeof(lpt_device_info), LPT_DEVICE_CPU, 0, 0, 0, 0, 0, 0, 0, 0, "", "" }

/**
 * @brief Describes a device. One that is not there is no error: `is_usable` is 0, and `reason` says why, in the words of
 *        the driver or of the system that did not find the plugin.
 * @param[in] context NULL is allowed; there is no error text then.
 * @param device one of lpt_device_values.
 * @param index at least 0.
 * @param out_description its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_device_describe(lpt_context *context, lpt_device device, int32_t index,
                                       lpt_device_info *out_description);

/** @brief The highest instruction set that a context may use; one of lpt_isa_values. */
typedef int32_t lpt_isa;

/** @brief Values of lpt_isa. Each one includes those before it. */
enum lpt_isa_values {
  LPT_ISA_AUTO = 0,            /**< All that the CPU has. */
  LPT_ISA_REFERENCE = 1,       /**< The plain rows only: they decide the bits. */
  LPT_ISA_X86_AVX2 = 2,        /**< AVX2, FMA, F16C. */
  LPT_ISA_X86_AVX512 = 3,      /**< AVX-512 F, BW, VL, DQ, VBMI. */
  LPT_ISA_X86_AVX512_BF16 = 4, /**< AVX-512 with bf16 dot products and VNNI. */
  LPT_ISA_X86_AMX = 5          /**< AMX tiles of bf16 and int8. The first context asks the system to grant them. */
};

/** @brief How much a context logs; one of lpt_log_level_values. */
typedef int32_t lpt_log_level;

/** @brief Values of lpt_log_level. */
enum lpt_log_level_values {
  LPT_LOG_LEVEL_NONE = 0,    /**< Nothing. */
  LPT_LOG_LEVEL_WARNING = 1, /**< What is likely a mistake, such as an operation that no fast kernel takes. */
  LPT_LOG_LEVEL_INFO = 2,    /**< Rare events: threads started, instruction set chosen. */
  LPT_LOG_LEVEL_DISPATCH = 3 /**< Every kernel that is chosen, and why the ones before it were not. */
};

/** @brief Receives a log line, always on the thread that is calling the library. */
typedef void (*lpt_log_function)(void *user, lpt_log_level level, const char *text);

/** @brief Gives `bytes` bytes aligned to `alignment`, a power of two, or NULL. Called on any thread. */
typedef void *(*lpt_allocate_function)(void *user, size_t bytes, size_t alignment);

/** @brief Takes back what lpt_allocate_function gave. Called on any thread. */
typedef void (*lpt_release_function)(void *user, void *memory, size_t bytes);

/** @brief One task of a parallel loop, as the library hands it to lpt_parallel_for_function. */
typedef void (*lpt_task_function)(void *argument, int64_t index);

/** @brief Runs task(argument, i) for every i in [0, count), on any threads, and returns when all have ended. */
typedef void (*lpt_parallel_for_function)(void *user, int64_t count, lpt_task_function task, void *argument);

/** @brief What a new context should be. */
typedef struct lpt_context_options {
  size_t struct_size;                     /**< sizeof(lpt_context_options) of the caller. */
  int32_t thread_count;                   /**< Threads of the context; 0: as many cores as the process may use. */
  lpt_isa isa;                            /**< Highest instruction set to use; for tests and comparisons. */
  lpt_log_level log_level;                /**< What `log` receives. */
  int32_t parallel_for_width;             /**< Threads behind `parallel_for`; at least 1 when it is given. */
  lpt_log_function log;                   /**< NULL: the context is silent. */
  void *log_user;                         /**< First argument of `log`. */
  lpt_allocate_function allocate;         /**< NULL: the library's own; given together with `release`. */
  lpt_release_function release;           /**< NULL: the library's own. */
  void *allocator_user;                   /**< First argument of `allocate` and `release`; outlives all tensors. */
  lpt_parallel_for_function parallel_for; /**< NULL: the context's own threads; else the host's. */
  void *parallel_for_user;                /**< First argument of `parallel_for`. */
  char *error_text;                       /**< Receives the reason when lpt_context_create() fails; may be NULL. */
  size_t error_text_bytes;                /**< Room at `error_text`. */
  lpt_device device;                      /**< Where the context works. */
  int32_t device_index;                   /**< Which device of this kind; 0 for the CPU. */
  /** Not NULL: the new context shares the thread pool of this context, which may be in use, except by
      lpt_context_set_threads(), and may be destroyed first; `thread_count` is 0 then. The pool runs one loop at a time:
      meanwhile loops of the other contexts run on their calling threads. */
  const lpt_context *threads_of;
} lpt_context_options;

/** @brief Defaults of lpt_context_options. */
#define LPT_CONTEXT_OPTIONS_INIT                                                                                   \
  {                                                                                                                \
    sizeof(lpt_context_options), 0, LPT_ISA_AUTO, LPT_LOG_LEVEL_NONE, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
        NULL, 0, LPT_DEVICE_CPU, 0, NULL                                                                           \
  }

/**
 * @brief Creates a context. Threads start with the first operation that wants them.
 * @param options NULL for the defaults.
 * @param out_context returned; destroy with lpt_context_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED when the CPU lacks `isa`, or `device` is not usable;
 *         LPT_OUT_OF_MEMORY. The text of a failure goes to `options->error_text`.
 */
LPT_API lpt_status lpt_context_create(const lpt_context_options *options, lpt_context **out_context);

/**
 * @brief Destroys a context and ends its threads. Handles made with it live on.
 * @param context NULL is allowed. Must not be at work on another thread.
 */
LPT_API void lpt_context_destroy(lpt_context *context);

/**
 * @brief Returns what went wrong in the last call with this context.
 * @param context NULL gives a general sentence; so does a context that is in use.
 * @return one line that names the argument, its value and what was expected; "" after success. Valid until the next call.
 */
LPT_API const char *lpt_context_error(const lpt_context *context);

/**
 * @brief Returns which kernel the last operation took, and why each faster one was passed over.
 * @param context NULL gives "", and so does a context that is in use.
 * @return lines of text, one per operation part; valid until the next call with this context.
 */
LPT_API const char *lpt_context_explanation(const lpt_context *context);

/**
 * @brief Changes the number of threads.
 * @param context the context.
 * @param thread_count at least 1; 0: as many cores as the process may use.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_context_set_threads(lpt_context *context, int32_t thread_count);

/**
 * @brief Changes the highest instruction set that may be used.
 * @param context the context.
 * @param isa one of lpt_isa_values.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED when the CPU lacks it.
 */
LPT_API lpt_status lpt_context_set_isa(lpt_context *context, lpt_isa isa);

/**
 * @brief Changes the stream that work is queued on.
 *
 * Work that is queued already stays on the old stream, and is not waited for, save where the context's scratch memory is in
 * use there: then the call waits.
 *
 * @param context of a GPU.
 * @param stream a cudaStream_t of its device, borrowed until the next one is set; NULL: CUDA's default stream, as at first.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for a context of the CPU.
 */
LPT_API lpt_status lpt_context_set_stream(lpt_context *context, void *stream);

/**
 * @brief Waits until the context's stream has done all that is queued on it. On a CPU context it returns immediately.
 * @param context the context.
 * @return LPT_OK; LPT_WORK_FAILED.
 */
LPT_API lpt_status lpt_context_synchronize(lpt_context *context);

/**
 * @brief Changes where the log goes.
 * @param context the context.
 * @param level what to log.
 * @param log NULL: silent.
 * @param log_user first argument of `log`.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_context_set_log(lpt_context *context, lpt_log_level level, lpt_log_function log, void *log_user);

/**
 * @brief Receives the progress of a long call, on the thread that calls the library. Return nonzero to cancel.
 *
 * `done` and `whole` are in elements of the result; `done` grows to `whole`.
 */
typedef int32_t (*lpt_progress_function)(void *user, int64_t done, int64_t whole);

/**
 * @brief Has casts, both ways, and products report their progress, some hundred times at most, and end when asked.
 *        A short one reports once. A layer's call reports one cast or product after the other, each to its own whole.
 * @param context the context.
 * @param progress NULL: no reports. A call that it stops returns LPT_CANCELLED and leaves outputs written in part.
 * @param progress_user first argument of `progress`.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_context_set_progress(lpt_context *context, lpt_progress_function progress, void *progress_user);

/** @brief What one kernel did while a profile was taken. */
typedef struct lpt_profile_entry {
  size_t struct_size; /**< sizeof(lpt_profile_entry) of the caller. */
  char operation[32]; /**< The part of an operation, such as "gemm". */
  char kernel[64];    /**< The kernel that ran, such as "gemm_any_x86_avx512_bf16". */
  int64_t calls;      /**< How often it ran. */
  double seconds;     /**< Wall time inside it. */
  double bytes;       /**< Bytes it had to read and write at least once. */
  double flops;       /**< Arithmetic of a gemm: 2·m·n·k; 0 elsewhere. */
} lpt_profile_entry;

/** @brief Defaults of lpt_profile_entry. */
#define LPT_PROFILE_ENTRY_INIT \
  { sizeof(lpt_profile_entry), "", "", 0, 0.0, 0.0, 0.0 }

/**
 * @brief Starts a new profile, or stops the one that is taken. What was recorded stays until the next start.
 * @param context the context.
 * @param is_enabled 1: forget what was recorded and start; 0: stop.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_context_set_profile(lpt_context *context, int32_t is_enabled);

/**
 * @brief Counts the entries of the profile: one per operation part and kernel.
 * @param context the context.
 * @param out_count returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_context_profile_count(lpt_context *context, int64_t *out_count);

/**
 * @brief Reads one entry of the profile, longest time first.
 * @param context the context.
 * @param index from 0 to the count minus 1.
 * @param out_entry its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_context_profile_entry(lpt_context *context, int64_t index, lpt_profile_entry *out_entry);

/**
 * @brief Writes the profile's calls as a Chrome trace (JSON), the first 100 000 of them.
 * @param context the context.
 * @param path file to write; replaced.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the file cannot be written.
 */
LPT_API lpt_status lpt_context_profile_save(lpt_context *context, const char *path);

#ifdef __cplusplus
}
#endif

#endif
