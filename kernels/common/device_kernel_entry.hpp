// A kernel that runs on a device: as KernelEntry (src/base/kernel_entry.hpp), on a stream. Pointers of the request are device
// pointers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lpt {

template <typename Request>
struct DeviceKernelEntry {
  const char *name;
  int32_t min_capability;                              // 10 · major + minor of the device: 80, 89, 90
  const char *(*unsupported_reason)(const Request &);  // a phrase, or nullptr: it will run. Looks at no device memory
  void (*run)(const Request &, void *stream);
  size_t (*scratch_bytes)(const Request &) = nullptr;  // of the request's own scratch; nullptr: it wants none
  int32_t max_capability = 0;                          // as min_capability; 0: none. What one generation alone has
};

}  // namespace lpt
