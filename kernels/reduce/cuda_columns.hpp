// A kernel that exists only for devices: it copies a matrix, multiplied by a factor, to another format. Slices of
// tensor-parallel ranks are contiguous while they are sent. On a device, one kernel copies and casts them.
#pragma once

#include <span>

#include "kernels/reduce/reduce.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// target(r, c) = factor · source(r, c), with the bits of a ReduceRequest with one source per row. The target may be the source
// if their formats are equal.
struct ColumnsRequest {
  MatrixView source, target;  // f32, bf16 or f16
  double factor;
};

void columns_cuda(const ColumnsRequest &request, void *stream);

std::span<const KernelEntry<ColumnsRequest>> columns_device_kernels();

}  // namespace lpt
