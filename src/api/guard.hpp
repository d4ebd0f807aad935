// The boundary of the C API: checks handles and options, and converts errors to status codes and texts. No exception leaves
// it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <typeinfo>

#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Marks a context as in use for one call. A concurrent call from another thread or from a callback is not granted.
class ContextUse {
 public:
  explicit ContextUse(const lpt_context &context)
      : in_use_(context.in_use), is_granted_(!in_use_.exchange(true, std::memory_order_acquire)) {}
  ~ContextUse() {
    if (is_granted_) in_use_.store(false, std::memory_order_release);
  }
  ContextUse(const ContextUse &) = delete;
  ContextUse &operator=(const ContextUse &) = delete;

  bool is_granted() const { return is_granted_; }

 private:
  std::atomic<bool> &in_use_;
  const bool is_granted_;
};

// Runs body(context) and stores its error text in the context. Other code catches exceptions only in communication between
// ranks and in threads of the library.
template <typename Body>
lpt_status guard(lpt_context *context, Body &&body) noexcept {
  if (context == nullptr || context->kind != HandleKind::kContext) return LPT_INVALID_ARGUMENT;
  const ContextUse use(*context);
  if (!use.is_granted()) return LPT_BUSY;
  try {
    context->error.clear();
    context->choices.clear();
    context->host_scratch->reset();
    if (context->scratch != context->host_scratch.get()) context->scratch->reset();
    const Status status = body(*context);
    context->error = status.message();
    return status.code();
  } catch (const std::bad_alloc &) {
    // The texts fit in the inline storage of the string, so assign() does not throw.
    context->error.assign("out of memory");
    return LPT_OUT_OF_MEMORY;
  } catch (...) {
    context->error.assign("internal error");
    return LPT_INTERNAL;
  }
}

// guard() for functions that need no context. Without a context, no error text is stored.
template <typename Body>
lpt_status guard_optional(lpt_context *context, Body &&body) noexcept {
  if (context != nullptr) return guard(context, [&](Context &) { return body(); });
  try {
    return body().code();
  } catch (const std::bad_alloc &) {
    return LPT_OUT_OF_MEMORY;
  } catch (...) {
    return LPT_INTERNAL;
  }
}

// Limit of struct_size in all releases; a larger value is invalid.
constexpr size_t kMostStructBytes = size_t{1} << 16;

// The initializer of the struct lpt_gemm_options is LPT_GEMM_OPTIONS_INIT. Type names of the Itanium ABI begin with a length.
inline Status invalid_struct_size(const char *name, size_t size, size_t expected, const std::type_info &type) {
  const std::string_view mangled = type.name();
  std::string macro(mangled.substr(mangled.find_first_not_of("0123456789")));
  std::transform(macro.begin(), macro.end(), macro.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return invalid(
      "%s->struct_size is %zu: expected the size of the struct, %zu in this release: initialize it with %s_INIT", name,
      size, expected, macro.c_str());
}

// Copies the members that both versions of a struct have to `known`. If `given` is NULL, `known` keeps its defaults.
template <typename Options>
Status read_options(const Options *given, const char *name, Options &known) {
  if (given == nullptr) return {};
  const size_t size = given->struct_size;
  if (size < sizeof(size_t) || size > kMostStructBytes) {
    return invalid_struct_size(name, size, sizeof(Options), typeid(Options));
  }
  std::memcpy(static_cast<void *>(&known), given, std::min(size, sizeof(Options)));
  known.struct_size = sizeof(Options);
  if (size > sizeof(Options)) {
    const auto *tail = reinterpret_cast<const unsigned char *>(given) + sizeof(Options);
    if (std::any_of(tail, tail + (size - sizeof(Options)), [](unsigned char byte) { return byte != 0; })) {
      return unsupported("%s sets a member that this release of the library does not know", name);
    }
  }
  return {};
}

// Checks an output struct before the operation runs.
template <typename Values>
Status check_values(const Values *out_info, const char *name) {
  if (out_info == nullptr) return invalid("%s is NULL: expected memory for the result", name);
  const size_t size = out_info->struct_size;
  if (size < sizeof(size_t) || size > kMostStructBytes) {
    return invalid_struct_size(name, size, sizeof(Values), typeid(Values));
  }
  return {};
}

// Writes an output struct, truncated to the size of the caller's struct.
template <typename Values>
Status write_values(const Values &values, const char *name, Values *out_info) {
  LPT_TRY(check_values(out_info, name));
  const size_t size = out_info->struct_size;
  std::memcpy(static_cast<void *>(out_info), &values, std::min(size, sizeof(Values)));
  out_info->struct_size = size;
  return {};
}

// Writes the defaults of a struct, truncated to the size of the caller's struct.
template <typename Options>
void write_defaults(Options *options, size_t struct_size, const Options &defaults) {
  if (options == nullptr || struct_size < sizeof(size_t)) return;
  std::memcpy(static_cast<void *>(options), &defaults, std::min(struct_size, sizeof(Options)));
  if (struct_size > sizeof(Options)) {
    std::memset(reinterpret_cast<unsigned char *>(options) + sizeof(Options), 0, struct_size - sizeof(Options));
  }
  std::memcpy(static_cast<void *>(options), &struct_size, sizeof struct_size);
}

template <typename Handle>
Status check_handle(const Handle *handle, HandleKind kind, const char *name) {
  if (handle == nullptr) return invalid("%s is NULL: expected a handle", name);
  if (handle->kind != kind) return invalid("%s is not a live handle of its kind", name);
  return {};
}

// Rejects read-only outputs. The operation checks for NULL and destroyed handles.
inline Status check_writable(const lpt_tensor *tensor, const char *name) {
  if (tensor == nullptr || tensor->kind != HandleKind::kTensor || !tensor->is_read_only) return {};
  return invalid("%s is read-only: expected a tensor whose memory may be written", name);
}

inline Status check_writable(const lpt_tensor *const *tensors, int64_t count, const char *name) {
  for (int64_t i = 0; tensors != nullptr && i < count; ++i) {
    LPT_TRY(check_writable(tensors[i], text("%s[%lld]", name, static_cast<long long>(i)).c_str()));
  }
  return {};
}

inline Status check_out(const void *out, const char *name) {
  return out != nullptr ? Status() : invalid("%s is NULL: expected memory for the result", name);
}

// Destroys a handle. The kind is cleared, so that a second call is ignored.
template <typename Handle>
void destroy(Handle *handle, HandleKind kind) {
  if (handle == nullptr || handle->kind != kind) return;
  handle->kind = HandleKind{};
  delete handle;
}

}  // namespace lpt
