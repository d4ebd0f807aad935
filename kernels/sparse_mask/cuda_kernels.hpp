// Kernel functions of this family in CUDA files, and their tables.
#pragma once

#include <span>

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Groups of 4 and 8 along the row, all rules.
void sparse_mask_cuda(const SparseMaskRequest &request, void *stream);
// Groups of any length, one warp per group.
void sparse_mask_any_cuda(const SparseMaskRequest &request, void *stream);
// Adjacent columns.
void mask_apply_cuda(const MaskApplyRequest &request, void *stream);
void mask_decay_cuda(const MaskDecayRequest &request, void *stream);
// Any strides; the sums are in device memory. Random rules: groups of 4 and 8.
void sparse_measure_cuda(const SparseMeasureRequest &request, void *stream);

std::span<const KernelEntry<SparseMaskRequest>> sparse_mask_device_kernels();
std::span<const KernelEntry<MaskApplyRequest>> mask_apply_device_kernels();
std::span<const KernelEntry<MaskDecayRequest>> mask_decay_device_kernels();
std::span<const KernelEntry<SparseMeasureRequest>> sparse_measure_device_kernels();

}  // namespace lpt
