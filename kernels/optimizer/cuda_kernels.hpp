// CUDA kernels of the optimizer family, and their tables.
#pragma once

#include <span>

#include "kernels/optimizer/optimizer.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Supports states of f32, bf16, f16 and bytes (e4m3fn, e4m3, e5m2) with one scale, bytes in blocks of 128, and dynamic trees in
// blocks of 256. Parameters are f32 or bf16. `amax` is in device memory.
void step_cuda(const StepRequest &request, void *stream);

void norm_cuda(const NormRequest &request, void *stream);

std::span<const KernelEntry<StepRequest>> step_device_kernels();
std::span<const KernelEntry<NormRequest>> norm_device_kernels();

}  // namespace lpt
