// 2:4 matrices by expansion and compression of registers (VBMI2).
#include "kernels/sparse_pack/avx512_vnni_pack.hpp"

namespace lpt {

void compress_x86_avx512_vnni(const CompressRequest &request) { compress_codes<PackStep>(request); }

void decompress_x86_avx512_vnni(const DecompressRequest &request) { decompress_codes<PackStep>(request); }

}  // namespace lpt
