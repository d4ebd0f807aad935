// Kernel functions of this family in CUDA files, and their tables.
#pragma once

#include <span>

#include "kernels/sparse_pack/sparse_pack.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Codes of 8, 16 and 32 bits.
void compress_cuda(const CompressRequest &request, void *stream);
void decompress_cuda(const DecompressRequest &request, void *stream);
void nonzero_cuda(const NonzeroRequest &request, void *stream);

std::span<const KernelEntry<CompressRequest>> compress_device_kernels();
std::span<const KernelEntry<DecompressRequest>> decompress_device_kernels();
std::span<const KernelEntry<NonzeroRequest>> nonzero_device_kernels();

}  // namespace lpt
