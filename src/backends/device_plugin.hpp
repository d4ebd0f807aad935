// Content of a device plugin: its backend, kernels by family, and the transport between ranks. It shares C++ structs with the
// library, so both must be built from the same sources and contain the same build id.
#pragma once

#include "src/backends/backend.hpp"
#include "src/backends/device_transport.hpp"
#include "src/base/status.hpp"

namespace lpt {

// Differs from all values of LPT_WIRE_ABI, so that a transport plugin rejects it.
constexpr uint32_t kDevicePluginAbi = 0x0D02;

// The kernels of one family: an array of KernelEntry (src/base/kernel_entry.hpp) for its request, or of GemmLibrary.
struct DeviceFamily {
  const char *name;  // the name by which operations select kernels
  const void *entries;
  int32_t entry_count;
  uint32_t entry_bytes;  // of one entry
};

struct DevicePlugin {
  uint32_t abi;          // kDevicePluginAbi
  uint32_t struct_size;  // bytes of the plugin's struct
  const char *build_id;
  const Backend *backend;
  const DeviceFamily *families;
  int32_t family_count;
  int32_t reserved;
  const DeviceTransport *wire;
};

// The only symbol of a plugin, lpt_plugin_entry. Returns NULL if the plugin does not support this abi.
using DevicePluginEntry = const DevicePlugin *(*)(uint32_t abi);

// Returns the build id of the linked code, which identifies the headers that library and plugins share.
const char *build_id();

// Opens the plugin with that file name. The system loads a library once, however often it is requested.
Status find_device_plugin(const char *file, const DevicePlugin **out_plugin);

}  // namespace lpt
