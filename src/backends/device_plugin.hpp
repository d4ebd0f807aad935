// What a device plugin hands over: its backend, kernels of families, and messages between ranks. It shares structs
// of C++ with the library, so it must be built of the same sources: both carry one build id.
#pragma once

#include "src/backends/backend.hpp"
#include "src/backends/device_transport.hpp"
#include "src/base/status.hpp"

namespace lpt {

// Another number than any of LPT_WIRE_ABI: a plugin of the other kind does not know it.
constexpr uint32_t kDevicePluginAbi = 0x0D02;

// The kernels of one family: an array of KernelEntry (src/base/kernel_entry.hpp) of its request.
struct DeviceFamily {
  const char *name;  // that operations select a kernel by
  const void *entries;
  int32_t entry_count;
  uint32_t entry_bytes;  // of one
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
