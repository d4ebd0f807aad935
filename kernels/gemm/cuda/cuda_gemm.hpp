// GEMMs by kernels of ours on a device, and their table. They come before those of a library.
#pragma once

#include <span>

#include "kernels/gemm/gemm.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// At most 16 rows of a by int4, or by e2m1fn with block scales, stored n × k.
void gemm_few_rows_int4_cuda(const GemmRequest &request, void *stream);
void gemm_few_rows_fp4_cuda(const GemmRequest &request, void *stream);

// Rows of a of e4m3fn by int4 with scales of 1 × 128, on 9.0 alone. Scratch as below.
void gemm_warpgroups_int4_cuda(const GemmRequest &request, void *stream);

// More rows of a by the same: a of bf16 or f16. Where k is cut in parts their sums lie in scratch.
void gemm_tiles_int4_cuda(const GemmRequest &request, void *stream);
void gemm_tiles_fp4_cuda(const GemmRequest &request, void *stream);
size_t gemm_tiles_scratch_bytes(const GemmRequest &request);

std::span<const KernelEntry<GemmRequest>> gemm_device_kernels();

}  // namespace lpt
