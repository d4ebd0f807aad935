// Declarations of the CUDA kernels of this family, and their tables.
#pragma once

#include <span>

#include "kernels/reduce/reduce.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

constexpr int32_t kMostDeviceSources = 32;  // and targets: their addresses are kernel arguments

// Sources are f32, bf16 or f16. The arrays of addresses are in host memory; the addresses are device addresses.
void reduce_cuda(const ReduceRequest &request, void *stream);

std::span<const KernelEntry<ReduceRequest>> reduce_device_kernels();

}  // namespace lpt
