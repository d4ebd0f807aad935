// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/common/device_kernel_entry.hpp"
#include "kernels/optimizer/optimizer.hpp"

namespace lpt {

// States of f32, bf16, e4m3fn, e5m2 and the dynamic trees, parameters of f32 and bf16. `amax` is on the device.
void step_cuda(const StepRequest &request, void *stream);

void norm_cuda(const NormRequest &request, void *stream);

std::span<const DeviceKernelEntry<StepRequest>> step_device_kernels();
std::span<const DeviceKernelEntry<NormRequest>> norm_device_kernels();

}  // namespace lpt
