// A row that runs on a device: as Row (src/base/row.hpp), on a stream. Pointers of the request are the device's.
#pragma once

#include <cstdint>

namespace lpt {

template <typename Request>
struct DeviceRow {
  const char *name;
  int32_t least_capability;                 // 10 · major + minor of the device: 80, 89, 90
  const char *(*refuses)(const Request &);  // a phrase, or nullptr: it will run. Looks at no device memory
  void (*run)(const Request &, void *stream);
};

}  // namespace lpt
