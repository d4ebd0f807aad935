// What only devices have of this family: columns of a matrix brought elsewhere, times a factor and in another format. What
// tensor-parallel ranks share is side by side while it is sent; on a device that is one walk with the cast that it needs.
#pragma once

#include <span>

#include "kernels/reduce/reduce.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// target(r, c) = factor · source(r, c): a ReduceRequest of one source for each row, with its bits. The target may be the
// source, in the same format.
struct ColumnsRequest {
  MatrixView source, target;  // f32, bf16 or f16
  double factor;
};

void columns_cuda(const ColumnsRequest &request, void *stream);

std::span<const KernelEntry<ColumnsRequest>> columns_device_kernels();

}  // namespace lpt
