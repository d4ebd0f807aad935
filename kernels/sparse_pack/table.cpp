// Kernel tables of 2:4 matrices in order of preference; the reference kernel is last.
#include "kernels/sparse_pack/sparse_pack.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512) || defined(LPT_HAVE_X86_AVX512_VNNI)

const char *unsupported_codes(const MatrixView &view) {
  const int32_t bits = element_bits(view.format.element);
  const bool is_supported = bits == 4 || bits == 8 || bits == 16 || bits == 32;
  return is_supported ? nullptr : "codes are not of 4, 8, 16 or 32 bits";
}

const char *unsupported_mask(const MatrixView &mask) {
  return mask.column_stride == 1 ? nullptr : "columns of mask are not adjacent";
}

const char *unsupported_compress(const CompressRequest &request) {
  if (const char *reason = unsupported_codes(request.source)) return reason;
  return unsupported_mask(request.mask);
}

const char *unsupported_decompress(const DecompressRequest &request) { return unsupported_codes(request.target); }

const char *unsupported_nonzero(const NonzeroRequest &request) {
  if (const char *reason = unsupported_codes(request.source)) return reason;
  if (significant_bits(request.source.format.element) == 0) return "no bits of a code tell whether it is zero";
  return unsupported_mask(request.mask);
}

#endif

constexpr KernelEntry<CompressRequest> kCompressKernels[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"compress_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, unsupported_compress, compress_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"compress_x86_avx2", kCpuAvx2, unsupported_compress, compress_x86_avx2},
#endif
    {"compress_any_ref", 0, nullptr, compress_any_ref},
};

constexpr KernelEntry<DecompressRequest> kDecompressKernels[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"decompress_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, unsupported_decompress, decompress_x86_avx512_vnni},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"decompress_x86_avx2", kCpuAvx2, unsupported_decompress, decompress_x86_avx2},
#endif
    {"decompress_any_ref", 0, nullptr, decompress_any_ref},
};

constexpr KernelEntry<NonzeroRequest> kNonzeroKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"nonzero_x86_avx512", kCpuAvx512, unsupported_nonzero, nonzero_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"nonzero_x86_avx2", kCpuAvx2, unsupported_nonzero, nonzero_x86_avx2},
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
  // Integers have no -0, and fnuz elements use its code for NaN.
  const bool has_minus_zero = known.is_signed && !known.is_integer && !known.is_fnuz;
  return has_minus_zero ? all >> 1 : all;
}

std::span<const KernelEntry<CompressRequest>> compress_kernels() { return kCompressKernels; }
std::span<const KernelEntry<DecompressRequest>> decompress_kernels() { return kDecompressKernels; }
std::span<const KernelEntry<NonzeroRequest>> nonzero_kernels() { return kNonzeroKernels; }

}  // namespace lpt
