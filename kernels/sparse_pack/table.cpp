// Everything about 2:4 matrices that can run, fastest first, the reference last.
#include "kernels/sparse_pack/rows.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512_VNNI)

const char *refuses_codes(const MatrixView &view) {
  const int32_t bits = element_bits(view.format.element);
  const bool is_taken = bits == 4 || bits == 8 || bits == 16 || bits == 32;
  return is_taken ? nullptr : "codes are not of 4, 8, 16 or 32 bits";
}

const char *refuses_mask(const MatrixView &mask) {
  return mask.column_stride == 1 ? nullptr : "columns of mask are not adjacent";
}

const char *refuses_compress(const CompressRequest &request) {
  if (const char *reason = refuses_codes(request.source)) return reason;
  return refuses_mask(request.mask);
}

const char *refuses_decompress(const DecompressRequest &request) { return refuses_codes(request.target); }

#endif

constexpr Row<CompressRequest> kCompressRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"compress_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, refuses_compress, compress_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"compress_x86_avx2", kCpuAvx2, refuses_compress, compress_x86_avx2},
#endif
    {"compress_any_ref", 0, nullptr, compress_any_ref},
};

constexpr Row<DecompressRequest> kDecompressRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"decompress_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, refuses_decompress, decompress_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"decompress_x86_avx2", kCpuAvx2, refuses_decompress, decompress_x86_avx2},
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
