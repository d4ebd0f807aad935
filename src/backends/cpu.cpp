// The CPU as a device. All callers can access its memory, and calls return when their work is complete.
#include "src/base/cpu.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/backends/queue.hpp"

namespace lpt {
namespace {

int32_t describe(int32_t, lpt_device_info *out_description, char *, size_t) {
  out_description->count = out_description->is_usable = 1;
  out_description->processor_count = usable_cores();
  out_description->memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::snprintf(out_description->name, sizeof out_description->name, "cpu, %s", feature_names(cpu_features()).c_str());
  return LPT_OK;
}

int32_t fill(int32_t, void *, void *memory, uint8_t value, size_t bytes, char *, size_t) {
  std::memset(memory, value, bytes);
  return LPT_OK;
}

int32_t copy(int32_t, void *, const CopyRequest *request, char *, size_t) {
  for (int64_t r = 0; r < request->rows; ++r) {
    std::memcpy(static_cast<std::byte *>(request->target) + r * request->target_stride,
                static_cast<const std::byte *>(request->source) + r * request->source_stride,
                static_cast<size_t>(request->row_bytes));
  }
  return LPT_OK;
}

int32_t synchronize(int32_t, void *, char *, size_t) { return LPT_OK; }

}  // namespace

const Backend &cpu_backend() {
  static constexpr Backend kCpu = {.describe = describe, .fill = fill, .copy = copy, .synchronize = synchronize};
  return kCpu;
}

}  // namespace lpt
