#include <cstdio>

#include "src/api/guard.hpp"
#include "src/call/launch.hpp"

using namespace lpt;

lpt_status lpt_context_create(const lpt_context_options *options, lpt_context **out_context) {
  lpt_context_options known = LPT_CONTEXT_OPTIONS_INIT;
  const lpt_status result = guard_optional(nullptr, [&]() -> Status {
    Status status = read_options(options, "options", known);
    if (status.is_ok()) status = check_out(out_context, "out_context");
    if (status.is_ok()) status = create_context(known, out_context);
    // Without a context, the error text is returned in the buffer of the options.
    if (!status.is_ok() && known.error_text != nullptr && known.error_text_bytes > 0) {
      std::snprintf(known.error_text, known.error_text_bytes, "%s", status.message().c_str());
    }
    return status;
  });
  if (result == LPT_OUT_OF_MEMORY && known.error_text != nullptr && known.error_text_bytes > 0) {
    std::snprintf(known.error_text, known.error_text_bytes, "out of memory");
  }
  return result;
}

void lpt_context_destroy(lpt_context *context) { destroy(context, HandleKind::kContext); }

const char *lpt_context_error(const lpt_context *context) {
  if (context == nullptr || context->kind != HandleKind::kContext) return "context is NULL or not a live context";
  if (context->in_use.load(std::memory_order_acquire)) return lpt_status_string(LPT_BUSY);
  return context->error.c_str();
}

const char *lpt_context_explanation(const lpt_context *context) {
  if (context == nullptr || context->kind != HandleKind::kContext) return "";
  const ContextUse use(*context);
  if (!use.is_granted()) return "";
  // The text is a cache, so the cast does not change the observable state of the context.
  auto *self = const_cast<lpt_context *>(context);
  const lpt_status status = guard_optional(nullptr, [&]() -> Status {
    self->explanation = choices_text(*context);
    return {};
  });
  return status == LPT_OK ? self->explanation.c_str() : "";
}

lpt_status lpt_context_set_threads(lpt_context *context, int32_t thread_count) {
  return guard(context, [&](Context &self) { return set_threads(self, thread_count); });
}

lpt_status lpt_context_set_isa(lpt_context *context, lpt_isa isa) {
  return guard(context, [&](Context &self) { return set_isa(self, isa); });
}

lpt_status lpt_context_set_stream(lpt_context *context, void *stream) {
  return guard(context, [&](Context &self) { return set_stream(self, stream); });
}

void *lpt_context_stream(const lpt_context *context) {
  return context == nullptr || context->kind != HandleKind::kContext ? nullptr : context->queue.stream();
}

lpt_status lpt_context_wait_stream(lpt_context *context, void *stream) {
  return guard(context, [&](Context &self) { return wait_stream(self, stream); });
}

lpt_status lpt_context_notify_stream(lpt_context *context, void *stream) {
  return guard(context, [&](Context &self) { return notify_stream(self, stream); });
}

lpt_status lpt_context_wait_event(lpt_context *context, void *event) {
  return guard(context, [&](Context &self) { return wait_event(self, event); });
}

lpt_status lpt_context_record_event(lpt_context *context, void *event) {
  return guard(context, [&](Context &self) { return record_event(self, event); });
}

lpt_status lpt_context_trim(lpt_context *context, size_t keep_bytes) {
  return guard(context, [&](Context &self) -> Status {
    trim_scratch(self, keep_bytes);
    return {};
  });
}

lpt_status lpt_context_synchronize(lpt_context *context) {
  return guard(context, [&](Context &self) { return self.queue.synchronize(); });
}

lpt_status lpt_context_set_progress(lpt_context *context, lpt_progress_function progress, void *progress_user) {
  return guard(context, [&](Context &self) -> Status {
    self.progress = progress;
    self.progress_user = progress_user;
    return {};
  });
}

lpt_status lpt_context_set_log(lpt_context *context, lpt_log_level level, lpt_log_function log, void *log_user) {
  return guard(context, [&](Context &self) -> Status {
    if (level < LPT_LOG_LEVEL_NONE || level > LPT_LOG_LEVEL_DISPATCH) {
      return invalid("level is %d: expected 0 to %d", level, LPT_LOG_LEVEL_DISPATCH);
    }
    self.log_level = level;
    self.log = log;
    self.log_user = log_user;
    return {};
  });
}

lpt_status lpt_context_set_profile(lpt_context *context, int32_t is_enabled) {
  return guard(context, [&](Context &self) -> Status {
    if (is_enabled != 0 && is_enabled != 1) return invalid("is_enabled is %d: expected 0 or 1", is_enabled);
    self.profile.set_enabled(is_enabled != 0);
    return {};
  });
}

lpt_status lpt_context_profile_count(lpt_context *context, int64_t *out_count) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_count, "out_count"));
    *out_count = static_cast<int64_t>(self.profile.entries().size());
    return {};
  });
}

lpt_status lpt_context_profile_entry(lpt_context *context, int64_t index, lpt_profile_entry *out_entry) {
  return guard(context, [&](Context &self) -> Status {
    const std::vector<Profile::Entry> entries = self.profile.sorted();
    if (index < 0 || index >= static_cast<int64_t>(entries.size())) {
      return invalid("index is %lld: expected less than the count, %zu", static_cast<long long>(index), entries.size());
    }
    const Profile::Entry &entry = entries[static_cast<size_t>(index)];
    lpt_profile_entry values = LPT_PROFILE_ENTRY_INIT;
    std::snprintf(values.operation, sizeof values.operation, "%s", entry.operation);
    std::snprintf(values.kernel, sizeof values.kernel, "%s", entry.kernel);
    values.calls = entry.calls;
    values.seconds = entry.seconds;
    values.bytes = entry.bytes;
    values.flops = entry.flops;
    return write_values(values, "out_entry", out_entry);
  });
}

lpt_status lpt_context_profile_save(lpt_context *context, const char *path) {
  return guard(context, [&](Context &self) -> Status {
    if (path == nullptr) return invalid("path is NULL: expected a file name");
    return self.profile.save(path);
  });
}
