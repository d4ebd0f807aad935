// Kernel functions of this family in CUDA files, and their table.
#pragma once

#include <span>

#include "kernels/transposable_mask/transposable_mask.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// One thread per tile.
void transposable_mask_2_4_exact_cuda(const TransposableMaskRequest &request, void *stream);
// One warp per tile: all other N:M and solvers.
void transposable_mask_any_cuda(const TransposableMaskRequest &request, void *stream);

std::span<const KernelEntry<TransposableMaskRequest>> transposable_mask_device_kernels();

}  // namespace lpt
