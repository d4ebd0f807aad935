// What is done on a device before and after a library's product, and the tables. Whole products are in cuda_products.hpp.
#pragma once

#include <span>

#include "kernels/common/device_kernel_entry.hpp"
#include "kernels/gemm/library.hpp"

namespace lpt {

void gemm_conversion_cuda(const OperandConversionRequest &request, void *stream);
void gemm_scales_cuda(const LibraryScalesRequest &request, void *stream);
void gemm_factors_cuda(const GemmFactorsRequest &request, void *stream);
void gemm_finish_cuda(const GemmEpilogueRequest &request, void *stream);

std::span<const DeviceKernelEntry<OperandConversionRequest>> operand_conversion_device_kernels();
std::span<const DeviceKernelEntry<LibraryScalesRequest>> library_scales_device_kernels();
std::span<const DeviceKernelEntry<GemmFactorsRequest>> gemm_factors_device_kernels();
std::span<const DeviceKernelEntry<GemmEpilogueRequest>> gemm_epilogue_device_kernels();

}  // namespace lpt
