// CUDA kernels of the cast family, and their tables.
#pragma once

#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Supports one scale or blocks along rows, and sources with adjacent columns.
void quantize_fragments_cuda(const QuantizeRequest &request, void *stream);
// Supports one scale per row.
void quantize_lines_cuda(const QuantizeRequest &request, void *stream);
// Supports blocks of 128 × 128.
void quantize_tiles_cuda(const QuantizeRequest &request, void *stream);
// Supports blocks of 16 × 16 with e4m3fn scales.
void quantize_squares_cuda(const QuantizeRequest &request, void *stream);
// Supports one scale, and sources with adjacent rows.
void quantize_transposed_cuda(const QuantizeRequest &request, void *stream);
// Supports bf16 and f16, rounded to nearest even.
void quantize_wide_cuda(const QuantizeRequest &request, void *stream);
// Supports any format and any strides, for requests that no other kernel supports.
void quantize_any_cuda(const QuantizeRequest &request, void *stream);
void amax_cuda(const AmaxRequest &request, void *stream);
void dequantize_fragments_cuda(const DequantizeRequest &request, void *stream);
void dequantize_any_cuda(const DequantizeRequest &request, void *stream);
// Supports codes of 8, 16 and 32 bits.
void transpose_cuda(const TransposeRequest &request, void *stream);

std::span<const KernelEntry<AmaxRequest>> amax_device_kernels();
std::span<const KernelEntry<QuantizeRequest>> quantize_device_kernels();
std::span<const KernelEntry<DequantizeRequest>> dequantize_device_kernels();
std::span<const KernelEntry<TransposeRequest>> transpose_device_kernels();

}  // namespace lpt
