// What is done on a device before and after a library's product, and the tables. Whole products are in cuda_products.hpp.
#pragma once

#include <span>

#include "kernels/common/device_row.hpp"
#include "kernels/gemm/library.hpp"

namespace lpt {

void gemm_lift_cuda(const LiftRequest &request, void *stream);
void gemm_scales_cuda(const LibraryScalesRequest &request, void *stream);
void gemm_factors_cuda(const GemmFactorsRequest &request, void *stream);
void gemm_finish_cuda(const GemmFinishRequest &request, void *stream);

std::span<const DeviceRow<LiftRequest>> lift_device_kernels();
std::span<const DeviceRow<LibraryScalesRequest>> library_scales_device_kernels();
std::span<const DeviceRow<GemmFactorsRequest>> gemm_factors_device_kernels();
std::span<const DeviceRow<GemmFinishRequest>> gemm_finish_device_kernels();

}  // namespace lpt
