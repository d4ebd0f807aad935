// The host code and the kernels of the CUDA plugin, on the test runtime.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>

#include "kernels/common/simt.hpp"
#include "src/backends/cuda/cuda_backend.hpp"
#include "src/backends/cuda/nccl_transport.hpp"
#include "src/plugins/cuda_families.hpp"

namespace {

int32_t enter_unlocked(int32_t index, void *stream, int32_t *out_previous, char *error, size_t error_bytes) {
  const int32_t code = lpt::cuda_backend().enter(index, stream, out_previous, error, error_bytes);
  if (code == LPT_OK) unlock_devices();
  return code;
}

int32_t leave_locked(int32_t index, int32_t previous, char *error, size_t error_bytes) {
  lock_devices();
  return lpt::cuda_backend().leave(index, previous, error, error_bytes);
}

// Connects the NCCL stub, which LPT_NCCL names, to this runtime.
int32_t check_and_connect(char *error, size_t error_bytes) {
  const int32_t code = lpt::nccl_wire().check(error, error_bytes);
  if (code != LPT_OK) return code;
  void *const library = dlopen(std::getenv("LPT_NCCL"), RTLD_NOW | RTLD_NOLOAD);
  void *const connect = library == nullptr ? nullptr : dlsym(library, "lpt_test_connect");
  if (connect != nullptr) reinterpret_cast<void (*)(const TestRuntime *)>(connect)(&test_runtime());
  return LPT_OK;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const lpt::DevicePlugin *lpt_plugin_entry(uint32_t abi) {
  static lpt::Backend backend = lpt::cuda_backend();
  lpt::simt::set_queue(queue_kernel);
  backend.enter = enter_unlocked;
  backend.leave = leave_locked;
  setenv("LPT_NCCL", LPT_NCCL_STUB, 0);  // a test may have set another
  static lpt::DeviceTransport wire = lpt::nccl_wire();
  wire.check = check_and_connect;
  static const lpt::DevicePlugin kPlugin = {lpt::kDevicePluginAbi,
                                            sizeof(lpt::DevicePlugin),
                                            lpt::build_id(),
                                            &backend,
                                            lpt::cuda_families().data(),
                                            static_cast<int32_t>(lpt::cuda_families().size()),
                                            0,
                                            &wire};
  return abi == lpt::kDevicePluginAbi ? &kPlugin : nullptr;
}
