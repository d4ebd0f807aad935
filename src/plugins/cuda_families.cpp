#include "src/plugins/cuda_families.hpp"

#include "kernels/quantize/cuda_rows.hpp"
#include "kernels/quantize/cuda_scale.hpp"

namespace lpt {
namespace {

template <typename Request>
DeviceFamily family(const char *name, std::span<const DeviceRow<Request>> rows) {
  return {name, rows.data(), static_cast<int32_t>(rows.size()), sizeof(DeviceRow<Request>)};
}

}  // namespace

std::span<const DeviceFamily> cuda_families() {
  static const DeviceFamily kFamilies[] = {
      family("amax", amax_device_kernels()),
      family("tensor_scale", tensor_scale_device_kernels()),
      family("quantize", quantize_device_kernels()),
      family("dequantize", dequantize_device_kernels()),
  };
  return kFamilies;
}

}  // namespace lpt
