/**
 * @file context.h
 * @brief Devices, and the context that runs every operation: threads, streams, logging, progress and profile.
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
  LPT_DEVICE_CUDA = 1 /**< NVIDIA GPUs, by the plugin liblpt_cuda.so; the index is that of CUDA. */
};

/** @brief Properties of one device, and whether a context can work on it. */
typedef struct lpt_device_info {
  size_t struct_size;       /**< sizeof(lpt_device_info) of the caller. */
  lpt_device device;        /**< Kind of the device. */
  int32_t index;            /**< Index of the device within its kind. */
  int32_t count;            /**< Number of devices of this kind. */
  int32_t is_usable;        /**< 1: a context can be created for the device; 0: it cannot, see `reason`. */
  int32_t capability_major; /**< Major compute capability of a GPU; 0 for the CPU. */
  int32_t capability_minor; /**< Minor compute capability of a GPU; 0 for the CPU. */
  int32_t processor_count;  /**< Multiprocessors of a GPU, or cores that this process may use. */
  int32_t reserved;         /**< 0. */
  int64_t memory_bytes;     /**< Memory of the device in bytes. */
  char name[128];           /**< Name that the driver reports; for the CPU, its features. */
  char reason[512];         /**< Reason why the device is not usable; "" if it is usable. */
} lpt_device_info;

/** @brief Defaults of lpt_device_info. */
#define LPT_DEVICE_INFO_INIT \
  { sizeof(lpt_device_info), LPT_DEVICE_CPU, 0, 0, 0, 0, 0, 0, 0, 0, "", "" }

/**
 * @brief Describes a device and reports whether a context can work on it.
 *
 * A missing device is no error: `is_usable` is 0, and `reason` holds the message of the driver or of the plugin loader.
 *
 * @param[in] context NULL is allowed; there is no error text then.
 * @param[in]     device          One of lpt_device_values.
 * @param[in]     index           0 for the CPU, 0 to 4096 for GPUs.
 * @param[in,out] out_description The caller sets its `struct_size`.
 *
 * @retval LPT_INVALID_ARGUMENT `device` is unknown, or `index` is out of range.
 */
LPT_API lpt_status lpt_device_describe(lpt_context *context, lpt_device device, int32_t index,
                                       lpt_device_info *out_description);

/** @brief The highest instruction set that a context may use; one of lpt_isa_values. */
typedef int32_t lpt_isa;

/**
 * @brief Values of lpt_isa.
 *
 * Each value includes the ones before it, except that LPT_ISA_AUTO has no limit.
 */
enum lpt_isa_values {
  LPT_ISA_AUTO = 0,            /**< All instruction sets of the CPU, each only where it is the fastest. */
  LPT_ISA_REFERENCE = 1,       /**< Only the reference kernels, which define the bits of results. */
  LPT_ISA_X86_AVX2 = 2,        /**< AVX2, FMA and F16C. */
  LPT_ISA_X86_AVX512 = 3,      /**< AVX-512 F, BW, VL, DQ and VBMI. */
  LPT_ISA_X86_AVX512_BF16 = 4, /**< AVX-512 with bf16 dot products and VNNI. */
  LPT_ISA_X86_AMX = 5 /**< AMX tiles of bf16 and int8; the first context requests the permission of the system. */
};

/** @brief How much a context logs; one of lpt_log_level_values. */
typedef int32_t lpt_log_level;

/** @brief Values of lpt_log_level. */
enum lpt_log_level_values {
  LPT_LOG_LEVEL_NONE = 0,    /**< Nothing. */
  LPT_LOG_LEVEL_WARNING = 1, /**< Likely mistakes; this release reports none. */
  LPT_LOG_LEVEL_INFO = 2,    /**< The device of the context, and the instruction sets that kernels may use. */
  LPT_LOG_LEVEL_DISPATCH = 3 /**< Every selected kernel, and why the kernels before it were rejected. */
};

/**
 * @brief Receives one line of the log.
 *
 * Threads   It runs on the thread that calls the library.
 *
 * @param[in] user  `log_user` of the context.
 * @param[in] level Level of the line.
 * @param[in] text  Zero-terminated; valid during the call.
 */
