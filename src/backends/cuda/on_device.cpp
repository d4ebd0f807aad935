#include "src/backends/cuda/on_device.hpp"

#include <array>
#include <atomic>

namespace lpt {
namespace {

using DriverContext = struct CUctx_st *;
using DriverStatus = int;  // CUresult, whose values equal those of cudaError_t

struct Driver {
  DriverStatus (*init)(unsigned flags);
  DriverStatus (*retain_primary)(DriverContext *out_context, int device);
  DriverStatus (*get_current)(DriverContext *out_context);
  DriverStatus (*push_current)(DriverContext context);
  DriverStatus (*pop_current)(DriverContext *out_context);
  cudaError_t error = cudaSuccess;  // reason why functions are missing
};

template <typename Function>
void find(const char *name, Function &out_function, cudaError_t &error) {
  constexpr unsigned kVersion = 12000;  // CUDA version of the function types
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  if (error == cudaSuccess) {
    error = cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
  }
  if (error == cudaSuccess && result != cudaDriverEntryPointSuccess) error = cudaErrorInsufficientDriver;
  out_function = reinterpret_cast<Function>(found);
}

Driver find_driver() {
  Driver driver = {};
  find("cuInit", driver.init, driver.error);
  find("cuDevicePrimaryCtxRetain", driver.retain_primary, driver.error);
  find("cuCtxGetCurrent", driver.get_current, driver.error);
  find("cuCtxPushCurrent", driver.push_current, driver.error);
  find("cuCtxPopCurrent", driver.pop_current, driver.error);
  if (driver.error == cudaSuccess) driver.error = static_cast<cudaError_t>(driver.init(0));
  return driver;
}

const Driver &the_driver() {
  static const Driver kDriver = find_driver();
  return kDriver;
}

// Retained once per process, as the CUDA runtime does, and never released.
cudaError_t find_primary(const Driver &driver, int32_t index, DriverContext &out_context) {
  static std::array<std::atomic<DriverContext>, 64> known;
  const auto at = static_cast<size_t>(index);
  out_context = at < known.size() ? known[at].load(std::memory_order_acquire) : nullptr;
  if (out_context != nullptr) return cudaSuccess;
  const auto error = static_cast<cudaError_t>(driver.retain_primary(&out_context, index));
  if (error == cudaSuccess && at < known.size()) known[at].store(out_context, std::memory_order_release);
  return error;
}

}  // namespace

cudaError_t enter_device(int32_t index, bool &out_is_entered) {
  out_is_entered = false;
  const Driver &driver = the_driver();
  if (driver.error != cudaSuccess) return driver.error;
  DriverContext primary = nullptr, current = nullptr;
  cudaError_t error = find_primary(driver, index, primary);
  if (error == cudaSuccess) error = static_cast<cudaError_t>(driver.get_current(&current));
  if (error != cudaSuccess || current == primary) return error;
  error = static_cast<cudaError_t>(driver.push_current(primary));
  out_is_entered = error == cudaSuccess;
  return error;
}

void leave_device() {
  DriverContext left = nullptr;
  the_driver().pop_current(&left);
}

}  // namespace lpt
