// The kernels of a family are a table in order of preference; the reference kernel is the last entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/machine.hpp"

namespace lpt {

// Features of the machine that a kernel requires.
struct Requirements {
  lpt_device kind;
  CpuFeatures cpu;
  int32_t min_capability, max_capability;  // of a GPU: 10 · major + minor, such as 90; 0: no limit
};

// A kernel that runs on the CPU, or is queued on a stream of a device. On a device, pointers of the request are device
// pointers: no other function of the entry reads their memory.
template <typename Request>
struct KernelEntry {
  using UnsupportedReason = const char *(*)(const Request &);
  using Run = void (*)(const Request &);
  using Queue = void (*)(const Request &, void *stream);
  using ScratchBytes = size_t (*)(const Request &);

  constexpr KernelEntry(const char *name, CpuFeatures features, UnsupportedReason unsupported_reason, Run run,
                        ScratchBytes scratch_bytes = nullptr)
      : name(name),
        needs{LPT_DEVICE_CPU, features, 0, 0},
        unsupported_reason(unsupported_reason),
        run(run),
        scratch_bytes(scratch_bytes) {}
  constexpr KernelEntry(const char *name, int32_t min_capability, UnsupportedReason unsupported_reason, Queue queue,
                        ScratchBytes scratch_bytes = nullptr, int32_t max_capability = 0)
      : name(name),
        needs{LPT_DEVICE_CUDA, 0, min_capability, max_capability},
        unsupported_reason(unsupported_reason),
        queue(queue),
        scratch_bytes(scratch_bytes) {}

  const char *name;
  Requirements needs;
  UnsupportedReason unsupported_reason;  // static text; nullptr: supported. Without the function: always supported
  Run run = nullptr;                     // on the CPU
  Queue queue = nullptr;                 // on a device
  ScratchBytes scratch_bytes;            // for the request's scratch; nullptr: none
};

// A family of kernels. Those of the CPU are in the library, those of devices in a plugin, under this name.
template <typename Request>
struct KernelFamily {
  using Builtin = std::span<const KernelEntry<Request>> (*)();

  constexpr KernelFamily(const char *name, Builtin builtin = nullptr) : name(name), builtin(builtin) {}

  const char *name;
  Builtin builtin;  // nullptr: none
};

// The reason why a kernel does not support a request: features that the CPU lacks, or a static text. Empty if it does.
struct Rejection {
  CpuFeatures missing = 0;
  const char *reason = nullptr;

  bool is_none() const { return missing == 0 && reason == nullptr; }
};

template <typename Request>
[[gnu::always_inline]] inline Rejection rejection_of(const KernelEntry<Request> &kernel, const Request &request,
                                                     const Machine &machine) {
  const Requirements &needs = kernel.needs;
  if (needs.kind != machine.kind) return {0, needs.kind == LPT_DEVICE_CPU ? "it runs on the CPU" : "it runs on a GPU"};
  if (const CpuFeatures missing = needs.cpu & ~machine.cpu; missing != 0) return {missing, nullptr};
  if (machine.capability < needs.min_capability) return {0, "the device has an older compute capability"};
  if (needs.max_capability != 0 && machine.capability > needs.max_capability) {
    return {0, "the device has a newer compute capability"};
  }
  return {0, kernel.unsupported_reason == nullptr ? nullptr : kernel.unsupported_reason(request)};
}

// Returns the first kernel except the reference kernel that supports a request on the CPU, or nullptr.
template <typename Request>
const KernelEntry<Request> *find_fast_kernel(std::span<const KernelEntry<Request>> kernels, const Request &request,
                                             const Machine &machine) {
  for (const KernelEntry<Request> &kernel : kernels) {
    if (kernel.needs.cpu != 0 && rejection_of(kernel, request, machine).is_none()) return &kernel;
  }
  return nullptr;
}

}  // namespace lpt
