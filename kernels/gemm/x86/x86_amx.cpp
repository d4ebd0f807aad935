// GEMM by the matrix unit of x86 CPUs (AMX): every operand that bf16 holds exactly, with sums in f32; int8
// with exact sums in int32.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/amx_gemm.hpp"

namespace lpt {

void gemm_any_x86_amx(const GemmRequest &request) { multiply_by_unit<Bf16Numbers>(request); }

size_t gemm_scratch_x86_amx(const GemmRequest &request) { return unit_blocking<Bf16Numbers>(request).total_bytes; }

void gemm_int8_x86_amx(const GemmRequest &request) { multiply_by_unit<Int8Numbers>(request); }

size_t gemm_scratch_int8_x86_amx(const GemmRequest &request) { return unit_blocking<Int8Numbers>(request).total_bytes; }

}  // namespace lpt
