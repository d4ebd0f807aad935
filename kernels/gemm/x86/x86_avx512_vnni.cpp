// GEMM of integers by int8 dot products, exact sums in int32: of whole rows of int8 in any layout
// (avx512_vnni_bytes.hpp), of small integers with scales for groups of k (avx512_vnni_groups.hpp); and of few rows by 2:4
// matrices (avx512_vnni_sparse.hpp).
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_vnni_bytes.hpp"
#include "kernels/gemm/x86/avx512_vnni_groups.hpp"
#include "kernels/gemm/x86/avx512_vnni_sparse.hpp"

namespace lpt {

void gemm_int8_x86_avx512_vnni(const GemmRequest &request) { multiply<Int8>(request); }

size_t gemm_scratch_int8_x86_avx512_vnni(const GemmRequest &request) { return blocking_of<Int8>(request).total_bytes; }

void gemm_groups_x86_avx512_vnni(const GemmRequest &request) { multiply_groups(request); }

size_t gemm_scratch_groups_x86_avx512_vnni(const GemmRequest &request) {
  return group_blocking_of(request).total_bytes;
}

void gemm_sparse_int8_x86_avx512_vnni(const GemmRequest &request) { multiply_sparse<SparseInt8>(request); }

size_t gemm_scratch_sparse_int8_x86_avx512_vnni(const GemmRequest &request) {
  return sparse_scratch<SparseInt8>(request);
}

}  // namespace lpt
