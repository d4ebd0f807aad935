// 2:4 matrices of whole bytes by expansion and compression of registers (VBMI2).
#include "kernels/sparse_pack/avx512_vnni_pack.hpp"
#include "kernels/sparse_pack/rows.hpp"

namespace lpt {

void compress_bytes_x86_avx512_vnni(const CompressRequest &request) {
  switch (packing_of(request.source.format.element).bytes) {
    case 1:
      return compress_rows<Bytes1>(request);
    case 2:
      return compress_rows<Bytes2>(request);
    default:
      return compress_rows<Bytes4>(request);
  }
}

void decompress_bytes_x86_avx512_vnni(const DecompressRequest &request) {
  switch (packing_of(request.target.format.element).bytes) {
    case 1:
      return decompress_rows<Bytes1>(request);
    case 2:
      return decompress_rows<Bytes2>(request);
    default:
      return decompress_rows<Bytes4>(request);
  }
}

}  // namespace lpt
