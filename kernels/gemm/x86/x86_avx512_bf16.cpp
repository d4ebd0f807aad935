// GEMM by bf16 dot products with sums in f32, for operands that bf16 represents exactly.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_bf16_elements.hpp"

namespace lpt {

void gemm_any_x86_avx512_bf16(const GemmRequest &request) { multiply<Bf16>(request); }

size_t gemm_scratch_x86_avx512_bf16(const GemmRequest &request) { return scratch_bytes_of<Bf16>(request); }

}  // namespace lpt
