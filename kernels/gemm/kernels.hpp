// Declarations of the CPU kernels of the GEMM family and of their scratch sizes.
#pragma once

#include "kernels/gemm/gemm.hpp"

namespace lpt {

void gemm_any_ref(const GemmRequest &request);
size_t gemm_scratch_ref(const GemmRequest &request);
void gemm_l_mul_ref(const GemmRequest &request);
size_t gemm_scratch_l_mul_ref(const GemmRequest &request);
void gemm_piecewise_affine_ref(const GemmRequest &request);
size_t gemm_scratch_piecewise_affine_ref(const GemmRequest &request);
void gemm_shift_ref(const GemmRequest &request);
size_t gemm_scratch_shift_ref(const GemmRequest &request);
void gemm_tensor_core_ref(const GemmRequest &request);
size_t gemm_scratch_tensor_core_ref(const GemmRequest &request);
void gemm_any_x86_avx2(const GemmRequest &request);
size_t gemm_scratch_x86_avx2(const GemmRequest &request);
void gemm_rows_x86_avx2(const GemmRequest &request);
size_t gemm_scratch_rows_x86_avx2(const GemmRequest &request);
void gemm_groups_x86_avx2(const GemmRequest &request);
size_t gemm_scratch_groups_x86_avx2(const GemmRequest &request);
void gemm_any_x86_avx512(const GemmRequest &request);
size_t gemm_scratch_x86_avx512(const GemmRequest &request);
void gemm_int8_x86_avx512_vnni(const GemmRequest &request);
size_t gemm_scratch_int8_x86_avx512_vnni(const GemmRequest &request);
void gemm_groups_x86_avx512_vnni(const GemmRequest &request);
size_t gemm_scratch_groups_x86_avx512_vnni(const GemmRequest &request);
void gemm_sparse_int8_x86_avx512_vnni(const GemmRequest &request);
size_t gemm_scratch_sparse_int8_x86_avx512_vnni(const GemmRequest &request);
void gemm_sparse_floats_x86_avx512(const GemmRequest &request);
size_t gemm_scratch_sparse_floats_x86_avx512(const GemmRequest &request);
void gemm_sparse_int8_x86_avx2(const GemmRequest &request);
size_t gemm_scratch_sparse_int8_x86_avx2(const GemmRequest &request);
void gemm_sparse_floats_x86_avx2(const GemmRequest &request);
size_t gemm_scratch_sparse_floats_x86_avx2(const GemmRequest &request);
void gemm_sparse_any_ref(const GemmRequest &request);
size_t gemm_scratch_sparse_ref(const GemmRequest &request);
void gemm_any_x86_avx512_bf16(const GemmRequest &request);
size_t gemm_scratch_x86_avx512_bf16(const GemmRequest &request);
void gemm_panels_x86_avx512_bf16(const GemmRequest &request);
size_t gemm_scratch_panels_x86_avx512_bf16(const GemmRequest &request);
void gemm_any_x86_amx(const GemmRequest &request);
size_t gemm_scratch_x86_amx(const GemmRequest &request);
void gemm_int8_x86_amx(const GemmRequest &request);
size_t gemm_scratch_int8_x86_amx(const GemmRequest &request);
void gemm_groups_x86_amx(const GemmRequest &request);
size_t gemm_scratch_groups_x86_amx(const GemmRequest &request);
void gemm_any_arm_neon(const GemmRequest &request);
size_t gemm_scratch_arm_neon(const GemmRequest &request);

}  // namespace lpt
