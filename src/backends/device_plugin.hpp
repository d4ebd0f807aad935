// What a device plugin hands over: its backend, rows for the families of kernels, and messages between ranks. It shares structs
// of C++ with the library, so it must be built of the same sources: both carry one build id.
#pragma once

#include "src/backends/backend.hpp"
#include "src/backends/device_transport.hpp"
#include "src/base/status.hpp"

namespace lpt {

// Another number than any of LPT_WIRE_ABI: a plugin of the other kind does not know it.
constexpr uint32_t kDevicePluginAbi = 0x0D01;

// The rows of one family: an array of DeviceKernelEntry (kernels/common/device_kernel_entry.hpp) of its request.
struct DeviceFamily {
  const char *name;  // as the operation calls it that looks for a row
  const void *rows;
  int32_t row_count;
  uint32_t row_bytes;
};

struct DevicePlugin {
  uint32_t abi;          // kDevicePluginAbi
  uint32_t struct_size;  // of the plugin's struct
  const char *build_id;
  const Backend *backend;
  const DeviceFamily *families;
  int32_t family_count;
  int32_t reserved;
  const DeviceTransport *wire;
};

// The one symbol of a plugin, lpt_plugin_entry; NULL where it does not know this abi.
using DevicePluginEntry = const DevicePlugin *(*)(uint32_t abi);

// The build id of what is linked here: of the headers that library and plugins share.
const char *build_id();

// The plugin of a file's name. The system opens a library once, however often it is requested.
Status find_device_plugin(const char *file, const DevicePlugin **out_plugin);

}  // namespace lpt
