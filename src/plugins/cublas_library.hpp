// cuBLASLt as a library of GEMMs (kernels/gemm/library.hpp).
#pragma once

#include "kernels/gemm/library.hpp"

namespace lpt {

std::span<const GemmLibrary> cublas_libraries();

}  // namespace lpt
