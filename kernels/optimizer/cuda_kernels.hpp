// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/optimizer/optimizer.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// States of f32, bf16, e4m3fn, e5m2 and the dynamic trees, parameters of f32 and bf16. `amax` is on the device.
void step_cuda(const StepRequest &request, void *stream);

void norm_cuda(const NormRequest &request, void *stream);

std::span<const KernelEntry<StepRequest>> step_device_kernels();
std::span<const KernelEntry<NormRequest>> norm_device_kernels();

}  // namespace lpt
