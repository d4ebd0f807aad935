// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/common/device_row.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {

// Groups of 4 and 8 along the row, every rule.
void sparse_mask_cuda(const SparseMaskRequest &request, void *stream);

std::span<const DeviceRow<SparseMaskRequest>> sparse_mask_device_kernels();

}  // namespace lpt
