// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/reduce/reduce.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

constexpr int32_t kMostDeviceSources = 32;  // and targets: their addresses are sent with the launch

// Sources of f32, bf16 and f16. The lists of addresses are the host's; what they point to is the device's.
void reduce_cuda(const ReduceRequest &request, void *stream);

std::span<const KernelEntry<ReduceRequest>> reduce_device_kernels();

}  // namespace lpt
