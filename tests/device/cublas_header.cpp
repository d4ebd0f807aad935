// Checks the declarations of src/plugins/cublas_lt.hpp against the header of cuBLASLt.
#include <cublasLt.h>

#include "src/plugins/cublas_lt.hpp"

namespace lpt::cublas {

constexpr bool is_same(int64_t ours, int64_t theirs) { return ours == theirs; }

static_assert(is_same(kSuccess, CUBLAS_STATUS_SUCCESS));
static_assert(is_same(kNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED));
static_assert(is_same(kInvalidValue, CUBLAS_STATUS_INVALID_VALUE));
static_assert(is_same(kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED));
static_assert(is_same(kF32, CUDA_R_32F));
static_assert(is_same(kF16, CUDA_R_16F));
static_assert(is_same(kBf16, CUDA_R_16BF));
static_assert(is_same(kInt8, CUDA_R_8I));
static_assert(is_same(kInt32, CUDA_R_32I));
static_assert(is_same(kE4m3fn, CUDA_R_8F_E4M3));
static_assert(is_same(kE5m2, CUDA_R_8F_E5M2));
static_assert(is_same(kE2m1fn, CUDA_R_4F_E2M1));
static_assert(is_same(kComputeF32, CUBLAS_COMPUTE_32F));
static_assert(is_same(kComputeInt32, CUBLAS_COMPUTE_32I));
static_assert(is_same(kAsStored, CUBLAS_OP_N));
static_assert(is_same(kTransposed, CUBLAS_OP_T));
static_assert(is_same(kNoEpilogue, CUBLASLT_EPILOGUE_DEFAULT));
static_assert(is_same(kBiasEpilogue, CUBLASLT_EPILOGUE_BIAS));
static_assert(is_same(kScalar, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F));
static_assert(is_same(kVector16, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3));
static_assert(is_same(kVector32, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0));
static_assert(is_same(kOuterVector, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F));
static_assert(is_same(kVector128, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F));
static_assert(is_same(kBlock128, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F));
static_assert(is_same(kPointerMode, CUBLASLT_MATMUL_DESC_POINTER_MODE));
static_assert(is_same(kOnDevice, CUBLASLT_POINTER_MODE_DEVICE));
static_assert(is_same(kOnHost, CUBLASLT_POINTER_MODE_HOST));
static_assert(is_same(kOperationA, CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(is_same(kOperationB, CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(is_same(kEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(is_same(kBiasAddress, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(is_same(kScalesAddressA, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
static_assert(is_same(kScalesAddressB, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
static_assert(is_same(kFastAccumulation, CUBLASLT_MATMUL_DESC_FAST_ACCUM));
static_assert(is_same(kBiasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
static_assert(is_same(kScaleModeA, CUBLASLT_MATMUL_DESC_A_SCALE_MODE));
static_assert(is_same(kScaleModeB, CUBLASLT_MATMUL_DESC_B_SCALE_MODE));
static_assert(is_same(kMostWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(is_same(kBoundaryA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
static_assert(is_same(kBoundaryB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
static_assert(is_same(kBoundaryC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
static_assert(is_same(kBoundaryD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Found) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Found, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Found, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

}  // namespace lpt::cublas
