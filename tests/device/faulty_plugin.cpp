// Plugins that do not match this library; LPT_FAULT selects the fault.
#include "src/backends/device_plugin.hpp"

extern "C" __attribute__((visibility("default"))) const lpt::DevicePlugin *lpt_plugin_entry(uint32_t abi) {
  static const lpt::DevicePlugin kOther = {abi,    sizeof(lpt::DevicePlugin), "0.0.0-other", nullptr, nullptr, 0, 0,
                                           nullptr};
  return LPT_FAULT == 1 ? nullptr : &kOther;
}
