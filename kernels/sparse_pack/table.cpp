// Everything about 2:4 matrices that can run, fastest first, the reference last.
#include "kernels/sparse_pack/rows.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512) || defined(LPT_HAVE_X86_AVX512_VNNI)

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

const char *refuses_nonzero(const NonzeroRequest &request) {
  if (const char *reason = refuses_codes(request.source)) return reason;
  if (significant_bits(request.source.format.element) == 0) return "no bits of a code tell whether it is zero";
  return refuses_mask(request.mask);
}

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
#if defined(LPT_HAVE_X86_AVX512)
    {"nonzero_x86_avx512", kCpuAvx512, refuses_nonzero, nonzero_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"nonzero_x86_avx2", kCpuAvx2, refuses_nonzero, nonzero_x86_avx2},
#endif
    {"nonzero_any_ref", 0, nullptr, nonzero_any_ref},
};

}  // namespace

uint32_t significant_bits(lpt_format element) {
  if (element == LPT_FORMAT_F32) return 0x7FFFFFFF;
  if (!has_element(element)) return 0;
  const Element known = element_of(element);
  if (known.levels != nullptr || known.has_no_zero || known.is_ternary) return 0;
  const uint32_t all = (1u << known.bits) - 1;
  // An integer has no -0, and in a fnuz element NaN stands there.
  const bool has_minus_zero = known.is_signed && !known.is_integer && !known.is_fnuz;
  return has_minus_zero ? all >> 1 : all;
}

std::span<const Row<CompressRequest>> compress_kernels() { return kCompressRows; }
std::span<const Row<DecompressRequest>> decompress_kernels() { return kDecompressRows; }
std::span<const Row<NonzeroRequest>> nonzero_kernels() { return kNonzeroRows; }

}  // namespace lpt
