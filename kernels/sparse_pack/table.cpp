// Everything about 2:4 matrices that can run, fastest first, the reference last.
#include "kernels/sparse_pack/rows.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86_AVX512_VNNI)

const char *refuses_elements(const MatrixView &view) {
  const Packing packing = packing_of(view.format.element);
  const bool is_taken = packing.elements == 1 && packing.bytes <= 4;
  return is_taken ? nullptr : "elements are not of 1, 2 or 4 bytes";
}

const char *refuses_compress(const CompressRequest &request) {
  if (const char *reason = refuses_elements(request.source)) return reason;
  return request.mask.column_stride == 1 ? nullptr : "columns of mask are not adjacent";
}

const char *refuses_decompress(const DecompressRequest &request) { return refuses_elements(request.target); }

#endif

constexpr Row<CompressRequest> kCompressRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"compress_bytes_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, refuses_compress, compress_bytes_x86_avx512_vnni},
#endif
    {"compress_any_ref", 0, nullptr, compress_any_ref},
};

constexpr Row<DecompressRequest> kDecompressRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"decompress_bytes_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, refuses_decompress,
     decompress_bytes_x86_avx512_vnni},
#endif
    {"decompress_any_ref", 0, nullptr, decompress_any_ref},
};

constexpr Row<NonzeroRequest> kNonzeroRows[] = {
    {"nonzero_any_ref", 0, nullptr, nonzero_any_ref},
};

}  // namespace

std::span<const Row<CompressRequest>> compress_kernels() { return kCompressRows; }
std::span<const Row<DecompressRequest>> decompress_kernels() { return kDecompressRows; }
std::span<const Row<NonzeroRequest>> nonzero_kernels() { return kNonzeroRows; }

}  // namespace lpt