typedef void (*lpt_log_function)(void *user, lpt_log_level level, const char *text);

/**
 * @brief Allocates memory for a context.
 *
 * Threads   It may run on any thread.
 *
 * @param[in] user      `allocator_user` of the context.
 * @param[in] bytes     Number of bytes.
 * @param[in] alignment A power of two that divides the returned address.
 * @return The memory; NULL makes the library return LPT_OUT_OF_MEMORY.
 */
typedef void *(*lpt_allocate_function)(void *user, size_t bytes, size_t alignment);

/**
 * @brief Frees memory that an lpt_allocate_function returned.
 *
 * Threads   It may run on any thread.
 *
 * @param[in] user   `allocator_user` of the context.
 * @param[in] memory Result of the allocation.
 * @param[in] bytes  Number of bytes of the allocation.
 */
typedef void (*lpt_release_function)(void *user, void *memory, size_t bytes);

/**
 * @brief Allocates GPU memory for a context.
 *
 * The library first uses the memory by work on `stream`. Earlier work of that stream may still use it, as with allocators
 * that reuse memory in the order of a stream.
 *
 * Device    The current CUDA device of the thread may be another one than the context's.
 *
 * Threads   It may run on any thread. It must not use the context.
 *
 * @param[in] user      `device_allocator_user` of the context.
 * @param[in] bytes     Number of bytes.
 * @param[in] alignment A power of two that divides the returned address.
 * @param[in] stream    A cudaStream_t: that of the context, or of a comm; NULL: CUDA's default stream.
 * @return Memory of the context's GPU; NULL makes the library return LPT_OUT_OF_MEMORY.
 */
typedef void *(*lpt_device_allocate_function)(void *user, size_t bytes, size_t alignment, void *stream);

/**
 * @brief Frees memory that an lpt_device_allocate_function returned.
 *
 * Work that is queued on `stream` may still use the memory. The library waits for none.
 *
 * Device    The current CUDA device of the thread may be another one than the context's.
 *
 * Threads   It may run on any thread. It must not use the context.
 *
 * @param[in] user   `device_allocator_user` of the context.
 * @param[in] memory Result of the allocation.
 * @param[in] bytes  Number of bytes of the allocation.
 * @param[in] stream Stream of the allocation.
 */
typedef void (*lpt_device_release_function)(void *user, void *memory, size_t bytes, void *stream);

/**
 * @brief Runs one task of a parallel loop; the library passes it to an lpt_parallel_for_function.
 *
 * @param[in] argument Passed through from the loop.
 * @param[in] index    0 to the number of tasks minus 1.
 */
typedef void (*lpt_task_function)(void *argument, int64_t index);

/**
 * @brief Runs `task(argument, i)` for every i in [0, count) on any threads, and returns after all have ended.
 *
 * @param[in] user     `parallel_for_user` of the context.
 * @param[in] count    Number of tasks.
 * @param[in] task     Function of one task.
 * @param[in] argument First argument of `task`.
 */
typedef void (*lpt_parallel_for_function)(void *user, int64_t count, lpt_task_function task, void *argument);

