// Device kernels that run before and after a library GEMM, and their tables. cuda_gemm.hpp has the GEMM kernels of LPT.
#pragma once

#include <span>

#include "kernels/gemm/library.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

void gemm_conversion_cuda(const OperandConversionRequest &request, void *stream);
void gemm_scales_cuda(const LibraryScalesRequest &request, void *stream);
void gemm_factors_cuda(const GemmFactorsRequest &request, void *stream);
void gemm_finish_cuda(const GemmEpilogueRequest &request, void *stream);

std::span<const KernelEntry<OperandConversionRequest>> operand_conversion_device_kernels();
std::span<const KernelEntry<LibraryScalesRequest>> library_scales_device_kernels();
std::span<const KernelEntry<GemmFactorsRequest>> gemm_factors_device_kernels();
std::span<const KernelEntry<GemmEpilogueRequest>> gemm_epilogue_device_kernels();

}  // namespace lpt
