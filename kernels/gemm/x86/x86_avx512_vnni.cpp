// GEMM of int8 by int8 dot products with exact sums in int32, for operands of any layout without scales along k.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_vnni_bytes.hpp"

namespace lpt {

void gemm_int8_x86_avx512_vnni(const GemmRequest &request) { multiply<Int8>(request); }

size_t gemm_scratch_int8_x86_avx512_vnni(const GemmRequest &request) { return scratch_bytes_of<Int8>(request); }

}  // namespace lpt