/** @brief Options of lpt_context_create(). */
typedef struct lpt_context_options {
  size_t struct_size;         /**< sizeof(lpt_context_options) of the caller. */
  int32_t thread_count;       /**< Threads of the context, at most 4096; 0: as many as the process may use cores. */
  lpt_isa isa;                /**< Highest instruction set to use; for tests and comparisons. */
  lpt_log_level log_level;    /**< Lines that `log` receives. */
  int32_t parallel_for_width; /**< Number of threads that `parallel_for` uses; at least 1 if it is set. */
  lpt_log_function log;       /**< Receives the log; NULL: no log. */
  void *log_user;             /**< First argument of `log`. */
  /** Allocates CPU memory; NULL: the library allocates. Set it together with `release`. */
  lpt_allocate_function allocate;
  lpt_release_function release; /**< Frees memory of `allocate`; NULL: the library frees. */
  void *allocator_user;         /**< First argument of `allocate` and `release`; must outlive all tensors. */
  /** Runs parallel loops on threads of the caller; NULL: on threads of the context. */
  lpt_parallel_for_function parallel_for;
  void *parallel_for_user; /**< First argument of `parallel_for`. */
  char *error_text;        /**< Receives the error text if lpt_context_create() fails; may be NULL. */
  size_t error_text_bytes; /**< Bytes at `error_text`. */
  lpt_device device;       /**< Kind of the device that the context works on. */
  int32_t device_index;    /**< Index of the device within its kind; 0 for the CPU. */
  /**
   * If it is not NULL, the new context shares the thread pool of this context, and `thread_count` must be 0.
   *
   * That context may be in use, except by lpt_context_set_threads(), and may be destroyed first. The pool runs one loop
   * at a time. Loops of the other contexts meanwhile run on their calling threads.
   */
  const lpt_context *threads_of;
  /** First stream of a GPU context, as lpt_context_set_stream() sets it. NULL: CUDA's default stream, or `device` is CPU. */
  void *stream;
  /**
   * Allocates memory of the GPU: scratch, and that of tensors and other handles. NULL: the library allocates by
   * cudaMalloc(). Set it together with `device_release`, and only for a GPU.
   */
  lpt_device_allocate_function device_allocate;
  lpt_device_release_function device_release; /**< Frees memory of `device_allocate`; NULL: the library frees. */
  /** First argument of `device_allocate` and `device_release`; must outlive all handles of the context. */
  void *device_allocator_user;
} lpt_context_options;

/** @brief Defaults of lpt_context_options. */
#define LPT_CONTEXT_OPTIONS_INIT                                                                                   \
  {                                                                                                                \
    sizeof(lpt_context_options), 0, LPT_ISA_AUTO, LPT_LOG_LEVEL_NONE, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
        NULL, 0, LPT_DEVICE_CPU, 0, NULL, NULL, NULL, NULL, NULL                                                   \
  }

/**
 * @brief Creates a context.
 *
 * The error text of a failure goes to `options->error_text`, because no context exists to hold it.
 *
 * Threads   The first operation that needs threads starts them. After an operation they poll for 200 us, then sleep.
 *
 * @param[in]  options     NULL: the defaults.
 * @param[out] out_context Destroy it with lpt_context_destroy().
 *
 * @retval LPT_INVALID_ARGUMENT An option is out of range, only one function of an allocator is set, or both
 *                              `thread_count` and `threads_of` are set.
 * @retval LPT_UNSUPPORTED      The CPU lacks `isa`, `device` is not usable, or `stream` or `device_allocate` is set for
 *                              the CPU.
 */
LPT_API lpt_status lpt_context_create(const lpt_context_options *options, lpt_context **out_context);

/**
 * @brief Destroys a context and ends its threads.
 *
 * Ownership Handles that the context created stay valid.
 *
 * @param[in] context No call may use it. NULL is allowed.
 */
LPT_API void lpt_context_destroy(lpt_context *context);

/**
 * @brief Returns the error text of the last call with a context.
 *
 * @param[in] context NULL is allowed.
 * @return One line that names the argument, its value and the expected values; "" after success. For NULL, or a context
 *         in use, it is a static sentence. The text is valid until the next call with the context.
 */
LPT_API const char *lpt_context_error(const lpt_context *context);

/**
 * @brief Returns which kernels the last operation selected, and why it rejected others.
 *
 * @param[in] context NULL is allowed.
 * @return One line per selected kernel, followed by the rejected ones; "" for NULL or a context in use. The text is
 *         valid until the next call with the context.
 */
LPT_API const char *lpt_context_explanation(const lpt_context *context);

/**
 * @brief Changes the number of threads of a context.
 *
 * Contexts that share the previous thread pool keep it.
 *
 * @param[in] thread_count At most 4096; 0: as many as the process may use cores.
 *
 * @retval LPT_INVALID_ARGUMENT `thread_count` is out of range.
 */
LPT_API lpt_status lpt_context_set_threads(lpt_context *context, int32_t thread_count);

/**
 * @brief Changes the highest instruction set that a context may use.
 *
 * @param[in] isa One of lpt_isa_values.
 *
 * @retval LPT_INVALID_ARGUMENT `isa` is not one of lpt_isa_values.
 * @retval LPT_UNSUPPORTED      The CPU lacks `isa`.
 */
