#include "src/call/context.hpp"

namespace lpt {
namespace {

Status check_isa(lpt_isa isa) {
  if (isa < LPT_ISA_AUTO || isa > LPT_ISA_X86_AMX) {
    return invalid("isa is %d: expected one of lpt_isa_values, 0 to %d", isa, LPT_ISA_X86_AMX);
  }
  static constexpr CpuFeatures kNeeded[] = {0, 0, kCpuAvx2, kCpuAvx512, kCpuAvx512Bf16, kCpuAmx};
  const CpuFeatures missing = kNeeded[isa] & ~cpu_features();
  if (missing != 0) {
    return unsupported("isa is %d: this CPU lacks %s; it has %s", isa, feature_names(missing).c_str(),
                       feature_names(cpu_features()).c_str());
  }
  return {};
}

Status check_threads(int32_t thread_count) {
  if (thread_count < 0 || thread_count > 4096) {
    return invalid("thread_count is %d: expected 0 to 4096", thread_count);
  }
  return {};
}

// Scratch is stored per stream, since work on one stream does not wait for work on another. With more than 16 streams, scratch
// of the earlier ones is freed, as programs may create streams without limit.
void use_arena_of(Context &context, void *stream) {
  constexpr size_t most = 16;
  if (context.device_scratch.size() >= most && !context.device_scratch.contains(stream)) context.device_scratch.clear();
  context.device_allocator = context.queue.allocator(context.device_hooks, stream);
  context.scratch = &context.device_scratch.try_emplace(stream, context.device_allocator).first->second;
}

Status check_streams(const Context &context) {
  if (!context.queue.device().is_cpu()) return {};
  return unsupported("the context works on the CPU, which has no streams");
}

Status check_event(const Context &context, const void *event) {
  LPT_TRY(check_streams(context));
  return event != nullptr ? Status() : invalid("event is NULL: expected an event of the device");
}

Status check_context_options(const lpt_context_options &options) {
  LPT_TRY(check_threads(options.thread_count));
  LPT_TRY(check_isa(options.isa));
  if (options.log_level < LPT_LOG_LEVEL_NONE || options.log_level > LPT_LOG_LEVEL_DISPATCH) {
    return invalid("log_level is %d: expected 0 to %d", options.log_level, LPT_LOG_LEVEL_DISPATCH);
  }
  if ((options.allocate == nullptr) != (options.release == nullptr)) {
    return invalid("%s is NULL: expected allocate and release together",
                   options.allocate == nullptr ? "allocate" : "release");
  }
  if ((options.device_allocate == nullptr) != (options.device_release == nullptr)) {
    return invalid("%s is NULL: expected device_allocate and device_release together",
                   options.device_allocate == nullptr ? "device_allocate" : "device_release");
  }
  if (options.parallel_for != nullptr && options.parallel_for_width < 1) {
    return invalid("parallel_for_width is %d: expected at least 1", options.parallel_for_width);
  }
  if (options.threads_of != nullptr) {
    if (options.threads_of->kind != HandleKind::kContext) return invalid("threads_of is not a live context");
    if (options.thread_count != 0) {
      return invalid("thread_count is %d: expected 0 next to threads_of", options.thread_count);
    }
  }
  if (options.device != LPT_DEVICE_CPU) return {};
  if (options.stream != nullptr) {
    return unsupported("stream is %p: expected NULL, the CPU has no streams", options.stream);
  }
  if (options.device_allocate != nullptr) {
    return unsupported("device_allocate is set: expected NULL, memory of the CPU comes from allocate");
  }
  return {};
}

}  // namespace

Status open_device(Context &context, const Device &device, void *stream) {
  LPT_TRY(Queue::open(device, context.queue));
  context.machine.kind = device.kind;
  context.machine.capability = context.queue.capability();
  if (device.is_cpu()) return {};
  LPT_TRY(set_stream(context, stream));
  log_line(context, LPT_LOG_LEVEL_INFO, "works on " + device_text(device));
  return {};
}

Status set_stream(Context &context, void *stream) {
  LPT_TRY(check_streams(context));
  use_arena_of(context, stream);
  context.queue.set_stream(stream);
  return {};
}

Status wait_stream(Context &context, void *stream) {
  LPT_TRY(check_streams(context));
  return context.queue.follow_stream(context.queue.stream(), stream);
}

Status notify_stream(Context &context, void *stream) {
  LPT_TRY(check_streams(context));
  return context.queue.follow_stream(stream, context.queue.stream());
}

Status wait_event(Context &context, void *event) {
  LPT_TRY(check_event(context, event));
  return context.queue.follow(event);
}

Status record_event(Context &context, void *event) {
  LPT_TRY(check_event(context, event));
  return context.queue.record(event);
}

void trim_scratch(Context &context, size_t keep_bytes) {
  std::vector<Arena *> arenas;
  for (auto &[stream, arena] : context.device_scratch) {
    if (&arena != context.scratch) arenas.push_back(&arena);
  }
  if (context.scratch != context.host_scratch.get()) arenas.push_back(context.scratch);
  arenas.push_back(context.host_scratch.get());
  size_t bytes = 0;
  for (const Arena *arena : arenas) bytes += arena->bytes();
  size_t spare_bytes = 0;
  for (const SpareMemory &spare : context.spares) spare_bytes += spare.bytes;
  if (bytes + spare_bytes > keep_bytes) {
    context.spares.clear();
  } else {
    bytes += spare_bytes;
  }
  for (Arena *arena : arenas) {
    if (bytes <= keep_bytes) return;
    bytes -= arena->bytes();
    arena->clear();
  }
}

Status create_context(const lpt_context_options &options, Context **out_context) {
  LPT_TRY(check_context_options(options));
  auto context = std::make_unique<Context>();
  context->machine.options = read_kernel_options();
  context->allocator = std::make_shared<const Allocator>(
      options.allocate == nullptr ? default_allocator()
                                  : Allocator{options.allocate, options.release, options.allocator_user, "allocate"});
  context->host_scratch = std::make_unique<Arena>(context->allocator);
  context->scratch = context->host_scratch.get();
  context->log_level = options.log_level;
  context->log = options.log;
  context->log_user = options.log_user;
  context->parallel_for = options.parallel_for;
  context->parallel_for_user = options.parallel_for_user;
  context->parallel_for_width = options.parallel_for_width;
  if (options.threads_of != nullptr) {
    context->pool = options.threads_of->pool;
  } else {
    LPT_TRY(set_threads(*context, options.thread_count));
  }
  LPT_TRY(set_isa(*context, options.isa));
  context->device_hooks = {options.device_allocate, options.device_release, options.device_allocator_user};
  LPT_TRY(open_device(*context, {options.device, options.device_index}, options.stream));
  *out_context = context.release();
  return {};
}

Status set_isa(Context &context, lpt_isa isa) {
  LPT_TRY(check_isa(isa));
  context.isa = isa;
  context.machine.cpu = allowed_features(isa, cpu_features());
  context.machine.options.has_slow_dots = isa == LPT_ISA_AUTO && has_slow_dots();
  log_line(context, LPT_LOG_LEVEL_INFO, "kernels may use " + feature_names(context.machine.cpu));
  return {};
}

Status set_threads(Context &context, int32_t thread_count) {
  LPT_TRY(check_threads(thread_count));
  context.pool = std::make_shared<ThreadPool>(thread_count == 0 ? usable_cores() : thread_count);
  return {};
}

void log_line(Context &context, lpt_log_level level, const std::string &line) {
  if (context.log != nullptr && level <= context.log_level) context.log(context.log_user, level, line.c_str());
}

std::string choice_text(const Choice &choice) {
  return std::string(choice.kernel) + ": " +
         (choice.missing != 0 ? "needs " + feature_names(choice.missing) : std::string(choice.reason));
}

std::string choices_text(const Context &context) {
  std::string result;
  std::string passed;
  for (const Choice &choice : context.choices) {
    if (choice.operation != nullptr) {
      result += std::string(choice.operation) + ": " + choice.kernel + '\n' + passed;
      passed.clear();
      continue;
    }
    passed += "  " + choice_text(choice) + '\n';
  }
  return result + passed;
}

int32_t width_of(const Context &context) {
  return context.parallel_for != nullptr ? context.parallel_for_width : context.pool->thread_count();
}

void parallel_for(Context &context, int64_t count, const std::function<void(int64_t)> &body) {
  const lpt_task_function task = [](void *argument, int64_t index) {
    (*static_cast<const std::function<void(int64_t)> *>(argument))(index);
  };
  void *argument = const_cast<void *>(static_cast<const void *>(&body));
  if (context.parallel_for != nullptr && count > 1) {
    context.parallel_for(context.parallel_for_user, count, task, argument);
  } else {
    context.pool->run(count, task, argument);
  }
}

}  // namespace lpt
