// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/common/device_kernel_entry.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {

// Groups of 4 and 8 along the row, every rule.
void sparse_mask_cuda(const SparseMaskRequest &request, void *stream);
// Groups of any length, by a warp each.
void sparse_mask_any_cuda(const SparseMaskRequest &request, void *stream);
// Adjacent columns.
void mask_apply_cuda(const MaskApplyRequest &request, void *stream);
void mask_decay_cuda(const MaskDecayRequest &request, void *stream);
// Any strides; the sums lie on the device. Drawn groups of 4 and 8.
void sparse_measure_cuda(const SparseMeasureRequest &request, void *stream);

std::span<const DeviceKernelEntry<SparseMaskRequest>> sparse_mask_device_kernels();
std::span<const DeviceKernelEntry<MaskApplyRequest>> mask_apply_device_kernels();
std::span<const DeviceKernelEntry<MaskDecayRequest>> mask_decay_device_kernels();
std::span<const DeviceKernelEntry<SparseMeasureRequest>> sparse_measure_device_kernels();

}  // namespace lpt
