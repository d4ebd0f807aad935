// The kernels of a family are a table in order of preference; the reference kernel is the last entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/cpu.hpp"

namespace lpt {

// What a kernel needs of the machine.
struct Requirements {
  lpt_device kind;
  CpuFeatures cpu;
  int32_t min_capability, max_capability;  // of a GPU: 10 · major + minor, such as 90; 0: no limit
};

// A kernel runs on the CPU or is queued on a stream of a device. There, pointers of the request are device pointers.
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
  UnsupportedReason
      unsupported_reason;      // a static text, or nullptr; itself nullptr: there is none. Reads no device memory
  Run run = nullptr;           // of the CPU
  Queue queue = nullptr;       // of a device
  ScratchBytes scratch_bytes;  // of the request's scratch; nullptr: none
};

}  // namespace lpt
