// What the CUDA files of this family offer, and their table.
#pragma once

#include <span>

#include "kernels/transposable_mask/transposable_mask.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// A thread for each tile.
void transposable_mask_2_4_exact_cuda(const TransposableMaskRequest &request, void *stream);
// A warp for each tile, every other N:M and solver.
void transposable_mask_any_cuda(const TransposableMaskRequest &request, void *stream);

std::span<const KernelEntry<TransposableMaskRequest>> transposable_mask_device_kernels();

}  // namespace lpt