LPT_API lpt_status lpt_context_set_isa(lpt_context *context, lpt_isa isa);

/**
 * @brief Changes the stream on which a GPU context queues its work.
 *
 * Work that is already queued stays on the previous stream. The new stream does not wait for it; see
 * lpt_context_wait_stream().
 *
 * Device    The call does not block. The context keeps scratch memory for up to 16 streams; lpt_context_trim() frees it. A
 *           further stream frees that of the others first, which may block until work that uses it is complete.
 *
 * @param[in] context A context on a GPU.
 * @param[in] stream  A cudaStream_t of the context's device, borrowed until another one is set. Destroy it only after its
 *                    work is complete. NULL: CUDA's default stream.
 *
 * @retval LPT_UNSUPPORTED The context works on the CPU.
 */
LPT_API lpt_status lpt_context_set_stream(lpt_context *context, void *stream);

/**
 * @brief Returns the stream on which a context queues its work.
 *
 * @param[in] context NULL is allowed.
 * @return The cudaStream_t of lpt_context_set_stream(). NULL: CUDA's default stream, or `context` is NULL or on the CPU.
 */
LPT_API void *lpt_context_stream(const lpt_context *context);

/**
 * @brief Makes later work of a context wait for the work that is queued on another stream so far.
 *
 * Device    The call does not block.
 *
 * @param[in] context A context on a GPU.
 * @param[in] stream  A cudaStream_t of the context's device; NULL: CUDA's default stream.
 *
 * @retval LPT_UNSUPPORTED The context works on the CPU.
 * @retval LPT_WORK_FAILED The driver rejects the stream; lpt_context_error() holds its message.
 */
LPT_API lpt_status lpt_context_wait_stream(lpt_context *context, void *stream);

/**
 * @brief Makes later work of another stream wait for the work that the context has queued so far.
 *
 * Device    The call does not block.
 *
 * @param[in] context A context on a GPU.
 * @param[in] stream  A cudaStream_t of the context's device; NULL: CUDA's default stream.
 *
 * @retval LPT_UNSUPPORTED The context works on the CPU.
 * @retval LPT_WORK_FAILED The driver rejects the stream; lpt_context_error() holds its message.
 */
LPT_API lpt_status lpt_context_notify_stream(lpt_context *context, void *stream);

/**
 * @brief Makes later work of a context wait for an event.
 *
 * Device    The call does not block.
 *
 * @param[in] context A context on a GPU.
 * @param[in] event   A cudaEvent_t that a stream of the caller has recorded.
 *
 * @retval LPT_INVALID_ARGUMENT `event` is NULL.
 * @retval LPT_UNSUPPORTED      The context works on the CPU.
 * @retval LPT_WORK_FAILED      The driver rejects the event; lpt_context_error() holds its message.
 */
LPT_API lpt_status lpt_context_wait_event(lpt_context *context, void *event);

/**
 * @brief Records an event behind the work that the context has queued so far.
 *
 * Device    The call does not block.
 *
 * @param[in] context A context on a GPU.
 * @param[in] event   A cudaEvent_t of the context's device.
 *
 * @retval LPT_INVALID_ARGUMENT `event` is NULL.
 * @retval LPT_UNSUPPORTED      The context works on the CPU.
 * @retval LPT_WORK_FAILED      The driver rejects the event; lpt_context_error() holds its message.
 */
LPT_API lpt_status lpt_context_record_event(lpt_context *context, void *event);

/**
 * @brief Frees scratch memory of a context, of the CPU and of the GPU, until it holds no more than a number of bytes.
 *
 * Scratch memory includes that of weight casts which lpt_linear_prepare() replaced. The next operations allocate it again.
 *
 * Device    On a GPU it may block until work that uses the memory is complete.
 *
 * @param[in] keep_bytes Bytes that may stay allocated; 0: free all.
 */
LPT_API lpt_status lpt_context_trim(lpt_context *context, size_t keep_bytes);

/**
 * @brief Blocks until all work queued on the context's stream is complete.
 *
 * Device    On a CPU context it returns immediately, because operations complete before they return.
 *
 * @retval LPT_WORK_FAILED Queued work failed; lpt_context_error() holds the driver's message.
 */
