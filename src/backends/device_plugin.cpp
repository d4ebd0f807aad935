#include "src/backends/device_plugin.hpp"

#include <cstring>

#include "src/base/plugin.hpp"

namespace lpt {

Status find_device_plugin(const char *file, const DevicePlugin **out_plugin) {
  const std::string path = plugin_path(file);
  void *entry = nullptr;
  LPT_TRY(open_plugin(path, &entry));
  const DevicePlugin *const plugin = reinterpret_cast<DevicePluginEntry>(entry)(kDevicePluginAbi);
  if (plugin == nullptr || plugin->abi != kDevicePluginAbi || plugin->struct_size != sizeof(DevicePlugin)) {
    return plugin_rejected(path, text("it has another interface than %u of this library", kDevicePluginAbi));
  }
  if (std::strcmp(plugin->build_id, build_id()) != 0) {
    return plugin_rejected(
        path, text("it was built as %s, this library as %s: expected both of one build", plugin->build_id, build_id()));
  }
  *out_plugin = plugin;
  return {};
}

}  // namespace lpt
