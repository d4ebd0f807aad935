/**
 * @file lpt.h
 * @brief LPT, the low-precision training toolkit: the whole public interface.
 *
 * LPT converts numbers to and from small formats (FP8, FP4, MX, NVFP4, INT8), multiplies matrices that are stored in
 * them, and trains with them: linear layers under a recipe, scalers, activations, and an optimizer whose state is FP8.
 *
 * Three steps of use:
 *   1. create a context: it is the worker (threads, error text, choice of kernels);
 *   2. wrap your memory as tensors, or let the library create them; a format says what the bytes mean;
 *   3. call an operation with the context first and the outputs last, and look at the status it returns.
 *
 * The context is the worker, handles are data, options are one call's wishes.
 *
 * @section ownership Ownership
 * *borrowed*: the caller keeps it and it must live for the call. *given*: the library takes it. *returned*: the caller
 * ends it with the destroy function that is named. Every destroy takes NULL, may run on any thread at any moment, waits
 * for nothing and sets no error text. The order of destruction is free: a tensor may outlive the context that made it.
 * The library never frees what it did not allocate.
 *
 * @section threads Threads
 * A context serves one call at a time; contexts share nothing mutable, except a thread pool (`threads_of` of
 * lpt_context_options). A call with a context that another thread uses returns LPT_BUSY and changes nothing. So does a call
 * from a callback of the library (log, progress, allocator, parallel_for, codec) with the context that runs it; a callback
 * may use another context. A handle may be used with any context, one writer at a time, ordered by the caller. Results
 * never depend on the number of threads.
 *
 * @section options Options
 * An options struct begins with `struct_size`. Fill it with its `…_INIT` macro, or with its `…_init` function from a
 * language that has no C macros; NULL stands for those defaults. A program compiled against a newer header than the
 * library gets LPT_UNSUPPORTED when it sets a member that the library does not know. Handles inside options are
 * borrowed for the call. With LPT_CHECK_ONLY in `flags` an operation checks its arguments and picks its kernel, then
 * returns without running: the status and lpt_context_explanation() tell what would have happened. A handle that it would
 * return is NULL then.
 *
 * @section errors Errors
 * Every function that can fail returns an lpt_status; the text stands in the context, see lpt_context_error(). An error
 * that is found before the work starts leaves every output untouched. No exception, signal or exit leaves the library.
 *
 * @section shapes Shapes
 * Extents and strides are counted in elements, the last axis is the fastest. An operation on rows and columns folds the
 * leading axes of its tensors into rows. Extents may be zero. A *vector* of n is a tensor of rank 1 or a matrix of one row.
 * Every size works; nothing must be padded. Unless said otherwise outputs may not overlap inputs or each other, and a
 * row's elements are adjacent (stride 1 along the last axis).
 *
 * @section devices Devices
 * A context works on one device: the processor, or a GPU whose plugin is opened when the first context asks for it. What a
 * context makes lies in its device's memory, and what it wraps must lie there; an operation takes tensors of its context's
 * device, and refuses where that device has no kernel. lpt_tensor_copy() goes from one memory to the other. On a GPU an
 * operation queues its work on the context's stream and returns: outputs are ready, and memory may be used again, when the
 * stream has come there. What goes wrong then is told by a later call, lpt_context_synchronize() at the latest.
 *
 * @section rounding Rounding
 * A cast multiplies once in f32 by the inverse scale and rounds once. Stochastic rounding takes its bits from
 * lpt_random: the bits belong to the element's place, so they depend neither on threads nor on how a tensor is split.
 */
#ifndef LPT_H
#define LPT_H

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

/* ---------------------------------------------------------------- version ------------------------------------------ */

/** @brief Major release of this header. */
#define LPT_VERSION_MAJOR 0
/** @brief Minor release of this header. */
#define LPT_VERSION_MINOR 1
/** @brief Patch release of this header. */
#define LPT_VERSION_PATCH 0

/**
 * @brief Tells the release of the library that is loaded.
 * @return major · 10000 + minor · 100 + patch.
 */
LPT_API int32_t lpt_version(void);

/**
 * @brief Tells the release of the library that is loaded, as text.
 * @return a static string such as "0.1.0".
 */
LPT_API const char *lpt_version_string(void);

/**
 * @brief Tells the level of the binary interface, which is the number in the library's SONAME.
 * @return 1.
 */
LPT_API int32_t lpt_abi_level(void);

/**
 * @brief Tells how the library was built: release, compiler, and the instruction sets with kernels of their own.
 * @return a static string of one line.
 */
LPT_API const char *lpt_build_info(void);

/* ---------------------------------------------------------------- status ------------------------------------------- */

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

/* ---------------------------------------------------------------- devices ------------------------------------------ */

/** @brief A kind of device; one of lpt_device_values. */
typedef int32_t lpt_device;

/** @brief Values of lpt_device. */
enum lpt_device_values {
  LPT_DEVICE_CPU = 0, /**< The processor; always there, with index 0 alone. */
  LPT_DEVICE_CUDA = 1 /**< GPUs of NVIDIA, by the plugin liblpt_cuda.so; an index counts those that CUDA shows. */
};

/** @brief What one device is, and whether contexts can work on it. */
typedef struct lpt_device_description {
  size_t struct_size;       /**< sizeof(lpt_device_description) of the caller. */
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
} lpt_device_description;

/** @brief Defaults of lpt_device_description. */
#define LPT_DEVICE_DESCRIPTION_INIT \
  { sizeof(lpt_device_description), LPT_DEVICE_CPU, 0, 0, 0, 0, 0, 0, 0, 0, "", "" }

/**
 * @brief Writes the defaults of LPT_DEVICE_DESCRIPTION_INIT.
 * @param description written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_device_description_init(lpt_device_description *description, size_t struct_size);

/**
 * @brief Tells what a device is. One that is not there is no error: `is_usable` is 0, and `reason` says why, in the words of
 *        the driver or of the system that did not find the plugin.
 * @param device one of lpt_device_values.
 * @param index at least 0.
 * @param out_description its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_device_describe(lpt_device device, int32_t index, lpt_device_description *out_description);

/* ---------------------------------------------------------------- context ------------------------------------------ */

/** @brief The worker: error text, threads, memory, choice of kernels. Destroyed with lpt_context_destroy(). */
typedef struct lpt_context lpt_context;

/** @brief Flag of every options struct: check the arguments and pick a kernel, run nothing. Tensors need no data. */
#define LPT_CHECK_ONLY UINT64_C(1)

/** @brief Flag of lpt_quantize_options: the tensor scale that the output holds is kept; block scales are in units of it. */
#define LPT_KEEP_TENSOR_SCALE UINT64_C(2)

/** @brief The highest instruction set that a context may use; one of lpt_isa_values. */
typedef int32_t lpt_isa;

/** @brief Values of lpt_isa. Each one includes those before it. */
enum lpt_isa_values {
  LPT_ISA_AUTO = 0,            /**< All that the processor has. */
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
  LPT_LOG_NONE = 0,    /**< Nothing. */
  LPT_LOG_WARNING = 1, /**< What is likely a mistake, such as an operation that no fast kernel takes. */
  LPT_LOG_INFO = 2,    /**< Rare events: threads started, instruction set chosen. */
  LPT_LOG_DISPATCH = 3 /**< Every kernel that is chosen, and why the ones before it were not. */
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
  int32_t device_index;                   /**< Which device of this kind; 0 for the processor. */
  /** Not NULL: the new context shares the thread pool of this context, which may be in use, except by
      lpt_context_set_threads(), and may be destroyed first; `thread_count` is 0 then. The pool runs one loop at a time:
      meanwhile loops of the other contexts run on their calling threads. */
  const lpt_context *threads_of;
} lpt_context_options;

/** @brief Defaults of lpt_context_options. */
#define LPT_CONTEXT_OPTIONS_INIT                                                                                      \
  {                                                                                                                   \
    sizeof(lpt_context_options), 0, LPT_ISA_AUTO, LPT_LOG_NONE, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, \
        LPT_DEVICE_CPU, 0, NULL                                                                                       \
  }

/**
 * @brief Writes the defaults of LPT_CONTEXT_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_context_options_init(lpt_context_options *options, size_t struct_size);

/**
 * @brief Creates a context. Threads start with the first operation that wants them.
 * @param options NULL for the defaults.
 * @param out_context returned; destroy with lpt_context_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED when the processor lacks `isa`, or `device` is not usable;
 *         LPT_OUT_OF_MEMORY. The text of a failure goes to `options->error_text`.
 */
LPT_API lpt_status lpt_context_create(const lpt_context_options *options, lpt_context **out_context);

/**
 * @brief Destroys a context and ends its threads. Handles made with it live on.
 * @param context NULL is allowed. Must not be at work on another thread.
 */
LPT_API void lpt_context_destroy(lpt_context *context);

/**
 * @brief Tells what went wrong in the last call with this context.
 * @param context NULL gives a general sentence; so does a context that is in use.
 * @return one line that names the argument, its value and what was expected; "" after success. Valid until the next call.
 */
LPT_API const char *lpt_context_error(const lpt_context *context);

/**
 * @brief Tells which kernel the last operation took, and why each faster one was passed over.
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
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED when the processor lacks it.
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
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for a context of the processor.
 */
LPT_API lpt_status lpt_context_set_stream(lpt_context *context, void *stream);

/**
 * @brief Waits until the context's stream has done all that is queued on it. For the processor nothing ever is.
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
 * @brief Tells how far a long call has come, always on the thread that is calling the library. Not 0: stop, please.
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
  char row[64];       /**< The kernel that ran, such as "gemm_any_x86_avx512_bf16". */
  int64_t calls;      /**< How often it ran. */
  double seconds;     /**< Wall time inside it. */
  double bytes;       /**< Bytes it had to read and write at least once. */
  double flops;       /**< Arithmetic of a gemm: 2·m·n·k; 0 elsewhere. */
} lpt_profile_entry;