LPT_API lpt_status lpt_context_synchronize(lpt_context *context);

/**
 * @brief Changes the function that receives the log of a context, and its level.
 *
 * @param[in] level    One of lpt_log_level_values.
 * @param[in] log      NULL: no log.
 * @param[in] log_user First argument of `log`.
 *
 * @retval LPT_INVALID_ARGUMENT `level` is not one of lpt_log_level_values.
 */
LPT_API lpt_status lpt_context_set_log(lpt_context *context, lpt_log_level level, lpt_log_function log, void *log_user);

/**
 * @brief Receives the progress of a call.
 *
 * Threads   It runs on the thread that calls the library.
 *
 * @param[in] user  `progress_user` of lpt_context_set_progress().
 * @param[in] done  Completed work, such as elements of the result; grows to `whole`.
 * @param[in] whole Work of the call.
 * @return 0 to continue; any other value cancels the call, which then returns LPT_CANCELLED.
 */
typedef int32_t (*lpt_progress_function)(void *user, int64_t done, int64_t whole);

/**
 * @brief Sets a function that receives the progress of calls that may return LPT_CANCELLED, and may cancel them.
 *
 * Casts, lpt_dequantize() and GEMMs report elements of the result, about 100 times at most; a short call reports once.
 * A linear layer reports one cast or GEMM after the other, each with its own number of elements. A canceled call
 * leaves its outputs partly written.
 *
 * Device    On a GPU casts and GEMMs report nothing.
 *
 * @param[in] progress      NULL: no reports.
 * @param[in] progress_user First argument of `progress`.
 */
LPT_API lpt_status lpt_context_set_progress(lpt_context *context, lpt_progress_function progress, void *progress_user);

/** @brief Work of one kernel while a profile was recorded. */
typedef struct lpt_profile_entry {
  size_t struct_size; /**< sizeof(lpt_profile_entry) of the caller. */
  char operation[32]; /**< Step of an operation, such as "gemm". */
  char kernel[64];    /**< Kernel that ran, such as "gemm_any_x86_avx512_bf16". */
  int64_t calls;      /**< Number of runs. */
  double seconds;     /**< Wall time of the kernel in seconds. */
  double bytes;       /**< Bytes that the kernel must read and write at least once. */
  double flops;       /**< Floating-point operations of a GEMM, `2·m·n·k`; 0 for other steps. */
} lpt_profile_entry;

/** @brief Defaults of lpt_profile_entry. */
#define LPT_PROFILE_ENTRY_INIT \
  { sizeof(lpt_profile_entry), "", "", 0, 0.0, 0.0, 0.0 }

/**
 * @brief Starts a new profile, or stops the current one.
 *
 * A stopped profile can be read until the next start.
 *
 * @param[in] is_enabled 1: discard the recorded entries and start; 0: stop.
 *
 * @retval LPT_INVALID_ARGUMENT `is_enabled` is neither 0 nor 1.
 */
LPT_API lpt_status lpt_context_set_profile(lpt_context *context, int32_t is_enabled);

/**
 * @brief Returns the number of profile entries, one per operation step and kernel.
 *
 * @param[out] out_count Number of entries.
 */
LPT_API lpt_status lpt_context_profile_count(lpt_context *context, int64_t *out_count);

/**
 * @brief Returns one entry of the profile, the longest time first.
 *
 * @param[in]     index     0 to the number of entries minus 1.
 * @param[in,out] out_entry The caller sets its `struct_size`.
 *
 * @retval LPT_INVALID_ARGUMENT `index` is out of range.
 */
LPT_API lpt_status lpt_context_profile_entry(lpt_context *context, int64_t index, lpt_profile_entry *out_entry);

/**
 * @brief Writes the first 100 000 kernel runs of the profile as a Chrome trace (JSON).
 *
 * @param[in] path Zero-terminated name of the file, which is replaced.
 *
 * @retval LPT_INVALID_ARGUMENT The file cannot be written; lpt_context_error() holds the reason of the system.
 */
LPT_API lpt_status lpt_context_profile_save(lpt_context *context, const char *path);

#ifdef __cplusplus
}
#endif

#endif
