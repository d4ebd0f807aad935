// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// One scale, or blocks along the row; sources with adjacent columns.
void quantize_fragments_cuda(const QuantizeRequest &request, void *stream);
// One scale for each row.
void quantize_lines_cuda(const QuantizeRequest &request, void *stream);
// Blocks of 128 × 128.
void quantize_tiles_cuda(const QuantizeRequest &request, void *stream);
// Blocks of 16 × 16 with scales of e4m3fn.
void quantize_squares_cuda(const QuantizeRequest &request, void *stream);
// One scale; sources with adjacent rows.
void quantize_transposed_cuda(const QuantizeRequest &request, void *stream);
// bf16 and f16, to nearest even.
void quantize_wide_cuda(const QuantizeRequest &request, void *stream);
// Any format, any strides: for what the others do not take.
void quantize_any_cuda(const QuantizeRequest &request, void *stream);
void amax_cuda(const AmaxRequest &request, void *stream);
void dequantize_fragments_cuda(const DequantizeRequest &request, void *stream);
void dequantize_any_cuda(const DequantizeRequest &request, void *stream);
// Codes of 8, 16 and 32 bits.
void transpose_cuda(const TransposeRequest &request, void *stream);

std::span<const KernelEntry<AmaxRequest>> amax_device_kernels();
std::span<const KernelEntry<QuantizeRequest>> quantize_device_kernels();
std::span<const KernelEntry<DequantizeRequest>> dequantize_device_kernels();
std::span<const KernelEntry<TransposeRequest>> transpose_device_kernels();

}  // namespace lpt