/** @brief Defaults of lpt_profile_entry. */
#define LPT_PROFILE_ENTRY_INIT \
  { sizeof(lpt_profile_entry), "", "", 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_PROFILE_ENTRY_INIT.
 * @param entry written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_profile_entry_init(lpt_profile_entry *entry, size_t struct_size);

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

/* ---------------------------------------------------------------- formats ------------------------------------------ */

/**
 * @brief What the bytes of a tensor mean. Small numbers are the presets of lpt_format_values; a larger one spells its own
 * description in its bits, so that a format means the same in every context, process and file. Compare with ==.
 */
typedef int64_t lpt_format;

/** @brief Values of lpt_format. Plain elements come first, then elements with scales. */
enum lpt_format_values {
  LPT_FORMAT_NONE = 0,      /**< No format. */
  LPT_FORMAT_F64 = 1,       /**< IEEE binary64; reference rows and tests. */
  LPT_FORMAT_F32 = 2,       /**< IEEE binary32. */
  LPT_FORMAT_F16 = 3,       /**< IEEE binary16. */
  LPT_FORMAT_BF16 = 4,      /**< bfloat16: 8 exponent and 7 mantissa bits. */
  LPT_FORMAT_E4M3FN = 5,    /**< OCP FP8, bias 7, largest 448, NaN 0x7F, no infinity. */
  LPT_FORMAT_E4M3 = 6,      /**< IEEE-like FP8, bias 7, largest 240, infinity and NaN. */
  LPT_FORMAT_E5M2 = 7,      /**< OCP FP8, bias 15, largest 57344, infinity and NaN. */
  LPT_FORMAT_E2M1FN = 8,    /**< OCP FP4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and sign; two per byte, first in the low half. */
  LPT_FORMAT_E8M0FNU = 9,   /**< Scale: 2^(code - 127), NaN 0xFF, no zero, no sign. */
  LPT_FORMAT_INT8 = 10,     /**< Signed integer; quantizing uses -127 to 127. */
  LPT_FORMAT_UINT8 = 11,    /**< Bytes: saved activations, masks. Quantizing takes it with zero points only. */
  LPT_FORMAT_E4M3FNUZ = 12, /**< FP8, bias 8, largest 240, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E5M2FNUZ = 13, /**< FP8, bias 16, largest 57344, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E4M3B11FNUZ = 14, /**< FP8, bias 11, largest 30, NaN 0x80, no infinity, no -0. */
  LPT_FORMAT_E3M4 = 15,        /**< IEEE-like FP8, bias 3, largest 15.5, infinity and NaN. */
  LPT_FORMAT_E3M2FN = 16,      /**< OCP FP6, bias 3, largest 28; four in three bytes. */
  LPT_FORMAT_E2M3FN = 17,      /**< OCP FP6, bias 1, largest 7.5; four in three bytes. */
  LPT_FORMAT_E3M0 = 18,        /**< Sign and power of two: 0, 2^-2 ... 2^4; two per byte. The grid of LUQ. */
  LPT_FORMAT_INT4 = 19,        /**< Signed integer; quantizing uses -7 to 7; two per byte, first in the low half. */
  LPT_FORMAT_UINT4 = 20,       /**< 0 to 15, with zero points; two per byte, first in the low half. */
  LPT_FORMAT_INT2 = 21,        /**< Signed integer; quantizing uses -1 to 1; four per byte. */
  LPT_FORMAT_TERNARY = 22,     /**< -1, 0, 1; five per byte: digits 0, 1, 2 for 0, 1, -1 in base 3, first lowest. */
  LPT_FORMAT_INT16 = 23,       /**< Signed integer; quantizing uses -32767 to 32767. */
  LPT_FORMAT_Q1_6 = 24,        /**< Fixed point: int8 / 64; quantizing uses -127/64 to 127/64. Of mxint8. */
  LPT_FORMAT_NF4 = 25,     /**< The 16 normal-float levels of QLoRA, -1 to 1; two per byte, first in the low half. */
  LPT_FORMAT_BNB_FP4 = 26, /**< The 16 levels of bitsandbytes' FP4, -1 to 1; two per byte, first in the low half. */

  LPT_FORMAT_E4M3FN_TENSOR = 64,   /**< e4m3fn, one f32 scale. */
  LPT_FORMAT_E4M3FN_ROW = 65,      /**< e4m3fn, one f32 scale per row. */
  LPT_FORMAT_E4M3FN_1X128 = 66,    /**< e4m3fn, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_E4M3FN_128X128 = 67,  /**< e4m3fn, one f32 scale per 128 × 128 block. */
  LPT_FORMAT_E4M3_TENSOR = 68,     /**< e4m3 (240), one f32 scale. */
  LPT_FORMAT_E4M3_ROW = 69,        /**< e4m3 (240), one f32 scale per row. */
  LPT_FORMAT_E5M2_TENSOR = 70,     /**< e5m2, one f32 scale. */
  LPT_FORMAT_E5M2_ROW = 71,        /**< e5m2, one f32 scale per row. */
  LPT_FORMAT_E5M2_1X128 = 72,      /**< e5m2, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_E5M2_128X128 = 73,    /**< e5m2, one f32 scale per 128 × 128 block. */
  LPT_FORMAT_MXFP8_E4M3 = 74,      /**< OCP MX: e4m3fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXFP8_E5M2 = 75,      /**< OCP MX: e5m2, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXFP4 = 76,           /**< OCP MX: e2m1fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_NVFP4 = 77,           /**< e2m1fn, one e4m3fn scale per 16 elements and one f32 scale per tensor. */
  LPT_FORMAT_INT8_TENSOR = 78,     /**< int8, one f32 scale. */
  LPT_FORMAT_INT8_ROW = 79,        /**< int8, one f32 scale per row. */
  LPT_FORMAT_F16_TENSOR = 80,      /**< f16, one f32 scale: master weights. */
  LPT_FORMAT_MXFP6_E3M2 = 81,      /**< OCP MX: e3m2fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXFP6_E2M3 = 82,      /**< OCP MX: e2m3fn, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_MXINT8 = 83,          /**< OCP MX: q1_6, one e8m0fnu scale per 32 elements. */
  LPT_FORMAT_NVFP4_16X16 = 84,     /**< As nvfp4 with one block scale per 16 × 16: weights that may be transposed. */
  LPT_FORMAT_INT4_1X32 = 85,       /**< int4, one f32 scale per 32 elements of a row. */
  LPT_FORMAT_INT4_1X64 = 86,       /**< int4, one f32 scale per 64 elements of a row. */
  LPT_FORMAT_INT4_1X128 = 87,      /**< int4, one f32 scale per 128 elements of a row. */
  LPT_FORMAT_UINT4_1X32 = 88,      /**< uint4, one f32 scale and one zero point per 32 elements of a row. */
  LPT_FORMAT_UINT4_1X64 = 89,      /**< uint4, one f32 scale and one zero point per 64 elements of a row. */
  LPT_FORMAT_UINT4_1X128 = 90,     /**< uint4, one f32 scale and one zero point per 128 elements of a row. */
  LPT_FORMAT_INT8_1X32 = 91,       /**< int8, one f32 scale per 32 elements of a row. */
  LPT_FORMAT_INT16_TENSOR = 92,    /**< int16, one f32 scale: dynamic fixed point with LPT_SCALE_RULE_POWER_OF_TWO. */
  LPT_FORMAT_E3M0_TENSOR = 93,     /**< e3m0, one f32 scale: LUQ with stochastic rounding. */
  LPT_FORMAT_TERNARY_TENSOR = 94,  /**< ternary, one f32 scale. */
  LPT_FORMAT_E4M3FNUZ_TENSOR = 95, /**< e4m3fnuz, one f32 scale. */
  LPT_FORMAT_E5M2FNUZ_TENSOR = 96, /**< e5m2fnuz, one f32 scale. */
  LPT_FORMAT_NF4_1X64 = 97,        /**< nf4, one f32 scale per 64 elements of a row. */
  LPT_FORMAT_BNB_FP4_1X64 = 98     /**< bnb_fp4, one f32 scale per 64 elements of a row. */
};

/** @brief A block extent of the whole axis. */
#define LPT_WHOLE (-1)

/** @brief The special values of an element; one of lpt_special_values. */
typedef int32_t lpt_special;

/** @brief Values of lpt_special. */
enum lpt_special_values {
  LPT_SPECIAL_NONE = 0,     /**< Every code is a finite number. */
  LPT_SPECIAL_IEEE = 1,     /**< Infinities and NaN in the top exponent. */
  LPT_SPECIAL_NAN_ONES = 2, /**< NaN with all bits set below the sign; no infinity. */
  LPT_SPECIAL_INTEGER = 3,  /**< Two's complement integer, times 2^-exponent_bias: fixed point. */
  LPT_SPECIAL_FNUZ = 4,     /**< One NaN, in the place of -0; no infinity. */
  LPT_SPECIAL_LIST = 5      /**< The codes stand for the levels of a list; no infinity, no NaN. */
};

/**
 * @brief A format taken apart. A value is (element - zero point) · block scale · tensor scale; absent scales are 1, absent
 *        zero points 0.
 *
 * lpt_format_from_description() reads `element` to `block_columns` and `zero_point`; `element_bits` to `largest` are told
 * by lpt_format_describe() and must be 0 or agree. With `element` LPT_FORMAT_NONE they describe an element of the
 * caller's own: a float of at most 8 bits, exponent_bits 1 to 7, `special` IEEE, NAN_ONES, FNUZ or NONE; `element_bits`
 * is the sum of both and the sign, or without the sign for an unsigned one; `largest` is 0 or agrees. Its smallest
 * subnormal is at least 2^-126 and its largest value below 2^127.
 */
typedef struct lpt_format_description {
  size_t struct_size;      /**< sizeof(lpt_format_description) of the caller. */
  lpt_format element;      /**< A plain preset. */
  lpt_format block_scale;  /**< F32, E8M0FNU, E4M3FN, or NONE. */
  lpt_format tensor_scale; /**< F32 or NONE. */
  int32_t block_rows;      /**< Power of two, or LPT_WHOLE; 0 without block scale. */
  int32_t block_columns;   /**< Power of two, or LPT_WHOLE; 0 without block scale. */
  int32_t element_bits;    /**< Storage of one element. */
  int32_t exponent_bits;   /**< 0 for integers. */
  int32_t mantissa_bits;   /**< Stored ones. */
  int32_t exponent_bias;   /**< Value of a normal code: (1 + m/2^M) · 2^(e - bias). */
  lpt_special special;     /**< What stands for infinity and NaN. */
  int32_t reserved;        /**< 0. */
  double largest;          /**< Largest finite element. */
  lpt_format zero_point;   /**< UINT8: one per block, for elements uint4 and uint8 with block scales; or NONE. */
  int32_t sparse_kept;     /**< 2 for 2:4: of every 4 columns 2 are stored, see lpt_sparse_compress(); 0: all. */
  int32_t sparse_of;       /**< 4 for 2:4; 0: all columns are stored. */
} lpt_format_description;

/** @brief Defaults of lpt_format_description. */
#define LPT_FORMAT_DESCRIPTION_INIT                                                                                 \
  {                                                                                                                 \
    sizeof(lpt_format_description), LPT_FORMAT_NONE, LPT_FORMAT_NONE, LPT_FORMAT_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, \
        LPT_FORMAT_NONE, 0, 0                                                                                       \
  }

/**
 * @brief Writes the defaults of LPT_FORMAT_DESCRIPTION_INIT.
 * @param description written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_format_description_init(lpt_format_description *description, size_t struct_size);

/**
 * @brief Makes the format of a description. A description that equals a preset gives the preset.
 * @param description borrowed.
 * @param out_format returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the parts do not make a format; LPT_UNSUPPORTED for an unknown member.
 */
LPT_API lpt_status lpt_format_from_description(const lpt_format_description *description, lpt_format *out_format);

/**
 * @brief Finds a format by name: a preset ("nvfp4", "e4m3fn_row"), or element/block/scale with an optional /tensor scale,
 *        where block is `tensor`, `row`, `column` or ROWSxCOLUMNS ("e2m1fn/1x32/e8m0fnu", "int8/1x64/f32"), and an
 *        optional /uint8 for zero points ("uint4/1x256/f32/uint8"). Any name with /2:4 behind it is that format with two of
 *        every four columns stored ("bf16/2:4", "nvfp4/2:4"). An element of the caller's own is spelled
 *        e<exponent bits>m<mantissa bits>b<bias> with -ieee, -nan, -fnuz or -finite, and a u in front without a sign
 *        ("e4m2b9-finite", "ue4m3b7-nan").
 * @param name zero-terminated.
 * @param out_format returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when there is none.
 */
LPT_API lpt_status lpt_format_from_name(const char *name, lpt_format *out_format);

/**
 * @brief Writes the name of a format; lpt_format_from_name() reads it back.
 * @param format the format.
 * @param buffer written with a terminating zero, cut to fit; may be NULL when `buffer_bytes` is 0.
 * @param buffer_bytes room at `buffer`.
 * @param out_needed_bytes returned: room for the whole name with its zero; may be NULL.
 * @return LPT_OK; LPT_INVALID_ARGUMENT for a number that is no format.
 */
LPT_API lpt_status lpt_format_name(lpt_format format, char *buffer, size_t buffer_bytes, size_t *out_needed_bytes);

/**
 * @brief Takes a format apart.
 * @param format the format.
 * @param out_description its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT for a number that is no format.
 */
LPT_API lpt_status lpt_format_describe(lpt_format format, lpt_format_description *out_description);

/**
 * @brief Writes what the bytes of a format mean, in lines of text for people: the bits of a code, special codes, range,
 *        packing, scales, and how a value is computed.
 * @param format the format.
 * @param buffer written with a terminating zero, cut to fit; may be NULL when `buffer_bytes` is 0.
 * @param buffer_bytes room at `buffer`.
 * @param out_needed_bytes returned: room for the whole text with its zero; may be NULL.
 * @return LPT_OK; LPT_INVALID_ARGUMENT for a number that is no format.
 */
LPT_API lpt_status lpt_format_text(lpt_format format, char *buffer, size_t buffer_bytes, size_t *out_needed_bytes);

/* ---------------------------------------------------------------- tensors ------------------------------------------ */

/** @brief Numbers in memory: a format, extents, and its parts. Destroyed with lpt_tensor_destroy(). */
typedef struct lpt_tensor lpt_tensor;

/** @brief A part of a tensor; one of lpt_part_values. */
typedef int32_t lpt_part;

/** @brief Values of lpt_part. */
enum lpt_part_values {
  LPT_PART_PAYLOAD = 0,      /**< The elements. */
  LPT_PART_BLOCK_SCALES = 1, /**< A matrix of scales, one per block, rows of blocks by columns of blocks. */
  LPT_PART_TENSOR_SCALE = 2, /**< One scale. */
  LPT_PART_ZERO_POINTS = 3,  /**< A matrix of zero points, one per block, as the block scales. */
  /** Where the elements of a 2:4 format belong: bytes, rows by columns / 8 rounded up; see lpt_sparse_compress(). */
  LPT_PART_SPARSE_INDICES = 4
};

/** @brief A tensor taken apart. */
typedef struct lpt_tensor_description {
  size_t struct_size;     /**< sizeof(lpt_tensor_description) of the caller. */
  lpt_format format;      /**< What the payload means. */
  void *data;             /**< First element, aligned to its size; NULL: without data, for LPT_CHECK_ONLY. */
  int32_t rank;           /**< Number of axes, 0 to 8. */
  int32_t reserved;       /**< 0. */
  const int64_t *extents; /**< `rank` extents. */
  const int64_t *strides; /**< `rank` strides in elements; NULL: dense, last axis fastest. */
  lpt_device device;      /**< Where `data` lies, as lpt_tensor_describe() tells it; not looked at when wrapping. */
  int32_t device_index;   /**< The same: which device of this kind. */
} lpt_tensor_description;

/** @brief Defaults of lpt_tensor_description. */
#define LPT_TENSOR_DESCRIPTION_INIT \
  { sizeof(lpt_tensor_description), LPT_FORMAT_NONE, NULL, 0, 0, NULL, NULL, LPT_DEVICE_CPU, 0 }

/**
 * @brief Writes the defaults of LPT_TENSOR_DESCRIPTION_INIT.
 * @param description written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_tensor_description_init(lpt_tensor_description *description, size_t struct_size);

/**
 * @brief Creates a tensor in memory of its own: zero elements, all scales 1, all zero points 0.
 * @param context whose device it lies on. On the processor its allocator is used; on a GPU filling it is queued.
 * @param format any format; one with scales takes rank 2 or more.
 * @param rank 0 to 8.
 * @param extents `rank` numbers, none negative.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_create(lpt_context *context, lpt_format format, int32_t rank, const int64_t *extents,
                                     lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor of the caller's memory, which is borrowed until the tensor is destroyed.
 * @param context the context. Of a GPU: the memory is that GPU's.
 * @param description a plain format; formats with scales are made with lpt_tensor_combine().
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_wrap(lpt_context *context, const lpt_tensor_description *description,
                                   lpt_tensor **out_tensor);

/**
 * @brief Makes a matrix of the caller's memory, which is borrowed until the tensor is destroyed.
 * @param context the context. Of a GPU: the memory is that GPU's.
 * @param format a plain format.
 * @param data first element, aligned to its size; NULL: a tensor without data, for LPT_CHECK_ONLY.
 * @param rows at least 0.
 * @param columns at least 0.
 * @param row_stride elements from one row to the next; 0: `columns`.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_matrix_wrap(lpt_context *context, lpt_format format, void *data, int64_t rows, int64_t columns,
                                   int64_t row_stride, lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor of a part of another one; both may write the same memory, which lives as long as either.
 * @param context the context.
 * @param tensor the source.
 * @param begins first index along each axis; on block edges of the format, and on whole bytes along the last axis.
 * @param extents extents of the view; they end on block edges or at the source's end.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_view(lpt_context *context, const lpt_tensor *tensor, const int64_t *begins,
                                   const int64_t *extents, lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor of one part: the elements as a plain tensor, or the scales.
 * @param context the context.
 * @param tensor the source.
 * @param part which part.
 * @param out_tensor returned; destroy with lpt_tensor_destroy(). The scales of blocks are a matrix.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the format has no such part; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_part(lpt_context *context, const lpt_tensor *tensor, lpt_part part,
                                   lpt_tensor **out_tensor);

/**
 * @brief Makes a matrix of its parts: the inverse of lpt_tensor_part(). The parts' memory is borrowed, or lives on if it
 *        is the library's.
 * @param context the context.
 * @param format what the parts make.
 * @param rows rows of the matrix.
 * @param columns columns of the matrix; the payload may be given as bytes (LPT_FORMAT_UINT8) when elements are smaller.
 * @param parts indexed by lpt_part; NULL for parts that the format lacks. Scales are dense.
 * @param part_count length of `parts`.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when a part is missing or of the wrong format or shape; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_combine(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                                      const lpt_tensor *const *parts, int32_t part_count, lpt_tensor **out_tensor);

/**
 * @brief Takes a tensor apart.
 * @param context the context.
 * @param tensor the tensor.
 * @param out_description its `struct_size` is set by the caller; written. Its arrays live as long as the tensor.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_tensor_describe(lpt_context *context, const lpt_tensor *tensor,
                                       lpt_tensor_description *out_description);

/**
 * @brief Tells how many bytes the elements and scales of a tensor take, without gaps between rows.
 * @param context the context.
 * @param tensor the tensor.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_tensor_size(lpt_context *context, const lpt_tensor *tensor, size_t *out_size_bytes);

/**
 * @brief Copies a tensor with all its parts: from one memory to another, or within one.
 *
 * Shapes    both have the same extents; strides may differ.
 * Formats   both have the same; packed weights are not taken.
 * Overlap   none.
 *
 * @param context its device, or the processor, is where source and target lie. On a GPU the copy is queued: memory of the
 *        processor that takes part may be read or changed after lpt_context_synchronize().
 * @param source borrowed.
 * @param target written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_WORK_FAILED.
 */
LPT_API lpt_status lpt_tensor_copy(lpt_context *context, const lpt_tensor *source, lpt_tensor *target);

/**
 * @brief Destroys a tensor. Memory that was wrapped is left alone.
 * @param tensor NULL is allowed.
 */
LPT_API void lpt_tensor_destroy(lpt_tensor *tensor);

/* ---------------------------------------------------------------- dlpack ------------------------------------------- */

/** @brief Flag of lpt_tensor_from_dlpack(): the memory must not be written. */
#define LPT_DLPACK_READ_ONLY UINT64_C(1)

/** @brief Flag of lpt_tensor_from_dlpack(): the memory is a copy that the producer made. */
#define LPT_DLPACK_COPIED UINT64_C(2)

/**
 * @brief Makes a tensor of what another library describes by DLPack 1.x, without a copy. The description is read here; the
 *        memory is borrowed until the tensor is destroyed, and the caller keeps the struct and calls its deleter.
 *
 * Types     float of 16, 32 and 64 bits, bfloat, int of 2, 4, 8 and 16, uint of 4 and 8, bool (as uint8), and the float8,
 *           float6 and float4 types that have a format. Lanes are elements of the last axis, which is dense then.
 * Layout    rank 0 to 8 and strides as for lpt_tensor_wrap(); byte_offset is added. Small elements are packed, rows on whole
 *           packs; padded ones (one in a byte) are refused. A tensor without elements may have no memory.
 * Device    the context's: kDLCPU, or kDLCUDA with its index.
 * Version   major 1 of the versioned struct, any minor.
 * Scales    travel as tensors of their own: take each one, and join them with lpt_tensor_combine().
 * Source    dlpack.h 1.1, https://dmlc.github.io/dlpack.
 *
 * @param context the context.
 * @param managed a DLManagedTensorVersioned, or a DLManagedTensor; borrowed for the call.
 * @param is_versioned 1: DLManagedTensorVersioned; 0: DLManagedTensor, which has no flags.
 * @param out_flags returned: LPT_DLPACK_READ_ONLY, LPT_DLPACK_COPIED, else 0; NULL: memory that is read-only is refused.
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for a type, a layout, a device or a version that LPT does not take;
 *         LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_from_dlpack(lpt_context *context, const void *managed, int32_t is_versioned,
                                          uint64_t *out_flags, lpt_tensor **out_tensor);

/**
 * @brief Makes a tensor as lpt_tensor_from_dlpack() does, and takes the struct over: its deleter is called once, when the last
 *        tensor that shares the memory is destroyed, on that thread. After an error the caller has it still.
 * @param context the context.
 * @param managed a DLManagedTensorVersioned, or a DLManagedTensor; given. Its deleter may be NULL.
 * @param is_versioned 1: DLManagedTensorVersioned; 0: DLManagedTensor.
 * @param out_flags as for lpt_tensor_from_dlpack().
 * @param out_tensor returned; destroy with lpt_tensor_destroy().
 * @return as lpt_tensor_from_dlpack().
 */
LPT_API lpt_status lpt_tensor_take_dlpack(lpt_context *context, void *managed, int32_t is_versioned,
                                          uint64_t *out_flags, lpt_tensor **out_tensor);

/**
 * @brief Describes a plain tensor by DLPack, for another library, without a copy. A tensor with scales goes part by part, see
 *        lpt_tensor_part(). Memory of the library lives as long as the struct; wrapped memory must.
 * @param context the context.
 * @param tensor borrowed; may be destroyed before the struct.
 * @param is_versioned 1: a DLManagedTensorVersioned of 1.1; 0: a DLManagedTensor.
 * @param out_managed returned; its deleter ends it, once, on any thread.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for formats that DLPack has no type for; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_tensor_to_dlpack(lpt_context *context, const lpt_tensor *tensor, int32_t is_versioned,
                                        void **out_managed);

/* ---------------------------------------------------------------- quantize ----------------------------------------- */

/** @brief How a value between two codes is rounded; one of lpt_rounding_values. */
typedef int32_t lpt_rounding;

/** @brief Values of lpt_rounding. */
enum lpt_rounding_values {
  LPT_ROUNDING_NEAREST_EVEN = 0,        /**< To the nearest code, ties to the even one. */
  LPT_ROUNDING_STOCHASTIC = 1,          /**< Up with the probability of the fraction; the mean is the value. */
  LPT_ROUNDING_TOWARD_ZERO = 2,         /**< To the code below in magnitude. */
  LPT_ROUNDING_NEAREST_AWAY = 3,        /**< To the nearest code, ties to the one of larger magnitude. */
  LPT_ROUNDING_STOCHASTIC_UNDERFLOW = 4 /**< Stochastic below the smallest positive code, else nearest even (LUQ). */
};

/** @brief What becomes of a value beyond the largest code; one of lpt_overflow_values. */
typedef int32_t lpt_overflow;

/** @brief Values of lpt_overflow. */
enum lpt_overflow_values {
  LPT_OVERFLOW_SATURATE = 0, /**< The largest finite code with its sign; infinities too. */
  LPT_OVERFLOW_INFINITE = 1  /**< Infinity where the element has it, else NaN, else as a NaN: see lpt_quantize(). */
};

/** @brief How scales follow from the largest magnitude (amax); one of lpt_scale_rule_values. */
typedef int32_t lpt_scale_rule;

/** @brief Values of lpt_scale_rule. M is the element's largest finite value. */
enum lpt_scale_rule_values {
  LPT_SCALE_RULE_DEFAULT = 0,      /**< F32 scales: AMAX. E8m0: ROUND_UP. E4m3fn: NEAREST, HEADROOM if stochastic. */
  LPT_SCALE_RULE_AMAX = 1,         /**< F32 scales: amax / M. */
  LPT_SCALE_RULE_POWER_OF_TWO = 2, /**< F32 scales: the smallest power of two that is at least amax / M. */
  LPT_SCALE_RULE_ROUND_UP = 3,     /**< E8m0 scales: the same; e4m3fn scales: NEAREST's, rounded up. Never clips. */
  LPT_SCALE_RULE_FLOOR = 4,        /**< E8m0 scales: 2^(floor(log2 amax) - floor(log2 M)), the OCP text; may clip. */
  LPT_SCALE_RULE_NEAREST = 5,      /**< E4m3fn scales: amax / M to nearest; tensor scale from amax / (M · 448). */
  LPT_SCALE_RULE_HEADROOM = 6,     /**< E4m3fn scales: 17/16 of it, tensor scale from amax / (M · 256); never clips. */
  LPT_SCALE_RULE_POWER_OF_TWO_DOWN = 7, /**< F32 scales: the largest power of two that is at most amax / M. */
  LPT_SCALE_RULE_POWER_OF_TWO_NEAREST =
      8,                              /**< F32 scales: the power of two whose logarithm is nearest to amax / M's. */
  LPT_SCALE_RULE_CEIL = 9,            /**< E8m0 scales: 2^(ceil(log2 amax) - floor(log2 M)); never clips. */
  LPT_SCALE_RULE_EVEN = 10,           /**< E8m0 scales: FLOOR of amax rounded to the element's mantissa, ties up. */
  LPT_SCALE_RULE_THREE_QUARTERS = 11, /**< E8m0 scales: FLOOR, and a tensor scale of 4/3 makes room; never clips. */
  LPT_SCALE_RULE_QUEST_FLOOR = 12,    /**< E8m0 scales of e2m1fn: 2.92247856 deviations / 6, power of two below. */
  LPT_SCALE_RULE_QUEST_NEAREST = 13,  /**< The same with the power of two whose logarithm is nearest. */
  LPT_SCALE_RULE_QUEST_CEIL = 14,     /**< The same with the power of two above. */
  LPT_SCALE_RULE_FOUR_OVER_SIX = 15,  /**< E4m3fn scales of e2m1fn: amax at 6 or at 4, the smaller squared error. */
  LPT_SCALE_RULE_MSE = 16,            /**< Of a few scales near AMAX's the one with the smallest squared error. */
  LPT_SCALE_RULE_LIST = 17,  /**< F32 scales: the first of `scale_list` that is at least amax / M, or the last. */
  LPT_SCALE_RULE_FIXED = 18, /**< All scales stay as the output holds them. */
  LPT_SCALE_RULE_MEAN = 19,  /**< F32 scales: the mean magnitude; for ternary and int2 elements. */
  /**
   * F32 tensor scale of int4: (12.1 · sqrt(mean x²) - 12.2 · mean |x|) / 7; AMAX's where this is not in between 0
   * and it. May clip.
   */
  LPT_SCALE_RULE_SAWB = 20
};

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

/** @brief Remembers the largest magnitudes of one site; see lpt_scaler_create(). */
typedef struct lpt_scaler lpt_scaler;

/** @brief Counts what casts did to numbers; see lpt_statistics_create(). */
typedef struct lpt_statistics lpt_statistics;

/** @brief How to quantize; the output's format says what to make. */
typedef struct lpt_quantize_options {
  size_t struct_size;        /**< sizeof(lpt_quantize_options) of the caller. */
  uint64_t flags;            /**< LPT_CHECK_ONLY, LPT_KEEP_TENSOR_SCALE. */
  lpt_rounding rounding;     /**< Of the elements. */
  lpt_overflow overflow;     /**< Of the elements. */
  lpt_scale_rule scale_rule; /**< Of the scales. */
  int32_t stochastic_bits;   /**< Random bits per element: 16 or 8. */
  int32_t philox_rounds;     /**< 7, or 10. */
  int32_t hadamard_size;     /**< 16, 32, 64 or 128: rotate the rows of each output first, see lpt_hadamard(); 0: no. */
  lpt_random random;         /**< For stochastic rounding. */
  lpt_scaler *scaler;        /**< Where amax comes from, for formats with one tensor scale; NULL: the source. */
  /**
   * Vector of factors per column, which divide the source first. E8m0fnu, for formats with e8m0fnu column scales:
   * they become these scales. F32, for the others.
   */
  const lpt_tensor *smoothing;
  const lpt_tensor *hadamard_signs; /**< As in lpt_hadamard_options. */
  /**
   * Random bits of the caller, uint8: `stochastic_bits` / 8 bytes per source element, lowest first, rows as the
   * source; `offset` and `row_stride` of `random` do not move them. NULL: from `random`.
   */
  const lpt_tensor *random_words;
  /**
   * For LPT_SCALE_RULE_LIST: vector of 1 to 64 rising f32; NULL: 2^-8, 2^-4, 1, 2^4, the hardware scales of Gaudi 2.
   */
  const lpt_tensor *scale_list;
  lpt_statistics *statistics; /**< Counts what becomes of the elements of `quantized`, else of `transposed`. */
} lpt_quantize_options;

/** @brief Defaults of lpt_quantize_options. */
#define LPT_QUANTIZE_OPTIONS_INIT                                                                                     \
  {                                                                                                                   \
    sizeof(lpt_quantize_options), 0, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, LPT_SCALE_RULE_DEFAULT, 16, 7, \
        0, LPT_RANDOM_INIT, NULL, NULL, NULL, NULL, NULL, NULL                                                        \
  }

/**
 * @brief Writes the defaults of LPT_QUANTIZE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_quantize_options_init(lpt_quantize_options *options, size_t struct_size);

/**
 * @brief Casts numbers to another format, with scales where the format has them.
 *
 * Shapes    source is rows × columns, quantized the same, transposed columns × rows; each with blocks along its own rows.
 * Formats   source f64, f32, bf16, f16 (f64 is rounded to f32 first); outputs any but plain uint8.
 * Rounding  as the options say; element = round(value · (1 / scale)), both in f32. Subnormals are kept.
 * Order     smoothing, then the Hadamard rotation along the rows of each output, then scales, then rounding.
 * Zero      with zero points: scale = (high - low) / levels, zero = round(-low / scale), where low and high are the least
 *           and the largest of the block and 0; element = round(value · (1 / scale)) + zero, held in range. As zero is
 *           rounded, one end of the block may lie up to half a step out of range. Values there take the nearest code:
 *           stochastic rounding is biased for them alone.
 * Specials  all-zero blocks get scale 1 (e8m0fnu: 2^-127, e4m3fn: 2^-9). NaN stays NaN; where the element has none, the
 *           scale of its block becomes NaN, and a plain element refuses after the cast, its NaN written as zero. Amax is
 *           taken over finite values.
 * Source    OCP FP8 and MX 1.0; NVFP4 as published with two scale levels; docs/numerics.md has every rule.
 *
 * @param context the context.
 * @param source borrowed.
 * @param options NULL for the defaults.
 * @param quantized written; NULL: not wanted.
 * @param transposed written; NULL: not wanted. Draws the same random bits per source element.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_quantize(lpt_context *context, const lpt_tensor *source, const lpt_quantize_options *options,
                                lpt_tensor *quantized, lpt_tensor *transposed);

/**
 * @brief Casts numbers to a format and back: the numbers that lpt_quantize() and lpt_dequantize() would give.
 *
 * @param context the context.
 * @param source borrowed; rows × columns, f64, f32, bf16 or f16.
 * @param format where to and back. With LPT_SCALE_RULE_FIXED and LPT_KEEP_TENSOR_SCALE its scales are 1.
 * @param options NULL for the defaults. A rotation or smoothing is not undone.
 * @param output written; rows × columns, f64, f32, bf16 or f16; may be the source itself if the format is the same.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_fake_quantize(lpt_context *context, const lpt_tensor *source, lpt_format format,
                                     const lpt_quantize_options *options, lpt_tensor *output);

/** @brief What casts did to numbers since the statistics were created or reset. */
typedef struct lpt_statistics_values {
  size_t struct_size;    /**< sizeof(lpt_statistics_values) of the caller. */
  int64_t element_count; /**< Numbers that were cast. */
  int64_t nan_count;     /**< Sources that are NaN. */
  /** Sources beyond the largest element by 2^-20 of it or more; infinities, but not into f32 and f64. */
  int64_t clipped_count;
  int64_t underflow_count; /**< Sources that are not zero and became zero. */
  double amax;             /**< Largest finite magnitude of a source, after smoothing and rotation. */
  double squared_sum;      /**< Sum of finite source². */
  double squared_error;    /**< Sum of (source - decoded)² over finite sources. */
} lpt_statistics_values;

/** @brief Defaults of lpt_statistics_values. */
#define LPT_STATISTICS_VALUES_INIT \
  { sizeof(lpt_statistics_values), 0, 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_STATISTICS_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_statistics_values_init(lpt_statistics_values *values, size_t struct_size);

/**
 * @brief Creates statistics, all zero. Casts that are given them add to them; sums are the same for any number of threads.
 * @param context the context.
 * @param out_statistics returned; destroy with lpt_statistics_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_statistics_create(lpt_context *context, lpt_statistics **out_statistics);

/**
 * @brief Destroys statistics.
 * @param statistics NULL is allowed.
 */
LPT_API void lpt_statistics_destroy(lpt_statistics *statistics);

/**
 * @brief Reads statistics.
 * @param context the context.
 * @param statistics the statistics.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_statistics_read(lpt_context *context, const lpt_statistics *statistics,
                                       lpt_statistics_values *out_values);

/**
 * @brief Sets statistics back to zero.
 * @param context the context.
 * @param statistics the statistics.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_statistics_reset(lpt_context *context, lpt_statistics *statistics);

/** @brief How to dequantize. */
typedef struct lpt_dequantize_options {
  size_t struct_size; /**< sizeof(lpt_dequantize_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
} lpt_dequantize_options;

/** @brief Defaults of lpt_dequantize_options. */
#define LPT_DEQUANTIZE_OPTIONS_INIT \
  { sizeof(lpt_dequantize_options), 0 }

/**
 * @brief Writes the defaults of LPT_DEQUANTIZE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_dequantize_options_init(lpt_dequantize_options *options, size_t struct_size);

/**
 * @brief Gives the numbers that codes stand for: element · (block scale · tensor scale), in f32.
 *
 * Shapes    source and output are rows × columns.
 * Formats   source any but uint8; output f64, f32, bf16 or f16 (the last two to nearest even, to infinity beyond). f64 to
 *           f64 is copied.
 *
 * @param context the context.
 * @param source borrowed.
 * @param options NULL for the defaults.
 * @param output written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_dequantize(lpt_context *context, const lpt_tensor *source, const lpt_dequantize_options *options,
                                  lpt_tensor *output);

/* ---------------------------------------------------------------- hadamard ----------------------------------------- */

/** @brief How to rotate. */
typedef struct lpt_hadamard_options {
  size_t struct_size;      /**< sizeof(lpt_hadamard_options) of the caller. */
  uint64_t flags;          /**< LPT_CHECK_ONLY. */
  int32_t size;            /**< Columns of a group: 16, 32, 64 or 128. */
  int32_t is_inverse;      /**< 1: undo the rotation. */
  const lpt_tensor *signs; /**< Vector of int8, 1 or -1, of `size` (for every group) or of all columns; NULL: all 1. */
} lpt_hadamard_options;

/** @brief Defaults of lpt_hadamard_options. */
#define LPT_HADAMARD_OPTIONS_INIT \
  { sizeof(lpt_hadamard_options), 0, 16, 0, NULL }

/**
 * @brief Writes the defaults of LPT_HADAMARD_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_hadamard_options_init(lpt_hadamard_options *options, size_t struct_size);

/**
 * @brief Rotates each group of columns: output = (source ⊙ signs) · H / sqrt(size), where H(i, j) = (-1)^(number of ones in
 *        i and j): Sylvester's matrix, orthogonal and its own inverse; the inverse applies the signs last.
 *
 * A last group that is short is cut in powers of two, largest first, each with its own H: any number of columns works.
 * Rounding: in f32, log2(size) steps of one addition each, strides 1, 2, 4 … in turn, then one product with 1 / sqrt(size).
 *
 * @param context the context.
 * @param source borrowed; rows × columns, f64, f32, bf16 or f16 (f64 is rounded to f32 first).
 * @param options NULL for the defaults.
 * @param output written; rows × columns, f64, f32, bf16 or f16; may be the source itself if the format is the same.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_hadamard(lpt_context *context, const lpt_tensor *source, const lpt_hadamard_options *options,
                                lpt_tensor *output);

/**
 * @brief Draws random signs for lpt_hadamard(): element i is -1 if the lowest random bit at index i is set, else 1.
 * @param context the context.
 * @param random borrowed; where the bits come from. The room is that of signs: no cast shares them.
 * @param signs written; vector of int8.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_random_signs(lpt_context *context, const lpt_random *random, lpt_tensor *signs);

/* ---------------------------------------------------------------- dialect ------------------------------------------ */

/** @brief Whose layout of bytes is meant; one of lpt_dialect_values. */
typedef int32_t lpt_dialect;

/**
 * @brief Values of lpt_dialect; docs/dialects.md shows every byte. Rows follow each other without gaps.
 *
 * ggml          columns are a multiple of 32. F32 scales become f16, and so does Q4_1's m = -scale · zero point: numbers
 *               that f16 does not hold are refused, and so is the NaN scale of mxfp4, which ggml would read as 2^128.
 * bitsandbytes  a row that ends inside a byte is followed by the next one in the same byte; a spare half is 0.
 * cuBLAS        scale (r, c) of a tile lies at its byte (r mod 32) · 16 + (r / 32) · 4 + c; tiles follow row by row;
 *               scales that are missing in a tile are 0. The scale of a block of many rows stands in each of them; scales
 *               that differ within such a block are refused.
 * mma.sp        blocks of 16 × 64 numbers. Codes: for each instruction (16 × 32 of f16 and bf16, 16 × 64 of e4m3fn, e5m2
 *               and int8) 32 lanes of 16 bytes, their four registers of A. Metadata: for each block 32 lanes of 4 bytes;
 *               of 16-bit elements lanes 0 and 1 of each four have that of a block's first instruction (selector 0),
 *               lanes 2 and 3 that of the second (selector 1). What a block has and the matrix has not is code 0 with
 *               the indices 0x4, and is not read.
 * CUTLASS       codes as they are; metadata as SparseGemm and PyTorch's CUTLASS tensors take it: units of 16 bits for
 *               16-bit elements, of 32 for 8-bit ones, reordered. Rows are a multiple of 32 (16 of 8-bit elements),
 *               columns of 64 (128).
 * The last two  are for 2:4 formats with any scales. All codes come first, then all metadata: at 8/9 of the buffer for
 *               16-bit elements, at 4/5 for 8-bit ones. Indices that are not legal are refused.
 */
enum lpt_dialect_values {
  LPT_DIALECT_GGML = 1,          /**< Blocks of ggml: int8_1x32 is Q8_0, int4_1x32 Q4_0, mxfp4 MXFP4. */
  LPT_DIALECT_BITSANDBYTES = 2,  /**< The payload alone, of 4-bit elements: the first of a byte in its high half. */
  LPT_DIALECT_CUBLAS_SCALES = 3, /**< The block scales alone, of one byte, for every row: tiles of 128 × 4. */
  LPT_DIALECT_GGML_Q4_1 = 4,     /**< Blocks of ggml: uint4_1x32 is Q4_1. F32, f64, bf16 and f16 can be imported. */
  LPT_DIALECT_MMA_SPARSE = 5,    /**< Codes and indices of a 2:4 format, as operands of mma.sp of NVIDIA GPUs. */
  LPT_DIALECT_CUTLASS_SPARSE = 6 /**< Codes and indices of a 2:4 format, as sparse products of CUTLASS 2.x take them. */
};

/**
 * @brief Tells how many bytes a tensor takes in a dialect.
 * @param context the context.
 * @param tensor the tensor; it needs no data.
 * @param dialect one of lpt_dialect_values.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED when the dialect has no place for the format.
 */
LPT_API lpt_status lpt_dialect_size(lpt_context *context, const lpt_tensor *tensor, lpt_dialect dialect,
                                    size_t *out_size_bytes);

/**
 * @brief Writes a tensor, or the part of it that the dialect holds, in a dialect. Exact: the same numbers. ggml has no -0 in
 *        MXFP4 and reads it as 0.
 * @param context the context.
 * @param tensor borrowed.
 * @param dialect one of lpt_dialect_values.
 * @param buffer written.
 * @param buffer_bytes at least lpt_dialect_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small, the dialect cannot hold a scale or an index is not legal;
 *         LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_dialect_export(lpt_context *context, const lpt_tensor *tensor, lpt_dialect dialect, void *buffer,
                                      size_t buffer_bytes);

/**
 * @brief Reads a tensor, or the part of it that the dialect holds, from a dialect; other parts stay as they are. Exact: the
 *        same numbers, codes that quantizing does not use included (-8 of Q4_0, -128 of Q8_0).
 *
 * Q4_1 in f32 is what ggml computes: d · code + m, one rounding; other wide formats round that f32 once more. It goes to
 * uint4_1x32 where m = -d · zero point with one of 0 to 255 in every block.
 *
 * @param context the context.
 * @param buffer borrowed.
 * @param buffer_bytes at least lpt_dialect_size().
 * @param dialect one of lpt_dialect_values.
 * @param tensor written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the buffer is too short, the format cannot hold a scale or an index is not
 *         legal: then nothing is written; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_dialect_import(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                      lpt_dialect dialect, lpt_tensor *tensor);

/** @brief How to convert. */
typedef struct lpt_convert_options {
  size_t struct_size;         /**< sizeof(lpt_convert_options) of the caller. */
  uint64_t flags;             /**< LPT_CHECK_ONLY. */
  lpt_statistics *statistics; /**< Counts what becomes of the elements; NULL: none. */
} lpt_convert_options;

/** @brief Defaults of lpt_convert_options. */
#define LPT_CONVERT_OPTIONS_INIT \
  { sizeof(lpt_convert_options), 0, NULL }

/**
 * @brief Writes the defaults of LPT_CONVERT_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_convert_options_init(lpt_convert_options *options, size_t struct_size);

/**
 * @brief Moves codes between relatives of FP8 without a new amax: e4m3fn, e4m3 (240) and e4m3fnuz, or e5m2 and e5m2fnuz,
 *        or any two of 8 bits with the same exponent and mantissa bits.
 *
 * Codes that both elements have stay what they are. Where the biases differ they stand for another power of two, which
 * goes to the tensor scale, or to the block scales where there is none; the other scales are copied. Values beyond the
 * output's largest become the largest; NaN stays NaN; infinity becomes NaN where there is none, -0 becomes 0.
 *
 * @param context the context.
 * @param source borrowed; an FP8 element, with scales or without; where the biases differ, with an f32 scale.
 * @param options NULL for the defaults.
 * @param output written; the same shape, scale formats and blocks, another element.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also when a scale would leave the normal range of f32; LPT_UNSUPPORTED when the
 *         elements are no relatives or no f32 scale takes the power of two; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_convert(lpt_context *context, const lpt_tensor *source, const lpt_convert_options *options,
                               lpt_tensor *output);

/* ---------------------------------------------------------------- scaler ------------------------------------------- */

/** @brief Which amax a scaler gives; one of lpt_scaler_kind_values. */
typedef int32_t lpt_scaler_kind;

/** @brief Values of lpt_scaler_kind. */
enum lpt_scaler_kind_values {
  LPT_SCALER_CURRENT = 0, /**< That of the tensor at hand; the history is kept for the record. */
  LPT_SCALER_DELAYED = 1  /**< That of the history, by `history_rule`; while it gives none, by `zero_rule`. */
};

/** @brief Which amax of the history counts; one of lpt_history_rule_values. */
typedef int32_t lpt_history_rule;

/** @brief Values of lpt_history_rule. */
enum lpt_history_rule_values {
  LPT_HISTORY_LARGEST = 0, /**< The largest of all. */
  LPT_HISTORY_LATEST = 1   /**< The latest. */
};

/** @brief What stands for an amax of zero, as at the first step; one of lpt_zero_rule_values. */
typedef int32_t lpt_zero_rule;

/** @brief Values of lpt_zero_rule. */
enum lpt_zero_rule_values {
  LPT_ZERO_LOOKS = 0, /**< The amax of the tensor at hand. */
  LPT_ZERO_ONE = 1,   /**< The scale is 1 (arXiv 2409.12517). */
  LPT_ZERO_KEEPS = 2  /**< The last amax that was not zero; the scale is 1 before there is one (Transformer Engine). */
};

/** @brief What a new scaler should be. */
typedef struct lpt_scaler_options {
  size_t struct_size;            /**< sizeof(lpt_scaler_options) of the caller. */
  lpt_scaler_kind kind;          /**< Which amax counts. */
  int32_t history_length;        /**< Updates that are remembered, 1 to 65536. */
  int32_t margin;                /**< Amax is multiplied by 2^margin, -64 to 64. */
  lpt_history_rule history_rule; /**< Which amax of the history. */
  lpt_zero_rule zero_rule;       /**< What if it is zero. */
  int32_t reserved;              /**< 0. */
} lpt_scaler_options;

/** @brief Defaults of lpt_scaler_options. */
#define LPT_SCALER_OPTIONS_INIT \
  { sizeof(lpt_scaler_options), LPT_SCALER_CURRENT, 1, 0, LPT_HISTORY_LARGEST, LPT_ZERO_LOOKS, 0 }

/**
 * @brief Writes the defaults of LPT_SCALER_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_scaler_options_init(lpt_scaler_options *options, size_t struct_size);

/** @brief What a scaler knows. */
typedef struct lpt_scaler_values {
  size_t struct_size;   /**< sizeof(lpt_scaler_values) of the caller. */
  float amax;           /**< Largest of the history, without margin; 0 while it is empty. */
  float running_amax;   /**< Largest since the last update. */
  int64_t update_count; /**< Updates so far. */
} lpt_scaler_values;

/** @brief Defaults of lpt_scaler_values. */
#define LPT_SCALER_VALUES_INIT \
  { sizeof(lpt_scaler_values), 0.0f, 0.0f, 0 }

/**
 * @brief Writes the defaults of LPT_SCALER_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_scaler_values_init(lpt_scaler_values *values, size_t struct_size);

/**
 * @brief Creates a scaler: the memory of amax for one site. A cast that is given it records its amax; nothing changes
 *        until lpt_scaler_update(), so that all micro-batches of a step are cast alike.
 * @param context the context.
 * @param options NULL for the defaults.
 * @param out_scaler returned; destroy with lpt_scaler_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_scaler_create(lpt_context *context, const lpt_scaler_options *options, lpt_scaler **out_scaler);

/**
 * @brief Destroys a scaler.
 * @param scaler NULL is allowed.
 */
LPT_API void lpt_scaler_destroy(lpt_scaler *scaler);

/**
 * @brief Ends a step: pushes each running amax into its history, if anything was recorded, and starts a new one.
 * @param context the context.
 * @param scalers borrowed.
 * @param scaler_count length of `scalers`.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_scaler_update(lpt_context *context, lpt_scaler *const *scalers, int64_t scaler_count);

/**
 * @brief Reads what a scaler knows.
 * @param context the context.
 * @param scaler the scaler.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_scaler_read(lpt_context *context, const lpt_scaler *scaler, lpt_scaler_values *out_values);

/**
 * @brief Tells how many bytes lpt_scaler_state_save() writes.
 * @param context the context.
 * @param scaler the scaler.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_scaler_state_size(lpt_context *context, const lpt_scaler *scaler, size_t *out_size_bytes);

/**
 * @brief Saves a scaler: portable, versioned, with a checksum.
 * @param context the context.
 * @param scaler the scaler.
 * @param buffer written.
 * @param buffer_bytes at least lpt_scaler_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_scaler_state_save(lpt_context *context, const lpt_scaler *scaler, void *buffer,
                                         size_t buffer_bytes);

/**
 * @brief Restores a scaler.
 * @param context the context.
 * @param scaler written; its options must be those of the saved one.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE, and nothing is changed.
 */
LPT_API lpt_status lpt_scaler_state_load(lpt_context *context, lpt_scaler *scaler, const void *buffer,
                                         size_t buffer_bytes);

/* ---------------------------------------------------------------- gemm --------------------------------------------- */

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
enum lpt_arithmetic_values {
  LPT_ARITHMETIC_NATIVE = 0,           /**< The product of the numbers, added up as the kernel can do it best. */
  LPT_ARITHMETIC_L_MUL = 1,            /**< Integer addition of exponents and mantissas: arXiv 2410.00907. */
  LPT_ARITHMETIC_PIECEWISE_AFFINE = 2, /**< (1 + x)(1 + y) taken as 1 + x + y, or 2(x + y) from x + y = 1 (PAM). */
  LPT_ARITHMETIC_SHIFT = 3,      /**< Shifts of integers by powers of two: one operand e3m0, the other integers. */
  LPT_ARITHMETIC_TENSOR_CORE = 4 /**< Sums of 14 bits, moved to f32 after every 128 steps of k: FP8 on Hopper. */
};
/** @brief One of lpt_arithmetic_values. */
typedef int32_t lpt_arithmetic;

/** @brief Same bits on all processors: sums in one order, by fused multiply-adds of f32. About half as fast. */
#define LPT_PORTABLE_ORDER UINT64_C(4)

/**
 * @brief Flag of lpt_gemm_options: a in f32 is rounded to bf16, to nearest even, before the multiplication.
 *
 * Kernels for bf16 then apply: with packed 4-bit weights a GEMM of few rows takes a fraction of the time. Other formats of a
 * are multiplied as they are.
 */
#define LPT_GEMM_CAST_A_TO_BF16 UINT64_C(8)

/** @brief How to multiply. */
typedef struct lpt_gemm_options {
  size_t struct_size;        /**< sizeof(lpt_gemm_options) of the caller. */
  uint64_t flags;            /**< LPT_CHECK_ONLY, LPT_PORTABLE_ORDER, LPT_GEMM_CAST_A_TO_BF16. */
  double alpha;              /**< Factor of the product. */
  double beta;               /**< Factor of what c holds before; with 0, c is not read. */
  int32_t is_a_transposed;   /**< 1: a is stored k × m. */
  int32_t is_b_transposed;   /**< 1: b is stored n × k. */
  const lpt_tensor *bias;    /**< Vector of n, f32 (or f64), added to every row; NULL: none. */
  lpt_activation activation; /**< Applied to alpha · a · b + beta · c + bias. */
  lpt_arithmetic arithmetic; /**< How elements are multiplied. */
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
#define LPT_GEMM_OPTIONS_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(lpt_gemm_options), 0, 1.0, 0.0, 0, 0, NULL, LPT_ACTIVATION_NONE, LPT_ARITHMETIC_NATIVE, NULL, NULL, 0.0, 0, \
        0                                                                                                              \
  }

/**
 * @brief Writes the defaults of LPT_GEMM_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_gemm_options_init(lpt_gemm_options *options, size_t struct_size);

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
 *           LPT_PORTABLE_ORDER; c is rounded once, to nearest even, or as `quantize` says. Scales are applied exactly once.
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

/** @brief A product of one shape that was checked, and whose kernel was picked, once for many calls. */
typedef struct lpt_gemm_plan lpt_gemm_plan;

/** @brief What a plan decided. */
typedef struct lpt_gemm_plan_values {
  size_t struct_size;     /**< sizeof(lpt_gemm_plan_values) of the caller. */
  int64_t m;              /**< Rows of the product. */
  int64_t n;              /**< Columns of the product. */
  int64_t k;              /**< Length of its sums. */
  size_t workspace_bytes; /**< What one call takes from the context's scratch, which is kept between calls. */
  int64_t part_count;     /**< In how many parts threads share it. */
  char row[64];           /**< The kernel, such as "gemm_any_x86_avx512_bf16". */
} lpt_gemm_plan_values;

/** @brief Defaults of lpt_gemm_plan_values. */
#define LPT_GEMM_PLAN_VALUES_INIT                      \
  {                                                    \
    sizeof(lpt_gemm_plan_values), 0, 0, 0, 0, 0, { 0 } \
  }

/**
 * @brief Writes the defaults of LPT_GEMM_PLAN_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_gemm_plan_values_init(lpt_gemm_plan_values *values, size_t struct_size);

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
 * @brief Writes the defaults of LPT_GEMM_OPERANDS_INIT.
 * @param operands written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_gemm_operands_init(lpt_gemm_operands *operands, size_t struct_size);

/**
 * @brief Plans a product: the checks of lpt_gemm(), and the choice of the kernel, which lpt_context_explanation() explains.
 * @param context for whose processor features and threads is planned.
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
 * @brief Tells what a plan decided.
 * @param context the context.
 * @param plan the plan.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_gemm_plan_read(lpt_context *context, const lpt_gemm_plan *plan,
                                      lpt_gemm_plan_values *out_values);

/**
 * @brief Destroys a plan.
 * @param plan NULL is allowed.
 */
LPT_API void lpt_gemm_plan_destroy(lpt_gemm_plan *plan);

/* ---------------------------------------------------------------- weights ------------------------------------------ */

/** @brief What of packed weights is stored; one of lpt_weights_storage_values. */
typedef int32_t lpt_weights_storage;

/** @brief Values of lpt_weights_storage. */
enum lpt_weights_storage_values {
  LPT_WEIGHTS_STORAGE_ALL = 0,   /**< Every element. */
  LPT_WEIGHTS_STORAGE_LOOSE = 1, /**< Weights of any pattern: what is not zero, and a bit for each place. See below. */
  LPT_WEIGHTS_STORAGE_TILES = 2  /**< Tiles that hold anything but zeros. See below. */
};

/** @brief How to pack weights. */
typedef struct lpt_weights_options {
  size_t struct_size; /**< sizeof(lpt_weights_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
  const int32_t
      *output_order; /**< n numbers, each of 0 to n - 1 once: row j of the packed weights is row output_order[j].
                                    Put here the order that the next layer's input wants, and no shuffle is left between
                                    them, on one rank or on many. NULL: as they are. */
  const int32_t *input_order;  /**< k numbers, likewise for the columns; blocks of scales along k must stay whole. */
  lpt_weights_storage storage; /**< What of them is stored. */
  int32_t tile_rows;           /**< With TILES: a multiple of 32 up to 4096; 0: 64. Else 0. */
  int32_t tile_columns;        /**< With TILES: a multiple of 4 and of blocks of scales along k, up to 4096; 0: 64, or
                                    one block where that is longer. Else 0. */
  int32_t reserved;            /**< 0. */
} lpt_weights_options;

/** @brief Defaults of lpt_weights_options. */
#define LPT_WEIGHTS_OPTIONS_INIT \
  { sizeof(lpt_weights_options), 0, NULL, NULL, LPT_WEIGHTS_STORAGE_ALL, 0, 0, 0 }

/**
 * @brief Writes the defaults of LPT_WEIGHTS_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_weights_options_init(lpt_weights_options *options, size_t struct_size);

/**
 * @brief Lays out weights for products, once for many: the same codes and scales, in the order that kernels read.
 *
 * The result is a tensor for one use: as b of lpt_gemm() and its kin, with `is_b_transposed` 1. Its memory is opaque, but
 * the same on every processor. Elements of at most 4 bits take 4, other ones below 8 bits take 8; rows are filled up to
 * multiples of 32. lpt_tensor_view() cuts it along rows, at multiples of 32 (of tile_rows) or at the end: the first rows of a
 * layer are a smaller layer, which shares its memory.
 *
 * `storage` leaves zeros out; lpt_tensor_size() tells what is left. LOOSE: elements of code 0, as which zeros of either sign are
 * packed; a bit is kept for each element of 8 bits or more, and for each byte of smaller ones. Unpacking gives back every
 * number, and products have the bits of ALL: they write out some rows at a time, where the caches hold them (load sparse,
 * compute dense, arXiv 2309.10285). TILES: tiles of tile_rows × tile_columns that are all zeros. Products leave them out, which
 * takes less time as well (arXiv 2408.11551): c differs from that of ALL by the order of its sums, and an infinity or a NaN
 * of a, or a NaN of a scale, that meets only such tiles may leave no trace. With LPT_PORTABLE_ORDER it does, and nothing is
 * left out. See lpt_weights_order(). TILES takes formats whose code 0 is zero, without zero points.
 *
 * @param context whose threads and allocator are used.
 * @param weights n × k (output columns of the layer by input columns), or experts × n × k; of any format but f64; a 2:4 one is
 *        written out first: LOOSE takes the bytes of its 2:4 format.
 * @param options NULL for the defaults.
 * @param out_packed returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_weights_pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options,
                                    lpt_tensor **out_packed);

/**
 * @brief Orders the rows of weights so that fewer tiles hold anything but zeros: rows with the same tiles come to lie together.
 *
 * Each line of tiles begins with the row that has the most tiles among those left, and takes the row that adds the fewest, until
 * it is full; of equal ones that with more tiles, then the first. Where that is no gain rows stay as they are. n² comparisons.
 *
 * @param context the context.
 * @param weights n × k, of a format that TILES takes.
 * @param options tile_rows and tile_columns count; storage is TILES; NULL for tiles of the default sides.
 * @param order written; n numbers for `output_order`.
 * @param out_given_count returned: tiles to be stored with rows as they are; NULL: not wanted.
 * @param out_count returned: tiles to be stored in this order; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_weights_order(lpt_context *context, const lpt_tensor *weights,
                                     const lpt_weights_options *options, int32_t *order, int64_t *out_given_count,
                                     int64_t *out_count);

/**
 * @brief Writes packed weights as rows again, in the order that they were packed in: the inverse of lpt_weights_pack()
 *        without orders.
 * @param context the context.
 * @param packed from lpt_weights_pack().
 * @param weights written: the same format and extents; blocks of scales are one row high.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED where the format's blocks span rows.
 */
LPT_API lpt_status lpt_weights_unpack(lpt_context *context, const lpt_tensor *packed, lpt_tensor *weights);

/**
 * @brief Tells how many bytes lpt_weights_state_save() writes.
 * @param context the context.
 * @param packed from lpt_weights_pack(), or a view of it.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_weights_state_size(lpt_context *context, const lpt_tensor *packed, size_t *out_size_bytes);

/**
 * @brief Saves packed weights: portable, versioned, with a checksum.
 * @param context the context.
 * @param packed from lpt_weights_pack(), or a view of it.
 * @param buffer written.
 * @param buffer_bytes at least lpt_weights_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_weights_state_save(lpt_context *context, const lpt_tensor *packed, void *buffer,
                                          size_t buffer_bytes);

/**
 * @brief Makes packed weights of a saved state.
 * @param context whose allocator is used.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @param out_packed returned; destroy with lpt_tensor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_weights_state_load(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                          lpt_tensor **out_packed);

/* ---------------------------------------------------------------- sparse ------------------------------------------- */

/** @brief Which numbers of a group stay, and what becomes of them; one of lpt_sparse_rule_values. */
typedef int32_t lpt_sparse_rule;

/** @brief Values of lpt_sparse_rule. N numbers of a group of M stay. */
enum lpt_sparse_rule_values {
  LPT_SPARSE_RULE_MAGNITUDE = 0, /**< The N largest magnitudes, as they are: the least squared error. For weights. */
  /**
   * Drawn, so that the mean of what stays is the source, with the least variance (MVUE): number i stays with the
   * probability p = min(1, c · |x_i|), c such that these sum to N, and becomes x_i / p. For gradients.
   */
  LPT_SPARSE_RULE_MVUE = 1,
  /**
   * The same by two draws one after the other (approximate MVUE): N is 2. The mean is the source, the variance up to
   * twice MVUE's. What most published code does.
   */
  LPT_SPARSE_RULE_MVUE_TWO_DRAWS = 2,
  /** The N largest magnitudes, each less the largest that goes: sign(x) · (|x| - t), continuous in x (S-STE). */
  LPT_SPARSE_RULE_SOFT_THRESHOLD = 3
};

/** @brief Along which axis M neighbours make a group; one of lpt_sparse_direction_values. */
typedef int32_t lpt_sparse_direction;

/** @brief Values of lpt_sparse_direction. */
enum lpt_sparse_direction_values {
  LPT_SPARSE_DIRECTION_ROW = 0,    /**< M neighbours of a row, columns M·j to M·j + M - 1. */
  LPT_SPARSE_DIRECTION_COLUMN = 1, /**< M neighbours of a column. */
  /** Transposable: in each M × M tile every row and every column keeps N. Rule MAGNITUDE only. */
  LPT_SPARSE_DIRECTION_BOTH = 2
};

/** @brief How a transposable mask is found; one of lpt_sparse_solver_values. */
typedef int32_t lpt_sparse_solver;

/** @brief Values of lpt_sparse_solver. */
enum lpt_sparse_solver_values {
  LPT_SPARSE_SOLVER_AUTO = 0,   /**< EXACT below M = 8 and where N < M / 2, else SEARCH. */
  LPT_SPARSE_SOLVER_EXACT = 1,  /**< The largest sum of kept magnitudes: all patterns for 2:4, else min-cost flow. */
  LPT_SPARSE_SOLVER_GREEDY = 2, /**< From the largest down, kept while its row and its column have room. */
  LPT_SPARSE_SOLVER_SEARCH = 3, /**< GREEDY, then the lines that are short are filled, then swaps while any helps. */
  /**
   * From the smallest up, dropped while its row or its column has fewer than M - N dropped: the published linear-time
   * 2-approximation. Lines may keep fewer than N.
   */
  LPT_SPARSE_SOLVER_PRUNE = 4,
  LPT_SPARSE_SOLVER_ENTROPY = 5 /**< Entropy-regularized transport, rounded as SEARCH does (TSENOR). */
};

/** @brief How to select. */
typedef struct lpt_sparse_options {
  size_t struct_size;             /**< sizeof(lpt_sparse_options) of the caller. */
  uint64_t flags;                 /**< LPT_CHECK_ONLY. */
  int32_t kept;                   /**< N: how many of a group stay, 1 to `of` - 1. */
  int32_t of;                     /**< M: how many make a group, 2 to 32. */
  lpt_sparse_rule rule;           /**< Which ones. */
  lpt_sparse_direction direction; /**< Where groups lie. */
  lpt_sparse_solver solver;       /**< For LPT_SPARSE_DIRECTION_BOTH. */
  int32_t iterations;             /**< Of ENTROPY, up to 10000; 0: 200. */
  double sharpness;               /**< Of ENTROPY: magnitudes are multiplied by it / the tile's largest; 0: 40. */
  lpt_random random;              /**< For the MVUE rules; one draw per group. */
  int32_t philox_rounds;          /**< 7, or 10. */
  int32_t reserved;               /**< 0. */
  /**
   * Vector of f32, one per column, none negative: magnitudes count times it, as where inputs differ in size. Rule
   * MAGNITUDE, directions ROW and BOTH; NULL: all 1.
   */
  const lpt_tensor *importance;
} lpt_sparse_options;

/** @brief Defaults of lpt_sparse_options. */
#define LPT_SPARSE_OPTIONS_INIT                                                                                       \
  {                                                                                                                   \
    sizeof(lpt_sparse_options), 0, 2, 4, LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_SOLVER_AUTO, \
        0, 0.0, LPT_RANDOM_INIT, 7, 0, NULL                                                                           \
  }

/**
 * @brief Writes the defaults of LPT_SPARSE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_sparse_options_init(lpt_sparse_options *options, size_t struct_size);

/** @brief What a selection did, over all numbers that are finite. */
typedef struct lpt_sparse_values {
  size_t struct_size;     /**< sizeof(lpt_sparse_values) of the caller. */
  int64_t element_count;  /**< Numbers of the source. */
  int64_t kept_count;     /**< Those that stay. */
  int64_t special_groups; /**< Groups (tiles, for BOTH) with a NaN, an infinity, or magnitudes that sum past f32. */
  double energy;          /**< Sum of squares of the source. */
  double kept_energy;     /**< The part of it that stays. */
  double variance;        /**< Expected squared error of the MVUE rules; 0 for the others. */
} lpt_sparse_values;

/** @brief Defaults of lpt_sparse_values. */
#define LPT_SPARSE_VALUES_INIT \
  { sizeof(lpt_sparse_values), 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_SPARSE_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_sparse_values_init(lpt_sparse_values *values, size_t struct_size);

/**
 * @brief Selects N of every M numbers.
 *
 * Shapes    source, mask and masked are rows × columns, of any extents; a last group that is short counts as filled up
 *           with zeros, which are never kept for a number: it keeps at most N.
 * Formats   source f64, f32, bf16, f16 (f64 is rounded to f32 first); mask uint8, 1 where a number stays, else 0; masked
 *           f32, or the source's format: what stays, zero elsewhere, rounded to nearest even.
 * Ties      the lower index stays (along the row, or down the column; for BOTH see docs/sparsity.md).
 * Specials  NaN counts as larger than infinity, and so stays and is seen. The MVUE rules keep a group that holds one,
 *           or whose magnitudes sum past f32, as MAGNITUDE does. Zeros fill a group that has fewer than N other numbers.
 * Random    groups are counted over the whole tensor, rows first: group g of row r draws at r · (groups of a row) + g, that
 *           of rows M·g and on in column c at g · columns + c. A shard that begins with a group draws what the whole draws.
 * Source    Chmiel et al., arXiv 2203.10991 (MVUE); Hubara et al., arXiv 2102.08124 (transposable); Meng et al., arXiv
 *           2505.23949 (ENTROPY); Hu et al., arXiv 2404.01847 and 2409.09099 (2:4 training, soft threshold).
 *
 * @param context the context.
 * @param source borrowed.
 * @param options NULL for the defaults: 2:4 along rows by magnitude.
 * @param mask written; NULL: not wanted.
 * @param masked written; may be the source itself; NULL: not wanted.
 * @param out_values its `struct_size` is set by the caller; written; NULL: not wanted (it costs another pass).
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_sparse_mask_select(lpt_context *context, const lpt_tensor *source,
                                          const lpt_sparse_options *options, lpt_tensor *mask, lpt_tensor *masked,
                                          lpt_sparse_values *out_values);

/**
 * @brief Counts the groups of a mask that keep more than N of M.
 * @param context the context.
 * @param mask borrowed; uint8, what is not 0 stays.
 * @param kept N, 1 to `of`.
 * @param of M, 2 to 32.
 * @param direction ROW, COLUMN, or BOTH: groups of rows and of columns.
 * @param out_count returned: 0 for a mask that N:M hardware and lpt_sparse_compress() take.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_check(lpt_context *context, const lpt_tensor *mask, int32_t kept, int32_t of,
                                         lpt_sparse_direction direction, int64_t *out_count);

/**
 * @brief Counts where two masks differ: the flips since the last selection.
 * @param context the context.
 * @param mask borrowed; uint8.
 * @param other borrowed; uint8, the same shape.
 * @param out_count returned: numbers that stay by one mask only.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_compare(lpt_context *context, const lpt_tensor *mask, const lpt_tensor *other,
                                           int64_t *out_count);

/**
 * @brief Applies a mask: output = source where the mask is not 0, else 0.
 * @param context the context.
 * @param source borrowed; f64, f32, bf16 or f16.
 * @param mask borrowed; uint8, the same shape.
 * @param output written; the source's format and shape; may be the source itself.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_apply(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                         lpt_tensor *output);

/**
 * @brief Masked decay: gradient += rate · weight where the mask is 0, so that what is dropped fades and masks settle.
 * @param context the context.
 * @param weight borrowed; f32, bf16 or f16.
 * @param mask borrowed; uint8, the same shape.
 * @param rate finite; 2e-4 is usual.
 * @param gradient f32, the same shape; changed: one product and one sum, each rounded to f32.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_mask_decay(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                         double rate, lpt_tensor *gradient);

/**
 * @brief Compresses a matrix that a 2:4 mask was applied to: of every four columns the two that stay are stored, and
 *        where they belong.
 *
 * Shapes    source, mask and compressed are rows × columns, transposed is columns × rows. Any number of columns: a last
 *           group that is short counts as filled up with zeros.
 * Formats   source any format whose code 0 is zero, without zero points; compressed the same
 *           with /2:4 behind its name. Its payload has 2 · (columns / 4, rounded up) columns, its indices a byte per 8
 *           columns: 4 bits per group, the first group lowest; in them two positions of 2 bits, the lower one first and
 *           lowest. Legal are 0x4, 0x8, 0x9, 0xC, 0xD, 0xE; half a byte without a group is 0x4. Scales are the source's.
 * Fewer     A group that keeps fewer than two stores its lowest other positions with what the mask leaves there:
 *           code 0. The same matrix and mask always give the same bytes.
 * Order     quantize first, then compress: scales come from the numbers that stay if the source was masked.
 *
 * @param context the context.
 * @param source borrowed; dense codes. What the mask drops is not looked at.
 * @param mask borrowed; uint8, at most two of every four along rows (with `transposed`, along columns as well); NULL: what
 *        is not zero stays.
 * @param compressed written; NULL: not wanted.
 * @param transposed written; the source's columns as rows. For formats whose scales do not depend on the direction (none, a
 *        tensor scale, square blocks); NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also where a group keeps more than two: the text names it; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_sparse_compress(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                       lpt_tensor *compressed, lpt_tensor *transposed);

/**
 * @brief Writes a compressed matrix out: the inverse of lpt_sparse_compress(), zeros where nothing is stored.
 * @param context the context.
 * @param compressed borrowed; a 2:4 format.
 * @param output written; the same format without /2:4, the same shape.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also where an index is not legal: the text names it; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_sparse_decompress(lpt_context *context, const lpt_tensor *compressed, lpt_tensor *output);

/** @brief How masks are counted; one of lpt_sparse_count_values. */
typedef int32_t lpt_sparse_count;

/** @brief Values of lpt_sparse_count. */
enum lpt_sparse_count_values {
  LPT_SPARSE_COUNT_EXACT = 0, /**< As many as there are; direction BOTH up to M = 8. */
  LPT_SPARSE_COUNT_PUBLISHED =
      1 /**< For BOTH the formula of arXiv 2102.08124, M! · (M - 1)! … (M - N + 1)!: too many. */
};

/**
 * @brief Counts the masks that a pattern allows: its diversity.
 * @param context the context.
 * @param kept N, 1 to `of`.
 * @param of M, 2 to 32.
 * @param direction ROW and COLUMN are alike; BOTH.
 * @param count how to count.
 * @param out_bits returned: the logarithm to base 2 of the number of masks, divided by the number of elements.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for exact counts of BOTH beyond M = 8.
 */
LPT_API lpt_status lpt_sparse_diversity(lpt_context *context, int32_t kept, int32_t of, lpt_sparse_direction direction,
                                        lpt_sparse_count count, double *out_bits);

/**
 * @brief Chooses N for a model that was pruned without a pattern: the least N for which a group of M has M - N zeros or more
 *        with at least the probability asked for, zeros being independent.
 * @param context the context.
 * @param zero_share how many of the weights are zero, 0 to 1.
 * @param of M, 2 to 32.
 * @param confidence the probability, above 0 and below 1; 0.95 is the published one.
 * @param out_kept returned: N, `of` where no pattern fits.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_sparse_choose_kept(lpt_context *context, double zero_share, int32_t of, double confidence,
                                          int32_t *out_kept);

/**
 * @brief Mean absorption: masks a weight, and adds to each number that stays the mean of what its group drops, sum / kept.
 *        Groups keep their sums. In f32, from the first number of a group to the last.
 * @param context the context.
 * @param source borrowed; f64, f32, bf16 or f16.
 * @param mask borrowed; uint8, the same shape.
 * @param of M, 2 to 32.
 * @param direction ROW or COLUMN.
 * @param output written; f32 or the source's format, the same shape; may be the source itself.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_sparse_absorb(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask, int32_t of,
                                     lpt_sparse_direction direction, lpt_tensor *output);

/** @brief How lpt_sparse_fit() works. */
typedef struct lpt_sparse_fit_options {
  size_t struct_size; /**< sizeof(lpt_sparse_fit_options) of the caller. */
  uint64_t flags;     /**< 0. */
  int32_t iterations; /**< Steps at most, 1 to 10000. */
  int32_t reserved;   /**< 0. */
  double damping;     /**< Added to the diagonal of inputsᵀ · inputs, times its mean; 0 to 1. */
} lpt_sparse_fit_options;

/** @brief Defaults of lpt_sparse_fit_options. */
#define LPT_SPARSE_FIT_OPTIONS_INIT \
  { sizeof(lpt_sparse_fit_options), 0, 32, 0, 1e-4 }

/**
 * @brief Writes the defaults of LPT_SPARSE_FIT_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_sparse_fit_options_init(lpt_sparse_fit_options *options, size_t struct_size);

/** @brief What a fit came to: squared errors of the outputs, as shares of the outputs' sum of squares. */
typedef struct lpt_sparse_fit_values {
  size_t struct_size;      /**< sizeof(lpt_sparse_fit_values) of the caller. */
  double masked_error;     /**< Of the weight that is only masked. */
  double fitted_error;     /**< Of the fitted one. */
  int64_t iteration_count; /**< Steps done. */
} lpt_sparse_fit_values;

/** @brief Defaults of lpt_sparse_fit_values. */
#define LPT_SPARSE_FIT_VALUES_INIT \
  { sizeof(lpt_sparse_fit_values), 0.0, 0.0, 0 }

/**
 * @brief Writes the defaults of LPT_SPARSE_FIT_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_sparse_fit_values_init(lpt_sparse_fit_values *values, size_t struct_size);

/**
 * @brief Fits a masked weight to what the whole one gives for some inputs, without training: of all weights with this mask
 *        the one whose outputs are nearest, min |inputs · weightᵀ - inputs · outputᵀ|², by conjugate gradients.
 *
 * Rows are solved apart, all in f32, each from its masked weight on; they end where a step no longer helps. AdaPrune (arXiv
 * 2102.08124) minimizes the same by Adam. More inputs than columns make the fit hold beyond them.
 *
 * @param context the context.
 * @param weight borrowed; output columns × input columns, f64, f32, bf16 or f16.
 * @param mask borrowed; uint8, the weight's shape.
 * @param inputs borrowed; tokens × input columns, f32, bf16 or f16.
 * @param options NULL for the defaults.
 * @param output written; f32 of the weight's shape; zero where the mask is.
 * @param bias_change written; vector of f32, one per output column: what to add to the bias, fitted with the weight; NULL: not
 *        wanted.
 * @param out_values its `struct_size` is set by the caller; written; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_sparse_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                                  const lpt_tensor *inputs, const lpt_sparse_fit_options *options, lpt_tensor *output,
                                  lpt_tensor *bias_change, lpt_sparse_fit_values *out_values);

/**
 * @brief Orders the input columns of a weight so that an N:M mask along rows keeps more of its energy: columns change places
 *        while that helps.
 *
 * Begins with the given order or with columns dealt to groups by their norms, whichever keeps more, then tries pairs of
 * columns drawn at random. The order goes to lpt_weights_options as `input_order`, or to whoever makes the inputs.
 *
 * @param context the context.
 * @param weight borrowed; f64, f32, bf16 or f16.
 * @param options `kept`, `of`, `iterations` (pairs to try, 0: 20 for each column) and `random` count; the rule is MAGNITUDE,
 *        the direction ROW; NULL for the defaults.
 * @param order written; one number per column: which column of the weight comes here.
 * @param out_values energies with the columns in this order; its `struct_size` is set by the caller; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_sparse_order(lpt_context *context, const lpt_tensor *weight, const lpt_sparse_options *options,
                                    int32_t *order, lpt_sparse_values *out_values);

/* ---------------------------------------------------------------- linear ------------------------------------------- */

/** @brief How a linear layer casts the operands of its three products, and makes these. See lpt_recipe_create(). */
typedef struct lpt_recipe lpt_recipe;

/** @brief A linear layer: its recipe, its scalers, and its weight's casts. See lpt_linear_create(). */
typedef struct lpt_linear lpt_linear;

/**
 * @brief One rank's end of a communicator; see lpt_comm_create_local(). Belongs to the thread that uses its context: one
 *        thread, one rank, one comm.
 */
typedef struct lpt_comm lpt_comm;

/** @brief Tensor-parallel ranks that share only some columns of their activations; see lpt_partial_allreduce(). */
typedef struct lpt_partial_plan lpt_partial_plan;

/** @brief One operand of one multiplication; one of lpt_cast_values. */
typedef int32_t lpt_cast;

/** @brief Values of lpt_cast. Forward y = x·wᵀ; dgrad dx = dy·w; wgrad dw = dyᵀ·x. */
enum lpt_cast_values {
  LPT_CAST_FORWARD_INPUT = 0,  /**< x in the forward product. */
  LPT_CAST_FORWARD_WEIGHT = 1, /**< w in the forward product. */
  LPT_CAST_DGRAD_GRADIENT = 2, /**< dy in the input gradient. */
  LPT_CAST_DGRAD_WEIGHT = 3,   /**< w in the input gradient. */
  LPT_CAST_WGRAD_GRADIENT = 4, /**< dy in the weight gradient. */
  LPT_CAST_WGRAD_INPUT = 5     /**< x in the weight gradient: what is saved from forward to backward. */
};

/** @brief One tensor of a linear layer; one of lpt_operand_values. */
typedef int32_t lpt_operand;

/** @brief Values of lpt_operand. */
enum lpt_operand_values {
  LPT_OPERAND_INPUT = 0,   /**< x. */
  LPT_OPERAND_WEIGHT = 1,  /**< w. */
  LPT_OPERAND_GRADIENT = 2 /**< dy. */
};

/** @brief One product of a linear layer; one of lpt_product_values. */
typedef int32_t lpt_product;

/** @brief Values of lpt_product. The first factor of each is its left operand, the second its right one. */
enum lpt_product_values {
  LPT_PRODUCT_FORWARD = 0, /**< y = x · wᵀ; its inner size is input_columns. */
  LPT_PRODUCT_DGRAD = 1,   /**< dx = dy · w; its inner size is output_columns. */
  LPT_PRODUCT_WGRAD = 2    /**< dw = dyᵀ · x; its inner size is the rows. */
};

/** @brief The signs of a rotation; one of lpt_signs_values. */
typedef int32_t lpt_signs;

/** @brief Values of lpt_signs. */
enum lpt_signs_values {
  LPT_SIGNS_NONE = 0,  /**< All 1. */
  LPT_SIGNS_FIXED = 1, /**< + + + - + - - - - - - + - + - -, again and again: those of arXiv 2509.25149's code. */
  /**
   * One per column of a group, drawn from the random numbers of the call that rotates first: prepare for the forward
   * and the dgrad product, forward for the wgrad product.
   */
  LPT_SIGNS_RANDOM = 2
};

/** @brief Which axis a product's operands are rotated along; one of lpt_axis_values. */
typedef int32_t lpt_axis;

/** @brief Values of lpt_axis. */
enum lpt_axis_values {
  LPT_AXIS_INNER = 0, /**< Both operands along the inner size: the product undoes it. */
  LPT_AXIS_ROWS = 1   /**< Of dgrad: dy along its rows, undone on dx (HALO level 2). */
};

/** @brief What a backward product's x or w is cast from; one of lpt_source_values. */
typedef int32_t lpt_source;

/** @brief Values of lpt_source. */
enum lpt_source_values {
  LPT_SOURCE_PLAIN = 0, /**< From x or w as it came. */
  /**
   * From what the forward product multiplied, decoded. The forward rotation is undone on the gradient. A cast to
   * NONE, or the same as forward's, takes the codes as they are.
   */
  LPT_SOURCE_FORWARD = 1,
  /**
   * The same, and the gradient of what the forward cast clipped is zero: dx where x was beyond the largest element,
   * dw where w was.
   */
  LPT_SOURCE_FORWARD_CLIPPED = 2
};

/** @brief What a product is multiplied by; one of lpt_output_scale_values. */
typedef int32_t lpt_output_scale;

/** @brief Values of lpt_output_scale. */
enum lpt_output_scale_values {
  LPT_OUTPUT_SCALE_NONE = 0, /**< 1. */
  /** Forward and dgrad: 1 / sqrt(input_columns). Wgrad, and the bias gradient with it: 1 / sqrt(rows). */
  LPT_OUTPUT_SCALE_UNIT = 1
};

/** @brief How a product is made of its two casts. */
typedef struct lpt_product_options {
  size_t struct_size; /**< sizeof(lpt_product_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
  /** 16, 32, 64 or 128: rotate operands before their casts, see lpt_hadamard(); 0: no. */
  int32_t hadamard_size;
  lpt_signs hadamard_signs; /**< Of the rotation. */
  lpt_axis hadamard_axis;   /**< Of the rotation. */
  lpt_source source;        /**< Backward products: what x or w is cast from. */
  int32_t draws;            /**< Backward products: 1 to 16 stochastic casts of dy whose products are averaged. */
  /** Backward products: 1, or 2: dy is the sum of a nearest cast and the cast of what it left. */
  int32_t parts;
  lpt_output_scale output_scale; /**< Of the result. */
  int32_t reserved;              /**< 0. */
} lpt_product_options;

/** @brief Defaults of lpt_product_options. */
#define LPT_PRODUCT_OPTIONS_INIT                                                                                      \
  {                                                                                                                   \
    sizeof(lpt_product_options), 0, 0, LPT_SIGNS_NONE, LPT_AXIS_INNER, LPT_SOURCE_PLAIN, 1, 1, LPT_OUTPUT_SCALE_NONE, \
        0                                                                                                             \
  }

/**
 * @brief Writes the defaults of LPT_PRODUCT_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_product_options_init(lpt_product_options *options, size_t struct_size);

/**
 * @brief Creates a recipe by name. Casts are to nearest, save where it says stochastic; docs/recipes.md has every cast.
 *
 *   "f32"             nothing is cast;
 *   "bf16"            every operand bf16;
 *   "fp8_trillion"    e4m3fn forward, e5m2 backward, the output gradient rounded stochastically, power-of-two tensor scales
 *                     from the amax of the step before (arXiv 2409.12517);
 *   "fp8_current"     e4m3fn, gradients e5m2, tensor scales of the moment;
 *   "mxfp8"           mxfp8_e4m3 everywhere, scales rounded up;
 *   "fp8_block"       e4m3fn with f32 scales, 1×128 for x and dy, 128×128 for w;
 *   "fp4_all_the_way" nvfp4 everywhere; dy, and x in wgrad, stochastic (arXiv 2505.19115);
 *   "nvfp4_pretrain"  nvfp4, w in 16×16 blocks, dy stochastic, wgrad rotated by 16 (arXiv 2509.25149);
 *   "quartet"         mxfp4, everything rotated by 32, forward clipped by QuEST's rule, dy stochastic (arXiv 2505.14669);
 *   "luq"             x and w int4 by SAWB, dy e3m0 stochastic (arXiv 2112.10769);
 *   "halo_0"          e4m3fn with tensor scales (arXiv 2501.02625);
 *   "halo_1"          FP6 with tensor scales, forward rotated;
 *   "halo_2"          int8 with tensor scales, forward rotated, dgrad's dy rotated along its rows;
 *   "coat"            e4m3fn, gradients e5m2, tensor scales; x is saved in groups of 128 (arXiv 2410.19313);
 *   "int4_hadamard"   int4, forward rotated by 32; dy in two int4 parts (arXiv 2306.11987);
 *   "unit_scaling"    e4m3fn, gradients e5m2, without scales; products times constants (arXiv 2303.11257).
 *   "sparse24"        f32; weights 2:4 along rows by magnitude, selected anew in each prepare.
 *   "sparse24_transposable"  f32; weights 2:4 along rows and columns, selected every 40 steps (arXiv 2102.08124).
 *   "mvue24_gradients"  f32; output gradients 2:4 by MVUE in the wgrad product (arXiv 2203.10991).
 *
 * @param context the context.
 * @param name one of the above.
 * @param out_recipe returned; destroy with lpt_recipe_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT for an unknown name; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_recipe_create(lpt_context *context, const char *name, lpt_recipe **out_recipe);

/**
 * @brief Tells the name of a recipe that lpt_recipe_create() knows.
 * @param context the context.
 * @param index 0 for the first.
 * @param out_name returned; lives as long as the library; NULL past the last one.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_name(lpt_context *context, int64_t index, const char **out_name);

/**
 * @brief Destroys a recipe. Layers made with it live on.
 * @param recipe NULL is allowed.
 */
LPT_API void lpt_recipe_destroy(lpt_recipe *recipe);

/**
 * @brief Changes one cast of a recipe. Layers that were made before keep theirs.
 * @param context the context.
 * @param recipe the recipe.
 * @param cast which operand.
 * @param format any but uint8; LPT_FORMAT_NONE: the operand is used as it comes.
 * @param options rounding, overflow, scale rule; NULL for the defaults. Handles and random numbers in it are refused.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_set_cast(lpt_context *context, lpt_recipe *recipe, lpt_cast cast, lpt_format format,
                                       const lpt_quantize_options *options);

/**
 * @brief Changes where the tensor scales of one operand come from. Layers that were made before keep theirs.
 * @param context the context.
 * @param recipe the recipe.
 * @param operand which tensor.
 * @param options kind, history, margin; NULL for current scaling.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_set_scaler(lpt_context *context, lpt_recipe *recipe, lpt_operand operand,
                                         const lpt_scaler_options *options);

/**
 * @brief Tells the format of one cast.
 * @param context the context.
 * @param recipe the recipe.
 * @param cast which operand.
 * @param out_format returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_cast_format(lpt_context *context, const lpt_recipe *recipe, lpt_cast cast,
                                          lpt_format *out_format);

/**
 * @brief Changes how one product is made. Layers that were made before keep theirs.
 * @param context the context.
 * @param recipe the recipe.
 * @param product which product.
 * @param options NULL for the defaults.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED for what the product cannot have.
 */
LPT_API lpt_status lpt_recipe_set_product(lpt_context *context, lpt_recipe *recipe, lpt_product product,
                                          const lpt_product_options *options);

/**
 * @brief Raises one product to a high precision: both operands are cast to `format` to nearest, from x and w as they come,
 *        without rotation, draws or parts. Its output scale stays. With lpt_linear_set_recipe() it ends a run in 4 bits:
 *        forward, or both backward products (quantization-aware finetuning).
 * @param context the context.
 * @param recipe the recipe.
 * @param product which product.
 * @param format any but uint8; LPT_FORMAT_NONE: the operands are used as they come.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_recipe_raise(lpt_context *context, lpt_recipe *recipe, lpt_product product, lpt_format format);

/**
 * @brief Makes one operand of a recipe sparse, N of every M numbers: before it is rotated and cast.
 *
 * LPT_OPERAND_WEIGHT    The forward and the dgrad product multiply the masked weight; its gradient is that of all numbers
 *                       (straight through). Rules MAGNITUDE and SOFT_THRESHOLD. With interval 1 each lpt_linear_prepare()
 *                       selects anew; else a mask serves until `random.step` of the options is `interval` or more past
 *                       that of its selection, and is part of saved states. SOFT_THRESHOLD selects in each prepare, and
 *                       multiplies by the factor that fits the masked weight to the weight best when it is first
 *                       selected: sum(w · masked) / sum(masked²).
 * LPT_OPERAND_GRADIENT  The wgrad product multiplies the masked output gradient; dgrad takes all of it. Direction COLUMN:
 *                       groups of M tokens. `first_row` of each call is a multiple of M. Random bits are drawn as casts
 *                       draw theirs.
 * LPT_OPERAND_INPUT     Unsupported: lpt_sparse_mask_select() masks activations.
 *
 * @param context the context.
 * @param recipe the recipe.
 * @param operand which tensor.
 * @param options how to select, without handles and random numbers; NULL: the operand is dense again.
 * @param interval steps from one selection to the next, 1 to 2^20; for LPT_OPERAND_GRADIENT 1.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_recipe_set_sparsity(lpt_context *context, lpt_recipe *recipe, lpt_operand operand,
                                           const lpt_sparse_options *options, int32_t interval);

/** @brief The shape of a linear layer. */
typedef struct lpt_linear_shape {
  size_t struct_size;     /**< sizeof(lpt_linear_shape) of the caller. */
  int64_t input_columns;  /**< Columns of the input and of the weight. */
  int64_t output_columns; /**< Columns of the output, rows of the weight. */
} lpt_linear_shape;

/** @brief Defaults of lpt_linear_shape. */
#define LPT_LINEAR_SHAPE_INIT \
  { sizeof(lpt_linear_shape), 0, 0 }

/**
 * @brief Writes the defaults of LPT_LINEAR_SHAPE_INIT.
 * @param shape written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_linear_shape_init(lpt_linear_shape *shape, size_t struct_size);

/** @brief What part of a layer a rank of a comm has; one of lpt_parallel_values. */
typedef int32_t lpt_parallel;

/** @brief Values of lpt_parallel. docs/collectives-layers.md tells who adds up what. */
enum lpt_parallel_values {
  LPT_PARALLEL_NONE = 0, /**< All of it: no comm. */
  /**
   * Column-parallel: rows of the weight, so columns of the output. Forward is the rank's own affair. Backward: ranks hold
   * the same input, and input_gradient is the sum over ranks, added while the weight's gradient is computed; with a plan
   * every rank holds an input of its own, and input_gradient is that of this one: nothing travels.
   */
  LPT_PARALLEL_COLUMNS = 1,
  /**
   * Row-parallel: columns of the weight and of the input. Forward: the product is a part of a sum; the output is the sum
   * over ranks, the same bits on all, or with a plan lpt_partial_gemm()'s. Backward: ranks hold the same output_gradient,
   * and nothing travels; with a plan every rank holds a part of it, which first goes through lpt_partial_allreduce() of
   * LPT_PASS_BACKWARD, into scratch.
   */
  LPT_PARALLEL_ROWS = 2
};

/** @brief One call of a linear layer. */
typedef struct lpt_linear_options {
  size_t struct_size;     /**< sizeof(lpt_linear_options) of the caller. */
  uint64_t flags;         /**< LPT_CHECK_ONLY. */
  lpt_random random;      /**< Seed, this layer's stream, this micro-batch's step; offset, row_stride stay 0. */
  int64_t first_row;      /**< Index of the first row in the whole batch, to 2^32: ranks differ in it. */
  const lpt_tensor *bias; /**< Forward: vector of output_columns, f32; NULL: none. */
  const lpt_tensor
      *input_smoothing;   /**< Forward: factors of the input's columns, from lpt_swiglu_forward(); or NULL. */
  int32_t is_accumulated; /**< Weight and bias gradients: 0 overwrite, 1 add. */
  int32_t reserved;       /**< 0. */
  lpt_comm *comm;         /**< Ranks that share the layer; NULL: this one has all of it. The same in every call. */
  const lpt_partial_plan *plan; /**< Columns that ranks share (CAAT): the output's of ROWS; NULL: all. Needs comm. */
  lpt_parallel parallel;        /**< With comm, how ranks share the layer: COLUMNS or ROWS. */
  int32_t reserved_two;         /**< 0. */
} lpt_linear_options;

/** @brief Defaults of lpt_linear_options. */
#define LPT_LINEAR_OPTIONS_INIT \
  { sizeof(lpt_linear_options), 0, LPT_RANDOM_INIT, 0, NULL, NULL, 0, 0, NULL, NULL, LPT_PARALLEL_NONE, 0 }

/**
 * @brief Writes the defaults of LPT_LINEAR_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_linear_options_init(lpt_linear_options *options, size_t struct_size);

/**
 * @brief Creates a linear layer. It owns its scalers and its weight's casts, not the weight.
 * @param context the context.
 * @param recipe borrowed; copied, so it may be changed or destroyed before the layer.
 * @param shape borrowed.
 * @param out_linear returned; destroy with lpt_linear_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_linear_create(lpt_context *context, const lpt_recipe *recipe, const lpt_linear_shape *shape,
                                     lpt_linear **out_linear);

/**
 * @brief Destroys a linear layer.
 * @param linear NULL is allowed.
 */
LPT_API void lpt_linear_destroy(lpt_linear *linear);

/**
 * @brief Gives a layer another recipe, from its next lpt_linear_prepare() on. Scalers whose options stay the same keep
 *        their history, others begin anew. What forward saved before that prepare is of no use after it, and
 *        lpt_linear_saved_size() may change with it: end the micro-batches in flight first.
 * @param context the context.
 * @param linear the layer.
 * @param recipe borrowed; copied.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_linear_set_recipe(lpt_context *context, lpt_linear *linear, const lpt_recipe *recipe);

/**
 * @brief Casts the weight for the forward and backward products. Call it after every change of the weight. If it fails,
 *        the layer is what it was.
 * @param context the context.
 * @param linear the layer.
 * @param weight borrowed; output_columns × input_columns, any format but uint8.
 * @param options random numbers, where the recipe casts weights stochastically or draws signs; comm and parallel, so that
 *        ranks draw apart. Nothing travels. NULL for the defaults.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED.
 */
LPT_API lpt_status lpt_linear_prepare(lpt_context *context, lpt_linear *linear, const lpt_tensor *weight,
                                      const lpt_linear_options *options);

/**
 * @brief Tells how many bytes forward saves for backward. The number follows from the layer and `rows` alone.
 * @param context the context.
 * @param linear the layer.
 * @param rows rows of the input.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_saved_size(lpt_context *context, const lpt_linear *linear, int64_t rows,
                                         size_t *out_size_bytes);

/**
 * @brief Tells how many bytes the weight's casts take.
 * @param context the context.
 * @param linear the layer.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_cast_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes);

/**
 * @brief Computes y = x · wᵀ + bias, and saves what backward needs.
 *
 * Smoothing (options.input_smoothing) acts where the input is cast to an element with one tensor scale: the columns are
 * divided by their factors before the cast and multiplied back when the product decodes them. Elsewhere it would change
 * nothing and is left out; with block scales, rotated, or where backward takes what forward multiplied, it is refused.
 *
 * With options.comm (options.parallel says how) this rank's layer is a slice of one that ranks share, and its shape that of
 * the slice. All ranks call it. Bits are those of one call after the other: this layer without a comm, then the
 * reduction; but private columns are computed while shared ones travel, and a bias behind ROWS is the same on all
 * ranks and added once, after the sum, with a rounding of its own; never scaled with private columns. One rank gives the
 * bits of the layer without a comm. Scales of tensors and blocks are those of the slice. Unit-scaled products behind ROWS
 * divide by the root of rank count · input_columns: there slices are alike. Stochastic casts of what only this rank has draw
 * by seed ^ (rank · 2^54), casts of what all ranks hold by the seed: all get the same codes. Progress is not told.
 *
 * @param context the context; with a comm, of this rank.
 * @param linear the layer; prepared.
 * @param input borrowed; rows × input_columns, f32, bf16, f16 or f64.
 * @param options NULL for the defaults.
 * @param saved written; a uint8 vector of lpt_linear_saved_size() bytes, one per micro-batch in flight; NULL: inference.
 * @param output written; rows × output_columns, f32, bf16, f16 or f64.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED; with a comm as
 *         lpt_partial_gemm().
 */
LPT_API lpt_status lpt_linear_forward(lpt_context *context, lpt_linear *linear, const lpt_tensor *input,
                                      const lpt_linear_options *options, lpt_tensor *saved, lpt_tensor *output);

/**
 * @brief Computes dx = dy · w, dw = dyᵀ · x and db = the column sums of dy; each one only if it is wanted.
 *
 * The bits of a stochastic cast belong to the element's place: computing dx and dw in two calls gives the same codes. A
 * rotated operand draws by the places of the rotated matrix.
 *
 * With options.comm all ranks call it, for the same gradients; lpt_parallel_values tells what travels. A bias gradient is
 * that of output_gradient as it comes: ROWS with a plan, a part of a sum, as of all that ranks hold alike.
 *
 * @param context the context; with a comm, of this rank.
 * @param linear the layer; prepared.
 * @param saved borrowed; as forward wrote it. NULL is allowed when no weight gradient is wanted, and no input gradient
 *        that depends on what forward clipped (LPT_SOURCE_FORWARD_CLIPPED).
 * @param output_gradient borrowed; rows × output_columns, f32, bf16, f16 or f64.
 * @param options NULL for the defaults.
 * @param input_gradient written; rows × input_columns; NULL: not wanted.
 * @param weight_gradient written or added to; output_columns × input_columns, f32 or f64; NULL: not wanted.
 * @param bias_gradient written or added to; vector of output_columns, f32 or f64; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; LPT_CANCELLED; with a comm as
 *         lpt_partial_allreduce().
 */
LPT_API lpt_status lpt_linear_backward(lpt_context *context, lpt_linear *linear, const lpt_tensor *saved,
                                       const lpt_tensor *output_gradient, const lpt_linear_options *options,
                                       lpt_tensor *input_gradient, lpt_tensor *weight_gradient,
                                       lpt_tensor *bias_gradient);

/**
 * @brief Gives the scalers of many layers the largest amax that any rank has recorded since the last update, in one message.
 *        Called on all ranks before lpt_linear_update(), delayed scales are the same on all of them.
 *
 * Slices of one tensor need no common scale to be right: each is decoded by its own. It is for codes that ranks compare,
 * gather or save as one tensor, and for shares of one batch.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param linears borrowed; the same layers on all ranks, in the same order.
 * @param linear_count length of `linears`.
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_linear_share_amax(lpt_context *context, lpt_comm *comm, lpt_linear *const *linears,
                                         int64_t linear_count);

/**
 * @brief Ends an optimizer step for the scalers of many layers; see lpt_scaler_update().
 * @param context the context.
 * @param linears borrowed.
 * @param linear_count length of `linears`.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_update(lpt_context *context, lpt_linear *const *linears, int64_t linear_count);

/**
 * @brief Reads what one of the layer's scalers knows.
 * @param context the context.
 * @param linear the layer.
 * @param operand which scaler.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_scaler_read(lpt_context *context, const lpt_linear *linear, lpt_operand operand,
                                          lpt_scaler_values *out_values);

/**
 * @brief Reads the mask that the weight of a layer has since its last lpt_linear_prepare(): for lpt_sparse_mask_decay(), and
 *        to see how it changes.
 * @param context the context.
 * @param linear the layer; its recipe makes weights sparse.
 * @param mask written; uint8, output_columns × input_columns.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_mask_read(lpt_context *context, const lpt_linear *linear, lpt_tensor *mask);

/**
 * @brief Has a layer count what each of its casts does, or ends that. The counts begin at zero with every call; they are no
 *        part of saved states. Casts give the same bits, and take longer.
 *
 * A cast that serves two products counts for the first of forward, dgrad, wgrad. Of two parts of dy the first counts, of
 * many draws each one. The weight's casts count in lpt_linear_prepare(), where it succeeds.
 *
 * @param context the context.
 * @param linear the layer.
 * @param is_watched 1: count from now on; 0: no more.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_watch(lpt_context *context, lpt_linear *linear, int32_t is_watched);

/**
 * @brief Reads what one of a watched layer's casts did since lpt_linear_watch(): zeros where it did not run. A clip is what a
 *        stale scale or a rule such as QuEST's or SAWB's cuts off; see lpt_statistics_values.
 * @param context the context.
 * @param linear the layer.
 * @param cast which operand of which product.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_cast_read(lpt_context *context, const lpt_linear *linear, lpt_cast cast,
                                        lpt_statistics_values *out_values);

/**
 * @brief Tells how many bytes lpt_linear_state_save() writes.
 * @param context the context.
 * @param linear the layer.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_linear_state_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes);

/**
 * @brief Saves the layer's scalers: portable, versioned, with a checksum. The weight's casts are made again by prepare.
 * @param context the context.
 * @param linear the layer.
 * @param buffer written.
 * @param buffer_bytes at least lpt_linear_state_size().
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the room is too small.
 */
LPT_API lpt_status lpt_linear_state_save(lpt_context *context, const lpt_linear *linear, void *buffer,
                                         size_t buffer_bytes);

/**
 * @brief Restores the layer's scalers.
 * @param context the context.
 * @param linear written; of the same recipe and shape as the saved one.
 * @param buffer borrowed.
 * @param buffer_bytes length of the saved state.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_INVALID_STATE, and nothing is changed.
 */
LPT_API lpt_status lpt_linear_state_load(lpt_context *context, lpt_linear *linear, const void *buffer,
                                         size_t buffer_bytes);

/* ---------------------------------------------------------------- layers ------------------------------------------- */

/** @brief How a SwiGLU is smoothed for the cast that follows; one of lpt_smoothing_values. */
typedef int32_t lpt_smoothing;

/** @brief Values of lpt_smoothing. */
enum lpt_smoothing_values {
  LPT_SMOOTHING_NONE = 0,   /**< Plain SwiGLU. */
  LPT_SMOOTHING_CHANNEL = 1 /**< Smooth-SwiGLU: one factor per column, the power of two at or above max |up|. */
};

/** @brief How to compute a SwiGLU. */
typedef struct lpt_swiglu_options {
  size_t struct_size;      /**< sizeof(lpt_swiglu_options) of the caller. */
  uint64_t flags;          /**< LPT_CHECK_ONLY. */
  lpt_smoothing smoothing; /**< Whether factors are wanted. */
  int32_t reserved;        /**< 0. */
} lpt_swiglu_options;

/** @brief Defaults of lpt_swiglu_options. */
#define LPT_SWIGLU_OPTIONS_INIT \
  { sizeof(lpt_swiglu_options), 0, LPT_SMOOTHING_NONE, 0 }

/**
 * @brief Writes the defaults of LPT_SWIGLU_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_swiglu_options_init(lpt_swiglu_options *options, size_t struct_size);

/**
 * @brief Computes output = silu(gate) · up, where silu(x) = x / (1 + exp(-x)).
 *
 * With LPT_SMOOTHING_CHANNEL it also gives a factor per column, which the cast of the next linear layer divides out before
 * it rounds and multiplies back after (lpt_linear_options.input_smoothing). The output itself is the plain SwiGLU: in
 * exact arithmetic smoothing changes nothing. Source: Smooth-SwiGLU, arXiv 2409.12517.
 *
 * @param context the context.
 * @param gate borrowed; rows × columns, f32, bf16, f16 or f64.
 * @param up borrowed; as gate.
 * @param options NULL for the defaults.
 * @param output written; rows × columns, f32, bf16, f16 or f64.
 * @param smoothing written; vector of columns, e8m0fnu; a column of zeros gets 1. NULL without smoothing.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_swiglu_forward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                                      const lpt_swiglu_options *options, lpt_tensor *output, lpt_tensor *smoothing);

/**
 * @brief Computes the gradients of lpt_swiglu_forward(). Smoothing has none: its factors are constants.
 * @param context the context.
 * @param gate borrowed; as in forward, or what lpt_quantize() stored of it in few bytes: any format whose blocks are one row
 *        high, such as LPT_FORMAT_E4M3FN_1X128 (COAT, arXiv 2410.19313).
 * @param up borrowed; as gate.
 * @param output_gradient borrowed; rows × columns.
 * @param options NULL for the defaults.
 * @param gate_gradient written; rows × columns.
 * @param up_gradient written; rows × columns.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_swiglu_backward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                                       const lpt_tensor *output_gradient, const lpt_swiglu_options *options,
                                       lpt_tensor *gate_gradient, lpt_tensor *up_gradient);

/** @brief How to compute an RMS norm. */
typedef struct lpt_rmsnorm_options {
  size_t struct_size;     /**< sizeof(lpt_rmsnorm_options) of the caller. */
  uint64_t flags;         /**< LPT_CHECK_ONLY. */
  double epsilon;         /**< Added to the mean square. */
  int32_t is_accumulated; /**< Weight gradient: 0 overwrite, 1 add. */
  int32_t reserved;       /**< 0. */
} lpt_rmsnorm_options;

/** @brief Defaults of lpt_rmsnorm_options. */
#define LPT_RMSNORM_OPTIONS_INIT \
  { sizeof(lpt_rmsnorm_options), 0, 1e-5, 0, 0 }

/**
 * @brief Writes the defaults of LPT_RMSNORM_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_rmsnorm_options_init(lpt_rmsnorm_options *options, size_t struct_size);

/**
 * @brief Computes output = input · r · weight, where r = 1 / sqrt(mean over the row of input² + epsilon).
 * @param context the context.
 * @param input borrowed; rows × columns, f32, bf16, f16 or f64.
 * @param weight borrowed; vector of columns, f32 (f64 with f64).
 * @param options NULL for the defaults.
 * @param output written; rows × columns.
 * @param inverse_rms written; vector of rows, f32 (f64 with f64), for backward; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_rmsnorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                       const lpt_rmsnorm_options *options, lpt_tensor *output, lpt_tensor *inverse_rms);

/**
 * @brief Adds a branch to the residual stream and norms the sum, row by row while it is at hand: sum = residual + branch,
 *        then lpt_rmsnorm_forward() of the sum, bit for bit. Its gradients are those of lpt_rmsnorm_backward(), added to the
 *        sum's own: both the stream and the branch get that.
 * @param context the context.
 * @param residual borrowed; rows × columns, f32, bf16, f16 or f64.
 * @param branch borrowed; as residual.
 * @param weight borrowed; vector of columns, f32 (f64 with f64).
 * @param options NULL for the defaults.
 * @param sum written; rows × columns, the format of residual: added in f32 (f64), one rounding. May be residual or branch.
 * @param output written; rows × columns, f32, bf16, f16 or f64.
 * @param inverse_rms written; vector of rows, f32 (f64 with f64), for backward; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_rmsnorm_forward_sum(lpt_context *context, const lpt_tensor *residual, const lpt_tensor *branch,
                                           const lpt_tensor *weight, const lpt_rmsnorm_options *options,
                                           lpt_tensor *sum, lpt_tensor *output, lpt_tensor *inverse_rms);

/**
 * @brief Computes the gradients of lpt_rmsnorm_forward().
 * @param context the context.
 * @param input borrowed; as in forward, or what lpt_quantize() stored of it: any format whose blocks are one row high.
 * @param weight borrowed; as in forward.
 * @param inverse_rms borrowed; as forward wrote it.
 * @param output_gradient borrowed; rows × columns.
 * @param options NULL for the defaults.
 * @param input_gradient written; rows × columns; NULL: not wanted.
 * @param weight_gradient written or added to; vector of columns, f32 (f64 with f64); NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_rmsnorm_backward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                        const lpt_tensor *inverse_rms, const lpt_tensor *output_gradient,
                                        const lpt_rmsnorm_options *options, lpt_tensor *input_gradient,
                                        lpt_tensor *weight_gradient);

/** @brief How to compute a softmax. */
typedef struct lpt_softmax_options {
  size_t struct_size;   /**< sizeof(lpt_softmax_options) of the caller. */
  uint64_t flags;       /**< LPT_CHECK_ONLY. */
  double scale;         /**< The input is multiplied by it first. */
  int32_t is_causal;    /**< 1: row t of a T × S matrix sees columns 0 to t + S - T; the others give 0. */
  int32_t reserved;     /**< 0. */
  double exaq_clip;     /**< With exaq_bits: the least argument of exp, -10000 to -0.001. */
  int32_t exaq_bits;    /**< 0: any argument of exp. 2, 3 or 4: 4, 8 or 16 levels; see lpt_softmax_forward(). */
  int32_t reserved_two; /**< 0. */
} lpt_softmax_options;

/** @brief Defaults of lpt_softmax_options. */
#define LPT_SOFTMAX_OPTIONS_INIT \
  { sizeof(lpt_softmax_options), 0, 1.0, 0, 0, 0.0, 0, 0 }

/**
 * @brief Writes the defaults of LPT_SOFTMAX_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_softmax_options_init(lpt_softmax_options *options, size_t struct_size);

/**
 * @brief Computes output = exp(scale · input - max) / sum along the last axis.
 *
 * A row that sees no column, or only -infinity, gives zeros. A row with NaN, or with +infinity, gives NaN.
 *
 * With exaq_bits b the argument t = scale · input - max becomes the nearest, ties to even, of the 2^b levels from exaq_clip to 0
 * that lie a step of -exaq_clip / (2^b - 1) apart; -infinity still gives 0. How often a level comes is counted, so that all
 * machines give the same bits. For f32, bf16 and f16. Source: EXAQ (arXiv 2410.03185), which finds the clip by the standard
 * deviation s of t in a layer: -1.66 · s - 1.85 with 2 bits, -1.75 · s - 2.06 with 3, -1.83 · s - 2.27 with 4.
 *
 * @param context the context.
 * @param input borrowed; rank 2 or more for a causal one; f32, bf16, f16 or f64.
 * @param options NULL for the defaults.
 * @param output written; the shape of input.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_softmax_forward(lpt_context *context, const lpt_tensor *input,
                                       const lpt_softmax_options *options, lpt_tensor *output);

/**
 * @brief Computes the gradient of lpt_softmax_forward(): scale · y · (dy - sum(y · dy)), of EXAQ's y as if levels were none.
 * @param context the context.
 * @param output borrowed; as forward wrote it.
 * @param output_gradient borrowed; the shape of output.
 * @param options as in forward; NULL for the defaults.
 * @param input_gradient written; the shape of output.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_softmax_backward(lpt_context *context, const lpt_tensor *output,
                                        const lpt_tensor *output_gradient, const lpt_softmax_options *options,
                                        lpt_tensor *input_gradient);

/** @brief What becomes of the losses of all rows; one of lpt_loss_reduction_values. */
typedef int32_t lpt_loss_reduction;

/** @brief Values of lpt_loss_reduction. */
enum lpt_loss_reduction_values {
  LPT_LOSS_MEAN = 0, /**< Their mean over the rows that count; 0 if none does. */
  LPT_LOSS_SUM = 1,  /**< Their sum, in the order of rows. */
  LPT_LOSS_NONE = 2  /**< Every row keeps its own; one that does not count has 0. */
};

/** @brief How to compute a cross entropy. The same on all ranks. */
typedef struct lpt_cross_entropy_options {
  size_t struct_size;           /**< sizeof(lpt_cross_entropy_options) of the caller. */
  uint64_t flags;               /**< LPT_CHECK_ONLY. */
  lpt_comm *comm;               /**< Ranks that share the classes, in their order; NULL: logits have all classes. */
  int64_t ignored_target;       /**< Rows with this target do not count; outside of the classes: no row has it. */
  double label_smoothing;       /**< e in 0 to 1: the target has 1 - e + e / classes, the others e / classes each. */
  lpt_loss_reduction reduction; /**< What becomes of the losses. */
  int32_t reserved;             /**< 0. */
} lpt_cross_entropy_options;

/** @brief Defaults of lpt_cross_entropy_options. */
#define LPT_CROSS_ENTROPY_OPTIONS_INIT \
  { sizeof(lpt_cross_entropy_options), 0, NULL, -1, 0.0, LPT_LOSS_MEAN, 0 }

/**
 * @brief Writes the defaults of LPT_CROSS_ENTROPY_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_cross_entropy_options_init(lpt_cross_entropy_options *options, size_t struct_size);

/**
 * @brief Computes the loss -log softmax(logits)[target] of every row, in nats, of classes that ranks may share.
 *
 * A row's loss is l - (1 - e) · x[target] - e · mean(x), with l = log sum exp(x) over the classes of all ranks, e the label
 * smoothing. Every rank passes the logits of its own classes, any number of them, which follow on those of the rank before.
 * Two messages travel: how many classes each rank has, then four f64 for each row: the largest logit, the sum of
 * exponentials behind it, the target's logit, the sum of logits. They are joined in the order of ranks, in f64, by IEEE
 * operations alone: all ranks end with the same bits. A rank without a class is allowed.
 *
 * A row whose logits are all minus infinity, or that has NaN or plus infinity, gives NaN; a target of logit minus infinity
 * gives infinity.
 *
 * @param context of this rank.
 * @param logits borrowed; rows × this rank's classes, f32, bf16, f16 or f64; any leading axes.
 * @param targets borrowed; a class for each row, from 0, counted over all ranks; the same on all ranks, which is compared.
 * @param options NULL for the defaults.
 * @param loss written; vector of rows with LPT_LOSS_NONE, else of one number; f32 or f64.
 * @param log_sums written; vector of rows, f64: l, for backward; NULL: not wanted.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also for a target that is no class; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY; with a comm
 *         as lpt_all_reduce().
 */
LPT_API lpt_status lpt_cross_entropy_forward(lpt_context *context, const lpt_tensor *logits, const int64_t *targets,
                                             const lpt_cross_entropy_options *options, lpt_tensor *loss,
                                             lpt_tensor *log_sums);

/**
 * @brief Computes the gradient of lpt_cross_entropy_forward(): g · (exp(x - l) - e / classes - (1 - e) · [target]), with g the
 *        loss's gradient, for the mean divided by the rows that count; 0 in rows that do not count. Of ranks only the
 *        numbers of classes travel.
 * @param context of this rank.
 * @param logits borrowed; as in forward.
 * @param targets borrowed; as in forward.
 * @param log_sums borrowed; as forward wrote it.
 * @param loss_gradient borrowed; the shape of the loss, f32 or f64; NULL: ones.
 * @param options as in forward; NULL for the defaults.
 * @param logits_gradient written; the shape of logits, f32, bf16, f16 or f64. May be logits, in the same format.
 * @return as lpt_cross_entropy_forward().
 */
LPT_API lpt_status lpt_cross_entropy_backward(lpt_context *context, const lpt_tensor *logits, const int64_t *targets,
                                              const lpt_tensor *log_sums, const lpt_tensor *loss_gradient,
                                              const lpt_cross_entropy_options *options, lpt_tensor *logits_gradient);

/* ---------------------------------------------------------------- optimizer ---------------------------------------- */

/** @brief Holds the state of many parameters, never the parameters. See lpt_optimizer_create(). */
typedef struct lpt_optimizer lpt_optimizer;

/** @brief How a parameter is stepped; one of lpt_method_values. See lpt_optimizer_step(). */
typedef int32_t lpt_method;

/** @brief Values of lpt_method. */
enum lpt_method_values {
  LPT_METHOD_ADAMW = 0, /**< Adam with decoupled weight decay (arXiv 1711.05101). */
  LPT_METHOD_ADAM = 1,  /**< Adam (arXiv 1412.6980); weight decay is added to the gradient. */
  LPT_METHOD_SGD = 2,   /**< Gradient descent with momentum beta1; weight decay is added to the gradient. */
  LPT_METHOD_LION = 3   /**< The sign of an interpolated momentum (arXiv 2302.06675), with decoupled weight decay. */
};

/** @brief What becomes of a second moment below the smallest code; one of lpt_underflow_values. */
typedef int32_t lpt_underflow;

/** @brief Values of lpt_underflow. */
enum lpt_underflow_values {
  LPT_UNDERFLOW_CLAMP = 0,     /**< A moment that is not zero keeps at least the smallest code: no update explodes. */
  LPT_UNDERFLOW_ALLOWED = 1,   /**< It is rounded like any other, to zero below half the smallest code. */
  LPT_UNDERFLOW_STOCHASTIC = 2 /**< It becomes the smallest code s with probability |value| / s, else zero. */
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
  size_t struct_size;             /**< sizeof(lpt_optimizer_options) of the caller. */
  uint64_t flags;                 /**< LPT_CHECK_ONLY. */
  double beta1;                   /**< Decay of the first moment, in [0, 1); the momentum of SGD. */
  double beta2;                   /**< Decay of the second moment, in [0, 1); of Lion: of the first one. */
  double epsilon;                 /**< Added to the root; at least 0. */
  lpt_underflow second_underflow; /**< Of the second moment's cast. */
  lpt_method method;              /**< How it steps. */
  int32_t is_nesterov;            /**< 1: Nesterov's momentum; SGD alone. */
  int32_t reserved;               /**< 0. */
} lpt_optimizer_options;

/** @brief Defaults of lpt_optimizer_options. */
#define LPT_OPTIMIZER_OPTIONS_INIT \
  { sizeof(lpt_optimizer_options), 0, 0.9, 0.95, 1e-8, LPT_UNDERFLOW_CLAMP, LPT_METHOD_ADAMW, 0, 0 }

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
 * e4m3/1x128/f32: a scale for each 128 elements; DYNAMIC_1X256. docs/optimizer.md tells bytes and errors of each.
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
        LPT_SCALER_CURRENT, LPT_SCALER_CURRENT, 0, 0                                                \
  }

/**
 * @brief Writes the defaults of LPT_OPTIMIZER_PARAMETER_INIT.
 * @param parameter written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_optimizer_parameter_init(lpt_optimizer_parameter *parameter, size_t struct_size);

/** @brief One step of an optimizer. */
typedef struct lpt_step_options {
  size_t struct_size;                  /**< sizeof(lpt_step_options) of the caller. */
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
} lpt_step_options;

/** @brief Defaults of lpt_step_options. */
#define LPT_STEP_OPTIONS_INIT                                                                                      \
  {                                                                                                                \
    sizeof(lpt_step_options), 0, 1e-3, 1.0, LPT_RANDOM_INIT, LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_NEAREST_EVEN, \
        LPT_ROUNDING_NEAREST_EVEN, 0, 0.0, 0.0                                                                     \
  }

/**
 * @brief Writes the defaults of LPT_STEP_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_step_options_init(lpt_step_options *options, size_t struct_size);

/** @brief What an optimizer's last step came to. */
typedef struct lpt_optimizer_values {
  size_t struct_size; /**< sizeof(lpt_optimizer_values) of the caller. */
  /**
   * Norm of the gradients times gradient_scale, as found or given; infinity when one of them is not finite; 0 when
   * nobody asked.
   */
  double gradient_norm;
  double clip_factor;    /**< What clipping multiplied the gradients by; 1: nothing. */
  int64_t skipped_count; /**< Steps that were skipped for gradients that are not finite. */
  int32_t is_skipped;    /**< 1: the last one was. */
  int32_t reserved;      /**< 0. */
} lpt_optimizer_values;

/** @brief Defaults of lpt_optimizer_values. */
#define LPT_OPTIMIZER_VALUES_INIT \
  { sizeof(lpt_optimizer_values), 0.0, 1.0, 0, 0, 0 }

/**
 * @brief Writes the defaults of LPT_OPTIMIZER_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_optimizer_values_init(lpt_optimizer_values *values, size_t struct_size);

/** @brief What ranks add up before a step. */
typedef struct lpt_gradient_values {
  size_t struct_size;      /**< sizeof(lpt_gradient_values) of the caller. */
  double sum_of_squares;   /**< Of the finite elements. */
  int64_t nonfinite_count; /**< Infinities and NaNs. */
} lpt_gradient_values;

/** @brief Defaults of lpt_gradient_values. */
#define LPT_GRADIENT_VALUES_INIT \
  { sizeof(lpt_gradient_values), 0.0, 0 }

/**
 * @brief Writes the defaults of LPT_GRADIENT_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_gradient_values_init(lpt_gradient_values *values, size_t struct_size);

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
 * @brief Keeps the state of an optimizer in files: for state larger than memory. Each array lies in a file without a name in the
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
 * LPT_FORMAT_F16_TENSOR makes a scaled f16 master. docs/optimizer.md has every formula and its source.
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
                                      const lpt_step_options *options, lpt_tensor *const *parameters);

/**
 * @brief Tells what the last step came to.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_optimizer_read(lpt_context *context, const lpt_optimizer *optimizer,
                                      lpt_optimizer_values *out_values);

/**
 * @brief Adds up the squares of many gradients in f64 and counts what is not finite. The sums do not depend on the number
 *        of threads. Ranks that hold shards add up both and give lpt_optimizer_step() the root, times gradient_scale.
 * @param context the context.
 * @param gradients borrowed; f32 or bf16, dense.
 * @param count length of `gradients`.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_gradients_measure(lpt_context *context, const lpt_tensor *const *gradients, int64_t count,
                                         lpt_gradient_values *out_values);

/**
 * @brief Tells how many bytes the state of all parameters takes, scales included, in memory or in files.
 * @param context the context.
 * @param optimizer the optimizer.
 * @param out_size_bytes returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_optimizer_size(lpt_context *context, const lpt_optimizer *optimizer, size_t *out_size_bytes);

/**
 * @brief Tells how many bytes lpt_optimizer_state_save() writes for one parameter.
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
 *        that goes on with another number of ranks. Each saved state may be the whole or a shard; what lies outside of this
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

/* ---------------------------------------------------------------- ranks -------------------------------------------- */

/** @brief The meeting place of ranks that are threads of one process. Any thread may use it at any time. */
typedef struct lpt_comm_group lpt_comm_group;

/** @brief A collective that is under way. Waited for with lpt_future_wait(). */
typedef struct lpt_future lpt_future;

/** @brief Flag of lpt_comm_options: every message carries a checksum, and damaged bytes are found. */
#define LPT_COMM_CHECKSUMS UINT64_C(4)

/** @brief Flag of lpt_comm_options: local ranks send messages as processes do, in place of reading each other's memory. */
#define LPT_COMM_MESSAGES UINT64_C(8)

/**
 * @brief Flag of lpt_comm_options, for ranks on GPUs: they do not compare their calls before they queue them. No host waits for
 *        another one then, and calls that differ end by the time limit.
 */
#define LPT_COMM_UNCOMPARED UINT64_C(16)

/** @brief How ranks meet. */
typedef struct lpt_comm_options {
  size_t struct_size;           /**< sizeof(lpt_comm_options) of the caller. */
  uint64_t flags;               /**< LPT_COMM_CHECKSUMS, LPT_COMM_MESSAGES; of ranks on GPUs LPT_COMM_UNCOMPARED. */
  double timeout_seconds;       /**< How long a rank waits for the others before it gives up; 0: for ever. */
  double link_latency_seconds;  /**< Local ranks, emulation of a link: how long each message is on its way. */
  double link_bytes_per_second; /**< Local ranks, emulation: what a rank's link takes; 0: as fast as memory. */
  int64_t damaged_message;      /**< For tests: the message of this rank that is damaged, from 1; 0: none. */
} lpt_comm_options;

/** @brief Defaults of lpt_comm_options. */
#define LPT_COMM_OPTIONS_INIT \
  { sizeof(lpt_comm_options), 0, 600.0, 0.0, 0.0, 0 }

/**
 * @brief Writes the defaults of LPT_COMM_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_comm_options_init(lpt_comm_options *options, size_t struct_size);

/** @brief What a communicator is, and what went through it. */
typedef struct lpt_comm_values {
  size_t struct_size;     /**< sizeof(lpt_comm_values) of the caller. */
  int32_t rank;           /**< From 0. */
  int32_t rank_count;     /**< Ranks that share it. */
  char engine[32];        /**< "local", "local messages", "openmpi", "mpich", "nccl". */
  int64_t collectives;    /**< Finished by this rank. */
  int64_t bytes_sent;     /**< Payload that left this rank for others, scales included; headers are not. */
  int64_t bytes_received; /**< Payload that came from others. */
  double seconds;         /**< Wall time inside collectives, waiting for others included; of futures too. */
} lpt_comm_values;

/** @brief Defaults of lpt_comm_values. */
#define LPT_COMM_VALUES_INIT \
  { sizeof(lpt_comm_values), 0, 0, "", 0, 0, 0, 0.0 }

/**
 * @brief Writes the defaults of LPT_COMM_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_comm_values_init(lpt_comm_values *values, size_t struct_size);

/**
 * @brief Makes the meeting place for `rank_count` threads. It has no context: every rank brings its own.
 * @param rank_count 1 to 1024.
 * @param out_group returned; destroy with lpt_comm_group_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_group_create(int32_t rank_count, lpt_comm_group **out_group);

/**
 * @brief Ends all waiting of all ranks of the group, now and later: every call returns LPT_ABORTED. For a rank that fails.
 * @param group NULL is allowed. Any thread, at any time.
 */
LPT_API void lpt_comm_group_abort(lpt_comm_group *group);

/**
 * @brief Lets go of the group. Comms that were made with it live on.
 * @param group NULL is allowed.
 */
LPT_API void lpt_comm_group_destroy(lpt_comm_group *group);

/**
 * @brief Takes a rank's place in a group; returns when all ranks have come.
 *
 * Ranks call collectives in the same order with the same shapes and formats; one that does not is found, every rank is told
 * which, and the comm is broken: it can only be destroyed. A rank that ends its comm early frees the others with
 * LPT_ABORTED; one that does not come within the time limit is named by LPT_TIMEOUT. A call that is refused for its
 * arguments takes no part: others wait for a better one. Ranks share the processor's cores: give each context its part of them.
 *
 * @param context of this rank.
 * @param group the meeting place.
 * @param rank 0 to rank_count - 1; each once.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_comm returned; destroy with lpt_comm_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_create_local(lpt_context *context, lpt_comm_group *group, int32_t rank,
                                         const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Takes a process's place among the processes of an MPI job; returns when all of them have come.
 *
 * MPI is a plugin, liblpt_openmpi.so or liblpt_mpich.so: the file or folder that LPT_PLUGIN_PATH names, or the folder of
 * this library. LPT_MPI says which (openmpi, mpich); without it whoever launched the process, and without a launcher the
 * first that opens. MPI is initialized if it was not, for several threads, and then ended with the process; who initializes
 * it asks for MPI_THREAD_MULTIPLE. Processes that the launcher of another MPI started know nothing of each other: where
 * LPT_WORLD_SIZE, or a variable of the launcher, tells of another number of processes, the call is refused.
 *
 * Rules of lpt_comm_create_local() hold. Sends go on while this rank is in a call of LPT.
 *
 * @param context of this process.
 * @param fortran_handle what MPI_Comm_c2f() gives for a communicator; its own copy is made of it. NULL: MPI_COMM_WORLD.
 * @param options NULL for the defaults; the same on all ranks; no emulated link.
 * @param out_comm returned; destroy with lpt_comm_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED, its text tells what was tried; LPT_ABORTED; LPT_TIMEOUT;
 *         LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_create_mpi(lpt_context *context, const int32_t *fortran_handle,
                                       const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Makes a comm of ranks that have a GPU each, which exchange bytes by NCCL; returns when all ranks have come.
 *
 * NCCL is opened when it is asked for: the file that LPT_NCCL names, else libnccl.so.2 where the system finds it, of release
 * 2.18 or later. Two ranks on one GPU are refused by NCCL, in its words.
 *
 * Tensors lie on the GPU of `context`. Collectives are queued: without a future on the context's stream, with one on a stream of
 * the comm, behind what the context has queued. lpt_context_synchronize() waits for them as long as the time limit says, and
 * tells what became of them; lpt_future_wait() by a context of that GPU makes its stream wait, and returns. What has not ended in
 * time is given up (LPT_TIMEOUT), and the comm with it. Ranks that have a meeting compare each call there before they queue it:
 * then LPT_MISMATCH, LPT_ABORTED and LPT_TIMEOUT tell of other ranks as for lpt_comm_create_local(), by the time limit of the
 * meeting. Taken, with the bits of ranks on processors: lpt_all_reduce(), lpt_all_reduce_many(), lpt_reduce_scatter(),
 * lpt_all_gather(), lpt_broadcast(), lpt_all_to_all(), lpt_send(), lpt_receive(), lpt_barrier(), lpt_comm_split(),
 * lpt_partial_allreduce() and gradient buckets; others are LPT_UNSUPPORTED. Mail is received in the order in which it was sent;
 * two ranks that send to each other before they receive wait for the whole time limit.
 *
 * @param context of this rank, on its GPU.
 * @param meeting a comm of processors, local or MPI, of the same ranks in the same order; all of them make this call. A part of
 *        it is kept, and `meeting` may go. NULL: only with nccl_comm.
 * @param nccl_comm an ncclComm_t, which the caller keeps until the comm is destroyed, and aborts where a status says so; NULL:
 *        one is made by way of the meeting.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_comm returned; destroy with lpt_comm_destroy(), which waits for what is queued.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED, its text says what NCCL lacks; LPT_WORK_FAILED, in NCCL's words;
 *         LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_comm_create_nccl(lpt_context *context, lpt_comm *meeting, void *nccl_comm,
                                        const lpt_comm_options *options, lpt_comm **out_comm);

/**
 * @brief Makes communicators of parts of a communicator: ranks that give the same color share one, in the order of
 *        their keys, then of their ranks. A grid of tensor × pipeline × data ranks is two splits. All ranks call it.
 * @param context of this rank.
 * @param comm whole.
 * @param color which part, at least 0; -1: none.
 * @param key place in the part.
 * @param out_comm returned, NULL with color -1; destroy with lpt_comm_destroy(). It lives on without `comm`.
 * @return as lpt_comm_create_local().
 */
LPT_API lpt_status lpt_comm_split(lpt_context *context, lpt_comm *comm, int32_t color, int32_t key,
                                  lpt_comm **out_comm);

/**
 * @brief Leaves. Collectives that are under way are given up, and ranks that wait for this one get LPT_ABORTED.
 * @param comm NULL is allowed.
 */
LPT_API void lpt_comm_destroy(lpt_comm *comm);

/**
 * @brief Tells rank, ranks, engine and what was sent.
 * @param context the context.
 * @param comm the communicator.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_comm_read(lpt_context *context, const lpt_comm *comm, lpt_comm_values *out_values);

/**
 * @brief Waits for a collective. Its tensors may be read and written from then on, and not before; memory that the caller
 *        owns must live until then.
 * @param context any.
 * @param future of a collective; may be asked again.
 * @return what the collective came to, with its text.
 */
LPT_API lpt_status lpt_future_wait(lpt_context *context, lpt_future *future);

/**
 * @brief Tells whether a collective has ended; waits for nothing.
 * @param context any.
 * @param future of a collective.
 * @param out_is_done returned: 1 or 0.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_future_is_done(lpt_context *context, const lpt_future *future, int32_t *out_is_done);

/**
 * @brief Lets go of a future. The collective goes on.
 * @param future NULL is allowed.
 */
LPT_API void lpt_future_destroy(lpt_future *future);

/* ---------------------------------------------------------------- collectives --------------------------------------- */

/** @brief What the numbers of all ranks become; one of lpt_reduction_values. */
typedef int32_t lpt_reduction;

/** @brief Values of lpt_reduction. */
enum lpt_reduction_values {
  LPT_REDUCTION_SUM = 0,     /**< Added in the order of ranks, in f32; f64 in f64. */
  LPT_REDUCTION_AVERAGE = 1, /**< The sum divided by the number of ranks. */
  LPT_REDUCTION_MAXIMUM = 2, /**< The largest; a NaN gives a NaN. */
  LPT_REDUCTION_MINIMUM = 3  /**< The smallest; a NaN gives a NaN. */
};

/** @brief How numbers travel that are cast for it; one of lpt_reduce_algorithm_values. */
typedef int32_t lpt_reduce_algorithm;

/** @brief Values of lpt_reduce_algorithm. */
enum lpt_reduce_algorithm_values {
  /**
   * Of two ranks, or up to 16 KiB: ONE_SHOT; else TWO_SHOT. Tensors of fewer than 512 elements for each rank travel as they
   * are. lpt_context_explanation() tells what was taken.
   */
  LPT_REDUCE_ALGORITHM_AUTO = 0,
  /** Every rank gets all inputs, cast once, and adds them itself: R - 1 times the bytes, one error of a cast. */
  LPT_REDUCE_ALGORITHM_ONE_SHOT = 1,
  /** Every rank adds its share of all inputs and casts the result once more: 2 · (R - 1) / R times the bytes, two errors. */
  LPT_REDUCE_ALGORITHM_TWO_SHOT = 2,
  /** Of ranks on GPUs, without a wire: NCCL's own sum. All ranks get the same bits, which are not those of other engines. */
  LPT_REDUCE_ALGORITHM_NATIVE = 3
};

/**
 * @brief A compression of the caller's own, in which the numbers of a reduction travel.
 *
 * Shares are those of `wire` in lpt_reduce_options. Each share is encoded once by each rank, by one call, what became of it
 * once more by the rank that added it up, and all decode those bytes, that rank too: all ranks end with the same bits if equal
 * bytes decode to equal numbers. Numbers are f32 and adjacent; tensors in bf16 and f16 are widened before and rounded after.
 * No function is called for 0 elements.
 *
 * Functions run on the threads of the context (with a future: on that of the comm), several at once with the same `user`
 * where it has more than one. They may not throw, nor call LPT with this context or comm. Other than 0 from one of them ends
 * the reduction with LPT_ABORTED on its rank, whose text names codec, function and number, and on all ranks that do not have
 * all they need yet; the comm is broken then, and the output of that rank is as it was.
 */
typedef struct lpt_codec {
  size_t struct_size; /**< sizeof(lpt_codec) of the caller. */
  char name[16];      /**< 1 to 12 bytes of ASCII, and 0. Another one on another rank is LPT_MISMATCH. */
  /** Bytes of `count` elements, at least 0. The same whenever it is asked; another number on another rank is LPT_MISMATCH. */
  int64_t (*bytes_for)(void *user, int64_t count);
  /** Writes bytes_for(count) bytes, all of them. */
  int32_t (*encode)(void *user, const float *numbers, int64_t count, void *bytes);
  /** Writes `count` numbers. */
  int32_t (*decode)(void *user, const void *bytes, int64_t count, float *numbers);
  /** Adds what decode() would write to `sum`. NULL: decoded to scratch and added. */
  int32_t (*decode_add)(void *user, const void *bytes, int64_t count, float *sum);
  void *user; /**< The functions' own; lives until the reduction is done. */
} lpt_codec;

/** @brief No codec: name and functions are still to be set. */
#define LPT_CODEC_INIT \
  { sizeof(lpt_codec), "", NULL, NULL, NULL, NULL, NULL }

/**
 * @brief Writes the defaults of LPT_CODEC_INIT.
 * @param codec written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_codec_init(lpt_codec *codec, size_t struct_size);

/** @brief How to reduce. */
typedef struct lpt_reduce_options {
  size_t struct_size;      /**< sizeof(lpt_reduce_options) of the caller. */
  uint64_t flags;          /**< LPT_CHECK_ONLY. */
  lpt_reduction reduction; /**< What the numbers become. */
  int32_t reserved;        /**< 0. */
  double factor;           /**< The result is multiplied by it before it is rounded; finite. */
  /**
   * The format in which numbers travel; LPT_FORMAT_NONE: the tensor's own. Any that lpt_quantize() writes from numbers alone,
   * so far as it can tell of a NaN, of tensors in f32, bf16 or f16. Elements are counted in their logical order and cut in
   * shares, one for each rank, at multiples of 512 elements (lpt_reduce_scatter(): the parts). Each share is cast as a
   * matrix of one row by the defaults of lpt_quantize(), save that f16 and bf16 overflow to infinity: a format with a scale
   * for a row or a tensor has one for each share. An infinity becomes the largest number of its block: look for it before.
   * All ranks decode what was cast, their own included, to f32, and add in the order of ranks.
   */
  lpt_format wire;
  lpt_reduce_algorithm algorithm; /**< With a wire. lpt_reduce_scatter(): AUTO, or TWO_SHOT for its first half. */
  lpt_rounding rounding;          /**< Of casts to the wire: NEAREST_EVEN or STOCHASTIC. */
  /**
   * For stochastic rounding; the same on all ranks, row_stride 0. Element i draws at offset + i. Rank q casts its input by
   * seed ^ (q · 2^54), so that errors of ranks do not add up.
   */
  lpt_random random;
  /**
   * NULL: none. Numbers travel by this codec, whatever their number, also of a rank alone; in two shots, SUM or AVERAGE, of
   * tensors in f32, bf16 or f16, without a wire, to nearest. It is copied, save what `user` points to.
   */
  const lpt_codec *codec;
} lpt_reduce_options;

/** @brief Defaults of lpt_reduce_options. */
#define LPT_REDUCE_OPTIONS_INIT                                                                           \
  {                                                                                                       \
    sizeof(lpt_reduce_options), 0, LPT_REDUCTION_SUM, 0, 1.0, LPT_FORMAT_NONE, LPT_REDUCE_ALGORITHM_AUTO, \
        LPT_ROUNDING_NEAREST_EVEN, LPT_RANDOM_INIT, NULL                                                  \
  }

/**
 * @brief Writes the defaults of LPT_REDUCE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_reduce_options_init(lpt_reduce_options *options, size_t struct_size);

/**
 * @brief Returns when all ranks have called it.
 * @param context of this rank.
 * @param comm the communicator.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH.
 */
LPT_API lpt_status lpt_barrier(lpt_context *context, lpt_comm *comm);

/**
 * @brief Reduces a tensor of every rank and gives all of them the result.
 *
 * Every rank ends with the same bits, on every engine: ranks are added in their order, whatever the number of threads and
 * the way of the bytes. f16 and bf16 are added in f32 and rounded once. Bytes that leave a rank: 2 · (R - 1) / R of the
 * tensor's on average; a tensor too small for that is sent whole to every rank.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; f64, f32, bf16 or f16, of any shape, rows with any stride; the same shape on all ranks.
 * @param options NULL for the defaults; the same on all ranks.
 * @param output written; same shape and format. May be the input.
 * @param out_future NULL: done on return. Else returned; destroy with lpt_future_destroy(). Collectives of a comm run in the
 *        order in which they were called.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_ABORTED; LPT_TIMEOUT; LPT_MISMATCH; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                  const lpt_reduce_options *options, lpt_tensor *output, lpt_future **out_future);

/**
 * @brief Reduces a tensor of every rank and gives each rank its part of the result, along the first axis.
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; as for lpt_all_reduce().
 * @param counts borrowed; extent of each rank's part along the first axis, rank_count numbers that add up to the input's;
 *        0 is allowed. NULL: equal parts. The same on all ranks.
 * @param options NULL for the defaults; the same on all ranks.
 * @param output written; the part of this rank, in the input's format. May not overlap the input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_reduce_scatter(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                      const int64_t *counts, const lpt_reduce_options *options, lpt_tensor *output,
                                      lpt_future **out_future);

/**
 * @brief Gives all ranks the parts of every rank, one after the other along the first axis. Nothing is rounded.
 *
 * Parts that share one tensor scale must hold the same bits of it; the output gets it. Sharded weights in FP8: the amax of
 * each shard by lpt_all_reduce() to the MAXIMUM, the scale that follows from it into each shard, a cast with
 * LPT_KEEP_TENSOR_SCALE, and a gather of a quarter of the bytes: the same bits as a cast of the whole.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; the part of this rank, of any format; parts of formats with block scales are whole blocks.
 * @param counts borrowed; as for lpt_reduce_scatter(), of the output.
 * @param output written; in the input's format. May hold the input at its place.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_gather(lpt_context *context, lpt_comm *comm, const lpt_tensor *input, const int64_t *counts,
                                  lpt_tensor *output, lpt_future **out_future);

/**
 * @brief lpt_all_gather() of numbers that travel by a codec: each part is encoded once, and decoded by all ranks, its own included.
 * @param context of this rank.
 * @param comm the communicator.
 * @param codec see lpt_codec; the same on all ranks.
 * @param input borrowed; the part of this rank, in f32, bf16 or f16.
 * @param counts as for lpt_all_gather().
 * @param output written; in the input's format. May hold the input at its place.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_gather_by_codec(lpt_context *context, lpt_comm *comm, const lpt_codec *codec,
                                           const lpt_tensor *input, const int64_t *counts, lpt_tensor *output,
                                           lpt_future **out_future);

/**
 * @brief Gives all ranks the tensor of one, with all its scales.
 * @param context of this rank.
 * @param comm the communicator.
 * @param root the rank that has it.
 * @param tensor read at the root, written elsewhere; of any format, the same shape on all ranks.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_broadcast(lpt_context *context, lpt_comm *comm, int32_t root, lpt_tensor *tensor,
                                 lpt_future **out_future);

/**
 * @brief Sends each rank a part of the input, and puts together what comes from each, along the first axis.
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; of any format without a tensor scale.
 * @param send_counts borrowed; extent along the first axis of what goes to each rank; they add up to the input's; 0 is
 *        allowed. NULL: equal parts.
 * @param receive_counts borrowed; of what comes from each rank; they add up to the output's. NULL: equal parts.
 * @param output written; in the input's format, same other extents. May not overlap the input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_to_all(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                  const int64_t *send_counts, const int64_t *receive_counts, lpt_tensor *output,
                                  lpt_future **out_future);

/**
 * @brief Averages a tensor of every rank by its signs, one bit for each element, and keeps what that leaves out.
 *
 * Every rank adds its error of the last call to the input and sends of each rank's share the signs, of which zero is
 * positive, and one scale, the root of the mean square. The rank that has the share averages the scaled signs in the order of
 * ranks, adds its own error of the last call and sends signs and scale of the result to all, which is the output. What both
 * casts left out becomes the new errors: the mean of outputs goes to the mean of averages as one over the number of calls.
 * Bytes that leave a rank: about (R - 1) / R · elements / 4. Every rank ends with the same bits.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param input borrowed; f32, of any shape, rows with any stride; the same shape on all ranks.
 * @param worker_error read and written; f32, dense, as many elements as the input. 0 before the first call.
 * @param server_error read and written; dense f32 vector of as many elements as lpt_all_reduce_signs_share() tells. 0 before
 *        the first call. Errors are undefined after a call that was not refused and failed.
 * @param output written; f32, the input's shape. May be the input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_reduce_signs(lpt_context *context, lpt_comm *comm, const lpt_tensor *input,
                                        lpt_tensor *worker_error, lpt_tensor *server_error, lpt_tensor *output,
                                        lpt_future **out_future);

/**
 * @brief Tells how many elements of a tensor this rank averages in lpt_all_reduce_signs(): those of its server error.
 * @param context of this rank.
 * @param comm the communicator.
 * @param element_count of the whole tensor.
 * @param out_element_count returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_all_reduce_signs_share(lpt_context *context, const lpt_comm *comm, int64_t element_count,
                                              int64_t *out_element_count);

/**
 * @brief Sends a tensor to one rank. It may return before the other has received.
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensor borrowed; of any format.
 * @param peer the other rank.
 * @param tag 0 to 32767; messages of one tag arrive in their order.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_send(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor, int32_t peer, int32_t tag,
                            lpt_future **out_future);

/**
 * @brief Receives a tensor from one rank.
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensor written; the format and the shape that were sent.
 * @param peer the other rank.
 * @param tag as sent.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_receive(lpt_context *context, lpt_comm *comm, lpt_tensor *tensor, int32_t peer, int32_t tag,
                               lpt_future **out_future);

/**
 * @brief Reduces many tensors of every rank in place, by one message: gains of norms, biases, buckets of gradients.
 *
 * The bits are those of lpt_all_reduce() tensor by tensor; numbers are copied side by side, and back. With a wire they are those
 * of one tensor in which all numbers stand side by side: shares and blocks span tensors.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensors read and written; `count` tensors of one format, f64, f32, bf16 or f16, of any shapes, rows with any stride;
 *        none twice, none overlapping another. The same shapes in the same order on all ranks: their elements are compared
 *        as a whole.
 * @param count length of `tensors`; 0 is allowed.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_all_reduce_many(lpt_context *context, lpt_comm *comm, lpt_tensor *const *tensors, int64_t count,
                                       const lpt_reduce_options *options, lpt_future **out_future);

/**
 * @brief Tells whether a tensor has the same bits on all ranks: weights that were replicated, the shared columns of
 *        activations (lpt_tensor_view()). Eight bytes of each rank travel.
 *
 * Elements and scales are hashed in their logical order to 64 bits, whatever the strides. Numbers that are equal and have
 * other bits differ: 0 and -0, NaNs.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param tensor borrowed; of any format, the same shape on all ranks.
 * @param out_is_same returned: 1 or 0, the same on all ranks.
 * @return as lpt_all_reduce().
 */
LPT_API lpt_status lpt_comm_compare(lpt_context *context, lpt_comm *comm, const lpt_tensor *tensor,
                                    int32_t *out_is_same);

/* ---------------------------------------------------------------- gradient buckets ---------------------------------- */

/** @brief Gradients that ranks reduce while backward goes on. See lpt_gradient_buckets_create(). */
typedef struct lpt_gradient_buckets lpt_gradient_buckets;

/** @brief In which order gradients fill buckets; one of lpt_bucket_order_values. */
typedef int32_t lpt_bucket_order;

/** @brief Values of lpt_bucket_order. */
enum lpt_bucket_order_values {
  /**
   * In the first pass that is reduced the reverse of their list; from then on the order in which they became ready on
   * rank 0 in that pass, which tells it to all others.
   */
  LPT_BUCKET_ORDER_RECORDED = 0,
  LPT_BUCKET_ORDER_REVERSED = 1 /**< Always the reverse of their list. */
};

/** @brief How gradients fill buckets. */
typedef struct lpt_bucket_options {
  size_t struct_size;       /**< sizeof(lpt_bucket_options) of the caller. */
  uint64_t flags;           /**< 0. */
  size_t bucket_bytes;      /**< A bucket is full with so many; a larger gradient has its own. 0: 25 MiB. */
  lpt_bucket_order order;   /**< Which gradients stand together. */
  int32_t reserved;         /**< 0. */
  const char *const *names; /**< Borrowed for the call; a name for each gradient, for texts of errors. NULL: none. */
} lpt_bucket_options;

/** @brief Defaults of lpt_bucket_options. */
#define LPT_BUCKET_OPTIONS_INIT \
  { sizeof(lpt_bucket_options), 0, 0, LPT_BUCKET_ORDER_RECORDED, 0, NULL }

/**
 * @brief Writes the defaults of LPT_BUCKET_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_bucket_options_init(lpt_bucket_options *options, size_t struct_size);

/** @brief How buckets stand. */
typedef struct lpt_bucket_values {
  size_t struct_size;     /**< sizeof(lpt_bucket_values) of the caller. */
  int64_t bucket_count;   /**< Buckets. */
  int64_t ready_count;    /**< Gradients of this pass, or the last one, that were made ready. */
  int64_t launched_count; /**< Buckets of it whose reduction was begun. */
  double wait_seconds;    /**< What the last lpt_gradient_buckets_wait() waited: what backward did not hide. */
  int32_t is_recorded;    /**< 1: the order is that of rank 0's first pass. */
  int32_t reserved;       /**< 0. */
} lpt_bucket_values;

/** @brief Defaults of lpt_bucket_values. */
#define LPT_BUCKET_VALUES_INIT \
  { sizeof(lpt_bucket_values), 0, 0, 0, 0.0, 0, 0 }

/**
 * @brief Writes the defaults of LPT_BUCKET_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_bucket_values_init(lpt_bucket_values *values, size_t struct_size);

/**
 * @brief Puts gradients in buckets, each of which is reduced in place, by one message, as soon as all its gradients are ready
 *        and the buckets before it have begun: data-parallel training whose backward hides its all-reduce.
 *
 *   lpt_gradient_buckets_begin(context, buckets, 1, &average);
 *   … backward: lpt_gradient_buckets_ready(context, buckets, index) as soon as a gradient is there …
 *   lpt_gradient_buckets_wait(context, buckets);                     // all of them are those of all ranks
 *
 * All ranks make the same buckets of the same gradients, and begin their reductions in the order of the buckets, however the
 * order of ready ones differs between ranks. The bits are those of lpt_all_reduce() gradient by gradient; with a wire those
 * of lpt_all_reduce_many() bucket by bucket, which depend on what stands together: take LPT_BUCKET_ORDER_REVERSED where a
 * training that was interrupted must go on with the bits of one that was not. Other collectives of the comm take their turn
 * among the buckets: all ranks call them between the same buckets, best outside of a pass.
 *
 * @param context of this rank.
 * @param comm the communicator; it must live as long as the buckets are used, and may be destroyed before them.
 * @param gradients in the order of forward: `count` tensors, f64, f32, bf16 or f16, mixed at will, of any shapes, rows with any
 *        stride; none twice. Memory that the caller owns stays where it is until the buckets are destroyed.
 * @param count length of `gradients`; 0 is allowed.
 * @param options NULL for the defaults; the same on all ranks.
 * @param out_buckets returned; destroy with lpt_gradient_buckets_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_gradient_buckets_create(lpt_context *context, lpt_comm *comm, lpt_tensor *const *gradients,
                                               int64_t count, const lpt_bucket_options *options,
                                               lpt_gradient_buckets **out_buckets);

/**
 * @brief Begins a backward pass.
 * @param context of this rank.
 * @param buckets without a pass under way.
 * @param is_last 1: gradients are reduced as they become ready. 0: micro-batches follow that add to them, and nothing travels.
 * @param options how this pass is reduced, the same on all ranks; an average, or a factor, makes means of sums. Element i of all
 *        buckets draws random numbers at random.offset + i. NULL for the defaults, which add up. Not looked at without is_last.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_gradient_buckets_begin(lpt_context *context, lpt_gradient_buckets *buckets, int32_t is_last,
                                              const lpt_reduce_options *options);

/**
 * @brief Says that a gradient is there. From now on until lpt_gradient_buckets_wait() it belongs to the comm's thread; without
 *        is_last it stays the caller's.
 * @param context of this rank.
 * @param buckets in a pass.
 * @param index which gradient; each once in a pass, in any order.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY: what could not begin is tried again with the next ready one, or by
 *         lpt_gradient_buckets_wait().
 */
LPT_API lpt_status lpt_gradient_buckets_ready(lpt_context *context, lpt_gradient_buckets *buckets, int64_t index);

/**
 * @brief Ends a pass: waits until all gradients are reduced. An error names the gradients of the bucket that it befell.
 * @param context of this rank.
 * @param buckets in a pass.
 * @return LPT_OK; LPT_INVALID_ARGUMENT: gradients were not made ready, and the text names them; the pass goes on, and other
 *         ranks wait for it; as lpt_all_reduce(), and the pass is over.
 */
LPT_API lpt_status lpt_gradient_buckets_wait(lpt_context *context, lpt_gradient_buckets *buckets);

/**
 * @brief Tells how buckets stand.
 * @param context the context.
 * @param buckets the buckets.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_gradient_buckets_read(lpt_context *context, const lpt_gradient_buckets *buckets,
                                             lpt_bucket_values *out_values);

/**
 * @brief Lets go of buckets. Reductions that are under way go on.
 * @param buckets NULL is allowed.
 */
LPT_API void lpt_gradient_buckets_destroy(lpt_gradient_buckets *buckets);

/* ---------------------------------------------------------------- sharded optimizer --------------------------------- */

/** @brief How ranks that share an optimizer's state step. */
typedef struct lpt_shard_options {
  size_t struct_size; /**< sizeof(lpt_shard_options) of the caller. */
  uint64_t flags;     /**< 0. */
  /**
   * Borrowed. NULL: gradients hold the same bits on all ranks, as lpt_gradient_buckets_wait() leaves them (ZeRO 1). Else
   * each rank has its own, and each share of them is reduced so to the rank that steps it (ZeRO 2); with a wire in runs of
   * up to 2^18 elements of each share. Gradients are then all of one format.
   */
  const lpt_reduce_options *reduce;
} lpt_shard_options;

/** @brief Defaults of lpt_shard_options. */
#define LPT_SHARD_OPTIONS_INIT \
  { sizeof(lpt_shard_options), 0, NULL }

/**
 * @brief Writes the defaults of LPT_SHARD_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_shard_options_init(lpt_shard_options *options, size_t struct_size);

/**
 * @brief Adds this rank's shards of many parameters: all their elements, one parameter after the other, are shared out
 *        evenly among the ranks of the comm, in their order, cut at multiples of 4096 elements of a parameter. Nothing
 *        travels.
 *
 * Every rank adds the same parameters in the same order, and gets the same indices; of a parameter in which it has no share
 * it adds a shard of no elements. ZeRO: arXiv 1910.02054.
 *
 * @param context of this rank.
 * @param comm tells rank and ranks; the same later steps are made with.
 * @param optimizer added to.
 * @param parameters borrowed; `count` whole parameters: whole_elements and begin are 0.
 * @param count length of `parameters` and `out_indices`; 0 is allowed.
 * @param out_indices written; as of lpt_optimizer_add().
 * @return as lpt_optimizer_add(); on error none is added.
 */
LPT_API lpt_status lpt_optimizer_add_shards(lpt_context *context, const lpt_comm *comm, lpt_optimizer *optimizer,
                                            const lpt_optimizer_parameter *const *parameters, int64_t count,
                                            int64_t *out_indices);

/**
 * @brief Steps parameters whose state is shared out among ranks: reduces gradients where ranks have their own, steps this
 *        rank's shards, and gathers the parameters. All ranks call it.
 *
 * Every rank ends with the bits of one lpt_optimizer_step() of whole parameters by the same gradients, in every format of the
 * state: scales of whole tensors are found over ranks, and so is the norm for clipping and skipping, whose squares are added
 * in the order of one rank. Bytes that leave a rank: (R - 1) / R of the parameters' on average, and as much of the gradients
 * where they are reduced.
 *
 * A call that is refused for its arguments takes no part. Any other error breaks the comm and leaves parameters and state
 * undefined.
 *
 * @param context of this rank.
 * @param comm with the ranks that the shards were added with.
 * @param optimizer whose parameters were added by lpt_optimizer_add_shards().
 * @param indices borrowed; which parameters, each at most once; the same on all ranks.
 * @param count length of `indices`, `gradients` and `parameters`.
 * @param gradients borrowed; whole: f32 or bf16, as many elements as the whole parameter, dense.
 * @param options NULL for the defaults; the same on all ranks.
 * @param shards NULL for the defaults; the same on all ranks.
 * @param parameters read and written; whole: f32, bf16, or LPT_FORMAT_F16_TENSOR, dense.
 * @return as lpt_optimizer_step() and lpt_all_reduce().
 */
LPT_API lpt_status lpt_optimizer_step_shards(lpt_context *context, lpt_comm *comm, lpt_optimizer *optimizer,
                                             const int64_t *indices, int64_t count, const lpt_tensor *const *gradients,
                                             const lpt_step_options *options, const lpt_shard_options *shards,
                                             lpt_tensor *const *parameters);

/* ---------------------------------------------------------------- partly shared activations ------------------------ */

/** @brief Which way activations go; one of lpt_pass_values. */
typedef int32_t lpt_pass;

/** @brief Values of lpt_pass. */
enum lpt_pass_values {
  LPT_PASS_FORWARD = 0, /**< Activations. */
  LPT_PASS_BACKWARD = 1 /**< Their gradients. */
};

/** @brief What private columns are multiplied by; one of lpt_partial_scale_values. */
typedef int32_t lpt_partial_scale;

/** @brief Values of lpt_partial_scale. */
enum lpt_partial_scale_values {
  LPT_PARTIAL_SCALE_ROOT = 0,  /**< The root of the number of ranks: shared columns, which are sums, vary as much. */
  LPT_PARTIAL_SCALE_ONE = 1,   /**< 1: the weights were scaled instead, once; see lpt_partial_scale_weight(). */
  LPT_PARTIAL_SCALE_CUSTOM = 2 /**< custom_scale. */
};

/**
 * @brief Flag of lpt_partial_options: the model splits the sequence among the same ranks outside of attention and MLP
 *        (sequence parallelism). Refused where columns are private, instead of a model that is silently wrong.
 */
#define LPT_PARTIAL_SEQUENCE_PARALLEL UINT64_C(4)

/** @brief How columns are shared. The same on all ranks, in all layers, for the whole training. */
typedef struct lpt_partial_options {
  size_t struct_size;     /**< sizeof(lpt_partial_options) of the caller. */
  uint64_t flags;         /**< LPT_PARTIAL_SEQUENCE_PARALLEL. */
  int64_t hidden_columns; /**< Columns of activations, 1 to 2^28. */
  int64_t
      shared_columns; /**< The first ones, which ranks share: 0 to hidden_columns; see lpt_partial_shared_columns(). */
  int32_t rank_count; /**< Ranks, 1 to 1024. */
  lpt_partial_scale private_scale; /**< Factor of the other columns. */
  double custom_scale;             /**< With LPT_PARTIAL_SCALE_CUSTOM: finite, not 0. */
  lpt_format forward_wire;         /**< Format in which sums travel, as lpt_reduce_options.wire; NONE: the tensor's. */
  lpt_format backward_wire;        /**< The same of gradients. */
  /**
   * Rows of a product that lpt_partial_gemm() reduces while it multiplies the next ones; the same bits as all at once. 0: as
   * many as are best for the link below; without one, all.
   */
  int64_t chunk_rows;
  double link_latency_seconds;  /**< Of a link between ranks, as of lpt_link; 0: not known. */
  double link_bytes_per_second; /**< The same; 0: not known. */
} lpt_partial_options;

/** @brief Defaults of lpt_partial_options. */
#define LPT_PARTIAL_OPTIONS_INIT                                                                                    \
  {                                                                                                                 \
    sizeof(lpt_partial_options), 0, 0, 0, 0, LPT_PARTIAL_SCALE_ROOT, 1.0, LPT_FORMAT_NONE, LPT_FORMAT_NONE, 0, 0.0, \
        0.0                                                                                                         \
  }

/**
 * @brief Writes the defaults of LPT_PARTIAL_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_partial_options_init(lpt_partial_options *options, size_t struct_size);

/** @brief What a plan says. */
typedef struct lpt_partial_values {
  size_t struct_size;     /**< sizeof(lpt_partial_values) of the caller. */
  int64_t hidden_columns; /**< Columns of activations. */
  int64_t shared_columns; /**< The first ones. */
  int32_t rank_count;     /**< Ranks. */
  int32_t reserved;       /**< 0. */
  double private_scale;   /**< Factor of private columns. */
  double
      forward_row_bytes; /**< What leaves a rank for each row of activations: 2 · (R - 1) / R of the shared columns. */
  double backward_row_bytes; /**< The same of gradients. */
} lpt_partial_values;

/** @brief Defaults of lpt_partial_values. */
#define LPT_PARTIAL_VALUES_INIT \
  { sizeof(lpt_partial_values), 0, 0, 0, 0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_PARTIAL_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_partial_values_init(lpt_partial_values *values, size_t struct_size);

/**
 * @brief Finds the columns that a fraction of all columns shares, rounded down.
 *
 * It is the largest number k for which k / hidden_columns, as a double, is not above `fraction`. Decimals mean what is
 * written: 0.29 of 100 columns are 29, where a product in doubles, cut, gives 28; and 1.0 / 3 of 3 is 1.
 *
 * @param hidden_columns 1 to 2^28.
 * @param fraction 0 to 1.
 * @param out_shared_columns returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_partial_shared_columns(int64_t hidden_columns, double fraction, int64_t *out_shared_columns);

/**
 * @brief Makes a plan: the one place that knows which columns are shared. It may be used by many contexts at a time.
 * @param context the context.
 * @param options borrowed; not NULL.
 * @param out_plan returned; destroy with lpt_partial_plan_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_partial_plan_create(lpt_context *context, const lpt_partial_options *options,
                                           lpt_partial_plan **out_plan);

/**
 * @brief Destroys a plan.
 * @param plan NULL is allowed.
 */
LPT_API void lpt_partial_plan_destroy(lpt_partial_plan *plan);

/**
 * @brief Tells what a plan says.
 * @param context the context.
 * @param plan the plan.
 * @param format of the tensors that will be reduced: where a wire is NONE, bytes are counted in it.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_partial_plan_read(lpt_context *context, const lpt_partial_plan *plan, lpt_format format,
                                         lpt_partial_values *out_values);

/**
 * @brief Adds up the shared columns of all ranks, and scales this rank's private ones: out[:, :s] = sum over ranks of
 *        in[:, :s], out[:, s:] = scale · in[:, s:].
 *
 * The tensor-parallel all-reduce behind a row-parallel layer, of a part of the columns: each rank keeps a residual stream of its
 * own in the others. The operator is its own adjoint: the same call with LPT_PASS_BACKWARD makes of a gradient behind it
 * the gradient before it, and takes the place of the reduction before the column-parallel layers. Gradients of what all
 * ranks hold alike are then parts of a sum: gains of norms take one lpt_all_reduce_many() a step, and the gradient at the
 * entry of the layers, of the embeddings, one lpt_all_reduce() of all columns. docs/collectives-caat.md tells it in full.
 *
 * The skip connection's gradient is read after this call: where it lies in the same memory, call it out of place.
 *
 * Formats   f64, f32, bf16 or f16, the output as the input.
 * Rounding  shared columns: as lpt_all_reduce(), to the bit: added in f32 in the order of ranks and rounded once, all ranks
 *           end with the same bits. A wire of f32 for a gradient of bf16 would give those very bits for twice the bytes:
 *           what travels are the addends, which bf16 holds exactly, and their sum is made in f32 anyway. Private columns:
 *           one product in f32 and one rounding; with scale 1 copied bit for bit.
 * Source    CAAT-Net (arXiv 2506.19645).
 *
 * Without shared columns nothing travels and no rank waits. A call that fails on the way leaves the output undefined.
 *
 * @param context of this rank.
 * @param comm the communicator; with the plan's rank_count.
 * @param plan borrowed until the call returns; the same on all ranks.
 * @param pass which wire is taken; the same on all ranks.
 * @param input borrowed; hidden_columns columns, any leading axes, rows with any stride.
 * @param output written; same shape and format. May be the input.
 * @param out_future as for lpt_all_reduce(): then private columns are done on return, and shared ones on their way.
 * @return as lpt_all_reduce(); LPT_UNSUPPORTED for another wire.
 */
LPT_API lpt_status lpt_partial_allreduce(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                         lpt_pass pass, const lpt_tensor *input, lpt_tensor *output,
                                         lpt_future **out_future);

/**
 * @brief Multiplies by this rank's part of a row-parallel weight and adds up the shared columns of all ranks: lpt_gemm(),
 *        then lpt_partial_allreduce() of c in place, bit for bit, but private columns are computed while the
 *        shared ones travel.
 *
 * The sum needs a thread of its own, the comm's, which sleeps while bytes are on their way. Packed weights in tiles or LOOSE,
 * and 2:4 ones of more than a few rows, are multiplied whole before anything travels. Progress is not told: a rank
 * that stops alone would leave the others waiting.
 *
 * @param context of this rank.
 * @param comm the communicator; with the plan's rank_count.
 * @param plan borrowed.
 * @param a borrowed; rows × this rank's part of the input columns.
 * @param b borrowed; this rank's part of the weight, hidden_columns wide: as for lpt_gemm(), packed too.
 * @param options of lpt_gemm(); alpha, flags, is_a_transposed, is_b_transposed and arithmetic are taken. What is added to
 *        a product that ranks add up would be added by every rank: bias, residual, beta, activation are refused.
 * @param c written; rows × hidden_columns, f64, f32, bf16 or f16; rows with any stride. May not overlap a or b.
 * @return as lpt_gemm() and lpt_partial_allreduce().
 */
LPT_API lpt_status lpt_partial_gemm(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                    const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options *options,
                                    lpt_tensor *c);

/**
 * @brief Multiplies the private rows of a weight's first values by the scale, in place: then a plan with
 *        LPT_PARTIAL_SCALE_ONE trains on. The other of two ways: alike when training begins, apart under Adam, whose steps do
 *        not grow with the weight. One rounding.
 * @param context the context.
 * @param plan with the scale.
 * @param weight read and written; f64, f32, bf16 or f16, hidden_columns rows (output × input), rows with any stride.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED.
 */
LPT_API lpt_status lpt_partial_scale_weight(lpt_context *context, const lpt_partial_plan *plan, lpt_tensor *weight);

/**
 * @brief Sequence parallelism: gathers the rows of all ranks, in their order, before a column-parallel layer. Adjoint to
 *        lpt_sequence_scatter(): Σ⟨gather(x), g⟩ = Σ⟨x, scatter(g)⟩, summed over ranks, so each is the other's backward.
 *
 * lpt_all_gather() of rows, to the bit. Outside of attention and MLP each rank then norms and adds its own rows only, and
 * the two together move what one all-reduce moves. Private columns stay with their rank for the whole sequence, which a split one
 * would lose: a plan with some is refused, instead of a model that is silently another.
 *
 * @param context of this rank.
 * @param comm the communicator.
 * @param plan borrowed: of the layers around, with all columns shared; NULL: there is none.
 * @param input borrowed; this rank's rows, any number of them, of f64, f32, bf16 or f16.
 * @param row_counts borrowed: rows of each rank, the same array on all ranks; NULL: equal numbers.
 * @param output written; the rows of all ranks, format and columns of input. May not overlap input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_all_gather(); LPT_UNSUPPORTED for a plan with private columns.
 */
LPT_API lpt_status lpt_sequence_gather(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                       const lpt_tensor *input, const int64_t *row_counts, lpt_tensor *output,
                                       lpt_future **out_future);

/**
 * @brief Sequence parallelism: adds up what ranks have of all rows, behind a row-parallel layer without a comm, and gives each
 *        rank its own rows of the sum: lpt_reduce_scatter() of rows, to the bit, by the plan's wire. The backward of
 *        lpt_sequence_gather(), and that is its backward.
 * @param context of this rank.
 * @param comm the communicator.
 * @param plan as in lpt_sequence_gather().
 * @param pass which of the plan's wires is taken; the same on all ranks.
 * @param input borrowed; all rows, f64, f32, bf16 or f16.
 * @param row_counts as in lpt_sequence_gather().
 * @param output written; this rank's rows, format and columns of input. May not overlap input.
 * @param out_future as for lpt_all_reduce().
 * @return as lpt_reduce_scatter(); LPT_UNSUPPORTED for a plan with private columns.
 */
LPT_API lpt_status lpt_sequence_scatter(lpt_context *context, lpt_comm *comm, const lpt_partial_plan *plan,
                                        lpt_pass pass, const lpt_tensor *input, const int64_t *row_counts,
                                        lpt_tensor *output, lpt_future **out_future);

/* ---------------------------------------------------------------- cost ---------------------------------------------- */

/** @brief A collective whose cost is reckoned; one of lpt_collective_values. */
typedef int32_t lpt_collective;

/** @brief Values of lpt_collective. n: bytes of the payload. */
enum lpt_collective_values {
  LPT_COLLECTIVE_ALL_REDUCE = 0,     /**< n: every rank's tensor. */
  LPT_COLLECTIVE_REDUCE_SCATTER = 1, /**< n: every rank's input. */
  LPT_COLLECTIVE_ALL_GATHER = 2,     /**< n: the output, the parts of all ranks together. */
  LPT_COLLECTIVE_BROADCAST = 3,      /**< n: the root's tensor. */
  LPT_COLLECTIVE_ALL_TO_ALL = 4      /**< n: every rank's input. */
};

/** @brief How the bytes of a collective go; one of lpt_cost_algorithm_values. */
typedef int32_t lpt_cost_algorithm;

/**
 * @brief Values of lpt_cost_algorithm.
 *
 * R ranks, n bytes, L = log2(R) rounded up. A way is a number of steps, of which each begins when the one before has ended on
 * all ranks. What follows is of an all-reduce, where nothing else is said; docs/collectives.md has every formula.
 */
enum lpt_cost_algorithm_values {
  /** The one of least time; of those the one of fewest bytes of a rank, then of fewest steps. */
  LPT_COST_ALGORITHM_BEST = 0,
  /**
   * Every rank sends n / R to the next one in each of 2 (R - 1) steps: half of them add, half hand on what came of it. A
   * reduce-scatter is the first half, an all-gather the second.
   */
  LPT_COST_ALGORITHM_RING = 1,
  /** A binomial tree: L steps that add towards rank 0, L that bring the result back, n in each. A broadcast is the second half. */
  LPT_COST_ALGORITHM_TREE = 2,
  /**
   * What lpt_all_reduce() does: every rank sends each other one its n / R, adds what comes, and sends what became of it to all.
   * A reduce-scatter is the first step, an all-gather the second.
   */
  LPT_COST_ALGORITHM_TWO_SHOT = 3,
  /** One step: every rank sends all of it to all, and adds. A broadcast: the root sends to all. An all-to-all: n / R to each. */
  LPT_COST_ALGORITHM_ONE_SHOT = 4,
  /** Two steps over the root's link alone: all send to the root, and it sends each rank what it is to have. */
  LPT_COST_ALGORITHM_STAR = 5
};

/**
 * @brief The links of equal ranks. Each rank has one to all others, which sends one message after the other and receives one
 *        after the other, both at a time. A message of b bytes takes b / bytes_per_second of both links, and latency_seconds.
 */
typedef struct lpt_link {
  size_t struct_size;      /**< sizeof(lpt_link) of the caller. */
  double latency_seconds;  /**< Of a message on its way; others may be on theirs meanwhile. The alpha of papers. */
  double bytes_per_second; /**< Of one rank's link, each way; 0: bytes take no time. One over the beta of papers. */
  double reduce_bytes_per_second; /**< Payload of others that a rank adds up when a step has brought it; 0: at once. */
} lpt_link;

/** @brief Defaults of lpt_link: nothing takes time, and bytes alone are counted. */
#define LPT_LINK_INIT \
  { sizeof(lpt_link), 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_LINK_INIT.
 * @param link written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_link_init(lpt_link *link, size_t struct_size);

/** @brief What a collective costs. */
typedef struct lpt_cost_values {
  size_t struct_size;           /**< sizeof(lpt_cost_values) of the caller. */
  lpt_cost_algorithm algorithm; /**< The one that was reckoned; never BEST. */
  int32_t step_count;           /**< Messages in a row: how often the latency is waited for. */
  double payload_bytes;         /**< n: elements with their scales. */
  double rank_bytes;            /**< That the busiest rank sends. */
  double total_bytes;           /**< That all ranks send together. */
  double seconds;               /**< From the first byte to the last sum. */
} lpt_cost_values;

/** @brief Defaults of lpt_cost_values. */
#define LPT_COST_VALUES_INIT \
  { sizeof(lpt_cost_values), LPT_COST_ALGORITHM_BEST, 0, 0.0, 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_COST_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_cost_values_init(lpt_cost_values *values, size_t struct_size);

/** @brief How fast one rank casts numbers before they are sent, and back. Rates count bytes of the wide numbers. */
typedef struct lpt_cast_rates {
  size_t struct_size;             /**< sizeof(lpt_cast_rates) of the caller. */
  double overhead_seconds;        /**< Of all casts of one collective together, however few numbers there are. */
  double encode_bytes_per_second; /**< lpt_quantize(); 0: at once. */
  double decode_bytes_per_second; /**< lpt_dequantize(); 0: at once. */
} lpt_cast_rates;

/** @brief Defaults of lpt_cast_rates: casts take no time. */
#define LPT_CAST_RATES_INIT \
  { sizeof(lpt_cast_rates), 0.0, 0.0, 0.0 }

/**
 * @brief Writes the defaults of LPT_CAST_RATES_INIT.
 * @param rates written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_cast_rates_init(lpt_cast_rates *rates, size_t struct_size);

/**
 * @brief Reckons what a collective costs: messages in a row, bytes, seconds. Nothing is sent.
 *
 * The payload is counted as one row, with its block scales and zero points by their share (int8_1x32: 36 / 32 bytes for an
 * element) and its tensor scale; parts of ranks are equal, so there are fractions of bytes. Of one rank all is 0.
 *
 * @param context the context.
 * @param collective which.
 * @param algorithm how; LPT_COST_ALGORITHM_BEST picks.
 * @param ranks 1 to 1048576.
 * @param elements of the tensor that lpt_collective_values says.
 * @param payload the format in which they travel; any but a 2:4 one.
 * @param link NULL for the defaults.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED where the algorithm has no such collective: the text tells which have.
 */
LPT_API lpt_status lpt_collective_cost(lpt_context *context, lpt_collective collective, lpt_cost_algorithm algorithm,
                                       int32_t ranks, int64_t elements, lpt_format payload, const lpt_link *link,
                                       lpt_cost_values *out_values);

/**
 * @brief Finds the link behind measured times: seconds = latency_seconds + bytes / bytes_per_second.
 *
 * The sum of squares of relative errors is least, so that short messages count as much as long ones; a latency below 0 becomes 0.
 *
 * @param context the context.
 * @param bytes borrowed; `count` sizes of messages, two different ones at least.
 * @param seconds borrowed; the time of each, above 0.
 * @param count at least 2.
 * @param out_link its `struct_size` is set by the caller; written. Its reduce_bytes_per_second is 0: that was not measured.
 * @return LPT_OK; LPT_INVALID_ARGUMENT, also where seconds do not grow with the bytes: these tell no bandwidth.
 */
LPT_API lpt_status lpt_link_fit(lpt_context *context, const double *bytes, const double *seconds, int64_t count,
                                lpt_link *out_link);

/**
 * @brief Finds from how many elements on a collective takes less time with its numbers cast for the way.
 *
 * Times are those of lpt_collective_cost(); the cast ones have the casts that the algorithm needs on top, as docs/collectives.md
 * counts them: TWO_SHOT encodes every element once and the sums once more, and decodes twice.
 *
 * @param context the context.
 * @param collective which.
 * @param algorithm how; with LPT_COST_ALGORITHM_BEST each way takes the one that is best for it.
 * @param ranks 1 to 1048576.
 * @param plain the format of the numbers.
 * @param payload the one that they are cast to.
 * @param rates of the casts; NULL for the defaults.
 * @param link NULL for the defaults.
 * @param out_elements returned: that number and every larger one take less time cast, 1: any; -1: no number does.
 * @return as lpt_collective_cost().
 */
LPT_API lpt_status lpt_cost_break_even(lpt_context *context, lpt_collective collective, lpt_cost_algorithm algorithm,
                                       int32_t ranks, lpt_format plain, lpt_format payload, const lpt_cast_rates *rates,
                                       const lpt_link *link, int64_t *out_elements);

/* ---------------------------------------------------------------- monitor ------------------------------------------ */

/** @brief How the noise of gradients is found; one of lpt_noise_kind_values. */
typedef int32_t lpt_noise;

/** @brief Values of lpt_noise. */
enum lpt_noise_kind_values {
  LPT_NOISE_REFERENCE = 0, /**< The first gradients are exact, the second ones noisy. */
  LPT_NOISE_TWO_DRAWS = 1  /**< Both are noisy, with random bits of their own; the noise has mean zero. */
};

/** @brief How to measure noise. */
typedef struct lpt_noise_options {
  size_t struct_size; /**< sizeof(lpt_noise_options) of the caller. */
  uint64_t flags;     /**< LPT_CHECK_ONLY. */
  lpt_noise kind;     /**< What the two lists of gradients are. */
  int32_t reserved;   /**< 0. */
} lpt_noise_options;

/** @brief Defaults of lpt_noise_options. */
#define LPT_NOISE_OPTIONS_INIT \
  { sizeof(lpt_noise_options), 0, LPT_NOISE_REFERENCE, 0 }

/**
 * @brief Writes the defaults of LPT_NOISE_OPTIONS_INIT.
 * @param options written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_noise_options_init(lpt_noise_options *options, size_t struct_size);

/** @brief Noise against gradient. */
typedef struct lpt_noise_values {
  size_t struct_size;      /**< sizeof(lpt_noise_values) of the caller. */
  double gradient_norm;    /**< |g|, over all tensors. */
  double noise_norm;       /**< |q(g) - g|, of one noisy list. */
  double ratio;            /**< gradient_norm / noise_norm; infinity without noise. */
  int64_t nonfinite_count; /**< Pairs with an infinity or a NaN: left out. */
  int32_t is_noisy;        /**< 1: the ratio is below the root of 3, and higher precision is worth its price. */
  int32_t reserved;        /**< 0. */
} lpt_noise_values;

/** @brief Defaults of lpt_noise_values. */
#define LPT_NOISE_VALUES_INIT \
  { sizeof(lpt_noise_values), 0.0, 0.0, 0.0, 0, 0, 0 }

/**
 * @brief Writes the defaults of LPT_NOISE_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_noise_values_init(lpt_noise_values *values, size_t struct_size);

/**
 * @brief Measures the noise that quantization put in gradients, against their norm: |g| / |q(g) - g|.
 *
 * With LPT_NOISE_TWO_DRAWS no exact gradient is needed: |g|² is a · b, and the squared noise |a - b|² / 2. Descent is
 * hurt most by more noise where the ratio is the root of 3; below it the paper raises the backward pass to higher precision.
 * To be asked of the gradient of a whole batch: that of one cast is far above (7.3 for stochastic nvfp4). In f64; the same
 * for any number of threads. Source: FP4 All the Way (arXiv 2505.19115), section 4.
 *
 * @param context the context.
 * @param gradients borrowed; `count` tensors, f32, bf16, f16 or f64.
 * @param noisy borrowed; `count` tensors of the same shapes.
 * @param count length of both.
 * @param options NULL for the defaults.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_noise_measure(lpt_context *context, const lpt_tensor *const *gradients,
                                     const lpt_tensor *const *noisy, int64_t count, const lpt_noise_options *options,
                                     lpt_noise_values *out_values);

/** @brief How far the two weights of a SwiGLU point the same way. */
typedef struct lpt_alignment_values {
  size_t struct_size;      /**< sizeof(lpt_alignment_values) of the caller. */
  double mean;             /**< Of the cosines of all channels. */
  double mean_magnitude;   /**< Of their magnitudes. */
  double largest;          /**< The cosine of largest magnitude. */
  int64_t largest_channel; /**< Its channel; -1 without channels. */
} lpt_alignment_values;

/** @brief Defaults of lpt_alignment_values. */
#define LPT_ALIGNMENT_VALUES_INIT \
  { sizeof(lpt_alignment_values), 0.0, 0.0, 0.0, -1 }

/**
 * @brief Writes the defaults of LPT_ALIGNMENT_VALUES_INIT.
 * @param values written; never past `struct_size` bytes.
 * @param struct_size size of the caller's struct.
 */
LPT_API void lpt_alignment_values_init(lpt_alignment_values *values, size_t struct_size);

/**
 * @brief Measures the cosine between the gate's and the up weight of each channel. Weight decay aligns them over long runs, and
 *        an aligned channel grows with the square of its input: the outliers that end FP8 runs (arXiv 2409.12517).
 * @param context the context.
 * @param gate_weight borrowed; channels × columns, f32, bf16, f16 or f64.
 * @param up_weight borrowed; of the same shape.
 * @param cosines written; f32 vector of channels; 0 where a weight is zero. NULL: not wanted.
 * @param out_values its `struct_size` is set by the caller; written.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_UNSUPPORTED; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_swiglu_alignment(lpt_context *context, const lpt_tensor *gate_weight,
                                        const lpt_tensor *up_weight, lpt_tensor *cosines,
                                        lpt_alignment_values *out_values);

/** @brief A record of numbers by step and name: histories of scales, clipping, noise. See lpt_monitor_create(). */
typedef struct lpt_monitor lpt_monitor;

/**
 * @brief Creates an empty monitor.
 * @param context the context.
 * @param out_monitor returned; destroy with lpt_monitor_destroy().
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_create(lpt_context *context, lpt_monitor **out_monitor);

/**
 * @brief Destroys a monitor.
 * @param monitor NULL is allowed.
 */
LPT_API void lpt_monitor_destroy(lpt_monitor *monitor);

/**
 * @brief Records one number.
 * @param context the context.
 * @param monitor the monitor.
 * @param step when, as the caller counts.
 * @param name what; not empty; copied.
 * @param value the number.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_record(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                      double value);

/**
 * @brief Records the amax that a layer's three scalers know: name/input/amax, name/weight/amax, name/gradient/amax. Of a
 *        watched layer (lpt_linear_watch()) also what each cast that ran did since, as lpt_monitor_record_statistics():
 *        name/forward_input/clipped and so on; casts are forward_input, forward_weight, dgrad_gradient, dgrad_weight,
 *        wgrad_gradient, wgrad_input.
 * @param context the context.
 * @param monitor the monitor.
 * @param step when, as the caller counts.
 * @param name of the layer.
 * @param linear the layer.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_record_linear(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                             const lpt_linear *linear);

/**
 * @brief Records what casts did: name/amax, the shares name/clipped, name/underflow and name/nan of all elements, and
 *        name/relative_error, the squared error over the sum of squares.
 * @param context the context.
 * @param monitor the monitor.
 * @param step when, as the caller counts.
 * @param name of the casts.
 * @param statistics what the casts were given.
 * @return LPT_OK; LPT_INVALID_ARGUMENT; LPT_OUT_OF_MEMORY.
 */
LPT_API lpt_status lpt_monitor_record_statistics(lpt_context *context, lpt_monitor *monitor, int64_t step,
                                                 const char *name, const lpt_statistics *statistics);

/**
 * @brief Counts the numbers recorded.
 * @param context the context.
 * @param monitor the monitor.
 * @param out_count returned.
 * @return LPT_OK; LPT_INVALID_ARGUMENT.
 */
LPT_API lpt_status lpt_monitor_count(lpt_context *context, const lpt_monitor *monitor, int64_t *out_count);

/**
 * @brief Writes all numbers as CSV (RFC 4180): a header step,name,value, then a line for each, in the order of recording.
 * @param context the context.
 * @param monitor the monitor.
 * @param path the file; what was there is replaced.
 * @return LPT_OK; LPT_INVALID_ARGUMENT when the file cannot be written.
 */
LPT_API lpt_status lpt_monitor_save(lpt_context *context, const lpt_monitor *monitor, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* LPT_H */
