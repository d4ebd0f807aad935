// GEMM by bf16 dot products: every operand that bf16 holds exactly, sums in f32.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_bf16_elements.hpp"
#include "kernels/gemm/x86/avx512_bf16_panels.hpp"

namespace lpt {

void gemm_any_x86_avx512_bf16(const GemmRequest &request) { multiply<Bf16>(request); }

size_t gemm_scratch_x86_avx512_bf16(const GemmRequest &request) { return blocking_of<Bf16>(request).total_bytes; }

void gemm_panels_x86_avx512_bf16(const GemmRequest &request) { multiply_panels(request); }

size_t gemm_scratch_panels_x86_avx512_bf16(const GemmRequest &request) { return panel_blocking(request).total_bytes; }

}  // namespace lpt
