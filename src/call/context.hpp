// The context of every call, and the tags that distinguish kinds of handles.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lpt.h"
#include "src/backends/queue.hpp"
#include "src/base/machine.hpp"
#include "src/base/memory.hpp"
#include "src/base/parallel.hpp"
#include "src/base/profile.hpp"

namespace lpt {

// First member of every handle. It distinguishes a live handle from a destroyed one and from one of another kind.
enum class HandleKind : uint32_t {
  kContext = 0x4C505401,
  kTensor = 0x4C505402,
  kScaler = 0x4C505403,
  kRecipe = 0x4C505404,
  kLinear = 0x4C505405,
  kOptimizer = 0x4C505406,
  kStatistics = 0x4C505407,
  kGemmPlan = 0x4C505408,
  kMonitor = 0x4C505409,
  kCommGroup = 0x4C50540A,
  kComm = 0x4C50540B,
  kFuture = 0x4C50540C,
  kPartialPlan = 0x4C50540D,
  kGradientBuckets = 0x4C505410,
  kCalibration = 0x4C505411,
  kTopology = 0x4C505412,
  kSchedule = 0x4C505413,
  kAutopilot = 0x4C505414,
  kKvCache = 0x4C505415,
  kLossyLink = 0x4C505416,
  kLossScaler = 0x4C505417
};

class LibrarySession;  // defined in src/gemm/library.hpp

// One step of the selection of a kernel: a kernel that was selected for an operation, or one that was rejected, with the
// reason.
struct Choice {
  const char *operation;  // NULL: the kernel was rejected
  const char *kernel;
  CpuFeatures missing;
  const char *reason;
};

// Memory of casts that later casts have replaced. The casts of the next layer often have its size, and fresh memory causes a
// page fault per page.
struct SpareMemory {
  std::shared_ptr<std::byte> memory;
  size_t bytes;
};

}  // namespace lpt

struct lpt_context {
  lpt::HandleKind kind = lpt::HandleKind::kContext;
  mutable std::atomic<bool> in_use{false};  // by a call; see ContextUse
  lpt_isa isa = LPT_ISA_AUTO;
  lpt::Machine machine;  // for which kernels are selected
  lpt_log_level log_level = LPT_LOG_LEVEL_NONE;
  lpt_log_function log = nullptr;
  void *log_user = nullptr;
  lpt_parallel_for_function parallel_for = nullptr;
  void *parallel_for_user = nullptr;
  int32_t parallel_for_width = 1;
  lpt_progress_function progress = nullptr;
  void *progress_user = nullptr;
  std::shared_ptr<const lpt::Allocator> allocator;
  std::shared_ptr<lpt::ThreadPool> pool;  // shared with contexts created with `threads_of`
  std::unique_ptr<lpt::Arena> host_scratch;
  std::vector<lpt::SpareMemory> spares;                    // of `allocator`, on the CPU
  lpt::Queue queue;                                        // of the device of the context
  lpt::DeviceHooks device_hooks;                           // GPU: the caller's allocator, or none
  std::shared_ptr<const lpt::Allocator> device_allocator;  // GPU: for the current stream; NULL on the CPU
  std::map<void *, lpt::Arena> device_scratch;             // GPU: scratch of kernels, by stream
  lpt::Arena *scratch = nullptr;  // where the context works: host_scratch, or device_scratch of the current stream
  std::shared_ptr<lpt::LibrarySession> gemm_library;         // GPU: set by the first GEMM that requests it
  std::shared_ptr<lpt::LibrarySession> gemm_sparse_library;  // GPU: the same for 2:4 operands
  lpt::Profile profile;
  std::string error;
  std::vector<lpt::Choice> choices;  // of the current or the last call
  std::string explanation;           // text of the choices, made on request
};

namespace lpt {

using Context = lpt_context;

// Returns true if the context works on the CPU.
inline bool is_on_cpu(const Context &context) { return context.machine.kind == LPT_DEVICE_CPU; }

Status create_context(const lpt_context_options &options, Context **out_context);
Status set_isa(Context &context, lpt_isa isa);
Status set_threads(Context &context, int32_t thread_count);

// Sets the device and the stream of the context.
Status open_device(Context &context, const Device &device, void *stream);
Status set_stream(Context &context, void *stream);
Status wait_stream(Context &context, void *stream);
Status notify_stream(Context &context, void *stream);
Status wait_event(Context &context, void *event);
Status record_event(Context &context, void *event);

// Frees spare memory and scratch until at most keep_bytes are left. Scratch of the current stream and of the CPU is freed last.
void trim_scratch(Context &context, size_t keep_bytes);
void log_line(Context &context, lpt_log_level level, const std::string &line);

// Returns "kernel: reason of the rejection".
std::string choice_text(const Choice &choice);

// Returns the selected kernels, one per line. Rejected kernels are indented, in lines after the selected one.
std::string choices_text(const Context &context);

// Returns the number of threads that a loop of this context can use.
int32_t width_of(const Context &context);

// Runs body(i) for all i in [0, count), on the context's threads or by the caller's parallel_for function.
void parallel_for(Context &context, int64_t count, const std::function<void(int64_t)> &body);

}  // namespace lpt
