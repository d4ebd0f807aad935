// What src/plugins/cublas_lt.hpp says of cuBLASLt is what its header says.
#include <cublasLt.h>

#include "src/plugins/cublas_lt.hpp"

namespace lpt::cublas {

static_assert(kSuccess == CUBLAS_STATUS_SUCCESS && kNotInitialized == CUBLAS_STATUS_NOT_INITIALIZED);
static_assert(kInvalidValue == CUBLAS_STATUS_INVALID_VALUE && kNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(kF32 == CUDA_R_32F && kF16 == CUDA_R_16F && kBf16 == CUDA_R_16BF);
static_assert(kInt8 == CUDA_R_8I && kInt32 == CUDA_R_32I);
static_assert(kE4m3fn == CUDA_R_8F_E4M3 && kE5m2 == CUDA_R_8F_E5M2 && kE2m1fn == CUDA_R_4F_E2M1);
static_assert(kComputeF32 == CUBLAS_COMPUTE_32F && kComputeInt32 == CUBLAS_COMPUTE_32I);
static_assert(kAsStored == CUBLAS_OP_N && kTransposed == CUBLAS_OP_T);
static_assert(kNoEpilogue == CUBLASLT_EPILOGUE_DEFAULT && kBiasEpilogue == CUBLASLT_EPILOGUE_BIAS);
static_assert(kScalar == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
static_assert(kVector16 == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
static_assert(kVector32 == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
static_assert(kOuterVector == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
static_assert(kVector128 == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F);
static_assert(kBlock128 == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
static_assert(kPointerMode == CUBLASLT_MATMUL_DESC_POINTER_MODE && kOnDevice == CUBLASLT_POINTER_MODE_DEVICE);
static_assert(kOnHost == CUBLASLT_POINTER_MODE_HOST);
static_assert(kOperationA == CUBLASLT_MATMUL_DESC_TRANSA && kOperationB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(kEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE && kBiasAddress == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(kScalesAddressA == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
static_assert(kScalesAddressB == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
static_assert(kBiasType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(kScaleModeA == CUBLASLT_MATMUL_DESC_A_SCALE_MODE && kScaleModeB == CUBLASLT_MATMUL_DESC_B_SCALE_MODE);
static_assert(kMostWorkspaceBytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kBoundaryA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(kBoundaryB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(kBoundaryC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(kBoundaryD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Found) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Found, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Found, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

}  // namespace lpt::cublas
