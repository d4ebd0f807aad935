// Entry point of liblpt_cuda.so.
#include "src/backends/cuda/cuda_backend.hpp"
#include "src/backends/cuda/nccl_transport.hpp"
#include "src/plugins/cuda_families.hpp"

using namespace lpt;

extern "C" __attribute__((visibility("default"))) const DevicePlugin *lpt_plugin_entry(uint32_t abi) {
  static const DevicePlugin kPlugin = {kDevicePluginAbi,
                                       sizeof(DevicePlugin),
                                       build_id(),
                                       &cuda_backend(),
                                       cuda_families().data(),
                                       static_cast<int32_t>(cuda_families().size()),
                                       0,
                                       &nccl_wire()};
  return abi == kDevicePluginAbi ? &kPlugin : nullptr;
}
