// 2:4 matrices, and which numbers are not zero, with AVX2.
#include "kernels/sparse_pack/avx2_nonzero.hpp"
#include "kernels/sparse_pack/avx2_pack.hpp"

namespace lpt {

void compress_x86_avx2(const CompressRequest &request) { compress_codes<PackStep>(request); }

void decompress_x86_avx2(const DecompressRequest &request) { decompress_codes<PackStep>(request); }

void nonzero_x86_avx2(const NonzeroRequest &request) { nonzero_codes<NonzeroStep>(request); }

}  // namespace lpt
