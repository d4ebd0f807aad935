// GEMM of whole rows of int8 in any layout by int8 dot products, exact sums in int32.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_vnni_bytes.hpp"

namespace lpt {

void gemm_int8_x86_avx512_vnni(const GemmRequest &request) { multiply<Int8>(request); }

size_t gemm_scratch_int8_x86_avx512_vnni(const GemmRequest &request) { return scratch_bytes_of<Int8>(request); }

}  // namespace lpt
