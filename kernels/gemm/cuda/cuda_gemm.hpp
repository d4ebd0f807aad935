// GEMM kernels of LPT on a device, and their table. They have priority over the GEMMs of a library.
#pragma once

#include <span>

#include "kernels/gemm/gemm.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// At most 16 rows of a, by int4 or by e2m1fn with block scales, stored as n × k.
void gemm_few_rows_int4_cuda(const GemmRequest &request, void *stream);
void gemm_few_rows_fp4_cuda(const GemmRequest &request, void *stream);

// e4m3fn by int4 with scales of 1 × 128, on compute capability 9.0 only. The scratch is that of gemm_tiles_scratch_bytes().
void gemm_warpgroups_int4_cuda(const GemmRequest &request, void *stream);

// More than 16 rows of a, by the same formats of b. If k is split into parts, the scratch holds their sums.
void gemm_tiles_int4_cuda(const GemmRequest &request, void *stream);
void gemm_tiles_fp4_cuda(const GemmRequest &request, void *stream);
size_t gemm_tiles_scratch_bytes(const GemmRequest &request);

std::span<const KernelEntry<GemmRequest>> gemm_device_kernels();

}  // namespace lpt
